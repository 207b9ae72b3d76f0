//! One scenario, run again and again in the same memory.

use std::rc::Rc;

use fencepost_check::{Checkers, Finding, KindSet, Tally};
use fencepost_choice::{Deviation, PlanError, Planned, Source};
use fencepost_history::{Event, History, Instant, Moment, Names, ThreadId};
use fencepost_locks::{
    Calling, Granted, KeyLock, LockStrategy, Redlock, SetNx, SetNxExpire, SetNxPx, UserScript,
};
use fencepost_services::Servers;
use fencepost_sim::{Observer, Sim, Slot, Stop, Task};

use crate::build::Parts;
use crate::job::Hold;
use crate::plan::{self, FaultError};
use crate::scenario::{Scenario, Strategy};
use crate::workload::Worker;

/// What comes of a run that is not looked at closely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Brief {
    /// Why it stopped.
    pub stop: Stop,
    /// The hash of all that happened.
    pub hash: u64,
    /// When it was over, settle phase included.
    pub end: Instant,
    /// The kinds of violation that occurred.
    pub violated: KindSet,
    /// How many events the simulator's loop took.
    pub steps: u64,
}

/// A run with everything that happened in it.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// What a silent run gives, too.
    pub brief: Brief,
    /// Everything that happened.
    pub history: History,
    /// What the checkers found, in the order of events.
    pub findings: Vec<Finding>,
    /// What they counted.
    pub tally: Tally,
    /// Everything that deviated from the benign run.
    pub deviations: Vec<Deviation>,
    /// Planned deviations that did not take place.
    pub unreached: Vec<Deviation>,
}

/// A run that could not be carried out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// A deviation names no place of the scenario.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A script of the scenario raised an error.
    #[error("a script of [lock.script] failed: {0}")]
    Script(String),
    /// The same run gave another hash the second time: a fault of the program.
    #[error("the same run gave hash {first:#018x} and then {second:#018x}; this is a bug")]
    NotDeterministic {
        /// The silent run's hash.
        first: u64,
        /// The recorded run's hash.
        second: u64,
    },
}

/// A scenario that cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// A fault of the scenario cannot be placed.
    #[error(transparent)]
    Fault(#[from] FaultError),
}

/// One scenario, ready to run.
///
/// ```
/// use fencepost_choice::Source;
/// use fencepost_testbed::{Testbed, scenario::Scenario};
///
/// let scenario = Scenario::parse("[lock]\nstrategy = \"set-nx-px\"").expect("it is well formed");
/// let mut testbed = Testbed::new(&scenario)?;
/// let brief = testbed.run(Source::Benign, &[])?;
/// assert!(brief.violated.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Testbed {
    sim: Sim<Servers>,
    judge: Judge,
    names: Names,
    horizon: Instant,
    settle: fencepost_history::Duration,
    pinned: Vec<Deviation>,
    resolved: Vec<Planned>,
    /// Whether servers run scripts of the user's, which may fail.
    has_scripts: bool,
}

/// Hands a run's events to the checkers, and to the history if there is one.
struct Judge {
    checkers: Checkers,
    index: u32,
    record: Option<Vec<Event>>,
}

impl Observer for Judge {
    fn event(&mut self, event: &Event) {
        self.events(std::slice::from_ref(event));
    }

    fn events(&mut self, events: &[Event]) {
        if let Some(record) = &mut self.record {
            record.extend_from_slice(events);
        }
        for (event, index) in events.iter().zip(self.index..) {
            if !event.what.is_detail() {
                self.checkers.event(index, event);
            }
        }
        self.index += u32::try_from(events.len()).expect("events are limited");
    }
}

impl Testbed {
    /// Builds a scenario and finds the places of its pinned faults.
    ///
    /// # Errors
    ///
    /// A fault that is anchored at a moment which the run never passes.
    pub fn new(scenario: &Scenario) -> Result<Self, BuildError> {
        let parts = Parts::new(scenario);
        let mut testbed = match scenario.lock.strategy {
            Strategy::SetNx => Self::with_parts(&parts, SetNx),
            Strategy::SetNxExpire => Self::with_parts(&parts, SetNxExpire),
            Strategy::SetNxPx => Self::with_parts(&parts, SetNxPx),
            Strategy::Script => {
                let (granted, calling) = script_rules(scenario);
                Self::with_parts(&parts, |lock| UserScript { lock, granted, calling })
            }
            Strategy::Redlock => {
                Self::with_parts(&parts, |lock| Redlock { lock, rules: parts.quorum })
            }
        };
        testbed.pin(scenario)?;
        Ok(testbed)
    }

    /// Builds a scenario with a strategy of one's own, which `make` builds from the scenario's
    /// lock.
    ///
    /// # Errors
    ///
    /// A fault that is anchored at a moment which the run never passes.
    pub fn with_strategy<S: LockStrategy>(
        scenario: &Scenario,
        make: impl Fn(KeyLock) -> S,
    ) -> Result<Self, BuildError> {
        let mut testbed = Self::with_parts(&Parts::new(scenario), make);
        testbed.pin(scenario)?;
        Ok(testbed)
    }

    /// Builds a testbed from parts that the caller may have changed; nothing is pinned.
    #[must_use]
    pub fn with_parts<S: LockStrategy>(parts: &Parts, make: impl Fn(KeyLock) -> S) -> Self {
        let mut sim = Sim::new(&parts.setup, Servers::new(parts.servers.clone()));
        let mut tasks: Vec<Box<dyn Task>> = Vec::new();
        let mut workers: Vec<Option<Rc<Worker<S>>>> = Vec::new();
        for (place, job) in parts.jobs.iter().enumerate() {
            let thread = ThreadId(u16::try_from(place).expect("threads are few"));
            let client = sim.client(thread);
            if let Some(job) = job {
                let lock = parts.locks[usize::from(job.who.process) - 1];
                let (strategy, job) = (Rc::new(make(lock)), Rc::new(job.clone()));
                let hold = Rc::new(Hold::default());
                let worker = Rc::new(Worker { client, strategy, lock, job, hold });
                workers.push(Some(Rc::clone(&worker)));
                tasks.push(Box::new(Slot::new(move || Rc::clone(&worker).run())));
                continue;
            }
            workers.push(None);
            let worker = parts.renews_for[place].and_then(|worker| workers[worker.index()].clone());
            let worker = worker.expect("a helper thread renews for a worker before it");
            let renewer = Rc::new(worker.renewer(client));
            tasks.push(Box::new(Slot::new(move || Rc::clone(&renewer).keep_alive())));
        }
        sim.set_tasks(tasks);
        Self {
            sim,
            judge: Judge { checkers: Checkers::new(&parts.rules), index: 0, record: None },
            names: parts.names.clone(),
            horizon: parts.horizon,
            settle: parts.settle,
            pinned: Vec::new(),
            resolved: Vec::new(),
            has_scripts: parts.servers.nodes.iter().any(|node| !node.scripts.is_empty()),
        }
    }

    /// Adds a checker of one's own.
    pub fn add_checker(&mut self, checker: Box<dyn fencepost_check::Checker>) {
        self.judge.checkers.add(checker);
    }

    /// Returns the deviations of the scenario's own faults.
    #[must_use]
    pub fn pinned(&self) -> &[Deviation] {
        &self.pinned
    }

    /// Puts other deviations in the place of the scenario's own faults, as replays and searches for
    /// fewer faults do.
    pub fn set_pinned(&mut self, pinned: Vec<Deviation>) {
        self.pinned = pinned;
        self.resolve();
    }

    /// Returns the names of the scenario's ids.
    #[must_use]
    pub const fn names(&self) -> &Names {
        &self.names
    }

    /// Returns the simulation, to count messages or own events of the last run.
    #[must_use]
    pub const fn sim(&self) -> &Sim<Servers> {
        &self.sim
    }

    /// Finds the places of a scenario's faults one after the other, each in the run that those
    /// before it leave.
    fn pin(&mut self, scenario: &Scenario) -> Result<(), FaultError> {
        if let Some(replay) = &scenario.replay {
            // A counterexample says where its faults are; their moments need not be found again.
            let parsed = replay.deviations.iter().filter_map(|text| text.parse().ok());
            self.pinned = parsed.collect();
        } else {
            let mut operations = 0;
            for (place, fault) in scenario.fault.iter().enumerate() {
                let baseline = if plan::needs_baseline(fault) {
                    self.record(Source::Benign, &[]).ok()
                } else {
                    None
                };
                let history = baseline.as_ref().map(|recorded| &recorded.history);
                let found = plan::locate(scenario, place, fault, history, &mut operations)?;
                self.pinned.extend(found);
            }
        }
        self.resolve();
        Ok(())
    }

    fn resolve(&mut self) {
        let resolved = self.sim.choices(|choices| choices.resolve(&self.pinned));
        self.resolved = resolved.unwrap_or_default();
    }

    /// Runs once without recording.
    ///
    /// # Errors
    ///
    /// A deviation that names no place of this scenario, or the same place twice.
    pub fn run(&mut self, source: Source, extra: &[Deviation]) -> Result<Brief, RunError> {
        if extra.is_empty() && self.resolved.len() == self.pinned.len() {
            let plan = std::mem::take(&mut self.resolved);
            let begun = self.sim.begin_planned(source, &plan);
            self.resolved = plan;
            begun.map_err(|place| PlanError::Twice(self.pinned[place].clone()))?;
        } else {
            let mut plan = self.pinned.clone();
            plan.extend_from_slice(extra);
            self.sim.begin(source, &plan)?;
        }
        let brief = self.complete();
        if self.has_scripts {
            let failure = self.sim.services(|servers| servers.script_failure().map(str::to_owned));
            return failure.map_or(Ok(brief), |text| Err(RunError::Script(text)));
        }
        Ok(brief)
    }

    /// Runs once with a plan whose places have been found, and without the scenario's own faults;
    /// the hot path of a search.
    ///
    /// # Errors
    ///
    /// The position in `plan` of a deviation whose place another one has.
    pub fn run_planned(&mut self, source: Source, plan: &[Planned]) -> Result<Brief, usize> {
        self.sim.begin_planned(source, plan)?;
        Ok(self.complete())
    }

    /// Lets the run that has begun come to its end.
    fn complete(&mut self) -> Brief {
        self.judge.checkers.reset();
        self.judge.index = 0;
        let mut stop = self.sim.run(self.horizon, true, &mut self.judge);
        if stop != Stop::Limit {
            self.sim.heal();
            let end = self.sim.now() + self.settle;
            if self.sim.run(end, false, &mut self.judge) == Stop::Limit {
                stop = Stop::Limit;
            }
        }
        let end = self.sim.now();
        self.judge.checkers.end(end);
        Brief {
            stop,
            hash: self.sim.hash(),
            end,
            violated: self.judge.checkers.violated(),
            steps: self.sim.steps(),
        }
    }

    /// Returns what the checkers found in the last run.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        self.judge.checkers.findings()
    }

    /// Returns what the checkers counted in the last run.
    #[must_use]
    pub const fn tally(&self) -> &Tally {
        self.judge.checkers.tally()
    }

    /// Runs once and keeps everything; the same run without recording has the same hash.
    ///
    /// # Errors
    ///
    /// As [`Testbed::run`].
    pub fn record(&mut self, source: Source, extra: &[Deviation]) -> Result<Recorded, RunError> {
        self.sim.record(true);
        self.judge.record = Some(Vec::new());
        let brief = self.run(source, extra);
        let events = self.judge.record.take().unwrap_or_default();
        let details = self.sim.details();
        let (deviations, unreached) =
            self.sim.choices(|choices| (choices.log().collect(), choices.unreached().collect()));
        self.sim.record(false);
        let brief = brief?;
        let history = History {
            names: self.names.clone(),
            events,
            details,
            hash: brief.hash,
            end: brief.end,
        };
        Ok(Recorded {
            brief,
            history,
            findings: self.findings().to_vec(),
            tally: *self.tally(),
            deviations,
            unreached,
        })
    }
}

/// Gives what the scenario says of its scripts.
fn script_rules(scenario: &Scenario) -> (Granted, Calling) {
    use crate::scenario::{Call, Granted as Answer};
    let script = scenario.lock.script.as_ref();
    let granted = match script.map_or(Answer::Truthy, |script| script.granted) {
        Answer::Truthy => Granted::Truthy,
        Answer::Nil => Granted::Nil,
    };
    let calling = match script.map_or(Call::Eval, |script| script.call) {
        Call::Eval => Calling::Eval,
        Call::EvalSha => Calling::EvalSha,
        Call::EvalShaThenEval => Calling::EvalShaThenEval,
    };
    (granted, calling)
}

impl Recorded {
    /// Returns whether one of some threads passed a moment.
    #[must_use]
    pub fn passed(&self, threads: &[ThreadId], moment: Moment) -> bool {
        plan::passings(&self.history, threads, moment).next().is_some()
    }
}
