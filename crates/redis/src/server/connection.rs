//! What the server remembers of a connection.

use std::collections::{BTreeSet, VecDeque};

use super::Blocked;
use crate::{frame::Protocol, reply::ErrorCode};

/// One client's connection.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Connection {
    /// What CLIENT ID says.
    pub(crate) client: i64,
    pub(crate) name: Vec<u8>,
    pub(crate) database: usize,
    pub(crate) protocol: Protocol,
    pub(crate) authenticated: bool,
    /// The commands queued since MULTI.
    pub(crate) queue: Option<Vec<Vec<Vec<u8>>>>,
    /// Whether a command was refused while queueing, so that EXEC must fail.
    pub(crate) spoiled: bool,
    pub(crate) watches: Vec<Watch>,
    pub(crate) channels: BTreeSet<Vec<u8>>,
    pub(crate) patterns: BTreeSet<Vec<u8>>,
    pub(crate) shard_channels: BTreeSet<Vec<u8>>,
    pub(crate) blocked: Option<Blocked>,
    /// Requests that wait for the end of a blocking command or of a pause.
    pub(crate) waiting: VecDeque<Vec<Vec<u8>>>,
    /// Its place among those with such requests: when a pause met it or its wait ended.
    pub(crate) turn: u64,
    pub(crate) reply_mode: ReplyMode,
    /// The wall time in milliseconds of the last request.
    pub(crate) last_seen: i64,
    /// The replication offset behind its last command: what WAIT waits for.
    pub(crate) offset: u64,
}

/// Whether a client gets replies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum ReplyMode {
    /// It does.
    #[default]
    On,
    /// It does not, until it says so.
    Off,
    /// The command after this one gets none.
    SkipNext,
    /// This command gets none.
    Skip,
}

/// A key under WATCH, and how it was then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Watch {
    pub(crate) database: usize,
    pub(crate) key: u32,
    pub(crate) version: u32,
    pub(crate) alive: bool,
}

/// What makes a server refuse commands for reasons outside of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Health {
    /// Data are being loaded: nearly every command gets LOADING.
    pub loading: bool,
    /// A snapshot failed: writes get MISCONF.
    pub misconf: bool,
    /// Too few good replicas: writes get NOREPLICAS.
    pub too_few_replicas: bool,
    /// The memory limit is reached: writes that need memory get OOM.
    pub out_of_memory: bool,
    /// The master is lost and stale data must not be served: MASTERDOWN.
    pub master_down: bool,
    /// The snapshot file cannot be written: snapshots fail.
    pub cannot_save: bool,
}

impl Health {
    /// Gives the error a write command meets, if any.
    pub(crate) const fn refuses_write(self, needs_memory: bool) -> Option<ErrorCode> {
        if self.out_of_memory && needs_memory {
            Some(ErrorCode::OutOfMemory)
        } else if self.misconf {
            Some(ErrorCode::Misconf)
        } else if self.too_few_replicas {
            Some(ErrorCode::NoReplicas)
        } else {
            None
        }
    }
}

impl Connection {
    /// Counts subscriptions of channels and patterns, as the confirmations do.
    pub(crate) fn subscriptions(&self) -> usize {
        self.channels.len() + self.patterns.len()
    }

    /// Tells whether a RESP2 client may only (un)subscribe.
    pub(crate) fn only_subscribes(&self) -> bool {
        let subscribed = self.subscriptions() + self.shard_channels.len() > 0;
        subscribed && self.protocol == Protocol::Resp2
    }

    /// Forgets a transaction and its watches.
    pub(crate) fn discard(&mut self) {
        self.queue = None;
        self.spoiled = false;
        self.watches.clear();
    }

    /// Makes the connection what it was when it was new; RESET does it.
    pub(crate) fn reset(&mut self, authenticated: bool) {
        *self = Self {
            client: self.client,
            last_seen: self.last_seen,
            offset: self.offset,
            waiting: std::mem::take(&mut self.waiting),
            turn: self.turn,
            authenticated,
            ..Self::default()
        };
    }
}
