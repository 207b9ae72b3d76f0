//! The append-only file: writes on their way from the server's memory to the platter.

use std::collections::VecDeque;

use super::{Flush, Fsync};

/// A write in the file, and whether its group ends with it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Logged<W> {
    write: W,
    ends_group: bool,
}

/// The append-only file and the buffer in front of it.
///
/// Positions count writes since the beginning; `folded <= durable <= written <= appended`, and each
/// lies behind a whole group.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct AppendLog<W> {
    /// The writes after `folded`, oldest first.
    entries: VecDeque<Logged<W>>,
    folded: u64,
    durable: u64,
    written: u64,
    /// What the running fsync brings to the platter, if one runs.
    fsync: Option<u64>,
    /// What a running rewrite will have brought there when it ends.
    rewrite: Option<u64>,
    /// The position up to which an fsync has been asked for (`aof_last_incr_fsync_offset`).
    asked: u64,
    /// The wall second of the last fsync (`aof_last_fsync`).
    last_fsync: i64,
    /// The wall second since which writes are held back (`aof_flush_postponed_start`).
    postponed: Option<i64>,
}

/// How long writes are held back behind a running fsync, in wall seconds.
const PATIENCE: i64 = 2;

impl<W> AppendLog<W> {
    pub(super) const fn new(now: i64) -> Self {
        Self {
            entries: VecDeque::new(),
            folded: 0,
            durable: 0,
            written: 0,
            fsync: None,
            rewrite: None,
            asked: 0,
            last_fsync: now,
            postponed: None,
        }
    }

    pub(super) fn reset(&mut self, now: i64) {
        let mut entries = std::mem::take(&mut self.entries);
        entries.clear();
        *self = Self { entries, ..Self::new(now) };
    }

    fn appended(&self) -> u64 {
        self.folded + self.entries.len() as u64
    }

    pub(super) fn push(&mut self, write: W) {
        self.entries.push_back(Logged { write, ends_group: false });
    }

    pub(super) fn end_group(&mut self) {
        if let Some(last) = self.entries.back_mut() {
            last.ends_group = true;
        }
    }

    /// `src/aof.c:flushAppendOnlyFile` without force.
    pub(super) fn flush(&mut self, policy: Fsync, now: i64) -> Flush {
        let every_second = policy == Fsync::EverySecond;
        let is_due = now > self.last_fsync;
        if self.written == self.appended() {
            // What an earlier turn wrote still wants its fsync.
            let waits = every_second && self.asked != self.written;
            if waits && is_due && self.fsync.is_none() {
                return self.begin_fsync(Flush::Background, now);
            }
            return Flush::Done;
        }
        if every_second && self.fsync.is_some() {
            let since = *self.postponed.get_or_insert(now);
            if now - since < PATIENCE {
                return Flush::Postponed;
            }
        }
        self.write_out();
        match policy {
            Fsync::Always => self.begin_fsync(Flush::Foreground, now),
            Fsync::EverySecond if is_due && self.fsync.is_none() => {
                self.begin_fsync(Flush::Background, now)
            }
            Fsync::EverySecond if is_due => {
                self.last_fsync = now;
                Flush::Done
            }
            Fsync::EverySecond | Fsync::Never => Flush::Done,
        }
    }

    fn begin_fsync(&mut self, flush: Flush, now: i64) -> Flush {
        self.fsync = Some(self.written);
        self.asked = self.written;
        self.last_fsync = now;
        flush
    }

    /// Hands everything over to the kernel, whatever else is going on.
    pub(super) fn write_out(&mut self) {
        self.written = self.appended();
        self.postponed = None;
    }

    /// The wall second in which a turn would do something that none does before, if any.
    pub(super) fn wakes_at(&self, policy: Fsync) -> Option<i64> {
        if policy != Fsync::EverySecond {
            return None;
        }
        match self.postponed {
            Some(since) => Some(since + PATIENCE),
            None if self.fsync.is_none() && self.asked != self.appended() => {
                Some(self.last_fsync + 1)
            }
            None => None,
        }
    }

    pub(super) const fn fsync_runs(&self) -> bool {
        self.fsync.is_some()
    }

    pub(super) fn fsync_ended(&mut self) {
        if let Some(position) = self.fsync.take() {
            self.durable = self.durable.max(position);
        }
    }

    /// Everything the kernel has is on the platter.
    pub(super) const fn written_back(&mut self) {
        self.durable = self.written;
        self.asked = self.written;
    }

    pub(super) fn begin_rewrite(&mut self, now: i64) {
        self.write_out();
        self.rewrite = Some(self.written);
        // The old file is given to the background to be synced and closed.
        self.asked = self.written;
        self.last_fsync = now;
    }

    /// Ends a rewrite: what it holds is durable. Gives the position, to fold up to it.
    pub(super) fn end_rewrite(&mut self) -> Option<u64> {
        let position = self.rewrite.take()?;
        self.durable = self.durable.max(position);
        Some(position)
    }

    pub(super) const fn rewrite_runs(&self) -> bool {
        self.rewrite.is_some()
    }

    /// The process is gone: what the kernel does not have is lost.
    pub(super) fn kill(&mut self) {
        self.keep(self.written);
        (self.fsync, self.rewrite, self.postponed) = (None, None, None);
    }

    /// A process opens the file that is there.
    pub(super) const fn open(&mut self, now: i64) {
        self.last_fsync = now;
        self.asked = self.written;
    }

    /// How many groups only the server's memory has.
    pub(super) fn in_memory(&self) -> usize {
        self.groups(self.written, self.appended())
    }

    /// How many groups the kernel has and the platter has not.
    pub(super) fn in_kernel(&self) -> usize {
        self.groups(self.durable, self.written)
    }

    /// Power is lost, and of what only the kernel had, this many groups got through.
    pub(super) fn lose_power(&mut self, kept: usize) {
        let first = self.place(self.durable);
        let at_risk = self.entries.iter().skip(first).take(self.place(self.written) - first);
        let mut left = kept;
        let survives = |entry: &&Logged<W>| {
            let survives = left > 0;
            left -= usize::from(survives && entry.ends_group);
            survives
        };
        let count = at_risk.take_while(survives).count();
        self.written = self.durable + count as u64;
        self.durable = self.written;
        self.kill();
    }

    /// Cuts bytes off the end of the file; a group that is hit goes as a whole.
    pub(super) fn tear(&mut self, bytes: u64, size: impl Fn(&W) -> u64) {
        /// `MULTI` and `EXEC` in the protocol.
        const BRACKETS: [u64; 2] = [15, 14];
        self.keep(self.written);
        let mut left = bytes;
        while left > 0 && !self.entries.is_empty() {
            let end = self.entries.len();
            let before = self.entries.iter().take(end - 1).rposition(|entry| entry.ends_group);
            let start = before.map_or(0, |at| at + 1);
            let group = self.entries.iter().skip(start);
            let brackets = if end - start > 1 { BRACKETS.iter().sum() } else { 0 };
            let whole: u64 = brackets + group.map(|entry| size(&entry.write)).sum::<u64>();
            left = left.saturating_sub(whole);
            self.entries.truncate(start);
        }
        self.keep(self.appended());
    }

    /// Forgets everything behind a position.
    fn keep(&mut self, position: u64) {
        self.entries.truncate(self.place(position));
        self.written = self.written.min(position);
        self.durable = self.durable.min(position);
        self.asked = self.asked.min(position);
    }

    /// Takes out the writes up to a position, oldest first.
    pub(super) fn fold(&mut self, position: u64, mut each: impl FnMut(&W)) {
        while self.folded < position {
            let Some(entry) = self.entries.pop_front() else { return };
            each(&entry.write);
            self.folded += 1;
        }
    }

    pub(super) const fn durable(&self) -> u64 {
        self.durable
    }

    /// The groups that the kernel has, oldest first, those folded left out.
    pub(super) fn written_groups(&self) -> impl Iterator<Item = Vec<&W>> {
        let mut entries = self.entries.iter().take(self.place(self.written));
        std::iter::from_fn(move || {
            let mut group = Vec::new();
            for entry in entries.by_ref() {
                group.push(&entry.write);
                if entry.ends_group {
                    break;
                }
            }
            (!group.is_empty()).then_some(group)
        })
    }

    /// The writes that the kernel has, oldest first, those folded left out.
    pub(super) fn written_writes(&self) -> impl Iterator<Item = &W> {
        self.entries.iter().take(self.place(self.written)).map(|entry| &entry.write)
    }

    /// The place of a position among the entries.
    fn place(&self, position: u64) -> usize {
        usize::try_from(position - self.folded).expect("positions behind the folded are few")
    }

    fn groups(&self, from: u64, to: u64) -> usize {
        let (from, to) = (self.place(from), self.place(to));
        self.entries.iter().skip(from).take(to - from).filter(|entry| entry.ends_group).count()
    }
}
