//! double-holder: two owners believed at once that they had the lock.

use fencepost_history::GrantId;

use super::Entry;
use crate::facts::{Facts, Now};
use crate::{Findings, Kind};

pub(crate) const ENTRY: Entry = Entry {
    kind: Kind::DoubleHolder,
    definition: "Two owners (thread and incarnation of its process) believed for a positive time \
                 that they had the same lock.",
    companions: &[Kind::LateWrite, Kind::DoubleRun],
};

/// The pairs that believe at present, in the order in which their beliefs began.
#[derive(Clone, Debug, Default)]
pub(crate) struct DoubleHolder {
    open: Vec<[GrantId; 2]>,
}

impl DoubleHolder {
    pub(crate) fn reset(&mut self) {
        self.open.clear();
    }

    #[inline(always)]
    pub(crate) fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// A belief begins that is not the only one.
    #[cold]
    pub(crate) fn acquired(&mut self, facts: &Facts, id: GrantId) {
        let grant = facts.grant(id);
        for other in &facts.locks[grant.lock.index()].believers {
            if facts.grant(*other).owner != grant.owner {
                self.open.push([*other, id]);
            }
        }
    }

    /// A belief ended while there were pairs.
    #[cold]
    pub(crate) fn disbelieved(
        &mut self,
        facts: &Facts,
        now: Now,
        id: GrantId,
        findings: &mut Findings,
    ) {
        self.open.retain(|pair| {
            let ends = pair.contains(&id);
            if ends {
                close(facts, now, *pair, findings);
            }
            !ends
        });
    }

    pub(crate) fn end(&mut self, facts: &Facts, now: Now, findings: &mut Findings) {
        for pair in self.open.drain(..) {
            close(facts, now, pair, findings);
        }
    }
}

fn close(facts: &Facts, now: Now, [first, second]: [GrantId; 2], findings: &mut Findings) {
    let (began, begins) = (facts.grant(first), facts.grant(second));
    if now.at <= begins.began {
        return;
    }
    let grants = if began.ord < begins.ord { [first, second] } else { [second, first] };
    let mut finding = facts.pair(Kind::DoubleHolder, now, grants);
    finding.from = begins.began;
    finding.first_event = began.acquired;
    finding.event = begins.acquired;
    findings.add(finding);
}
