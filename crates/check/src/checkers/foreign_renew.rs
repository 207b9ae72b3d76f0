//! foreign-renew: a command renewed or replaced another grant's live key.

use fencepost_history::{GrantId, How, LockId, ServerId};

use super::Entry;
use crate::facts::{Facts, Now};
use crate::{Findings, Kind};

pub(crate) const ENTRY: Entry = Entry {
    kind: Kind::ForeignRenew,
    definition: "A client's command moved the expiry of another grant's live key, or replaced its \
                 value.",
    companions: &[],
};

#[cold]
pub(crate) fn key_set(
    facts: &Facts,
    now: Now,
    [by, owner]: [GrantId; 2],
    server: ServerId,
    lock: LockId,
    how: How,
    findings: &mut Findings,
) {
    let changes = matches!(how, How::Extend | How::Overwrite);
    if changes && by != GrantId::NONE && owner != GrantId::NONE {
        let mut finding = facts.pair(Kind::ForeignRenew, now, [by, owner]);
        finding.lock = Some(lock);
        finding.server = Some(server);
        findings.add(finding);
    }
}
