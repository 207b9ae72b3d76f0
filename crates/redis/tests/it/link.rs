//! The connection of a replica to its master: bytes that travel, stall, or are lost.

use std::collections::VecDeque;

use fencepost_redis::{FromMaster, FromReplica, LinkId};

/// How long anything travels, in microseconds.
pub(crate) const DELAY: u64 = 100;

/// What the relay in front of a replica does.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Relay {
    /// It passes everything on.
    #[default]
    Passes,
    /// It holds bytes back; connections stay.
    Stalls,
    /// It breaks connections and refuses new ones.
    Cuts,
}

/// A connection. `None` among what travels is its end.
pub(crate) struct Link {
    pub(crate) id: LinkId,
    pub(crate) replica: String,
    pub(crate) master: String,
    /// Whether it goes through the replica's relay.
    pub(crate) is_relayed: bool,
    pub(crate) to_replica: VecDeque<(u64, Option<FromMaster>)>,
    pub(crate) to_master: VecDeque<(u64, Option<FromReplica>)>,
    /// Whether the replica's side is open.
    pub(crate) replica_open: bool,
    /// Whether the master's side is.
    pub(crate) master_open: bool,
}

impl Link {
    pub(crate) fn new(id: LinkId, replica: &str, master: &str, is_relayed: bool) -> Self {
        Self {
            id,
            replica: replica.into(),
            master: master.into(),
            is_relayed,
            to_replica: VecDeque::new(),
            to_master: VecDeque::new(),
            replica_open: true,
            master_open: true,
        }
    }

    /// The replica closes its side; what it had said before still arrives.
    pub(crate) fn close_replica(&mut self, now: u64) {
        if std::mem::take(&mut self.replica_open) {
            self.to_master.push_back((now + DELAY, None));
        }
    }

    /// The master closes its side.
    pub(crate) fn close_master(&mut self, now: u64) {
        if std::mem::take(&mut self.master_open) {
            self.to_replica.push_back((now + DELAY, None));
        }
    }
}
