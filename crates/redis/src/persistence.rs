//! What a server's disk holds, and what of it is there after a crash.
//!
//! This is plain data and pure rules: it has no file, no clock and no connection. Whoever runs a
//! server tells a [`Disk`] what happens, and asks it what a restart finds. It serves the typed
//! engine (`Disk<Engine, Command>`) and the one in bytes (`Disk<Engine, Operation>`) alike.
//!
//! # How it is used
//!
//! ```
//! use fencepost_redis::{Command, Disk, Engine, Flush, Fsync, Names, Persistence, Value};
//!
//! let mut names = Names::new();
//! let lock = names.key("lock");
//! let mut engine = Engine::with_names(names);
//! let persistence = Persistence::append_only(Fsync::Always);
//! let mut disk: Disk<Engine, Command> = Disk::new(&engine, persistence, 1_000);
//!
//! // A command is carried out; what it is to replicas goes to the disk, as one group.
//! let command = Command::set_nx_px(lock, Value::Integer(1), 30_000);
//! let outcome = engine.execute(&command, 1_000);
//! command.propagate(&outcome, 1_000, |write| disk.write(write));
//! disk.commit();
//!
//! // The turn of the event loop ends. Here the reply has to wait for the fsync.
//! assert_eq!(disk.turn_ended(1_000), Flush::Foreground);
//! disk.fsync_ended();
//! disk.fold(); // what no fault can take away need not be kept as single writes
//!
//! disk.kill(); // SIGKILL; or `lose_power`, or `shut_down`
//! disk.start(&mut engine, 2_000);
//! assert!(engine.entry(lock, 2_000).is_some());
//! ```
//!
//! The order of calls, for a server that is driven by events:
//!
//! - a command changed something: [`Disk::write`] for each of its effects, then
//!   [`Disk::commit`].
//! - the event loop is about to wait, and at least ten times a second: [`Disk::turn_ended`];
//!   without ticks, at [`Disk::wakes_at`].
//! - [`Flush::Foreground`]: replies of the turn, and the whole server, wait; then
//!   [`Disk::fsync_ended`].
//! - [`Flush::Background`]: replies go out; after the fsync's time [`Disk::fsync_ended`].
//! - [`Flush::Postponed`]: replies go out, though SIGKILL would lose the writes.
//! - BGSAVE, or [`Disk::snapshot_is_due`]: [`Disk::begin_snapshot`], later
//!   [`Disk::end_snapshot`].
//! - BGREWRITEAOF: [`Disk::begin_rewrite`], later [`Disk::end_rewrite`].
//! - a full copy came from a master: [`Disk::replace`], later [`Disk::end_rewrite`].
//! - the kernel's own write-back, every 30 s or so: [`Disk::written_back`].
//! - SIGKILL, power loss, SIGTERM: [`Disk::kill`], [`Disk::lose_power`], [`Disk::shut_down`].
//! - the process starts again: [`Disk::start`]; LOADING lasts for [`Loaded::micros`].
//!
//! # What is modelled
//!
//! Sources: `src/aof.c` (`flushAppendOnlyFile`), `src/rdb.c`, `src/server.c` (`serverCron`,
//! `finishShutdown`) of Redis 7.0.15.
//!
//! - A write is in three places, one after the other: the server's own memory, the kernel, the
//!   platter. SIGKILL loses the first, a power loss the first two.
//! - `write(2)` comes before the replies of the turn, except with `everysec` while the background
//!   fsync runs: then the server answers and keeps the writes in its memory, for 1 to 2 s, since it
//!   counts whole seconds.
//! - `everysec` compares whole seconds of the **wall** clock with those of the last fsync. A step
//!   back by d switches it off for d. The same holds for save points.
//! - A snapshot says where in its replication's history it was made; with that a replica, or the
//!   replicas of a master, may continue after a restart. The append-only file does not say it.
//! - After a full copy a replica's append-only file is written anew; killed before that has ended,
//!   it finds its old one.
//! - The torn tail of the append-only file is dropped at load, a transaction as a whole.
//! - A snapshot drops keys that are dead by the time it is loaded; the append-only file brings
//!   them back, dead.
//!
//! It does not know what a lock is, or when the caller's faults happen; how long an fsync takes and
//! how much of the kernel's memory reached the platter by chance is the caller's choice.

mod append_log;
mod disk;
mod snapshot;

#[cfg(test)]
mod tests;

pub use disk::Disk;

use crate::{
    command::Command,
    effects::{Operation, StandingClock},
    engine::Engine,
    replication::Position,
};

/// When the append-only file is brought from the kernel to the platter: `appendfsync`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Fsync {
    /// Before every reply: `always`.
    Always,
    /// Once a second by the wall clock, in the background: `everysec`, the default.
    #[default]
    EverySecond,
    /// When the kernel likes to: `no`.
    Never,
}

/// A rule of `save`: after this many seconds, if there were this many changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SavePoint {
    /// Seconds since the last snapshot, which must have passed.
    pub seconds: i64,
    /// The least number of changes.
    pub changes: u64,
}

/// How a server keeps its data.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Persistence {
    /// The append-only file, if there is one: it alone is loaded at a start then.
    pub append: Option<Fsync>,
    /// The save points; without any, no snapshot is made unless somebody asks.
    pub save_points: Vec<SavePoint>,
}

impl Persistence {
    /// Keeps nothing: `save ""`, `appendonly no`.
    pub const NONE: Self = Self { append: None, save_points: Vec::new() };

    /// Keeps an append-only file and no snapshots.
    #[must_use]
    pub const fn append_only(fsync: Fsync) -> Self {
        Self { append: Some(fsync), save_points: Vec::new() }
    }

    /// Keeps snapshots and no append-only file, by the rules of a server without configuration.
    #[must_use]
    pub fn snapshots() -> Self {
        let point = |seconds, changes| SavePoint { seconds, changes };
        Self { append: None, save_points: vec![point(3600, 1), point(300, 100), point(60, 10_000)] }
    }
}

/// What the end of a turn of the event loop asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flush {
    /// Nothing more; what there was to write is in the kernel.
    Done,
    /// An fsync begins, and the whole server waits for it before any reply.
    Foreground,
    /// An fsync begins in the background; the replies go out at once.
    Background,
    /// A background fsync runs, and the writes stay in the server's memory.
    Postponed,
}

/// What a shutdown does about a snapshot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Saving {
    /// One is made if there are save points: SIGTERM, and `SHUTDOWN` without a word.
    #[default]
    AsConfigured,
    /// `SHUTDOWN SAVE`.
    Always,
    /// `SHUTDOWN NOSAVE`.
    Never,
}

/// What a start found on the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Loaded {
    /// Whether it was the append-only file.
    pub from_log: bool,
    /// How many writes were redone.
    pub writes: u64,
    /// Where in a history the snapshot was made, if it was: for
    /// [`Replication::restored`](crate::Replication::restored).
    pub position: Option<Position>,
}

impl Loaded {
    /// Gives how long the start takes with this many keys, in microseconds; LOADING is the answer
    /// meanwhile.
    ///
    /// Measured on a quiet machine: 20 ms for an empty server; a million small keys take 0.7 s from
    /// a snapshot and 1.9 s from an append-only file, which costs per write.
    #[must_use]
    pub const fn micros(self, keys: u64) -> u64 {
        let millionths = if self.from_log { 1_900_000 } else { 700_000 };
        let steps = if self.from_log && self.writes > keys { self.writes } else { keys };
        20_000 + steps.saturating_mul(millionths) / 1_000_000
    }
}

/// A set of data that can be saved and brought back.
pub trait Dataset: Clone {
    /// Removes everything.
    fn clear(&mut self);

    /// Becomes equal to another set, reusing memory.
    fn copy_from(&mut self, other: &Self);

    /// Removes the keys that are dead at this wall time.
    fn drop_dead(&mut self, now_ms: u64);
}

/// A set of data that a write can be carried out on again, as a load or a replica does.
pub trait Redo<W>: Dataset {
    /// Carries the write out: nothing is refused, and no key counts as dead.
    fn redo(&mut self, write: &W);
}

impl Dataset for Engine {
    fn clear(&mut self) {
        self.drop_data();
    }

    fn copy_from(&mut self, other: &Self) {
        self.take_data_of(other);
    }

    fn drop_dead(&mut self, now_ms: u64) {
        self.drop_dead_keys(now_ms);
    }
}

impl Redo<Command> for Engine {
    fn redo(&mut self, write: &Command) {
        self.apply(write);
    }
}

impl Redo<Operation> for Engine {
    fn redo(&mut self, write: &Operation) {
        self.apply_operation(write, &mut StandingClock(0));
    }
}
