//! What the checkers must know of a scenario before its runs.

use fencepost_history::{Duration, LockRules, ProcessId};

use crate::{Kind, KindSet};

/// What the checkers must know of a scenario before its runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// The rules of each lock.
    pub locks: Vec<LockRules>,
    /// The process of each thread.
    pub threads: Vec<ProcessId>,
    /// How long a client may wait, on a clock that stops while a holder can end its hold by
    /// itself: the longest residual lease, a retry period and a round trip.
    pub wait_bound: Duration,
    /// How much longer than its lock's TTL a key that nobody believes in may live.
    pub ghost_bound: Duration,
    /// What the lock is for.
    pub purpose: Purpose,
}

/// What a lock is for, which decides how grave two holders are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Purpose {
    /// Two holders are wrong.
    #[default]
    Correctness,
    /// Two holders cost work; nothing else is lost.
    Efficiency {
        /// Whether an effect that happens twice is wrong all the same.
        harmful: bool,
    },
}

impl Purpose {
    /// Returns the kinds that count under this purpose.
    ///
    /// An efficiency lock is not violated by two holders and what follows from them; its double
    /// runs are counted as cost. What breaks the lock for others (somebody else's key deleted or
    /// renewed, a key left behind, a client that waits for ever) counts always.
    #[must_use]
    pub fn judged(self) -> KindSet {
        let all: KindSet = Kind::ALL.iter().copied().collect();
        match self {
            Self::Correctness => all,
            Self::Efficiency { harmful } => {
                let mut judged = all.minus(KindSet::of(&[
                    Kind::LostUpdate,
                    Kind::StaleWrite,
                    Kind::TokenRegression,
                    Kind::FenceRegression,
                    Kind::LateWrite,
                    Kind::DoubleRun,
                    Kind::DoubleHolder,
                    Kind::StaleRead,
                ]));
                if !harmful {
                    judged.remove(Kind::DuplicateEffect);
                }
                judged
            }
        }
    }
}
