//! The faults of a run, read from its history.

use fencepost_history::{Duration, History, Instant, What};

use crate::FaultView;
use crate::reading::{Call, Reading};
use crate::words::{rate, short, signed};

/// Reads the faults of a run in the order in which they took effect, labelled `F1`, `F2`, ...
///
/// Messages that are lost to a cut link or a dead server are part of that fault and none of their
/// own.
#[must_use]
pub fn faults(history: &History) -> Vec<FaultView> {
    let reading = Reading::new(history);
    let mut found: Vec<(usize, Instant, String)> = Vec::new();
    for (event, entry) in history.events.iter().enumerate() {
        if let Some(text) = order(&reading, event) {
            found.push((event, entry.at, text));
        }
    }
    found.extend(reading.calls.iter().flat_map(|call| messages(&reading, call)));
    found.sort();
    let view = |(index, (event, at, text)): (usize, (usize, Instant, String))| FaultView {
        label: format!("F{}", index + 1),
        text,
        at,
        event: Some(event),
    };
    found.into_iter().enumerate().map(view).collect()
}

/// Says a fault as one would order it.
#[expect(clippy::wildcard_enum_match_arm, reason = "all other events are no faults")]
fn order(reading: &Reading<'_>, event: usize) -> Option<String> {
    let names = &reading.history.names;
    let at = reading.history.events[event].at;
    let lasts = |until: Instant| match until {
        Instant::NEVER => "for good".to_owned(),
        until => format!("for {}", short(until.since(at))),
    };
    Some(match reading.history.events[event].what {
        What::Paused { process, until } => {
            format!("pause {} {}", names.process(process), lasts(until))
        }
        What::Stalled { thread, until } => {
            let role = &names.threads.get(thread.index())?.role;
            let process = names.process(names.process_of(thread));
            format!("stall the thread {role} of {process} {}", lasts(until))
        }
        What::Crashed { process } => format!("crash {}", names.process(process)),
        What::ServerDown { server, until } => {
            format!("take {} down {}", reading.server_name(server), lasts(until))
        }
        What::ServerStalled { server, until } => {
            format!("stall {} {}", reading.server_name(server), lasts(until))
        }
        What::TokensForgotten { resource } => {
            format!("let {} forget its tokens", names.resource(resource))
        }
        What::ServerClock { server, by } => {
            format!("step the clock of {} by {}", reading.server_name(server), signed(by))
        }
        What::ProcessClock { process, by } => {
            format!("step the clock of {} by {}", names.process(process), signed(by))
        }
        What::ServerRate { server, rate: by } => {
            format!("let the clock of {} run {}", reading.server_name(server), rate(by))
        }
        What::ProcessRate { process, rate: by } => {
            format!("let the clock of {} run {}", names.process(process), rate(by))
        }
        What::LinkCut { process, server, until } => {
            let server = reading.server_name(server);
            format!("cut {} off from {server} {}", names.process(process), lasts(until))
        }
        What::PeersCut { server, peer, until } => {
            let (server, peer) = (reading.server_name(server), reading.server_name(peer));
            format!("cut {server} off from {peer} {}", lasts(until))
        }
        What::Outsider { server } => {
            let command = reading.history.detail(event).unwrap_or("a command");
            format!("type {command} at {}", reading.server_name(server))
        }
        _ => return None,
    })
}

fn messages(reading: &Reading<'_>, call: &Call<'_>) -> Vec<(usize, Instant, String)> {
    let client = reading.history.names.thread(call.thread);
    let server = reading.server_name(call.server);
    let what = call.command.map(|command| format!(" ({command})")).unwrap_or_default();
    let mut found = Vec::new();
    let mut add = |(event, at), text: String| found.push((event, at, text));
    let request = (call.sent.event, call.sent.at);
    if call.request_lost() {
        if !reading.is_cut(call, call.sent.at) {
            add(request, format!("lose a request of {client} to {server}{what}"));
        }
    } else if reading.is_late(call.sent.at, call.arrives) {
        let delay: Duration = call.arrives.since(call.sent.at);
        add(request, format!("delay a request of {client} to {server} by {}{what}", short(delay)));
    }
    if let Some(replied) = call.replied {
        let reply = (replied.event, replied.at);
        if call.reply_lost() {
            if !reading.is_cut(call, replied.at) {
                add(reply, format!("lose a reply of {server} to {client}{what}"));
            }
        } else if reading.is_late(replied.at, call.reply_arrives) {
            let delay = call.reply_arrives.since(replied.at);
            add(reply, format!("delay a reply of {server} to {client} by {}{what}", short(delay)));
        }
    }
    found
}
