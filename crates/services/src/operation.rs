//! What outsiders and operators do to servers.

use fencepost_redis::{Command, ExpireCondition, ExpireUnit, Expiry, Names, SetCondition};

/// Something done to a server by nobody's client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// An outsider's command at a Redis node.
    Command(Command),
    /// A resource forgets the highest token it has seen.
    ForgetTokens,
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
