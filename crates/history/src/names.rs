//! What people call the ids of a run, and the rules that a lock follows.

use serde::{Deserialize, Serialize};

use crate::{Duration, LockId, ProcessId, ResourceId, ServerId, ThreadId};

/// The names behind a run's ids; an id is an index into its list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Names {
    /// Client processes.
    pub processes: Vec<String>,
    /// Threads over all processes.
    pub threads: Vec<ThreadName>,
    /// Servers: lock nodes, sentinels, resources.
    pub servers: Vec<String>,
    /// Locks.
    pub locks: Vec<String>,
    /// Protected resources.
    pub resources: Vec<String>,
    /// The server that each resource is, by resource.
    pub resource_servers: Vec<ServerId>,
    /// The rules of each lock, by lock.
    pub rules: Vec<LockRules>,
}

/// A thread's process and its part in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadName {
    /// The process that hosts the thread.
    pub process: ProcessId,
    /// What it does there: `worker`, `worker-2`, `renewer`.
    pub role: String,
}

/// What a reader must know of a lock to judge or draw it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockRules {
    /// The servers that hold the lock's key.
    pub servers: Vec<ServerId>,
    /// How many of them must accept.
    pub quorum: u16,
    /// Whether each of them holds a copy of its own (Redlock) rather than a replica of one.
    pub independent: bool,
    /// The longest life of a key after its last renewal; zero without expiry.
    pub ttl: Duration,
}

fn named(list: &[String], index: usize) -> &str {
    list.get(index).map_or("?", String::as_str)
}

impl Names {
    /// Returns a process's name.
    #[must_use]
    pub fn process(&self, id: ProcessId) -> &str {
        named(&self.processes, id.index())
    }

    /// Returns the process that hosts a thread.
    #[must_use]
    pub fn process_of(&self, id: ThreadId) -> ProcessId {
        self.threads.get(id.index()).map_or(ProcessId(u16::MAX), |thread| thread.process)
    }

    /// Returns `c1` for a process's first worker and `c1/renewer` for its other threads.
    #[must_use]
    pub fn thread(&self, id: ThreadId) -> String {
        match self.threads.get(id.index()) {
            Some(thread) if thread.role == "worker" => self.process(thread.process).to_owned(),
            Some(thread) => format!("{}/{}", self.process(thread.process), thread.role),
            None => "?".to_owned(),
        }
    }

    /// Returns a server's name.
    #[must_use]
    pub fn server(&self, id: ServerId) -> &str {
        named(&self.servers, id.index())
    }

    /// Returns a lock's name.
    #[must_use]
    pub fn lock(&self, id: LockId) -> &str {
        named(&self.locks, id.index())
    }

    /// Returns a resource's name.
    #[must_use]
    pub fn resource(&self, id: ResourceId) -> &str {
        named(&self.resources, id.index())
    }
}
