//! A history read once: holds, lives of keys, stops, calls and accesses, as steps and drawing
//! need them.
//!
//! It judges nothing: what was a violation comes from the [`Story`](crate::Story).

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each pass picks the events that it is about; all others are none of its business"
)]

mod calls;
mod spans;

use std::collections::BTreeMap;
use std::ops::Range;

use fencepost_history::{
    Access, AccessOutcome, CallId, Duration, Event, GrantId, History, Instant, LockId, LockRules,
    ProcessId, ResourceId, ServerId, ThreadId, Token, What,
};

pub(crate) use calls::Call;

/// Who something happens to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Actor {
    /// A lock that several servers hold together.
    Lock(LockId),
    Process(ProcessId),
    Server(ServerId),
}

/// An event's index and time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) event: usize,
    pub(crate) at: Instant,
}

/// How a belief ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Released,
    Lost,
    Crashed,
    Open,
}

/// A client's belief that it holds a lock.
#[derive(Clone, Debug)]
pub(crate) struct Hold {
    pub(crate) grant: GrantId,
    pub(crate) thread: ThreadId,
    pub(crate) lock: LockId,
    pub(crate) token: Token,
    pub(crate) from: Mark,
    pub(crate) to: Mark,
    pub(crate) ending: Ending,
}

/// How the life of a key ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyEnd {
    Expired,
    Deleted(GrantId),
    Replaced(GrantId),
    Lost,
    Open,
}

/// A lock's key at one server, from one owner's writing it to its end.
#[derive(Clone, Debug)]
pub(crate) struct KeySpan {
    pub(crate) server: ServerId,
    pub(crate) lock: LockId,
    pub(crate) owner: GrantId,
    pub(crate) from: Mark,
    pub(crate) to: Mark,
    pub(crate) end: KeyEnd,
    /// The deadline that the key had in the end.
    pub(crate) deadline: Instant,
    /// Whether an event tells of the end; an expiry that nobody noticed has none.
    pub(crate) told: bool,
}

/// What stops an actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopKind {
    Pause,
    Stall(ThreadId),
    Crash,
    Down,
    Busy,
}

/// A time in which an actor does not run.
#[derive(Clone, Debug)]
pub(crate) struct Stop {
    pub(crate) actor: Actor,
    pub(crate) kind: StopKind,
    pub(crate) from: Mark,
    /// The end, and whether there is one.
    pub(crate) to: Instant,
    pub(crate) ends: bool,
}

/// An access to a protected resource.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AccessMark {
    pub(crate) mark: Mark,
    pub(crate) resource: ResourceId,
    pub(crate) grant: GrantId,
    pub(crate) token: Token,
    pub(crate) access: Access,
    pub(crate) outcome: AccessOutcome,
}

/// All of it.
pub(crate) struct Reading<'h> {
    pub(crate) history: &'h History,
    pub(crate) holders: BTreeMap<GrantId, ThreadId>,
    pub(crate) holds: Vec<Hold>,
    pub(crate) keys: Vec<KeySpan>,
    pub(crate) stops: Vec<Stop>,
    /// In the order of sending.
    pub(crate) calls: Vec<Call<'h>>,
    pub(crate) accesses: Vec<AccessMark>,
    /// The call whose effect an event is, by event.
    pub(crate) causes: BTreeMap<usize, usize>,
    by_id: BTreeMap<CallId, usize>,
    /// How long messages usually take.
    latency: Duration,
}

impl<'h> Reading<'h> {
    pub(crate) fn new(history: &'h History) -> Self {
        let (calls, causes) = calls::read(history);
        let mut holders = BTreeMap::new();
        for (index, event) in history.events.iter().enumerate() {
            match event.what {
                What::Acquired { thread, grant, .. }
                | What::Refused { thread, grant, .. }
                | What::AcquireUnknown { thread, grant, .. } => {
                    holders.insert(grant, thread);
                }
                What::KeySet { by, .. } if by != GrantId::NONE => {
                    if let Some(&call) = causes.get(&index) {
                        holders.entry(by).or_insert(calls[call].thread);
                    }
                }
                _ => {}
            }
        }
        let latency = calls::usual_latency(&calls);
        Self {
            history,
            holders,
            latency,
            by_id: calls.iter().enumerate().map(|(index, call)| (call.id, index)).collect(),
            holds: spans::holds(history),
            keys: spans::keys(history),
            stops: spans::stops(history),
            calls,
            accesses: accesses(history),
            causes,
        }
    }

    /// Returns a call.
    pub(crate) fn call(&self, id: CallId) -> Option<&Call<'h>> {
        self.by_id.get(&id).map(|&index| &self.calls[index])
    }

    /// Returns the index of a call.
    pub(crate) fn index_of(&self, id: CallId) -> Option<usize> {
        self.by_id.get(&id).copied()
    }

    /// Returns whether a longer fault explains why a message of a call is lost.
    pub(crate) fn is_cut(&self, call: &Call<'_>, at: Instant) -> bool {
        let process = self.history.names.process_of(call.thread);
        self.history.events.iter().any(|event| match event.what {
            What::LinkCut { process: cut, server, until } => {
                (cut, server) == (process, call.server) && event.at <= at && at <= until
            }
            What::ServerDown { server, until } => {
                server == call.server && event.at <= at && at <= until
            }
            What::Crashed { process: dead } => dead == process && event.at <= at,
            _ => false,
        })
    }

    /// Returns the indices of the calls that were sent between two events.
    pub(crate) fn calls_between(&self, start: usize, end: usize) -> Range<usize> {
        let before = |event: usize| self.calls.partition_point(|call| call.sent.event < event);
        before(start)..before(end)
    }

    /// Returns whether a message takes much longer than messages usually do.
    pub(crate) fn is_late(&self, sent: Instant, arrives: Instant) -> bool {
        let longest = self.latency.saturating_mul(20).max(Duration::from_millis(50));
        arrives != Instant::NEVER && arrives.since(sent) > longest
    }

    /// Returns the name of a grant's client, `somebody else` for outsiders.
    pub(crate) fn client(&self, grant: GrantId) -> String {
        match self.holders.get(&grant) {
            Some(&thread) => self.history.names.thread(thread),
            None => "somebody else".to_owned(),
        }
    }

    /// Returns when a server that is master at an event is made a replica.
    pub(crate) fn demoted(&self, server: ServerId, event: usize) -> Instant {
        let mut later = self.history.events[event..].iter();
        let demoted = later.find(|later| later.what == What::Demoted { server });
        demoted.map_or(Instant::NEVER, |event| event.at)
    }

    /// Returns what a server is to the others, in a word or two.
    pub(crate) fn role(&self, actor: Actor) -> &'static str {
        let Actor::Server(server) = actor else {
            return "lock server";
        };
        let copies = |rules: &&LockRules| !rules.independent && rules.servers.len() > 1;
        let Some(rules) = self.history.names.rules.iter().find(copies) else {
            return "lock server";
        };
        let changes = |event: &Event| matches!(event.what, What::Promoted { .. });
        let place = rules.servers.iter().position(|other| *other == server);
        match (place, self.history.events.iter().any(changes)) {
            (None, _) => "sentinel",
            (Some(0), false) => "master",
            (Some(0), true) => "master at first",
            (Some(_), false) => "replica",
            (Some(_), true) => "replica at first",
        }
    }

    /// Returns who is cut off from whom at an event that is the first of its kind for that machine
    /// at its instant.
    pub(crate) fn cut_off(&self, event: usize) -> Option<(Actor, Vec<String>)> {
        let cut = |what: &What| match *what {
            What::LinkCut { process, server, .. } => {
                Some((Actor::Process(process), self.server_name(server)))
            }
            What::PeersCut { server, peer, .. } => {
                Some((Actor::Server(server), self.server_name(peer)))
            }
            _ => None,
        };
        let events = &self.history.events;
        let (actor, _) = cut(&events[event].what)?;
        let now = events[event].at;
        let mine = |what: &What| cut(what).filter(|(who, _)| *who == actor);
        let mut before = events[..event].iter().rev().take_while(|event| event.at == now);
        if before.any(|event| mine(&event.what).is_some()) {
            return None;
        }
        let after = events[event..].iter().take_while(|event| event.at == now);
        Some((actor, after.filter_map(|event| Some(mine(&event.what)?.1)).collect()))
    }

    /// Returns whether a server only copies another one's key of a lock at an event.
    pub(crate) fn is_copy(&self, server: ServerId, lock: LockId, event: usize) -> bool {
        let Some(rules) = self.history.names.rules.get(lock.index()) else {
            return false;
        };
        if rules.independent || rules.servers.len() < 2 {
            return false;
        }
        // Whoever was promoted or demoted last is what that made it; else the first is master.
        let before = self.history.events[..event].iter().rev();
        let change = before.into_iter().find_map(|event| match event.what {
            What::Promoted { server: who } if who == server => Some(false),
            What::Demoted { server: who } if who == server => Some(true),
            _ => None,
        });
        change.unwrap_or(rules.servers.first() != Some(&server))
    }

    /// Returns the process that a grant belongs to.
    pub(crate) fn process(&self, grant: GrantId) -> Option<ProcessId> {
        let thread = self.holders.get(&grant)?;
        Some(self.history.names.process_of(*thread))
    }

    /// Returns an actor's name.
    pub(crate) fn name(&self, actor: Actor) -> String {
        match actor {
            Actor::Lock(lock) => self.history.names.lock(lock).to_owned(),
            Actor::Process(process) => self.history.names.process(process).to_owned(),
            Actor::Server(server) => self.server_name(server),
        }
    }

    /// Returns whether a lock is kept on several servers that know nothing of each other.
    pub(crate) fn is_on_several(&self, lock: LockId) -> bool {
        self.history.names.rules.get(lock.index()).is_some_and(|rules| rules.independent)
    }

    /// Returns a server's name; a server that is just one resource goes by the resource's name.
    pub(crate) fn server_name(&self, server: ServerId) -> String {
        let names = &self.history.names;
        let mut here = (0..names.resource_servers.len())
            .filter(|&resource| names.resource_servers[resource] == server);
        match (here.next(), here.next()) {
            (Some(only), None) if only < names.resources.len() => names.resources[only].clone(),
            _ => names.server(server).to_owned(),
        }
    }

    /// Returns the server that a resource is.
    pub(crate) fn resource_server(&self, resource: ResourceId) -> ServerId {
        let servers = &self.history.names.resource_servers;
        servers.get(resource.index()).copied().unwrap_or(ServerId(u16::MAX))
    }

    /// Returns the hold of a grant, if its client ever believed in it.
    pub(crate) fn hold(&self, grant: GrantId) -> Option<&Hold> {
        self.holds.iter().find(|hold| hold.grant == grant)
    }

    /// Returns the actor of an event, if it has one.
    pub(crate) fn actor(&self, event: usize) -> Option<Actor> {
        let thread = |thread| Some(Actor::Process(self.history.names.process_of(thread)));
        let grant = |grant| self.process(grant).map(Actor::Process);
        match self.history.events[event].what {
            What::AcquireInvoked { thread: by, .. }
            | What::Acquired { thread: by, .. }
            | What::Refused { thread: by, .. }
            | What::AcquireUnknown { thread: by, .. }
            | What::AcquireAbandoned { thread: by, .. }
            | What::Stalled { thread: by, .. }
            | What::Unstalled { thread: by }
            | What::Finished { thread: by }
            | What::Sent { thread: by, .. }
            | What::Passed { thread: by, .. } => thread(by),
            What::ReleaseInvoked { grant: of }
            | What::ReleaseDone { grant: of }
            | What::Lost { grant: of }
            | What::Step { grant: of } => grant(of),
            What::Paused { process, .. }
            | What::Resumed { process }
            | What::Crashed { process }
            | What::Restarted { process }
            | What::ProcessClock { process, .. }
            | What::ProcessRate { process, .. }
            | What::LinkCut { process, .. } => Some(Actor::Process(process)),
            What::KeySet { server, .. }
            | What::KeyGone { server, .. }
            | What::ServerDown { server, .. }
            | What::ServerUp { server }
            | What::ServerStalled { server, .. }
            | What::Promoted { server }
            | What::Demoted { server }
            | What::DataLost { server }
            | What::ServerClock { server, .. }
            | What::ServerRate { server, .. }
            | What::PeersCut { server, .. }
            | What::StreamStalled { server, .. }
            | What::Refusing { server, .. }
            | What::Doubted { server, .. }
            | What::Announced { server, .. }
            | What::Outsider { server }
            | What::Applied { server, .. }
            | What::Replied { server, .. }
            | What::PeerSent { from: server, .. } => Some(Actor::Server(server)),
            What::Accessed { resource, .. } | What::TokensForgotten { resource } => {
                Some(Actor::Server(self.resource_server(resource)))
            }
            What::Seen { call } | What::GivenUp { call } => {
                let call = self.call(call)?;
                thread(call.thread)
            }
            What::Dropped { call, leg } => {
                let call = self.call(call)?;
                match leg {
                    fencepost_history::Leg::Request => thread(call.thread),
                    fencepost_history::Leg::Reply => Some(Actor::Server(call.server)),
                }
            }
            _ => None,
        }
    }
}

fn accesses(history: &History) -> Vec<AccessMark> {
    let mut accesses = Vec::new();
    for (event, entry) in history.events.iter().enumerate() {
        if let What::Accessed { resource, grant, token, access, outcome, .. } = entry.what {
            let mark = Mark { event, at: entry.at };
            accesses.push(AccessMark { mark, resource, grant, token, access, outcome });
        }
    }
    accesses
}
