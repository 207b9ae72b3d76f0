//! The engine: the whole state of one server.

use crate::{
    keyspace::{Content, Database},
    names::{KeyId, Names},
    server::Server,
    value::Value,
};

/// The number of numbered databases, Redis' default.
pub(crate) const DATABASES: usize = 16;

/// What a server is in its replication.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Role {
    /// It takes writes and expires keys.
    #[default]
    Master,
    /// It refuses writes, hides dead keys by its own clock, and deletes only what its master does.
    Replica,
}

/// One Redis server, as plain data.
///
/// It reads no clock, sends nothing, and knows no simulator. The hot path of a simulation is
/// [`Engine::execute`]; requests in bytes go through [`Engine::step`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Engine {
    pub(crate) names: Names,
    pub(crate) databases: [Database; DATABASES],
    pub(crate) role: Role,
    pub(crate) server: Server,
}

/// A key as an observer sees it, the dead ones included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Entry {
    /// The value, if the key is a string in canonical form.
    pub value: Option<Value>,
    /// The last millisecond of the key's life, if it has a deadline.
    pub deadline: Option<i64>,
    /// Whether that deadline has passed.
    pub dead: bool,
}

impl Engine {
    /// Makes an empty master with no names.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes an empty master that shares its numbers with this table.
    #[must_use]
    pub fn with_names(names: Names) -> Self {
        let mut engine = Self { names, ..Self::default() };
        let len = engine.names.len();
        engine.databases[0].slots.resize_with(len, Default::default);
        engine
    }

    /// Gives the table of names.
    #[must_use]
    pub const fn names(&self) -> &Names {
        &self.names
    }

    /// Gives the table of names, to intern more.
    pub const fn names_mut(&mut self) -> &mut Names {
        &mut self.names
    }

    /// Tells what the server is in its replication.
    #[must_use]
    pub const fn role(&self) -> Role {
        self.role
    }

    /// Makes the server a master or a replica; the data stays.
    pub const fn set_role(&mut self, role: Role) {
        self.role = role;
    }

    /// Forgets all data and becomes a master, keeping names and memory for the next run.
    pub fn reset(&mut self) {
        self.role = Role::Master;
        self.server.health = crate::Health::default();
        if !self.server.connections.is_empty() {
            self.server.restart(0);
        }
        for database in &mut self.databases {
            for slot in &mut database.slots {
                *slot = crate::keyspace::Slot::default();
            }
        }
    }

    /// Takes over another server's data, as a full resync or a load from disk does.
    ///
    /// Both engines must share their names. Memory is reused: in steady state nothing is allocated
    /// for lock keys and counters.
    pub fn copy_data_from(&mut self, other: &Self) {
        for (mine, theirs) in self.databases.iter_mut().zip(&other.databases) {
            mine.slots.clone_from(&theirs.slots);
        }
    }

    /// Takes over another server's data, and its names if clients made some up; memory is reused.
    ///
    /// Two engines of a simulation share their names, and then only slots are copied.
    pub(crate) fn take_data_of(&mut self, other: &Self) {
        if self.names.transient_len() + other.names.transient_len() > 0 {
            self.names.clone_from(&other.names);
        }
        self.copy_data_from(other);
    }

    /// Removes all data; names and connections stay.
    pub(crate) fn drop_data(&mut self) {
        for database in &mut self.databases {
            database.slots.iter_mut().for_each(|slot| *slot = crate::keyspace::Slot::default());
        }
    }

    /// Removes the keys of all databases that are dead at this wall time, whoever the master is.
    pub(crate) fn drop_dead_keys(&mut self, now_ms: u64) {
        let now = i64::try_from(now_ms).unwrap_or(i64::MAX);
        let slots = self.databases.iter_mut().flat_map(|database| &mut database.slots);
        slots.filter(|slot| slot.is_dead(now)).for_each(|slot| {
            slot.expire();
        });
    }

    /// Looks at a key of database 0 without touching it.
    #[must_use]
    pub fn entry(&self, key: KeyId, now_ms: u64) -> Option<Entry> {
        let slot = self.databases[0].peek(key.0)?;
        let value = match slot.content {
            Content::Absent => return None,
            Content::Value(value) => Some(value),
            Content::Object(_) => None,
        };
        let now = i64::try_from(now_ms).unwrap_or(i64::MAX);
        Some(Entry { value, deadline: slot.deadline(), dead: slot.is_dead(now) })
    }

    /// Removes the dead keys of database 0, as the active expiry cycle does, and names each.
    pub fn sweep(&mut self, now_ms: u64, mut removed: impl FnMut(KeyId)) {
        if self.role == Role::Replica {
            return;
        }
        let now = i64::try_from(now_ms).unwrap_or(i64::MAX);
        for (slot, key) in self.databases[0].slots.iter_mut().zip(0..) {
            if slot.is_dead(now) {
                slot.expire();
                removed(KeyId(key));
            }
        }
    }
}
