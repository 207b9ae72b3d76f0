//! lost-update: a write overwrote another grant's write that it had not read.

use fencepost_history::{GrantId, ResourceId};

use super::Entry;
use crate::facts::{Access, Facts, NO_EVENT, Now};
use crate::{Findings, Kind};

pub(super) const ENTRY: Entry = Entry {
    kind: Kind::LostUpdate,
    definition: "Between an accepted read of a grant and a later accepted write of it at the same \
                 resource lies an accepted write of another grant.",
    companions: &[Kind::StaleWrite, Kind::LateWrite, Kind::DoubleRun],
};

/// The last write at a resource, and the last one that another grant made.
#[derive(Clone, Copy, Debug, Default)]
struct Writes {
    last: (GrantId, u32),
    other: (GrantId, u32),
}

/// The first read of one more resource by a grant.
#[derive(Clone, Copy, Debug)]
struct Read {
    resource: ResourceId,
    event: u32,
    next: u32,
}

/// The writes by resource, and the first reads that do not fit into the table of grants.
#[derive(Clone, Debug, Default)]
pub(super) struct LostUpdate {
    resources: Vec<Writes>,
    reads: Vec<Read>,
}

impl LostUpdate {
    pub(super) fn reset(&mut self) {
        self.resources.clear();
        self.reads.clear();
    }

    #[inline(always)]
    pub(super) fn accepted(
        &mut self,
        facts: &mut Facts,
        now: Now,
        access: &Access,
        findings: &mut Findings,
    ) {
        if access.grant == GrantId::NONE {
            return;
        }
        if !access.is_write {
            self.read(facts, now, access);
            return;
        }
        let index = access.resource.index();
        if index >= self.resources.len() {
            self.resources.resize(index + 1, Writes::default());
        }
        let writes = self.resources[index];
        let is_mine = writes.last.0 == access.grant;
        let (other, written) = if is_mine { writes.other } else { writes.last };
        if other != GrantId::NONE {
            let read = self.first_read(facts, access);
            if read < written {
                let mut finding = facts.pair(Kind::LostUpdate, now, [access.grant, other]);
                finding.resource = Some(access.resource);
                finding.first_event = written;
                findings.add(finding);
            }
        }
        let last = (access.grant, now.index);
        self.resources[index] =
            Writes { last, other: if is_mine { writes.other } else { writes.last } };
    }

    #[inline(always)]
    fn read(&mut self, facts: &mut Facts, now: Now, access: &Access) {
        let grant = facts.grant_mut(access.grant);
        if grant.first_read == NO_EVENT {
            grant.first_read = now.index;
            grant.read_of = access.resource;
        } else if grant.read_of != access.resource {
            self.read_another(facts, now, access);
        }
    }

    fn read_another(&mut self, facts: &mut Facts, now: Now, access: &Access) {
        if self.first_read(facts, access) == NO_EVENT {
            let place = u32::try_from(self.reads.len()).unwrap_or(NO_EVENT);
            let next = std::mem::replace(&mut facts.grant_mut(access.grant).more_reads, place);
            self.reads.push(Read { resource: access.resource, event: now.index, next });
        }
    }

    /// Returns the first accepted read of this resource by this grant, or no event.
    fn first_read(&self, facts: &Facts, access: &Access) -> u32 {
        let grant = facts.grant(access.grant);
        if grant.first_read == NO_EVENT || grant.read_of == access.resource {
            return grant.first_read;
        }
        let mut place = grant.more_reads;
        while let Some(read) = self.reads.get(place as usize) {
            if read.resource == access.resource {
                return read.event;
            }
            place = read.next;
        }
        NO_EVENT
    }
}
