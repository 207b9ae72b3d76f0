//! The named moments of a thread's life, at which people anchor faults.

use serde::{Deserialize, Serialize};

macro_rules! moments {
    ($($(#[doc = $doc:literal])* $name:ident = $text:literal,)*) => {
        /// A named moment in a thread's life, at which people anchor faults.
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        #[serde(rename_all = "kebab-case")]
        #[repr(u8)]
        pub enum Moment {
            $($(#[doc = $doc])* $name,)*
        }

        impl Moment {
            /// All moments, in the order in which a round passes them.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// Returns the name as scenario files write it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }

            /// Says in a sentence when the moment is passed.
            #[must_use]
            pub const fn describe(self) -> &'static str {
                match self {
                    $(Self::$name => concat!($($doc,)*).trim_ascii(),)*
                }
            }
        }
    };
}

moments! {
    /// A thread begins its first round.
    Started = "started",
    /// The request that asks for the lock has been sent.
    AcquireSent = "acquire-sent",
    /// Enough servers have granted the lock, and the client has still to look at its clock.
    QuorumReached = "quorum-reached",
    /// The client has compared its clock with what is left of the lock, and takes it.
    ValidityChecked = "validity-checked",
    /// Enough servers granted the lock, but too little of its life was left.
    TooLate = "too-late",
    /// The key is set, and a `WAIT` of its own for replicas has been sent.
    CopiesAsked = "copies-asked",
    /// The attempt was refused.
    Refused = "refused",
    /// The key is set and its expiry still to be sent, in strategies that take two commands.
    ExpireDue = "expire-due",
    /// The token has been read or counted apart from the grant.
    TokenTaken = "token-taken",
    /// The client knows that it has the lock.
    Acquired = "acquired",
    /// A renewal has been sent.
    RenewSent = "renew-sent",
    /// A renewal was confirmed.
    Renewed = "renewed",
    /// The client has learnt that its lock is lost.
    LossNoticed = "loss-noticed",
    /// The client has compared its clock with its deadline and goes on.
    CheckedDeadline = "checked-deadline",
    /// The client is about to read.
    BeforeRead = "before-read",
    /// The read has been sent.
    ReadSent = "read-sent",
    /// The read was answered.
    ReadDone = "read-done",
    /// The work between read and write is done.
    WorkDone = "work-done",
    /// The client is about to write.
    BeforeWrite = "before-write",
    /// The write has been sent.
    WriteSent = "write-sent",
    /// The write was answered.
    WriteDone = "write-done",
    /// The resource refused an access.
    AccessRefused = "access-refused",
    /// The client is about to release.
    BeforeRelease = "before-release",
    /// The value was read and compared, in strategies that compare before they delete.
    ReleaseCompared = "release-compared",
    /// The release has been sent.
    ReleaseSent = "release-sent",
    /// The release is over.
    Released = "released",
    /// The thread has finished its rounds.
    Finished = "finished",
}
