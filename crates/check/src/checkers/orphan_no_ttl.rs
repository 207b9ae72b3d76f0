//! orphan-no-ttl: a key without expiry is left behind.

use fencepost_history::{GrantId, Instant, LockId};

use super::Entry;
use crate::facts::{Facts, Now};
use crate::{Findings, Kind};

pub(crate) const ENTRY: Entry = Entry {
    kind: Kind::OrphanNoTtl,
    definition: "When all was quiet, a key without expiry was left that no live holder \
                  believed in.",
    companions: &[Kind::UnboundedWait],
};

pub(crate) fn end(facts: &Facts, now: Now, findings: &mut Findings) {
    for (index, lock) in facts.locks.iter().enumerate() {
        for key in &lock.keys {
            if key.owner == GrantId::NONE
                || key.deadline != Instant::NEVER
                || facts.is_held(key.owner)
            {
                continue;
            }
            let id = LockId(u16::try_from(index).unwrap_or(u16::MAX));
            if facts.decides(id, key.server) {
                let mut finding = facts.pair(Kind::OrphanNoTtl, now, [key.owner, GrantId::NONE]);
                finding.lock = Some(id);
                finding.server = Some(key.server);
                finding.from = key.since;
                findings.add(finding);
            }
        }
    }
}
