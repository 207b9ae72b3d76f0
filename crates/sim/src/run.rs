//! The loop of a run: the next event, whoever it wakes, and what that tells.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use fencepost_choice::{Choices, Deviation, PlanError, Planned, Source};
use fencepost_history::{Detail, Event, Instant, ProcessId, ServerId, ThreadId, What};

use crate::process::OpSlot;
use crate::server::ServerContext;
use crate::ties::Due;
use crate::world::{Action, Said, World};
use crate::{Client, Services, Setup, Task};

/// Takes a run's events as they happen.
pub trait Observer {
    /// Takes the next event.
    fn event(&mut self, event: &Event);
}

impl<F: FnMut(&Event)> Observer for F {
    fn event(&mut self, event: &Event) {
        self(event);
    }
}

/// Why a run stands still.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// All workers have finished.
    Finished,
    /// Nothing will happen any more.
    Idle,
    /// The instant up to which it was to run is reached.
    Reached,
    /// It had more events than the setup allows.
    Limit,
}

/// The world and the servers' own data.
pub(crate) struct Core<S: Services> {
    pub(crate) world: World<S>,
    pub(crate) services: S,
}

/// A simulation that runs again and again in the same memory.
pub struct Sim<S: Services> {
    core: Rc<RefCell<Core<S>>>,
    /// Whether the present run wants to know of moments.
    watches_moments: Rc<Cell<bool>>,
    tasks: Vec<Box<dyn Task>>,
    max_events: u64,
    /// Events of this run so far.
    steps: u64,
}

impl<S: Services> Sim<S> {
    /// Builds the world; [`Sim::set_tasks`] gives it the clients' code.
    pub fn new(setup: &Setup, services: S) -> Self {
        let world = World::build(setup);
        Self {
            core: Rc::new(RefCell::new(Core { world, services })),
            watches_moments: Rc::new(Cell::new(false)),
            tasks: Vec::new(),
            max_events: setup.max_events,
            steps: 0,
        }
    }

    /// Returns the access of a thread, for its code to keep.
    #[must_use]
    pub fn client(&self, thread: ThreadId) -> Client<S> {
        Client::new(Rc::clone(&self.core), Rc::clone(&self.watches_moments), thread)
    }

    /// Sets the code of all threads, in their order.
    pub fn set_tasks(&mut self, tasks: Vec<Box<dyn Task>>) {
        assert_eq!(tasks.len(), self.core.borrow().world.threads.len(), "one task a thread");
        self.tasks = tasks;
    }

    /// Starts a run.
    ///
    /// # Errors
    ///
    /// A deviation that names no site of this simulation, or one place twice.
    pub fn begin(&mut self, source: Source, plan: &[Deviation]) -> Result<(), PlanError> {
        let planned = self.core.borrow().world.choices.resolve(plan)?;
        let begun = self.begin_planned(source, &planned);
        begun.map_err(|place| PlanError::Twice(plan[place].clone()))
    }

    /// Starts a run with deviations whose sites have been found; the hot path of a search.
    ///
    /// # Errors
    ///
    /// The place in `plan` of a deviation that stands there twice.
    pub fn begin_planned(&mut self, source: Source, plan: &[Planned]) -> Result<(), usize> {
        for task in &mut self.tasks {
            task.stop();
        }
        self.steps = 0;
        let core = &mut *self.core.borrow_mut();
        core.world.reset();
        core.world.reset_actors();
        core.services.reset();
        core.world.choices.begin_planned(source, plan)?;
        core.world.arm_plan();
        core.world.arm_hazards();
        let is_watched = core.world.is_recording || core.world.moment_hazards != 0;
        self.watches_moments.set(is_watched);
        Ok(())
    }

    /// Records the next runs, or no longer.
    pub fn record(&mut self, is_recording: bool) {
        let world = &mut self.core.borrow_mut().world;
        world.is_recording = is_recording;
        world.choices.keep_log(is_recording);
    }

    /// Looks at the choices: the log, the plan, what was not reached.
    pub fn choices<T>(&self, look: impl FnOnce(&Choices) -> T) -> T {
        look(&self.core.borrow().world.choices)
    }

    /// Looks at the servers, or changes them before a run.
    pub fn services<T>(&self, look: impl FnOnce(&mut S) -> T) -> T {
        look(&mut self.core.borrow_mut().services)
    }

    /// Returns the present instant.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.core.borrow().world.now
    }

    /// Returns the hash of all that has happened.
    #[must_use]
    pub fn hash(&self) -> u64 {
        self.core.borrow().world.hash.finish()
    }

    /// Returns how many events the loop has taken in this run.
    #[must_use]
    pub const fn steps(&self) -> u64 {
        self.steps
    }

    /// Returns how many own events a process has had.
    #[must_use]
    pub fn own_events(&self, process: ProcessId) -> u32 {
        self.core.borrow().world.processes[process.index()].own
    }

    /// Returns how many requests a server has executed.
    #[must_use]
    pub fn executed(&self, server: ServerId) -> u32 {
        self.core.borrow().world.servers[server.index()].own
    }

    /// Returns how many messages each direction of each link has carried, with its scope such as
    /// `c1->r1` taken from the label of its sites.
    #[must_use]
    pub fn messages_sent(&self) -> Vec<(String, u32)> {
        let world = &self.core.borrow().world;
        let scope = |label: &str| label.split_once('@').map_or("", |(_, scope)| scope).to_owned();
        let links = world.links.iter();
        links.map(|link| (scope(world.choices.label(link.sites.loss)), link.sent)).collect()
    }

    /// Ends all cuts that have an end, and lets no hazard strike any more; pauses, stalls and
    /// downtimes run out by themselves.
    pub fn heal(&mut self) {
        let world = &mut self.core.borrow_mut().world;
        world.is_healed = true;
        world.moment_hazards = 0;
        for link in &mut world.links {
            if link.cut_until != Instant::NEVER {
                link.cut_until = Instant::ZERO;
            }
        }
        world.peer_cuts.retain(|&(_, _, until)| until == Instant::NEVER);
        world.emit(What::Healed);
    }

    /// Puts the commands and replies of a recorded run into words.
    #[must_use]
    pub fn details(&self) -> Vec<Detail> {
        let Core { world, services } = &*self.core.borrow();
        let said = world.said.iter();
        said.map(|&(event, ref said)| {
            let text = match said {
                Said::Request(server, request) => services.describe_request(*server, request),
                Said::Reply(server, reply) => services.describe_reply(*server, reply),
            };
            Detail { event, text }
        })
        .collect()
    }

    /// Runs until all workers have finished (if `to_finish`), nothing is left, or `until`.
    pub fn run(&mut self, until: Instant, to_finish: bool, observer: &mut impl Observer) -> Stop {
        loop {
            let (wakes, stop) = {
                let core = &mut *self.core.borrow_mut();
                if to_finish && core.world.open_workers == 0 {
                    (Wakes::Nobody, Some(Stop::Finished))
                } else if self.steps >= self.max_events {
                    (Wakes::Nobody, Some(Stop::Limit))
                } else {
                    core.advance(until)
                }
            };
            if stop.is_none() {
                self.steps += 1;
            }
            match wakes {
                Wakes::Nobody => {}
                Wakes::Business => self.see_to_business(),
                Wakes::Thread(thread) => self.poll(thread),
                Wakes::Starting(process) => self.start(process),
                Wakes::Resumed(process) => self.resume(process),
            }
            self.hand_on(observer);
            if let Some(stop) = stop {
                return stop;
            }
        }
    }

    /// Polls a thread's code and then whatever that started or killed.
    #[inline]
    fn poll(&mut self, thread: ThreadId) {
        if self.tasks[thread.index()].poll() {
            self.core.borrow_mut().world.finish(thread);
        }
        if self.core.borrow().world.has_business {
            self.see_to_business();
        }
    }

    #[cold]
    fn see_to_business(&mut self) {
        {
            let world = &mut self.core.borrow_mut().world;
            world.has_business = false;
            if world.has_too_many_steps {
                self.steps = self.max_events;
            }
        }
        loop {
            let (crashed, cancelled, spawned) = {
                let world = &mut self.core.borrow_mut().world;
                let (crashed, cancelled) = (world.crashed.pop(), world.cancelled.pop());
                (crashed, cancelled, world.spawned.first().copied())
            };
            if let Some(thread) = cancelled {
                self.tasks[thread.index()].stop();
            }
            if let Some(process) = crashed {
                let threads = self.core.borrow().world.threads_of(process);
                for thread in threads {
                    self.tasks[thread.index()].stop();
                }
            } else if let Some(thread) = spawned {
                self.core.borrow_mut().world.spawned.remove(0);
                let is_running = self.core.borrow().world.threads[thread.index()].is_running;
                if is_running {
                    self.tasks[thread.index()].start();
                    if self.tasks[thread.index()].poll() {
                        self.core.borrow_mut().world.finish(thread);
                    }
                }
            } else if cancelled.is_none() {
                return;
            }
        }
    }

    fn start(&mut self, process: ProcessId) {
        let threads = self.core.borrow().world.threads_of(process);
        for thread in threads {
            // A thread may have killed the process before its others have started.
            let starts = {
                let world = &self.core.borrow().world;
                world.is_worker[thread.index()] && world.threads[thread.index()].is_running
            };
            if starts {
                self.tasks[thread.index()].start();
                self.poll(thread);
            }
        }
    }

    /// Polls the threads that were stopped before a step and now may pass it.
    fn resume(&mut self, process: ProcessId) {
        let threads = self.core.borrow().world.threads_of(process);
        for thread in threads {
            let wants = {
                let state = &mut self.core.borrow_mut().world.threads[thread.index()];
                let wants = state.wants_step && !state.is_stopped && state.is_running;
                state.wants_step &= !wants;
                wants
            };
            if wants {
                self.poll(thread);
            }
        }
        self.see_to_business();
    }

    /// Hands what has happened to the observer.
    #[inline]
    fn hand_on(&mut self, observer: &mut impl Observer) {
        let world = &mut self.core.borrow_mut().world;
        if world.events.is_empty() {
            return;
        }
        for event in &world.events {
            observer.event(event);
        }
        world.handed_on += world.events.len();
        world.events.clear();
    }
}

/// Whose code runs next.
#[derive(Clone, Copy, Debug)]
enum Wakes {
    Nobody,
    /// Nobody's, but code has to be dropped.
    Business,
    Thread(ThreadId),
    Starting(ProcessId),
    Resumed(ProcessId),
}

impl<S: Services> Core<S> {
    /// Takes the next event.
    #[inline]
    #[expect(clippy::wildcard_enum_match_arm, reason = "what is rare is taken elsewhere")]
    fn advance(&mut self, until: Instant) -> (Wakes, Option<Stop>) {
        let world = &mut self.world;
        let (timer, thread) = world.soonest_timer();
        let queued = world.queue.peek().map_or(u64::MAX, |entry| entry.at.as_nanos());
        let at = timer.min(queued);
        if at > until.as_nanos() {
            world.now = world.now.max(until);
            return (Wakes::Nobody, Some(Stop::Reached));
        }
        if at == u64::MAX {
            return (Wakes::Nobody, Some(Stop::Idle));
        }
        world.now = world.now.max(Instant::from_nanos(at));
        let action = match world.choose(timer, queued, thread) {
            Due::Action(action) => action,
            Due::Timer(thread) => {
                world.fire_timer(thread);
                return (world.awake(thread), None);
            }
        };
        let wakes = match action {
            Action::Reply { message } => match world.take_reply(message) {
                Some(thread) => world.awake(thread),
                None => Wakes::Nobody,
            },
            Action::Request { message } => {
                self.execute(message);
                Wakes::Nobody
            }
            rare => self.advance_rarely(rare),
        };
        (wakes, None)
    }

    /// Lets a server execute a request that has arrived.
    #[inline]
    fn execute(&mut self, message: u32) {
        let Self { world, services } = self;
        let letter = *world.requests.get(message);
        let (to, server) = (letter.to, letter.to.server);
        let state = &mut world.servers[server.index()];
        if !state.is_up {
            world.requests.free(message);
            world.emit(What::Dropped { call: to.call, leg: fencepost_history::Leg::Request });
            return;
        }
        if state.stalled_until > world.now {
            let at = state.stalled_until;
            if at == Instant::NEVER {
                world.requests.free(message);
                return;
            }
            let order = crate::queue::Order::server(server.0, to.call.0);
            let action = Action::Request { message };
            world.queue.push(crate::queue::Entry { at, order, action });
            return;
        }
        world.requests.free(message);
        state.own += 1;
        let has_fault = state.own == state.next_fault;
        world.mention(What::Applied { call: to.call, server });
        services.serve(to, &letter.payload, &mut ServerContext { world });
        if has_fault {
            world.server_fault(server);
        }
    }

    #[cold]
    fn advance_rarely(&mut self, action: Action) -> Wakes {
        let Self { world, services } = self;
        match action {
            Action::Peer { message } => {
                let letter = world.peers.get_mut(message);
                let (from, to) = (letter.from, letter.to);
                let payload = letter.payload.take().expect("a message arrives once");
                world.peers.free(message);
                if world.servers[to.index()].is_up {
                    services.receive(to, from, &payload, &mut ServerContext { world });
                }
            }
            Action::Wake { server, token, epoch } => {
                let state = &world.servers[server.index()];
                if state.is_up && state.epoch == epoch {
                    services.wake(server, token, &mut ServerContext { world });
                }
            }
            Action::Start(process) => {
                world.start_process(process);
                return Wakes::Starting(process);
            }
            Action::Resume(process) => {
                world.resume_process(process);
                return Wakes::Resumed(process);
            }
            Action::Unstall(thread) => {
                world.resume_thread(thread);
                return Wakes::Resumed(world.threads[thread.index()].process);
            }
            Action::Planned(place) => {
                world.planned_now(place);
                return Wakes::Business;
            }
            Action::Hazard(place) => {
                if !world.is_healed {
                    world.strike(place);
                    return Wakes::Business;
                }
            }
            Action::Server(place) => self.strike_server(place),
            Action::ServerStart { server, epoch } => {
                let state = &mut world.servers[server.index()];
                if !state.is_up && state.epoch == epoch {
                    state.is_up = true;
                    state.epoch += 1;
                    state.busy_until = world.now;
                    world.emit(What::ServerUp { server });
                    services.start(server, &mut ServerContext { world });
                }
            }
            Action::Request { .. } | Action::Reply { .. } => {
                unreachable!("the loop takes these itself")
            }
        }
        Wakes::Nobody
    }
}

impl<S: Services> World<S> {
    /// Returns whose code runs after a thread's own event: its own, unless that killed it.
    #[inline(always)]
    fn awake(&self, thread: ThreadId) -> Wakes {
        if self.threads[thread.index()].is_running {
            Wakes::Thread(thread)
        } else {
            Wakes::Business
        }
    }

    pub(crate) fn threads_of(&self, process: ProcessId) -> impl Iterator<Item = ThreadId> + use<S> {
        let state = &self.processes[process.index()];
        (state.first_thread..state.first_thread + state.thread_count).map(ThreadId)
    }

    /// Makes room for the operations of all threads.
    pub(crate) fn idle_slots(threads: usize) -> Vec<OpSlot<S::Reply>> {
        (0..threads * crate::process::SLOTS).map(|_| OpSlot::idle()).collect()
    }
}
