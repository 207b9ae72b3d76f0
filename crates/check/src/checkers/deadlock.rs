//! deadlock: waiting threads hold what the others wait for, and nothing takes it from them.

use fencepost_history::{GrantId, Instant, ThreadId};

use super::Entry;
use crate::facts::{Facts, Now};
use crate::{Findings, Kind};

pub(crate) const ENTRY: Entry = Entry {
    kind: Kind::Deadlock,
    definition: "Live threads wait in a circle, each for a lock that the next one holds and that \
                 neither expires nor is let go.",
    companions: &[Kind::UnboundedWait],
};

/// Looks for circles among the threads that still wait; each thread waits for one lock.
#[cold]
pub(crate) fn end(facts: &Facts, now: Now, findings: &mut Findings) {
    for index in 0..facts.threads.len() {
        let start = ThreadId(u16::try_from(index).unwrap_or(u16::MAX));
        let Some(first) = blocked_by(facts, now, start) else {
            continue;
        };
        let mut thread = facts.grant(first).thread;
        let mut is_lowest = true;
        for _ in 0..facts.threads.len() {
            is_lowest &= thread >= start;
            if thread == start {
                break;
            }
            match blocked_by(facts, now, thread) {
                Some(next) => thread = facts.grant(next).thread,
                None => break,
            }
        }
        // Every thread of a circle finds it; the one with the lowest number reports it.
        if thread == start && is_lowest {
            let mut finding = facts.pair(Kind::Deadlock, now, [first, GrantId::NONE]);
            finding.threads[1] = Some(start);
            finding.from = facts.grant(first).began;
            finding.first_event = facts.grant(first).acquired;
            findings.add(finding);
        }
    }
}

/// Returns the grant that keeps a thread waiting for good.
fn blocked_by(facts: &Facts, now: Now, thread: ThreadId) -> Option<GrantId> {
    let id = facts.threads.get(thread.index())?.waits?;
    let lock = &facts.locks[id.index()];
    if !lock.keyed {
        return lock.believers.first().copied();
    }
    let ttl = facts.rules.locks[id.index()].ttl;
    let key = lock.keys.iter().find(|key| {
        let grant = facts.grant(key.owner);
        let is_renewed = key.deadline > now.at && grant.began + ttl < now.at;
        grant.is_believed()
            && facts.decides(id, key.server)
            && (key.deadline == Instant::NEVER || is_renewed)
    });
    key.map(|key| key.owner)
}
