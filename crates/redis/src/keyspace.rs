//! Where keys live: one slot a key, found by the key's number.
//!
//! A slot outlives its key, so that a key that comes back needs no new memory and a watcher can see
//! that the key was changed in between. The keyspace knows deadlines, but no clock: `now` is an
//! argument everywhere.

use crate::{object::Object, reply::Change, value::Value};

/// What stands in a slot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Content {
    /// No key.
    #[default]
    Absent,
    /// A string in canonical form; see [`Value::from_text`].
    Value(Value),
    /// Anything else.
    Object(Box<Object>),
}

impl Content {
    pub(crate) const fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }
}

/// A key, or the place where one was.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Slot {
    pub(crate) content: Content,
    /// The last millisecond of the key's life; `i64::MAX` if it has no deadline.
    deadline: i64,
    /// Counts writes to the key, for WATCH.
    version: u32,
    /// Whether the key has a deadline.
    timed: bool,
}

const _: () = assert!(size_of::<Slot>() <= 32, "two slots fit in a cache line");

impl Default for Slot {
    fn default() -> Self {
        Self { content: Content::Absent, deadline: i64::MAX, version: 0, timed: false }
    }
}

impl Slot {
    /// Tells whether the key is dead: Redis says `now > deadline`, in whole milliseconds.
    #[inline(always)]
    pub(crate) const fn is_dead(&self, now: i64) -> bool {
        now > self.deadline && self.timed
    }

    /// Gives the deadline, if the key has one.
    #[inline(always)]
    pub(crate) const fn deadline(&self) -> Option<i64> {
        if self.timed { Some(self.deadline) } else { None }
    }

    pub(crate) const fn version(&self) -> u32 {
        self.version
    }

    /// Notes a write to the key.
    #[inline(always)]
    pub(crate) const fn touch(&mut self) {
        self.version = self.version.wrapping_add(1);
    }

    /// Puts a new value in, and says whether the key is new.
    #[inline(always)]
    pub(crate) fn put(&mut self, content: Content) -> Change {
        let existed = !self.content.is_absent();
        self.overwrite(content);
        self.touch();
        if existed { Change::Overwritten } else { Change::Created }
    }

    /// Puts a value with a deadline into a slot that has no key.
    #[inline(always)]
    pub(crate) fn create(&mut self, value: Value, deadline: i64) {
        self.overwrite(Content::Value(value));
        self.touch();
        self.set_deadline(deadline);
    }

    /// Replaces the content, without a look at what most contents do not have: memory to free.
    #[inline(always)]
    fn overwrite(&mut self, content: Content) {
        if let Content::Object(_) = self.content {
            self.free_object();
        }
        std::mem::forget(std::mem::replace(&mut self.content, content));
    }

    #[cold]
    #[inline(never)]
    fn free_object(&mut self) {
        self.content = Content::Absent;
    }

    /// Deletes the key; watchers notice.
    #[inline(always)]
    pub(crate) fn remove(&mut self) {
        self.touch();
        self.clear_deadline();
        self.overwrite(Content::Absent);
    }

    #[inline(always)]
    pub(crate) const fn set_deadline(&mut self, deadline: i64) {
        self.deadline = deadline;
        self.timed = true;
    }

    #[inline(always)]
    pub(crate) const fn clear_deadline(&mut self) {
        self.deadline = i64::MAX;
        self.timed = false;
    }

    /// Takes the key out as a command does: watchers notice.
    #[inline(always)]
    pub(crate) fn delete(&mut self) -> Content {
        self.touch();
        self.expire()
    }

    /// Takes the key out as expiry does: a watcher compares life and death itself.
    #[inline(always)]
    pub(crate) fn expire(&mut self) -> Content {
        self.clear_deadline();
        std::mem::take(&mut self.content)
    }
}

/// One of the numbered databases of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Database {
    pub(crate) slots: Vec<Slot>,
}

impl Database {
    /// Gives the slot of a key, making room for it if need be.
    #[inline(always)]
    pub(crate) fn slot(&mut self, key: u32) -> &mut Slot {
        let position = key as usize;
        if position >= self.slots.len() {
            self.grow(position + 1);
        }
        &mut self.slots[position]
    }

    /// Gives the slot of a key, if it has one.
    #[inline(always)]
    pub(crate) fn peek(&self, key: u32) -> Option<&Slot> {
        self.slots.get(key as usize)
    }

    #[cold]
    fn grow(&mut self, len: usize) {
        self.slots.resize_with(len, Slot::default);
    }

    /// Removes every key; watchers of existing keys notice.
    pub(crate) fn flush(&mut self) {
        for slot in &mut self.slots {
            if !slot.content.is_absent() {
                slot.delete();
            }
        }
    }

    /// Counts the keys that are there, dead ones included.
    pub(crate) fn len(&self) -> usize {
        self.slots.iter().filter(|slot| !slot.content.is_absent()).count()
    }
}
