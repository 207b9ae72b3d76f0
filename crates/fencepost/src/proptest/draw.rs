//! From raw numbers, which shrink well, to the deviations of a plan.

use std::cell::RefCell;

use ::proptest::arbitrary::any;
use ::proptest::strategy::Strategy;

use fencepost_choice::{Anchor, Deviation, Source, Value};
use fencepost_history::{Duration, Instant, Names};
use fencepost_sim::FaultKind;
use fencepost_testbed::{Recorded, Testbed, scenario::Scenario};

use super::base::{Base, changes};
use super::{Bound, Plan};

/// What is drawn of one fault; smaller numbers mean milder and earlier ones.
#[derive(Clone, Copy, Debug)]
pub(super) struct Raw {
    kind: u16,
    actor: u16,
    anchor: u16,
    /// Below half of its range the magnitude is critical, else it is not.
    class: u8,
    /// Which critical instant, or how large.
    size: u32,
    /// How the instant is missed, and the direction of a clock's step.
    aim: u8,
}

impl Raw {
    pub(super) fn any() -> impl Strategy<Value = Self> {
        let numbers = (any::<u16>(), any::<u16>(), any::<u16>(), 0_u8..8, any::<u32>(), 0_u8..64);
        numbers.prop_map(|(kind, actor, anchor, class, size, aim)| Self {
            kind,
            actor,
            anchor,
            class,
            size,
            aim,
        })
    }
}

/// Chooses from a list by a number of 2^16, so that smaller numbers are nearer the front.
fn choose<T>(list: &[T], number: u16) -> Option<&T> {
    list.get((usize::from(number) * list.len()) >> 16)
}

/// Takes the part `number` of 2^32 of a length.
fn part(length: u64, number: u32) -> u64 {
    u64::try_from((u128::from(length) * u128::from(number)) >> 32).unwrap_or(length)
}

/// Turns raw numbers into plans for one scenario.
pub(super) struct Drawer {
    bound: Bound,
    testbed: RefCell<Testbed>,
    /// What the run without a plan offers.
    benign: Base,
    latency: u64,
    work: u64,
    ttl: u64,
}

impl Drawer {
    pub(super) fn new(mut testbed: Testbed, scenario: &Scenario, bound: Bound) -> Self {
        let recorded = testbed.record(Source::Benign, &[]).expect("nothing is planned");
        let work = scenario.workload.common.work.as_nanos();
        Self {
            benign: Base::of(&testbed, &recorded),
            testbed: RefCell::new(testbed),
            latency: scenario.network.latency.nominal().as_nanos(),
            work,
            ttl: scenario.lock.ttl.map_or(work, Duration::as_nanos),
            bound,
        }
    }

    /// Turns raw numbers into a plan; a fault for which there is no place is left out.
    ///
    /// The places of each fault are those of the run under the faults before it.
    pub(super) fn plan(&self, raws: &[Raw]) -> Plan {
        let mut plan = Plan::default();
        for raw in raws {
            let base = if plan.deviations.is_empty() {
                self.benign.clone()
            } else {
                let recorded = self.record(&plan.deviations);
                Base::of(&self.testbed.borrow(), &recorded)
            };
            if let Some(fault) = self.fault(raw, &base, &plan.deviations) {
                plan.deviations.push(fault);
            }
        }
        plan
    }

    fn record(&self, plan: &[Deviation]) -> Recorded {
        let recorded = self.testbed.borrow_mut().record(Source::Benign, plan);
        recorded.expect("drawn faults have places of the scenario, each its own")
    }

    fn fault(&self, raw: &Raw, base: &Base, before: &[Deviation]) -> Option<Deviation> {
        let kind = *choose(&self.bound.kinds, raw.kind)?;
        let (site, nth) = self.place(kind, raw, base)?;
        let anchor = Anchor::Nth(nth);
        let is_taken = |other: &Deviation| other.site == site && other.anchor == anchor;
        let pinned = self.testbed.borrow().pinned().iter().any(is_taken);
        if pinned || before.iter().any(is_taken) {
            return None;
        }
        let value = match kind {
            FaultKind::Loss => Value::Pick(1),
            FaultKind::Clock | FaultKind::Slew => Value::Step(self.step(raw)),
            FaultKind::Rate => {
                let size = i64::try_from(part(200_000_000, raw.size)).unwrap_or(0);
                Value::Step(if raw.aim.is_multiple_of(2) { size } else { -size })
            }
            FaultKind::Pause
            | FaultKind::Stall
            | FaultKind::Crash
            | FaultKind::Delay
            | FaultKind::Cut
            | FaultKind::Partition
            | FaultKind::Restart
            | FaultKind::PowerLoss
            | FaultKind::ServerStall
            | FaultKind::Operation => Value::Length(self.length(kind, raw, &site, anchor, before)),
        };
        Some(Deviation { site, anchor, value })
    }

    /// Returns the site of a fault and after which of its events it happens.
    fn place(&self, kind: FaultKind, raw: &Raw, base: &Base) -> Option<(String, u32)> {
        let testbed = self.testbed.borrow();
        let names: &Names = testbed.names();
        let label = kind.label();
        let at_process = |process: usize, scope: &str| {
            let nth = *choose(base.own.get(process)?, raw.anchor)?;
            Some((format!("{label}@{scope}"), nth))
        };
        let at_server = |server: usize| {
            let all: Vec<u32> = (1..=*base.executed.get(server)?).collect();
            let nth = *choose(&all, raw.anchor)?;
            Some((format!("{label}@{}", names.servers[server]), nth))
        };
        let actor = |count: usize| (usize::from(raw.actor) * count) >> 16;
        let (processes, servers) = (names.processes.len(), names.servers.len());
        match kind {
            FaultKind::Pause | FaultKind::Crash => {
                let process = actor(processes);
                at_process(process, names.processes.get(process)?)
            }
            FaultKind::Stall => {
                let thread = choose(&names.threads, raw.actor)?;
                let process = &names.processes[thread.process.index()];
                at_process(thread.process.index(), &format!("{process}/{}", thread.role))
            }
            FaultKind::Clock | FaultKind::Rate | FaultKind::Slew => {
                // Servers come first: by their clocks keys expire.
                let host = actor(servers + processes);
                match host.checked_sub(servers) {
                    None => at_server(host),
                    Some(process) => at_process(process, names.processes.get(process)?),
                }
            }
            FaultKind::Loss | FaultKind::Delay | FaultKind::Cut | FaultKind::Partition => {
                let (scope, messages) = choose(&base.messages, raw.actor)?;
                Some((format!("{label}@{scope}"), *choose(messages, raw.anchor)?))
            }
            FaultKind::Restart | FaultKind::PowerLoss | FaultKind::ServerStall => {
                at_server(actor(servers))
            }
            // An operation has no meaning without the scenario that lists it.
            FaultKind::Operation => None,
        }
    }

    /// Draws how long a fault lasts.
    fn length(
        &self,
        kind: FaultKind,
        raw: &Raw,
        site: &str,
        anchor: Anchor,
        before: &[Deviation],
    ) -> Duration {
        if kind == FaultKind::Crash && raw.aim < 32 {
            return Duration::MAX;
        }
        if raw.class < 4
            && let Some(length) = self.critical(kind, raw, site, anchor, before)
        {
            return length;
        }
        self.anything(raw)
    }

    /// Draws a length evenly, or evenly in its number of digits.
    fn anything(&self, raw: &Raw) -> Duration {
        let longest = self.bound.longest.as_nanos();
        if raw.class.is_multiple_of(2) {
            return Duration::from_nanos(part(longest, raw.size));
        }
        let shift = part(u64::from(longest.max(1).ilog2()), raw.size);
        Duration::from_nanos(longest >> (u64::from(longest.max(1).ilog2()) - shift))
    }

    /// Draws a length that ends about when something shared changed meanwhile.
    fn critical(
        &self,
        kind: FaultKind,
        raw: &Raw,
        site: &str,
        anchor: Anchor,
        before: &[Deviation],
    ) -> Option<Duration> {
        let longest = self.bound.longest;
        // With the fault for as long as can be, the rest of the world does what it does without
        // the actor; a message that never comes is one that is delayed for ever.
        let is_for_ever = matches!(kind, FaultKind::Pause | FaultKind::Crash);
        let (site, value) = if kind == FaultKind::Delay {
            (site.replace("net.delay@", "net.loss@"), Value::Pick(1))
        } else {
            let length = if is_for_ever { Duration::MAX } else { longest };
            (site.to_owned(), Value::Length(length))
        };
        if before.iter().any(|other| other.site == site && other.anchor == anchor) {
            return None;
        }
        let mut plan = before.to_vec();
        plan.push(Deviation { site, anchor, value });
        let recorded = self.record(&plan);
        let from = self.begins(&recorded, &plan[before.len()])?;
        let changes = changes(&recorded.history, from, longest);
        let number = u16::try_from(raw.size >> 16).unwrap_or(u16::MAX);
        let target = choose(&changes, number)?.as_nanos();
        let aimed = self.aim(target, raw.aim);
        (aimed > from.as_nanos()).then(|| Duration::from_nanos(aimed - from.as_nanos()))
    }

    /// Returns when a fault of a recorded run began.
    fn begins(&self, recorded: &Recorded, fault: &Deviation) -> Option<Instant> {
        let found = crate::story::begins(fault, &recorded.history)?;
        Some(recorded.history.events[found].at)
    }

    /// Misses an instant by a little, by a message's way, or by the work.
    fn aim(&self, target: u64, aim: u8) -> u64 {
        const LITTLE: u64 = 1_000;
        let way = self.latency;
        match aim % 8 {
            0 => target + LITTLE,
            1 => target,
            2 => target - LITTLE,
            3 => (target + LITTLE).saturating_sub(way),
            4 => target.saturating_sub(way + LITTLE),
            5 => target.saturating_sub(2 * way),
            6 => target + LITTLE + 2 * way,
            _ => target.saturating_sub(self.work),
        }
    }

    /// Draws by how much a clock jumps.
    fn step(&self, raw: &Raw) -> i64 {
        let size = if raw.class < 4 {
            let critical = [self.ttl, self.work, self.ttl.saturating_sub(self.work)];
            let number = u16::try_from(raw.size >> 16).unwrap_or(u16::MAX);
            choose(&critical, number).map_or(self.ttl, |target| self.aim(*target, raw.aim))
        } else {
            self.anything(raw).as_nanos()
        };
        let size = i64::try_from(size).unwrap_or(i64::MAX);
        if raw.aim < 32 { size } else { -size }
    }
}
