//! A server's disk.

use super::{
    Flush, Fsync, Loaded, Persistence, Redo, Saving, append_log::AppendLog, snapshot::Snapshots,
};
use crate::replication::Position;

/// What a server keeps on its disk and what is on the way there, as plain data.
///
/// `D` is the data and `W` a write as replicas get it. Without an append-only file, writes are only
/// counted. See the [module](crate::persistence) for the order of calls.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Disk<D, W> {
    persistence: Persistence,
    snapshots: Snapshots<D>,
    log: Log<D, W>,
    /// What a start finds instead, as long as the log above is being written anew from a copy.
    superseded: Option<Box<Log<D, W>>>,
    /// Where in its replication's history the server is.
    position: Option<Position>,
}

/// The append-only file: its base and what comes behind.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Log<D, W> {
    /// What the folded writes come to.
    base: D,
    tail: AppendLog<W>,
}

impl<D: Redo<W>, W> Disk<D, W> {
    /// Makes the disk of a server that starts for the first time, at this wall time, with `empty`
    /// for data.
    pub fn new(empty: &D, persistence: Persistence, wall_ms: u64) -> Self {
        let now = seconds(wall_ms);
        let snapshots = Snapshots::new(empty, now);
        let log = Log { base: empty.clone(), tail: AppendLog::new(now) };
        Self { persistence, snapshots, log, superseded: None, position: None }
    }

    /// Makes the disk empty, keeping its memory for the next run.
    pub fn reset(&mut self, wall_ms: u64) {
        let now = seconds(wall_ms);
        self.snapshots.reset(now);
        self.log.base.clear();
        self.log.tail.reset(now);
        (self.superseded, self.position) = (None, None);
    }

    /// Tells how the server keeps its data.
    pub const fn persistence(&self) -> &Persistence {
        &self.persistence
    }

    /// Changes how, as CONFIG SET does to `appendfsync` and `save`.
    pub const fn persistence_mut(&mut self) -> &mut Persistence {
        &mut self.persistence
    }

    /// Takes a write that the server has carried out, which is one change.
    pub fn write(&mut self, write: W) {
        self.changed(1);
        self.append(write);
    }

    /// Takes a write whose changes are counted apart.
    pub fn append(&mut self, write: W) {
        if self.persistence.append.is_some() {
            self.log.tail.push(write);
        }
    }

    /// Counts changes: what save points are about.
    pub const fn changed(&mut self, count: u64) {
        self.snapshots.changed(count);
    }

    /// Notes where in its replication's history the server is: snapshots say it
    /// ([`Replication::position`](crate::Replication::position)).
    pub const fn set_position(&mut self, position: Option<Position>) {
        self.position = position;
    }

    /// Ends a group: the writes since the last end belong together, as those of a transaction do.
    pub fn commit(&mut self) {
        self.log.tail.end_group();
    }

    /// Ends a turn of the event loop, before its replies are sent.
    pub fn turn_ended(&mut self, wall_ms: u64) -> Flush {
        match self.persistence.append {
            Some(policy) => self.log.tail.flush(policy, seconds(wall_ms)),
            None => Flush::Done,
        }
    }

    /// Gives the wall time in milliseconds at which a turn has something to do although nothing
    /// happens, if there is one. The server sees it at its next tick, up to 100 ms later.
    pub fn wakes_at(&self) -> Option<u64> {
        let second = self.log.tail.wakes_at(self.persistence.append?)?;
        u64::try_from(second).ok()?.checked_mul(1000)
    }

    /// Ends the fsync that runs: what it took along is on the platter.
    pub fn fsync_ended(&mut self) {
        self.log.tail.fsync_ended();
    }

    /// Tells whether an fsync runs.
    pub const fn fsync_runs(&self) -> bool {
        self.log.tail.fsync_runs()
    }

    /// The kernel has brought everything it had to the platter, as it does every 30 s or so.
    pub const fn written_back(&mut self) {
        self.log.tail.written_back();
    }

    /// Counts the groups that SIGKILL would lose: only the server's memory has them.
    pub fn in_memory(&self) -> usize {
        self.log.tail.in_memory()
    }

    /// Counts the groups that a power loss may take besides those: only the kernel has them.
    pub fn in_kernel(&self) -> usize {
        self.log.tail.in_kernel()
    }

    /// Tells whether a save point asks for a snapshot; it is looked at ten times a second.
    pub fn snapshot_is_due(&self, wall_ms: u64) -> bool {
        self.snapshots.is_due(&self.persistence.save_points, seconds(wall_ms))
    }

    /// Forks a child that writes a snapshot of the data as it is now: BGSAVE.
    pub fn begin_snapshot(&mut self, data: &D, wall_ms: u64) {
        self.snapshots.begin(data, self.position, seconds(wall_ms));
    }

    /// Ends the child; a good snapshot replaces the one before.
    pub fn end_snapshot(&mut self, is_good: bool, wall_ms: u64) {
        self.snapshots.end(is_good, seconds(wall_ms));
    }

    /// Makes a snapshot while the server waits, as SAVE does. (One that fails changes nothing, and
    /// needs no call.)
    pub fn save(&mut self, data: &D, wall_ms: u64) {
        self.snapshots.save(data, self.position, seconds(wall_ms));
    }

    /// Kills the child, as FLUSHALL and a shutdown do.
    pub const fn abandon_snapshot(&mut self) {
        self.snapshots.abandon();
    }

    /// Tells whether a child is writing a snapshot.
    pub const fn snapshot_runs(&self) -> bool {
        self.snapshots.is_running()
    }

    /// Tells whether the last snapshot failed, so that writes get MISCONF if there are save points.
    pub const fn snapshot_failed(&self) -> bool {
        self.snapshots.failed()
    }

    /// Gives the wall second of the last good snapshot, or of the start: LASTSAVE.
    pub const fn last_snapshot(&self) -> i64 {
        self.snapshots.last()
    }

    /// Counts the changes since then.
    pub const fn changes(&self) -> u64 {
        self.snapshots.changes()
    }

    /// Begins to write the append-only file anew: BGREWRITEAOF.
    pub fn begin_rewrite(&mut self, wall_ms: u64) {
        self.log.tail.begin_rewrite(seconds(wall_ms));
    }

    /// Ends that: what was there at its beginning is in the new base, and durable.
    pub fn end_rewrite(&mut self) {
        self.superseded = None;
        if let Some(position) = self.log.tail.end_rewrite() {
            self.fold_to(position);
        }
    }

    /// Tells whether a child is writing the append-only file anew.
    pub const fn rewrite_runs(&self) -> bool {
        self.log.tail.rewrite_runs()
    }

    /// Begins an append-only file with these data, as CONFIG SET does: a child writes them. A start
    /// before [`Disk::end_rewrite`] finds what was there before.
    pub fn begin_log(&mut self, data: &D, wall_ms: u64) {
        let now = seconds(wall_ms);
        let mut tail = AppendLog::new(now);
        tail.begin_rewrite(now);
        let old = std::mem::replace(&mut self.log, Log { base: data.clone(), tail });
        self.superseded.get_or_insert_with(|| Box::new(old));
    }

    /// A full copy from the master comes: it becomes the snapshot file, and the append-only file,
    /// if there is one, is written anew from it, until [`Disk::end_rewrite`].
    pub fn replace(&mut self, data: &D, wall_ms: u64) {
        self.snapshots.replace(data, self.position);
        if self.persistence.append.is_some() {
            self.begin_log(data, wall_ms);
        }
    }

    /// Folds what no fault can take away any more into the base. The disk means the same before and
    /// after, and stays small.
    pub fn fold(&mut self) {
        self.fold_to(self.log.tail.durable());
    }

    fn fold_to(&mut self, position: u64) {
        let base = &mut self.log.base;
        self.log.tail.fold(position, |write| base.redo(write));
    }

    /// The process gets SIGKILL or crashes; the kernel goes on.
    pub fn kill(&mut self) {
        self.log.tail.kill();
        self.process_ended();
    }

    /// What children were doing is in vain.
    fn process_ended(&mut self) {
        self.snapshots.abandon();
        if let Some(old) = self.superseded.take() {
            self.log = *old;
        }
    }

    /// The machine loses power or its kernel crashes. Of the groups that only the kernel had, the
    /// first `kept` were on the platter by chance; see [`Disk::in_kernel`].
    pub fn lose_power(&mut self, kept: usize) {
        self.log.tail.lose_power(kept);
        self.process_ended();
    }

    /// The process ends in order: SIGTERM or SHUTDOWN. `can_save` is whether a snapshot would
    /// succeed; if one is wanted and fails, the server goes on, and the answer is false.
    pub fn shut_down(&mut self, data: &D, saving: Saving, can_save: bool, wall_ms: u64) -> bool {
        let saves = match saving {
            Saving::AsConfigured => !self.persistence.save_points.is_empty(),
            Saving::Always => true,
            Saving::Never => false,
        };
        self.snapshots.abandon();
        self.log.tail.write_out();
        self.log.tail.written_back();
        if saves && !can_save {
            return false;
        }
        if saves {
            self.save(data, wall_ms);
        }
        self.kill();
        true
    }

    /// A process starts, on this disk: `data` becomes what is found there.
    ///
    /// The append-only file is loaded if it is on, else the last snapshot, without the keys that
    /// are dead by then.
    pub fn start(&mut self, data: &mut D, wall_ms: u64) -> Loaded {
        let now = seconds(wall_ms);
        self.snapshots.start(now);
        self.log.tail.open(now);
        let from_log = self.persistence.append.is_some();
        let mut loaded = Loaded { from_log, writes: 0, position: None };
        if from_log {
            data.copy_from(&self.log.base);
            for write in self.log.tail.written_writes() {
                data.redo(write);
                loaded.writes += 1;
            }
        } else if let Some((file, position)) = self.snapshots.file() {
            loaded.position = position;
            data.copy_from(file);
            data.drop_dead(wall_ms);
        } else {
            data.clear();
        }
        loaded
    }

    /// Cuts bytes off the end of the append-only file of a server that is down; `size` is that of a
    /// write in the file. A transaction that is hit goes as a whole.
    pub fn tear(&mut self, bytes: u64, size: impl Fn(&W) -> u64) {
        self.log.tail.tear(bytes, size);
    }

    /// Gives the groups in the append-only file as far as the kernel has them, oldest first;
    /// without those folded.
    pub fn groups(&self) -> impl Iterator<Item = Vec<&W>> {
        self.log.tail.written_groups()
    }
}

impl<D, W> Disk<D, W> {
    /// Tells when the append-only file is brought to the platter, if there is one.
    pub const fn fsync(&self) -> Option<Fsync> {
        self.persistence.append
    }
}

/// Whole seconds of a wall clock in milliseconds.
fn seconds(wall_ms: u64) -> i64 {
    i64::try_from(wall_ms / 1000).unwrap_or(i64::MAX)
}
