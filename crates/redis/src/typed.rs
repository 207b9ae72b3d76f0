//! The typed commands carried out: what the hot path of a simulation runs.
//!
//! Each function follows the function of Redis 7.0 that its comment names, in the same order of
//! checks, because the order decides which error a client sees.

use crate::{
    command::{Command, ExpireCondition, ExpireUnit, Expiry, SetCondition},
    deadlines::{drop_deadline, expire_deadline, move_deadline, set_deadline},
    engine::{Engine, Role},
    keyspace::{Content, Slot},
    names::KeyId,
    object::Object,
    reply::{Change, ErrorCode, ExpiringCommand, Outcome, Reply},
    value::Value,
};

/// A slot, and whether a living key is in it.
struct Opened<'a> {
    slot: &'a mut Slot,
    alive: bool,
    expired: bool,
}

impl Engine {
    /// Carries out one command of a client in database 0 at this wall time of the server.
    ///
    /// A replica refuses writes with READONLY.
    #[inline]
    pub fn execute(&mut self, command: &Command, now_ms: u64) -> Outcome {
        if self.role == Role::Replica && command.is_write() {
            return Outcome::failed(ErrorCode::ReadOnly);
        }
        let now = i64::try_from(now_ms).unwrap_or(i64::MAX);
        // The two commands of nearly every lock are carried out without a further call.
        if let Command::CompareAndDelete { key, value } = *command {
            self.compare_and_delete(key, value, now)
        } else if let Command::Set {
            key,
            value,
            condition: SetCondition::IfMissing,
            get: false,
            expiry: Expiry::Millis(millis),
        } = *command
        {
            self.acquire(key, value, millis, now)
        } else {
            self.run(command, now)
        }
    }

    /// `SET key value NX PX millis`.
    #[inline(always)]
    fn acquire(&mut self, key: KeyId, value: Value, millis: i64, now: i64) -> Outcome {
        let deadline = match now.checked_add(millis) {
            Some(deadline) if millis > 0 => deadline,
            _ => return Outcome::failed(ErrorCode::InvalidExpire(ExpiringCommand::Set)),
        };
        let Opened { slot, alive, expired } = self.open(key, now);
        if alive {
            return Outcome::new(Reply::Nil, Change::None, expired);
        }
        slot.create(value, deadline);
        Outcome::new(Reply::Ok, Change::Created, expired)
    }

    /// Carries out one command of the replication stream: no key counts as dead, whatever the
    /// replica's clock says, and nothing is refused.
    pub fn apply(&mut self, command: &Command) -> Outcome {
        self.run(command, i64::MIN)
    }

    #[inline(never)]
    fn run(&mut self, command: &Command, now: i64) -> Outcome {
        match *command {
            Command::Set { key, value, condition, get: false, expiry } => {
                self.set(key, value, condition, expiry, now)
            }
            Command::CompareAndDelete { key, value } => self.compare_and_delete(key, value, now),
            Command::Set { key, value, condition, get: true, expiry } => {
                self.set_get(key, value, condition, expiry, now)
            }
            Command::SetNx { key, value } => self.set_nx(key, value, now),
            Command::Get { key } => self.get(key, now),
            Command::GetSet { key, value } => {
                self.set_get(key, value, SetCondition::Always, Expiry::None, now)
            }
            Command::GetDel { key } => self.get_del(key, now),
            Command::GetEx { key, expiry } => self.get_ex(key, expiry, now),
            Command::Del { key } => self.del(key, now),
            Command::Exists { key } => {
                let Opened { alive, expired, .. } = self.open(key, now);
                Outcome::new(integer(alive), Change::None, expired)
            }
            Command::Expire { key, time, unit, condition } => {
                self.expire(key, time, unit, condition, now)
            }
            Command::Persist { key } => self.persist(key, now),
            Command::Ttl { key, unit } => self.ttl(key, unit, now),
            Command::IncrBy { key, by } => self.incr_by(key, by, now),
            Command::CompareAndPexpire { key, value, millis } => {
                self.compare_and_pexpire(key, value, millis, now)
            }
            Command::AcquireWithToken { key, value, millis, counter } => {
                self.acquire_with_token(key, value, millis, counter, now)
            }
            Command::FlushAll => {
                self.databases.iter_mut().for_each(crate::keyspace::Database::flush);
                Outcome::new(Reply::Ok, Change::None, false)
            }
        }
    }

    /// Looks a key up; a master removes it if it is dead (`src/db.c:expireIfNeeded`).
    #[inline(always)]
    fn open(&mut self, key: KeyId, now: i64) -> Opened<'_> {
        let slot = self.databases[0].slot(key.0);
        if slot.is_dead(now) {
            let expired = self.role == Role::Master;
            if expired {
                slot.expire();
            }
            return Opened { slot, alive: false, expired };
        }
        let alive = !slot.content.is_absent();
        Opened { slot, alive, expired: false }
    }

    /// `src/t_string.c:setGenericCommand` without GET: the acquire command of most locks.
    #[inline(always)]
    fn set(
        &mut self,
        key: KeyId,
        value: Value,
        condition: SetCondition,
        expiry: Expiry,
        now: i64,
    ) -> Outcome {
        let Ok(deadline) = set_deadline(expiry, now) else {
            return Outcome::failed(ErrorCode::InvalidExpire(ExpiringCommand::Set));
        };
        let Opened { slot, alive, expired } = self.open(key, now);
        if !condition.holds(alive) {
            return Outcome::new(Reply::Nil, Change::None, expired);
        }
        let change = slot.put(Content::Value(value));
        match deadline {
            Some(deadline) => slot.set_deadline(deadline),
            None if matches!(expiry, Expiry::Keep) => {}
            None => slot.clear_deadline(),
        }
        Outcome::new(Reply::Ok, change, expired)
    }

    /// SET with GET: the reply is the old value, whether it was set or not.
    #[inline(never)]
    fn set_get(
        &mut self,
        key: KeyId,
        value: Value,
        condition: SetCondition,
        expiry: Expiry,
        now: i64,
    ) -> Outcome {
        if set_deadline(expiry, now).is_err() {
            return Outcome::failed(ErrorCode::InvalidExpire(ExpiringCommand::Set));
        }
        let old = self.get(key, now);
        if let Reply::Error(_) = old.reply {
            return old;
        }
        let Outcome { change, .. } = self.set(key, value, condition, expiry, now);
        Outcome { change, ..old }
    }

    #[inline(never)]
    fn set_nx(&mut self, key: KeyId, value: Value, now: i64) -> Outcome {
        let Opened { slot, alive, expired } = self.open(key, now);
        let change = if alive { Change::None } else { slot.put(Content::Value(value)) };
        Outcome::new(integer(!alive), change, expired)
    }

    #[inline(never)]
    fn get(&mut self, key: KeyId, now: i64) -> Outcome {
        let Opened { slot, alive, expired } = self.open(key, now);
        let reply = match &slot.content {
            Content::Value(value) if alive => Reply::Value(*value),
            Content::Object(object) if alive => match object.text().map(<[u8]>::to_vec) {
                Some(text) => Reply::Value(Value::Name(self.names.intern(&text))),
                None => Reply::Error(ErrorCode::WrongType),
            },
            Content::Absent | Content::Value(_) | Content::Object(_) => Reply::Nil,
        };
        Outcome::new(reply, Change::None, expired)
    }

    #[inline(never)]
    fn get_del(&mut self, key: KeyId, now: i64) -> Outcome {
        let got = self.get(key, now);
        if !matches!(got.reply, Reply::Value(_)) {
            return got;
        }
        self.open(key, now).slot.remove();
        Outcome { change: Change::Deleted, ..got }
    }

    /// `src/t_string.c:getexCommand`.
    #[inline(never)]
    fn get_ex(&mut self, key: KeyId, expiry: Expiry, now: i64) -> Outcome {
        let got = self.get(key, now);
        if !matches!(got.reply, Reply::Value(_)) {
            return got;
        }
        let Ok(deadline) = set_deadline(expiry, now) else {
            let code = ErrorCode::InvalidExpire(ExpiringCommand::GetEx);
            return Outcome::refused(code, got.expired);
        };
        let slot = self.open(key, now).slot;
        let change = match deadline {
            Some(deadline) => move_deadline(slot, deadline, now),
            None if matches!(expiry, Expiry::Persist) => drop_deadline(slot),
            None => Change::None,
        };
        Outcome { change, ..got }
    }

    #[inline(never)]
    fn del(&mut self, key: KeyId, now: i64) -> Outcome {
        let Opened { slot, alive, expired } = self.open(key, now);
        if alive {
            slot.remove();
        }
        let change = if alive { Change::Deleted } else { Change::None };
        Outcome::new(integer(alive), change, expired)
    }

    /// `src/expire.c:expireGenericCommand`.
    #[inline(never)]
    fn expire(
        &mut self,
        key: KeyId,
        time: i64,
        unit: ExpireUnit,
        condition: ExpireCondition,
        now: i64,
    ) -> Outcome {
        let Some(deadline) = expire_deadline(time, unit, now) else {
            return Outcome::failed(ErrorCode::InvalidExpire(unit.command()));
        };
        let Opened { slot, alive, expired } = self.open(key, now);
        if !alive || !condition.holds(slot.deadline(), deadline) {
            return Outcome::new(Reply::Integer(0), Change::None, expired);
        }
        let change = move_deadline(slot, deadline, now);
        Outcome::new(Reply::Integer(1), change, expired)
    }

    #[inline(never)]
    fn persist(&mut self, key: KeyId, now: i64) -> Outcome {
        let Opened { slot, alive, expired } = self.open(key, now);
        let change = if alive { drop_deadline(slot) } else { Change::None };
        Outcome::new(integer(change == Change::Persisted), change, expired)
    }

    #[inline(never)]
    fn ttl(&mut self, key: KeyId, unit: ExpireUnit, now: i64) -> Outcome {
        let Opened { slot, alive, expired } = self.open(key, now);
        let number = if alive { unit.ttl(slot.deadline(), now) } else { -2 };
        Outcome::new(Reply::Integer(number), Change::None, expired)
    }

    /// `src/t_string.c:incrDecrCommand`; the deadline stays.
    #[inline(never)]
    fn incr_by(&mut self, key: KeyId, by: i64, now: i64) -> Outcome {
        let Opened { slot, alive, expired } = self.open(key, now);
        let old = match &slot.content {
            Content::Absent => 0,
            Content::Value(Value::Integer(number)) => *number,
            Content::Value(_) => return Outcome::refused(ErrorCode::NotAnInteger, expired),
            Content::Object(object) => return Outcome::refused(object.not_a_number(), expired),
        };
        let Some(new) = old.checked_add(by) else {
            return Outcome::refused(ErrorCode::Overflow, expired);
        };
        slot.put(Content::Value(Value::Integer(new)));
        let change = if alive { Change::Counted } else { Change::Created };
        Outcome::new(Reply::Integer(new), change, expired)
    }

    #[inline(always)]
    fn compare_and_delete(&mut self, key: KeyId, value: Value, now: i64) -> Outcome {
        let Opened { slot, alive, expired } = self.open(key, now);
        if slot.content == Content::Value(value) && alive {
            slot.remove();
            return Outcome::new(Reply::Integer(1), Change::Deleted, expired);
        }
        if let Content::Object(_) = slot.content {
            return self.compare_object_and(key, value, now, |slot| {
                slot.remove();
                (Reply::Integer(1), Change::Deleted)
            });
        }
        Outcome::new(Reply::Integer(0), Change::None, expired)
    }

    #[inline(never)]
    fn compare_and_pexpire(&mut self, key: KeyId, value: Value, millis: i64, now: i64) -> Outcome {
        let extend = |slot: &mut Slot| match expire_deadline(millis, ExpireUnit::Millis, now) {
            Some(deadline) => (Reply::Integer(1), move_deadline(slot, deadline, now)),
            None => {
                let code = ErrorCode::InvalidExpire(ExpiringCommand::Pexpire);
                (Reply::Error(code), Change::None)
            }
        };
        let Opened { slot, alive, expired } = self.open(key, now);
        if slot.content == Content::Value(value) && alive {
            let (reply, change) = extend(slot);
            return Outcome::new(reply, change, expired);
        }
        if let Content::Object(_) = slot.content {
            return self.compare_object_and(key, value, now, extend);
        }
        Outcome::new(Reply::Integer(0), Change::None, expired)
    }

    /// Compares with a value that is not in canonical form, and acts if it is equal.
    #[cold]
    fn compare_object_and(
        &mut self,
        key: KeyId,
        value: Value,
        now: i64,
        act: impl FnOnce(&mut Slot) -> (Reply, Change),
    ) -> Outcome {
        let wanted = value.to_bytes(&self.names);
        let Opened { slot, alive, expired } = self.open(key, now);
        let (reply, change) = match &slot.content {
            Content::Object(object) if alive => match object.text() {
                Some(text) if *text == *wanted => act(slot),
                Some(_) => (Reply::Integer(0), Change::None),
                None => (Reply::Error(ErrorCode::WrongType), Change::None),
            },
            Content::Absent | Content::Value(_) | Content::Object(_) => {
                (Reply::Integer(0), Change::None)
            }
        };
        Outcome::new(reply, change, expired)
    }

    #[inline(never)]
    fn acquire_with_token(
        &mut self,
        key: KeyId,
        value: Value,
        millis: i64,
        counter: KeyId,
        now: i64,
    ) -> Outcome {
        let set = self.set(key, value, SetCondition::IfMissing, Expiry::Millis(millis), now);
        if set.reply != Reply::Ok {
            return set;
        }
        // A failing INCR ends the script, but the lock stays set: scripts are not rolled back.
        let token = self.incr_by(counter, 1, now);
        Outcome { reply: token.reply, counter_expired: token.expired, ..set }
    }
}

impl Outcome {
    const fn new(reply: Reply, change: Change, expired: bool) -> Self {
        Self { reply, change, expired, counter_expired: false }
    }

    const fn failed(code: ErrorCode) -> Self {
        Self::refused(code, false)
    }

    const fn refused(code: ErrorCode, expired: bool) -> Self {
        Self::new(Reply::Error(code), Change::None, expired)
    }
}

const fn integer(truth: bool) -> Reply {
    Reply::Integer(truth as i64)
}

impl Object {
    /// The error of a command that wants a number and finds this.
    const fn not_a_number(&self) -> ErrorCode {
        if matches!(self, Self::Text(_)) { ErrorCode::NotAnInteger } else { ErrorCode::WrongType }
    }

    /// The bytes, if this is a string.
    pub(crate) fn text(&self) -> Option<&[u8]> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }
}
