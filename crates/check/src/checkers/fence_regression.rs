//! fence-regression: a checking path accepted a token below one that it had accepted.

use fencepost_history::GrantId;

use super::Entry;
use crate::facts::{Access, Facts, Now};
use crate::{Findings, Kind};

pub(crate) const ENTRY: Entry = Entry {
    kind: Kind::FenceRegression,
    definition: "A path that checks tokens accepted one below another that it had accepted before.",
    companions: &[],
};

#[cold]
pub(crate) fn accepted(facts: &Facts, now: Now, access: Access, findings: &mut Findings) {
    let mut finding = facts.pair(Kind::FenceRegression, now, [access.grant, GrantId::NONE]);
    finding.resource = Some(access.resource);
    finding.tokens[0] = access.token;
    findings.add(finding);
}
