//! The side of the replica: the link to its master, and changing sides.

use super::{
    Peer, Position, Replication, ReplicationId, StreamContent, StreamItem, Streamed, seconds,
};

/// How far a replica's link to its master is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MasterLink {
    /// There is none; a try follows.
    #[default]
    Connect,
    /// It has asked for a resync and waits for the answer.
    Asked,
    /// A full copy is on its way.
    Transfer,
    /// The stream flows.
    Connected,
}

/// What a replica says to its master when it connects: `PSYNC`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SyncRequest {
    /// What it has, if it has anything.
    pub position: Option<Position>,
    /// Who it is.
    pub peer: Peer,
    /// Whether the other shall become the master first: the end of a coordinated failover.
    pub failover: bool,
}

/// A replica's link to its master.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Upstream {
    master: Peer,
    link: MasterLink,
    /// The history that could be continued, if any (`cached_master`).
    continues: Option<ReplicationId>,
    /// The wall second of the last sign of life of the master.
    heard: i64,
    /// The wall second at which the link broke; none if it never was there.
    down_since: Option<i64>,
}

impl Upstream {
    pub(super) fn is_connected(&self) -> bool {
        self.link == MasterLink::Connected
    }

    pub(super) const fn continues(&self) -> bool {
        self.continues.is_some()
    }

    pub(super) const fn restored(&mut self, id: ReplicationId) {
        self.continues = Some(id);
    }

    pub(super) fn is_silent(&self, now: i64, timeout: i64) -> bool {
        self.link != MasterLink::Connect && now - self.heard > timeout
    }
}

impl<W: Streamed> Replication<W> {
    /// Becomes a replica of this master: `REPLICAOF`. The data stay until the resync, and what this
    /// server knows of its history is offered for a partial one. False if it follows that master
    /// already, and nothing happens.
    ///
    /// Its own replicas stay connected until it knows whether its history changes.
    pub fn follow(&mut self, master: Peer, wall_ms: u64) -> bool {
        if self.master() == Some(master) {
            return false;
        }
        self.begin_following(master, Some(self.id), wall_ms);
        true
    }

    /// Starts as a replica: it has nothing to offer.
    pub fn follow_from_start(&mut self, master: Peer, wall_ms: u64) {
        self.begin_following(master, None, wall_ms);
    }

    fn begin_following(&mut self, master: Peer, has: Option<ReplicationId>, wall_ms: u64) {
        let continues = match &self.upstream {
            Some(upstream) => upstream.continues,
            None => has,
        };
        self.open.clear();
        self.upstream = Some(Upstream {
            master,
            link: MasterLink::Connect,
            continues,
            heard: seconds(wall_ms),
            down_since: None,
        });
    }

    /// Becomes a master: `REPLICAOF NO ONE`. The history goes on under a new id; the old one is
    /// kept as the second, so that siblings can continue. Its replicas have to connect anew.
    /// Nothing happens at a master.
    pub fn promote(&mut self, wall_ms: u64) {
        if self.upstream.take().is_none() {
            return;
        }
        self.shift_id();
        self.drop_links(seconds(wall_ms));
    }

    fn shift_id(&mut self) {
        self.second = Some(Position { id: self.id, offset: self.offset });
        self.id = self.new_id();
    }

    /// Gives the master, at a replica.
    pub fn master(&self) -> Option<Peer> {
        self.upstream.as_ref().map(|upstream| upstream.master)
    }

    /// Gives how far the link to the master is; `None` at a master.
    pub fn master_link(&self) -> Option<MasterLink> {
        self.upstream.as_ref().map(|upstream| upstream.link)
    }

    /// Gives for how many wall seconds the link has been down, if it was ever up.
    pub fn down_for(&self, wall_ms: u64) -> Option<i64> {
        Some(seconds(wall_ms) - self.upstream.as_ref()?.down_since?)
    }

    /// Gives how many wall seconds ago the master was heard, while there is a link.
    pub fn heard_ago(&self, wall_ms: u64) -> Option<i64> {
        let upstream = self.upstream.as_ref()?;
        upstream.is_connected().then(|| seconds(wall_ms) - upstream.heard)
    }

    /// Tells whether a connection to the master should be tried: at once when a link breaks, and
    /// after each [`Replication::cron`].
    pub fn wants_connection(&self) -> bool {
        self.master_link() == Some(MasterLink::Connect)
    }

    /// There is a connection to the master; gives what to send on it.
    ///
    /// # Panics
    ///
    /// Panics at a master.
    pub fn connected(&mut self, me: Peer, wall_ms: u64) -> SyncRequest {
        let (offset, failover) = (self.offset, self.hands_over());
        let upstream = self.upstream.as_mut().expect("only a replica connects to a master");
        (upstream.link, upstream.heard) = (MasterLink::Asked, seconds(wall_ms));
        let position = upstream.continues.map(|id| Position { id, offset });
        SyncRequest { position, peer: me, failover }
    }

    /// The master continues the stream behind the offset sent, in this history.
    pub fn continued(&mut self, id: ReplicationId, wall_ms: u64) {
        let now = seconds(wall_ms);
        if id != self.id {
            // The master was promoted meanwhile: its old history is the one known here.
            self.second = Some(Position { id: self.id, offset: self.offset });
            self.id = id;
            self.drop_links(now);
        }
        if self.backlog.is_none() {
            self.open_backlog();
        }
        self.link_is_up(now);
    }

    /// A full copy comes: the data will be replaced, and nothing can be continued until then.
    pub fn transfer_begins(&mut self, wall_ms: u64) {
        if let Some(upstream) = &mut self.upstream {
            (upstream.link, upstream.heard) = (MasterLink::Transfer, seconds(wall_ms));
            upstream.continues = None;
        }
        self.end_handover();
    }

    /// The full copy has replaced the data, which are now those of this position. The replica then
    /// acknowledges that offset.
    pub fn loaded(&mut self, position: Position, wall_ms: u64) {
        let now = seconds(wall_ms);
        self.drop_links(now);
        (self.id, self.offset, self.second) = (position.id, position.offset, None);
        self.open_backlog();
        self.link_is_up(now);
    }

    fn link_is_up(&mut self, now: i64) {
        let id = self.id;
        if let Some(upstream) = &mut self.upstream {
            (upstream.link, upstream.heard) = (MasterLink::Connected, now);
            (upstream.continues, upstream.down_since) = (Some(id), None);
        }
        self.end_handover();
    }

    /// The master will not, or not now; the next cron tries again. If this server was handing over,
    /// it is the master again, under a new id.
    pub fn refused(&mut self, wall_ms: u64) {
        if self.hands_over() {
            self.abort_failover(wall_ms);
        } else if let Some(upstream) = &mut self.upstream {
            upstream.link = MasterLink::Connect;
        }
    }

    /// The link to the master is gone, or could not be made. A group of which only a part has come
    /// is forgotten.
    pub fn master_lost(&mut self, wall_ms: u64) {
        if let Some(upstream) = &mut self.upstream {
            if upstream.is_connected() {
                upstream.down_since = Some(seconds(wall_ms));
            }
            upstream.link = MasterLink::Connect;
            self.open.clear();
        }
    }

    /// Takes the next item of the master's stream and carries a group out when it is whole. Gives
    /// the offset to acknowledge, if the master asks for it.
    ///
    /// A link carries items in order; one that belongs to a link given up meanwhile must not be
    /// handed over.
    pub fn receive(
        &mut self,
        item: StreamItem<W>,
        wall_ms: u64,
        mut apply: impl FnMut(&W),
    ) -> Option<u64> {
        let upstream = self.upstream.as_mut()?;
        upstream.heard = seconds(wall_ms);
        let asks = matches!(item.content, StreamContent::AskAcknowledgement);
        let is_whole = !matches!(item.content, StreamContent::Write { ends_group: false, .. });
        self.open.push(item);
        if is_whole {
            for item in self.open.drain(..) {
                self.offset = item.end;
                if let StreamContent::Write { write, .. } = &item.content {
                    apply(write);
                }
                if let Some(backlog) = &mut self.backlog {
                    backlog.push(item);
                }
            }
            self.trim();
        }
        asks.then_some(self.offset)
    }
}
