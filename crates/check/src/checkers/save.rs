//! save, a welcome note: the fence refused a superseded grant.

use super::Entry;
use crate::facts::{Access, Facts, Now};
use crate::{Findings, Kind};

pub(crate) const ENTRY: Entry = Entry {
    kind: Kind::Save,
    definition: "The fence refused an access of a superseded grant.",
    companions: &[],
};

#[cold]
pub(crate) fn refused(facts: &mut Facts, now: Now, access: Access, findings: &mut Findings) {
    let grant = facts.grant(access.grant);
    if !grant.is_granted() {
        return;
    }
    let lock = &facts.locks[grant.lock.index()];
    if grant.ord < lock.newest_ord {
        let mut finding = facts.pair(Kind::Save, now, [access.grant, lock.newest]);
        finding.resource = Some(access.resource);
        facts.tally.saves += 1;
        findings.add(finding);
    }
}
