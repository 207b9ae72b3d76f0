//! What goes into a step of the engine and what comes out.

use crate::frame::{Frame, Protocol};

/// A connection, by the number its caller gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(pub u64);

/// One thing that happens to a server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// A client's request. A connection exists from its first request on.
    Request {
        /// Where the request came from and its reply goes to.
        connection: ConnectionId,
        /// The command and its arguments.
        words: Vec<Vec<u8>>,
    },
    /// A script that ran out of its slice goes on.
    Resume,
    /// The timer of the event loop: time-outs of blocked clients, the end of a pause, expiry.
    Tick,
    /// The peer is gone.
    Disconnect {
        /// The connection that ended.
        connection: ConnectionId,
    },
}

/// The clocks of the server's machine.
pub trait Clock {
    /// Reads the wall clock: unix time in microseconds.
    fn wall_micros(&self) -> u64;

    /// Reads the monotonic clock in microseconds.
    fn monotonic_micros(&self) -> u64;

    /// Makes time pass that the server spends computing.
    fn spend(&mut self, micros: u64);
}

/// A command for the replicas and the append-only file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Operation {
    /// The database it is meant for.
    pub database: usize,
    /// The command and its arguments.
    pub words: Vec<Vec<u8>>,
}

/// One thing that leaves the server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// A reply or a pushed message.
    Send {
        /// The connection it goes to.
        connection: ConnectionId,
        /// The protocol to encode it with.
        protocol: Protocol,
        /// The reply.
        frame: Frame,
    },
    /// The server closes a connection; what was sent before goes out first.
    Close(ConnectionId),
    /// Commands that belong together; two or more are one transaction.
    Propagate(Vec<Operation>),
}

/// What leaves the server in one or more steps, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Effects {
    /// The effects, oldest first.
    pub list: Vec<Effect>,
    /// Whether a script has used up its slice: a resume must follow.
    pub busy: bool,
}

impl Effects {
    /// Makes an empty list.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}
