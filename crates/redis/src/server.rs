//! The server around the keyspace: connections, configuration, and one step of the event loop.

mod blocking;
mod config;
mod connection;
mod context;
mod dispatch;
mod events;
mod replicating;
mod running;
mod storing;
mod tick;

use std::collections::BTreeMap;

pub(crate) use blocking::{Blocked, Wish};
pub use config::{Config, ConfigError};
pub use connection::Health;
pub(crate) use connection::{Connection, ReplyMode, Watch};
pub(crate) use context::{Context, Origin, Refusal, text_content};
#[cfg(feature = "lua")]
pub(crate) use dispatch::call_from_script;
pub(crate) use events::EventClass;
#[cfg(feature = "lua")]
pub(crate) use running::SLICE;
pub(crate) use running::{Ahead, Running};
pub(crate) use storing::Shutdown;

use crate::{
    effects::{Clock, ConnectionId, Effects, Input, Operation},
    engine::{Engine, Role},
    persistence::{Disk, Saving},
    replication::{Replication, ReplicationSettings},
    reply::ErrorCode,
};

/// What a server keeps besides its data and its names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Server {
    pub(crate) config: Config,
    pub(crate) health: Health,
    pub(crate) connections: BTreeMap<ConnectionId, Connection>,
    /// The number the next connection gets as its CLIENT ID.
    pub(crate) next_client: i64,
    /// The turn that the next client gets which is blocked, held back or free again.
    pub(crate) next_turn: u64,
    pub(crate) pause: Option<Pause>,
    /// Keys that got something a blocked client may wait for, in this command.
    pub(crate) ready: Vec<(usize, Vec<u8>)>,
    /// What the present top-level command has to say to the replicas so far.
    pub(crate) pending: Vec<Operation>,
    /// Whether the active expiry cycle runs; DEBUG can stop it.
    pub(crate) active_expiry: bool,
    /// The monotonic time of the last active expiry cycle.
    pub(crate) last_cycle: u64,
    /// The state behind RANDOMKEY and its like.
    pub(crate) random: u64,
    pub(crate) expired_keys: u64,
    /// How many names made up by clients there may be before the unused ones are forgotten.
    pub(crate) names_limit: usize,
    /// Cached scripts by their SHA-1.
    pub(crate) scripts: BTreeMap<String, Vec<u8>>,
    pub(crate) replication: Replication<Operation>,
    /// The host of the master, at a replica; its port is known to the replication.
    pub(crate) master_host: String,
    /// Whether a connection to the master is to be tried at the end of this step.
    tries_master: bool,
    /// The monotonic time of the last cron of replication.
    last_cron: Option<u64>,
    /// What survives the process; made when it is first needed.
    disk: Option<Box<Disk<Engine, Operation>>>,
    /// The monotonic time up to which data are being loaded.
    loads_until: Option<u64>,
    pub(crate) shutdown: Option<Shutdown>,
    /// Whether a rewrite, or a snapshot, begins when the other child has ended.
    pub(crate) rewrite_scheduled: bool,
    pub(crate) snapshot_scheduled: bool,
    /// The state behind `math.random` of scripts.
    pub(crate) script_random: u64,
    /// The script that has not ended yet.
    pub(crate) running: Option<Box<Running>>,
}

/// Up to this many names made up by clients are kept without asking whether they are used.
const NAMES_LIMIT: usize = 1024;

impl Default for Server {
    fn default() -> Self {
        Self {
            config: Config::default(),
            health: Health::default(),
            connections: BTreeMap::new(),
            next_client: 1,
            next_turn: 0,
            pause: None,
            ready: Vec::new(),
            pending: Vec::new(),
            active_expiry: true,
            last_cycle: 0,
            random: 1,
            expired_keys: 0,
            names_limit: NAMES_LIMIT,
            scripts: BTreeMap::new(),
            replication: Replication::new(0),
            master_host: String::new(),
            tries_master: false,
            last_cron: None,
            disk: None,
            loads_until: None,
            shutdown: None,
            rewrite_scheduled: false,
            snapshot_scheduled: false,
            script_random: crate::script::SEED,
            running: None,
        }
    }
}

/// CLIENT PAUSE in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Pause {
    /// The wall time in milliseconds at which it ends.
    pub(crate) until: i64,
    /// Whether reads go on.
    pub(crate) writes_only: bool,
}

impl Server {
    /// Ends every connection and forgets scripts and pauses, as a restart does; the configuration
    /// stays, and so does the disk.
    pub(crate) fn restart(&mut self, wall_ms: u64) {
        let mut replication = std::mem::replace(&mut self.replication, Replication::new(0));
        replication.restart(wall_ms);
        let (config, disk) = (std::mem::take(&mut self.config), self.disk.take());
        *self = Self { config, disk, replication, ..Self::default() };
    }

    /// What holds commands back at this wall time: CLIENT PAUSE, a failover, or a shutdown that
    /// waits for replicas.
    pub(crate) fn pause_at(&self, now: i64) -> Option<Pause> {
        let asked = self.pause.filter(|pause| now < pause.until);
        if self.replication.fails_over() || self.shutdown.is_some() {
            let writes_only = asked.is_none_or(|pause| pause.writes_only);
            return Some(Pause { until: i64::MAX, writes_only });
        }
        asked
    }

    /// Hands the parameters on to whom they concern.
    pub(crate) fn settle_config(&mut self, wall_ms: u64) {
        let before: ReplicationSettings = self.replication.settings;
        self.replication.settings = self.config.replication;
        if before != self.config.replication {
            self.replication.renew_good_replicas(wall_ms);
        }
        if let Some(disk) = &mut self.disk {
            disk.persistence_mut().clone_from(&self.config.persistence);
        }
    }

    /// Tells whether a replica may not answer from its data.
    pub(crate) fn is_stale(&self) -> bool {
        let link = self.replication.master_link();
        !self.config.serves_stale_data
            && link.is_some_and(|link| link != crate::replication::MasterLink::Connected)
    }

    /// Tells whether a client watches this key.
    fn watches(&self, key: u32) -> bool {
        let mut watches = self.connections.values().flat_map(|client| &client.watches);
        watches.any(|watch| watch.key == key)
    }

    /// Gives the next turn.
    pub(crate) const fn take_turn(&mut self) -> u64 {
        self.next_turn += 1;
        self.next_turn - 1
    }

    /// Draws the next number below the bound, which is at least 1.
    pub(crate) const fn draw(&mut self, bound: usize) -> usize {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        ((self.random >> 33) % bound as u64) as usize
    }
}

impl Context<'_> {
    /// Takes one input.
    fn take(&mut self, input: Input) {
        match input {
            Input::Request { connection, words } => self.receive(connection, words),
            Input::Tick => self.tick(),
            Input::Disconnect { connection } => self.forget(connection),
            Input::Resume => self.resume(),
            Input::MasterConnected => self.master_connected(),
            Input::MasterLost => self.master_lost(),
            Input::FromMaster(said) => self.hear_master(said),
            Input::FromReplica { link, said } => self.hear_replica(link, said),
            Input::ReplicaLost { link } => self.replica_lost(link),
            Input::FsyncEnded => self.fsync_ended(),
            Input::SnapshotEnded => self.snapshot_ended(),
            Input::RewriteEnded => self.rewrite_ended(),
            Input::Terminate => self.begin_shutdown(Saving::AsConfigured, true),
        }
        self.end_turn();
        self.out.busy = self.engine.server.running.is_some();
    }
}

impl Engine {
    /// Forgets the names of keys that are gone, if there are many: what clients make up must not
    /// stay for ever. The limit doubles with what is in use, so the cost per name is constant.
    fn release_names(&mut self) {
        if self.names.transient_len() < self.server.names_limit {
            return;
        }
        let (databases, server) = (&self.databases, &self.server);
        self.names.release(|id| {
            let slots = databases.iter().filter_map(|database| database.peek(id));
            slots.into_iter().any(|slot| !slot.content.is_absent()) || server.watches(id)
        });
        self.server.names_limit = NAMES_LIMIT.max(self.names.transient_len() * 2);
    }

    /// Takes one input and appends what the server does about it.
    ///
    /// The order of inputs is the order in which the server's one thread meets them. Time is read
    /// from `clock` and passes only there.
    ///
    /// A script gets an interpreter of its own here; who sends many of them keeps one and uses
    /// [`Engine::step_with`].
    pub fn step(&mut self, input: Input, clock: &mut dyn Clock, out: &mut Effects) {
        Context::new(self, clock, out).take(input);
        self.release_names();
    }

    /// Does what [`Engine::step`] does; scripts run in this interpreter.
    #[cfg(feature = "lua")]
    pub fn step_with(
        &mut self,
        interpreter: &mut crate::Interpreter,
        input: Input,
        clock: &mut dyn Clock,
        out: &mut Effects,
    ) {
        let mut cx = Context::new(self, clock, out);
        cx.interpreter = Some(interpreter);
        cx.take(input);
        self.release_names();
    }

    /// Sets a parameter as the configuration file or CONFIG SET does.
    ///
    /// # Errors
    ///
    /// Gives an error if the value does not fit the parameter.
    pub fn configure(&mut self, name: &str, value: &str) -> Result<(), ConfigError> {
        self.server.config.set(name, value)?;
        self.server.settle_config(0);
        Ok(())
    }

    /// Gives the configuration, the version among it.
    pub const fn config_mut(&mut self) -> &mut Config {
        &mut self.server.config
    }

    /// Has the server make ids of its histories from this seed: no two servers may share one.
    pub fn seed_replication(&mut self, seed: u64) {
        self.server.replication = Replication::new(seed);
    }

    /// Gives the server's part in replication.
    pub const fn replication(&self) -> &Replication<Operation> {
        &self.server.replication
    }

    /// Gives what makes the server refuse commands for reasons outside of it.
    pub const fn health_mut(&mut self) -> &mut Health {
        &mut self.server.health
    }

    /// Ends every connection and forgets cached scripts, as a restart of the process does. The
    /// data stays: what a restart leaves of it is the caller's business.
    pub fn restart(&mut self) {
        self.server.restart(0);
    }

    /// Makes a master a replica: clients that wait for something here are told so.
    pub fn demote(&mut self, clock: &mut dyn Clock, out: &mut Effects) {
        self.role = Role::Replica;
        Context::new(self, clock, out).unblock_all(ErrorCode::Unblocked.text());
    }

    /// Carries out a command of the replication stream or of the append-only file: nothing is
    /// refused and no key counts as dead.
    pub fn apply_operation(&mut self, operation: &Operation, clock: &mut dyn Clock) {
        let mut discarded = Effects::new();
        Context::new(self, clock, &mut discarded).apply(operation);
        self.server.ready.clear();
    }
}
