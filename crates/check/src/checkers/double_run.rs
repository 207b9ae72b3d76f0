//! double-run: a superseded holder ran a protected step while its successor believed.

use fencepost_history::GrantId;

use super::Entry;
use crate::facts::{Facts, Now, Phase};
use crate::{Findings, Kind};

pub(crate) const ENTRY: Entry = Entry {
    kind: Kind::DoubleRun,
    definition: "A holder executed a protected step while it and the holder of a newer grant both \
                 believed to have the lock.",
    companions: &[Kind::DoubleHolder],
};

/// A step is executed; contended means that some lock has two believing owners.
#[inline(always)]
pub(crate) fn step(
    facts: &mut Facts,
    now: Now,
    id: GrantId,
    is_contended: bool,
    findings: &mut Findings,
) {
    let Some(grant) = facts.grants.get(id.index()) else {
        return;
    };
    if !grant.is_believed() {
        facts.tally.stray_steps += u32::from(grant.phase == Phase::Over);
        return;
    }
    facts.tie(now, id, None);
    if is_contended {
        contended(facts, now, id, findings);
    }
}

#[cold]
fn contended(facts: &mut Facts, now: Now, id: GrantId, findings: &mut Findings) {
    let grant = facts.grant(id);
    let lock = grant.lock.index();
    for place in 0..facts.locks[lock].believers.len() {
        let other = facts.locks[lock].believers[place];
        let successor = facts.grant(other);
        if successor.owner != grant.owner && grant.ord < successor.ord {
            report(facts, now, [id, other], successor.acquired, findings);
        }
    }
}

/// A belief begins at an instant at which there have been steps or writes.
#[cold]
pub(crate) fn tied(facts: &mut Facts, now: Now, id: GrantId, findings: &mut Findings) {
    let successor = facts.grant(id);
    for place in 0..facts.ties(now).len() {
        let tie = facts.ties(now)[place];
        let grant = facts.grant(tie.grant);
        let is_rival = grant.lock == successor.lock && grant.owner != successor.owner;
        if tie.resource.is_none() && is_rival && grant.ord < successor.ord {
            report(facts, now, [tie.grant, id], tie.event, findings);
        }
    }
}

fn report(
    facts: &mut Facts,
    now: Now,
    grants: [GrantId; 2],
    first_event: u32,
    findings: &mut Findings,
) {
    let ran = std::mem::replace(&mut facts.grant_mut(grants[0]).ran_superseded, true);
    facts.tally.double_runs += u32::from(!ran);
    let mut finding = facts.pair(Kind::DoubleRun, now, grants);
    finding.first_event = first_event;
    findings.add(finding);
}
