//! A whole run, recorded.

use serde::{Deserialize, Serialize};

use crate::{Event, Instant, Names};

/// Everything that happened in one run, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct History {
    /// The names behind the ids.
    pub names: Names,
    /// The events; an event's index is its place in the order that checkers compare.
    pub events: Vec<Event>,
    /// Commands and replies in words, sorted by event.
    pub details: Vec<Detail>,
    /// The rolling hash, equal to that of the silent run.
    pub hash: u64,
    /// When the run was over, settle phase included.
    pub end: Instant,
}

/// What an event's message said, as a person would type or read it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Detail {
    /// The index of the event in [`History::events`].
    pub event: u32,
    /// A command (`SET lock:job c1-1 NX PX 30000`) or a reply (`(integer) 1`).
    pub text: String,
}

impl History {
    /// Returns the text that belongs to an event, if there is one.
    #[must_use]
    pub fn detail(&self, event: usize) -> Option<&str> {
        let found = self.details.binary_search_by_key(&event, |detail| detail.event as usize);
        found.ok().map(|index| self.details[index].text.as_str())
    }
}
