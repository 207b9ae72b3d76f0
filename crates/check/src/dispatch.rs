//! The one place that hands events to the checkers.
//!
//! Each event goes to those checkers that care about it and to no others. What a clean run does
//! most is short and comes first; whatever smells of a finding is decided in the checker's file.

use fencepost_history::{
    Access as Direction, AccessOutcome, Event, GrantId, How, Instant, LockId, ProcessId, ServerId,
    ThreadId, Token, What,
};

use crate::checkers::double_holder::DoubleHolder;
use crate::checkers::duplicate_effect::DuplicateEffect;
use crate::checkers::lost_update::LostUpdate;
use crate::checkers::unbounded_wait::UnboundedWait;
use crate::checkers::{
    Checker, deadlock, double_run, duplicate_effect, false_refusal, fence_regression,
    foreign_release, foreign_renew, ghost_hold, late_write, lost_update, orphan_no_ttl, save,
    self_block, stale_read, stale_write, token_regression,
};
use crate::facts::{Access, Facts, Key, Now};
use crate::order::Resource;
use crate::{Finding, Findings, KindSet, Rules, Tally, takeover};

/// All checkers at work on one run after the other.
pub struct Checkers {
    facts: Facts,
    findings: Findings,
    double_holder: DoubleHolder,
    duplicate_effect: DuplicateEffect,
    lost_update: LostUpdate,
    unbounded_wait: UnboundedWait,
    own: Vec<Box<dyn Checker>>,
    /// Whether there is more to do for each event than to judge it.
    is_watched: bool,
    last: u32,
}

impl Checkers {
    /// Makes the built-in checkers for the runs of one scenario.
    #[must_use]
    pub fn new(rules: &Rules) -> Self {
        Self {
            facts: Facts::new(rules),
            findings: Findings::new(rules.purpose.judged()),
            double_holder: DoubleHolder::default(),
            duplicate_effect: DuplicateEffect::default(),
            lost_update: LostUpdate::default(),
            unbounded_wait: UnboundedWait::new(rules.threads.len()),
            own: Vec::new(),
            is_watched: false,
            last: 0,
        }
    }

    /// Adds a checker of one's own.
    pub fn add(&mut self, checker: Box<dyn Checker>) {
        self.own.push(checker);
        self.is_watched = true;
    }

    /// Forgets the last run and keeps the memory.
    pub fn reset(&mut self) {
        self.facts.reset();
        self.findings.reset();
        self.double_holder.reset();
        self.duplicate_effect.reset();
        self.lost_update.reset();
        self.unbounded_wait.reset();
        for own in &mut self.own {
            own.reset();
        }
        self.is_watched = !self.own.is_empty();
        self.last = 0;
    }

    /// Returns the findings; they are in the order of events once the run has ended.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        self.findings.list()
    }

    /// Returns the kinds that are violated.
    #[must_use]
    pub const fn violated(&self) -> KindSet {
        self.findings.violated()
    }

    /// Returns the kinds of which there are notes.
    #[must_use]
    pub const fn noted(&self) -> KindSet {
        self.findings.noted()
    }

    /// Returns what was counted.
    #[must_use]
    pub const fn tally(&self) -> &Tally {
        &self.facts.tally
    }

    /// Judges the next event; `index` is its place in the order that checkers compare.
    ///
    /// An open double-holder is a finding once its overlap ends, at the latest at the end.
    #[inline]
    pub fn event(&mut self, index: u32, event: &Event) {
        self.last = index;
        if self.is_watched {
            self.watch(index, event);
        }
        self.judge(Now { index, at: event.at }, &event.what);
    }

    /// Lets the clocks of the waiting threads run, and the checkers of one's own see the event.
    #[cold]
    fn watch(&mut self, index: u32, event: &Event) {
        if self.unbounded_wait.is_on() {
            self.unbounded_wait.advance(&self.facts, event.at);
        }
        for own in &mut self.own {
            own.event(index, event, &mut self.findings);
        }
    }

    /// Ends the run: what is still open is judged as of `at`.
    pub fn end(&mut self, at: Instant) {
        let now = Now { index: self.last, at };
        if self.double_holder.is_open() {
            self.double_holder.end(&self.facts, now, &mut self.findings);
        }
        if self.facts.waiting > 0 {
            if self.unbounded_wait.is_on() {
                self.unbounded_wait.advance(&self.facts, at);
                self.unbounded_wait.end(&self.facts, now, &mut self.findings);
            }
            deadlock::end(&self.facts, now, &mut self.findings);
        }
        if self.facts.has_keys() {
            orphan_no_ttl::end(&self.facts, now, &mut self.findings);
            ghost_hold::end(&mut self.facts, now, &mut self.findings);
        }
        for own in &mut self.own {
            own.end(at, &mut self.findings);
        }
        self.findings.sort();
    }

    #[inline]
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the rarer events have a match of their own"
    )]
    fn judge(&mut self, now: Now, what: &What) {
        match *what {
            What::AcquireInvoked { thread, lock } => self.asked(now, thread, lock),
            What::Acquired { thread, grant, lock, token } => {
                self.acquired(now, thread, grant, lock, token);
            }
            What::Refused { thread, grant, lock } => {
                self.refused(now, thread, grant, lock);
            }
            What::AcquireUnknown { thread, grant, lock } => {
                self.facts.tally.unknown += 1;
                self.facts.give_up(thread, grant, lock);
            }
            What::AcquireAbandoned { thread, .. } => self.stop_asking(now, thread),
            What::ReleaseInvoked { grant } => {
                self.facts.tally.releases += 1;
                self.disbelieve(now, grant);
            }
            What::Lost { grant } => {
                self.facts.tally.losses += 1;
                self.disbelieve(now, grant);
            }
            What::Step { grant } => {
                let is_contended = self.double_holder.is_open();
                double_run::step(&mut self.facts, now, grant, is_contended, &mut self.findings);
            }
            What::KeySet { server, lock, by, owner, deadline, how, commits } => {
                if commits {
                    self.facts.commit(now, by, lock);
                }
                let key = Key { server, owner: by, since: now.at, deadline };
                self.key_set(now, lock, owner, how, key);
            }
            What::KeyGone { server, lock, by, owner, how } => {
                self.key_gone(now, [by, owner], server, lock, how);
            }
            What::Accessed { resource, grant, token, job, access, outcome, checked, regressed } => {
                let access = Access {
                    resource,
                    grant,
                    token,
                    job,
                    is_write: access == Direction::Write,
                    regressed: checked & regressed,
                };
                self.accessed(now, access, outcome);
            }
            What::ReleaseDone { .. } => {}
            _ => self.disturbed(now, what),
        }
    }

    /// Handles faults, recoveries and what is nobody's business here.
    #[cold]
    #[expect(clippy::wildcard_enum_match_arm, reason = "the other events change no fact")]
    fn disturbed(&mut self, now: Now, what: &What) {
        let facts = &mut self.facts;
        match *what {
            What::Paused { process, until } => set_until(facts, process, until),
            What::Resumed { process } => set_until(facts, process, Instant::ZERO),
            What::Stalled { thread, until } => facts.threads[thread.index()].until = until,
            What::Unstalled { thread } => facts.threads[thread.index()].until = Instant::ZERO,
            What::Crashed { process } => self.crashed(now, process),
            What::Restarted { process } => {
                for thread in facts.threads.iter_mut().filter(|thread| thread.process == process) {
                    thread.finished = false;
                }
            }
            What::Finished { thread } => {
                facts.threads[thread.index()].finished = true;
                self.stop_asking(now, thread);
            }
            What::Promoted { server } => {
                for (lock, rules) in facts.locks.iter_mut().zip(&facts.rules.locks) {
                    if !rules.independent && rules.servers.contains(&server) {
                        lock.master = Some(server);
                    }
                }
            }
            What::DataLost { server } => {
                ghost_hold::data_lost(facts, now, server, &mut self.findings)
            }
            What::ServerClock { server, by } => ghost_hold::clock_stepped(facts, server, by),
            What::Healed => {
                self.unbounded_wait.start(now.at);
                self.is_watched = true;
            }
            _ => {}
        }
    }

    #[inline]
    fn asked(&mut self, now: Now, thread: ThreadId, lock: LockId) {
        if self.unbounded_wait.is_on() && self.facts.threads[thread.index()].waits != Some(lock) {
            self.unbounded_wait.stopped(&self.facts, now, thread, &mut self.findings);
            self.unbounded_wait.asked(thread);
        }
        self.facts.ask(now, thread, lock);
    }

    #[inline]
    fn acquired(&mut self, now: Now, thread: ThreadId, id: GrantId, lock: LockId, token: Token) {
        self.stop_asking(now, thread);
        let Some(ord) = self.facts.believe(now, thread, id, lock, token) else {
            return;
        };
        self.facts.tally.acquisitions += 1;
        if !self.facts.ties(now).is_empty() {
            double_run::tied(&mut self.facts, now, id, &mut self.findings);
            late_write::tied(&self.facts, now, id, &mut self.findings);
        }
        let index = lock.index();
        let lock = &self.facts.locks[index];
        if !lock.believers.is_empty() {
            self.double_holder.acquired(&self.facts, id);
        }
        if token_regression::is_suspect(lock, ord, token) {
            token_regression::acquired(&self.facts, now, id, &mut self.findings);
        }
        let (lock, tally) = (&mut self.facts.locks[index], &mut self.facts.tally);
        takeover::acquired(lock, tally, now);
        token_regression::note(lock, id, token);
        lock.believers.push(id);
        if ord >= lock.newest_ord {
            lock.newest = id;
            lock.newest_ord = ord;
        }
    }

    #[inline]
    fn refused(&mut self, now: Now, thread: ThreadId, grant: GrantId, lock: LockId) {
        self.facts.tally.refusals += 1;
        if self.facts.locks[lock.index()].unknown > 0 {
            self_block::refused(&mut self.facts, now, thread, lock, &mut self.findings);
        }
        if self.facts.rules.locks[lock.index()].independent {
            // Some servers may have accepted what others refused.
            self.facts.give_up(thread, grant, lock);
        }
    }

    #[inline]
    fn disbelieve(&mut self, now: Now, id: GrantId) {
        if self.facts.disbelieve(now, id) && self.double_holder.is_open() {
            self.double_holder.disbelieved(&self.facts, now, id, &mut self.findings);
        }
    }

    #[inline]
    fn stop_asking(&mut self, now: Now, thread: ThreadId) {
        if self.unbounded_wait.is_on() {
            self.unbounded_wait.stopped(&self.facts, now, thread, &mut self.findings);
        }
        self.facts.stop_asking(thread);
    }

    fn crashed(&mut self, now: Now, process: ProcessId) {
        for lock in 0..self.facts.locks.len() {
            let mut place = 0;
            while let Some(id) = self.facts.locks[lock].believers.get(place).copied() {
                let thread = self.facts.grant(id).thread;
                if self.facts.threads[thread.index()].process == process {
                    self.disbelieve(now, id);
                    takeover::crashed(&mut self.facts, now, lock);
                } else {
                    place += 1;
                }
            }
        }
        let facts = &mut self.facts;
        for index in 0..facts.threads.len() {
            let thread = &mut facts.threads[index];
            if thread.process == process {
                thread.owner += 1 << 16;
                thread.until = Instant::ZERO;
                facts.waiting -= u32::from(thread.waits.is_some());
                thread.waits = None;
            }
        }
        if let Some(process) = facts.processes.get_mut(process.index()) {
            process.until = Instant::ZERO;
        }
    }

    #[inline]
    fn key_set(&mut self, now: Now, id: LockId, owner: GrantId, how: How, mut key: Key) {
        if owner != key.owner && owner != GrantId::NONE {
            foreign_renew::key_set(
                &self.facts,
                now,
                [key.owner, owner],
                key.server,
                id,
                how,
                &mut self.findings,
            );
        }
        let keeps = how == How::Extend || (how == How::Restore && key.owner == GrantId::NONE);
        if keeps && owner != GrantId::NONE {
            key.owner = owner;
        }
        let lock = &mut self.facts.locks[id.index()];
        lock.keyed = true;
        let Some(place) = lock.key_mut(key.server) else {
            lock.keys.push(key);
            return;
        };
        if place.owner == key.owner && how != How::Create {
            key.since = place.since;
        }
        let before = std::mem::replace(place, key);
        if before.owner != GrantId::NONE && (before.owner != key.owner || how == How::Create) {
            ghost_hold::ended(&mut self.facts, now, id, &before, false, &mut self.findings);
        }
    }

    #[inline]
    fn key_gone(
        &mut self,
        now: Now,
        [by, owner]: [GrantId; 2],
        at: ServerId,
        id: LockId,
        how: How,
    ) {
        if by != owner {
            foreign_release::key_gone(
                &self.facts,
                now,
                [by, owner],
                at,
                id,
                how,
                &mut self.findings,
            );
        }
        let lock = &mut self.facts.locks[id.index()];
        let Some(place) = lock.key_mut(at) else {
            return;
        };
        let before = *place;
        place.owner = GrantId::NONE;
        place.deadline = Instant::NEVER;
        let is_own = how == How::Delete && by == before.owner;
        let is_soon = now.at.since(before.since) <= lock.ghost_limit;
        if before.owner != GrantId::NONE && !(is_own && is_soon) {
            ghost_hold::ended(&mut self.facts, now, id, &before, is_own, &mut self.findings);
        }
    }

    #[inline]
    fn accessed(&mut self, now: Now, access: Access, outcome: AccessOutcome) {
        if outcome != AccessOutcome::Accepted {
            self.denied(now, access, outcome);
            return;
        }
        let (facts, findings) = (&mut self.facts, &mut self.findings);
        facts.tally.accesses += 1;
        if access.regressed {
            fence_regression::accepted(facts, now, access, findings);
        }
        let Some(grant) = facts.grants.get_mut(access.grant.index()) else {
            return;
        };
        if !grant.is_granted() {
            return;
        }
        if access.resource.index() >= facts.resources.len() {
            facts.resources.resize_with(access.resource.index() + 1, Resource::default);
        }
        let resource = &mut facts.resources[access.resource.index()];
        let successor = resource.place(now, access, grant);
        if !access.is_write {
            self.lost_update.read(grant, now, access);
            if let Some(successor) = successor {
                stale_read::after(facts, now, access, successor, findings);
            }
            return;
        }
        let lost = self.lost_update.write(resource, now, access, grant);
        let is_late = grant.ord < facts.locks[grant.lock.index()].newest_ord;
        let first = self.duplicate_effect.first(now, access);
        facts.tie(now, access.grant, Some(access.resource));
        if is_late | lost.is_some() | first.is_some() {
            if let Some(other) = lost {
                lost_update::report(facts, now, access, other, findings);
            }
            if is_late {
                late_write::after(facts, now, access, findings);
            }
            if let Some(successor) = successor {
                stale_write::after(facts, now, access, successor, findings);
            }
            if let Some(first) = first {
                duplicate_effect::report(facts, now, access, first, findings);
            }
        }
    }

    #[cold]
    fn denied(&mut self, now: Now, access: Access, outcome: AccessOutcome) {
        if outcome == AccessOutcome::Refused {
            save::refused(&mut self.facts, now, access, &mut self.findings);
            false_refusal::refused(&mut self.facts, now, access, &mut self.findings);
        } else {
            self.facts.tally.deduplicated += 1;
        }
    }
}

fn set_until(facts: &mut Facts, process: ProcessId, until: Instant) {
    if let Some(process) = facts.processes.get_mut(process.index()) {
        process.until = until;
    }
}
