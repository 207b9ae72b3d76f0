//! What a node's disk has of its keys, and what a crash takes.
//!
//! The rules are those of [`fencepost_redis::Disk`]; here they are driven by the simulated clock,
//! and the ghost state goes to the disk and back together with the data, so that a key that was
//! there before a crash is its owner's again.
//!
//! A server looks at its timers ten times a second. Here nothing wakes it: what would have happened
//! since the last command is caught up with before the next one, which sees the same.

use fencepost_history::{Duration, GrantId, Instant, ServerId, WallTime};
use fencepost_redis::{
    Change, Command, Dataset, Disk, Engine, Flush, Fsync, KeyId, Outcome, Persistence, Redo,
    SavePoint,
};
use fencepost_sim::ServerContext;

use crate::Servers;

/// How a node keeps its data, where it keeps some and not all of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorageSetup {
    /// What it writes, and when.
    pub policy: Policy,
    /// How long the disk needs to bring to its platter what was written.
    pub fsync_time: Duration,
}

/// What a node writes to its disk, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Snapshots, whenever so many seconds have passed with so many changes; Redis' own rules if
    /// there are none.
    Snapshots(Vec<(i64, u64)>),
    /// An append-only file, brought to the platter every second.
    EverySecond,
    /// An append-only file, brought to the platter when the kernel likes to.
    Never,
}

/// How long the kernel keeps what it was given, at most (Redis documentation, "Redis persistence").
const WRITE_BACK: Duration = Duration::from_secs(30);

/// A node's data and whose each lock's key is.
#[derive(Clone, Debug)]
struct Kept {
    engine: Engine,
    /// By key.
    owners: Vec<GrantId>,
}

/// A write, and whose key it makes.
#[derive(Clone, Copy, Debug)]
struct Write {
    command: Command,
    owner: GrantId,
}

impl Dataset for Kept {
    fn clear(&mut self) {
        self.engine.clear();
        self.owners.fill(GrantId::NONE);
    }

    fn copy_from(&mut self, other: &Self) {
        self.engine.copy_from(&other.engine);
        self.owners.clone_from(&other.owners);
    }

    fn drop_dead(&mut self, now_ms: u64) {
        self.engine.drop_dead(now_ms);
    }
}

impl Redo<Write> for Kept {
    fn redo(&mut self, write: &Write) {
        Redo::<Command>::redo(&mut self.engine, &write.command);
        if let Some(key) = write.command.key() {
            self.owners[key.0 as usize] = write.owner;
        }
    }
}

/// A node's disk.
#[derive(Clone, Debug)]
pub(crate) struct Storage {
    server: ServerId,
    setup: StorageSetup,
    disk: Disk<Kept, Write>,
    /// The data as the disk's own rules see it: what a snapshot takes, and what a start finds.
    data: Kept,
    /// When the running fsync ends.
    synced_at: Instant,
    /// Up to when the timers have been caught up with.
    seen: Instant,
    /// The wall clock's reading at the last write.
    changed_ms: u64,
    is_fresh: bool,
}

impl Storage {
    pub(crate) fn new(server: ServerId, setup: StorageSetup, engine: &Engine) -> Self {
        let owners = vec![GrantId::NONE; engine.names().len()];
        let data = Kept { engine: engine.clone(), owners };
        let persistence = match &setup.policy {
            Policy::Snapshots(points) if points.is_empty() => Persistence::snapshots(),
            Policy::Snapshots(points) => Persistence {
                append: None,
                save_points: points
                    .iter()
                    .map(|&(seconds, changes)| SavePoint { seconds, changes })
                    .collect(),
            },
            Policy::EverySecond => Persistence::append_only(Fsync::EverySecond),
            Policy::Never => Persistence::append_only(Fsync::Never),
        };
        let disk = Disk::new(&data, persistence, 0);
        let (synced_at, seen) = (Instant::NEVER, Instant::ZERO);
        Self { server, setup, disk, data, synced_at, seen, changed_ms: 0, is_fresh: true }
    }

    pub(crate) fn reset(&mut self) {
        self.data.clear();
        self.synced_at = Instant::NEVER;
        self.seen = Instant::ZERO;
        self.changed_ms = 0;
        // The clock's first reading is not at hand here.
        self.is_fresh = true;
    }

    fn wall_ms(&self, cx: &ServerContext<'_, Servers>) -> u64 {
        cx.wall(self.server).as_nanos() / 1_000_000
    }

    /// Does what the server's timers would have done since the last command.
    pub(crate) fn catch_up(&mut self, cx: &ServerContext<'_, Servers>) {
        let now = cx.now();
        if std::mem::take(&mut self.is_fresh) {
            let age = now.since(Instant::ZERO).as_millis();
            self.disk.reset(self.wall_ms(cx).saturating_sub(age));
        }
        let periods = |at: Instant| at.as_nanos() / WRITE_BACK.as_nanos();
        if self.setup.policy == Policy::Never && periods(now) > periods(self.seen) {
            self.disk.written_back();
        }
        self.save(self.wall_ms(cx));
        while let Some(at) = self.next_turn(cx).filter(|at| *at <= now) {
            self.seen = self.seen.max(at);
            if self.synced_at <= self.seen {
                self.disk.fsync_ended();
                self.synced_at = Instant::NEVER;
                // What was held back meanwhile goes to the kernel in the next turn.
                let age = now.since(at).as_millis();
                self.end_turn(self.wall_ms(cx).saturating_sub(age), at);
            } else {
                // The turn takes place in the wall second that it was waited for.
                let wall_ms = self.disk.wakes_at().unwrap_or_default();
                self.end_turn(wall_ms, at);
            }
        }
        self.seen = now;
        self.disk.fold();
    }

    /// Makes the snapshot that has become due since the last command, as of the second when it was.
    fn save(&mut self, wall_ms: u64) {
        if self.disk.snapshot_is_due(wall_ms) {
            let seconds = self.changed_ms / 1_000..=wall_ms / 1_000;
            let due = seconds.map(|second| second * 1_000);
            let due = due.into_iter().find(|at| self.disk.snapshot_is_due(*at));
            let at = due.unwrap_or(wall_ms);
            self.disk.begin_snapshot(&self.data, at);
            self.disk.end_snapshot(true, at);
        }
    }

    /// Returns when the server has something to do without a command.
    fn next_turn(&self, cx: &ServerContext<'_, Servers>) -> Option<Instant> {
        let wakes = self.disk.wakes_at().map(|wall_ms| {
            let wall = WallTime::from_nanos(wall_ms.saturating_mul(1_000_000));
            cx.instant_of(self.server, wall).max(self.seen)
        });
        let next = wakes.unwrap_or(Instant::NEVER).min(self.synced_at);
        (next != Instant::NEVER).then_some(next)
    }

    fn end_turn(&mut self, wall_ms: u64, at: Instant) {
        if self.disk.turn_ended(wall_ms) == Flush::Background {
            self.synced_at = at + self.setup.fsync_time;
        }
    }

    /// Takes what a command changed; `owner` is whose its key is now.
    pub(crate) fn write(
        &mut self,
        command: &Command,
        outcome: &Outcome,
        owner: GrantId,
        cx: &ServerContext<'_, Servers>,
    ) {
        if outcome.change == Change::None && !outcome.expired && command.key().is_some() {
            return;
        }
        let wall_ms = self.wall_ms(cx);
        let (disk, data) = (&mut self.disk, &mut self.data);
        command.propagate(outcome, wall_ms, |command| {
            let write = Write { command, owner };
            data.redo(&write);
            disk.write(write);
        });
        self.changed_ms = wall_ms;
        self.disk.commit();
        self.end_turn(wall_ms, cx.now());
    }

    /// Loses what a death takes.
    pub(crate) fn crash(&mut self, has_power: bool, cx: &ServerContext<'_, Servers>) {
        self.catch_up(cx);
        if has_power {
            self.disk.kill();
        } else {
            self.disk.lose_power(0);
        }
        self.synced_at = Instant::NEVER;
    }

    /// Loads what is on the disk into a node's engine.
    pub(crate) fn start(&mut self, engine: &mut Engine, cx: &ServerContext<'_, Servers>) {
        let wall_ms = self.wall_ms(cx);
        self.seen = cx.now();
        self.disk.start(&mut self.data, wall_ms);
        engine.copy_data_from(&self.data.engine);
    }

    /// Returns whose a key is by what the disk had.
    pub(crate) fn owner(&self, key: KeyId) -> GrantId {
        self.data.owners[key.0 as usize]
    }
}
