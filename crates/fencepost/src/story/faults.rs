//! Faults in plain words, with the events at which they took effect.

use fencepost_choice::{Anchor, Deviation, Value};
use fencepost_history::{Duration, Event, History, How, Instant, Names, What};
use fencepost_report::FaultView;
use fencepost_testbed::scenario::{Failover, Fault, Scenario, StreamFault};

use super::length;
use crate::Run;

/// Tells the faults of a run in the order in which they took effect.
pub(super) fn views(scenario: &Scenario, run: &Run) -> Vec<FaultView> {
    let history = &run.recorded.history;
    let mut taken = Vec::new();
    let mut views = Vec::new();
    for (place, deviation) in run.faults().into_iter().enumerate() {
        let event = find(deviation, history, &taken);
        taken.extend(event);
        let at = match (event, deviation.anchor) {
            (Some(event), _) => history.events[event].at,
            (None, Anchor::At(at)) => at,
            (None, Anchor::Nth(_)) => Instant::ZERO,
        };
        views.push(FaultView {
            label: format!("F{}", place + 1),
            text: words(scenario, deviation, event.and_then(|event| history.detail(event))),
            at,
            event,
        });
    }
    views
}

/// Finds the first event of a fault of a run.
#[cfg(feature = "proptest")]
pub(crate) fn begins(deviation: &Deviation, history: &History) -> Option<usize> {
    find(deviation, history, &[])
}

/// Finds the first event of a fault, unless another fault has it already.
fn find(deviation: &Deviation, history: &History, taken: &[usize]) -> Option<usize> {
    let (kind, scope) = deviation.site.split_once('@')?;
    let names = &history.names;
    if let ("net.loss" | "net.delay", Anchor::Nth(nth)) = (kind, deviation.anchor) {
        return message(scope, nth, history);
    }
    let mut events = history.events.iter().enumerate();
    let found = events.find(|(place, event)| {
        !taken.contains(place)
            && (is_start(kind, scope, deviation.anchor, event, names)
                || (kind == "server.operation"
                    && begins_operation(scope, deviation.anchor, event, names)))
    });
    found.map(|(place, _)| place)
}

/// Returns whether an event is the first one of such a fault.
fn is_start(kind: &str, scope: &str, anchor: Anchor, event: &Event, names: &Names) -> bool {
    if let Anchor::At(at) = anchor
        && event.at < at
    {
        return false;
    }
    let kind = match kind {
        "server.power-loss" => "server.restart",
        "clock.slew" => "clock.rate",
        other => other,
    };
    #[expect(clippy::wildcard_enum_match_arm, reason = "the other events begin no fault")]
    let (of, whom) = match event.what {
        What::Paused { process, .. } => ("client.pause", names.process(process).to_owned()),
        What::Stalled { thread, .. } => {
            let process = names.process(names.process_of(thread));
            let role = names.threads.get(thread.index()).map_or("", |thread| &thread.role);
            ("client.stall", format!("{process}/{role}"))
        }
        What::Crashed { process } => ("client.crash", names.process(process).to_owned()),
        What::ProcessClock { process, .. } => ("clock.step", names.process(process).to_owned()),
        What::ServerClock { server, .. } => ("clock.step", names.server(server).to_owned()),
        What::ProcessRate { process, .. } => ("clock.rate", names.process(process).to_owned()),
        What::ServerRate { server, .. } => ("clock.rate", names.server(server).to_owned()),
        What::ServerDown { server, .. } => ("server.restart", names.server(server).to_owned()),
        What::ServerStalled { server, .. } => ("server.stall", names.server(server).to_owned()),
        What::Outsider { server } => ("server.operation", names.server(server).to_owned()),
        What::TokensForgotten { resource } => {
            ("server.operation", names.resource(resource).to_owned())
        }
        What::LinkCut { process, server, .. } => {
            let (client, server) = (names.process(process), names.server(server));
            let is_meant =
                scope == format!("{client}->{server}") || scope == format!("{server}->{client}");
            return kind.starts_with("net.") && is_meant;
        }
        _ => return false,
    };
    of == kind && whom == scope
}

/// Returns whether an event is the first one of an operation that shows as another kind of fault.
fn begins_operation(scope: &str, anchor: Anchor, event: &Event, names: &Names) -> bool {
    #[expect(clippy::wildcard_enum_match_arm, reason = "the other events begin no operation")]
    let server = match event.what {
        What::ServerDown { server, .. }
        | What::StreamStalled { server, .. }
        | What::Refusing { server, .. }
        | What::PeersCut { server, .. }
        | What::LinkCut { server, .. }
        | What::KeyGone { server, how: How::Lose, .. } => server,
        _ => return false,
    };
    // Only what happens at the operation's own instant can be its beginning, if that is known.
    names.server(server) == scope && !matches!(anchor, Anchor::At(at) if event.at != at)
}

/// Finds the n-th message of a link in one direction.
fn message(scope: &str, nth: u32, history: &History) -> Option<usize> {
    let (from, to) = scope.split_once("->")?;
    let names = &history.names;
    let mut calls = Vec::new();
    let mut seen = 0;
    for (place, event) in history.events.iter().enumerate() {
        #[expect(clippy::wildcard_enum_match_arm, reason = "the other events are no messages")]
        let is_meant = match event.what {
            What::Sent { call, thread, server, .. } => {
                let client = names.process(names.process_of(thread));
                let server = names.server(server);
                if (client, server) == (to, from) {
                    calls.push(call);
                }
                (client, server) == (from, to)
            }
            What::Replied { call, .. } => calls.contains(&call),
            _ => false,
        };
        seen += u32::from(is_meant);
        if is_meant && seen == nth {
            return Some(place);
        }
    }
    None
}

/// Says what a fault does, as a person would order it.
fn words(scenario: &Scenario, deviation: &Deviation, detail: Option<&str>) -> String {
    let Some((kind, scope)) = deviation.site.split_once('@') else {
        return deviation.to_string();
    };
    let (from, to) = scope.split_once("->").unwrap_or((scope, ""));
    let message = || {
        let what = if scenario.process(from).is_some() { "request" } else { "reply" };
        let detail = detail.map(|detail| format!(" `{detail}`")).unwrap_or_default();
        format!("the {what}{detail} from {from} to {to}")
    };
    match (kind, deviation.value) {
        ("client.pause", Value::Length(time)) => format!("pause {scope}{}", lasting(time)),
        ("client.stall", Value::Length(time)) => format!("stall {scope}{}", lasting(time)),
        ("client.crash", Value::Length(Duration::MAX)) => format!("crash {scope}"),
        ("client.crash", Value::Length(time)) => {
            format!("crash {scope} and start it again after {}", length(time))
        }
        ("clock.step", Value::Step(by)) => {
            let way = if by < 0 { "back" } else { "forward" };
            let size = length(Duration::from_nanos(by.unsigned_abs()));
            format!("step the wall clock of {scope} {way} by {size}")
        }
        ("clock.rate", Value::Step(rate)) => {
            let way = if rate < 0 { "slow" } else { "fast" };
            let ppm = rate.unsigned_abs() / 1_000;
            format!("let the clocks of {scope} run {ppm} ppm too {way}")
        }
        ("net.loss", _) => format!("lose {}", message()),
        ("net.delay", Value::Length(time)) => format!("delay {} by {}", message(), length(time)),
        ("net.partition", Value::Length(time)) => {
            format!("cut {from} off from {to}{}", lasting(time))
        }
        ("net.cut", Value::Length(time)) => {
            format!("lose every message from {from} to {to}{}", lasting(time))
        }
        ("server.restart", Value::Length(time)) => {
            format!("take {scope} down and start it again after {}", length(time))
        }
        ("server.power-loss", Value::Length(time)) => {
            format!("cut the power of {scope} and start it again after {}", length(time))
        }
        ("clock.slew", Value::Step(by)) => {
            let way = if by < 0 { "back" } else { "forward" };
            let size = length(Duration::from_nanos(by.unsigned_abs()));
            format!("bring the clocks of {scope} {way} by {size} little by little")
        }
        ("server.stall", Value::Length(time)) => format!("stall {scope}{}", lasting(time)),
        ("server.operation", Value::Pick(number)) => operation(scenario, scope, number),
        _ => deviation.to_string(),
    }
}

fn lasting(time: Duration) -> String {
    if time == Duration::MAX { " for good".to_owned() } else { format!(" for {}", length(time)) }
}

/// Says what an outsider or an operator does to a server.
fn operation(scenario: &Scenario, server: &str, number: u32) -> String {
    let mut operations = scenario.fault.iter().filter(|fault| fault.is_operation());
    let number = usize::try_from(number).unwrap_or(usize::MAX);
    let during = |time: Option<Duration>| lasting(time.unwrap_or(Duration::MAX));
    match operations.nth(number) {
        Some(Fault::Outsider(outsider)) => {
            format!("an outsider sends {server} `{}`", outsider.command)
        }
        Some(Fault::Failover(Failover { to, after, back_after, .. })) => {
            let back = match back_after {
                Some(back) => format!(", and {server} comes back as a replica {}", later(*back)),
                None => String::new(),
            };
            format!("kill the master {server} and promote {to} {}{back}", later(*after))
        }
        Some(Fault::ReplicationStall(StreamFault { replica, length, .. })) => {
            format!("let no change of {server} get to {replica}{}", during(*length))
        }
        Some(Fault::ReplicationCut(StreamFault { replica, length, .. })) => {
            format!("break the connection of {replica} to its master {server}{}", during(*length))
        }
        Some(Fault::Split(split)) => {
            format!("cut {} off from everybody else{}", split.off.join(", "), during(split.length))
        }
        Some(Fault::ServerErrors(errors)) => {
            let (error, time) = (errors.error.name().to_uppercase(), lasting(errors.length));
            format!("let {server} answer with {error}{time}")
        }
        Some(Fault::Evict(_)) => format!("{server} throws the lock's key out to make room"),
        _ => format!("{server} forgets the highest token it has seen"),
    }
}

fn later(time: Duration) -> String {
    format!("{} later", length(time))
}
