//! One sentence for each event that a reader should know of.

use fencepost_history::{GrantId, Instant, LockId, Moment, ServerId, ThreadId, What};

use super::{Exchange, Step, accesses, keys};
use crate::Story;
use crate::reading::{Actor, Call, Ending, Hold, Mark, Reading};
use crate::words::{clock, list, rate, short, signed};

/// Below this weight a step is folded away.
pub(super) const PLAIN: u8 = 30;
pub(super) const FAULT: u8 = 200;
pub(super) const TURN: u8 = 180;
pub(super) const EFFECT: u8 = 150;
pub(super) const USUAL: u8 = 100;
pub(super) const DETAIL: u8 = 20;

/// Collects the steps of a run.
pub(super) struct Teller<'a> {
    pub(super) story: &'a Story,
    pub(super) reading: &'a Reading<'a>,
    pub(super) steps: Vec<Step>,
}

pub(super) fn all<'a>(story: &'a Story, reading: &'a Reading<'a>) -> Vec<Step> {
    let mut teller = Teller { story, reading, steps: Vec::new() };
    for event in 0..reading.history.events.len() {
        teller.asking(event);
        teller.faults(event);
        teller.messages(event);
        keys::tell(&mut teller, event);
        accesses::tell(&mut teller, event);
    }
    keys::expiries(&mut teller);
    teller.steps
}

impl<'a> Teller<'a> {
    /// Adds a step of a thread, which goes by its own name.
    fn say_of(&mut self, mark: Mark, thread: ThreadId, weight: u8, text: String) {
        self.say(mark, self.thread(thread), weight, text);
        let who = self.reading.history.names.thread(thread);
        if let Some(step) = self.steps.last_mut() {
            step.who = who;
        }
    }

    /// Adds a step.
    pub(super) fn say(&mut self, mark: Mark, actor: Actor, weight: u8, text: String) {
        let fault = self.story.faults.iter().find(|fault| fault.event == Some(mark.event));
        let fault = fault.map(|fault| fault.label.clone());
        let weight = if fault.is_some() { FAULT } else { weight };
        self.steps.push(Step {
            number: None,
            at: mark.at,
            who: self.reading.name(actor),
            text,
            exchanges: Vec::new(),
            event: mark.event,
            kinds: Vec::new(),
            fault,
            actor,
            weight,
        });
    }

    /// Unfolds calls under the step that was said last.
    pub(super) fn unfold(&mut self, calls: impl IntoIterator<Item = &'a Call<'a>>) {
        let exchanges: Vec<_> = calls.into_iter().filter_map(|call| self.exchange(call)).collect();
        if let Some(step) = self.steps.last_mut() {
            step.exchanges = exchanges;
        }
    }

    fn exchange(&self, call: &Call<'_>) -> Option<Exchange> {
        let reply = match call.reply {
            _ if call.request_lost() => "(the request is lost)",
            Some(_) if call.reply_lost() => "(the reply is lost)",
            Some(reply) => reply,
            None => "(no reply)",
        };
        Some(Exchange {
            call: self.reading.index_of(call.id)?,
            server: self.reading.server_name(call.server),
            command: call.command?.to_owned(),
            reply: reply.to_owned(),
        })
    }

    pub(super) fn thread(&self, thread: ThreadId) -> Actor {
        Actor::Process(self.reading.history.names.process_of(thread))
    }

    /// Returns whether a grant takes part in a finding, or whether there is none.
    pub(super) fn matters(&self, grant: GrantId) -> bool {
        self.story.findings.is_empty()
            || self.story.findings.iter().any(|finding| finding.grants.contains(&grant))
    }

    pub(super) fn others_at(&self, hold: &Hold, at: Instant) -> Vec<String> {
        let others = self.reading.holds.iter().filter(|other| {
            other.lock == hold.lock
                && other.thread != hold.thread
                && other.from.event < hold.from.event
                && at < other.to.at
        });
        others.map(|other| self.reading.client(other.grant)).collect()
    }

    fn asking(&mut self, event: usize) {
        let mark = Mark { event, at: self.reading.history.events[event].at };
        let names = &self.reading.history.names;
        match self.reading.history.events[event].what {
            What::Acquired { thread, grant, lock, .. } => {
                self.acquired(mark, thread, grant, lock);
            }
            What::Refused { thread, lock, .. } => {
                let refused = |what: &What| matches!(what, What::Refused { .. });
                let first = self.is_first(event, thread, refused);
                let mut weight = if first { PLAIN } else { DETAIL };
                if self.is_late(event, thread) {
                    weight = TURN;
                }
                let text = if self.reading.is_on_several(lock) {
                    self.fails(event, thread, names.lock(lock), true)
                } else {
                    format!("finds lock \"{}\" taken", names.lock(lock))
                };
                self.say_of(mark, thread, weight, text);
                self.unfold(self.attempt(thread, event));
            }
            What::AcquireUnknown { thread, lock, .. } => {
                let is_one_of_many = self.reading.is_on_several(lock);
                let text = if is_one_of_many {
                    self.fails(event, thread, names.lock(lock), false)
                } else {
                    self.is_left_alone(event, thread, names.lock(lock))
                };
                let unanswered = |what: &What| matches!(what, What::AcquireUnknown { .. });
                let weight = match self.is_first(event, thread, unanswered) {
                    true if !is_one_of_many => TURN,
                    true => PLAIN,
                    false => DETAIL,
                };
                self.say_of(mark, thread, weight, text);
                self.unfold(self.attempt(thread, event));
            }
            What::AcquireAbandoned { thread, lock } => {
                let lock = names.lock(lock);
                let text = format!("stops asking for lock \"{lock}\"");
                self.say_of(mark, thread, USUAL, text);
            }
            What::ReleaseInvoked { grant } => self.releases(mark, grant),
            What::Lost { grant } => {
                let Some(&thread) = self.reading.holders.get(&grant) else { return };
                let text = "learns that it has lost the lock and stops".to_owned();
                self.say_of(mark, thread, TURN, text);
            }
            _ => {}
        }
    }

    fn acquired(&mut self, mark: Mark, thread: ThreadId, grant: GrantId, lock: LockId) {
        let Some(hold) = self.reading.hold(grant) else { return };
        let keys: Vec<_> = self
            .reading
            .keys
            .iter()
            .filter(|key| key.owner == grant && key.from.event < mark.event)
            .filter(|key| !self.reading.is_copy(key.server, key.lock, key.from.event))
            .collect();
        let lock = self.reading.history.names.lock(lock);
        let mut text = format!("gets lock \"{lock}\"");
        let mut servers: Vec<_> = keys.iter().map(|key| key.server).collect();
        servers.sort_unstable();
        let servers: Vec<_> =
            servers.into_iter().map(|server| self.reading.server_name(server)).collect();
        if !servers.is_empty() {
            text += &format!(" from {}", list(&servers));
        }
        text += &self.quorum_of(hold.lock);
        if let Some(token) = hold.token.number() {
            text += &format!(", token {token}");
        }
        let others = self.others_at(hold, mark.at);
        if !others.is_empty() {
            text += &format!("; {} believes it too: two holders from here on", list(&others));
        } else if let [key] = keys[..]
            && let Some(deadline) = keys::first_deadline(self.reading, key)
        {
            text += &format!("; the key is to expire at {}", clock(deadline));
        }
        let weight = if self.matters(grant) { TURN } else { USUAL };
        self.say_of(mark, thread, weight, text);
        self.unfold(self.attempt(thread, mark.event));
    }

    /// Says how many servers decide, where several do.
    fn quorum_of(&self, lock: LockId) -> String {
        if !self.reading.is_on_several(lock) {
            return String::new();
        }
        let rules = &self.reading.history.names.rules[lock.index()];
        format!(" (it takes {} of {})", rules.quorum, rules.servers.len())
    }

    /// Returns whether a refusal is the client's own, which has looked at its clock too late.
    fn is_late(&self, event: usize, thread: ThreadId) -> bool {
        let before = event.checked_sub(1).map(|before| self.reading.history.events[before].what);
        matches!(
            before,
            Some(What::Passed { thread: by, moment: Moment::TooLate, .. }) if by == thread
        )
    }

    /// Says how an attempt ended, where several servers decide.
    fn fails(&self, event: usize, thread: ThreadId, lock: &str, is_refused: bool) -> String {
        if self.is_late(event, thread) {
            format!("has a majority for lock \"{lock}\", but too late: its time is as good as over")
        } else if is_refused {
            format!("gets no majority for lock \"{lock}\"")
        } else {
            format!("gets too few answers to have lock \"{lock}\"")
        }
    }

    fn releases(&mut self, mark: Mark, grant: GrantId) {
        let Some(&thread) = self.reading.holders.get(&grant) else { return };
        let weight = if self.matters(grant) { EFFECT - 1 } else { USUAL };
        let reading: &'a Reading<'a> = self.reading;
        let calls: Vec<_> = reading
            .calls
            .iter()
            .filter(|call| call.thread == thread && call.sent.event > mark.event)
            .take_while(|call| !self.asks_between(thread, mark.event, call.sent.event))
            .collect();
        let text = "begins to release the lock".to_owned();
        self.say_of(mark, thread, weight, text);
        self.unfold(calls);
    }

    fn asks_between(&self, thread: ThreadId, from: usize, to: usize) -> bool {
        self.reading.history.events[from..to].iter().any(
            |event| matches!(event.what, What::AcquireInvoked { thread: by, .. } if by == thread),
        )
    }

    fn attempt(&self, thread: ThreadId, event: usize) -> Vec<&'a Call<'a>> {
        let reading: &'a Reading<'a> = self.reading;
        let events = &reading.history.events;
        let start = (0..event).rev().find(|&index| match events[index].what {
            What::AcquireInvoked { thread: by, .. }
            | What::Refused { thread: by, .. }
            | What::AcquireUnknown { thread: by, .. } => by == thread,
            _ => false,
        });
        let start = start.unwrap_or(0);
        let calls = &reading.calls[reading.calls_between(start, event)];
        calls.iter().filter(|call| call.thread == thread).collect()
    }

    /// Says how an attempt at a single master ended without a grant and without a refusal.
    fn is_left_alone(&self, event: usize, thread: ThreadId, lock: &str) -> String {
        let servers = &self.reading.history.names.resource_servers;
        let own = self.attempt(thread, event);
        let mut asked =
            own.iter().filter(|call| !servers.contains(&call.server) && !call.effects.is_empty());
        // Whoever was answered knows, and has given the lock back.
        if asked.next().is_some_and(|call| call.seen.is_some()) {
            format!("gives lock \"{lock}\" back: too few replicas have it")
        } else {
            format!("gets no answer: it does not know whether it has lock \"{lock}\"")
        }
    }

    /// Returns whether an attempt is the first of its wait that ended so.
    fn is_first(&self, event: usize, thread: ThreadId, ended: impl Fn(&What) -> bool) -> bool {
        let events = self.reading.history.events[..event].iter().rev();
        for earlier in events {
            match earlier.what {
                What::AcquireInvoked { thread: by, .. } if by == thread => return true,
                What::Refused { thread: by, .. } | What::AcquireUnknown { thread: by, .. }
                    if by == thread && ended(&earlier.what) =>
                {
                    return false;
                }
                _ => {}
            }
        }
        true
    }

    #[expect(clippy::too_many_lines, reason = "one arm for each kind of fault and recovery")]
    fn faults(&mut self, event: usize) {
        let reading = self.reading;
        let names = &reading.history.names;
        let at = reading.history.events[event].at;
        let mark = Mark { event, at };
        let until = |until: Instant| match until {
            Instant::NEVER => "for good".to_owned(),
            until => format!("for {}", short(until.since(at))),
        };
        let (actor, weight, text) = match reading.history.events[event].what {
            What::Paused { process, until: end } => {
                let blind = reading.holds.iter().any(|hold| {
                    names.process_of(hold.thread) == process
                        && hold.from.event < event
                        && hold.to.event > event
                });
                let blind = if blind { ", lock in hand, and cannot see time pass" } else { "" };
                (Actor::Process(process), FAULT, format!("stops {}{blind}", until(end)))
            }
            What::Resumed { process } => {
                let text = "wakes up and goes on where it stopped".to_owned();
                (Actor::Process(process), TURN, text)
            }
            What::Stalled { thread, until: end } => {
                let role = &names.threads[thread.index()].role;
                let text =
                    format!("has its thread {role} stopped {}; the others run on", until(end));
                (self.thread(thread), FAULT, text)
            }
            What::Unstalled { thread } => {
                let role = &names.threads[thread.index()].role;
                (
                    self.thread(thread),
                    TURN,
                    format!("has its thread {role} running again, where it stopped"),
                )
            }
            What::Crashed { process } => {
                let held = reading
                    .holds
                    .iter()
                    .any(|hold| hold.ending == Ending::Crashed && hold.to.event == event);
                let held = if held { " while it holds the lock" } else { "" };
                (Actor::Process(process), FAULT, format!("crashes{held}; its memory is gone"))
            }
            What::Restarted { process } => {
                (Actor::Process(process), TURN, "starts anew and remembers nothing".to_owned())
            }
            What::ServerDown { server, until: end } => {
                (Actor::Server(server), FAULT, format!("goes down {}", until(end)))
            }
            What::ServerUp { server } => (Actor::Server(server), TURN, "is back".to_owned()),
            What::ServerStalled { server, until: end } => {
                (Actor::Server(server), FAULT, format!("executes nothing {}", until(end)))
            }
            What::Promoted { server } => (Actor::Server(server), TURN, self.promoted(server, at)),
            What::Demoted { server } => {
                let text = "is no longer a master and will copy the new one".to_owned();
                (Actor::Server(server), TURN, text)
            }
            What::DataLost { server } => {
                let text = "throws away what it has and copies the master's data".to_owned();
                (Actor::Server(server), TURN, text)
            }
            What::StreamStalled { server, peer, until: end } => {
                let peer = reading.server_name(peer);
                let text = format!("gets no change through to {peer} {}", until(end));
                (Actor::Server(server), FAULT, text)
            }
            What::Refusing { server, until: end } => {
                (Actor::Server(server), FAULT, format!("answers with errors {}", until(end)))
            }
            What::Doubted { server, peer } => {
                let peer = reading.server_name(peer);
                let text = format!("holds {peer} for down, and enough others agree");
                (Actor::Server(server), TURN, text)
            }
            What::Announced { server, peer } => {
                let peer = reading.server_name(peer);
                (Actor::Server(server), TURN, format!("tells everybody that {peer} is master now"))
            }
            What::TokensForgotten { resource } => {
                let text = "forgets the highest token that it has seen".to_owned();
                (Actor::Server(reading.resource_server(resource)), TURN, text)
            }
            What::ServerClock { server, by } => {
                (Actor::Server(server), FAULT, format!("has its clock jump by {}", signed(by)))
            }
            What::ProcessClock { process, by } => {
                (Actor::Process(process), FAULT, format!("has its clock jump by {}", signed(by)))
            }
            What::ServerRate { server, rate: by } => {
                (Actor::Server(server), FAULT, format!("has its clock run {}", rate(by)))
            }
            What::ProcessRate { process, rate: by } => {
                (Actor::Process(process), FAULT, format!("has its clock run {}", rate(by)))
            }
            What::LinkCut { until: end, .. } | What::PeersCut { until: end, .. } => {
                // One split cuts many links; each machine is told of once.
                let Some((actor, others)) = reading.cut_off(event) else { return };
                let first = reading.history.events[..event].iter().rev();
                let mut first = first.take_while(|earlier| earlier.at == at);
                let is_more = first.any(|earlier| {
                    matches!(earlier.what, What::LinkCut { .. } | What::PeersCut { .. })
                });
                let weight = if is_more { USUAL } else { FAULT };
                (actor, weight, format!("is cut off from {} {}", list(&others), until(end)))
            }
            What::Outsider { server } => {
                let command = reading.history.detail(event).unwrap_or("a command");
                (Actor::Server(server), FAULT, format!("executes an outsider's {command}"))
            }
            _ => return,
        };
        self.say(mark, actor, weight, text);
    }

    /// Says that a server becomes master, and whose keys it has.
    fn promoted(&self, server: ServerId, at: Instant) -> String {
        let keys = self.reading.keys.iter();
        let mut owners: Vec<String> = keys
            .filter(|key| key.server == server && key.from.at <= at && at < key.to.at)
            .map(|key| format!("the key of {}", self.reading.client(key.owner)))
            .collect();
        owners.dedup();
        match owners.as_slice() {
            [] => "becomes the master, and no key of the lock has reached it".to_owned(),
            owners => format!("becomes the master, with {}", owners.join(" and ")),
        }
    }

    fn messages(&mut self, event: usize) {
        let at = self.reading.history.events[event].at;
        let mark = Mark { event, at };
        let Some(call) = self.call_of(event) else { return };
        let server = self.reading.server_name(call.server);
        // The commands of lock servers unfold below the sentence.
        let resources = &self.reading.history.names.resource_servers;
        let command = call.command.filter(|_| resources.contains(&call.server));
        let what = command.map_or_else(String::new, |command| format!(" ({command})"));
        let late = |arrives: Instant| self.reading.is_late(at, arrives);
        match self.reading.history.events[event].what {
            What::Sent { thread, arrives, .. } if late(arrives) => {
                let delay = short(arrives.since(at));
                let text =
                    format!("sends a request to {server} that takes {delay} to arrive{what}");
                self.say_of(mark, thread, TURN, text);
            }
            What::Sent { thread, .. } if call.request_lost() => {
                let text = format!("sends a request to {server} that is lost{what}");
                let weight = match self.reading.is_cut(call, at) {
                    false => TURN,
                    true if self.was_cut_before(call) => DETAIL,
                    true => USUAL,
                };
                self.say_of(mark, thread, weight, text);
            }
            What::Replied { arrives, server: from, .. } if late(arrives) => {
                let delay = short(arrives.since(at));
                let to = self.reading.history.names.thread(call.thread);
                let text = format!("answers {to}, but the reply takes {delay} to arrive{what}");
                self.say(mark, Actor::Server(from), TURN, text);
            }
            What::Replied { server: from, .. } if call.reply_lost() => {
                let to = self.reading.history.names.thread(call.thread);
                let text = format!("answers {to}, but the reply is lost{what}");
                self.say(mark, Actor::Server(from), TURN, text);
            }
            What::GivenUp { .. } => {
                let text = format!("stops waiting for {server}{what}");
                let weight = if self.reading.is_cut(call, call.sent.at) { DETAIL } else { USUAL };
                self.say_of(mark, call.thread, weight, text);
            }
            _ => return,
        }
        self.unfold([call]);
    }

    /// Returns whether the same link has swallowed an earlier request of the same thread.
    fn was_cut_before(&self, call: &Call<'_>) -> bool {
        let earlier = self.reading.calls.iter().take_while(|other| other.id != call.id);
        let mut alike =
            earlier.filter(|other| (other.thread, other.server) == (call.thread, call.server));
        alike.any(|other| other.request_lost() && self.reading.is_cut(other, other.sent.at))
    }

    fn call_of(&self, event: usize) -> Option<&'a Call<'a>> {
        let reading: &'a Reading<'a> = self.reading;
        match self.reading.history.events[event].what {
            What::Sent { call, .. } | What::Replied { call, .. } | What::GivenUp { call } => {
                reading.call(call)
            }
            _ => None,
        }
    }
}
