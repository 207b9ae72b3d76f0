//! token-regression: a newer grant has no larger token than an older one.

use fencepost_history::{GrantId, Token};

use super::Entry;
use crate::facts::{Facts, Lock, Now};
use crate::{Findings, Kind};

pub(crate) const ENTRY: Entry = Entry {
    kind: Kind::TokenRegression,
    definition: "An older grant of a lock has a larger token than a newer one, or the same.",
    companions: &[],
};

/// Returns whether a grant's token may be in the wrong order.
#[inline(always)]
pub(crate) fn is_suspect(lock: &Lock, ord: u32, token: Token) -> bool {
    token != Token::NONE
        && lock.top_grant != GrantId::NONE
        && (lock.top_token >= token || ord < lock.newest_ord)
}

/// Keeps the largest token.
#[inline(always)]
pub(crate) fn note(lock: &mut Lock, id: GrantId, token: Token) {
    let is_first = lock.top_grant == GrantId::NONE;
    if token != Token::NONE && (is_first || token > lock.top_token) {
        lock.top_token = token;
        lock.top_grant = id;
    }
}

/// A belief begins whose token may be in the wrong order.
#[cold]
pub(crate) fn acquired(facts: &Facts, now: Now, id: GrantId, findings: &mut Findings) {
    let grant = facts.grant(id);
    let lock = &facts.locks[grant.lock.index()];
    if grant.ord < lock.newest_ord {
        out_of_order(facts, now, id, findings);
    } else {
        report(facts, now, [lock.top_grant, id], findings);
    }
}

/// Compares with every grant of the lock, because some newer ones have begun already.
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

fn report(facts: &Facts, now: Now, grants: [GrantId; 2], findings: &mut Findings) {
    let mut finding = facts.pair(Kind::TokenRegression, now, grants);
    let begun = grants.map(|id| facts.grant(id).acquired);
    finding.first_event = begun[0].min(begun[1]);
    findings.add(finding);
}
