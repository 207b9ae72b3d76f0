//! Replies of the typed commands, and what a command did to its key.

use crate::value::Value;

/// The reply to a typed command, in at most 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reply {
    /// `OK`.
    Ok,
    /// The null reply: a missing key, or a SET that was refused.
    Nil,
    /// `QUEUED`, inside MULTI.
    Queued,
    /// An integer.
    Integer(i64),
    /// The value of a key.
    Value(Value),
    /// An error.
    Error(ErrorCode),
}

const _: () = assert!(size_of::<Reply>() <= 16, "a reply travels in messages and stays small");

/// The command named in `invalid expire time`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExpiringCommand {
    /// `SET`.
    Set,
    /// `SETEX`.
    SetEx,
    /// `PSETEX`.
    PsetEx,
    /// `GETEX`.
    GetEx,
    /// `EXPIRE`.
    Expire,
    /// `PEXPIRE`.
    Pexpire,
    /// `EXPIREAT`.
    ExpireAt,
    /// `PEXPIREAT`.
    PexpireAt,
}

/// An error reply that has a fixed text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorCode {
    /// The key holds another type.
    WrongType,
    /// A number was expected.
    NotAnInteger,
    /// The counter would leave the 64-bit range.
    Overflow,
    /// The negated decrement would leave the 64-bit range.
    DecrementOverflow,
    /// The time to live is zero, negative or too large.
    InvalidExpire(ExpiringCommand),
    /// The node is a replica.
    ReadOnly,
    /// Fewer good replicas than `min-replicas-to-write`.
    NoReplicas,
    /// The replica has lost its master and may not answer.
    MasterDown,
    /// The node is loading its data.
    Loading,
    /// A script runs for too long.
    Busy,
    /// Snapshots fail, so writes are refused.
    Misconf,
    /// The memory limit is reached.
    OutOfMemory,
    /// The blocked client's server was demoted.
    Unblocked,
    /// The script is not cached.
    NoScript,
    /// The cluster does not serve the slot.
    ClusterDown,
}

impl ErrorCode {
    /// Gives the error's text as it stands on the wire, without the leading dash.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::WrongType => "WRONGTYPE Operation against a key holding the wrong kind of value",
            Self::NotAnInteger => "ERR value is not an integer or out of range",
            Self::Overflow => "ERR increment or decrement would overflow",
            Self::DecrementOverflow => "ERR decrement would overflow",
            Self::InvalidExpire(command) => command.invalid_expire(),
            Self::ReadOnly => "READONLY You can't write against a read only replica.",
            Self::NoReplicas => "NOREPLICAS Not enough good replicas to write.",
            Self::MasterDown => {
                "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."
            }
            Self::Loading => "LOADING Redis is loading the dataset in memory",
            Self::Busy => {
                "BUSY Redis is busy running a script. \
                 You can only call SCRIPT KILL or SHUTDOWN NOSAVE."
            }
            Self::Misconf => {
                "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to \
                 persist to disk. Commands that may modify the data set are disabled, because \
                 this instance is configured to report errors during writes if RDB snapshotting \
                 fails (stop-writes-on-bgsave-error option). Please check the Redis logs for \
                 details about the RDB error."
            }
            Self::OutOfMemory => "OOM command not allowed when used memory > 'maxmemory'.",
            Self::Unblocked => {
                "UNBLOCKED force unblock from blocking operation, \
                 instance state changed (master -> replica?)"
            }
            Self::NoScript => "NOSCRIPT No matching script. Please use EVAL.",
            Self::ClusterDown => "CLUSTERDOWN The cluster is down",
        }
    }
}

impl ExpiringCommand {
    const fn invalid_expire(self) -> &'static str {
        match self {
            Self::Set => "ERR invalid expire time in 'set' command",
            Self::SetEx => "ERR invalid expire time in 'setex' command",
            Self::PsetEx => "ERR invalid expire time in 'psetex' command",
            Self::GetEx => "ERR invalid expire time in 'getex' command",
            Self::Expire => "ERR invalid expire time in 'expire' command",
            Self::Pexpire => "ERR invalid expire time in 'pexpire' command",
            Self::ExpireAt => "ERR invalid expire time in 'expireat' command",
            Self::PexpireAt => "ERR invalid expire time in 'pexpireat' command",
        }
    }
}

/// What a command did to its key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Change {
    /// Nothing.
    #[default]
    None,
    /// The key was missing and exists now.
    Created,
    /// The key existed and got a new value, be it equal to the old one.
    Overwritten,
    /// The number in the key was changed by the INCR family; the key existed.
    Counted,
    /// The deadline was set or moved, forwards or backwards.
    Extended,
    /// The deadline was taken away.
    Persisted,
    /// The key existed and was deleted.
    Deleted,
}

/// The reply to a command and what it did.
///
/// Who owns a key is not the engine's business: the caller keeps that record, and `expired` and
/// `change` tell it, in this order, what became of the key. For the acquire script they speak of
/// the lock key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Outcome {
    /// What the client gets.
    pub reply: Reply,
    /// What the command did to its key.
    pub change: Change,
    /// Whether the command found the key dead and removed it before it did anything else.
    pub expired: bool,
    /// Whether the acquire script found its counter dead and removed it before counting.
    pub counter_expired: bool,
}
