//! The events of a run.

mod words;

use serde::{Deserialize, Serialize};

use crate::{
    Access, AccessOutcome, CallId, Duration, GrantId, Instant, JobId, LockId, Moment, ProcessId,
    ResourceId, RollingHash, ServerId, ThreadId, Token,
};

/// One thing that happened, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// When it happened, in true time.
    pub at: Instant,
    /// What happened.
    pub what: What,
}

/// What happened.
///
/// The first group is what checkers judge; the second are faults and recoveries; the third is
/// detail for the reader, which a silent run hashes but does not hand on
/// (see [`What::is_detail`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    /// A thread begins to ask for a lock; it waits until it acquires or abandons it.
    AcquireInvoked {
        /// Who asks.
        thread: ThreadId,
        /// For which lock.
        lock: LockId,
    },
    /// A client's code sees that it has the lock: its belief begins.
    Acquired {
        /// Who believes.
        thread: ThreadId,
        /// Its grant.
        grant: GrantId,
        /// The lock.
        lock: LockId,
        /// The fencing token of the grant.
        token: Token,
    },
    /// One attempt is over without a grant: somebody else has the lock.
    Refused {
        /// Who asked.
        thread: ThreadId,
        /// The attempt.
        grant: GrantId,
        /// The lock.
        lock: LockId,
    },
    /// One attempt is over and nobody knows whether it took effect (a reply did not come).
    AcquireUnknown {
        /// Who asked.
        thread: ThreadId,
        /// The attempt.
        grant: GrantId,
        /// The lock.
        lock: LockId,
    },
    /// A thread stops asking.
    AcquireAbandoned {
        /// Who asked.
        thread: ThreadId,
        /// The lock.
        lock: LockId,
    },
    /// A holder begins to release: its belief ends.
    ReleaseInvoked {
        /// The grant.
        grant: GrantId,
    },
    /// A holder has finished releasing.
    ReleaseDone {
        /// The grant.
        grant: GrantId,
    },
    /// The strategy told the section that the lock is lost: its belief ends.
    Lost {
        /// The grant.
        grant: GrantId,
    },
    /// A holder executes a protected step, such as sending a read or a write.
    Step {
        /// The grant.
        grant: GrantId,
    },
    /// A lock's key was written at a server.
    KeySet {
        /// Where.
        server: ServerId,
        /// Which lock's key.
        lock: LockId,
        /// Whose command wrote it.
        by: GrantId,
        /// Whose key it was before, if a live one was there.
        owner: GrantId,
        /// When the server will hold it for dead; [`Instant::NEVER`] without expiry.
        deadline: Instant,
        /// What the command did to it.
        how: How,
        /// Whether it accepts an acquisition. Where servers are independent, the acceptance decides
        /// that makes the quorum full.
        commits: bool,
    },
    /// A lock's key is no longer at a server.
    KeyGone {
        /// Where.
        server: ServerId,
        /// Which lock's key.
        lock: LockId,
        /// Whose command removed it; [`GrantId::NONE`] where no client did.
        by: GrantId,
        /// Whose key it was.
        owner: GrantId,
        /// What removed it.
        how: How,
    },
    /// A protected resource answered an access.
    Accessed {
        /// The resource.
        resource: ResourceId,
        /// Under which grant.
        grant: GrantId,
        /// The token that was sent along.
        token: Token,
        /// The job occurrence whose effect a write is.
        job: JobId,
        /// Read or write.
        access: Access,
        /// What the resource did.
        outcome: AccessOutcome,
        /// Whether this path checks tokens.
        checked: bool,
        /// Whether the highest token that this path had accepted is above this one.
        regressed: bool,
    },

    /// A process stops: none of its threads runs.
    Paused {
        /// The process.
        process: ProcessId,
        /// Until when; [`Instant::NEVER`] if it never resumes.
        until: Instant,
    },
    /// A paused process runs again.
    Resumed {
        /// The process.
        process: ProcessId,
    },
    /// One thread stops.
    Stalled {
        /// The thread.
        thread: ThreadId,
        /// Until when; [`Instant::NEVER`] if it hangs.
        until: Instant,
    },
    /// A stalled thread runs again.
    Unstalled {
        /// The thread.
        thread: ThreadId,
    },
    /// A process dies and loses its memory.
    Crashed {
        /// The process.
        process: ProcessId,
    },
    /// A crashed process starts anew.
    Restarted {
        /// The process.
        process: ProcessId,
    },
    /// A thread has finished its rounds.
    Finished {
        /// The thread.
        thread: ThreadId,
    },
    /// A server goes down.
    ServerDown {
        /// The server.
        server: ServerId,
        /// When it will be back; [`Instant::NEVER`] if it stays down.
        until: Instant,
    },
    /// A server serves again.
    ServerUp {
        /// The server.
        server: ServerId,
    },
    /// A server executes nothing for a while, and then what has queued up.
    ServerStalled {
        /// The server.
        server: ServerId,
        /// Until when.
        until: Instant,
    },
    /// A server takes over as master.
    Promoted {
        /// The new master.
        server: ServerId,
    },
    /// A server no longer is a master.
    Demoted {
        /// The old master.
        server: ServerId,
    },
    /// A server's data was replaced or emptied as a whole.
    DataLost {
        /// The server.
        server: ServerId,
    },
    /// A resource forgets the highest token it has seen.
    TokensForgotten {
        /// The resource.
        resource: ResourceId,
    },
    /// A server's wall clock steps.
    ServerClock {
        /// The server.
        server: ServerId,
        /// By how many nanoseconds, forward or back.
        by: i64,
    },
    /// A process's wall clock steps.
    ProcessClock {
        /// The process.
        process: ProcessId,
        /// By how many nanoseconds, forward or back.
        by: i64,
    },
    /// A server's clocks run at another rate from now on.
    ServerRate {
        /// The server.
        server: ServerId,
        /// How much faster than true time, in parts per billion.
        rate: i64,
    },
    /// A process's clocks run at another rate from now on.
    ProcessRate {
        /// The process.
        process: ProcessId,
        /// How much faster than true time, in parts per billion.
        rate: i64,
    },
    /// Messages between a process and a server are lost for a while.
    LinkCut {
        /// The process.
        process: ProcessId,
        /// The server.
        server: ServerId,
        /// Until when.
        until: Instant,
    },
    /// Messages between two servers are lost for a while.
    PeersCut {
        /// One server.
        server: ServerId,
        /// The other.
        peer: ServerId,
        /// Until when.
        until: Instant,
    },
    /// A master's stream to a replica is held back for a while.
    StreamStalled {
        /// The master.
        server: ServerId,
        /// The replica.
        peer: ServerId,
        /// Until when.
        until: Instant,
    },
    /// A server answers with an error for a while.
    Refusing {
        /// The server.
        server: ServerId,
        /// Until when.
        until: Instant,
    },
    /// Enough sentinels hold a master for down.
    Doubted {
        /// The sentinel that acts on it.
        server: ServerId,
        /// The master.
        peer: ServerId,
    },
    /// Sentinels tell who is master now.
    Announced {
        /// The sentinel that brought it about.
        server: ServerId,
        /// The new master.
        peer: ServerId,
    },
    /// An outsider's command or an operator's hand changed a server.
    Outsider {
        /// The server.
        server: ServerId,
    },
    /// All faults are over; what follows is the settle phase.
    Healed,

    /// A client sends a request.
    Sent {
        /// The call.
        call: CallId,
        /// The sender.
        thread: ThreadId,
        /// The receiver.
        server: ServerId,
        /// When it will arrive; [`Instant::NEVER`] if it is lost.
        arrives: Instant,
    },
    /// A server executes a request.
    Applied {
        /// The call.
        call: CallId,
        /// The server.
        server: ServerId,
    },
    /// A server sends its reply.
    Replied {
        /// The call.
        call: CallId,
        /// The server.
        server: ServerId,
        /// When it will arrive; [`Instant::NEVER`] if it is lost.
        arrives: Instant,
    },
    /// A client's code sees a reply.
    Seen {
        /// The call.
        call: CallId,
    },
    /// A client gives a call up: its time-out fired, or it no longer waits.
    GivenUp {
        /// The call.
        call: CallId,
    },
    /// A message did not arrive.
    Dropped {
        /// The call.
        call: CallId,
        /// On its way to the server or back.
        leg: Leg,
    },
    /// A server sends a message to another one.
    PeerSent {
        /// The sender.
        from: ServerId,
        /// The receiver.
        to: ServerId,
        /// When it will arrive; [`Instant::NEVER`] if it is lost.
        arrives: Instant,
    },
    /// A thread passes a named moment.
    Passed {
        /// The thread.
        thread: ThreadId,
        /// The moment.
        moment: Moment,
        /// The process's own events so far, which is what a fault anchors at.
        step: u32,
    },
}

/// What a command did to a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// Made it where none was alive.
    Create,
    /// Replaced its value.
    Overwrite,
    /// Moved or removed its expiry.
    Extend,
    /// Deleted it.
    Delete,
    /// Found it past its deadline.
    Expire,
    /// Lost it together with other data: a restart, a failover, a flush, an eviction.
    Lose,
    /// Brought it back or over from another copy: a failover, a load, a resync.
    Restore,
}

/// The two legs of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Leg {
    /// From the client to the server.
    Request,
    /// Back to the client.
    Reply,
}

impl What {
    /// Returns whether this is detail for readers, which no checker judges.
    #[must_use]
    #[inline(always)]
    pub const fn is_detail(&self) -> bool {
        matches!(
            self,
            Self::Sent { .. }
                | Self::Applied { .. }
                | Self::Replied { .. }
                | Self::Seen { .. }
                | Self::GivenUp { .. }
                | Self::Dropped { .. }
                | Self::PeerSent { .. }
                | Self::Passed { .. }
        )
    }
}

impl Event {
    /// Adds the event to a run's hash.
    #[inline(always)]
    pub fn hash_into(&self, hash: &mut RollingHash) {
        let (first, second) = self.what.words();
        hash.word(self.at.as_nanos() ^ first.rotate_left(40));
        hash.word(first ^ second.rotate_left(17));
    }

    /// Returns the length from this event to a later instant.
    #[must_use]
    pub fn until(&self, later: Instant) -> Duration {
        later.since(self.at)
    }
}
