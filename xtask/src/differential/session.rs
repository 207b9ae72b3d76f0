//! One real server for many sequences, and what has been learnt from them.

use super::model::Model;
use crate::servers::{Connection, Program, Received, Server};
use anyhow::{Context, Result, bail, ensure};
use fencepost_redis::Version;
use std::time::Duration;

/// Client ids below this are used up first, so that no other number is taken for one.
pub(super) const FIRST_CLIENT: i64 = 1000;

/// A real server, and an engine to copy for each sequence.
pub(super) struct Session {
    pub(super) server: Server,
    pub(super) control: Connection,
    /// What the server says it is.
    pub(super) number: String,
    pub(super) version: Version,
    pub(super) template: Model,
}

impl Session {
    /// Starts the server and chooses the engine's version by what it says.
    pub(super) fn start(program: &Program) -> Result<Self> {
        let options = ["--appendonly", "no", "--enable-debug-command", "yes"].map(str::to_owned);
        let server = Server::start(program, &options)?;
        let mut control = server.connect()?;
        control.call(&["DEBUG", "SET-ACTIVE-EXPIRE", "0"])?;
        let info = control.call(&["INFO", "server"])?.concat();
        let (version, number) = version(&info)?;
        let id = |lines: Vec<String>| lines.concat()[1..].parse::<i64>();
        let mut last = id(control.call(&["CLIENT", "ID"])?)?;
        while last + 1 < FIRST_CLIENT {
            last = id(server.connect()?.call(&["CLIENT", "ID"])?)?;
        }
        let template = Model::new(version, FIRST_CLIENT)?;
        Ok(Self { server, control, number, version, template })
    }

    /// Makes the server what it was at its start, once the connections of a sequence are closed.
    pub(super) fn reset(&mut self) -> Result<()> {
        let commands = [
            vec!["CLIENT", "UNPAUSE"],
            vec!["FLUSHALL"],
            vec!["SCRIPT", "FLUSH"],
            vec!["CONFIG", "SET", "notify-keyspace-events", ""],
        ];
        self.control.send_all(&commands);
        for words in &commands {
            let reply = self.control.receive(Duration::from_secs(15))?;
            ensure!(reply == one("+OK"), "{words:?} gives {reply:?}");
        }
        Ok(())
    }

    /// Returns once the server has done everything sent before and the answers have been written.
    ///
    /// The first PONG proves that the turn of its event loop which took the requests was reached;
    /// the second that this turn, at whose end the answers are written, is over.
    pub(super) fn settle(&mut self) -> Result<()> {
        for _ in 0..2 {
            self.control.send(&["PING"]);
            let reply = self.control.receive(Duration::from_secs(15))?;
            ensure!(reply == one("+PONG"), "PING gives {reply:?}");
        }
        Ok(())
    }
}

/// A reply of one line.
fn one(line: &str) -> Received {
    Received::Lines(vec![line.to_owned()])
}

/// Reads INFO server: the version of the engine that is to behave like it, and its own number.
fn version(info: &str) -> Result<(Version, String)> {
    let field = |name: &str| {
        let at = info.find(&format!("{name}:"))?;
        info[at + name.len() + 1..].split("\\r").next()
    };
    let number = field("valkey_version").or_else(|| field("redis_version"));
    let number = number.context("INFO does not tell the version")?.to_owned();
    let mut parts = number.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    let release = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
    let valkey = field("valkey_version").is_some();
    let version = match release {
        (8, 1..) if valkey => Version::Valkey81,
        (9.., _) if valkey => Version::Valkey90,
        (7, 0) => Version::Redis70,
        (7, 2..) | (8, 0..4) if !valkey => Version::Redis72,
        (8.., _) if !valkey => Version::Redis84,
        _ => bail!("the engine knows no version that behaves like {number}"),
    };
    Ok((version, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_chosen_by_what_the_server_says() {
        let chosen = |info: &str| version(info).map(|(version, _)| version).ok();
        assert_eq!(chosen("redis_version:7.0.15\\r\\nx:1"), Some(Version::Redis70));
        assert_eq!(chosen("redis_version:8.2.3\\r\\n"), Some(Version::Redis72));
        assert_eq!(chosen("redis_version:8.4.0\\r\\n"), Some(Version::Redis84));
        let valkey = "redis_version:7.2.4\\r\\nserver_name:valkey\\r\\nvalkey_version:9.1.2\\r\\n";
        assert_eq!(chosen(valkey), Some(Version::Valkey90));
        assert_eq!(chosen("redis_version:6.2.1\\r\\n"), None);
        assert_eq!(chosen(""), None);
    }
}
