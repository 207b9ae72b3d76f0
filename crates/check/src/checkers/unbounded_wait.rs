//! unbounded-wait: a client waited too long for a lock that nobody could be using.

use fencepost_history::{Duration, GrantId, Instant, LockId, ThreadId};

use super::Entry;
use crate::facts::{Facts, Lock, Now, Thread};
use crate::{Findings, Kind};

pub(crate) const ENTRY: Entry = Entry {
    kind: Kind::UnboundedWait,
    definition: "With all faults over, a client asked for longer than the bound while the lock was \
                 free, dead, or held by nobody able to go on.",
    companions: &[],
};

/// The clocks of the waiting threads, which run from the end of all faults.
#[derive(Clone, Debug)]
pub(crate) struct UnboundedWait {
    clocks: Vec<Duration>,
    /// Until when the clocks are up to date; never while they do not run.
    seen: Instant,
    healed: Instant,
}

impl UnboundedWait {
    pub(crate) fn new(threads: usize) -> Self {
        let clocks = vec![Duration::ZERO; threads];
        Self { clocks, seen: Instant::NEVER, healed: Instant::NEVER }
    }

    pub(crate) fn reset(&mut self) {
        self.seen = Instant::NEVER;
    }

    #[inline(always)]
    pub(crate) fn is_on(&self) -> bool {
        self.seen != Instant::NEVER
    }

    /// All faults are over.
    pub(crate) fn start(&mut self, at: Instant) {
        self.clocks.fill(Duration::ZERO);
        self.seen = at;
        self.healed = at;
    }

    #[inline(always)]
    pub(crate) fn asked(&mut self, thread: ThreadId) {
        self.clocks[thread.index()] = Duration::ZERO;
    }

    /// Lets the clocks run up to an instant, on the facts as they were before it.
    pub(crate) fn advance(&mut self, facts: &Facts, at: Instant) {
        if facts.waiting > 0 && at > self.seen {
            for (thread, clock) in facts.threads.iter().zip(&mut self.clocks) {
                if let Some(lock) = thread.waits
                    && is_running(facts, thread)
                {
                    let held = held_until(facts, lock);
                    *clock += at.since(self.seen.max(held));
                }
            }
        }
        self.seen = at;
    }

    /// A thread asks no more, served or not.
    pub(crate) fn stopped(&self, facts: &Facts, now: Now, id: ThreadId, findings: &mut Findings) {
        let thread = &facts.threads[id.index()];
        if let Some(lock) = thread.waits
            && self.clocks[id.index()] > facts.rules.wait_bound
        {
            let held = facts.locks[lock.index()].keys.iter().find(|key| key.deadline > now.at);
            let owner = held.map_or(GrantId::NONE, |key| key.owner);
            let mut finding = facts.pair(Kind::UnboundedWait, now, [owner, GrantId::NONE]);
            finding.lock = Some(lock);
            finding.threads[1] = Some(id);
            finding.from = self.healed;
            finding.first_event = thread.asked;
            findings.add(finding);
        }
    }

    pub(crate) fn end(&self, facts: &Facts, now: Now, findings: &mut Findings) {
        for index in 0..facts.threads.len() {
            let id = ThreadId(u16::try_from(index).unwrap_or(u16::MAX));
            self.stopped(facts, now, id, findings);
        }
    }
}

/// Returns whether a waiting thread itself can ask.
fn is_running(facts: &Facts, thread: &Thread) -> bool {
    thread.until == Instant::ZERO && facts.processes[thread.process.index()].until == Instant::ZERO
}

/// Returns until when a lock is held by somebody who can end the hold by himself.
fn held_until(facts: &Facts, id: LockId) -> Instant {
    let lock = &facts.locks[id.index()];
    let able = lock.believers.iter().filter(|id| !facts.is_stuck(facts.grant(**id).thread));
    if !lock.keyed {
        return able.map(|_| Instant::NEVER).max().unwrap_or(Instant::ZERO);
    }
    able.map(|grant| key_lives_until(facts, id, lock, *grant)).max().unwrap_or(Instant::ZERO)
}

/// Returns until when enough keys of a grant live.
fn key_lives_until(facts: &Facts, id: LockId, lock: &Lock, grant: GrantId) -> Instant {
    let rules = &facts.rules.locks[id.index()];
    let needed = if rules.independent { usize::from(rules.quorum) } else { 1 };
    let mine =
        || lock.keys.iter().filter(|key| key.owner == grant && facts.decides(id, key.server));
    let lives = mine()
        .map(|key| key.deadline)
        .filter(|deadline| mine().filter(|other| other.deadline >= *deadline).count() >= needed);
    lives.max().unwrap_or(Instant::ZERO)
}
