//! What a run offers as anchors, and when something shared changed in it.

use fencepost_history::{
    AccessOutcome, Duration, History, Instant, Moment, ProcessId, ServerId, What,
};
use fencepost_testbed::{Recorded, Testbed};

/// How many of an actor's repetitions, such as refused attempts, are worth a fault each.
const REPETITIONS: u32 = 2;
/// How many messages at the beginning of a link are worth a fault each.
const FIRST_MESSAGES: u32 = 6;
/// How many at its end are.
const LAST_MESSAGES: u32 = 10;

/// What a run offers.
#[derive(Clone, Debug)]
pub(super) struct Base {
    /// For each process, its own events after which something may go wrong.
    pub(super) own: Vec<Vec<u32>>,
    /// For each server, how many requests it executed.
    pub(super) executed: Vec<u32>,
    /// For each direction of a link, its scope and the messages that something may happen to.
    pub(super) messages: Vec<(String, Vec<u32>)>,
}

impl Base {
    /// Looks at the run that a testbed has just recorded.
    pub(super) fn of(testbed: &Testbed, recorded: &Recorded) -> Self {
        let names = &recorded.history.names;
        let ids = |count: usize| (0..count).filter_map(|place| u16::try_from(place).ok());
        let own = ids(names.processes.len()).map(ProcessId);
        let servers = ids(names.servers.len()).map(ServerId);
        let sim = testbed.sim();
        Self {
            own: own.map(|p| own_events(&recorded.history, p, sim.own_events(p))).collect(),
            executed: servers.map(|server| sim.executed(server)).collect(),
            messages: sim
                .messages_sent()
                .into_iter()
                .filter(|(_, sent)| *sent > 0)
                .map(|(scope, sent)| (scope, ends(sent)))
                .collect(),
        }
    }
}

/// Returns a process's own events, but those of attempts that only repeat a refusal.
fn own_events(history: &History, process: ProcessId, count: u32) -> Vec<u32> {
    let mut refused = Vec::new();
    let mut repeated = Vec::new();
    for event in &history.events {
        let What::Passed { thread, moment, step } = event.what else {
            continue;
        };
        if history.names.process_of(thread) != process {
            continue;
        }
        if moment == Moment::Refused {
            refused.push(step);
        } else if moment != Moment::AcquireSent {
            repeated.extend(repetition(&refused));
            refused.clear();
        }
    }
    repeated.extend(repetition(&refused));
    (1..=count).filter(|k| !repeated.iter().any(|(from, to)| from < k && k <= to)).collect()
}

/// Returns the own events between the first refusals of a row and its last one.
fn repetition(refused: &[u32]) -> Option<(u32, u32)> {
    let from = refused.get(REPETITIONS as usize - 1)?;
    Some((*from, *refused.last()?))
}

/// Returns the first and the last numbers of `1..=count`.
fn ends(count: u32) -> Vec<u32> {
    let last = count.saturating_sub(LAST_MESSAGES);
    (1..=count).filter(|nth| *nth <= FIRST_MESSAGES || *nth > last).collect()
}

/// Returns the instants after `from` at which something shared changed or was to change.
pub(super) fn changes(history: &History, from: Instant, longest: Duration) -> Vec<Instant> {
    let mut changes = Vec::new();
    for event in &history.events {
        if let What::KeySet { deadline, .. } = event.what {
            changes.extend([event.at, deadline]);
        }
        if let What::KeyGone { .. }
        | What::Acquired { .. }
        | What::ReleaseInvoked { .. }
        | What::Accessed { outcome: AccessOutcome::Accepted, .. } = event.what
        {
            changes.push(event.at);
        }
    }
    let to = from + longest;
    changes.retain(|at| *at > from && *at < to);
    changes.sort_unstable();
    changes.dedup();
    changes
}
