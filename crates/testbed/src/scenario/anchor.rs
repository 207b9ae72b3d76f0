//! When a fault begins: at an instant, at a named moment, or at somebody's own event.

use std::fmt;

use fencepost_history::{Instant, Moment};

use super::section::{Key, Keys, Section};

/// When a fault begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// At an instant of virtual time.
    At(Instant),
    /// When a client passes a named moment.
    When {
        /// The moment, and whose it is.
        moment: Whose,
        /// The how manieth time, from 1.
        nth: u32,
    },
    /// After an own event of the fault's victim, counted from 1; for a server, after it has
    /// executed so many requests.
    Step(u32),
}

/// Which message a fault meets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessageAnchor {
    /// The first one sent at an instant or later.
    At(Instant),
    /// The one that the client sends at a named moment, or the reply to it.
    When {
        /// The moment.
        moment: Whose,
        /// The how manieth time, from 1.
        nth: u32,
    },
    /// The message with this number on its link and in its direction, from 1.
    Nth(u32),
}

/// A named moment and whose it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whose {
    /// The client or the thread; `None` for the fault's own.
    pub who: Option<String>,
    /// The moment.
    pub moment: Moment,
}

impl fmt::Display for Whose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(who) = &self.who {
            write!(f, "{who} ")?;
        }
        f.write_str(self.moment.name())
    }
}

impl Default for Anchor {
    fn default() -> Self {
        Self::At(Instant::ZERO)
    }
}

impl Default for MessageAnchor {
    fn default() -> Self {
        Self::Nth(1)
    }
}

const AT: Key = Key {
    name: "at",
    doc: "The instant of virtual time, counted from the start of the run.",
    is_required: false,
};
const WHEN: Key = Key {
    name: "when",
    doc: "The named moment at which it happens, such as `acquired`, or `c1 acquired` where it is \
          another client's.",
    is_required: false,
};
const STEP: Key = Key {
    name: "step",
    doc: "The number of the victim's own event after which it happens, from 1.",
    is_required: false,
};

impl Section for Anchor {
    const DOC: &'static str = "When a fault begins.";

    fn keys<K: Keys>(&mut self, keys: &mut K) {
        let (mut at, mut when, mut nth, mut step) = match self.clone() {
            Self::At(instant) => (Some(instant), None, None, None),
            Self::When { moment, nth } => (None, Some(moment), Some(nth), None),
            Self::Step(step) => (None, None, None, Some(step)),
        };
        keys.optional(AT, &mut at);
        keys.optional(WHEN, &mut when);
        let key = Key {
            name: "nth",
            doc: "The how manieth time of the moment, from 1.",
            is_required: false,
        };
        keys.optional(key, &mut nth);
        keys.optional(STEP, &mut step);
        keys.exactly_one(&["at", "when", "step"]);
        *self = match (at, when, step) {
            (_, _, Some(step)) => Self::Step(step),
            (_, Some(moment), None) => Self::When { moment, nth: nth.unwrap_or(1) },
            (at, None, None) => Self::At(at.unwrap_or_default()),
        };
    }
}

impl Section for MessageAnchor {
    const DOC: &'static str = "Which message a fault meets.";

    fn keys<K: Keys>(&mut self, keys: &mut K) {
        let (mut at, mut when, mut nth) = match self.clone() {
            Self::At(instant) => (Some(instant), None, None),
            Self::When { moment, nth } => (None, Some(moment), Some(nth)),
            Self::Nth(nth) => (None, None, Some(nth)),
        };
        keys.optional(AT, &mut at);
        keys.optional(WHEN, &mut when);
        let key = Key {
            name: "nth",
            doc: "The how manieth time of the moment or, without `when`, the number of the \
                  message on its link and in its direction; from 1.",
            is_required: false,
        };
        keys.optional(key, &mut nth);
        *self = match (at, when, nth) {
            (_, Some(moment), nth) => Self::When { moment, nth: nth.unwrap_or(1) },
            (Some(instant), None, _) => Self::At(instant),
            (None, None, nth) => Self::Nth(nth.unwrap_or(1)),
        };
    }
}
