//! Processes, their threads, and what each thread waits for.

use fencepost_choice::SiteId;
use fencepost_history::{CallId, Instant, ProcessId};

use crate::clock::Clock;

/// How many operations one thread can have under way at once.
pub(crate) const SLOTS: usize = 32;

/// A client process.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    /// Own events so far, over all threads.
    pub(crate) own: u32,
    /// The own event after which the next planned fault takes place; `u32::MAX` if none does.
    pub(crate) next_fault: u32,
    /// Until when it is paused.
    pub(crate) paused_until: Instant,
    pub(crate) is_alive: bool,
    /// How often it has been started.
    pub(crate) starts: u32,
    /// The last call that its death has lost: all of them while it is dead.
    pub(crate) lost_calls: u32,
    /// A number that its threads remember in common.
    pub(crate) memory: u32,
    pub(crate) clock: Clock,
    /// The clock at the start of a run.
    pub(crate) first_clock: Clock,
    /// When it starts first.
    pub(crate) start: Instant,
    /// How many of its threads start with it.
    pub(crate) worker_count: u32,
    pub(crate) first_thread: u16,
    pub(crate) thread_count: u16,
    pub(crate) sites: ProcessSites,
}

/// The sites of a process that are asked; a plan answers its other ones.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProcessSites {
    pub(crate) tie: SiteId,
    pub(crate) jitter: SiteId,
}

/// A thread, and the operations that it has under way.
#[derive(Clone, Debug)]
pub(crate) struct Thread<R> {
    pub(crate) process: ProcessId,
    /// Whether it starts with its process, and the run goes on until it has finished.
    pub(crate) is_worker: bool,
    /// Whether its process is paused or dead or it is stalled itself: it passes no step.
    pub(crate) is_stopped: bool,
    /// Whether it has been started and not finished.
    pub(crate) is_running: bool,
    /// Whether it wants to pass a step while it is stopped.
    pub(crate) wants_step: bool,
    /// Until when it is stalled.
    pub(crate) stalled_until: Instant,
    /// Its slots in use.
    pub(crate) used: u32,
    /// Those of them that it awaits together: its code runs when the last of these is answered.
    pub(crate) together: u32,
    pub(crate) slots: [OpSlot<R>; SLOTS],
}

impl<R: Copy> Thread<R> {
    pub(crate) const fn new(process: ProcessId, is_worker: bool) -> Self {
        Self {
            process,
            is_worker,
            is_stopped: true,
            is_running: false,
            wants_step: false,
            stalled_until: Instant::ZERO,
            used: 0,
            together: 0,
            slots: [OpSlot::idle(); SLOTS],
        }
    }

    /// Returns the operation in a slot.
    #[inline(always)]
    pub(crate) const fn op(&mut self, slot: u8) -> &mut OpSlot<R> {
        &mut self.slots[slot as usize]
    }

    /// Returns whether a slot is in use.
    #[inline(always)]
    pub(crate) const fn uses(&self, slot: u8) -> bool {
        self.used & (1 << slot) != 0
    }

    /// Gives the slot of an operation back that no longer waits.
    #[inline(always)]
    pub(crate) const fn close(&mut self, slot: u8) {
        self.used &= !(1 << slot);
        self.together &= !(1 << slot);
    }

    /// Gives several slots back.
    #[inline(always)]
    pub(crate) const fn close_some(&mut self, slots: u32) {
        self.used &= !slots;
        self.together &= !slots;
    }

    /// Gives all slots back: what was under way is lost.
    pub(crate) const fn close_all(&mut self) {
        self.used = 0;
        self.together = 0;
    }

    /// Ends the wait of an operation; returns whether the code wants to go on then, which it does
    /// unless others are still awaited together with that one.
    #[inline(always)]
    pub(crate) const fn answer(&mut self, slot: usize, answer: OpState) -> bool {
        self.slots[slot].state = answer;
        if self.together == 0 {
            return true;
        }
        let is_one = self.together & (1 << slot) != 0;
        self.together &= !(1 << slot);
        !is_one || self.together == 0
    }

    /// Returns the slots in use.
    #[inline(always)]
    pub(crate) fn used_slots(&self) -> impl Iterator<Item = usize> + use<R> {
        let mut used = self.used;
        std::iter::from_fn(move || {
            let slot = used.trailing_zeros() as usize;
            used &= used.wrapping_sub(1);
            (slot < SLOTS).then_some(slot)
        })
    }

    /// Returns the slot whose timer fires first, and when; nothing if none will.
    #[inline]
    pub(crate) fn soonest_timer(&self) -> Option<(usize, Instant)> {
        let (mut left, mut soonest) = (self.used, None);
        while left != 0 {
            let slot = left.trailing_zeros() as usize;
            left &= left - 1;
            let op = &self.slots[slot];
            let before = soonest.map_or(Instant::NEVER, |(_, at)| at);
            if op.state == OpState::Waiting && op.deadline < before {
                soonest = Some((slot, op.deadline));
            }
        }
        soonest
    }
}

/// What one operation of a thread waits for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpSlot<R> {
    pub(crate) call: CallId,
    pub(crate) state: OpState,
    /// Whether a pause lengthens it: CPU work.
    pub(crate) is_work: bool,
    /// When its timer fires; [`Instant::NEVER`] without one.
    pub(crate) deadline: Instant,
    pub(crate) reply: Option<R>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpState {
    Waiting,
    Replied,
    TimerFired,
}

impl<R> OpSlot<R> {
    pub(crate) const fn idle() -> Self {
        Self {
            call: CallId(0),
            state: OpState::Waiting,
            is_work: false,
            deadline: Instant::NEVER,
            reply: None,
        }
    }
}
