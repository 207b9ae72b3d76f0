//! Where a scenario's faults take place, as deviations by name.

use fencepost_choice::{Anchor as Place, Deviation, Value};
use fencepost_history::{
    CallId, Duration, History, Instant, Moment, ProcessId, ServerId, ThreadId, What,
};

use crate::scenario::{Anchor, Fault, MessageAnchor, Role, Scenario, Whose};

/// A fault that cannot be placed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FaultError {
    /// Nobody passes the moment that often.
    #[error("fault {number}: {who} does not pass `{moment}` for the {nth}. time in this run")]
    NeverPassed {
        /// The fault's number in the file, from 1.
        number: usize,
        /// Whose moment it is.
        who: String,
        /// The moment.
        moment: &'static str,
        /// The how manieth time was meant.
        nth: u32,
    },
    /// No message is sent at the moment or after the instant.
    #[error("fault {number}: {from} sends {to} no message there")]
    NoMessage {
        /// The fault's number in the file, from 1.
        number: usize,
        /// The sender.
        from: String,
        /// The receiver.
        to: String,
    },
    /// Somebody is named whom the scenario does not have.
    #[error("fault {number}: there is nobody called `{name}`")]
    Unknown {
        /// The fault's number in the file, from 1.
        number: usize,
        /// The name.
        name: String,
    },
}

/// Returns whether a fault's place can only be found by a run without it.
#[expect(clippy::wildcard_enum_match_arm, reason = "all other faults have an anchor alike")]
pub(crate) const fn needs_baseline(fault: &Fault) -> bool {
    match fault {
        Fault::Lose(fault) => !matches!(fault.anchor, MessageAnchor::Nth(_)),
        Fault::Delay(fault) => !matches!(fault.anchor, MessageAnchor::Nth(_)),
        other => matches!(other.anchor(), Some(Anchor::When { .. })),
    }
}

/// Returns when a thread passes a moment, and after which of its process's own events.
#[expect(clippy::wildcard_enum_match_arm, reason = "only passings are looked for")]
pub(crate) fn passings<'a>(
    history: &'a History,
    threads: &'a [ThreadId],
    moment: Moment,
) -> impl Iterator<Item = (usize, Instant, u32)> + 'a {
    history.events.iter().enumerate().filter_map(move |(place, event)| match event.what {
        What::Passed { thread, moment: passed, step }
            if threads.contains(&thread) && passed == moment =>
        {
            Some((place, event.at, step))
        }
        _ => None,
    })
}

/// Finds the threads that a name means: the one thread of `c1/renewer`, or all of `c1`.
#[must_use]
pub fn threads_of(scenario: &Scenario, history: &History, name: &str) -> Vec<ThreadId> {
    if name.contains('/') {
        return thread_of(scenario, history, name).into_iter().collect();
    }
    let process = scenario.process(name);
    let threads = (0_u16..).zip(&history.names.threads);
    let own = threads.filter(|(_, thread)| Some(thread.process) == process);
    own.map(|(id, _)| ThreadId(id)).collect()
}

/// Finds a thread of a scenario by its name.
#[must_use]
pub fn thread_of(scenario: &Scenario, history: &History, name: &str) -> Option<ThreadId> {
    let (process, role) = scenario.thread(name)?;
    let wanted = match role {
        Role::Worker(0) => "worker".to_owned(),
        Role::Worker(number) => format!("worker-{}", number + 1),
        Role::Renewer(0) => "renewer".to_owned(),
        Role::Renewer(number) => format!("renewer-{}", number + 1),
    };
    let mut threads = history.names.threads.iter();
    let place = threads.position(|t| t.process == process && t.role == wanted)?;
    u16::try_from(place).ok().map(ThreadId)
}

/// Finds one fault's places.
struct Finder<'a> {
    scenario: &'a Scenario,
    number: usize,
    history: Option<&'a History>,
}

impl Finder<'_> {
    fn unknown(&self, name: &str) -> FaultError {
        FaultError::Unknown { number: self.number, name: name.to_owned() }
    }

    fn passing(
        &self,
        own: &str,
        whose: &Whose,
        nth: u32,
    ) -> Result<(ProcessId, usize, Instant, u32), FaultError> {
        let who = whose.who.as_deref().unwrap_or(own);
        let never = || FaultError::NeverPassed {
            number: self.number,
            who: who.to_owned(),
            moment: whose.moment.name(),
            nth,
        };
        let history = self.history.ok_or_else(never)?;
        let threads = threads_of(self.scenario, history, who);
        let first = *threads.first().ok_or_else(|| self.unknown(who))?;
        let nth = usize::try_from(nth).unwrap_or(usize::MAX).saturating_sub(1);
        let found = passings(history, &threads, whose.moment).nth(nth);
        let (place, at, step) = found.ok_or_else(never)?;
        Ok((history.names.process_of(first), place, at, step))
    }

    /// Returns the place of a fault whose victim is `own`: after an own event if it is that
    /// process's own moment, else at the moment's instant.
    fn place(&self, own: &str, anchor: &Anchor) -> Result<Place, FaultError> {
        match anchor {
            Anchor::At(at) => Ok(Place::At(*at)),
            Anchor::Step(step) => Ok(Place::Nth(*step)),
            Anchor::When { moment, nth } => {
                let (process, _, at, step) = self.passing(own, moment, *nth)?;
                let victim = self.scenario.thread(own).map(|(process, _)| process);
                let is_own = victim == Some(process);
                Ok(if is_own { Place::Nth(step) } else { Place::At(at) })
            }
        }
    }

    /// Returns the number of a message on its link and in its direction.
    fn message(&self, from: &str, to: &str, anchor: &MessageAnchor) -> Result<u32, FaultError> {
        let none = || FaultError::NoMessage {
            number: self.number,
            from: from.to_owned(),
            to: to.to_owned(),
        };
        let is_request = self.scenario.process(from).is_some();
        let (client, server) = if is_request { (from, to) } else { (to, from) };
        let process = self.scenario.process(client).ok_or_else(|| self.unknown(client))?;
        let server = self.scenario.server(server).ok_or_else(|| self.unknown(server))?;
        match anchor {
            MessageAnchor::Nth(nth) => Ok(*nth),
            MessageAnchor::At(at) => {
                let history = self.history.ok_or_else(none)?;
                let sent = messages(history, process, server, is_request);
                let before = sent.iter().filter(|(_, _, sent)| sent < at).count();
                if before == sent.len() {
                    return Err(none());
                }
                u32::try_from(before + 1).map_err(|_| none())
            }
            MessageAnchor::When { moment, nth } => {
                let (_, place, ..) = self.passing(client, moment, *nth)?;
                let history = self.history.ok_or_else(none)?;
                // The moment is passed just after the request is sent that it names.
                let requests = messages(history, process, server, true);
                let call = requests.iter().rev().find(|(sent, ..)| *sent < place);
                let call = call.map(|(_, call, _)| *call).ok_or_else(none)?;
                let sent = messages(history, process, server, is_request);
                let found = sent.iter().position(|(_, of, _)| *of == call).ok_or_else(none)?;
                u32::try_from(found + 1).map_err(|_| none())
            }
        }
    }
}

/// Returns the messages of a link in one direction: the event, its call, and when.
#[expect(clippy::wildcard_enum_match_arm, reason = "only messages are looked for")]
fn messages(
    history: &History,
    process: ProcessId,
    server: ServerId,
    is_request: bool,
) -> Vec<(usize, CallId, Instant)> {
    let mut calls = Vec::new();
    let mut found = Vec::new();
    for (place, event) in history.events.iter().enumerate() {
        match event.what {
            What::Sent { call, thread, server: to, .. }
                if to == server && history.names.process_of(thread) == process =>
            {
                calls.push(call);
                if is_request {
                    found.push((place, call, event.at));
                }
            }
            What::Replied { call, .. } if !is_request && calls.contains(&call) => {
                found.push((place, call, event.at));
            }
            _ => {}
        }
    }
    found
}

/// Finds the places of a fault; `operations` counts those faults that are operations of servers.
#[expect(clippy::too_many_lines, reason = "one arm for each kind of fault")]
pub(crate) fn locate(
    scenario: &Scenario,
    place: usize,
    fault: &Fault,
    history: Option<&History>,
    operations: &mut u32,
) -> Result<Vec<Deviation>, FaultError> {
    let finder = Finder { scenario, number: place + 1, history };
    let one = |site: String, anchor: Place, value: Value| vec![Deviation { site, anchor, value }];
    let mut operate = |server: &str, anchor: &Anchor| {
        let anchor = finder.place(server, anchor)?;
        let value = Value::Pick(*operations);
        *operations += 1;
        Ok(one(format!("server.operation@{server}"), anchor, value))
    };
    Ok(match fault {
        Fault::Pause(fault) => {
            let anchor = finder.place(&fault.process, &fault.anchor)?;
            let site = format!("client.pause@{}", fault.process);
            one(site, anchor, Value::Length(fault.length))
        }
        Fault::Stall(fault) => {
            let anchor = finder.place(&fault.thread, &fault.anchor)?;
            let is_named = fault.thread.contains('/');
            let role = if is_named { "" } else { "/worker" };
            let site = format!("client.stall@{}{role}", fault.thread);
            one(site, anchor, Value::Length(fault.length))
        }
        Fault::Crash(fault) => {
            let anchor = finder.place(&fault.process, &fault.anchor)?;
            let down = fault.restart_after.unwrap_or(Duration::MAX);
            one(format!("client.crash@{}", fault.process), anchor, Value::Length(down))
        }
        Fault::Lose(fault) => {
            let nth = finder.message(&fault.from, &fault.to, &fault.anchor)?;
            let site = format!("net.loss@{}->{}", fault.from, fault.to);
            one(site, Place::Nth(nth), Value::Pick(1))
        }
        Fault::Delay(fault) => {
            let nth = finder.message(&fault.from, &fault.to, &fault.anchor)?;
            let site = format!("net.delay@{}->{}", fault.from, fault.to);
            one(site, Place::Nth(nth), Value::Length(fault.length))
        }
        Fault::Partition(fault) => {
            let (one_end, other) = &fault.between;
            let kind = if fault.one_way { "cut" } else { "partition" };
            let client = if scenario.process(one_end).is_some() { one_end } else { other };
            let anchor = match finder.place(client, &fault.anchor)? {
                // A moment of the client's own is an instant for its links.
                Place::Nth(step) => match &fault.anchor {
                    Anchor::When { moment, nth } => {
                        Place::At(finder.passing(client, moment, *nth)?.2)
                    }
                    Anchor::At(_) | Anchor::Step(_) => Place::Nth(step),
                },
                at @ Place::At(_) => at,
            };
            let site = format!("net.{kind}@{one_end}->{other}");
            one(site, anchor, Value::Length(fault.length.unwrap_or(Duration::MAX)))
        }
        Fault::ServerRestart(fault) => {
            let anchor = finder.place(&fault.server, &fault.anchor)?;
            let kind = if fault.power_loss { "power-loss" } else { "restart" };
            one(format!("server.{kind}@{}", fault.server), anchor, Value::Length(fault.length))
        }
        Fault::ServerStall(fault) => {
            let anchor = finder.place(&fault.server, &fault.anchor)?;
            one(format!("server.stall@{}", fault.server), anchor, Value::Length(fault.length))
        }
        Fault::ClockStep(fault) => {
            let anchor = finder.place(&fault.host, &fault.anchor)?;
            one(format!("clock.step@{}", fault.host), anchor, Value::Step(fault.by.as_nanos()))
        }
        Fault::ClockRate(fault) => {
            let anchor = finder.place(&fault.host, &fault.anchor)?;
            let rate = fault.ppm.saturating_mul(1_000);
            one(format!("clock.rate@{}", fault.host), anchor, Value::Step(rate))
        }
        Fault::ClockSlew(fault) => {
            let anchor = finder.place(&fault.host, &fault.anchor)?;
            one(format!("clock.slew@{}", fault.host), anchor, Value::Step(fault.by.as_nanos()))
        }
        Fault::Failover(fault) => operate(&fault.master, &fault.anchor)?,
        Fault::ReplicationStall(fault) | Fault::ReplicationCut(fault) => {
            operate(&fault.master, &fault.anchor)?
        }
        Fault::Split(fault) => {
            let nodes = scenario.store.server_names();
            let own = fault.off.iter().find(|name| nodes.contains(name));
            operate(own.unwrap_or(&nodes[0]), &fault.anchor)?
        }
        Fault::ServerErrors(fault) => operate(&fault.server, &fault.anchor)?,
        Fault::Evict(fault) => operate(&fault.server, &fault.anchor)?,
        Fault::Outsider(fault) => operate(&fault.server, &fault.anchor)?,
        Fault::ForgetTokens(fault) => operate(&fault.resource, &fault.anchor)?,
    })
}
