//! Replication of the server in bytes: what master and replicas say to each other, and what
//! changes sides.

use super::{Context, Watch};
use crate::{
    effects::{Effect, FromMaster, FromReplica, Operation},
    engine::{Engine, Role},
    replication::{LinkId, MasterLink, Peer, StreamContent, SyncAnswer, SyncRequest},
    reply::ErrorCode,
};

/// The time between two crons of replication in microseconds, and during a failover.
const CRON: u64 = 1_000_000;
const FAST_CRON: u64 = 100_000;

impl Engine {
    /// Tells whether writes of clients are refused because the server is a replica.
    pub(crate) const fn is_read_only(&self) -> bool {
        matches!(self.role, Role::Replica) && self.server.config.replica_read_only
    }

    /// Takes over a full copy. Watched keys that were there or are there now count as changed
    /// (`src/multi.c:touchAllWatchedKeysInDb`).
    fn replace_data(&mut self, copy: &Self) {
        let mut watches = Vec::new();
        for (&id, connection) in &mut self.server.connections {
            for watch in connection.watches.drain(..) {
                watches.push((id, watch, self.names.text(watch.key).to_vec()));
            }
        }
        let is_there = |engine: &Self, watch: &Watch, name: &[u8]| {
            let slot = |key| engine.databases[watch.database].peek(key);
            engine.names.find(name).and_then(slot).is_some_and(|slot| !slot.content.is_absent())
        };
        let was_there: Vec<bool> =
            watches.iter().map(|(_, watch, name)| is_there(self, watch, name)).collect();
        self.take_data_of(copy);
        for ((id, watch, name), was_there) in watches.into_iter().zip(was_there) {
            let is_changed = was_there || is_there(self, &watch, &name);
            let key = self.names.intern_transient(&name);
            let version = self.databases[watch.database].slot(key).version();
            let version = if is_changed { version.wrapping_sub(1) } else { version };
            if let Some(connection) = self.server.connections.get_mut(&id) {
                connection.watches.push(Watch { key, version, ..watch });
            }
        }
    }

    /// Gives a server that has the names and the data of this one, and nothing else.
    fn image(&self) -> Self {
        let mut image = Self::default();
        image.names.clone_from(&self.names);
        image.copy_data_from(self);
        image
    }
}

impl Context<'_> {
    /// Puts the effects of a command into the stream, as one group.
    pub(super) fn stream(&mut self, operations: &[Operation]) {
        let replication = &mut self.engine.server.replication;
        if replication.backlog().is_none() {
            return;
        }
        for operation in operations {
            replication.write(operation.clone());
        }
        replication.commit();
    }

    /// Becomes a replica; false if it is one of that master already.
    pub(crate) fn follow(&mut self, host: &str, port: u16) -> bool {
        let wall = self.wall_ms();
        let server = &mut self.engine.server;
        if server.replication.master() == Some(Peer(port)) && server.master_host == host {
            return false;
        }
        if server.replication.is_replica() {
            self.out.list.push(Effect::CloseMaster);
        }
        let server = &mut self.engine.server;
        server.master_host = host.into();
        server.replication.follow(Peer(port), wall);
        self.demoted();
        true
    }

    /// Starts as the replica that the configuration names.
    pub(super) fn follow_from_start(&mut self, host: &str, port: u16) {
        let wall = self.wall_ms();
        let server = &mut self.engine.server;
        server.master_host = host.into();
        server.replication.follow_from_start(Peer(port), wall);
        self.demoted();
    }

    fn demoted(&mut self) {
        self.engine.role = Role::Replica;
        self.engine.server.tries_master = true;
        self.unblock_all(ErrorCode::Unblocked.text());
    }

    /// Becomes a master.
    pub(crate) fn promote(&mut self) {
        if self.engine.server.replication.is_replica() {
            let wall = self.wall_ms();
            self.engine.server.replication.promote(wall);
            self.promoted();
        }
    }

    fn promoted(&mut self) {
        self.engine.role = Role::Master;
        self.out.list.push(Effect::CloseMaster);
    }

    /// Ends a failover without result.
    pub(crate) fn abort_failover(&mut self) -> bool {
        let (wall, was_replica) = (self.wall_ms(), self.engine.role == Role::Replica);
        let replication = &mut self.engine.server.replication;
        let aborted = replication.abort_failover(wall);
        if was_replica && !replication.is_replica() {
            self.promoted();
        }
        aborted
    }

    pub(crate) fn master_connected(&mut self) {
        let (wall, port) = (self.wall_ms(), self.engine.server.config.port);
        let replication = &mut self.engine.server.replication;
        if replication.wants_connection() {
            let request = replication.connected(Peer(port), wall);
            self.out.list.push(Effect::ToMaster(FromReplica::Sync(request)));
        }
    }

    pub(crate) fn master_lost(&mut self) {
        let wall = self.wall_ms();
        let server = &mut self.engine.server;
        // A link that was there is tried again at once; one that could not be made, at the cron.
        server.tries_master =
            server.replication.is_replica() && !server.replication.wants_connection();
        server.replication.master_lost(wall);
        if server.replication.hands_over() {
            self.abort_failover();
        }
    }

    /// Takes what the master says.
    pub(crate) fn hear_master(&mut self, said: FromMaster) {
        let wall = self.wall_ms();
        match said {
            FromMaster::Continue(id) => self.engine.server.replication.continued(id, wall),
            FromMaster::Refused => {
                self.engine.server.replication.refused(wall);
                self.out.list.push(Effect::CloseMaster);
                if self.engine.role == Role::Replica && !self.engine.server.replication.is_replica()
                {
                    self.engine.role = Role::Master;
                }
            }
            FromMaster::Full { position, data } => {
                self.engine.server.replication.transfer_begins(wall);
                self.engine.replace_data(&data);
                self.engine.server.replication.loaded(position, wall);
                self.store_copy(&data);
                let acknowledge = FromReplica::Acknowledge(position.offset);
                self.out.list.push(Effect::ToMaster(acknowledge));
            }
            FromMaster::Item(item) => {
                let mut group: Vec<Operation> = Vec::new();
                let replication = &mut self.engine.server.replication;
                let is_write = matches!(item.content, StreamContent::Write { .. });
                let asked = replication.receive(item, wall, |write| group.push(write.clone()));
                if is_write && !group.is_empty() {
                    for operation in &group {
                        self.apply(operation);
                    }
                    self.store(&group);
                    // At a replica that takes writes, clients may wait for what has come.
                    self.serve_ready();
                    self.engine.server.pending.clear();
                    self.finish();
                }
                if let Some(offset) = asked {
                    self.out.list.push(Effect::ToMaster(FromReplica::Acknowledge(offset)));
                }
            }
        }
    }

    /// Takes what a replica says.
    pub(crate) fn hear_replica(&mut self, link: LinkId, said: FromReplica) {
        let wall = self.wall_ms();
        match said {
            FromReplica::Sync(request) => self.answer(link, &request),
            FromReplica::Acknowledge(offset) => {
                let replication = &mut self.engine.server.replication;
                // The first word after a full copy says that it has arrived.
                let new =
                    replication.links().iter().any(|known| known.link == link && !known.is_online);
                if new {
                    replication.transferred(link, wall);
                }
                replication.acknowledge(link, offset, wall);
                self.serve_acknowledged();
                self.finish();
            }
        }
    }

    fn answer(&mut self, link: LinkId, request: &SyncRequest) {
        let (wall, was_replica) = (self.wall_ms(), self.engine.role == Role::Replica);
        let server = &mut self.engine.server;
        let answer = if server.is_loading() {
            SyncAnswer::NotNow
        } else {
            server.replication.answer(link, request, wall)
        };
        if request.failover && was_replica && !server.replication.is_replica() {
            self.promoted();
        }
        let said = match answer {
            SyncAnswer::Continue(id) => FromMaster::Continue(id),
            SyncAnswer::Full(position) => {
                FromMaster::Full { position, data: Box::new(self.engine.image()) }
            }
            SyncAnswer::NotNow | SyncAnswer::Refused => FromMaster::Refused,
        };
        self.out.list.push(Effect::ToReplica { link, said });
    }

    /// Closes the links of all replicas and counts them.
    pub(crate) fn close_replicas(&mut self) -> usize {
        let wall = self.wall_ms();
        self.engine.server.replication.close_links(wall)
    }

    /// Closes the link to the master, if it is up; it is tried again at once.
    pub(crate) fn close_master(&mut self) -> bool {
        let wall = self.wall_ms();
        let server = &mut self.engine.server;
        if server.replication.master_link() != Some(MasterLink::Connected) {
            return false;
        }
        server.replication.master_lost(wall);
        server.tries_master = true;
        self.out.list.push(Effect::CloseMaster);
        true
    }

    pub(crate) fn replica_lost(&mut self, link: LinkId) {
        let wall = self.wall_ms();
        self.engine.server.replication.link_lost(link, wall);
    }

    /// Does what replication does once a second.
    pub(super) fn replication_cron(&mut self, now: u64) {
        let wall = self.wall_ms();
        let server = &mut self.engine.server;
        let period = if server.replication.fails_over() { FAST_CRON } else { CRON };
        if server.last_cron.is_some_and(|last| now.saturating_sub(last) < period) {
            return;
        }
        server.last_cron = Some(now);
        let cron = server.replication.cron(wall);
        server.tries_master |= server.replication.is_replica();
        if cron.lost_master {
            self.out.list.push(Effect::CloseMaster);
        }
        if let Some(offset) = cron.acknowledge {
            self.out.list.push(Effect::ToMaster(FromReplica::Acknowledge(offset)));
        }
    }

    /// Ends a turn of the event loop: what has to be on the disk or on its way to others before the
    /// server waits for the next input.
    pub(crate) fn end_turn(&mut self) {
        let wall = self.wall_ms();
        let server = &mut self.engine.server;
        if server.pause_at(self.frozen).is_none() {
            server.replication.turn_ended();
        }
        if server.replication.advance_failover(wall) {
            // Replicas are known by their ports; all servers are on one host.
            server.master_host = "127.0.0.1".into();
            self.demoted();
            self.finish();
        }
        self.flush_disk();
        let server = &mut self.engine.server;
        let links: Vec<LinkId> = server.replication.links().iter().map(|link| link.link).collect();
        for link in links {
            while let Some(item) = server.replication.next_item(link) {
                self.out.list.push(Effect::ToReplica { link, said: FromMaster::Item(item) });
            }
        }
        let dropped = server.replication.take_dropped();
        self.out.list.extend(dropped.map(Effect::CloseReplica));
        if std::mem::take(&mut server.tries_master) && server.replication.wants_connection() {
            let port = server.replication.master().map_or(0, |peer| peer.0);
            self.out.list.push(Effect::Connect { host: server.master_host.clone(), port });
        }
    }
}
