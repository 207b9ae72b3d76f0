//! Faults as values, and the one door through which all of them reach the world.

use fencepost_choice::{Anchor, SiteId};
use fencepost_history::{Duration, ProcessId, ServerId, ThreadId, What};

use crate::Services;
use crate::process::Thread;
use crate::queue::{Entry, Order};
use crate::world::{Action, World};

/// One thing done to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// All threads of a process stop: garbage collection, SIGSTOP, migration of the machine.
    Pause {
        /// Which process.
        process: ProcessId,
        /// For how long.
        length: Duration,
    },
    /// One thread stops: a slow query, a starved renewer.
    Stall {
        /// Which thread.
        thread: ThreadId,
        /// For how long.
        length: Duration,
    },
    /// A process dies; [`Duration::MAX`] means that it is not started again.
    Crash {
        /// Which process.
        process: ProcessId,
        /// Until it is started again.
        down: Duration,
    },
    /// A process's wall clock steps.
    StepClock {
        /// Which process.
        process: ProcessId,
        /// By how many nanoseconds.
        by: i64,
    },
    /// A server dies and is started again.
    Restart {
        /// Which server.
        server: ServerId,
        /// Until it is started again.
        down: Duration,
    },
    /// A server's machine loses power and is started again.
    LosePower {
        /// Which server.
        server: ServerId,
        /// Until it is started again.
        down: Duration,
    },
    /// A server executes nothing, and then what has queued up.
    StallServer {
        /// Which server.
        server: ServerId,
        /// For how long.
        length: Duration,
    },
    /// A server's wall clock steps.
    StepServerClock {
        /// Which server.
        server: ServerId,
        /// By how many nanoseconds.
        by: i64,
    },
    /// A process's clocks run at another rate from now on.
    SetRate {
        /// Which process.
        process: ProcessId,
        /// How much faster than true time, in parts per billion.
        rate: i64,
    },
    /// A server's clocks run at another rate from now on.
    SetServerRate {
        /// Which server.
        server: ServerId,
        /// How much faster than true time, in parts per billion.
        rate: i64,
    },
    /// A process's clocks are brought forward or back little by little, at the rate of
    /// [`crate::HostClock::slew`].
    Slew {
        /// Which process.
        process: ProcessId,
        /// By how many nanoseconds.
        by: i64,
    },
    /// A server's clocks are brought forward or back little by little.
    SlewServer {
        /// Which server.
        server: ServerId,
        /// By how many nanoseconds.
        by: i64,
    },
    /// An operation of the server's own kind: see [`Services::operate`].
    Operate {
        /// Which server.
        server: ServerId,
        /// Which of its operations.
        operation: u32,
    },
    /// One direction of a link loses everything.
    Cut {
        /// Which direction, as the world numbers them.
        link: u32,
        /// For how long.
        length: Duration,
    },
    /// Both directions of a link lose everything.
    Partition {
        /// One of its directions, as the world numbers them.
        link: u32,
        /// For how long.
        length: Duration,
    },
    /// No fault: the site's answer takes effect where it is asked.
    Nothing,
}

macro_rules! kinds {
    ($($(#[doc = $doc:literal])* $name:ident = $label:literal,)*) => {
        /// The kinds of faults, each with the label of its sites.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum FaultKind {
            $($(#[doc = $doc])* $name,)*
        }

        impl FaultKind {
            /// All kinds.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// Returns the label that its sites begin with.
            #[must_use]
            pub const fn label(self) -> &'static str {
                match self {
                    $(Self::$name => $label,)*
                }
            }
        }
    };
}

kinds! {
    /// All threads of a process stop.
    Pause = "client.pause",
    /// One thread stops.
    Stall = "client.stall",
    /// A process dies.
    Crash = "client.crash",
    /// A host's wall clock steps.
    Clock = "clock.step",
    /// A host's clocks run at another rate.
    Rate = "clock.rate",
    /// A host's clocks are corrected little by little.
    Slew = "clock.slew",
    /// A message is lost.
    Loss = "net.loss",
    /// A message comes later than its latency.
    Delay = "net.delay",
    /// One direction of a link loses everything from a message on.
    Cut = "net.cut",
    /// Both directions of a link lose everything from a message on.
    Partition = "net.partition",
    /// A server dies and is started again.
    Restart = "server.restart",
    /// A server's machine loses power.
    PowerLoss = "server.power-loss",
    /// A server executes nothing for a while.
    ServerStall = "server.stall",
    /// An operation of a server's own kind.
    Operation = "server.operation",
}

/// What a site's deviation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    Pause(ProcessId),
    Stall(ThreadId),
    Crash(ProcessId),
    ProcessClock(ProcessId),
    ProcessRate(ProcessId),
    ServerRate(ServerId),
    ProcessSlew(ProcessId),
    ServerSlew(ServerId),
    Restart(ServerId),
    PowerLoss(ServerId),
    ServerStall(ServerId),
    ServerClock(ServerId),
    Operation(ServerId),
    Latency(u32),
    Loss(u32),
    Delay(u32),
    Cut(u32),
    Partition(u32),
    /// Asked where it takes effect.
    Asked,
}

impl Meaning {
    #[expect(clippy::wildcard_enum_match_arm, reason = "all other sites are nobody's process")]
    /// Returns the process at whose own events the site's deviations are anchored.
    pub(crate) fn process<R>(self, threads: &[Thread<R>]) -> Option<ProcessId> {
        match self {
            Self::Pause(process)
            | Self::Crash(process)
            | Self::ProcessClock(process)
            | Self::ProcessRate(process)
            | Self::ProcessSlew(process) => Some(process),
            Self::Stall(thread) => Some(threads[thread.index()].process),
            _ => None,
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "all other sites are no server's")]
    const fn server(self) -> Option<ServerId> {
        match self {
            Self::Restart(server)
            | Self::PowerLoss(server)
            | Self::ServerSlew(server)
            | Self::ServerStall(server)
            | Self::ServerClock(server)
            | Self::ServerRate(server)
            | Self::Operation(server) => Some(server),
            _ => None,
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "all other sites are no link's")]
    const fn link(self) -> Option<u32> {
        match self {
            Self::Latency(link)
            | Self::Loss(link)
            | Self::Delay(link)
            | Self::Cut(link)
            | Self::Partition(link) => Some(link),
            _ => None,
        }
    }
}

/// Returns where the request direction of a link lives; its reply direction is the next one.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "ids have 16 bits")]
pub(crate) const fn link_place(process: ProcessId, server: ServerId, servers: usize) -> u32 {
    ((process.index() * servers + server.index()) * 2) as u32
}

impl<S: Services> World<S> {
    /// Points every actor at the first deviation that is planned for it.
    pub(crate) fn arm_plan(&mut self) {
        for place in 0..self.choices.plan().len() {
            let planned = self.choices.plan()[place];
            match planned.anchor {
                Anchor::At(at) => {
                    let number = u32::try_from(place).expect("plans are short");
                    let order = Order::fault(u16::MAX, number);
                    self.queue.push(Entry { at, order, action: Action::Planned(number) });
                }
                Anchor::Nth(nth) => {
                    let meaning = self.meanings[planned.site.index()];
                    if let Some(next) = self.next_fault_of(meaning) {
                        *next = (*next).min(nth);
                    }
                }
            }
        }
    }

    fn next_fault_of(&mut self, meaning: Meaning) -> Option<&mut u32> {
        if let Some(process) = meaning.process(&self.threads) {
            return Some(&mut self.processes[process.index()].next_fault);
        }
        if let Some(server) = meaning.server() {
            return Some(&mut self.servers[server.index()].next_fault);
        }
        let link = meaning.link()?;
        Some(&mut self.links[link as usize].next_fault)
    }

    /// Carries out what is planned for a process's present own event.
    #[cold]
    pub(crate) fn own_event_fault(&mut self, process: ProcessId) {
        let own = self.processes[process.index()].own;
        if own >= self.max_steps {
            self.stop_for_good(process);
        }
        let mut next = self.max_steps;
        for place in 0..self.choices.plan().len() {
            let planned = self.choices.plan()[place];
            let meaning = self.meanings[planned.site.index()];
            let Anchor::Nth(nth) = planned.anchor else {
                continue;
            };
            if meaning.process(&self.threads) != Some(process) {
                continue;
            }
            if nth == own {
                self.choices.reach(place);
                self.inject(meaning.fault(planned.value));
            } else if nth > own {
                next = next.min(nth);
            }
        }
        self.processes[process.index()].next_fault = next;
    }

    /// Carries out what is planned for the request that a server has just executed.
    #[cold]
    pub(crate) fn server_fault(&mut self, server: ServerId) {
        let own = self.servers[server.index()].own;
        let mut next = u32::MAX;
        for place in 0..self.choices.plan().len() {
            let planned = self.choices.plan()[place];
            let meaning = self.meanings[planned.site.index()];
            let Anchor::Nth(nth) = planned.anchor else {
                continue;
            };
            if meaning.server() != Some(server) {
                continue;
            }
            if nth == own {
                self.choices.reach(place);
                self.inject(meaning.fault(planned.value));
            } else if nth > own {
                next = next.min(nth);
            }
        }
        self.servers[server.index()].next_fault = next;
    }

    /// Carries out what is planned for the message that a link is about to carry; returns its
    /// latency and whether it is lost.
    #[cold]
    #[expect(clippy::wildcard_enum_match_arm, reason = "the rest of a link's faults pass `inject`")]
    pub(crate) fn link_fault(&mut self, link: u32, latency: u64) -> (u64, bool) {
        let sent = self.links[link as usize].sent;
        let (mut latency, mut is_lost, mut next) = (latency, false, u32::MAX);
        for place in 0..self.choices.plan().len() {
            let planned = self.choices.plan()[place];
            let meaning = self.meanings[planned.site.index()];
            let Anchor::Nth(nth) = planned.anchor else {
                continue;
            };
            if meaning.link() != Some(link) {
                continue;
            }
            if nth != sent {
                next = if nth > sent { next.min(nth) } else { next };
                continue;
            }
            self.choices.reach(place);
            let number = planned.value.number();
            match meaning {
                Meaning::Latency(_) => latency = number,
                Meaning::Delay(_) => latency = latency.saturating_add(number),
                Meaning::Loss(_) => is_lost = number != 0,
                _ => self.inject(meaning.fault(planned.value)),
            }
        }
        self.links[link as usize].next_fault = next;
        (latency, is_lost)
    }

    /// Carries out a deviation that is planned for the present instant.
    pub(crate) fn planned_now(&mut self, place: u32) {
        let planned = self.choices.plan()[place as usize];
        let meaning = self.meanings[planned.site.index()];
        let fault = meaning.fault(planned.value);
        if fault != Fault::Nothing {
            self.choices.reach(place as usize);
            self.inject(fault);
        }
    }

    /// Does a fault to the world: pinned, drawn and searched ones all pass here.
    pub(crate) fn inject(&mut self, fault: Fault) {
        match fault {
            Fault::Pause { process, length } => self.pause(process, length),
            Fault::Stall { thread, length } => self.stall(thread, length),
            Fault::Crash { process, down } => self.crash_process(process, down),
            Fault::StepClock { process, by } => {
                self.processes[process.index()].clock.step(by);
                self.emit(What::ProcessClock { process, by });
            }
            Fault::SetRate { process, rate } => {
                self.set_rate(process, rate);
                self.emit(What::ProcessRate { process, rate });
            }
            Fault::Cut { link, length } => {
                self.cut(link, length);
                self.tell_cut(link, length);
            }
            Fault::Partition { link, length } => {
                self.cut(link, length);
                self.cut(link ^ 1, length);
                self.tell_cut(link, length);
            }
            Fault::Slew { process, by } => self.slew(process, by),
            Fault::Restart { server, .. }
            | Fault::LosePower { server, .. }
            | Fault::SlewServer { server, .. }
            | Fault::StallServer { server, .. }
            | Fault::StepServerClock { server, .. }
            | Fault::SetServerRate { server, .. }
            | Fault::Operate { server, .. } => {
                // The server's own state is not at hand here: the run's loop takes this first.
                self.inject_later(server.0, fault, Duration::ZERO);
            }
            Fault::Nothing => {}
        }
    }

    /// Puts a fault off; one of a server at least until the run's loop has the server at hand.
    pub(crate) fn inject_later(&mut self, actor: u16, fault: Fault, after: Duration) {
        let number = self.next_number();
        let order = Order::fault(actor, number);
        let place = u32::try_from(self.later_faults.len()).expect("faults are few");
        self.later_faults.push(fault);
        self.queue.push(Entry { at: self.now + after, order, action: Action::Fault(place) });
    }

    /// Lets a process's clocks run fast or slow for as long as a correction takes.
    fn slew(&mut self, process: ProcessId, by: i64) {
        let clock = self.processes[process.index()].clock;
        let (rate, length) = clock.slewed(by);
        self.inject(Fault::SetRate { process, rate });
        let fault = Fault::SetRate { process, rate: clock.rate() };
        self.inject_later(process.0, fault, length);
    }

    fn cut(&mut self, link: u32, length: Duration) {
        let until = self.now + length;
        let state = &mut self.links[link as usize];
        state.cut_until = state.cut_until.max(until);
    }

    fn tell_cut(&mut self, link: u32, length: Duration) {
        let id = |n: usize| u16::try_from(n).expect("ids have 16 bits");
        let (place, servers) = (link as usize / 2, self.servers.len());
        let process = ProcessId(id(place / servers));
        let server = ServerId(id(place % servers));
        self.emit(What::LinkCut { process, server, until: self.now + length });
    }

    /// Registers a site with what its deviations do.
    pub(crate) fn register(&mut self, label: &str, meaning: Meaning) -> SiteId {
        let site = self.choices.site(label);
        if site.index() >= self.meanings.len() {
            self.meanings.resize(site.index() + 1, Meaning::Asked);
        }
        self.meanings[site.index()] = meaning;
        site
    }
}
