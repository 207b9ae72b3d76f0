//! Takeover times: from a holder's crash to the next grant of its lock.

use fencepost_history::Instant;

use crate::Tally;
use crate::facts::{Facts, Lock, Now};

/// A holder of the lock crashed.
pub(crate) fn crashed(facts: &mut Facts, now: Now, lock: usize) {
    let lock = &mut facts.locks[lock];
    if lock.crashed == Instant::NEVER {
        lock.crashed = now.at;
    }
}

/// Somebody has the lock.
#[inline(always)]
pub(crate) fn acquired(lock: &mut Lock, tally: &mut Tally, now: Now) {
    if lock.crashed != Instant::NEVER {
        tally.takeovers.add(now.at.since(lock.crashed));
        lock.crashed = Instant::NEVER;
    }
}
