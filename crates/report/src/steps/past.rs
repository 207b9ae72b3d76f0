//! The causal past of the findings: what can have led to them.

use std::collections::BTreeSet;

use fencepost_history::{AccessOutcome, CallId, What};

use crate::Story;
use crate::reading::{AccessMark, Actor, Reading};

/// The events that happened before a finding, by the order of actors and messages.
pub(super) struct Past {
    events: BTreeSet<usize>,
    last: usize,
}

impl Past {
    /// Returns whether an event belongs to it; expiries that no event tells of lie at its end.
    pub(super) fn holds(&self, event: usize) -> bool {
        event <= self.last && self.events.contains(&event)
    }
}

/// Walks back from the findings and their ends; without any, everything counts, which is no past.
pub(super) fn of(story: &Story, reading: &Reading<'_>) -> Option<Past> {
    let mut seeds: BTreeSet<usize> =
        story.firsts().iter().filter_map(|first| first.event).collect();
    seeds.last()?;
    // What ends a finding, and what a fence or an idempotency key saved, belongs to the story.
    let saved = |access: &&AccessMark| access.outcome != AccessOutcome::Accepted;
    seeds.extend(reading.accesses.iter().filter(saved).map(|access| access.mark.event));
    // Each fault is needed, or it would not be there.
    seeds.extend(story.faults.iter().filter_map(|fault| fault.event));
    let end = story.told().iter().map(|told| told.to).max()?;
    let until_end = reading.history.events.partition_point(|event| event.at <= end);
    let last = (*seeds.last()?).max(until_end.saturating_sub(1));
    let mut events = BTreeSet::new();
    let mut actors: BTreeSet<Actor> = BTreeSet::new();
    let mut sent: BTreeSet<CallId> = BTreeSet::new();
    let mut replied: BTreeSet<CallId> = BTreeSet::new();
    for finding in story.firsts() {
        for grant in finding.grants {
            actors.extend(reading.process(grant).map(Actor::Process));
        }
    }
    for index in (0..reading.history.events.len().min(last + 1)).rev() {
        let actor = reading.actor(index);
        let what = reading.history.events[index].what;
        let awaited = match what {
            What::Sent { call, .. } => sent.contains(&call),
            What::Replied { call, .. } => replied.contains(&call),
            _ => false,
        };
        let known = actor.is_some_and(|actor| actors.contains(&actor));
        if !(known || awaited || seeds.contains(&index)) {
            continue;
        }
        events.insert(index);
        actors.extend(actor);
        match what {
            What::Applied { call, .. } => {
                sent.insert(call);
            }
            What::Seen { call } => {
                replied.insert(call);
            }
            _ => {}
        }
    }
    Some(Past { events, last })
}
