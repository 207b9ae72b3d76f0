//! What is known of each resource: the newest grant of each lock that has been there, and the
//! last writes.

use fencepost_history::{GrantId, Instant, LockId};

use crate::facts::{Access, Grant, Now};

/// The accepted access that later ones are compared with.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Latest {
    pub(crate) at: Instant,
    pub(crate) grant: GrantId,
    pub(crate) event: u32,
    ord: u32,
    lock: LockId,
}

/// One resource.
#[derive(Clone, Debug, Default)]
pub(crate) struct Resource {
    /// The first access of the newest grant, for the first lock that was used here.
    latest: Latest,
    /// The same for the further locks.
    others: Vec<Latest>,
    /// The last write, and the last one that another grant made.
    pub(crate) writes: [(GrantId, u32); 2],
}

impl Resource {
    pub(crate) fn reset(&mut self) {
        self.latest = Latest::default();
        self.others.clear();
        self.writes = [(GrantId::NONE, 0); 2];
    }

    /// Places an accepted access of a grant; returns the earlier access of a newer grant.
    #[inline(always)]
    pub(crate) fn place(&mut self, now: Now, access: Access, grant: &Grant) -> Option<Latest> {
        if self.latest.grant == access.grant {
            return None;
        }
        let (lock, ord) = (grant.lock, grant.ord);
        if self.latest.grant == GrantId::NONE || (self.latest.lock == lock && self.latest.ord < ord)
        {
            self.latest = Latest { at: now.at, grant: access.grant, event: now.index, ord, lock };
            return None;
        }
        self.place_behind(now, access.grant, lock, ord)
    }

    #[cold]
    fn place_behind(&mut self, now: Now, grant: GrantId, lock: LockId, ord: u32) -> Option<Latest> {
        let mine = Latest { at: now.at, grant, event: now.index, ord, lock };
        if self.latest.lock == mine.lock {
            return Some(self.latest);
        }
        let Some(latest) = self.others.iter_mut().find(|latest| latest.lock == mine.lock) else {
            self.others.push(mine);
            return None;
        };
        if mine.ord < latest.ord {
            return Some(*latest);
        }
        if mine.ord > latest.ord {
            *latest = mine;
        }
        None
    }
}
