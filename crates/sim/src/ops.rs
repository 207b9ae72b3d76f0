//! The operations that threads have under way, and their timers.

use fencepost_history::{CallId, Duration, Instant, ProcessId, ThreadId, What};

use crate::Services;
use crate::process::{OpState, Process, SLOTS};
use crate::world::World;

/// What an operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Call,
    Sleep,
    /// CPU work, which a pause lengthens.
    Work,
}

/// A step that was passed.
#[derive(Clone, Copy, Debug)]
#[must_use = "a fault may be planned for it"]
pub(crate) struct Passed {
    pub(crate) process: ProcessId,
    has_fault: bool,
}

/// An operation that has begun.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opened {
    pub(crate) passed: Passed,
    pub(crate) slot: u8,
    /// Its number if it is a call.
    pub(crate) call: CallId,
}

impl Process {
    /// Counts an own event.
    #[inline(always)]
    pub(crate) const fn pass_step(&mut self, process: ProcessId) -> Passed {
        self.own += 1;
        Passed { process, has_fault: self.own == self.next_fault }
    }
}

impl<S: Services> World<S> {
    /// Lets a thread pass its next step; refuses while it is stopped. Whoever passes calls
    /// [`World::stepped`] when the step's effect is there.
    #[inline(always)]
    pub(crate) fn step(&mut self, thread: ThreadId) -> Option<Passed> {
        let state = &mut self.threads[thread.index()];
        if state.is_stopped {
            state.wants_step = true;
            return None;
        }
        Some(self.processes[state.process.index()].pass_step(state.process))
    }

    /// Carries out what is planned for a step, once its effect is there.
    #[inline(always)]
    pub(crate) fn stepped(&mut self, passed: Passed) {
        if passed.has_fault {
            self.own_event_fault(passed.process);
        }
    }

    /// Passes a step and takes a free slot of the thread, for an operation whose timer fires after
    /// `length` of its host's monotonic clock.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "there are 32 slots")]
    pub(crate) fn open(
        &mut self,
        thread: ThreadId,
        length: Duration,
        kind: Kind,
    ) -> Option<Opened> {
        let state = &mut self.threads[thread.index()];
        if state.is_stopped {
            state.wants_step = true;
            return None;
        }
        let process = &mut self.processes[state.process.index()];
        let passed = process.pass_step(state.process);
        let slot = (!state.used).trailing_zeros() as u8;
        assert!((slot as usize) < SLOTS, "a thread has more than {SLOTS} operations under way");
        state.used |= 1 << slot;
        let op = &mut state.slots[slot as usize];
        op.state = OpState::Waiting;
        op.is_work = kind == Kind::Work;
        op.call = CallId::default();
        if kind == Kind::Call {
            self.last_call += 1;
            op.call = CallId(self.last_call);
        }
        op.deadline = Instant::NEVER;
        let call = op.call;
        if length != Duration::MAX {
            let length = process.clock.true_length(length.as_nanos());
            op.deadline = self.now + Duration::from_nanos(length);
            self.timers.lower(thread, op.deadline);
        }
        Some(Opened { passed, slot, call })
    }

    /// Gives up an operation that is under way, unless the process died and lost it already.
    pub(crate) fn abandon(&mut self, thread: ThreadId, slot: u8) {
        let state = &mut self.threads[thread.index()];
        if !state.uses(slot) {
            return;
        }
        let op = state.op(slot);
        let (call, was_waiting) = (op.call, op.state == OpState::Waiting);
        state.close(slot);
        if was_waiting && call != CallId::default() {
            self.mention(What::GivenUp { call });
        }
    }

    /// Carries out what is planned for an own event; returns whether the thread's code, which
    /// wants to go on, runs then: it does unless that killed it.
    #[inline(always)]
    pub(crate) fn goes_on(&mut self, thread: ThreadId, passed: Passed, wants: bool) -> bool {
        if passed.has_fault {
            self.own_event_fault(passed.process);
            return wants && self.threads[thread.index()].is_running;
        }
        wants
    }

    /// Fires the soonest timer of a thread: an own event. Returns whether its code runs then.
    #[inline(always)]
    pub(crate) fn fire_timer(&mut self, thread: ThreadId) -> bool {
        let only = self.only_due(thread, self.now.as_nanos());
        let state = &mut self.threads[thread.index()];
        let due = only.or_else(|| state.soonest_timer().map(|(slot, _)| slot));
        let slot = due.expect("a timer that fires was set");
        let wants = state.answer(slot, OpState::TimerFired);
        let process = state.process;
        if only.is_some() {
            self.timers.set(thread, Instant::NEVER);
        } else {
            self.retime(thread);
        }
        let passed = self.processes[process.index()].pass_step(process);
        self.goes_on(thread, passed, wants)
    }

    /// Returns when the soonest timer fires and whose it is, if it fires no later than the next
    /// event of the queue.
    #[inline(always)]
    pub(crate) fn soonest_timer(&mut self, queued: u64) -> (u64, ThreadId) {
        let (at, thread) = self.timers.soonest();
        if at > queued || self.only_due(thread, at).is_some() {
            return (at, thread);
        }
        self.confirm_soonest(queued);
        self.timers.soonest()
    }

    /// Returns the only operation of a thread, if its timer fires at an instant or was due before.
    #[inline(always)]
    fn only_due(&self, thread: ThreadId, at: u64) -> Option<usize> {
        let state = &self.threads[thread.index()];
        let slot = state.used.trailing_zeros() as usize;
        let op = state.slots.get(slot)?;
        let is_due = op.state == OpState::Waiting && op.deadline.as_nanos() <= at;
        (is_due && state.used.is_power_of_two() && !state.is_stopped).then_some(slot)
    }

    /// Makes exact what is known of timers that fire no later than the next event of the queue.
    #[inline(never)]
    fn confirm_soonest(&mut self, queued: u64) {
        while self.timers.soonest().0 <= queued {
            let (at, thread) = self.timers.soonest();
            let exact = self.timer_of(thread);
            if exact.as_nanos() == at {
                return;
            }
            self.timers.set(thread, exact);
        }
    }

    /// Finds a thread's soonest timer anew.
    pub(crate) fn retime(&mut self, thread: ThreadId) {
        self.timers.set(thread, self.timer_of(thread));
    }

    /// Returns when a thread's soonest timer fires.
    #[inline]
    fn timer_of(&self, thread: ThreadId) -> Instant {
        let state = &self.threads[thread.index()];
        let soonest = if state.is_stopped { None } else { state.soonest_timer() };
        // A timer that was due while its thread was stopped is due now.
        soonest.map_or(Instant::NEVER, |(_, at)| at.max(self.now))
    }
}
