//! `[store]`: the service that keeps the lock.

use fencepost_history::Duration;

use super::numbers::NodeCount;
use super::section::{section, tagged, words};

tagged! {
    /// The service that keeps the lock.
    pub enum Store {
        /// Redis, in one of its topologies.
        Redis(Redis) = "redis",
    }
}

impl Default for Store {
    fn default() -> Self {
        Self::Redis(Redis::default())
    }
}

section! {
    /// Redis, in one of its topologies.
    pub struct Redis {
        /// How many servers there are, and what they are to each other.
        topology: Topology = Topology::Single,
        /// The servers that answer lock commands; they are called r1, r2 and so on.
        nodes: NodeCount = NodeCount(1),
        /// The version whose behaviour is simulated.
        version: Version = Version::V7_0,
        /// How long a server needs for a command.
        command_time: Duration = Duration::from_micros(2),
        /// How long a server needs for a script.
        script_time: Duration = Duration::from_micros(20),
        /// What a server still has after a restart.
        persistence: Persistence = Persistence::Always,
        /// When a snapshot is made where the persistence is `rdb`. Defaults to the rules of a
        /// server without configuration: 1 change in 1 h, 100 in 5 min, or 10000 in 1 min.
        save: Vec<SavePoint> = Vec::new(),
        /// How long the disk needs to bring to its platter what was written, where the persistence
        /// is `everysec`: meanwhile a server keeps further writes in its own memory.
        fsync_time: Duration = Duration::ZERO,
        /// How long a server answers `LOADING` after a restart.
        load_time: Duration = Duration::from_millis(20),
        /// How long a server stays down at least when it has died, however soon it could be back:
        /// the delayed restart that the documentation of Redlock asks for.
        delayed_restart: Duration = Duration::ZERO,
    }
}

section! {
    /// When a snapshot is made.
    pub struct SavePoint {
        /// How long after the last snapshot.
        after: Duration,
        /// With how many changes since then.
        changes: u32 = 1,
    }
}

words! {
    /// How many servers there are, and what they are to each other.
    pub enum Topology {
        /// One server.
        #[default]
        Single = "single",
        /// A master and replicas that copy it.
        Replicated = "replicated",
        /// A master and replicas, watched by sentinels that promote a replica.
        Sentinel = "sentinel",
        /// Servers that know nothing of each other, as Redlock uses them.
        Independent = "independent",
    }
}

words! {
    /// A version of Redis.
    pub enum Version {
        /// Redis 7.0: a script sees time go on.
        #[default]
        V7_0 = "7.0",
        /// Redis 7.2: a script sees time stand still.
        V7_2 = "7.2",
    }
}

words! {
    /// What a server still has after a restart.
    pub enum Persistence {
        /// Everything that it acknowledged: an append-only file, synced before each reply.
        #[default]
        Always = "always",
        /// All but the last second or two: an append-only file, synced once a second.
        EverySecond = "everysec",
        /// All but what the kernel had not written back, up to 30 s, if the machine loses power.
        No = "no",
        /// What the last snapshot had.
        Rdb = "rdb",        /// Nothing: neither an append-only file nor snapshots.
        None = "none",
    }
}

impl Topology {
    /// Returns whether this version of the program can simulate it.
    pub(super) const fn is_available(self) -> bool {
        match self {
            Self::Single | Self::Independent => true,
            Self::Replicated | Self::Sentinel => false,
        }
    }
}

impl Version {
    /// Returns whether this version of the program can simulate it.
    pub(super) const fn is_available(self) -> bool {
        match self {
            Self::V7_0 => true,
            Self::V7_2 => false,
        }
    }
}

impl Store {
    /// Returns the names of the servers that answer lock commands.
    #[must_use]
    pub fn server_names(&self) -> Vec<String> {
        let Self::Redis(redis) = self;
        (1..=redis.nodes.0).map(|number| format!("r{number}")).collect()
    }
}
