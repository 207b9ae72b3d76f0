//! lost-update: a write overwrote another grant's write that it had not read.

use fencepost_history::{GrantId, ResourceId};

use super::Entry;
use crate::facts::{Access, Facts, Grant, NO_EVENT, Now};
use crate::order::Resource;
use crate::{Findings, Kind};

pub(crate) const ENTRY: Entry = Entry {
    kind: Kind::LostUpdate,
    definition: "Between an accepted read of a grant and a later accepted write of it at the same \
                 resource lies an accepted write of another grant.",
    companions: &[Kind::StaleWrite, Kind::LateWrite, Kind::DoubleRun],
};

/// The first read of one more resource by a grant.
#[derive(Clone, Copy, Debug)]
struct Read {
    resource: ResourceId,
    event: u32,
    next: u32,
}

/// The first reads that do not fit into the table of grants.
#[derive(Clone, Debug, Default)]
pub(crate) struct LostUpdate {
    reads: Vec<Read>,
}

impl LostUpdate {
    pub(crate) fn reset(&mut self) {
        self.reads.clear();
    }

    /// Notes an accepted read.
    #[inline(always)]
    pub(crate) fn read(&mut self, grant: &mut Grant, now: Now, access: Access) {
        if grant.first_read == NO_EVENT {
            grant.first_read = now.index;
            grant.read_of = access.resource;
        } else if grant.read_of != access.resource {
            self.read_another(grant, now, access);
        }
    }

    #[cold]
    fn read_another(&mut self, grant: &mut Grant, now: Now, access: Access) {
        if self.first_read(access, grant) == NO_EVENT {
            let place = u32::try_from(self.reads.len()).unwrap_or(NO_EVENT);
            let next = std::mem::replace(&mut grant.more_reads, place);
            self.reads.push(Read { resource: access.resource, event: now.index, next });
        }
    }

    /// Notes an accepted write; returns the last foreign one if it came after a read.
    #[inline(always)]
    pub(crate) fn write(
        &self,
        resource: &mut Resource,
        now: Now,
        access: Access,
        grant: &Grant,
    ) -> Option<(GrantId, u32)> {
        let [last, other] = resource.writes;
        let foreign = if last.0 == access.grant { other } else { last };
        resource.writes = [(access.grant, now.index), foreign];
        let is_suspect = grant.first_read < foreign.1;
        (is_suspect && self.first_read(access, grant) < foreign.1).then_some(foreign)
    }

    /// Returns the first accepted read of this resource by this grant, or no event.
    #[cold]
    fn first_read(&self, access: Access, grant: &Grant) -> u32 {
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

#[cold]
pub(crate) fn report(
    facts: &Facts,
    now: Now,
    access: Access,
    (other, written): (GrantId, u32),
    findings: &mut Findings,
) {
    let mut finding = facts.pair(Kind::LostUpdate, now, [access.grant, other]);
    finding.resource = Some(access.resource);
    finding.first_event = written;
    findings.add(finding);
}
