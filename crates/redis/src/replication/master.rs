//! The side of the master: the stream, the links, resyncs, and who has acknowledged what.

use super::{
    Backlog, LinkId, Peer, Position, Replication, ReplicationId, ReplicationSettings,
    StreamContent, StreamItem, Streamed, SyncRequest, seconds,
};

/// The link of a replica, as its master knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ReplicaLink {
    /// The number of the link.
    pub link: LinkId,
    /// The replica.
    pub peer: Peer,
    /// Whether the stream flows; before that a full copy is on its way.
    pub is_online: bool,
    /// Up to which offset the stream has been handed out.
    sent: u64,
    /// The offset it has acknowledged; 0 until it did so on this link.
    pub acknowledged: u64,
    /// The wall second at which it did so, or came online.
    acknowledged_at: i64,
}

impl ReplicaLink {
    /// Gives how many wall seconds ago it acknowledged last.
    #[must_use]
    pub fn lag(&self, wall_ms: u64) -> i64 {
        seconds(wall_ms) - self.acknowledged_at
    }
}

/// What a master says to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SyncAnswer {
    /// `CONTINUE`: the stream goes on behind the offset the replica has, in this history.
    Continue(ReplicationId),
    /// `FULLRESYNC`: the data as they are now, and the stream behind this position.
    Full(Position),
    /// It cannot, perhaps later: it has no link to its own master, or is handing over.
    NotNow,
    /// It will not: a failover request with an id that is not its own.
    Refused,
}

/// How resyncs went: the fields of `INFO stats`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SyncCounts {
    /// `sync_full`.
    pub full: u64,
    /// `sync_partial_ok`.
    pub partial: u64,
    /// `sync_partial_err`: a partial one was asked for and was not possible.
    pub refused: u64,
}

/// What the cron of a replica asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Cron {
    /// The offset to acknowledge, if there is a link.
    pub acknowledge: Option<u64>,
    /// Whether the link to the master was given up for being silent; it must be closed.
    pub lost_master: bool,
}

/// The bytes of a PING and of a GETACK in the stream.
const PING_LEN: u64 = 14;
const GETACK_LEN: u64 = 37;

impl<W: Streamed> Replication<W> {
    /// Puts a write into the stream. A replica does not: it passes its master's stream on. Without
    /// a backlog, before the first replica came, there is no stream.
    pub fn write(&mut self, write: W) {
        let len = write.stream_len();
        self.stream(StreamContent::Write { write, ends_group: false }, len);
    }

    /// Ends a group: the writes since the last end are carried out together or not at all.
    pub fn commit(&mut self) {
        if let Some(backlog) = &mut self.backlog {
            backlog.end_group();
        }
        self.trim();
    }

    fn stream(&mut self, content: StreamContent<W>, len: u64) {
        if self.upstream.is_none()
            && let Some(backlog) = &mut self.backlog
        {
            self.offset += len;
            backlog.push(StreamItem { end: self.offset, content });
        }
    }

    /// Forgets what is too old.
    pub(super) fn trim(&mut self) {
        let size = self.settings.backlog_size;
        let needed = self.links.iter().map(|link| link.sent).min().unwrap_or(u64::MAX);
        if let Some(backlog) = &mut self.backlog {
            backlog.trim(size, needed);
        }
    }

    /// Ends a turn of the event loop: if somebody waits for acknowledgements, the stream asks.
    pub fn turn_ended(&mut self) {
        if std::mem::take(&mut self.asks_acknowledgements) && !self.links.is_empty() {
            self.stream(StreamContent::AskAcknowledgement, GETACK_LEN);
        }
    }

    /// Takes out the next item that this link has not been given, if it is online.
    pub fn next_item(&mut self, link: LinkId) -> Option<StreamItem<W>> {
        let link = self.links.iter_mut().find(|known| known.link == link && known.is_online)?;
        let item = self.backlog.as_ref()?.after(link.sent)?.clone();
        link.sent = item.end;
        Some(item)
    }

    /// Answers a replica's request, which came on a new link (`src/replication.c:syncCommand`).
    ///
    /// After [`SyncAnswer::Full`] the caller sends the data as they are now.
    pub fn answer(&mut self, link: LinkId, request: &SyncRequest, wall_ms: u64) -> SyncAnswer {
        if request.failover {
            if self.upstream.is_none() || request.position.map(|have| have.id) != Some(self.id) {
                return SyncAnswer::Refused;
            }
            self.promote(wall_ms);
        }
        if self.failover.is_some() || self.upstream.as_ref().is_some_and(|up| !up.is_connected()) {
            return SyncAnswer::NotNow;
        }
        let now = seconds(wall_ms);
        let mut new = ReplicaLink {
            link,
            peer: request.peer,
            is_online: true,
            sent: self.offset,
            acknowledged: 0,
            acknowledged_at: now,
        };
        if let Some(have) = request.position {
            if self.can_continue(have) {
                self.counts.partial += 1;
                new.sent = have.offset;
                self.links.push(new);
                self.count_good_replicas(now);
                return SyncAnswer::Continue(self.id);
            }
            self.counts.refused += 1;
        }
        self.counts.full += 1;
        if self.backlog.is_none() {
            // A history that nobody kept cannot be continued: it gets a new name.
            self.forget_history();
            self.open_backlog();
        }
        new.is_online = false;
        self.links.push(new);
        SyncAnswer::Full(Position { id: self.id, offset: self.offset })
    }

    /// `src/replication.c:masterTryPartialResynchronization`.
    fn can_continue(&self, have: Position) -> bool {
        let second =
            self.second.is_some_and(|up_to| have.id == up_to.id && have.offset <= up_to.offset);
        let in_backlog =
            |backlog: &Backlog<W>| (backlog.start()..=self.offset).contains(&have.offset);
        (have.id == self.id || second) && self.backlog.as_ref().is_some_and(in_backlog)
    }

    /// The full copy has reached the replica: the stream flows.
    pub fn transferred(&mut self, link: LinkId, wall_ms: u64) {
        let now = seconds(wall_ms);
        if let Some(known) = self.links.iter_mut().find(|known| known.link == link) {
            (known.is_online, known.acknowledged_at) = (true, now);
        }
        self.count_good_replicas(now);
    }

    /// A replica says up to which offset it has received the stream: `REPLCONF ACK`.
    pub fn acknowledge(&mut self, link: LinkId, offset: u64, wall_ms: u64) {
        if let Some(known) = self.links.iter_mut().find(|known| known.link == link) {
            known.acknowledged = known.acknowledged.max(offset);
            known.acknowledged_at = seconds(wall_ms);
        }
    }

    /// Counts the replicas that have acknowledged this offset. WAIT compares it with the offset
    /// **as of its connection's last command**, which is 0 on a fresh one and inside MULTI that of
    /// the MULTI; so it may cover less than it seems to.
    pub fn acknowledged_by(&self, offset: u64) -> usize {
        let has = |link: &&ReplicaLink| link.is_online && link.acknowledged >= offset;
        self.links.iter().filter(has).count()
    }

    /// Has the stream ask all replicas to acknowledge at the end of this turn.
    pub const fn ask_for_acknowledgements(&mut self) {
        self.asks_acknowledgements = true;
    }

    /// A link is gone.
    pub fn link_lost(&mut self, link: LinkId, wall_ms: u64) {
        let now = seconds(wall_ms);
        let before = self.links.len();
        self.links.retain(|known| known.link != link);
        if self.links.len() < before {
            if self.links.is_empty() {
                self.alone_since = now;
            }
            self.count_good_replicas(now);
        }
    }

    /// Closes all links of replicas, as CLIENT KILL does, and counts them; the replicas may come
    /// back at once.
    pub fn close_links(&mut self, wall_ms: u64) -> usize {
        let count = self.links.len();
        self.drop_links(seconds(wall_ms));
        count
    }

    /// Closes all links of replicas.
    pub(super) fn drop_links(&mut self, now: i64) {
        self.dropped.extend(self.links.drain(..).map(|link| link.link));
        self.alone_since = now;
        self.count_good_replicas(now);
    }

    /// Tells whether writes are refused with NOREPLICAS. The count is renewed once a second and
    /// when a replica comes or goes, so it may be wrong for a second.
    pub const fn has_too_few_replicas(&self) -> bool {
        let ReplicationSettings { min_replicas, max_lag, .. } = self.settings;
        self.upstream.is_none()
            && min_replicas > 0
            && max_lag > 0
            && self.good_replicas < min_replicas
    }

    /// Gives the last count of good replicas: `min_slaves_good_slaves`.
    pub const fn good_replicas(&self) -> usize {
        self.good_replicas
    }

    /// Counts the good replicas anew, as CONFIG SET of the two parameters does, too.
    pub fn renew_good_replicas(&mut self, wall_ms: u64) {
        self.count_good_replicas(seconds(wall_ms));
    }

    /// `src/replication.c:refreshGoodSlavesCount`.
    fn count_good_replicas(&mut self, now: i64) {
        let ReplicationSettings { min_replicas, max_lag, .. } = self.settings;
        if min_replicas > 0 && max_lag > 0 {
            let good =
                |link: &&ReplicaLink| link.is_online && now - link.acknowledged_at <= max_lag;
            self.good_replicas = self.links.iter().filter(good).count();
        }
    }

    /// Does what is done once a second (`src/replication.c:replicationCron`).
    ///
    /// A replica that [wants a connection](Replication::wants_connection) gets a try after it.
    pub fn cron(&mut self, wall_ms: u64) -> Cron {
        let now = seconds(wall_ms);
        let timeout = self.settings.timeout;
        let mut cron = Cron::default();
        if self.upstream.as_ref().is_some_and(|up| up.is_silent(now, timeout)) {
            self.master_lost(wall_ms);
            cron.lost_master = true;
        }
        if self.upstream.as_ref().is_some_and(super::Upstream::is_connected) {
            cron.acknowledge = Some(self.offset);
        }
        let pings = self.rounds.is_multiple_of(self.settings.ping_period.max(1));
        // A failover with a time-out is not to be disturbed by what moves the offset.
        let is_calm = self.failover.is_none_or(|failover| !failover.has_timeout());
        if pings && !self.links.is_empty() && is_calm {
            self.stream(StreamContent::Ping, PING_LEN);
        }
        self.rounds += 1;
        for at in (0..self.links.len()).rev() {
            let link = self.links[at];
            if link.is_online && now - link.acknowledged_at > timeout {
                self.links.remove(at);
                self.dropped.push(link.link);
                self.alone_since = now;
            }
        }
        self.give_backlog_up(now);
        self.count_good_replicas(now);
        cron
    }

    fn give_backlog_up(&mut self, now: i64) {
        let ttl = self.settings.backlog_ttl;
        let alone = self.links.is_empty() && self.upstream.is_none() && ttl > 0;
        if alone && self.backlog.is_some() && now - self.alone_since > ttl {
            self.close_backlog();
            self.forget_history();
        }
    }
}
