//! Snapshots: `dump.rdb`, when one is due, and what becomes of one that is being made.

use super::{Dataset, SavePoint};
use crate::replication::Position;

/// The snapshot on the disk, and what the server knows of the next one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Snapshots<D> {
    /// What `dump.rdb` holds; meaningless unless `is_there`.
    file: D,
    is_there: bool,
    /// Where in a history the file is, if the server was in one.
    position: Option<Position>,
    /// What the child process is writing; meaningless unless `is_running`.
    forked: D,
    is_running: bool,
    forked_position: Option<Position>,
    /// Changes since the last good snapshot (`dirty`).
    changes: u64,
    changes_at_fork: u64,
    /// The wall second of the last good snapshot, at first that of the start (`lastsave`).
    last: i64,
    /// The wall second of the last try (`lastbgsave_try`).
    tried: i64,
    failed: bool,
}

/// After a failed snapshot the next one is tried this many wall seconds later.
const RETRY_DELAY: i64 = 5;

impl<D: Dataset> Snapshots<D> {
    pub(super) fn new(data: &D, now: i64) -> Self {
        Self {
            file: data.clone(),
            is_there: false,
            position: None,
            forked: data.clone(),
            is_running: false,
            forked_position: None,
            changes: 0,
            changes_at_fork: 0,
            last: now,
            tried: 0,
            failed: false,
        }
    }

    /// A process starts: the file is there, its own memory is new.
    pub(super) fn start(&mut self, now: i64) {
        (self.is_running, self.failed) = (false, false);
        (self.changes, self.changes_at_fork) = (0, 0);
        (self.last, self.tried) = (now, 0);
    }

    pub(super) fn reset(&mut self, now: i64) {
        self.is_there = false;
        (self.position, self.forked_position) = (None, None);
        self.file.clear();
        self.forked.clear();
        self.start(now);
    }

    pub(super) const fn changed(&mut self, count: u64) {
        self.changes += count;
    }

    /// `src/server.c:serverCron`, the save points.
    pub(super) fn is_due(&self, points: &[SavePoint], now: i64) -> bool {
        let may_try = !self.failed || now - self.tried > RETRY_DELAY;
        let reached =
            |point: &SavePoint| self.changes >= point.changes && now - self.last > point.seconds;
        !self.is_running && may_try && points.iter().any(reached)
    }

    pub(super) fn begin(&mut self, data: &D, position: Option<Position>, now: i64) {
        self.forked.copy_from(data);
        self.forked_position = position;
        self.is_running = true;
        self.changes_at_fork = self.changes;
        self.tried = now;
    }

    pub(super) fn end(&mut self, is_good: bool, now: i64) {
        if !std::mem::take(&mut self.is_running) {
            return;
        }
        self.failed = !is_good;
        if is_good {
            std::mem::swap(&mut self.file, &mut self.forked);
            (self.is_there, self.position) = (true, self.forked_position);
            self.changes -= self.changes_at_fork;
            self.last = now;
        }
    }

    /// Makes one while the server waits. One that fails changes nothing, and is not held against
    /// later writes.
    pub(super) fn save(&mut self, data: &D, position: Option<Position>, now: i64) {
        self.replace(data, position);
        (self.changes, self.last, self.failed) = (0, now, false);
    }

    /// Another snapshot takes the file's place.
    pub(super) fn replace(&mut self, data: &D, position: Option<Position>) {
        self.file.copy_from(data);
        (self.is_there, self.position, self.is_running) = (true, position, false);
    }

    /// The child is killed: nothing comes of what it was writing.
    pub(super) const fn abandon(&mut self) {
        self.is_running = false;
    }

    pub(super) const fn is_running(&self) -> bool {
        self.is_running
    }

    pub(super) const fn failed(&self) -> bool {
        self.failed
    }

    pub(super) const fn last(&self) -> i64 {
        self.last
    }

    pub(super) const fn changes(&self) -> u64 {
        self.changes
    }

    pub(super) fn file(&self) -> Option<(&D, Option<Position>)> {
        self.is_there.then_some((&self.file, self.position))
    }
}
