//! What the naive judge says about keys: who left them, who believes in them.

use std::collections::BTreeSet;

use fencepost_history::{GrantId, How, Instant, LockId, ServerId, What};

use super::{Found, Run, pair_of};
use crate::Kind;

/// The time for which a key at one server was one grant's.
#[derive(Clone, Debug)]
pub(super) struct Episode {
    pub(super) lock: LockId,
    pub(super) server: ServerId,
    pub(super) owner: GrantId,
    /// The positions of its first event and of the one that ends it.
    pub(super) from: usize,
    pub(super) to: usize,
    /// Whether its own grant's command deleted it.
    released: bool,
    /// Its deadlines, each with the position since which it stands.
    deadlines: Vec<(usize, Instant)>,
}

impl Episode {
    pub(super) fn deadline(&self, place: usize) -> Instant {
        let known = self.deadlines.iter().rev().find(|(since, _)| *since < place);
        known.map_or(Instant::ZERO, |(_, deadline)| *deadline)
    }
}

impl Run<'_> {
    /// Returns all episodes of all keys; one that lasts ends behind the last event.
    pub(super) fn episodes(&self) -> Vec<Episode> {
        let mut episodes: Vec<Episode> = Vec::new();
        let last = self.events.len();
        for (place, event) in self.events.iter().enumerate() {
            match event.what {
                What::KeySet { server, lock, by, owner, deadline, how, .. } => {
                    let stays = how == How::Extend || (how == How::Restore && by == GrantId::NONE);
                    let new_owner = if stays && owner != GrantId::NONE { owner } else { by };
                    let open = episodes
                        .iter_mut()
                        .find(|open| open.to == last && open.lock == lock && open.server == server);
                    match open {
                        Some(open) if open.owner == new_owner && how != How::Create => {
                            open.deadlines.push((place, deadline));
                            continue;
                        }
                        Some(open) => open.to = place,
                        None => {}
                    }
                    if new_owner != GrantId::NONE {
                        episodes.push(Episode {
                            lock,
                            server,
                            owner: new_owner,
                            from: place,
                            to: last,
                            released: false,
                            deadlines: vec![(place, deadline)],
                        });
                    }
                }
                What::KeyGone { server, lock, by, how, .. } => {
                    for open in episodes.iter_mut().filter(|open| {
                        open.to == last && open.lock == lock && open.server == server
                    }) {
                        open.to = place;
                        open.released = how == How::Delete && by == open.owner;
                    }
                }
                What::DataLost { server } => {
                    for open in &mut episodes {
                        if open.to == last && open.server == server {
                            open.to = place;
                        }
                    }
                }
                What::ServerClock { server, by } => {
                    for open in &mut episodes {
                        let deadline = open.deadline(place);
                        let lives = open.to == last && open.server == server;
                        if lives && deadline != Instant::NEVER {
                            let moved = i128::from(deadline.as_nanos()) - i128::from(by);
                            let nanos = u64::try_from(moved.max(0)).unwrap_or(u64::MAX);
                            let moved = Instant::from_nanos(nanos.min(u64::MAX - 1));
                            open.deadlines.push((place, moved));
                        }
                    }
                }
                _ => {}
            }
        }
        episodes
    }

    /// Returns whether a server's key decides as of a position: a replica's does not.
    pub(super) fn decides(&self, lock: LockId, server: ServerId, place: usize) -> bool {
        let rules = &self.rules.locks[lock.index()];
        let promoted = self.events[..place].iter().rev().find_map(|event| match event.what {
            What::Promoted { server } if rules.servers.contains(&server) => Some(server),
            _ => None,
        });
        let master = promoted.or(rules.servers.first().copied());
        rules.independent || master.is_none_or(|master| master == server)
    }

    /// orphan-no-ttl, ghost-hold.
    pub(super) fn left_keys(&self, found: &mut BTreeSet<Found>) {
        for episode in self.episodes() {
            let pair = [episode.owner, GrantId::NONE];
            let grant = self.grant(episode.owner).filter(|grant| grant.b < episode.to);
            let deadline = episode.deadline(episode.to);
            if !self.decides(episode.lock, episode.server, episode.to) {
                continue;
            }
            if deadline == Instant::NEVER {
                let lasts = self.events.len();
                let held = grant.is_some_and(|grant| {
                    grant.e == lasts && !self.is_finished(grant.thread, lasts)
                });
                if episode.to == lasts && !held {
                    found.insert(pair_of(Kind::OrphanNoTtl, pair));
                }
                continue;
            }
            let from = match grant {
                Some(grant) if grant.e >= episode.to => continue,
                Some(grant) => self.time(grant.e.max(episode.from)),
                None => self.time(episode.from),
            };
            let to = self.time(episode.to).min(deadline);
            let bound = self.rules.locks[episode.lock.index()].ttl + self.rules.ghost_bound;
            let exceeds = to.since(from) > bound;
            if to > from && (!episode.released || exceeds) {
                found.insert(Found { note: !exceeds, ..pair_of(Kind::GhostHold, pair) });
            }
        }
    }

    /// self-block.
    pub(super) fn own_residue(&self, found: &mut BTreeSet<Found>) {
        let episodes = self.episodes();
        for (place, event) in self.events.iter().enumerate() {
            let What::Refused { thread, lock, .. } = event.what else { continue };
            for episode in &episodes {
                let owner = episode.owner;
                let unknown = What::AcquireUnknown { thread, grant: owner, lock };
                let refused = What::Refused { thread, grant: owner, lock };
                let is_independent = self.rules.locks[lock.index()].independent;
                let gave_up = self.events[..place]
                    .iter()
                    .any(|event| event.what == unknown || is_independent && event.what == refused);
                let granted = self.grant(owner).is_some_and(|grant| grant.b < place);
                let lives = episode.from < place
                    && place < episode.to
                    && episode.deadline(place) > self.time(place);
                if episode.lock == lock && gave_up && !granted && lives {
                    found.insert(pair_of(Kind::SelfBlock, [owner, GrantId::NONE]));
                }
            }
        }
    }
}
