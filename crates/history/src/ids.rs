//! Small integer ids; their names live in [`Names`](crate::Names).

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize,
            Deserialize,
        )]
        #[serde(transparent)]
        pub struct $name(pub $inner);

        impl $name {
            /// Returns the id as an index.
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

id! {
    /// A client process, counted from 0.
    ProcessId(u16)
}
id! {
    /// A thread of any process, counted from 0 over the whole run.
    ThreadId(u16)
}
id! {
    /// A server of any kind: a lock node, a sentinel, a protected resource.
    ServerId(u16)
}
id! {
    /// A lock, that is, what a strategy excludes others from.
    LockId(u16)
}
id! {
    /// A protected resource, counted from 0.
    ResourceId(u16)
}
id! {
    /// One attempt to acquire a lock, and the grant that it becomes when it succeeds.
    ///
    /// Numbers start at 1; [`GrantId::NONE`] stands for "nobody of the clients".
    GrantId(u32)
}
id! {
    /// One request with its reply, counted from 1 in the order of sending.
    CallId(u32)
}
id! {
    /// One occurrence of a job; two grants may work on the same occurrence.
    JobId(u32)
}

impl GrantId {
    /// No grant: an outsider, or a key that nobody made.
    pub const NONE: Self = Self(0);
}

/// A fencing token, or [`Token::NONE`] where a grant carries none.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Token(pub u64);

impl Token {
    /// The grant carries no token.
    pub const NONE: Self = Self(u64::MAX);

    /// Returns the number, if there is one.
    #[must_use]
    pub const fn number(self) -> Option<u64> {
        if self.0 == u64::MAX { None } else { Some(self.0) }
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number() {
            Some(number) => number.fmt(f),
            None => f.write_str("-"),
        }
    }
}
