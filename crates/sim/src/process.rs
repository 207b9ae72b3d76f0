//! Processes, their threads, and what each thread waits for.

use fencepost_choice::SiteId;
use fencepost_history::{CallId, Instant, ProcessId, ThreadId};

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
    pub(crate) incarnation: u16,
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

/// A thread.
#[derive(Clone, Debug)]
pub(crate) struct Thread {
    pub(crate) process: ProcessId,
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

/// Returns where a thread's slot lives in the list of all slots.
#[inline(always)]
pub(crate) const fn slot_place(thread: ThreadId, slot: u8) -> usize {
    thread.index() * SLOTS + slot as usize
}
