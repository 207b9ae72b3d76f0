//! The state of a run: everything but the servers' own data and the clients' code.

use fencepost_choice::{Choices, RunKey};
use fencepost_history::{
    Event, Instant, LocalTime, Moment, ProcessId, RollingHash, ServerId, ThreadId, WallTime, What,
};

use crate::faults::Meaning;
use crate::hazard::Armed;
use crate::link::Link;
use crate::process::{Process, Thread};
use crate::queue::{Entry, Order, Queue};
use crate::server::{CallRef, Server};
use crate::timers::Timers;
use crate::{Fault, Services};

/// What happens when an entry of the queue is due; its order names the process or server.
///
/// Each has one number at most, so that it travels in registers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Action {
    /// A request arrives at a server.
    Request(u32),
    /// A reply arrives at a client, whose slot has kept it since it was sent.
    Reply(Seat),
    /// A message of another server arrives.
    Peer(u32),
    /// A message that nobody asked for arrives at a process.
    Note(u32),
    /// A server asked to be woken.
    Wake(u32),
    /// A process starts, or starts anew.
    Start,
    /// A pause may be over.
    Resume,
    /// A stall of a thread may be over.
    Unstall(u32),
    /// A fault that was put off.
    Fault(u32),
    /// A server is started again after the epoch of this number.
    ServerStart(u32),
    /// A deviation that is planned for this instant.
    Planned(u32),
    /// A hazard strikes.
    Hazard(u32),
}

const _: () = assert!(size_of::<Entry<Action>>() <= 24, "entries move whenever one is queued");

/// A thread and one of its slots in one number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seat(u32);

impl Seat {
    #[inline(always)]
    pub(crate) const fn new(thread: ThreadId, slot: u8) -> Self {
        Self(((thread.0 as u32) << 8) | slot as u32)
    }

    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "its parts have 16 and 8 bits")]
    pub(crate) const fn parts(self) -> (ThreadId, u8) {
        (ThreadId((self.0 >> 8) as u16), self.0 as u8)
    }
}

/// A request on its way.
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

/// A number for a process to remember, on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Note {
    /// The number that it takes the place of.
    pub(crate) old: u32,
    pub(crate) new: u32,
    /// How often the process had been started when it was sent.
    pub(crate) starts: u32,
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

    pub(crate) fn clear(&mut self) {
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
    pub(crate) peers: Mail<PeerLetter<S::Message>>,
    pub(crate) notes: Mail<Note>,
    /// What servers asked to be woken with, and the epoch in which they did.
    pub(crate) wakes: Mail<(u32, u16)>,
    pub(crate) processes: Vec<Process>,
    pub(crate) threads: Vec<Thread<S::Reply>>,
    pub(crate) timers: Timers,
    pub(crate) servers: Vec<Server>,
    pub(crate) links: Vec<Link>,
    pub(crate) peer_cuts: Vec<(ServerId, ServerId, Instant)>,
    pub(crate) peer_latency: fencepost_history::Duration,
    pub(crate) choices: Choices,
    /// The key that alone decides about messages, unless somebody looks closer.
    pub(crate) network_key: Option<RunKey>,
    pub(crate) meanings: Vec<Meaning>,
    pub(crate) hazards: Vec<Armed>,
    /// The moments, as bits, at which a hazard may strike.
    pub(crate) moment_hazards: u32,
    pub(crate) later_faults: Vec<Fault>,
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
    /// What processes remember at their start.
    pub(crate) common_memory: u32,
    /// Threads that were spawned and not polled.
    pub(crate) spawned: Vec<ThreadId>,
    /// Threads that were cancelled and whose code has not been dropped.
    pub(crate) cancelled: Vec<ThreadId>,
    /// Processes that died and whose code has not been dropped.
    pub(crate) crashed: Vec<ProcessId>,
    /// Whether one of the three lists above may hold something, or no worker is left.
    pub(crate) has_business: bool,
    /// Workers that have not finished.
    pub(crate) open_workers: u32,
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

    pub(crate) fn push_server(&mut self, at: Instant, server: ServerId, action: Action) {
        let number = self.next_number();
        self.queue.push(Entry { at, order: Order::server(server.0, number), action });
    }

    /// Puts off what a server would do now until it is no longer stalled; returns whether it did.
    pub(crate) fn put_off(&mut self, server: ServerId, action: Action) -> bool {
        let at = self.servers[server.index()].stalled_until;
        let is_stalled = at > self.now;
        if is_stalled && at != Instant::NEVER {
            self.push_server(at, server, action);
        }
        is_stalled
    }

    /// Makes everything as it is at the start of a run.
    pub(crate) fn reset(&mut self) {
        self.now = Instant::ZERO;
        self.queue.clear();
        self.peers.clear();
        self.wakes.clear();
        self.notes.clear();
        self.peer_cuts.clear();
        self.later_faults.clear();
        self.hash = RollingHash::new();
        self.events.clear();
        self.handed_on = 0;
        self.said.clear();
        self.last_call = 0;
        self.last_grant = 0;
        self.last_number = 0;
        self.common_memory = 0;
        self.spawned.clear();
        self.crashed.clear();
        self.cancelled.clear();
        self.has_business = false;
        self.is_healed = false;
        self.has_too_many_steps = false;
        self.timers.clear();
        for link in &mut self.links {
            link.reset();
        }
    }
}
