//! What outsiders and operators do to servers.

use fencepost_history::{Duration, ProcessId, ServerId};
use fencepost_redis::{
    Command, ErrorCode, ExpireCondition, ExpireUnit, Expiry, KeyId, Names, SetCondition,
};

/// Something done to a server by nobody's client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// An outsider's command at a Redis node.
    Command(Command),
    /// A resource forgets the highest token it has seen.
    ForgetTokens,
    /// A master dies for good, and an operator promotes a replica some time later.
    Failover {
        /// The replica.
        to: ServerId,
        /// How long after the master's death it is promoted.
        after: Duration,
        /// How long the old master is down; it comes back as a replica.
        down: Duration,
    },
    /// The stream to one replica is held back for a while.
    StallStream {
        /// The replica.
        replica: ServerId,
        /// For how long.
        length: Duration,
    },
    /// The connection of one replica breaks, and is made anew after a while.
    CutStream {
        /// The replica.
        replica: ServerId,
        /// For how long.
        length: Duration,
    },
    /// Some machines are cut off from all others.
    Split {
        /// The servers among them.
        servers: Vec<ServerId>,
        /// The processes among them.
        processes: Vec<ProcessId>,
        /// For how long.
        length: Duration,
    },
    /// A Redis node answers with an error for a while.
    Refuse {
        /// The error.
        error: ErrorCode,
        /// For how long.
        length: Duration,
    },
    /// A Redis node throws a key out to make room.
    Evict(KeyId),
}

impl Operation {
    /// Reads an outsider's command as one would type it in redis-cli.
    ///
    /// Those are `DEL key`, `SET key value`, `SET key value PX ms`, `EXPIRE key s`,
    /// `PEXPIRE key ms`, `PERSIST key`, `INCR key` and `FLUSHALL`; anything else is nothing.
    #[must_use]
    pub fn parse(text: &str, names: &mut Names) -> Option<Self> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let verb = words.first()?.to_ascii_uppercase();
        let number = |text: &str| text.parse::<i64>().ok();
        let mut key = |text: &str| names.key(text);
        let condition = ExpireCondition::Always;
        let command = match (verb.as_str(), &words[1..]) {
            ("FLUSHALL", []) => Command::FlushAll,
            ("DEL", [name]) => Command::Del { key: key(name) },
            ("PERSIST", [name]) => Command::Persist { key: key(name) },
            ("INCR", [name]) => Command::IncrBy { key: key(name), by: 1 },
            ("EXPIRE", [name, time]) => Command::Expire {
                key: key(name),
                time: number(time)?,
                unit: ExpireUnit::Seconds,
                condition,
            },
            ("PEXPIRE", [name, time]) => Command::Expire {
                key: key(name),
                time: number(time)?,
                unit: ExpireUnit::Millis,
                condition,
            },
            ("SET", [name, value, option @ ..]) => {
                let expiry = match option {
                    [] => Expiry::None,
                    [px, time] if px.eq_ignore_ascii_case("PX") => Expiry::Millis(number(time)?),
                    [ex, time] if ex.eq_ignore_ascii_case("EX") => Expiry::Seconds(number(time)?),
                    _ => return None,
                };
                let (key, value) = (names.key(name), names.value(value));
                Command::Set { key, value, condition: SetCondition::Always, get: false, expiry }
            }
            _ => return None,
        };
        Some(Self::Command(command))
    }
}
