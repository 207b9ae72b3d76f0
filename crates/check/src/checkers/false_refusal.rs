//! false-refusal, a note: the fence refused the newest grant.

use fencepost_history::GrantId;

use super::Entry;
use crate::facts::{Access, Facts, Now};
use crate::{Findings, Kind};

pub(crate) const ENTRY: Entry = Entry {
    kind: Kind::FalseRefusal,
    definition: "The fence refused an access of the newest grant, which was entitled to it.",
    companions: &[],
};

#[cold]
pub(crate) fn refused(facts: &mut Facts, now: Now, access: Access, findings: &mut Findings) {
    let grant = facts.grant(access.grant);
    if !grant.is_granted() {
        return;
    }
    let is_newest = facts.locks[grant.lock.index()].newest == access.grant;
    if is_newest {
        let mut finding = facts.pair(Kind::FalseRefusal, now, [access.grant, GrantId::NONE]);
        finding.resource = Some(access.resource);
        facts.tally.false_refusals += 1;
        findings.add(finding);
    }
}
