//! Replication as plain data: a master's stream, its replicas' links, and a replica's own side.
//!
//! A [`Replication`] is one server's part in it. It moves no bytes and reads no clock: whoever
//! connects servers carries [`SyncRequest`]s, answers, [`StreamItem`]s and acknowledgements
//! between them, late or never as it likes, and copies the data at a full resync. It is generic
//! over what is streamed: `Replication<Command>` for typed engines, `Replication<Operation>` for
//! those in bytes.
//!
//! # How it is used
//!
//! ```
//! use fencepost_redis::{
//!     Command, Engine, LinkId, Names, Peer, Replication, Role, SyncAnswer, Value,
//! };
//!
//! let mut names = Names::new();
//! let lock = names.key("lock");
//! let mut master = (Engine::with_names(names.clone()), Replication::<Command>::new(1));
//! let mut replica = (Engine::with_names(names), Replication::<Command>::new(2));
//!
//! // The replica connects and asks; the master answers on that link.
//! let (link, now) = (LinkId(7), 1_000);
//! replica.0.set_role(Role::Replica);
//! replica.1.follow_from_start(Peer(6379), now);
//! let request = replica.1.connected(Peer(6380), now);
//! let SyncAnswer::Full(position) = master.1.answer(link, &request, now) else { panic!() };
//! let data = master.0.clone(); // as of now
//! // ... the data travel ...
//! master.1.transferred(link, now);
//! replica.0.copy_data_from(&data);
//! replica.1.loaded(position, now);
//!
//! // A command runs at the master; its effects go into the stream, as one group.
//! let command = Command::set_nx_px(lock, Value::Integer(1), 30_000);
//! let outcome = master.0.execute(&command, now);
//! command.propagate(&outcome, now, |write| master.1.write(write));
//! master.1.commit();
//! let written = master.1.offset();
//!
//! // What the link has not been given yet is taken out, travels, and is received in order.
//! while let Some(item) = master.1.next_item(link) {
//!     replica.1.receive(item, now, |write| { replica.0.apply(write); });
//! }
//! assert!(replica.0.entry(lock, now).is_some());
//! assert_eq!(master.1.acknowledged_by(written), 0);
//! master.1.acknowledge(link, replica.1.offset(), now); // once a second, or when asked
//! assert_eq!(master.1.acknowledged_by(written), 1);
//! ```
//!
//! The order of calls, for servers driven by events:
//!
//! What happens at a master, and the call:
//!
//! - a command changed something, or a dead key was removed (a DEL): [`Replication::write`] for
//!   each effect, then [`Replication::commit`].
//! - the turn ends: [`Replication::turn_ended`], then [`Replication::next_item`] per link until
//!   there is none.
//! - a replica asks on a new link: [`Replication::answer`]; after a full copy,
//!   [`Replication::transferred`].
//! - an acknowledgement: [`Replication::acknowledge`]; it may end a WAIT.
//! - WAIT n: [`Replication::acknowledged_by`]; if too few,
//!   [`Replication::ask_for_acknowledgements`].
//! - a write command: refused with NOREPLICAS if [`Replication::has_too_few_replicas`].
//! - once a second by the monotonic clock: [`Replication::cron`].
//! - a link breaks: [`Replication::link_lost`].
//!
//! What happens at a replica, and the call:
//!
//! - REPLICAOF; started as a replica: [`Replication::follow`];
//!   [`Replication::follow_from_start`].
//! - it [wants a connection](Replication::wants_connection) and gets one:
//!   [`Replication::connected`], which gives the request.
//! - the answer: [`Replication::continued`], [`Replication::loaded`], or
//!   [`Replication::refused`].
//! - an item of the stream: [`Replication::receive`], which may give an acknowledgement to
//!   send.
//! - the link breaks: [`Replication::master_lost`].
//! - REPLICAOF NO ONE, or a failover request: [`Replication::promote`].
//!
//! After any call, [`Replication::take_dropped`] names links that this side has closed.
//!
//! # What is modelled
//!
//! Source: `src/replication.c` of Redis 7.0.15. The reply to a client waits for nothing here. An
//! offset counts the stream's bytes, PINGs among them; an id names a history. A promoted replica
//! keeps the id it had as a second one, valid up to its offset, and so do its siblings' requests
//! fit. A server that has gone beyond that offset on its own has to take a full copy.
//! Acknowledged means received, not written to a disk. Lag and time-outs are whole seconds of the
//! **wall** clock: a step forward by more than `repl-timeout` makes a master drop every replica.

mod backlog;
mod failover;
mod master;
mod replica;

#[cfg(test)]
mod tests;

use std::{collections::VecDeque, fmt};

pub use failover::FailoverError;
pub use master::{Cron, ReplicaLink, SyncAnswer, SyncCounts};
pub use replica::{MasterLink, SyncRequest};

use crate::{command::Command, effects::Operation};
use backlog::Backlog;
use failover::Failover;
use replica::Upstream;

/// A server, by the port it listens at; a simulation may number its servers with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Peer(pub u16);

/// A replica's connection to its master, by the number that the caller gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub u64);

/// The name of a history; it is shown as 40 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReplicationId(pub u64);

impl fmt::Display for ReplicationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:040x}", self.0)
    }
}

/// A place in a history: everything up to this offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The history.
    pub id: ReplicationId,
    /// How many bytes of its stream.
    pub offset: u64,
}

/// A part of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StreamItem<W> {
    /// The offset behind it.
    pub end: u64,
    /// What it says.
    pub content: StreamContent<W>,
}

/// What a part of the stream says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StreamContent<W> {
    /// A write.
    Write {
        /// The write.
        write: W,
        /// Whether its group ends with it; a replica carries a group out as a whole.
        ends_group: bool,
    },
    /// PING: the link is alive.
    Ping,
    /// `REPLCONF GETACK *`: the replica shall acknowledge at once.
    AskAcknowledgement,
}

/// A write that can be streamed.
pub trait Streamed: Clone {
    /// Gives how many bytes it takes in the stream.
    fn stream_len(&self) -> u64;
}

impl Streamed for Command {
    /// Typed commands have no bytes; they count as many as the usual ones about a lock take.
    fn stream_len(&self) -> u64 {
        64
    }
}

impl Streamed for Operation {
    fn stream_len(&self) -> u64 {
        let digits = |number: usize| u64::from(number.checked_ilog10().unwrap_or(0)) + 1;
        let word = |word: &Vec<u8>| digits(word.len()) + word.len() as u64 + 5;
        digits(self.words.len()) + 3 + self.words.iter().map(word).sum::<u64>()
    }
}

/// The parameters of replication, with Redis' defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ReplicationSettings {
    /// `min-replicas-to-write`: fewer good replicas than this, and writes are refused.
    pub min_replicas: usize,
    /// `min-replicas-max-lag`: a good one has acknowledged within so many seconds.
    pub max_lag: i64,
    /// `repl-timeout`: a link silent for more seconds is broken off.
    pub timeout: i64,
    /// `repl-ping-replica-period`: the seconds between two PINGs of a master.
    pub ping_period: u64,
    /// `repl-backlog-size`: how many bytes of the stream are kept for partial resyncs.
    pub backlog_size: u64,
    /// `repl-backlog-ttl`: after so many seconds without replicas the backlog is given up.
    pub backlog_ttl: i64,
}

impl Default for ReplicationSettings {
    fn default() -> Self {
        Self {
            min_replicas: 0,
            max_lag: 10,
            timeout: 60,
            ping_period: 10,
            backlog_size: 1024 * 1024,
            backlog_ttl: 3600,
        }
    }
}

/// One server's part in replication; see the [module](crate::replication).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Replication<W> {
    /// The parameters.
    pub settings: ReplicationSettings,
    /// What this server's ids are made from.
    seed: u64,
    /// How many ids it has made.
    ids: u64,
    id: ReplicationId,
    /// The history this one came from, and up to where (`replid2`, `second_replid_offset`).
    second: Option<Position>,
    offset: u64,
    /// The end of the stream; there is none before the first replica came.
    backlog: Option<Backlog<W>>,
    /// The memory of the last backlog given up.
    spare: VecDeque<StreamItem<W>>,
    /// At a replica: the writes of a group that has not ended.
    open: Vec<StreamItem<W>>,
    links: Vec<ReplicaLink>,
    /// Links that this side has closed and nobody has asked for yet.
    dropped: Vec<LinkId>,
    /// The wall second since which there is no link.
    alone_since: i64,
    good_replicas: usize,
    asks_acknowledgements: bool,
    /// Counts calls of the cron.
    rounds: u64,
    upstream: Option<Upstream>,
    failover: Option<Failover>,
    counts: SyncCounts,
}

impl<W: Streamed> Replication<W> {
    /// Makes the part of a master that nobody follows. Servers with different seeds make different
    /// ids.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut new = Self {
            settings: ReplicationSettings::default(),
            seed,
            ids: 0,
            id: ReplicationId(0),
            second: None,
            offset: 0,
            backlog: None,
            spare: VecDeque::new(),
            open: Vec::new(),
            links: Vec::new(),
            dropped: Vec::new(),
            alone_since: 0,
            good_replicas: 0,
            asks_acknowledgements: false,
            rounds: 0,
            upstream: None,
            failover: None,
            counts: SyncCounts::default(),
        };
        new.id = new.new_id();
        new
    }

    /// The process starts again: all links are gone and the history is a new one. It is a master
    /// until it is told to follow.
    pub fn restart(&mut self, wall_ms: u64) {
        self.close_backlog();
        self.open.clear();
        (self.second, self.offset) = (None, 0);
        self.links.clear();
        self.dropped.clear();
        (self.good_replicas, self.asks_acknowledgements, self.rounds) = (0, false, 0);
        (self.upstream, self.failover) = (None, None);
        self.counts = SyncCounts::default();
        self.alone_since = seconds(wall_ms);
        self.id = self.new_id();
    }

    /// Becomes what a new one with this seed is, for the next run; the settings stay.
    pub fn reset(&mut self) {
        self.restart(0);
        self.ids = 0;
        self.id = self.new_id();
    }

    /// Gives the id of the history.
    pub const fn id(&self) -> ReplicationId {
        self.id
    }

    /// Gives the history this one came from, and up to which offset.
    pub const fn second(&self) -> Option<Position> {
        self.second
    }

    /// Gives the offset: at a master what it has streamed, at a replica what it has carried out.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// Gives where in a history the data are, as a snapshot says it: none at a master that nobody
    /// ever followed, and at a replica that never got a copy (`src/rdb.c:rdbPopulateSaveInfo`).
    pub fn position(&self) -> Option<Position> {
        let knows = match &self.upstream {
            Some(upstream) => upstream.continues(),
            None => self.backlog.is_some(),
        };
        knows.then_some(Position { id: self.id, offset: self.offset })
    }

    /// The data were loaded from a snapshot that was made there, after [`Replication::restart`]
    /// and, at a replica, [`Replication::follow_from_start`]. A replica can continue that history.
    /// A master begins a new one, but lets replicas that have all of the old one continue.
    pub fn restored(&mut self, position: Position) {
        self.offset = position.offset;
        match &mut self.upstream {
            Some(upstream) => {
                self.id = position.id;
                upstream.restored(position.id);
            }
            None => {
                self.second = Some(position);
                self.open_backlog();
            }
        }
    }

    /// Tells whether this is a replica.
    pub const fn is_replica(&self) -> bool {
        self.upstream.is_some()
    }

    /// Gives the links of its replicas, in the order in which they came.
    pub fn links(&self) -> &[ReplicaLink] {
        &self.links
    }

    /// Gives how resyncs went so far.
    pub const fn counts(&self) -> SyncCounts {
        self.counts
    }

    /// Takes out the links that this side has closed; the caller closes the connections.
    pub fn take_dropped(&mut self) -> impl Iterator<Item = LinkId> {
        self.dropped.drain(..)
    }

    /// Gives the offset of the first byte in the backlog and how many there are, if there is one.
    pub fn backlog(&self) -> Option<(u64, u64)> {
        let backlog = self.backlog.as_ref()?;
        Some((backlog.start() + 1, self.offset - backlog.start()))
    }

    /// Gives the history a new name and forgets where it came from: nobody can continue it.
    pub fn forget_history(&mut self) {
        self.id = self.new_id();
        self.second = None;
    }

    /// Begins a backlog at the present offset, without what one held before.
    fn open_backlog(&mut self) {
        self.close_backlog();
        self.backlog = Some(Backlog::new(self.offset, std::mem::take(&mut self.spare)));
    }

    fn close_backlog(&mut self) {
        if let Some(backlog) = self.backlog.take() {
            self.spare = backlog.into_memory();
        }
    }

    /// Makes the next id: a number that looks as if it were drawn.
    fn new_id(&mut self) -> ReplicationId {
        self.ids += 1;
        let mut mixed = (self.seed ^ (self.ids << 48)).wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ReplicationId(mixed ^ (mixed >> 31))
    }
}

/// Whole seconds of a wall clock in milliseconds.
fn seconds(wall_ms: u64) -> i64 {
    i64::try_from(wall_ms / 1000).unwrap_or(i64::MAX)
}
