//! What an attempt asks with, and what comes of it.

use fencepost_history::{GrantId, LockId, Token, WallTime};
use fencepost_services::Value;

/// Who asks: the three levels at which real clients are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The process, counted from 1.
    pub process: u16,
    /// The process's name, as a value.
    pub name: Value,
    /// The thread's number within its process, counted from 1.
    pub thread: u16,
}

/// One attempt to acquire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Its number, and that of the grant it may become.
    pub id: GrantId,
    /// The lock.
    pub lock: LockId,
    /// Who asks.
    pub who: Identity,
}

/// A lock that was granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The attempt that succeeded.
    pub id: GrantId,
    /// The lock.
    pub lock: LockId,
    /// What the client wrote into the store.
    pub value: Value,
    /// The fencing token; [`Token::NONE`] without one.
    pub token: Token,
    /// When the lock ends by the client's own clock, as nanoseconds of the clock it uses.
    pub ends: WallTime,
}

/// Why there is no grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AcquireError {
    /// Somebody else has the lock.
    #[error("somebody else has the lock")]
    Refused,
    /// No reply came, so the attempt may have taken effect.
    #[error("no reply came, so the attempt may have taken effect")]
    Unknown,
    /// The lock was granted, but too little of its life was left.
    #[error("the lock was granted, but too little of its life was left")]
    TooLate,
}

/// What a renewal found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Renewal {
    /// The lock lives on.
    Renewed,
    /// The lock is somebody else's or nobody's.
    Lost,
    /// No reply came.
    Unknown,
}
