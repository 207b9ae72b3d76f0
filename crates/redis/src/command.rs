//! The typed commands of the hot path: small, `Copy`, with interned keys and values.
//!
//! Every field has the meaning of its word in the command as a client would type it; the scripts
//! that lock libraries run are commands of their own here, and reply as the scripts do.

use crate::{names::KeyId, value::Value};

/// When SET may set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SetCondition {
    /// Always.
    #[default]
    Always,
    /// Only if the key does not exist: `NX`.
    IfMissing,
    /// Only if the key exists: `XX`.
    IfExists,
}

/// What SET or GETEX does to the deadline of the key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Expiry {
    /// No option: SET drops the deadline, GETEX leaves it.
    #[default]
    None,
    /// `KEEPTTL` of SET.
    Keep,
    /// `PERSIST` of GETEX.
    Persist,
    /// `EX seconds`.
    Seconds(i64),
    /// `PX milliseconds`.
    Millis(i64),
    /// `EXAT unix-seconds`.
    AtSeconds(i64),
    /// `PXAT unix-milliseconds`.
    AtMillis(i64),
}

/// Which member of the EXPIRE family is meant: the unit and the base of its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExpireUnit {
    /// `EXPIRE`: seconds from now.
    Seconds,
    /// `PEXPIRE`: milliseconds from now.
    Millis,
    /// `EXPIREAT`: unix seconds.
    AtSeconds,
    /// `PEXPIREAT`: unix milliseconds.
    AtMillis,
}

/// When a command of the EXPIRE family may set the deadline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ExpireCondition {
    /// Always.
    #[default]
    Always,
    /// Only a key without deadline: `NX`.
    IfNone,
    /// Only a key with a deadline: `XX`.
    IfSome,
    /// Only to a later deadline: `GT`; no deadline counts as for ever.
    IfLater,
    /// Only to an earlier deadline: `LT`.
    IfEarlier,
    /// Only a key with a deadline and to an earlier one: `XX LT`.
    IfSomeAndEarlier,
}

/// One command, as the simulation sends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    /// `SET key value [NX|XX] [GET] [EX|PX|EXAT|PXAT n|KEEPTTL]`.
    Set {
        /// The key.
        key: KeyId,
        /// The new value.
        value: Value,
        /// When to set.
        condition: SetCondition,
        /// Whether the reply is the old value.
        get: bool,
        /// What becomes of the deadline.
        expiry: Expiry,
    },
    /// `SETNX key value`.
    SetNx {
        /// The key.
        key: KeyId,
        /// The new value.
        value: Value,
    },
    /// `GET key`.
    Get {
        /// The key.
        key: KeyId,
    },
    /// `GETSET key value`.
    GetSet {
        /// The key.
        key: KeyId,
        /// The new value.
        value: Value,
    },
    /// `GETDEL key`.
    GetDel {
        /// The key.
        key: KeyId,
    },
    /// `GETEX key [EX|PX|EXAT|PXAT n|PERSIST]`.
    GetEx {
        /// The key.
        key: KeyId,
        /// What becomes of the deadline.
        expiry: Expiry,
    },
    /// `DEL key`.
    Del {
        /// The key.
        key: KeyId,
    },
    /// `EXISTS key`.
    Exists {
        /// The key.
        key: KeyId,
    },
    /// `EXPIRE`, `PEXPIRE`, `EXPIREAT` or `PEXPIREAT key time [NX|XX|GT|LT]`.
    Expire {
        /// The key.
        key: KeyId,
        /// The number, in the command's unit.
        time: i64,
        /// Which of the four it is.
        unit: ExpireUnit,
        /// When to set.
        condition: ExpireCondition,
    },
    /// `PERSIST key`.
    Persist {
        /// The key.
        key: KeyId,
    },
    /// `TTL`, `PTTL`, `EXPIRETIME` or `PEXPIRETIME key`.
    Ttl {
        /// The key.
        key: KeyId,
        /// `TTL` is seconds, `PTTL` milliseconds, `EXPIRETIME` and `PEXPIRETIME` the absolute ones.
        unit: ExpireUnit,
    },
    /// `INCR`, `DECR`, `INCRBY`, `DECRBY`: adds to the number in the key.
    IncrBy {
        /// The key.
        key: KeyId,
        /// What is added, negative for the DECR side.
        by: i64,
    },
    /// The release script: deletes the key if it holds the value; 1 or 0.
    CompareAndDelete {
        /// The key.
        key: KeyId,
        /// What the key must hold.
        value: Value,
    },
    /// The extension script: PEXPIRE of the key if it holds the value; 1 or 0.
    CompareAndPexpire {
        /// The key.
        key: KeyId,
        /// What the key must hold.
        value: Value,
        /// The new time to live in milliseconds.
        millis: i64,
    },
    /// The acquire script: `SET key value NX PX millis` and, if that set, INCR of the counter; the
    /// counter's new number is the fencing token, nil means refused.
    AcquireWithToken {
        /// The lock key.
        key: KeyId,
        /// What the lock key shall hold.
        value: Value,
        /// The time to live in milliseconds.
        millis: i64,
        /// The key of the fencing counter.
        counter: KeyId,
    },
    /// `FLUSHALL`.
    FlushAll,
}

const _: () = assert!(size_of::<Command>() <= 40, "a command travels in messages and stays small");

impl Command {
    /// Makes the usual acquire command, `SET key value NX PX millis`.
    #[must_use]
    pub const fn set_nx_px(key: KeyId, value: Value, millis: i64) -> Self {
        Self::Set {
            key,
            value,
            condition: SetCondition::IfMissing,
            get: false,
            expiry: Expiry::Millis(millis),
        }
    }

    /// Gives the key the command is about; FLUSHALL is about none.
    #[must_use]
    pub const fn key(&self) -> Option<KeyId> {
        match *self {
            Self::Set { key, .. }
            | Self::SetNx { key, .. }
            | Self::Get { key }
            | Self::GetSet { key, .. }
            | Self::GetDel { key }
            | Self::GetEx { key, .. }
            | Self::Del { key }
            | Self::Exists { key }
            | Self::Expire { key, .. }
            | Self::Persist { key }
            | Self::Ttl { key, .. }
            | Self::IncrBy { key, .. }
            | Self::CompareAndDelete { key, .. }
            | Self::CompareAndPexpire { key, .. }
            | Self::AcquireWithToken { key, .. } => Some(key),
            Self::FlushAll => None,
        }
    }

    /// Tells whether Redis counts the command as a write: a replica refuses it with READONLY.
    #[must_use]
    pub const fn is_write(&self) -> bool {
        !matches!(self, Self::Get { .. } | Self::Exists { .. } | Self::Ttl { .. })
    }

    /// Tells whether the command is a script on a real server, and so takes a script's time.
    #[must_use]
    pub const fn is_script(&self) -> bool {
        matches!(
            self,
            Self::CompareAndDelete { .. }
                | Self::CompareAndPexpire { .. }
                | Self::AcquireWithToken { .. }
        )
    }
}
