//! token-regression: a newer grant has no larger token than an older one.

use fencepost_history::GrantId;

use super::Entry;
use crate::facts::{Facts, Now};
use crate::{Findings, Kind};

pub(super) const ENTRY: Entry = Entry {
    kind: Kind::TokenRegression,
    definition: "An older grant of a lock has a larger token than a newer one, or the same.",
    companions: &[],
};

#[inline(always)]
pub(super) fn acquired(facts: &mut Facts, now: Now, id: GrantId, findings: &mut Findings) {
    let grant = &facts.grants[id.index()];
    let (ord, token) = (grant.ord, grant.token);
    if token.number().is_none() {
        return;
    }
    let lock = &mut facts.locks[grant.lock.index()];
    let top = lock.top_grant;
    let is_above = top != GrantId::NONE && lock.top_token >= token;
    if !is_above {
        lock.top_token = token;
        lock.top_grant = id;
    }
    if lock.newest != GrantId::NONE && ord < lock.newest_ord {
        out_of_order(facts, now, id, findings);
    } else if is_above {
        report(facts, now, [top, id], findings);
    }
}

/// Compares with every grant of the lock, because some newer ones have begun already.
#[cold]
fn out_of_order(facts: &Facts, now: Now, id: GrantId, findings: &mut Findings) {
    let grant = facts.grant(id);
    let mut worst: Option<GrantId> = None;
    for place in 1..facts.grants.len() {
        let other = &facts.grants[place];
        let is_rival = other.is_granted() && other.lock == grant.lock;
        if place == id.index() || !is_rival || other.token.number().is_none() {
            continue;
        }
        let other_id = GrantId(u32::try_from(place).unwrap_or(0));
        if other.ord > grant.ord {
            if other.token <= grant.token {
                report(facts, now, [id, other_id], findings);
            }
        } else if other.token >= grant.token
            && worst.is_none_or(|worst| other.token > facts.grant(worst).token)
        {
            worst = Some(other_id);
        }
    }
    if let Some(worst) = worst {
        report(facts, now, [worst, id], findings);
    }
}

#[cold]
fn report(facts: &Facts, now: Now, grants: [GrantId; 2], findings: &mut Findings) {
    let mut finding = facts.pair(Kind::TokenRegression, now, grants);
    let begun = grants.map(|id| facts.grant(id).acquired);
    finding.first_event = begun[0].min(begun[1]);
    findings.add(finding);
}
