//! Requests with their replies.

use std::collections::BTreeMap;

use fencepost_history::{
    CallId, Duration, GrantId, History, Instant, Leg, ServerId, ThreadId, What,
};

use super::Mark;

/// One request and what became of it.
#[derive(Clone, Debug)]
pub(crate) struct Call<'h> {
    pub(crate) id: CallId,
    pub(crate) thread: ThreadId,
    pub(crate) server: ServerId,
    pub(crate) sent: Mark,
    pub(crate) arrives: Instant,
    pub(crate) applied: Option<Mark>,
    pub(crate) replied: Option<Mark>,
    pub(crate) reply_arrives: Instant,
    pub(crate) seen: Option<Mark>,
    pub(crate) given_up: Option<Mark>,
    pub(crate) dropped: Option<Leg>,
    /// The events that it brought about at the server.
    pub(crate) effects: Vec<usize>,
    pub(crate) command: Option<&'h str>,
    pub(crate) reply: Option<&'h str>,
}

impl Call<'_> {
    /// Returns whether the request never arrived.
    pub(crate) fn request_lost(&self) -> bool {
        self.arrives == Instant::NEVER || self.dropped == Some(Leg::Request)
    }

    /// Returns whether the reply never arrived.
    pub(crate) fn reply_lost(&self) -> bool {
        self.replied.is_some()
            && (self.reply_arrives == Instant::NEVER || self.dropped == Some(Leg::Reply))
    }
}

/// Reads all calls, and the call whose effect each event at a server is.
///
/// An effect belongs to the request that its server is executing: the last one applied there
/// and not yet answered, or else the next one applied at the same instant.
pub(super) fn read(history: &History) -> (Vec<Call<'_>>, BTreeMap<usize, usize>) {
    let mut calls: Vec<Call<'_>> = Vec::new();
    let mut by_id: BTreeMap<CallId, usize> = BTreeMap::new();
    let mut effects = Effects::default();
    for (event, entry) in history.events.iter().enumerate() {
        let mark = Mark { event, at: entry.at };
        match entry.what {
            What::Sent { call, thread, server, arrives } => {
                by_id.insert(call, calls.len());
                calls.push(Call {
                    id: call,
                    thread,
                    server,
                    sent: mark,
                    arrives,
                    applied: None,
                    replied: None,
                    reply_arrives: Instant::NEVER,
                    seen: None,
                    given_up: None,
                    dropped: None,
                    effects: Vec::new(),
                    command: history.detail(event),
                    reply: None,
                });
            }
            What::Applied { call, .. } => {
                if let Some(&index) = by_id.get(&call) {
                    calls[index].applied = calls[index].applied.or(Some(mark));
                    effects.applied(&mut calls, index, mark.at);
                    calls[index].command = calls[index].command.or(history.detail(event));
                }
            }
            What::Replied { call, arrives, .. } => {
                if let Some(&index) = by_id.get(&call) {
                    calls[index].replied = Some(mark);
                    effects.running.remove(&calls[index].server);
                    calls[index].reply_arrives = arrives;
                    calls[index].reply = history.detail(event);
                }
            }
            What::Seen { call } => {
                if let Some(&index) = by_id.get(&call) {
                    calls[index].seen = Some(mark);
                    calls[index].reply = calls[index].reply.or(history.detail(event));
                }
            }
            What::GivenUp { call } => {
                if let Some(&index) = by_id.get(&call) {
                    calls[index].given_up = Some(mark);
                }
            }
            What::Dropped { call, leg } => {
                if let Some(&index) = by_id.get(&call) {
                    calls[index].dropped = Some(leg);
                }
            }
            What::KeyGone { by: GrantId::NONE, .. } => {}
            What::KeySet { server, .. } | What::KeyGone { server, .. } => {
                effects.happened(&mut calls, server, mark);
            }
            What::Accessed { resource, .. } => {
                let servers = &history.names.resource_servers;
                if let Some(&server) = servers.get(resource.index()) {
                    effects.happened(&mut calls, server, mark);
                }
            }
            _ => {}
        }
    }
    (calls, effects.causes)
}

/// Finds out whose effects things are.
#[derive(Default)]
struct Effects {
    /// The request that each server is executing.
    running: BTreeMap<ServerId, usize>,
    /// Effects that came before their request.
    early: Vec<(ServerId, Mark)>,
    causes: BTreeMap<usize, usize>,
}

impl Effects {
    fn applied(&mut self, calls: &mut [Call<'_>], index: usize, at: Instant) {
        let server = calls[index].server;
        self.running.insert(server, index);
        for (_, mark) in self.early.extract_if(.., |(at_server, _)| *at_server == server) {
            if mark.at == at {
                self.causes.insert(mark.event, index);
                calls[index].effects.push(mark.event);
            }
        }
    }

    fn happened(&mut self, calls: &mut [Call<'_>], server: ServerId, mark: Mark) {
        match self.running.get(&server) {
            Some(&index) => {
                self.causes.insert(mark.event, index);
                calls[index].effects.push(mark.event);
            }
            None => self.early.push((server, mark)),
        }
    }
}

/// Returns the median time that a message takes.
pub(super) fn usual_latency(calls: &[Call<'_>]) -> Duration {
    let requests = calls.iter().map(|call| (call.sent.at, call.arrives));
    let replies = calls.iter().filter_map(|call| Some((call.replied?.at, call.reply_arrives)));
    let mut lengths: Vec<_> = requests
        .chain(replies)
        .filter(|(_, arrives)| *arrives != Instant::NEVER)
        .map(|(sent, arrives)| arrives.since(sent))
        .collect();
    lengths.sort_unstable();
    lengths.get(lengths.len() / 2).copied().unwrap_or_default()
}
