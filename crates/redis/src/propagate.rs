//! What a master sends to its replicas for a command: effects, never conditions.
//!
//! Every relative time to live becomes an absolute one, a refused command sends nothing, and an
//! expiry goes as an explicit DEL in front of the command that met it (semantics: replication).

use crate::{
    command::{Command, ExpireCondition, ExpireUnit, Expiry, SetCondition},
    deadlines::{expire_deadline, set_deadline},
    reply::{Change, Outcome, Reply},
    value::Value,
};

impl Command {
    /// Hands over, in order, the commands that make a replica what this command made the master.
    ///
    /// `now_ms` is the wall time at which the command was carried out. A replica gives each to
    /// [`Engine::apply`](crate::Engine::apply).
    pub fn propagate(&self, outcome: &Outcome, now_ms: u64, mut send: impl FnMut(Self)) {
        let now = i64::try_from(now_ms).unwrap_or(i64::MAX);
        let Some(key) = self.key() else {
            send(*self);
            return;
        };
        if outcome.expired {
            send(Self::Del { key });
        }
        match outcome.change {
            Change::None => {}
            Change::Deleted => send(Self::Del { key }),
            Change::Persisted => send(Self::Persist { key }),
            Change::Extended => {
                if let Some(deadline) = self.deadline(now) {
                    let (unit, condition) = (ExpireUnit::AtMillis, ExpireCondition::Always);
                    send(Self::Expire { key, time: deadline, unit, condition });
                }
            }
            Change::Counted => send(*self),
            Change::Created | Change::Overwritten => self.propagate_value(outcome, now, send),
        }
    }

    fn propagate_value(&self, outcome: &Outcome, now: i64, mut send: impl FnMut(Self)) {
        if let Self::Set { key, value, expiry, .. } = *self
            && let Ok(Some(deadline)) = set_deadline(expiry, now)
        {
            send(set(key, value, Expiry::AtMillis(deadline)));
        } else if let Self::GetSet { key, value } = *self {
            send(set(key, value, Expiry::None));
        } else if let Self::AcquireWithToken { key, value, millis, counter } = *self {
            if let Ok(Some(deadline)) = set_deadline(Expiry::Millis(millis), now) {
                send(set(key, value, Expiry::AtMillis(deadline)));
            }
            if outcome.counter_expired {
                send(Self::Del { key: counter });
            }
            if let Reply::Integer(_) = outcome.reply {
                send(Self::IncrBy { key: counter, by: 1 });
            }
        } else {
            send(*self);
        }
    }

    /// The absolute deadline that this command set.
    fn deadline(&self, now: i64) -> Option<i64> {
        if let Self::Expire { time, unit, .. } = *self {
            expire_deadline(time, unit, now)
        } else if let Self::CompareAndPexpire { millis, .. } = *self {
            expire_deadline(millis, ExpireUnit::Millis, now)
        } else if let Self::GetEx { expiry, .. } = *self {
            set_deadline(expiry, now).ok().flatten()
        } else {
            None
        }
    }
}

fn set(key: crate::KeyId, value: Value, expiry: Expiry) -> Command {
    Command::Set { key, value, condition: SetCondition::Always, get: false, expiry }
}
