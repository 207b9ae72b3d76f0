//! duplicate-effect: one job occurrence took effect from two grants.

use fencepost_history::{GrantId, JobId};

use super::Entry;
use crate::facts::{Access, Facts, NO_EVENT, Now};
use crate::{Findings, Kind};

pub(crate) const ENTRY: Entry = Entry {
    kind: Kind::DuplicateEffect,
    definition: "The effect of one job occurrence was accepted from two grants.",
    companions: &[],
};

/// The first grant whose effect was accepted, by job; jobs are numbered densely.
#[derive(Clone, Debug, Default)]
pub(crate) struct DuplicateEffect {
    jobs: Vec<(GrantId, u32)>,
}

impl DuplicateEffect {
    pub(crate) fn reset(&mut self) {
        self.jobs.clear();
    }

    /// Notes an effect; returns the grant from which it had been accepted, and when.
    #[inline(always)]
    pub(crate) fn first(&mut self, now: Now, access: Access) -> Option<(GrantId, u32)> {
        let mine = (access.grant, now.index);
        if access.job.index() >= self.jobs.len() {
            if access.job.index() == self.jobs.len() {
                self.jobs.push(mine);
                return None;
            }
            return self.skip_to(access.job, mine);
        }
        let first = &mut self.jobs[access.job.index()];
        if first.0 == GrantId::NONE {
            *first = mine;
        }
        (first.0 != access.grant).then_some(*first)
    }

    /// Leaves out the jobs that come later, or never.
    #[cold]
    fn skip_to(&mut self, job: JobId, mine: (GrantId, u32)) -> Option<(GrantId, u32)> {
        if job.0 != u32::MAX {
            self.jobs.resize(job.index(), (GrantId::NONE, NO_EVENT));
            self.jobs.push(mine);
        }
        None
    }
}

#[cold]
pub(crate) fn report(
    facts: &Facts,
    now: Now,
    access: Access,
    (first, event): (GrantId, u32),
    findings: &mut Findings,
) {
    let mut finding = facts.pair(Kind::DuplicateEffect, now, [first, access.grant]);
    finding.resource = Some(access.resource);
    finding.first_event = event;
    findings.add(finding);
}
