//! The loop of a run: the next event, whoever it wakes, and what that tells.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use fencepost_choice::{Choices, Deviation, PlanError, Planned, Source};
use fencepost_history::{Detail, Event, Instant, ProcessId, ServerId, ThreadId, What};

use crate::turn::Turn;
use crate::world::{Letter, Mail, Said, World};
use crate::{Client, Services, Setup, Task};

/// Takes a run's events as they happen.
pub trait Observer {
    /// Takes the next event.
    fn event(&mut self, event: &Event);

    /// Takes the next few events.
    fn events(&mut self, events: &[Event]) {
        for event in events {
            self.event(event);
        }
    }
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

/// The world, the servers' own data, and the requests on their way to them.
pub(crate) struct Core<S: Services> {
    pub(crate) world: World<S>,
    pub(crate) services: S,
    pub(crate) requests: Mail<Letter<S::Request>>,
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
            core: Rc::new(RefCell::new(Core { world, services, requests: Mail::new() })),
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
        core.requests.clear();
        core.world.choices.begin_planned(source, plan)?;
        core.world.network_key = core.world.choices.key().filter(|_| !core.world.is_recording);
        // The latest first: the queue is sorted, soonest last.
        core.world.arm_hazards();
        core.world.arm_plan();
        core.world.queue_starts();
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
        world.network_key = None;
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
        let Core { world, services, .. } = &*self.core.borrow();
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
        let stop = self.run_on(until, to_finish, observer);
        self.core.borrow_mut().world.hand_on(observer);
        stop
    }

    fn run_on(&mut self, until: Instant, to_finish: bool, observer: &mut impl Observer) -> Stop {
        // Who finishes in a mere poll leaves business behind, so that others need not look here.
        while !to_finish || self.core.borrow().world.open_workers > 0 {
            loop {
                match self.advance(until, observer) {
                    Next::Poll(thread) => {
                        if self.tasks[thread.index()].poll() {
                            self.core.borrow_mut().world.finish(thread);
                        }
                        continue;
                    }
                    Next::Business => self.see_to_business(),
                    Next::Start(process) => self.start(process),
                    Next::Resume(process) => self.resume(process),
                    Next::Stop(stop) => return stop,
                }
                break;
            }
        }
        Stop::Finished
    }

    /// Takes events until code has to run or the run stands still.
    #[inline(always)]
    fn advance(&mut self, until: Instant, observer: &mut impl Observer) -> Next {
        let core = &mut *self.core.borrow_mut();
        if core.world.events.len() >= MANY {
            core.world.hand_on(observer);
        }
        let mut steps = self.steps;
        let next = loop {
            if core.world.has_business {
                break Next::Business;
            }
            if steps >= self.max_events {
                break Next::Stop(Stop::Limit);
            }
            let turn = core.take_event(until);
            if let Turn::Still = turn {
                break Next::Stop(core.world.still(until));
            }
            steps += 1;
            match turn {
                Turn::Thread(thread) => break Next::Poll(thread),
                Turn::Nobody | Turn::Still => {}
                Turn::Rare => {
                    if let Some(next) = core.take_rare() {
                        break next;
                    }
                }
            }
        };
        self.steps = steps;
        next
    }

    /// Polls a thread's code and then whatever that started or killed.
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
                let state = &world.threads[thread.index()];
                state.is_worker && state.is_running
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
}

/// From how many events on they are handed to the observer; the last ones when the run stands.
const MANY: usize = 64;

/// What the simulator does next that is more than to take an event.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Next {
    /// Polls a thread.
    Poll(ThreadId),
    /// Drops code of the dead, and starts what was spawned.
    Business,
    /// Starts a process's threads.
    Start(ProcessId),
    /// Polls the threads of a process that waited for its end of a stop.
    Resume(ProcessId),
    Stop(Stop),
}

impl<S: Services> World<S> {
    /// Hands what has happened to the observer.
    fn hand_on(&mut self, observer: &mut impl Observer) {
        observer.events(&self.events);
        self.handed_on += self.events.len();
        self.events.clear();
    }

    pub(crate) fn threads_of(&self, process: ProcessId) -> impl Iterator<Item = ThreadId> + use<S> {
        let state = &self.processes[process.index()];
        (state.first_thread..state.first_thread + state.thread_count).map(ThreadId)
    }
}
