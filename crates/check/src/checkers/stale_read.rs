//! stale-read, a note: a superseded grant read after an access of its successor.

use super::Entry;
use crate::facts::{Access, Facts, Now};
use crate::order::Latest;
use crate::{Findings, Kind};

pub(crate) const ENTRY: Entry = Entry {
    kind: Kind::StaleRead,
    definition: "A resource accepted a read of a grant after it had accepted an access of a newer \
                 grant; harmless unless the reader acts upon it.",
    companions: &[],
};

#[cold]
pub(crate) fn after(
    facts: &Facts,
    now: Now,
    access: Access,
    successor: Latest,
    findings: &mut Findings,
) {
    let mut finding = facts.pair(Kind::StaleRead, now, [access.grant, successor.grant]);
    finding.resource = Some(access.resource);
    finding.from = successor.at;
    finding.first_event = successor.event;
    findings.add(finding);
}
