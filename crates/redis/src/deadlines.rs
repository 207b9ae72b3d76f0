//! Deadlines: how commands ask for them, when they may be set, and what is left of them.
//!
//! A deadline is the last millisecond of a key's life, as unix time; `now` is the server's wall
//! clock. The comparisons are those of `src/expire.c` and `src/t_string.c` of Redis 7.0.

use crate::{
    command::{ExpireCondition, ExpireUnit, Expiry, SetCondition},
    keyspace::Slot,
    reply::{Change, ExpiringCommand},
};

/// The deadline that SET or GETEX asks for (`src/t_string.c:getExpireMillisecondsOrReply`).
#[inline]
pub(crate) fn set_deadline(expiry: Expiry, now: i64) -> Result<Option<i64>, ()> {
    let (time, unit, base) = match expiry {
        Expiry::None | Expiry::Keep | Expiry::Persist => return Ok(None),
        Expiry::Millis(time) => (time, 1, now),
        Expiry::Seconds(time) => (time, 1000, now),
        Expiry::AtMillis(time) => (time, 1, 0),
        Expiry::AtSeconds(time) => (time, 1000, 0),
    };
    if time <= 0 {
        return Err(());
    }
    let deadline = time.checked_mul(unit).and_then(|millis| millis.checked_add(base)).ok_or(())?;
    if deadline > 0 { Ok(Some(deadline)) } else { Err(()) }
}

/// The deadline that a command of the EXPIRE family asks for, or `None` if it is out of range.
#[inline]
pub(crate) fn expire_deadline(time: i64, unit: ExpireUnit, now: i64) -> Option<i64> {
    match unit {
        ExpireUnit::Millis => time.checked_add(now),
        ExpireUnit::Seconds => time.checked_mul(1000)?.checked_add(now),
        ExpireUnit::AtMillis => Some(time),
        ExpireUnit::AtSeconds => time.checked_mul(1000),
    }
}

/// Sets the deadline, or deletes the key at once if the deadline is not in the future.
#[inline]
pub(crate) fn move_deadline(slot: &mut Slot, deadline: i64, now: i64) -> Change {
    if deadline <= now {
        slot.remove();
        return Change::Deleted;
    }
    slot.set_deadline(deadline);
    slot.touch();
    Change::Extended
}

pub(crate) fn drop_deadline(slot: &mut Slot) -> Change {
    if slot.deadline().is_none() {
        return Change::None;
    }
    slot.clear_deadline();
    slot.touch();
    Change::Persisted
}

impl SetCondition {
    /// Tells whether SET may set, given whether the key exists.
    #[inline]
    pub(crate) const fn holds(self, exists: bool) -> bool {
        match self {
            Self::Always => true,
            Self::IfMissing => !exists,
            Self::IfExists => exists,
        }
    }
}

impl ExpireCondition {
    /// Tells whether a key with this deadline may get that one.
    #[inline]
    pub(crate) const fn holds(self, old: Option<i64>, new: i64) -> bool {
        match (self, old) {
            (Self::Always, _)
            | (Self::IfNone | Self::IfEarlier, None)
            | (Self::IfSome, Some(_)) => true,
            (Self::IfNone, Some(_))
            | (Self::IfSome | Self::IfLater | Self::IfSomeAndEarlier, None) => false,
            (Self::IfLater, Some(old)) => new > old,
            (Self::IfEarlier | Self::IfSomeAndEarlier, Some(old)) => new < old,
        }
    }
}

impl ExpireUnit {
    /// The command of the EXPIRE family with this unit.
    pub(crate) const fn command(self) -> ExpiringCommand {
        match self {
            Self::Seconds => ExpiringCommand::Expire,
            Self::Millis => ExpiringCommand::Pexpire,
            Self::AtSeconds => ExpiringCommand::ExpireAt,
            Self::AtMillis => ExpiringCommand::PexpireAt,
        }
    }

    /// What TTL and its relatives say of a living key (`src/expire.c:ttlGenericCommand`).
    pub(crate) const fn ttl(self, deadline: Option<i64>, now: i64) -> i64 {
        let Some(deadline) = deadline else { return -1 };
        let left = deadline.saturating_sub(now);
        let left = if left < 0 { 0 } else { left };
        match self {
            Self::Seconds => left.wrapping_add(500) / 1000,
            Self::Millis => left,
            Self::AtSeconds => deadline.wrapping_add(500) / 1000,
            Self::AtMillis => deadline,
        }
    }
}
