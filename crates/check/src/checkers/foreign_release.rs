//! foreign-release: a command deleted another grant's live key.

use fencepost_history::{GrantId, How, LockId, ServerId};

use super::Entry;
use crate::facts::{Facts, Now};
use crate::{Findings, Kind};

pub(crate) const ENTRY: Entry = Entry {
    kind: Kind::ForeignRelease,
    definition: "A client's command deleted the live key of another grant.",
    companions: &[],
};

#[cold]
pub(crate) fn key_gone(
    facts: &Facts,
    now: Now,
    [by, owner]: [GrantId; 2],
    server: ServerId,
    lock: LockId,
    how: How,
    findings: &mut Findings,
) {
    if how == How::Delete && by != GrantId::NONE && owner != GrantId::NONE {
        let mut finding = facts.pair(Kind::ForeignRelease, now, [by, owner]);
        finding.lock = Some(lock);
        finding.server = Some(server);
        findings.add(finding);
    }
}
