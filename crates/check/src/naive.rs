//! The naive judge: a whole recorded run, judged by the definitions as they are written.
//!
//! It is quadratic, keeps nothing and shares no code with the streaming checkers, so that either
//! can be held against the other. Positions in the slice are the order of events.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each definition names the few events it reads"
)]

mod keys;
mod waits;

use std::collections::BTreeSet;

use fencepost_history::{
    Access, AccessOutcome, Event, GrantId, How, Instant, JobId, LockId, LockRules, ProcessId,
    ResourceId, ThreadId, Token, What,
};

use crate::{Kind, Rules};

/// What the naive judge found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Found {
    /// What it is.
    pub kind: Kind,
    /// Whether it is a note and no violation.
    pub note: bool,
    /// The grants, as in [`Finding`](crate::Finding::grants).
    pub grants: [GrantId; 2],
    /// Who waits, where it is about a wait.
    pub waits: Option<ThreadId>,
}

/// Judges a whole run that ended at `end`; finds every pair, not only the first.
#[must_use]
pub fn judge(rules: &Rules, events: &[Event], end: Instant) -> BTreeSet<Found> {
    let run = Run { rules, events, end, grants: grants(rules, events) };
    let mut found = BTreeSet::new();
    run.beliefs(&mut found);
    run.accesses(&mut found);
    run.refusals(&mut found);
    run.commands(&mut found);
    run.left_keys(&mut found);
    run.own_residue(&mut found);
    run.long_waits(&mut found);
    run.circles(&mut found);
    let judged = rules.purpose.judged();
    found.into_iter().filter(|found| judged.contains(found.kind)).collect()
}

/// One grant: b, e and ord are positions.
#[derive(Clone, Copy, Debug)]
struct Grant {
    id: GrantId,
    lock: LockId,
    thread: ThreadId,
    incarnation: usize,
    token: Token,
    b: usize,
    e: usize,
    ord: usize,
}

impl Grant {
    fn is_older(&self, other: &Self) -> bool {
        self.lock == other.lock && self.ord < other.ord
    }

    fn has_same_owner(&self, other: &Self) -> bool {
        self.thread == other.thread && self.incarnation == other.incarnation
    }
}

/// One accepted or refused access.
#[derive(Clone, Copy, Debug)]
struct Touch {
    place: usize,
    grant: GrantId,
    resource: ResourceId,
    job: JobId,
    is_write: bool,
    outcome: AccessOutcome,
    regressed: bool,
}

struct Run<'a> {
    rules: &'a Rules,
    events: &'a [Event],
    end: Instant,
    grants: Vec<Grant>,
}

/// Returns the acceptance that decides: the last one, or that which makes a quorum full.
fn decisive(rules: &LockRules, mut accepted: impl Iterator<Item = usize>) -> Option<usize> {
    if rules.independent {
        return accepted.nth(usize::from(rules.quorum.saturating_sub(1)));
    }
    accepted.last()
}

fn grants(rules: &Rules, events: &[Event]) -> Vec<Grant> {
    let mut grants: Vec<Grant> = Vec::new();
    for (b, event) in events.iter().enumerate() {
        let What::Acquired { thread, grant: id, lock, token } = event.what else { continue };
        if grants.iter().any(|grant| grant.id == id) {
            continue;
        }
        let process: ProcessId = rules.threads[thread.index()];
        let crash = What::Crashed { process };
        let ends = [What::ReleaseInvoked { grant: id }, What::Lost { grant: id }, crash];
        let decides =
            |what: &What| matches!(*what, What::KeySet { by, commits: true, .. } if by == id);
        grants.push(Grant {
            id,
            lock,
            thread,
            incarnation: events[..b].iter().filter(|event| event.what == crash).count(),
            token,
            b,
            e: (b..events.len()).find(|e| ends.contains(&events[*e].what)).unwrap_or(events.len()),
            ord: decisive(
                &rules.locks[lock.index()],
                (0..b).filter(|place| decides(&events[*place].what)),
            )
            .unwrap_or(b),
        });
    }
    grants
}

impl Run<'_> {
    /// Returns the time of a position; behind the last event lies the end.
    fn time(&self, place: usize) -> Instant {
        self.events.get(place).map_or(self.end, |event| event.at)
    }

    fn grant(&self, id: GrantId) -> Option<&Grant> {
        self.grants.iter().find(|grant| grant.id == id)
    }

    fn touches(&self) -> Vec<Touch> {
        let touch = |(place, event): (usize, &Event)| match event.what {
            What::Accessed {
                resource, grant, job, access, outcome, checked, regressed, ..
            } => Some(Touch {
                place,
                grant,
                resource,
                job,
                is_write: access == Access::Write,
                outcome,
                regressed: checked && regressed,
            }),
            _ => None,
        };
        self.events.iter().enumerate().filter_map(touch).collect()
    }

    /// double-holder, double-run, token-regression.
    fn beliefs(&self, found: &mut BTreeSet<Found>) {
        for g in &self.grants {
            for h in self.grants.iter().filter(|h| g.is_older(h)) {
                let pair = [g.id, h.id];
                let (begin, end) = (self.time(g.b.max(h.b)), self.time(g.e.min(h.e)));
                if !g.has_same_owner(h) && begin < end {
                    found.insert(pair_of(Kind::DoubleHolder, pair));
                }
                let ran = (g.b..g.e).any(|place| {
                    self.events[place].what == What::Step { grant: g.id }
                        && self.time(place) >= self.time(h.b)
                        && place < h.e
                });
                if !g.has_same_owner(h) && ran {
                    found.insert(pair_of(Kind::DoubleRun, pair));
                }
                let tokens = [g.token.number(), h.token.number()];
                if matches!(tokens, [Some(older), Some(newer)] if older >= newer) {
                    found.insert(pair_of(Kind::TokenRegression, pair));
                }
            }
        }
    }

    /// late-write, stale-write, stale-read, lost-update, duplicate-effect, fence-regression.
    fn accesses(&self, found: &mut BTreeSet<Found>) {
        let mut touches = self.touches();
        touches.retain(|touch| touch.outcome == AccessOutcome::Accepted);
        let of_grants = |touch: &Touch| self.grant(touch.grant).is_some_and(|g| g.b < touch.place);
        for touch in touches.iter().filter(|touch| touch.regressed) {
            found.insert(pair_of(Kind::FenceRegression, [touch.grant, GrantId::NONE]));
        }
        touches.retain(of_grants);
        for touch in &touches {
            for h in &self.grants {
                let is_older = self.grant(touch.grant).is_some_and(|g| g.is_older(h));
                if is_older && touch.is_write && self.time(touch.place) >= self.time(h.b) {
                    found.insert(pair_of(Kind::LateWrite, [touch.grant, h.id]));
                }
            }
            for earlier in touches.iter().filter(|earlier| earlier.place < touch.place) {
                let pair = (self.grant(touch.grant), self.grant(earlier.grant));
                let is_older = matches!(pair, (Some(g), Some(h)) if g.is_older(h));
                if is_older && touch.resource == earlier.resource {
                    let kind = if touch.is_write { Kind::StaleWrite } else { Kind::StaleRead };
                    found.insert(pair_of(kind, [touch.grant, earlier.grant]));
                }
                let is_other = touch.grant != earlier.grant;
                if !(is_other && touch.is_write && earlier.is_write) {
                    continue;
                }
                let is_first = !touches.iter().any(|before| {
                    before.is_write
                        && before.grant == touch.grant
                        && before.job == touch.job
                        && before.place < touch.place
                });
                if is_first && touch.job == earlier.job && touch.job != JobId(u32::MAX) {
                    found.insert(pair_of(Kind::DuplicateEffect, [earlier.grant, touch.grant]));
                }
                let had_read = touches.iter().any(|read| {
                    !read.is_write
                        && read.grant == touch.grant
                        && read.resource == touch.resource
                        && read.place < earlier.place
                });
                if had_read && touch.resource == earlier.resource {
                    found.insert(pair_of(Kind::LostUpdate, [touch.grant, earlier.grant]));
                }
            }
        }
    }

    /// save, false-refusal.
    fn refusals(&self, found: &mut BTreeSet<Found>) {
        for touch in self.touches() {
            let Some(g) = self.grant(touch.grant) else { continue };
            if touch.outcome != AccessOutcome::Refused || touch.place < g.b {
                continue;
            }
            let newer: Vec<&Grant> =
                self.grants.iter().filter(|h| g.is_older(h) && h.b < touch.place).collect();
            for h in &newer {
                found.insert(pair_of(Kind::Save, [g.id, h.id]));
            }
            if newer.is_empty() {
                found.insert(pair_of(Kind::FalseRefusal, [g.id, GrantId::NONE]));
            }
        }
    }

    /// foreign-release, foreign-renew.
    fn commands(&self, found: &mut BTreeSet<Found>) {
        for event in self.events {
            let (kind, pair) = match event.what {
                What::KeyGone { by, owner, how: How::Delete, .. } => {
                    (Kind::ForeignRelease, [by, owner])
                }
                What::KeySet { by, owner, how: How::Extend | How::Overwrite, .. } => {
                    (Kind::ForeignRenew, [by, owner])
                }
                _ => continue,
            };
            if pair[0] != pair[1] && !pair.contains(&GrantId::NONE) {
                found.insert(pair_of(kind, pair));
            }
        }
    }
}

fn pair_of(kind: Kind, grants: [GrantId; 2]) -> Found {
    Found { kind, note: kind.is_note(), grants, waits: None }
}
