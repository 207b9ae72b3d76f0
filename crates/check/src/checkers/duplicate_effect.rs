//! duplicate-effect: one job occurrence took effect from two grants.

use fencepost_history::GrantId;

use super::Entry;
use crate::facts::{Access, Facts, NO_EVENT, Now};
use crate::{Findings, Kind};

pub(super) const ENTRY: Entry = Entry {
    kind: Kind::DuplicateEffect,
    definition: "The effect of one job occurrence was accepted from two grants.",
    companions: &[],
};

/// The first grant whose effect was accepted, by job; jobs are numbered densely.
#[derive(Clone, Debug, Default)]
pub(super) struct DuplicateEffect {
    jobs: Vec<(GrantId, u32)>,
}

impl DuplicateEffect {
    pub(super) fn reset(&mut self) {
        self.jobs.clear();
    }

    /// Notes an effect; returns the grant from which it had been accepted, and when.
    #[inline(always)]
    pub(super) fn first(&mut self, now: Now, access: &Access) -> Option<(GrantId, u32)> {
        let index = access.job.index();
        if index >= self.jobs.len() {
            if access.job.0 == u32::MAX {
                return None;
            }
            self.grow(index);
        }
        let first = &mut self.jobs[index];
        if first.0 == GrantId::NONE {
            *first = (access.grant, now.index);
            return None;
        }
        (first.0 != access.grant).then_some(*first)
    }

    fn grow(&mut self, index: usize) {
        self.jobs.resize(index + 1, (GrantId::NONE, NO_EVENT));
    }
}

#[cold]
pub(super) fn report(
    facts: &Facts,
    now: Now,
    access: &Access,
    (first, event): (GrantId, u32),
    findings: &mut Findings,
) {
    let mut finding = facts.pair(Kind::DuplicateEffect, now, [first, access.grant]);
    finding.resource = Some(access.resource);
    finding.first_event = event;
    findings.add(finding);
}
