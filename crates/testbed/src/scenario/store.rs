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
        /// How many replicas copy the master r1; they are called r2, r3 and so on. Defaults to one
        /// where the topology is `replicated`, and to two where it is `sentinel`.
        replicas: u32 = 0,
        /// How long a change waits in the master before it leaves for a replica; the master's death
        /// loses what has not left.
        lag: Duration = Duration::from_micros(100),
        /// How single replicas differ, in their order.
        replica: Vec<Replica> = Vec::new(),
        /// How many replicas the master must have heard of lately to take a write.
        min_replicas: u32 = 0,
        /// For how long a replica counts that is silent.
        min_replicas_max_lag: Duration = Duration::from_secs(10),
        /// How many sentinels watch the servers; they are called s1, s2 and so on.
        sentinels: u32 = 3,
        /// How many sentinels must hold the master for down before one of them acts.
        quorum: u32 = 2,
        /// For how long a server may give a sentinel no answer.
        down_after: Duration = Duration::from_secs(30),
        /// How soon sentinels repeat a failover that did not come about: after twice this.
        failover_timeout: Duration = Duration::from_secs(180),
        /// How clients find the master. Defaults to `sentinels` where the topology is `sentinel`.
        discovery: Discovery = Discovery::Address,
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

section! {
    /// How one replica differs from the others.
    pub struct Replica {
        /// How long a change waits in the master before it leaves for it; defaults to the store's
        /// `lag`.
        lag?: Duration,
        /// Which replica sentinels prefer: the one with the lowest number, and never one with 0.
        priority: u32 = 100,
    }
}

words! {
    /// How clients find the master.
    pub enum Discovery {
        /// An address that moves to the new master when it is promoted.
        #[default]
        Address = "address",
        /// They ask the sentinels, and again when no reply comes or a replica refuses them.
        Sentinels = "sentinels",
        /// They ask once and are told of each new master; a missing reply alarms nobody.
        SwitchMaster = "switch-master",
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
    /// Returns whether there are replicas.
    #[must_use]
    pub const fn has_replicas(self) -> bool {
        matches!(self, Self::Replicated | Self::Sentinel)
    }
}

impl Store {
    /// Returns the names of the servers that answer lock commands.
    #[must_use]
    pub fn server_names(&self) -> Vec<String> {
        let Self::Redis(redis) = self;
        let replicas = if redis.topology.has_replicas() { redis.replicas } else { 0 };
        (1..=redis.nodes.0.saturating_add(replicas)).map(|number| format!("r{number}")).collect()
    }

    /// Returns the names of the sentinels.
    #[must_use]
    pub fn sentinel_names(&self) -> Vec<String> {
        let Self::Redis(redis) = self;
        let count = if redis.topology == Topology::Sentinel { redis.sentinels } else { 0 };
        (1..=count).map(|number| format!("s{number}")).collect()
    }
}
