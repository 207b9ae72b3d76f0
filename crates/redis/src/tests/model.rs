//! A second opinion: the typed commands over text in a map, written for clarity alone.

use std::collections::BTreeMap;

use crate::*;

/// Living and dead keys as text, each with its deadline.
#[derive(Default)]
pub(super) struct Model {
    keys: BTreeMap<KeyId, (String, Option<i64>)>,
}

impl Model {
    /// Runs the command and gives the reply as `redis-cli` shows it.
    pub(super) fn run(&mut self, command: &Command, now: i64, names: &Names) -> String {
        self.keys.retain(|_, (_, deadline)| deadline.is_none_or(|deadline| deadline >= now));
        let text = |value: Value| String::from_utf8(value.to_bytes(names)).unwrap();
        match *command {
            Command::Set { key, value, condition, get, expiry } => {
                self.set(key, text(value), condition, get, expiry, now)
            }
            Command::SetNx { key, value } => {
                let missing = !self.keys.contains_key(&key);
                if missing {
                    self.keys.insert(key, (text(value), None));
                }
                integer(i64::from(missing))
            }
            Command::Get { key } => self.get(key),
            Command::GetSet { key, value } => {
                self.set(key, text(value), SetCondition::Always, true, Expiry::None, now)
            }
            Command::GetDel { key } => {
                let old = self.get(key);
                self.keys.remove(&key);
                old
            }
            Command::GetEx { key, expiry } => self.get_ex(key, expiry, now),
            Command::Del { key } => integer(i64::from(self.keys.remove(&key).is_some())),
            Command::Exists { key } => integer(i64::from(self.keys.contains_key(&key))),
            Command::Expire { key, time, unit, condition } => {
                self.expire(key, time, unit, condition, now)
            }
            Command::Persist { key } => {
                let old = self.keys.get_mut(&key).and_then(|entry| entry.1.take());
                integer(i64::from(old.is_some()))
            }
            Command::Ttl { key, unit } => self.ttl(key, unit, now),
            Command::IncrBy { key, by } => self.incr(key, by),
            Command::CompareAndDelete { key, value } => {
                let held = self.holds(key, &text(value));
                if held {
                    self.keys.remove(&key);
                }
                integer(i64::from(held))
            }
            Command::CompareAndPexpire { key, value, millis } => {
                if !self.holds(key, &text(value)) {
                    return integer(0);
                }
                self.expire(key, millis, ExpireUnit::Millis, ExpireCondition::Always, now)
            }
            Command::AcquireWithToken { key, value, millis, counter } => {
                let (condition, expiry) = (SetCondition::IfMissing, Expiry::Millis(millis));
                match self.set(key, text(value), condition, false, expiry, now).as_str() {
                    "OK" => self.incr(counter, 1),
                    other => other.into(),
                }
            }
            Command::FlushAll => {
                self.keys.clear();
                "OK".into()
            }
        }
    }

    fn holds(&self, key: KeyId, value: &str) -> bool {
        self.keys.get(&key).is_some_and(|(held, _)| held == value)
    }

    fn get(&self, key: KeyId) -> String {
        self.keys.get(&key).map_or("(nil)".into(), |(value, _)| format!("\"{value}\""))
    }

    fn set(
        &mut self,
        key: KeyId,
        value: String,
        condition: SetCondition,
        get: bool,
        expiry: Expiry,
        now: i64,
    ) -> String {
        let Some(deadline) = absolute(expiry, now) else {
            return "(error) ERR invalid expire time in 'set' command".into();
        };
        let old = self.keys.get(&key).cloned();
        let refused = match condition {
            SetCondition::Always => false,
            SetCondition::IfMissing => old.is_some(),
            SetCondition::IfExists => old.is_none(),
        };
        let reply = if get {
            self.get(key)
        } else if refused {
            "(nil)".into()
        } else {
            "OK".into()
        };
        if !refused {
            let kept = old.and_then(|(_, deadline)| deadline);
            let deadline = if expiry == Expiry::Keep { kept } else { deadline };
            self.keys.insert(key, (value, deadline));
        }
        reply
    }

    fn get_ex(&mut self, key: KeyId, expiry: Expiry, now: i64) -> String {
        let reply = self.get(key);
        if !self.keys.contains_key(&key) {
            return reply;
        }
        let Some(deadline) = absolute(expiry, now) else {
            return "(error) ERR invalid expire time in 'getex' command".into();
        };
        match (deadline, self.keys.get_mut(&key)) {
            (Some(deadline), Some(_)) if deadline <= now => {
                self.keys.remove(&key);
            }
            (Some(deadline), Some(entry)) => entry.1 = Some(deadline),
            (None, Some(entry)) if expiry == Expiry::Persist => entry.1 = None,
            (None, Some(_)) | (_, None) => {}
        }
        reply
    }

    fn expire(
        &mut self,
        key: KeyId,
        time: i64,
        unit: ExpireUnit,
        condition: ExpireCondition,
        now: i64,
    ) -> String {
        let (name, scale, base) = match unit {
            ExpireUnit::Seconds => ("expire", 1000, now),
            ExpireUnit::Millis => ("pexpire", 1, now),
            ExpireUnit::AtSeconds => ("expireat", 1000, 0),
            ExpireUnit::AtMillis => ("pexpireat", 1, 0),
        };
        let wide = i128::from(time) * scale + i128::from(base);
        let Ok(deadline) = i64::try_from(wide) else {
            return format!("(error) ERR invalid expire time in '{name}' command");
        };
        let Some((_, old)) = self.keys.get_mut(&key) else { return integer(0) };
        let for_ever = i128::MAX;
        let before = old.map_or(for_ever, i128::from);
        let allowed = match condition {
            ExpireCondition::Always => true,
            ExpireCondition::IfNone => old.is_none(),
            ExpireCondition::IfSome => old.is_some(),
            ExpireCondition::IfLater => wide > before,
            ExpireCondition::IfEarlier => wide < before,
            ExpireCondition::IfSomeAndEarlier => old.is_some() && wide < before,
        };
        if !allowed {
            return integer(0);
        }
        *old = Some(deadline);
        if deadline <= now {
            self.keys.remove(&key);
        }
        integer(1)
    }

    fn ttl(&self, key: KeyId, unit: ExpireUnit, now: i64) -> String {
        integer(match self.keys.get(&key) {
            None => -2,
            Some((_, None)) => -1,
            Some((_, Some(deadline))) => match unit {
                ExpireUnit::Seconds => (deadline - now + 500) / 1000,
                ExpireUnit::Millis => deadline - now,
                ExpireUnit::AtSeconds => deadline.wrapping_add(500) / 1000,
                ExpireUnit::AtMillis => *deadline,
            },
        })
    }

    fn incr(&mut self, key: KeyId, by: i64) -> String {
        let (text, deadline) = self.keys.get(&key).cloned().unwrap_or(("0".into(), None));
        let Ok(old) = text.parse::<i64>() else {
            return "(error) ERR value is not an integer or out of range".into();
        };
        let Some(new) = old.checked_add(by) else {
            return "(error) ERR increment or decrement would overflow".into();
        };
        self.keys.insert(key, (new.to_string(), deadline));
        integer(new)
    }
}

fn integer(number: i64) -> String {
    format!("(integer) {number}")
}

/// The absolute deadline of a SET option: none, some, or an error.
fn absolute(expiry: Expiry, now: i64) -> Option<Option<i64>> {
    let (time, scale, base) = match expiry {
        Expiry::None | Expiry::Keep | Expiry::Persist => return Some(None),
        Expiry::Seconds(time) => (time, 1000, now),
        Expiry::Millis(time) => (time, 1, now),
        Expiry::AtSeconds(time) => (time, 1000, 0),
        Expiry::AtMillis(time) => (time, 1, 0),
    };
    if time <= 0 {
        return None;
    }
    i64::try_from(i128::from(time) * scale + i128::from(base)).ok().map(Some)
}
