//! The state of a run: everything but the servers' own data and the clients' code.

use fencepost_choice::Choices;
use fencepost_history::{
    CallId, Event, Instant, LocalTime, Moment, ProcessId, RollingHash, ServerId, ThreadId,
    WallTime, What,
};

use crate::faults::Meaning;
use crate::hazard::Armed;
use crate::link::Link;
use crate::process::{OpSlot, OpState, Process, SLOTS, Thread, slot_place};
use crate::queue::{Entry, Order, Queue};
use crate::server::{CallRef, Server};
use crate::{Fault, Services};

/// What happens when an entry of the queue is due.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Action {
    /// A request arrives at a server.
    Request { message: u32 },
    /// A reply arrives at a client.
    Reply { message: u32 },
    /// A message of another server arrives.
    Peer { message: u32 },
    /// A server asked to be woken.
    Wake { server: ServerId, token: u32, epoch: u16 },
    /// A process starts, or starts anew.
    Start(ProcessId),
    /// A pause may be over.
    Resume(ProcessId),
    /// A stall may be over.
    Unstall(ThreadId),
    /// A fault of a server.
    Server(u32),
    /// A server is started again.
    ServerStart { server: ServerId, epoch: u16 },
    /// A deviation that is planned for this instant.
    Planned(u32),
    /// A hazard strikes.
    Hazard(u32),
}

/// A message on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Letter<P> {
    pub(crate) to: CallRef,
    pub(crate) payload: P,
}

/// A message between servers on its way.
#[derive(Clone, Debug)]
pub(crate) struct PeerLetter<M> {
    pub(crate) from: ServerId,
    pub(crate) to: ServerId,
    pub(crate) payload: Option<M>,
}

/// Letters in reused places.
#[derive(Clone, Debug)]
pub(crate) struct Mail<L> {
    letters: Vec<L>,
    free: Vec<u32>,
}

impl<L> Mail<L> {
    pub(crate) const fn new() -> Self {
        Self { letters: Vec::new(), free: Vec::new() }
    }

    #[inline(always)]
    pub(crate) fn put(&mut self, letter: L) -> u32 {
        if let Some(place) = self.free.pop() {
            self.letters[place as usize] = letter;
            return place;
        }
        self.letters.push(letter);
        u32::try_from(self.letters.len() - 1).expect("messages under way are few")
    }

    #[inline(always)]
    pub(crate) fn get(&self, place: u32) -> &L {
        &self.letters[place as usize]
    }

    pub(crate) fn get_mut(&mut self, place: u32) -> &mut L {
        &mut self.letters[place as usize]
    }

    #[inline(always)]
    pub(crate) fn free(&mut self, place: u32) {
        self.free.push(place);
    }

    fn clear(&mut self) {
        self.letters.clear();
        self.free.clear();
    }
}

/// What a recorded run keeps of a message, to be put into words later.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Said<S: Services> {
    Request(ServerId, S::Request),
    Reply(ServerId, S::Reply),
}

pub(crate) struct World<S: Services> {
    pub(crate) now: Instant,
    pub(crate) queue: Queue<Action>,
    pub(crate) requests: Mail<Letter<S::Request>>,
    pub(crate) replies: Mail<Letter<S::Reply>>,
    pub(crate) peers: Mail<PeerLetter<S::Message>>,
    pub(crate) processes: Vec<Process>,
    pub(crate) threads: Vec<Thread>,
    /// The soonest timer of each thread.
    pub(crate) timers: Vec<u64>,
    pub(crate) slots: Vec<OpSlot<S::Reply>>,
    pub(crate) servers: Vec<Server>,
    pub(crate) links: Vec<Link>,
    pub(crate) peer_cuts: Vec<(ServerId, ServerId, Instant)>,
    pub(crate) peer_latency: fencepost_history::Duration,
    pub(crate) choices: Choices,
    pub(crate) meanings: Vec<Meaning>,
    pub(crate) hazards: Vec<Armed>,
    /// The moments, as bits, at which a hazard may strike.
    pub(crate) moment_hazards: u32,
    pub(crate) server_faults: Vec<Fault>,
    pub(crate) hash: RollingHash,
    /// What has happened and not been handed on.
    pub(crate) events: Vec<Event>,
    /// How many events were handed on before those.
    pub(crate) handed_on: usize,
    pub(crate) said: Vec<(u32, Said<S>)>,
    pub(crate) is_recording: bool,
    pub(crate) last_call: u32,
    pub(crate) last_grant: u32,
    pub(crate) last_number: u32,
    /// Threads that were spawned and not polled.
    pub(crate) spawned: Vec<ThreadId>,
    /// Threads that were cancelled and whose code has not been dropped.
    pub(crate) cancelled: Vec<ThreadId>,
    /// Processes that died and whose code has not been dropped.
    pub(crate) crashed: Vec<ProcessId>,
    /// Whether one of the three lists above may hold something.
    pub(crate) has_business: bool,
    /// Workers that have not finished.
    pub(crate) open_workers: u32,
    pub(crate) is_worker: Vec<bool>,
    pub(crate) is_healed: bool,
    /// How many own events a process may have: code that never waits passes steps in no time.
    pub(crate) max_steps: u32,
    /// Whether a process has reached that.
    pub(crate) has_too_many_steps: bool,
}

impl<S: Services> World<S> {
    /// Tells what happened.
    #[inline(always)]
    pub(crate) fn emit(&mut self, what: What) {
        let event = Event { at: self.now, what };
        event.hash_into(&mut self.hash);
        if self.is_recording || !what.is_detail() {
            self.events.push(event);
        }
    }

    /// Tells a reader what follows from the events around it; it stays out of the hash.
    #[inline(always)]
    pub(crate) fn mention(&mut self, what: What) {
        if self.is_recording {
            self.events.push(Event { at: self.now, what });
        }
    }

    /// Keeps what the last event said, in a recorded run.
    #[inline(always)]
    pub(crate) fn say(&mut self, said: Said<S>) {
        if self.is_recording {
            let place = self.handed_on + self.events.len() - 1;
            self.said.push((u32::try_from(place).expect("events are limited"), said));
        }
    }

    #[inline(always)]
    pub(crate) const fn next_number(&mut self) -> u32 {
        self.last_number += 1;
        self.last_number
    }

    /// Lets a thread pass its next step; refuses while it is stopped. Whoever passes calls
    /// [`World::stepped`] when the step's effect is there.
    #[inline(always)]
    pub(crate) fn step(&mut self, thread: ThreadId) -> bool {
        let state = &mut self.threads[thread.index()];
        if state.is_stopped {
            state.wants_step = true;
            return false;
        }
        self.processes[state.process.index()].own += 1;
        true
    }

    /// Carries out what is planned for the step that a thread has just passed, once its effect is
    /// there.
    #[inline(always)]
    pub(crate) fn stepped(&mut self, thread: ThreadId) {
        let process = self.threads[thread.index()].process;
        let state = &self.processes[process.index()];
        if state.own == state.next_fault {
            self.own_event_fault(process);
        }
    }

    /// Counts an own event of a process and carries out what is planned for it.
    #[inline(always)]
    pub(crate) fn count_own(&mut self, process: ProcessId) {
        let state = &mut self.processes[process.index()];
        state.own += 1;
        if state.own == state.next_fault {
            self.own_event_fault(process);
        }
    }

    /// Lets a thread pass a named moment.
    #[inline(always)]
    pub(crate) fn pass(&mut self, thread: ThreadId, moment: Moment) {
        if self.is_recording {
            let process = self.threads[thread.index()].process;
            let step = self.processes[process.index()].own;
            self.mention(What::Passed { thread, moment, step });
        }
        if self.moment_hazards & (1 << moment as u32) != 0 {
            self.strike_at_moment(thread, moment);
        }
    }

    #[inline(always)]
    pub(crate) fn local_time(&self, thread: ThreadId) -> LocalTime {
        let process = self.threads[thread.index()].process;
        self.processes[process.index()].clock.local(self.now)
    }

    #[inline(always)]
    pub(crate) fn wall_time(&self, thread: ThreadId) -> WallTime {
        let process = self.threads[thread.index()].process;
        self.processes[process.index()].clock.wall(self.now)
    }

    /// Takes a free slot of a thread for an operation whose timer fires after `length` of its
    /// host's monotonic clock.
    #[inline(always)]
    pub(crate) fn open_slot(
        &mut self,
        thread: ThreadId,
        length: fencepost_history::Duration,
        is_work: bool,
    ) -> u8 {
        let state = &mut self.threads[thread.index()];
        let slot = (!state.used).trailing_zeros();
        assert!((slot as usize) < SLOTS, "a thread has more than {SLOTS} operations under way");
        state.used |= 1 << slot;
        let process = state.process;
        let slot = u8::try_from(slot).unwrap_or(0);
        let deadline = if length == fencepost_history::Duration::MAX {
            Instant::NEVER
        } else {
            let nanos = self.processes[process.index()].clock.true_length(length.as_nanos());
            self.now + fencepost_history::Duration::from_nanos(nanos)
        };
        let op = &mut self.slots[slot_place(thread, slot)];
        op.state = OpState::Waiting;
        op.call = CallId(0);
        op.is_work = is_work;
        op.deadline = deadline;
        let timer = &mut self.timers[thread.index()];
        *timer = (*timer).min(deadline.as_nanos());
        slot
    }

    /// Gives a slot back.
    #[inline(always)]
    pub(crate) fn close_slot(&mut self, thread: ThreadId, slot: u8) {
        let state = &mut self.threads[thread.index()];
        state.used &= !(1 << slot);
        if state.used == 0 {
            self.timers[thread.index()] = Instant::NEVER.as_nanos();
        } else {
            self.retime(thread);
        }
    }

    /// Finds a thread's soonest timer anew.
    pub(crate) fn retime(&mut self, thread: ThreadId) {
        let state = &self.threads[thread.index()];
        let mut soonest = Instant::NEVER;
        if !state.is_stopped {
            let mut used = state.used;
            while used != 0 {
                let slot = used.trailing_zeros() as usize;
                used &= used - 1;
                let op = &self.slots[thread.index() * SLOTS + slot];
                if op.state == OpState::Waiting {
                    soonest = soonest.min(op.deadline);
                }
            }
        }
        // A timer that was due while its thread was stopped is due now.
        self.timers[thread.index()] = soonest.max(self.now).as_nanos();
    }

    /// Returns the thread whose timer fires first, and when.
    #[inline(always)]
    pub(crate) fn soonest_timer(&self) -> (u64, ThreadId) {
        let (mut soonest, mut thread) = (u64::MAX, 0);
        for (place, &timer) in self.timers.iter().enumerate() {
            if timer < soonest {
                (soonest, thread) = (timer, place);
            }
        }
        (soonest, ThreadId(u16::try_from(thread).unwrap_or(u16::MAX)))
    }

    /// Fires the soonest timer of a thread: an own event.
    #[inline(always)]
    pub(crate) fn fire_timer(&mut self, thread: ThreadId) {
        let mut used = self.threads[thread.index()].used;
        let (mut due, mut soonest) = (usize::MAX, Instant::NEVER);
        while used != 0 {
            let slot = used.trailing_zeros() as usize;
            used &= used - 1;
            let op = &self.slots[thread.index() * SLOTS + slot];
            if op.state == OpState::Waiting && op.deadline < soonest {
                (due, soonest) = (thread.index() * SLOTS + slot, op.deadline);
            }
        }
        self.slots[due].state = OpState::TimerFired;
        self.slots[due].deadline = Instant::NEVER;
        self.retime(thread);
        let process = self.threads[thread.index()].process;
        self.count_own(process);
    }

    pub(crate) fn push_server(&mut self, at: Instant, server: ServerId, action: Action) {
        let number = self.next_number();
        self.queue.push(Entry { at, order: Order::server(server.0, number), action });
    }

    /// Makes everything as it is at the start of a run.
    pub(crate) fn reset(&mut self) {
        self.now = Instant::ZERO;
        self.queue.clear();
        self.requests.clear();
        self.replies.clear();
        self.peers.clear();
        self.peer_cuts.clear();
        self.server_faults.clear();
        self.hash = RollingHash::new();
        self.events.clear();
        self.handed_on = 0;
        self.said.clear();
        self.last_call = 0;
        self.last_grant = 0;
        self.last_number = 0;
        self.spawned.clear();
        self.crashed.clear();
        self.cancelled.clear();
        self.has_business = false;
        self.is_healed = false;
        self.has_too_many_steps = false;
        self.timers.fill(u64::MAX);
        for link in &mut self.links {
            link.reset();
        }
    }
}
