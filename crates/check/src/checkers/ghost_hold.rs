//! ghost-hold: a key with an expiry outlived every belief in it.
//!
//! It is a note, and a violation if it lasts longer than the TTL and a bound. A key that its own
//! grant's command deletes within that time is a release under way and not worth a note.

use fencepost_history::{GrantId, Instant, LockId, ServerId};

use super::Entry;
use crate::facts::{Facts, Key, Now, Phase};
use crate::{Findings, Kind};

pub(crate) const ENTRY: Entry = Entry {
    kind: Kind::GhostHold,
    definition: "A key with an expiry lived on though nobody believed in it: a note, \
                  and a violation if it took longer than the TTL and a bound.",
    companions: &[],
};

/// A key is no longer that grant's; `released` says that its own command deleted it.
#[inline]
pub(crate) fn ended(
    facts: &mut Facts,
    now: Now,
    lock: LockId,
    key: &Key,
    released: bool,
    findings: &mut Findings,
) {
    let from = match facts.grants.get(key.owner.index()) {
        Some(grant) if grant.phase == Phase::Believing => return,
        Some(grant) if grant.phase == Phase::Over => key.since.max(grant.ended),
        _ => key.since,
    };
    let to = now.at.min(key.deadline);
    if to <= from || key.deadline == Instant::NEVER {
        return;
    }
    let exceeds = to.since(from) > facts.locks[lock.index()].ghost_limit;
    if (!released || exceeds) && facts.decides(lock, key.server) {
        report(facts, now, lock, key, [from, to], exceeds, findings);
    }
}

#[cold]
fn report(
    facts: &mut Facts,
    now: Now,
    lock: LockId,
    key: &Key,
    [from, to]: [Instant; 2],
    exceeds: bool,
    findings: &mut Findings,
) {
    facts.tally.ghost_holds.add(to.since(from));
    let mut finding = facts.pair(Kind::GhostHold, now, [key.owner, GrantId::NONE]);
    finding.lock = Some(lock);
    finding.server = Some(key.server);
    finding.from = from;
    finding.to = to;
    finding.note = !exceeds;
    findings.add(finding);
}

/// All keys of a server are gone at once.
pub(crate) fn data_lost(facts: &mut Facts, now: Now, server: ServerId, findings: &mut Findings) {
    for index in 0..facts.locks.len() {
        let Some(place) = facts.locks[index].keys.iter().position(|key| key.server == server)
        else {
            continue;
        };
        let key = facts.locks[index].keys[place];
        facts.locks[index].keys[place].owner = GrantId::NONE;
        if key.owner != GrantId::NONE {
            let lock = LockId(u16::try_from(index).unwrap_or(u16::MAX));
            ended(facts, now, lock, &key, false, findings);
        }
    }
}

/// A server's clock steps, and with it the true instants at which its keys die.
pub(crate) fn clock_stepped(facts: &mut Facts, server: ServerId, by: i64) {
    let keys = facts.locks.iter_mut().flat_map(|lock| &mut lock.keys);
    for key in keys.filter(|key| key.server == server && key.deadline != Instant::NEVER) {
        let nanos = key.deadline.as_nanos();
        let moved = if by >= 0 {
            nanos.saturating_sub(by.unsigned_abs())
        } else {
            nanos.saturating_add(by.unsigned_abs()).min(Instant::NEVER.as_nanos() - 1)
        };
        key.deadline = Instant::from_nanos(moved);
    }
}

pub(crate) fn end(facts: &mut Facts, now: Now, findings: &mut Findings) {
    for index in 0..facts.locks.len() {
        for place in 0..facts.locks[index].keys.len() {
            let key = facts.locks[index].keys[place];
            if key.owner != GrantId::NONE {
                let lock = LockId(u16::try_from(index).unwrap_or(u16::MAX));
                ended(facts, now, lock, &key, false, findings);
            }
        }
    }
}
