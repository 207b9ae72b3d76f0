//! Typed commands and replies as `redis-cli` shows them.

use std::fmt::Write as _;

use crate::{
    command::{Command, ExpireCondition, ExpireUnit, Expiry, SetCondition},
    names::{KeyId, Names},
    reply::Reply,
    value::Value,
};

impl Command {
    /// Gives the command's name as `redis-cli` users write it; scripts are `EVAL`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match *self {
            Self::Set { .. } => "SET",
            Self::SetNx { .. } => "SETNX",
            Self::Get { .. } => "GET",
            Self::GetSet { .. } => "GETSET",
            Self::GetDel { .. } => "GETDEL",
            Self::GetEx { .. } => "GETEX",
            Self::Del { .. } => "DEL",
            Self::Exists { .. } => "EXISTS",
            Self::Expire { unit, .. } => match unit {
                ExpireUnit::Seconds => "EXPIRE",
                ExpireUnit::Millis => "PEXPIRE",
                ExpireUnit::AtSeconds => "EXPIREAT",
                ExpireUnit::AtMillis => "PEXPIREAT",
            },
            Self::Persist { .. } => "PERSIST",
            Self::Ttl { unit, .. } => match unit {
                ExpireUnit::Seconds => "TTL",
                ExpireUnit::Millis => "PTTL",
                ExpireUnit::AtSeconds => "EXPIRETIME",
                ExpireUnit::AtMillis => "PEXPIRETIME",
            },
            Self::IncrBy { by: 1, .. } => "INCR",
            Self::IncrBy { by: -1, .. } => "DECR",
            Self::IncrBy { by: -9_223_372_036_854_775_807..=-2, .. } => "DECRBY",
            Self::IncrBy { .. } => "INCRBY",
            Self::CompareAndDelete { .. }
            | Self::CompareAndPexpire { .. }
            | Self::AcquireWithToken { .. } => "EVAL",
            Self::FlushAll => "FLUSHALL",
        }
    }

    /// Writes the command as one types it in `redis-cli`, `SET lock:job1 c1-1 NX PX 30000`.
    ///
    /// A script stands as its name in angle brackets.
    #[must_use]
    pub fn to_text(&self, names: &Names) -> String {
        let key = |key: KeyId| quoted(names.text(key.0));
        let value = |value: Value| quoted(&value.to_bytes(names));
        let mut text = String::from(self.name());
        let words: &[String] = match *self {
            Self::Set { key: k, value: v, condition, get, expiry } => {
                let get = if get { " GET" } else { "" };
                &[key(k), value(v), format!("{}{get}{}", condition.words(), expiry.words())]
            }
            Self::SetNx { key: k, value: v } | Self::GetSet { key: k, value: v } => {
                &[key(k), value(v)]
            }
            Self::Get { key: k }
            | Self::GetDel { key: k }
            | Self::Del { key: k }
            | Self::Exists { key: k }
            | Self::Persist { key: k }
            | Self::Ttl { key: k, .. }
            | Self::IncrBy { key: k, by: -1 | 1 } => &[key(k)],
            Self::GetEx { key: k, expiry } => &[key(k), expiry.words()],
            Self::Expire { key: k, time, condition, .. } => {
                &[key(k), format!("{time}{}", condition.words())]
            }
            Self::IncrBy { key: k, by: by @ -9_223_372_036_854_775_807..=-2 } => {
                &[key(k), by.unsigned_abs().to_string()]
            }
            Self::IncrBy { key: k, by } => &[key(k), by.to_string()],
            Self::CompareAndDelete { key: k, value: v } => {
                &["<compare-and-delete> 1".into(), key(k), value(v)]
            }
            Self::CompareAndPexpire { key: k, value: v, millis } => {
                &["<compare-and-pexpire> 1".into(), key(k), value(v), millis.to_string()]
            }
            Self::AcquireWithToken { key: k, value: v, millis, counter } => &[
                "<acquire-with-token> 2".into(),
                key(k),
                key(counter),
                value(v),
                millis.to_string(),
            ],
            Self::FlushAll => &[],
        };
        for word in words.iter().map(|word| word.trim_start()).filter(|word| !word.is_empty()) {
            text.push(' ');
            text.push_str(word);
        }
        text
    }
}

impl SetCondition {
    const fn words(self) -> &'static str {
        match self {
            Self::Always => "",
            Self::IfMissing => " NX",
            Self::IfExists => " XX",
        }
    }
}

impl Expiry {
    fn words(self) -> String {
        match self {
            Self::None => String::new(),
            Self::Keep => " KEEPTTL".into(),
            Self::Persist => " PERSIST".into(),
            Self::Seconds(time) => format!(" EX {time}"),
            Self::Millis(time) => format!(" PX {time}"),
            Self::AtSeconds(time) => format!(" EXAT {time}"),
            Self::AtMillis(time) => format!(" PXAT {time}"),
        }
    }
}

impl ExpireCondition {
    const fn words(self) -> &'static str {
        match self {
            Self::Always => "",
            Self::IfNone => " NX",
            Self::IfSome => " XX",
            Self::IfLater => " GT",
            Self::IfEarlier => " LT",
            Self::IfSomeAndEarlier => " XX LT",
        }
    }
}

impl Reply {
    /// Writes the reply as `redis-cli` shows it: `OK`, `(nil)`, `(integer) 1`, `"c1-1"`.
    #[must_use]
    pub fn to_text(&self, names: &Names) -> String {
        match *self {
            Self::Ok => "OK".into(),
            Self::Nil => "(nil)".into(),
            Self::Queued => "QUEUED".into(),
            Self::Integer(number) => format!("(integer) {number}"),
            Self::Value(value) => format!("\"{}\"", escaped(&value.to_bytes(names))),
            Self::Error(code) => format!("(error) {}", code.text()),
        }
    }
}

/// A word as one types it: in quotes only if it needs them.
fn quoted(text: &[u8]) -> String {
    let plain = |byte: &u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b'\\');
    if !text.is_empty() && text.iter().all(plain) {
        String::from_utf8_lossy(text).into_owned()
    } else {
        format!("\"{}\"", escaped(text))
    }
}

/// The text with Redis' escapes, to stand between double quotes.
pub(crate) fn escaped(text: &[u8]) -> String {
    let mut out = String::with_capacity(text.len());
    for &byte in text {
        match byte {
            b'"' | b'\\' => out.extend(['\\', char::from(byte)]),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            b' '..=b'~' => out.push(char::from(byte)),
            _ => write!(out, "\\x{byte:02x}").expect("writing to a string succeeds"),
        }
    }
    out
}
