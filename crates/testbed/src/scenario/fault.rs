//! `[[fault]]`: what goes wrong in this run, and when.

use fencepost_history::Duration;

use super::anchor::{Anchor, MessageAnchor};
use super::numbers::Shift;
use super::section::{section, tagged, words};

tagged! {
    /// One thing done to the world.
    pub enum Fault {
        /// All threads of a process stop for a while, and know nothing of it.
        Pause(Pause) = "pause",
        /// One thread stops for a while; the other threads of its process go on.
        Stall(Stall) = "stall",
        /// A process dies, with everything that it had in memory.
        Crash(Crash) = "crash",
        /// One message is lost.
        Lose(Lose) = "lose",
        /// One message arrives late.
        Delay(Delay) = "delay",
        /// No message passes between two machines for a while.
        Partition(Partition) = "partition",
        /// A server goes down and comes back with what it persisted.
        ServerRestart(ServerRestart) = "server-restart",
        /// A server answers nobody for a while.
        ServerStall(ServerStall) = "server-stall",
        /// The master dies, and somebody promotes a replica some time later.
        Failover(Failover) = "failover",
        /// Changes no longer reach a replica for a while; its connection stays.
        ReplicationStall(StreamFault) = "replication-stall",
        /// The connection of a replica to its master breaks and is made anew after a while.
        ReplicationCut(StreamFault) = "replication-cut",
        /// Some machines are cut off from all others.
        Split(Split) = "split",
        /// A server answers with an error for a while.
        ServerErrors(ServerErrors) = "server-errors",
        /// A server throws the lock's key out to make room.
        Evict(Evict) = "evict",
        /// The wall clock of a machine jumps.
        ClockStep(ClockStep) = "clock-step",
        /// The clocks of a machine run too fast or too slow from now on.
        ClockRate(ClockRate) = "clock-rate",
        /// The clocks of a machine are corrected little by little.
        ClockSlew(ClockSlew) = "clock-slew",
        /// Somebody who is no client sends a command to a server.
        Outsider(Outsider) = "outsider",
        /// The protected resource forgets the highest token that it has seen.
        ForgetTokens(ForgetTokens) = "forget-tokens",
    }
}

section! {
    /// All threads of a process stop for a while: garbage collection, a stopped virtual machine.
    pub struct Pause {
        /// The client.
        process: String,
        /// When it begins.
        ..anchor: Anchor,
        /// How long it lasts.
        length @ "for": Duration,
    }
}

section! {
    /// One thread stops for a while: a slow query, a starved thread pool.
    pub struct Stall {
        /// The thread, such as `c1/worker` or `c1/renewer`.
        thread: String,
        /// When it begins.
        ..anchor: Anchor,
        /// How long it lasts.
        length @ "for": Duration,
    }
}

section! {
    /// A process dies, with everything that it had in memory.
    pub struct Crash {
        /// The client.
        process: String,
        /// When it happens.
        ..anchor: Anchor,
        /// How long after it the process is started again; `"none"` for never.
        restart_after: Option<Duration> = None,
    }
}

section! {
    /// One message is lost: a request, or from a server to a client its reply.
    pub struct Lose {
        /// The sender, a client or a server.
        from: String,
        /// The receiver.
        to: String,
        /// Which message.
        ..anchor: MessageAnchor,
    }
}

section! {
    /// One message arrives late: a request, or from a server to a client its reply.
    pub struct Delay {
        /// The sender, a client or a server.
        from: String,
        /// The receiver.
        to: String,
        /// Which message.
        ..anchor: MessageAnchor,
        /// How much longer than usual it takes.
        length @ "for": Duration,
    }
}

section! {
    /// No message passes between two machines for a while.
    pub struct Partition {
        /// The two machines.
        between: (String, String),
        /// Whether only messages from the first to the second are lost.
        one_way: bool = false,
        /// When it begins.
        ..anchor: Anchor,
        /// How long it lasts; `"none"` for the rest of the run.
        length @ "for": Option<Duration> = None,
    }
}

section! {
    /// A server goes down and comes back with what it persisted.
    pub struct ServerRestart {
        /// The server.
        server: String,
        /// When it goes down.
        ..anchor: Anchor,
        /// How long it is down.
        length @ "for": Duration = Duration::from_secs(1),
        /// Whether its whole machine loses power, with what only its kernel had.
        power_loss: bool = false,
    }
}

section! {
    /// A server answers nobody for a while: a slow command, a fork, a full disk queue.
    pub struct ServerStall {
        /// The server.
        server: String,
        /// When it begins.
        ..anchor: Anchor,
        /// How long it lasts.
        length @ "for": Duration,
    }
}

section! {
    /// The master dies, and somebody promotes a replica some time later.
    pub struct Failover {
        /// The master.
        master: String = "r1".to_owned(),
        /// The replica.
        to: String = "r2".to_owned(),
        /// When the master dies.
        ..anchor: Anchor,
        /// How long after that the replica is promoted.
        after: Duration,
        /// How long after its death the old master comes back, as a replica; `"none"` for never.
        back_after: Option<Duration> = None,
    }
}

section! {
    /// Something happens to what a master sends to one of its replicas.
    pub struct StreamFault {
        /// The master.
        master: String = "r1".to_owned(),
        /// The replica.
        replica: String,
        /// When it begins.
        ..anchor: Anchor,
        /// How long it lasts; `"none"` for the rest of the run.
        length @ "for": Option<Duration> = None,
    }
}

section! {
    /// Some machines are cut off from all others; among themselves they can talk, and everybody
    /// still reaches the protected resource.
    pub struct Split {
        /// The machines: servers of the store, sentinels, clients.
        off: Vec<String> = Vec::new(),
        /// When it begins.
        ..anchor: Anchor,
        /// How long it lasts; `"none"` for the rest of the run.
        length @ "for": Option<Duration> = None,
    }
}

section! {
    /// A server answers with an error for a while.
    pub struct ServerErrors {
        /// The server.
        server: String,
        /// The error.
        error: ServerError,
        /// When it begins.
        ..anchor: Anchor,
        /// How long it lasts.
        length @ "for": Duration,
    }
}

words! {
    /// An error that a server answers with.
    pub enum ServerError {
        /// Its memory is full: `OOM`, to writes.
        #[default]
        OutOfMemory = "oom",
        /// It could not save a snapshot: `MISCONF`, to writes.
        Misconf = "misconf",
        /// It holds itself for a replica: `READONLY`, to writes.
        ReadOnly = "readonly",
        /// It has too few replicas: `NOREPLICAS`, to writes.
        NoReplicas = "noreplicas",
        /// It reads its data from disk: `LOADING`, to everything.
        Loading = "loading",
    }
}

section! {
    /// A server throws the lock's key out to make room.
    pub struct Evict {
        /// The server.
        server: String,
        /// When it happens.
        ..anchor: Anchor,
    }
}

section! {
    /// The wall clock of a machine jumps.
    pub struct ClockStep {
        /// The client or server.
        host: String,
        /// When it jumps.
        ..anchor: Anchor,
        /// By how much, forward (`"+15s"`) or back (`"-3s"`).
        by: Shift,
    }
}

section! {
    /// The clocks of a machine run too fast or too slow from now on.
    pub struct ClockRate {
        /// The client or server.
        host: String,
        /// When it begins.
        ..anchor: Anchor,
        /// By how many millionths too fast; a negative number is too slow.
        ppm: i64,
    }
}

section! {
    /// The clocks of a machine are corrected little by little, as NTP daemons do.
    pub struct ClockSlew {
        /// The client or server.
        host: String,
        /// When it begins.
        ..anchor: Anchor,
        /// By how much in all, forward (`"+300ms"`) or back (`"-300ms"`).
        by: Shift,
        /// By how many millionths the clocks run too fast or too slow meanwhile: 500 is ntpd's
        /// rate, 83333 the most that chrony uses.
        ppm: u32 = 500,
    }
}

section! {
    /// Somebody who is no client sends a command to a server.
    pub struct Outsider {
        /// The server.
        server: String,
        /// When it arrives.
        ..anchor: Anchor,
        /// The command, as one would type it.
        command: String,
    }
}

section! {
    /// The protected resource forgets the highest token that it has seen.
    pub struct ForgetTokens {
        /// The resource.
        resource: String,
        /// When it forgets.
        ..anchor: Anchor,
    }
}

impl Fault {
    /// Returns whether it is an operation of a server, and not a fault that any machine can have.
    #[must_use]
    pub const fn is_operation(&self) -> bool {
        matches!(
            self,
            Self::Outsider(_)
                | Self::ForgetTokens(_)
                | Self::Failover(_)
                | Self::ReplicationStall(_)
                | Self::ReplicationCut(_)
                | Self::Split(_)
                | Self::ServerErrors(_)
                | Self::Evict(_)
        )
    }

    /// Returns when it begins, unless that is the sending of a message.
    #[must_use]
    pub const fn anchor(&self) -> Option<&Anchor> {
        match self {
            Self::Pause(fault) => Some(&fault.anchor),
            Self::Stall(fault) => Some(&fault.anchor),
            Self::Crash(fault) => Some(&fault.anchor),
            Self::Lose(_) | Self::Delay(_) => None,
            Self::Partition(fault) => Some(&fault.anchor),
            Self::ServerRestart(fault) => Some(&fault.anchor),
            Self::ServerStall(fault) => Some(&fault.anchor),
            Self::Failover(fault) => Some(&fault.anchor),
            Self::ReplicationStall(fault) | Self::ReplicationCut(fault) => Some(&fault.anchor),
            Self::Split(fault) => Some(&fault.anchor),
            Self::ServerErrors(fault) => Some(&fault.anchor),
            Self::Evict(fault) => Some(&fault.anchor),
            Self::ClockStep(fault) => Some(&fault.anchor),
            Self::ClockRate(fault) => Some(&fault.anchor),
            Self::ClockSlew(fault) => Some(&fault.anchor),
            Self::Outsider(fault) => Some(&fault.anchor),
            Self::ForgetTokens(fault) => Some(&fault.anchor),
        }
    }
}
