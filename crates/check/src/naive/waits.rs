//! What the naive judge says about waits.

use std::collections::BTreeSet;

use fencepost_history::{Duration, GrantId, Instant, LockId, ProcessId, ThreadId, What};

use super::{Found, Run, pair_of};
use crate::Kind;

impl Run<'_> {
    fn process(&self, thread: ThreadId) -> ProcessId {
        self.rules.threads[thread.index()]
    }

    fn threads(&self) -> impl Iterator<Item = ThreadId> {
        let count = u16::try_from(self.rules.threads.len()).expect("thread ids are 16 bits wide");
        (0..count).map(ThreadId)
    }

    /// Returns whether a thread has finished, as of a position.
    pub(super) fn is_finished(&self, id: ThreadId, place: usize) -> bool {
        let last = self.events[..place].iter().rev().find_map(|event| match event.what {
            What::Finished { thread } if thread == id => Some(true),
            What::Restarted { process } if process == self.process(id) => Some(false),
            _ => None,
        });
        last == Some(true)
    }

    /// Returns until when a thread is stopped as of a position; zero if it runs.
    fn stopped_until(&self, id: ThreadId, place: usize) -> Instant {
        let home = self.process(id);
        let before = || self.events[..place].iter().rev();
        let paused = before().find_map(|event| match event.what {
            What::Paused { process, until } if process == home => Some(until),
            What::Resumed { process } | What::Crashed { process } if process == home => {
                Some(Instant::ZERO)
            }
            _ => None,
        });
        let stalled = before().find_map(|event| match event.what {
            What::Stalled { thread, until } if thread == id => Some(until),
            What::Unstalled { thread } if thread == id => Some(Instant::ZERO),
            What::Crashed { process } if process == home => Some(Instant::ZERO),
            _ => None,
        });
        paused.max(stalled).unwrap_or(Instant::ZERO)
    }

    /// Returns since which position a thread waits for which lock, as of a position.
    fn waits(&self, id: ThreadId, place: usize) -> Option<(usize, LockId)> {
        let mut waits: Option<(usize, LockId)> = None;
        for (since, event) in self.events[..place].iter().enumerate() {
            match event.what {
                What::AcquireInvoked { thread, lock } if thread == id => {
                    waits = waits.filter(|(_, other)| *other == lock).or(Some((since, lock)));
                }
                What::Acquired { thread, .. }
                | What::AcquireAbandoned { thread, .. }
                | What::Finished { thread }
                    if thread == id =>
                {
                    waits = None;
                }
                What::Crashed { process } if process == self.process(id) => waits = None,
                _ => {}
            }
        }
        waits
    }

    /// Returns until when a lock is held, as of a position, by somebody who can go on.
    fn held_until(&self, lock: LockId, place: usize) -> Instant {
        let keyed = self.events[..place]
            .iter()
            .any(|event| matches!(event.what, What::KeySet { lock: other, .. } if other == lock));
        let rules = &self.rules.locks[lock.index()];
        let needed = if rules.independent { usize::from(rules.quorum) } else { 1 };
        let episodes = self.episodes();
        let mut held = Instant::ZERO;
        for grant in self.grants.iter().filter(|grant| grant.lock == lock) {
            let able = !self.is_finished(grant.thread, place)
                && self.stopped_until(grant.thread, place) != Instant::NEVER;
            if !able || grant.b >= place || grant.e < place {
                continue;
            }
            let mut lives: Vec<Instant> = episodes
                .iter()
                .filter(|key| key.owner == grant.id && key.from < place && key.to >= place)
                .filter(|key| key.lock == lock && self.decides(lock, key.server, place))
                .map(|key| key.deadline(place))
                .collect();
            lives.sort_unstable();
            let enough = lives.iter().rev().nth(needed - 1).copied();
            let until = if keyed { enough } else { Some(Instant::NEVER) };
            held = held.max(until.unwrap_or(Instant::ZERO));
        }
        held
    }

    /// unbounded-wait.
    pub(super) fn long_waits(&self, found: &mut BTreeSet<Found>) {
        let healed = self.events.iter().position(|event| event.what == What::Healed);
        let Some(healed) = healed else { return };
        for id in self.threads() {
            let mut clock = Duration::ZERO;
            for place in healed + 1..=self.events.len() {
                let Some((since, lock)) = self.waits(id, place) else { continue };
                if since + 1 == place {
                    clock = Duration::ZERO;
                }
                if self.stopped_until(id, place) == Instant::ZERO {
                    let from = self.time(place - 1).max(self.held_until(lock, place));
                    clock += self.time(place).since(from);
                }
                let crash = What::Crashed { process: self.process(id) };
                let crashes = self.events.get(place).is_some_and(|event| event.what == crash);
                let goes_on = place < self.events.len()
                    && self.waits(id, place + 1).is_some_and(|next| next.0 == since);
                if !goes_on && !crashes && clock > self.rules.wait_bound {
                    let wait = pair_of(Kind::UnboundedWait, [GrantId::NONE; 2]);
                    found.insert(Found { waits: Some(id), ..wait });
                }
            }
        }
    }

    /// deadlock.
    pub(super) fn circles(&self, found: &mut BTreeSet<Found>) {
        for id in self.threads() {
            let mut circle = vec![id];
            let mut first = None;
            while let Some(blocker) = self.blocked_by(circle[circle.len() - 1]) {
                first = first.or(Some(blocker.id));
                if circle.contains(&blocker.thread) {
                    if blocker.thread == id && circle.iter().min() == Some(&id) {
                        let grants = [first.unwrap_or(GrantId::NONE), GrantId::NONE];
                        found.insert(Found { waits: Some(id), ..pair_of(Kind::Deadlock, grants) });
                    }
                    break;
                }
                circle.push(blocker.thread);
            }
        }
    }

    /// Returns the grant for whose key a thread waits at the end, if nothing ends that hold.
    fn blocked_by(&self, id: ThreadId) -> Option<&super::Grant> {
        let last = self.events.len();
        let (_, lock) = self.waits(id, last)?;
        let believed = |grant: &&super::Grant| grant.lock == lock && grant.e == last;
        let episodes = self.episodes();
        if episodes.iter().all(|key| key.lock != lock) {
            return self.grants.iter().find(believed);
        }
        let ttl = self.rules.locks[lock.index()].ttl;
        self.grants.iter().filter(believed).find(|grant| {
            episodes.iter().any(|key| {
                let deadline = key.deadline(last);
                let is_renewed = deadline > self.end && self.time(grant.b) + ttl < self.end;
                key.to == last
                    && key.lock == lock
                    && key.owner == grant.id
                    && self.decides(lock, key.server, last)
                    && (deadline == Instant::NEVER || is_renewed)
            })
        })
    }
}
