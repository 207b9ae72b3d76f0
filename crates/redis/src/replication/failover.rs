//! The coordinated failover of the command FAILOVER: a master hands over and loses nothing.
//!
//! Writes pause at the master, a replica catches up, the master becomes that one's replica and
//! makes it a master by its request (`src/replication.c:failoverCommand`, `updateFailoverStatus`).

use thiserror::Error;

use super::{Peer, Replication, Streamed};

/// A failover that goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Failover {
    target: Option<Peer>,
    /// The wall time in milliseconds at which it is given up, or forced.
    until: Option<u64>,
    is_forced: bool,
    /// Whether this server follows the target and has asked it to take over.
    is_handing_over: bool,
}

impl Failover {
    pub(super) const fn has_timeout(self) -> bool {
        self.until.is_some()
    }
}

/// Why a failover cannot begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
pub enum FailoverError {
    /// One goes on.
    #[error("FAILOVER already in progress.")]
    InProgress,
    /// The server is a replica.
    #[error("FAILOVER is not valid when server is a replica.")]
    Replica,
    /// Nobody follows it.
    #[error("FAILOVER requires connected replicas.")]
    NoReplicas,
    /// The target does not follow it.
    #[error("FAILOVER target HOST and PORT is not a replica.")]
    NotAReplica,
    /// The target's full copy is on its way.
    #[error("FAILOVER target replica is not online.")]
    NotOnline,
}

impl<W: Streamed> Replication<W> {
    /// Begins to hand over to this replica, or to whichever has everything first. The caller holds
    /// writes back from now on, until [`Replication::fails_over`] is false.
    ///
    /// At the wall time `until` it is given up, or done anyway if it is forced.
    ///
    /// # Errors
    ///
    /// Gives the reason if there is nobody to hand over to.
    pub fn begin_failover(
        &mut self,
        target: Option<Peer>,
        until: Option<u64>,
        is_forced: bool,
    ) -> Result<(), FailoverError> {
        if self.failover.is_some() {
            return Err(FailoverError::InProgress);
        }
        if self.is_replica() {
            return Err(FailoverError::Replica);
        }
        if self.links.is_empty() {
            return Err(FailoverError::NoReplicas);
        }
        if let Some(target) = target {
            let link = self.links.iter().find(|link| link.peer == target);
            if !link.ok_or(FailoverError::NotAReplica)?.is_online {
                return Err(FailoverError::NotOnline);
            }
        }
        self.failover = Some(Failover { target, until, is_forced, is_handing_over: false });
        Ok(())
    }

    /// Tells whether a failover goes on.
    pub const fn fails_over(&self) -> bool {
        self.failover.is_some()
    }

    /// Tells whether this server has asked its target to take over.
    pub fn hands_over(&self) -> bool {
        self.failover.is_some_and(|failover| failover.is_handing_over)
    }

    /// Looks whether the target has everything; called at the end of each turn. If so, this server
    /// follows it from now on: true, and the caller treats it as a demotion.
    pub fn advance_failover(&mut self, wall_ms: u64) -> bool {
        let Some(failover) = self.failover.filter(|failover| !failover.is_handing_over) else {
            return false;
        };
        let is_late = failover.until.is_some_and(|until| until <= wall_ms);
        if is_late && !failover.is_forced {
            self.abort_failover(wall_ms);
            return false;
        }
        let offset = self.offset;
        let mut links = self.links.iter().filter(|link| link.acknowledged == offset);
        let ready = match failover.target {
            Some(target) if is_late => Some(target),
            Some(target) => links.find(|link| link.peer == target).map(|link| link.peer),
            None => links.next().map(|link| link.peer),
        };
        let Some(target) = ready else { return false };
        self.failover = Some(Failover { is_handing_over: true, ..failover });
        self.follow(target, wall_ms);
        true
    }

    /// Ends a failover without result: `FAILOVER ABORT`. If the target had been asked to take over,
    /// this server becomes a master again, under a new id. False if none went on.
    pub fn abort_failover(&mut self, wall_ms: u64) -> bool {
        let Some(failover) = self.failover.take() else { return false };
        if failover.is_handing_over {
            self.promote(wall_ms);
        }
        true
    }

    /// The target has taken over.
    pub(super) fn end_handover(&mut self) {
        if self.hands_over() {
            self.failover = None;
        }
    }
}
