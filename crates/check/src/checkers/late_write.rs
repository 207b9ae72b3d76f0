//! late-write: a superseded grant wrote after its successor's grant.

use fencepost_history::GrantId;

use super::Entry;
use crate::facts::{Access, Facts, Now};
use crate::{Findings, Kind};

pub(crate) const ENTRY: Entry = Entry {
    kind: Kind::LateWrite,
    definition: "A resource accepted a write of a grant when the belief of a newer \
                  grant had begun, at the latest at that very instant.",
    companions: &[],
};

/// A write was accepted of a grant that is not its lock's newest.
#[cold]
pub(crate) fn after(facts: &Facts, now: Now, access: Access, findings: &mut Findings) {
    let newest = facts.locks[facts.grant(access.grant).lock.index()].newest;
    let successor = facts.grant(newest);
    let mut finding = facts.pair(Kind::LateWrite, now, [access.grant, newest]);
    finding.resource = Some(access.resource);
    finding.from = successor.began;
    finding.first_event = successor.acquired;
    findings.add(finding);
}

/// A belief begins at an instant at which there have been steps or writes.
#[cold]
pub(crate) fn tied(facts: &Facts, now: Now, id: GrantId, findings: &mut Findings) {
    let successor = facts.grant(id);
    for tie in facts.ties(now) {
        let grant = facts.grant(tie.grant);
        let is_older =
            grant.is_granted() && grant.lock == successor.lock && grant.ord < successor.ord;
        if is_older && tie.resource.is_some() {
            let mut finding = facts.pair(Kind::LateWrite, now, [tie.grant, id]);
            finding.resource = tie.resource;
            finding.first_event = tie.event;
            findings.add(finding);
        }
    }
}
