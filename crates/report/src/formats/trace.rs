//! A row for each event, which the text formats of the trace share.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "most events have neither a peer nor a message as their cause"
)]

use std::collections::BTreeMap;

use fencepost_history::{Access, GrantId, History, How, What};
use serde::Serialize;

use crate::reading::{Actor, Reading};
use crate::steps;
use crate::{Step, Story};

/// An event in names.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Row {
    pub(super) id: usize,
    pub(super) t_ns: u64,
    pub(super) ev: &'static str,
    pub(super) lane: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) peer: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) cause: Vec<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) token: Option<u64>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) text: String,
}

/// Returns all rows; violations follow the events that complete them.
pub(super) fn rows(story: &Story, history: &History) -> Vec<Row> {
    let reading = Reading::new(history);
    let steps = steps::of_reading(story, &reading);
    let sentences: BTreeMap<usize, &Step> = steps.iter().map(|step| (step.event, step)).collect();
    let ranked = story.ranked();
    let mut rows = Vec::new();
    for (event, entry) in history.events.iter().enumerate() {
        let sentence = sentences.get(&event).filter(|step| step.at == entry.at);
        let text = history.detail(event).map(str::to_owned);
        let text = text.or(sentence.map(|step| format!("{} {}", step.who, step.text)));
        let actor = reading.actor(event);
        rows.push(Row {
            id: event,
            t_ns: entry.at.as_nanos(),
            ev: word(&entry.what),
            lane: actor.map_or_else(String::new, |actor| reading.name(actor)),
            peer: peer(&reading, event).unwrap_or_default(),
            cause: cause(&reading, event),
            token: token(&reading, &entry.what),
            text: text.unwrap_or_default(),
        });
        for finding in ranked.iter().filter(|found| found.event == Some(event)) {
            rows.push(Row {
                id: event,
                t_ns: entry.at.as_nanos(),
                ev: "violation",
                lane: finding.older.clone(),
                peer: finding.newer.clone(),
                cause: vec![event],
                token: finding.tokens[0],
                text: finding.kind.clone(),
            });
        }
    }
    rows
}

/// Returns the word for a kind of event.
fn word(what: &What) -> &'static str {
    match what {
        What::AcquireInvoked { .. } => "ask",
        What::Acquired { .. } => "belief_start",
        What::Refused { .. } => "refused",
        What::AcquireUnknown { .. } => "unknown",
        What::AcquireAbandoned { .. } => "abandon",
        What::ReleaseInvoked { .. } | What::Lost { .. } => "belief_end",
        What::ReleaseDone { .. } => "released",
        What::Step { .. } => "step",
        What::KeySet { how: How::Extend, .. } => "key_extend",
        What::KeySet { .. } => "key_set",
        What::KeyGone { how: How::Expire, .. } => "key_expire",
        What::KeyGone { .. } => "key_del",
        What::Accessed { access: Access::Read, .. } => "read",
        What::Accessed { access: Access::Write, .. } => "write",
        What::Paused { .. } | What::Stalled { .. } | What::ServerStalled { .. } => "pause",
        What::Resumed { .. } | What::Unstalled { .. } => "resume",
        What::Crashed { .. } | What::ServerDown { .. } => "crash",
        What::Restarted { .. } | What::ServerUp { .. } => "restart",
        What::Finished { .. } => "finish",
        What::Promoted { .. } => "promote",
        What::Demoted { .. } => "demote",
        What::DataLost { .. } => "data_lost",
        What::TokensForgotten { .. } => "tokens_forgotten",
        What::ServerClock { .. }
        | What::ProcessClock { .. }
        | What::ServerRate { .. }
        | What::ProcessRate { .. } => "clock",
        What::LinkCut { .. } | What::PeersCut { .. } => "cut",
        What::StreamStalled { .. } => "stream_stall",
        What::Refusing { .. } => "errors",
        What::Doubted { .. } => "doubt",
        What::Announced { .. } => "announce",
        What::Outsider { .. } => "outsider",
        What::Healed => "healed",
        What::Sent { .. } | What::Replied { .. } | What::PeerSent { .. } => "send",
        What::Applied { .. } | What::Seen { .. } => "deliver",
        What::GivenUp { .. } => "give_up",
        What::Dropped { .. } => "drop",
        What::Passed { .. } => "moment",
    }
}

fn peer(reading: &Reading<'_>, event: usize) -> Option<String> {
    let names = &reading.history.names;
    let call = |id| reading.call(id);
    let what = reading.history.events[event].what;
    Some(match what {
        What::Sent { server, .. } | What::LinkCut { server, .. } => reading.server_name(server),
        What::Applied { call: id, .. } | What::Replied { call: id, .. } => {
            names.thread(call(id)?.thread)
        }
        What::Seen { call: id } | What::GivenUp { call: id } => {
            reading.server_name(call(id)?.server)
        }
        What::Dropped { call: id, .. } => match reading.actor(event)? {
            Actor::Process(_) | Actor::Lock(_) => reading.server_name(call(id)?.server),
            Actor::Server(_) => names.thread(call(id)?.thread),
        },
        What::PeerSent { to, .. } => reading.server_name(to),
        What::PeersCut { peer, .. }
        | What::StreamStalled { peer, .. }
        | What::Doubted { peer, .. }
        | What::Announced { peer, .. } => reading.server_name(peer),
        What::KeySet { by, .. } | What::KeyGone { by, .. } if by != GrantId::NONE => {
            reading.client(by)
        }
        What::Accessed { grant, .. } => reading.client(grant),
        _ => return None,
    })
}

fn cause(reading: &Reading<'_>, event: usize) -> Vec<usize> {
    let call = |id| reading.call(id);
    let mark = match reading.history.events[event].what {
        What::Applied { call: id, .. } => call(id).map(|call| call.sent),
        What::Replied { call: id, .. } => call(id).and_then(|call| call.applied),
        What::Seen { call: id } => call(id).and_then(|call| call.replied),
        What::GivenUp { call: id } | What::Dropped { call: id, .. } => {
            call(id).map(|call| call.sent)
        }
        _ => {
            let index = reading.causes.get(&event);
            index.and_then(|&index| reading.calls[index].applied)
        }
    };
    mark.map(|mark| mark.event).into_iter().collect()
}

fn token(reading: &Reading<'_>, what: &What) -> Option<u64> {
    let of = |grant| reading.hold(grant).and_then(|hold| hold.token.number());
    match *what {
        What::Acquired { token, .. } | What::Accessed { token, .. } => token.number(),
        What::ReleaseInvoked { grant }
        | What::ReleaseDone { grant }
        | What::Lost { grant }
        | What::Step { grant }
        | What::KeySet { by: grant, .. } => of(grant),
        What::KeyGone { owner, .. } => of(owner),
        _ => None,
    }
}
