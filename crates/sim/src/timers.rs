//! The soonest timer of each thread, and the soonest of all.

use fencepost_history::{Instant, ThreadId};

/// One timer a thread, outside the event queue: setting one moves nothing.
///
/// Most timers are time-outs that are stopped long before they fire. So nobody raises a thread's
/// timer when an operation ends: it is a lower bound, and made exact when its time comes.
#[derive(Clone, Debug)]
pub(crate) struct Timers {
    /// Before when no timer of a thread fires, in nanoseconds; `u64::MAX` without one.
    at: Vec<u64>,
    /// The soonest of these, and whose it is; of several at once the first thread's.
    soonest: (u64, ThreadId),
}

impl Timers {
    const NONE: (u64, ThreadId) = (u64::MAX, ThreadId(0));

    pub(crate) fn new(threads: usize) -> Self {
        Self { at: vec![u64::MAX; threads], soonest: Self::NONE }
    }

    /// Stops all timers.
    pub(crate) fn clear(&mut self) {
        self.at.fill(u64::MAX);
        self.soonest = Self::NONE;
    }

    /// Returns before when no timer fires, and which thread's would be the first.
    #[inline(always)]
    pub(crate) const fn soonest(&self) -> (u64, ThreadId) {
        self.soonest
    }

    /// Returns before when no timer of a thread fires.
    pub(crate) fn of(&self, thread: ThreadId) -> u64 {
        self.at[thread.index()]
    }

    /// Sets when a thread's soonest timer fires.
    pub(crate) fn set(&mut self, thread: ThreadId, at: Instant) {
        let at = at.as_nanos();
        self.at[thread.index()] = at;
        if (at, thread) < self.soonest {
            self.soonest = (at, thread);
        } else if thread == self.soonest.1 {
            self.find_soonest();
        }
    }

    /// Lets a thread's soonest timer fire no later than this.
    #[inline(always)]
    pub(crate) fn lower(&mut self, thread: ThreadId, at: Instant) {
        let (at, timer) = (at.as_nanos(), &mut self.at[thread.index()]);
        if at < *timer {
            *timer = at;
            if (at, thread) < self.soonest {
                self.soonest = (at, thread);
            }
        }
    }

    fn find_soonest(&mut self) {
        let (mut soonest, mut thread) = (u64::MAX, 0);
        for (place, &timer) in self.at.iter().enumerate() {
            if timer < soonest {
                (soonest, thread) = (timer, place);
            }
        }
        self.soonest = (soonest, ThreadId(u16::try_from(thread).unwrap_or(u16::MAX)));
    }
}
