//! The soonest timer of each thread, and the soonest of all.

use fencepost_history::{Instant, ThreadId};

/// One timer a thread, outside the event queue: setting and stopping one moves nothing.
#[derive(Clone, Debug)]
pub(crate) struct Timers {
    /// When each thread's soonest timer fires, in nanoseconds; `u64::MAX` without one.
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

    /// Returns when the soonest timer fires, and which thread's it is.
    #[inline(always)]
    pub(crate) const fn soonest(&self) -> (u64, ThreadId) {
        self.soonest
    }

    /// Returns when a thread's soonest timer fires.
    pub(crate) fn of(&self, thread: ThreadId) -> u64 {
        self.at[thread.index()]
    }

    /// Sets when a thread's soonest timer fires.
    #[inline(always)]
    pub(crate) fn set(&mut self, thread: ThreadId, at: Instant) {
        let at = at.as_nanos();
        self.at[thread.index()] = at;
        if (at, thread) < self.soonest {
            self.soonest = (at, thread);
        } else if thread == self.soonest.1 {
            self.find_soonest();
        }
    }

    /// Stops a thread's timers.
    #[inline(always)]
    pub(crate) fn stop(&mut self, thread: ThreadId) {
        self.at[thread.index()] = u64::MAX;
        if thread == self.soonest.1 {
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

    #[inline]
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
