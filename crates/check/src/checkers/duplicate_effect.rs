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

    #[inline(always)]
    pub(super) fn accepted(
        &mut self,
        facts: &Facts,
        now: Now,
        access: &Access,
        findings: &mut Findings,
    ) {
        if access.grant == GrantId::NONE || access.job.0 == u32::MAX {
            return;
        }
        let index = access.job.index();
        if index >= self.jobs.len() {
            self.jobs.resize(index + 1, (GrantId::NONE, NO_EVENT));
        }
        let (first, event) = self.jobs[index];
        if first == GrantId::NONE {
            self.jobs[index] = (access.grant, now.index);
        } else if first != access.grant {
            let mut finding = facts.pair(Kind::DuplicateEffect, now, [first, access.grant]);
            finding.resource = Some(access.resource);
            finding.first_event = event;
            findings.add(finding);
        }
    }
}
