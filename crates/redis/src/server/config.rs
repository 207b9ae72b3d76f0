//! The parameters of a server, as its configuration file and CONFIG have them.

use std::collections::BTreeMap;

use thiserror::Error;

use super::events::EventClass;
use crate::{
    persistence::{Fsync, Persistence, SavePoint},
    replication::ReplicationSettings,
    script::ScriptLimits,
    version::Version,
};

/// A parameter that cannot have the value.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the parameter '{name}' cannot be '{value}'")]
pub struct ConfigError {
    name: String,
    value: String,
    /// What CONFIG SET says is wrong with it.
    pub(crate) reason: &'static str,
}

/// The parameters of a server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Config {
    /// Which server and version it is.
    pub version: Version,
    /// Seconds after which an idle client is closed; 0 means never.
    pub(crate) idle_timeout: i64,
    /// Which keyspace events are published.
    pub(crate) events: EventClass,
    /// Whether DEBUG is allowed.
    pub(crate) debug: bool,
    pub(crate) persistence: Persistence,
    pub(crate) replication: ReplicationSettings,
    /// The master to follow from the start.
    pub(crate) master: Option<(String, u16)>,
    /// The port the server is known by.
    pub(crate) port: u16,
    /// Whether a replica refuses writes.
    pub(crate) replica_read_only: bool,
    /// Whether a replica without a link to its master answers.
    pub(crate) serves_stale_data: bool,
    /// Whether writes are refused after a failed snapshot.
    pub(crate) stops_writes: bool,
    /// Seconds that a shutdown waits for replicas.
    pub(crate) shutdown_timeout: i64,
    /// Microseconds that each key takes longer to load, a parameter for tests.
    pub(crate) key_load_delay: u64,
    /// What a script may use up.
    pub script_limits: ScriptLimits,
    parameters: BTreeMap<String, String>,
}

/// Parameters CONFIG GET knows from the start, with the values of a server without a file.
const DEFAULTS: &[(&str, &str)] = &[
    ("appendfsync", "everysec"),
    ("appendonly", "no"),
    ("busy-reply-threshold", "5000"),
    ("databases", "16"),
    ("hz", "10"),
    ("key-load-delay", "0"),
    ("lua-time-limit", "5000"),
    ("maxmemory", "0"),
    ("maxmemory-policy", "noeviction"),
    ("min-replicas-max-lag", "10"),
    ("min-replicas-to-write", "0"),
    ("notify-keyspace-events", ""),
    ("port", "6379"),
    ("repl-backlog-size", "1048576"),
    ("repl-backlog-ttl", "3600"),
    ("repl-ping-replica-period", "10"),
    ("repl-timeout", "60"),
    ("replica-read-only", "yes"),
    ("replica-serve-stale-data", "yes"),
    ("replicaof", ""),
    ("requirepass", ""),
    ("save", ""),
    ("shutdown-timeout", "10"),
    ("stop-writes-on-bgsave-error", "yes"),
    ("tcp-keepalive", "300"),
    ("timeout", "0"),
];

impl Default for Config {
    fn default() -> Self {
        Self {
            version: Version::default(),
            idle_timeout: 0,
            events: EventClass::NONE,
            debug: false,
            persistence: Persistence::NONE,
            replication: ReplicationSettings::default(),
            master: None,
            port: 6379,
            replica_read_only: true,
            serves_stale_data: true,
            stops_writes: true,
            shutdown_timeout: 10,
            key_load_delay: 0,
            script_limits: ScriptLimits::SERVER,
            parameters: BTreeMap::new(),
        }
    }
}

impl Config {
    /// Sets a parameter.
    pub(crate) fn set(&mut self, name: &str, value: &str) -> Result<(), ConfigError> {
        let error = |reason| ConfigError { name: name.into(), value: value.into(), reason };
        let name = name.to_ascii_lowercase();
        match name.as_str() {
            "timeout" => {
                let seconds = crate::parse_integer(value.as_bytes())
                    .ok_or_else(|| error("argument couldn't be parsed into an integer"))?;
                self.idle_timeout = Some(seconds)
                    .filter(|seconds| (0..=i64::from(i32::MAX)).contains(seconds))
                    .ok_or_else(|| error("argument must be between 0 and 2147483647 inclusive"))?;
            }
            "notify-keyspace-events" => {
                self.events = EventClass::from_flags(value).ok_or_else(|| {
                    error("Invalid event class character. Use 'Ag$lshzxeKEtmdn'.")
                })?;
                self.parameters.insert(name, self.events.to_flags());
                return Ok(());
            }
            "enable-debug-command" => self.debug = value != "no",
            _ => {
                self.set_beyond(&name, value).ok_or_else(|| error("argument couldn't be parsed"))?
            }
        }
        self.parameters.insert(name, value.into());
        Ok(())
    }

    /// Sets a parameter of replication or persistence; others are only kept.
    fn set_beyond(&mut self, name: &str, value: &str) -> Option<()> {
        let seconds = || value.parse::<i64>().ok().filter(|number| *number >= 0);
        match name {
            "appendonly" => {
                let policy = self.get("appendfsync").and_then(fsync).unwrap_or_default();
                self.persistence.append = yes(value)?.then_some(policy);
            }
            "appendfsync" => {
                let policy = fsync(value)?;
                self.persistence.append = self.persistence.append.map(|_| policy);
            }
            "save" => self.persistence.save_points = save_points(value)?,
            "stop-writes-on-bgsave-error" => self.stops_writes = yes(value)?,
            "shutdown-timeout" => self.shutdown_timeout = seconds()?,
            "key-load-delay" => self.key_load_delay = value.parse().ok()?,
            "port" => self.port = value.parse().ok()?,
            "replicaof" | "slaveof" => {
                let (host, port) = value.split_once(' ')?;
                self.master = Some((host.into(), port.parse().ok()?));
            }
            "replica-read-only" => self.replica_read_only = yes(value)?,
            "replica-serve-stale-data" => self.serves_stale_data = yes(value)?,
            "min-replicas-to-write" => self.replication.min_replicas = value.parse().ok()?,
            "min-replicas-max-lag" => self.replication.max_lag = seconds()?,
            "repl-timeout" => self.replication.timeout = seconds()?,
            "repl-ping-replica-period" => self.replication.ping_period = value.parse().ok()?,
            "repl-backlog-size" => self.replication.backlog_size = bytes(value)?,
            "repl-backlog-ttl" => self.replication.backlog_ttl = seconds()?,
            _ => {}
        }
        Some(())
    }

    /// Gives a parameter's value, if there is such a parameter.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let default = || DEFAULTS.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        self.parameters.get(name).map(String::as_str).or_else(default)
    }

    /// Tells whether there is such a parameter.
    pub(crate) fn knows(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Gives all parameters in the order of their names.
    pub(crate) fn all(&self) -> BTreeMap<String, String> {
        let defaults = DEFAULTS.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        let mut all: BTreeMap<String, String> = defaults.collect();
        all.extend(self.parameters.clone());
        all
    }

    /// Gives the password clients must send, if one is set.
    pub(crate) fn password(&self) -> Option<&str> {
        self.get("requirepass").filter(|password| !password.is_empty())
    }
}

fn yes(value: &str) -> Option<bool> {
    match value {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    }
}

fn fsync(value: &str) -> Option<Fsync> {
    match value {
        "always" => Some(Fsync::Always),
        "everysec" => Some(Fsync::EverySecond),
        "no" => Some(Fsync::Never),
        _ => None,
    }
}

/// Reads `save`: pairs of seconds and changes.
fn save_points(value: &str) -> Option<Vec<SavePoint>> {
    let numbers: Vec<&str> = value.split_whitespace().collect();
    let pairs = numbers.chunks(2).map(|pair| match *pair {
        [seconds, changes] => {
            let (seconds, changes) = (seconds.parse().ok()?, changes.parse().ok()?);
            (seconds >= 1).then_some(SavePoint { seconds, changes })
        }
        _ => None,
    });
    pairs.collect()
}

/// Reads a number of bytes with its unit.
fn bytes(value: &str) -> Option<u64> {
    let value = value.to_ascii_lowercase();
    let split = value.find(|c: char| !c.is_ascii_digit()).unwrap_or(value.len());
    let (number, unit) = value.split_at(split);
    let factor = match unit {
        "" | "b" => 1,
        "k" => 1_000,
        "kb" => 1 << 10,
        "m" => 1_000_000,
        "mb" => 1 << 20,
        "g" => 1_000_000_000,
        "gb" => 1 << 30,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}
