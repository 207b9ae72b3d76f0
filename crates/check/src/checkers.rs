//! The list of checkers, which drives documentation and help.
//!
//! A checker is a file below this module with its [`Entry`] and a few small functions over the
//! table of facts, which the dispatcher calls for the events that the checker cares about.

pub(crate) mod deadlock;
pub(crate) mod double_holder;
pub(crate) mod double_run;
pub(crate) mod duplicate_effect;
pub(crate) mod false_refusal;
pub(crate) mod fence_regression;
pub(crate) mod foreign_release;
pub(crate) mod foreign_renew;
pub(crate) mod ghost_hold;
pub(crate) mod late_write;
pub(crate) mod lost_update;
pub(crate) mod orphan_no_ttl;
pub(crate) mod save;
pub(crate) mod self_block;
pub(crate) mod stale_read;
pub(crate) mod stale_write;
pub(crate) mod token_regression;
pub(crate) mod unbounded_wait;

use fencepost_history::{Event, Instant};

use crate::{Findings, Kind, KindSet};

/// What people should know of a kind of finding.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The kind.
    pub kind: Kind,
    /// What it means, in one sentence.
    pub definition: &'static str,
    /// The kinds that may come along with it without being surprising.
    ///
    /// This is meant for one step: what a companion's companions are does not matter.
    pub companions: &'static [Kind],
}

/// All built-in checkers, the most severe kind first.
pub const LIST: &[Entry] = &[
    lost_update::ENTRY,
    stale_write::ENTRY,
    duplicate_effect::ENTRY,
    token_regression::ENTRY,
    fence_regression::ENTRY,
    late_write::ENTRY,
    double_run::ENTRY,
    double_holder::ENTRY,
    foreign_release::ENTRY,
    foreign_renew::ENTRY,
    orphan_no_ttl::ENTRY,
    deadlock::ENTRY,
    unbounded_wait::ENTRY,
    ghost_hold::ENTRY,
    stale_read::ENTRY,
    false_refusal::ENTRY,
    self_block::ENTRY,
    save::ENTRY,
];

/// Returns what people should know of a kind; nothing for [`Kind::Own`].
#[must_use]
pub fn entry(kind: Kind) -> Option<&'static Entry> {
    LIST.iter().find(|entry| entry.kind == kind)
}

impl Kind {
    /// Returns the kind's meaning in one sentence.
    #[must_use]
    pub fn definition(self) -> &'static str {
        entry(self).map_or("A checker of one's own found something.", |entry| entry.definition)
    }

    /// Returns the kinds that may come along with this one without being surprising.
    #[must_use]
    pub fn companions(self) -> KindSet {
        entry(self).map_or(KindSet::EMPTY, |entry| KindSet::of(entry.companions))
    }
}

/// What a checker of one's own implements.
pub trait Checker {
    /// Forgets the last run.
    fn reset(&mut self);

    /// Sees one event; `index` is its place in the order that checkers compare.
    fn event(&mut self, index: u32, event: &Event, findings: &mut Findings);

    /// Sees the end of the run, settle phase included.
    fn end(&mut self, at: Instant, findings: &mut Findings);
}
