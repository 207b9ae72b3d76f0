//! The parameters of a server, as its configuration file and CONFIG have them.

use std::collections::BTreeMap;

use thiserror::Error;

use super::events::EventClass;
use crate::version::Version;

/// A parameter that cannot have the value.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the parameter '{name}' cannot be '{value}'")]
pub struct ConfigError {
    name: String,
    value: String,
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
    parameters: BTreeMap<String, String>,
}

/// Parameters CONFIG GET knows from the start, with the values of a server without a file.
const DEFAULTS: &[(&str, &str)] = &[
    ("appendfsync", "everysec"),
    ("appendonly", "no"),
    ("busy-reply-threshold", "5000"),
    ("databases", "16"),
    ("hz", "10"),
    ("lua-time-limit", "5000"),
    ("maxmemory", "0"),
    ("maxmemory-policy", "noeviction"),
    ("min-replicas-max-lag", "10"),
    ("min-replicas-to-write", "0"),
    ("notify-keyspace-events", ""),
    ("replica-read-only", "yes"),
    ("replica-serve-stale-data", "yes"),
    ("requirepass", ""),
    ("save", ""),
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
            parameters: BTreeMap::new(),
        }
    }
}

impl Config {
    /// Sets a parameter.
    pub(crate) fn set(&mut self, name: &str, value: &str) -> Result<(), ConfigError> {
        let error = || ConfigError { name: name.into(), value: value.into() };
        let name = name.to_ascii_lowercase();
        match name.as_str() {
            "timeout" => {
                let seconds: i64 = value.parse().map_err(|_| error())?;
                self.idle_timeout = Some(seconds).filter(|n| *n >= 0).ok_or_else(error)?;
            }
            "notify-keyspace-events" => {
                self.events = EventClass::from_flags(value).ok_or_else(error)?;
            }
            "enable-debug-command" => self.debug = value != "no",
            _ => {}
        }
        self.parameters.insert(name, value.into());
        Ok(())
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
