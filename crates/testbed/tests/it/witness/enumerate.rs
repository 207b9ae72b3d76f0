//! Every single fault of a kind, after every event, with every magnitude.

use fencepost_check::Kind;
use fencepost_choice::{Anchor, Deviation, Planned, Source, Value};
use fencepost_history::ProcessId;
use fencepost_history::ServerId;
use fencepost_testbed::Testbed;

use super::Row;
use super::configuration::{Base, Configuration, ticks};

/// The kinds that the table knows.
pub(super) const JUDGED: &[Kind] = &[
    Kind::DoubleHolder,
    Kind::DoubleRun,
    Kind::LateWrite,
    Kind::StaleWrite,
    Kind::ForeignRelease,
    Kind::OrphanNoTtl,
    Kind::TokenRegression,
    Kind::LostUpdate,
];

/// The largest magnitude.
const LARGEST: u32 = 44;

/// How much is enumerated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Span {
    /// All base schedules and all magnitudes.
    Whole,
    /// All base schedules, but only the magnitudes at and just below the table's, and the largest.
    Edges,
}

impl Span {
    /// The whole enumeration takes minutes, so it is asked for by `WITNESS=whole`.
    #[expect(
        clippy::disallowed_methods,
        reason = "a test is told by its environment how long it may take"
    )]
    pub(super) fn from_environment() -> Self {
        match std::env::var("WITNESS").as_deref() {
            Ok("whole") => Self::Whole,
            _ => Self::Edges,
        }
    }
}

/// A kind of fault as the table names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FaultKind {
    Pause,
    WorkerStall,
    Crash,
    Loss,
    Delay,
    Restart,
    NodeClockForward,
    NodeClockBack,
    ClientClockBack,
    Failover,
}

impl FaultKind {
    pub(super) const ALL: &'static [Self] = &[
        Self::Pause,
        Self::WorkerStall,
        Self::Crash,
        Self::Loss,
        Self::Delay,
        Self::Restart,
        Self::NodeClockForward,
        Self::NodeClockBack,
        Self::ClientClockBack,
        Self::Failover,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Pause => "process-pause",
            Self::WorkerStall => "worker-thread-stall",
            Self::Crash => "client-crash",
            Self::Loss => "message-loss",
            Self::Delay => "message-delay",
            Self::Restart => "node-restart",
            Self::NodeClockForward => "node-clock-step-forward",
            Self::NodeClockBack => "node-clock-step-back",
            Self::ClientClockBack => "client-clock-step-back",
            Self::Failover => "master-failover",
        }
    }

    const fn has_magnitude(self) -> bool {
        !matches!(self, Self::Crash | Self::Loss | Self::Failover)
    }

    fn value(self, magnitude: u32) -> Value {
        let length = ticks(magnitude);
        let step = length.as_nanos().cast_signed();
        match self {
            Self::Crash => Value::Length(fencepost_history::Duration::MAX),
            Self::Loss => Value::Pick(1),
            // The first of the scenario's operations.
            Self::Failover => Value::Pick(0),
            Self::Pause | Self::WorkerStall | Self::Delay | Self::Restart => Value::Length(length),
            Self::NodeClockForward => Value::Step(step),
            Self::NodeClockBack | Self::ClientClockBack => Value::Step(-step),
        }
    }

    /// Lists the places of a fault in the run that the testbed has just made.
    fn places(self, testbed: &Testbed, nodes: u16) -> Vec<(String, u32)> {
        let mut places = Vec::new();
        let mut at_clients = |prefix: &str, suffix: &str| {
            for process in 0..2 {
                let own = testbed.sim().own_events(ProcessId(process));
                let site = format!("{prefix}@c{}{suffix}", process + 1);
                places.extend((1..=own).map(|k| (site.clone(), k)));
            }
        };
        match self {
            Self::Pause => at_clients("client.pause", ""),
            Self::WorkerStall => at_clients("client.stall", "/worker"),
            Self::Crash => at_clients("client.crash", ""),
            Self::ClientClockBack => at_clients("clock.step", ""),
            Self::Loss | Self::Delay => {
                let kind = if self == Self::Loss { "loss" } else { "delay" };
                for (scope, sent) in testbed.sim().messages_sent() {
                    places.extend((1..=sent).map(|n| (format!("net.{kind}@{scope}"), n)));
                }
            }
            Self::Restart | Self::NodeClockForward | Self::NodeClockBack | Self::Failover => {
                let kind = if self == Self::Restart {
                    "server.restart"
                } else if self == Self::Failover {
                    "server.operation"
                } else {
                    "clock.step"
                };
                for node in 0..nodes {
                    let executed = testbed.sim().executed(ServerId(node));
                    let site = format!("{kind}@r{}", node + 1);
                    places.extend((1..=executed).map(|k| (site.clone(), k)));
                }
            }
        }
        places
    }
}

/// Returns the magnitudes to try, in ascending order.
fn magnitudes(fault: FaultKind, span: Span, expected: &Row) -> Vec<u32> {
    if !fault.has_magnitude() {
        return vec![0];
    }
    if span == Span::Whole {
        return (1..=LARGEST).collect();
    }
    let mut edges: Vec<u32> =
        expected.values().flat_map(|&least| [least.saturating_sub(1), least]).collect();
    edges.extend([LARGEST]);
    edges.retain(|&magnitude| magnitude > 0);
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// Returns the orders in which events of one instant are tried: the benign one, and for the retried
/// release, whose row supposes it, a time-out that comes before the reply of the same instant.
fn ties(name: &str, testbed: &Testbed) -> Vec<Option<Planned>> {
    let mut orders = vec![None];
    if name == "S2r" {
        for client in ["c1", "c2"] {
            let site = format!("order.tie@{client}");
            let tie = Deviation { site, anchor: Anchor::Nth(1), value: Value::Pick(1) };
            let resolved = testbed.sim().choices(|choices| choices.resolve(&[tie]));
            orders.push(Some(resolved.expect("each client has such a site")[0]));
        }
    }
    orders
}

/// Enumerates a fault; returns the least magnitude of each kind that it brings about.
pub(super) fn least(
    name: &str,
    configuration: &Configuration,
    fault: FaultKind,
    span: Span,
    expected: &Row,
) -> Row {
    let mut found = Row::new();
    if fault == FaultKind::WorkerStall && !configuration.has_renewer() {
        return found;
    }
    if fault == FaultKind::Failover && !configuration.is_replicated() {
        return found;
    }
    let magnitudes = magnitudes(fault, span, expected);
    // Silence is sampled where the span is not the whole.
    let (first, stride) = match (span, configuration.nodes()) {
        (Span::Whole, _) => (0, 1),
        (Span::Edges, 1) if expected.is_empty() => (0, 8),
        (Span::Edges, 1) => (0, 1),
        // Seven shares no factor with the numbers of offsets and latencies, and from the sixth on
        // it meets the schedules that give the least numbers.
        (Span::Edges, _) if expected.is_empty() => (6, 21),
        (Span::Edges, _) => (6, 7),
    };
    for base in Base::all(configuration.nodes()).into_iter().skip(first).step_by(stride) {
        let mut testbed = configuration.testbed(base);
        let brief = testbed.run(Source::Benign, &[]).expect("nothing is planned");
        assert!(brief.violated.is_empty(), "without faults every strategy is safe: {base:?}");
        let ties = ties(name, &testbed);
        for (site, nth) in fault.places(&testbed, configuration.nodes()) {
            let place = Deviation { site, anchor: Anchor::Nth(nth), value: Value::Pick(0) };
            let resolved = testbed.sim().choices(|choices| choices.resolve(&[place]));
            let place = resolved.expect("the places are the simulation's own")[0];
            for &magnitude in &magnitudes {
                if JUDGED.iter().all(|kind| found.get(kind).is_some_and(|&f| f <= magnitude)) {
                    break;
                }
                let planned = Planned { value: fault.value(magnitude), ..place };
                for tie in &ties {
                    let plan: Vec<Planned> = tie.iter().copied().chain([planned]).collect();
                    let brief = testbed.run_planned(Source::Benign, &plan).expect("no place twice");
                    for kind in brief.violated.iter().filter(|kind| JUDGED.contains(kind)) {
                        let least = found.entry(kind).or_insert(magnitude);
                        *least = (*least).min(magnitude);
                    }
                }
            }
        }
    }
    found
}
