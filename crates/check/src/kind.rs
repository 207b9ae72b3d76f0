//! The kinds of findings, and sets of them.

use std::fmt;

macro_rules! kinds {
    ($($(#[doc = $doc:literal])* $name:ident = $text:literal,)*) => {
        /// What a checker can find, the most severe first; the last few are notes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Kind {
            $($(#[doc = $doc])* $name,)*
        }

        impl Kind {
            /// All kinds, the most severe first.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// Returns the name as scenario files and verdicts write it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }
        }
    };
}

kinds! {
    /// A write overwrote another grant's write that it had not read.
    LostUpdate = "lost-update",
    /// A superseded grant wrote after an access of its successor.
    StaleWrite = "stale-write",
    /// One job occurrence took effect from two grants.
    DuplicateEffect = "duplicate-effect",
    /// A newer grant has no larger token than an older one.
    TokenRegression = "token-regression",
    /// A checking path accepted a token below one that it had accepted.
    FenceRegression = "fence-regression",
    /// A superseded grant wrote after its successor's grant.
    LateWrite = "late-write",
    /// A superseded holder ran a protected step while its successor believed.
    DoubleRun = "double-run",
    /// Two owners believed at once that they had the lock.
    DoubleHolder = "double-holder",
    /// A command deleted another grant's live key.
    ForeignRelease = "foreign-release",
    /// A command renewed or replaced another grant's live key.
    ForeignRenew = "foreign-renew",
    /// A key without expiry is left behind.
    OrphanNoTtl = "orphan-no-ttl",
    /// Waiting threads hold what the others wait for.
    Deadlock = "deadlock",
    /// A client waited too long for a lock that nobody could be using.
    UnboundedWait = "unbounded-wait",
    /// A key outlived every belief in it: a note, and a violation beyond its bound.
    GhostHold = "ghost-hold",
    /// A checker that is not one of the built-in ones found something; see `Finding::own`.
    Own = "own",
    /// A superseded grant read after an access of its successor; a note.
    StaleRead = "stale-read",
    /// The fence refused the newest grant; a note.
    FalseRefusal = "false-refusal",
    /// A client was refused because of a key that it had set itself and given up; a note.
    SelfBlock = "self-block",
    /// The fence refused a superseded grant; a note, and a welcome one.
    Save = "save",
}

impl Kind {
    /// Finds a kind by its name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }

    /// Returns whether this kind never is a violation.
    #[must_use]
    pub const fn is_note(self) -> bool {
        matches!(self, Self::StaleRead | Self::FalseRefusal | Self::SelfBlock | Self::Save)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A set of kinds, as cheap as a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KindSet(u32);

impl KindSet {
    /// The set without members.
    pub const EMPTY: Self = Self(0);

    /// Makes a set of kinds.
    #[must_use]
    pub const fn of(kinds: &[Kind]) -> Self {
        let mut set = Self(0);
        let mut index = 0;
        while index < kinds.len() {
            set.0 |= 1 << kinds[index] as u32;
            index += 1;
        }
        set
    }

    /// Returns whether nothing is in the set.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns how many kinds are in the set.
    #[must_use]
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Returns whether a kind is in the set.
    #[must_use]
    pub const fn contains(self, kind: Kind) -> bool {
        self.0 & (1 << kind as u32) != 0
    }

    /// Returns whether all members are also in the other set.
    #[must_use]
    pub const fn is_subset(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    /// Adds a kind.
    pub const fn insert(&mut self, kind: Kind) {
        self.0 |= 1 << kind as u32;
    }

    /// Takes a kind out.
    pub const fn remove(&mut self, kind: Kind) {
        self.0 &= !(1 << kind as u32);
    }

    /// Returns the kinds that are in either set.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the kinds that are in both sets.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns the kinds that are in this set and not in the other one.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Returns the set as bits, one for each kind in the order of [`Kind::ALL`].
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Walks through the members, the most severe first.
    pub fn iter(self) -> impl Iterator<Item = Kind> {
        Kind::ALL.iter().copied().filter(move |kind| self.contains(*kind))
    }
}

impl FromIterator<Kind> for KindSet {
    fn from_iter<T: IntoIterator<Item = Kind>>(kinds: T) -> Self {
        let mut set = Self::EMPTY;
        for kind in kinds {
            set.insert(kind);
        }
        set
    }
}

/// Writes the names, the most severe first, with commas between them.
impl fmt::Display for KindSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, kind) in self.iter().enumerate() {
            if place > 0 {
                f.write_str(", ")?;
            }
            f.write_str(kind.name())?;
        }
        Ok(())
    }
}
