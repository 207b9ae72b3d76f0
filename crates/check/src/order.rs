//! The order of accesses at each resource: the newest grant of each lock that has been there.

use fencepost_history::{GrantId, Instant, LockId};

use crate::facts::{Access, Facts, Now};

/// The accepted access that later ones are compared with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Latest {
    pub(crate) grant: GrantId,
    pub(crate) event: u32,
    pub(crate) at: Instant,
    lock: LockId,
    ord: u32,
}

/// For each resource and lock, the first access of the newest grant.
#[derive(Clone, Debug, Default)]
pub(crate) struct ResourceOrder {
    resources: Vec<Vec<Latest>>,
}

impl ResourceOrder {
    pub(crate) fn reset(&mut self) {
        for resource in &mut self.resources {
            resource.clear();
        }
    }

    /// Places an accepted access of a grant; returns the earlier access of a newer grant.
    #[inline(always)]
    pub(crate) fn accepted(&mut self, facts: &Facts, now: Now, access: &Access) -> Option<Latest> {
        let index = access.resource.index();
        if index >= self.resources.len() {
            self.grow(index);
        }
        let grant = &facts.grants[access.grant.index()];
        let (lock, ord) = (grant.lock, grant.ord);
        let mine = Latest { grant: access.grant, event: now.index, at: now.at, lock, ord };
        let resource = &mut self.resources[index];
        let Some(latest) = resource.iter_mut().find(|latest| latest.lock == lock) else {
            resource.push(mine);
            return None;
        };
        if ord < latest.ord {
            return Some(*latest);
        }
        if ord > latest.ord {
            *latest = mine;
        }
        None
    }

    #[inline(never)]
    fn grow(&mut self, index: usize) {
        self.resources.resize_with(index + 1, || Vec::with_capacity(2));
    }
}
