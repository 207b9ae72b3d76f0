//! What goes into a step of the engine and what comes out.

use crate::{
    engine::Engine,
    frame::{Frame, Protocol},
    replication::{LinkId, Position, ReplicationId, StreamItem, SyncRequest},
};

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
    /// There is a connection to the master now.
    MasterConnected,
    /// The connection to the master is gone, or could not be made.
    MasterLost,
    /// The master says something on that connection.
    FromMaster(FromMaster),
    /// A replica says something.
    FromReplica {
        /// The connection it came on.
        link: LinkId,
        /// What it says.
        said: FromReplica,
    },
    /// A replica's connection is gone.
    ReplicaLost {
        /// The connection.
        link: LinkId,
    },
    /// The fsync that was begun has ended.
    FsyncEnded,
    /// The snapshot that was begun has ended, well or not as [`Health`](crate::Health) says.
    SnapshotEnded,
    /// The rewrite of the append-only file has ended.
    RewriteEnded,
    /// SIGTERM.
    Terminate,
}

/// What a master says to a replica.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FromMaster {
    /// The stream goes on where the replica has stopped, in this history.
    Continue(ReplicationId),
    /// A full copy.
    Full {
        /// What the data are the state of.
        position: Position,
        /// The data.
        data: Box<Engine>,
    },
    /// Not now, or not at all.
    Refused,
    /// The next item of the stream.
    Item(StreamItem<Operation>),
}

/// What a replica says to its master.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FromReplica {
    /// It wants to follow.
    Sync(SyncRequest),
    /// It has received the stream up to this offset.
    Acknowledge(u64),
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

/// Both clocks at one reading in microseconds, where only what is computed takes time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StandingClock(pub u64);

impl Clock for StandingClock {
    fn wall_micros(&self) -> u64 {
        self.0
    }

    fn monotonic_micros(&self) -> u64 {
        self.0
    }

    fn spend(&mut self, micros: u64) {
        self.0 += micros;
    }
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
    /// Commands that belong together; two or more are one transaction. The engine has put them
    /// into its stream and its append-only file already.
    Propagate(Vec<Operation>),
    /// A connection to the master is to be tried; the answer is an input.
    Connect {
        /// The master's host.
        host: String,
        /// The master's port.
        port: u16,
    },
    /// The connection to the master is closed.
    CloseMaster,
    /// Something for the master.
    ToMaster(FromReplica),
    /// Something for a replica.
    ToReplica {
        /// The connection it goes to.
        link: LinkId,
        /// What is said.
        said: FromMaster,
    },
    /// A replica's connection is closed.
    CloseReplica(LinkId),
    /// An fsync begins. In the foreground the whole server waits for it: nothing of this step
    /// leaves and no input is taken before it has ended.
    Fsync {
        /// Whether the server waits.
        in_foreground: bool,
    },
    /// A child begins to write a snapshot.
    Snapshot,
    /// A child begins to write the append-only file anew.
    Rewrite,
    /// The process ends, and with it all connections.
    Exit,
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
