//! Takeover times: from a holder's crash to the next grant of its lock.

use fencepost_history::{Instant, LockId};

use crate::facts::{Facts, Now};

/// A holder of the lock crashed.
pub(crate) fn crashed(facts: &mut Facts, now: Now, lock: usize) {
    let lock = &mut facts.locks[lock];
    if lock.crashed == Instant::NEVER {
        lock.crashed = now.at;
    }
}

#[inline(always)]
pub(crate) fn acquired(facts: &mut Facts, now: Now, lock: LockId) {
    let lock = &mut facts.locks[lock.index()];
    if lock.crashed != Instant::NEVER {
        facts.tally.takeovers.add(now.at.since(lock.crashed));
        lock.crashed = Instant::NEVER;
    }
}
