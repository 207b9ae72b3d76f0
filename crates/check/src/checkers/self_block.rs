//! self-block, a note: a client was refused because of its own residue.

use fencepost_history::{GrantId, LockId, ThreadId};

use super::Entry;
use crate::facts::{Facts, Now, Phase};
use crate::{Findings, Kind};

pub(crate) const ENTRY: Entry = Entry {
    kind: Kind::SelfBlock,
    definition: "A client was refused while the key was one that it had set in an attempt which it \
                 gave up.",
    companions: &[],
};

/// An attempt was refused at a lock of which some attempt was given up.
#[cold]
pub(crate) fn refused(
    facts: &mut Facts,
    now: Now,
    thread: ThreadId,
    id: LockId,
    findings: &mut Findings,
) {
    let residue = facts.locks[id.index()].keys.iter().find(|key| {
        let grant = facts.grant(key.owner);
        key.owner != GrantId::NONE
            && key.deadline > now.at
            && grant.phase == Phase::Unknown
            && grant.thread == thread
    });
    if let Some(key) = residue {
        let mut finding = facts.pair(Kind::SelfBlock, now, [key.owner, GrantId::NONE]);
        finding.lock = Some(id);
        finding.server = Some(key.server);
        finding.from = key.since;
        facts.tally.self_blocks += 1;
        findings.add(finding);
    }
}
