//! The typed hot path: single replies, and agreement with a naive model.

mod bytes;
mod clocks;
mod model;
mod stream;

use proptest::prelude::*;

use crate::*;
use model::Model;

pub(crate) const LOCK: KeyId = KeyId(0);
pub(crate) const FENCE: KeyId = KeyId(1);
pub(crate) const T1: Value = Value::Token { client: 1, serial: 1 };
pub(crate) const T2: Value = Value::Token { client: 2, serial: 1 };

pub(crate) fn engine() -> Engine {
    let mut names = Names::new();
    names.intern(b"lock:job1");
    names.intern(b"fence");
    names.intern(b"worker-1");
    Engine::with_names(names)
}

/// Runs a command and gives it and its reply as `redis-cli` shows them.
fn shown(engine: &mut Engine, command: Command, now: u64) -> String {
    let outcome = engine.execute(&command, now);
    let names = engine.names();
    format!("{} -> {}", command.to_text(names), outcome.reply.to_text(names))
}

#[test]
fn a_lock_dies_after_its_deadline_not_at_it() {
    let mut engine = engine();
    let acquire = |value| Command::set_nx_px(LOCK, value, 30_000);
    assert_eq!(shown(&mut engine, acquire(T1), 1_000), "SET lock:job1 c1-1 NX PX 30000 -> OK");
    assert_eq!(shown(&mut engine, acquire(T2), 31_000), "SET lock:job1 c2-1 NX PX 30000 -> (nil)");
    let Outcome { reply, change, expired, .. } = engine.execute(&acquire(T2), 31_001);
    assert_eq!((reply, change, expired), (Reply::Ok, Change::Created, true));
}

#[test]
fn scripts_reply_as_their_lua_source_does() {
    let mut engine = engine();
    let acquire =
        |value| Command::AcquireWithToken { key: LOCK, value, millis: 5_000, counter: FENCE };
    let release = |value| Command::CompareAndDelete { key: LOCK, value };
    let extend = |value| Command::CompareAndPexpire { key: LOCK, value, millis: 9_000 };
    let lines = [
        (acquire(T1), 0, "EVAL <acquire-with-token> 2 lock:job1 fence c1-1 5000 -> (integer) 1"),
        (acquire(T2), 1, "EVAL <acquire-with-token> 2 lock:job1 fence c2-1 5000 -> (nil)"),
        (release(T2), 2, "EVAL <compare-and-delete> 1 lock:job1 c2-1 -> (integer) 0"),
        (extend(T1), 3, "EVAL <compare-and-pexpire> 1 lock:job1 c1-1 9000 -> (integer) 1"),
        (
            Command::Ttl { key: LOCK, unit: ExpireUnit::Millis },
            3,
            "PTTL lock:job1 -> (integer) 9000",
        ),
        (release(T1), 9_003, "EVAL <compare-and-delete> 1 lock:job1 c1-1 -> (integer) 1"),
        (
            acquire(T2),
            9_004,
            "EVAL <acquire-with-token> 2 lock:job1 fence c2-1 5000 -> (integer) 2",
        ),
        (Command::Get { key: LOCK }, 9_004, "GET lock:job1 -> \"c2-1\""),
    ];
    for (command, now, line) in lines {
        assert_eq!(shown(&mut engine, command, now), line);
    }
}

#[test]
fn errors_have_the_texts_of_the_server() {
    let mut engine = engine();
    let set = |value, expiry| Command::Set {
        key: LOCK,
        value,
        condition: SetCondition::IfMissing,
        get: false,
        expiry,
    };
    let word = Value::Name(2);
    let lines = [
        (set(word, Expiry::Seconds(10)), "SET lock:job1 worker-1 NX EX 10 -> OK"),
        (
            set(T1, Expiry::Millis(0)),
            "SET lock:job1 c1-1 NX PX 0 -> (error) ERR invalid expire time in 'set' command",
        ),
        (
            Command::IncrBy { key: LOCK, by: 1 },
            "INCR lock:job1 -> (error) ERR value is not an integer or out of range",
        ),
        (
            Command::IncrBy { key: FENCE, by: i64::MAX },
            "INCRBY fence 9223372036854775807 -> (integer) 9223372036854775807",
        ),
        (
            Command::IncrBy { key: FENCE, by: 1 },
            "INCR fence -> (error) ERR increment or decrement would overflow",
        ),
        (
            Command::Expire {
                key: LOCK,
                time: i64::MAX,
                unit: ExpireUnit::Millis,
                condition: ExpireCondition::Always,
            },
            "PEXPIRE lock:job1 9223372036854775807 -> \
             (error) ERR invalid expire time in 'pexpire' command",
        ),
    ];
    for (command, line) in lines {
        assert_eq!(shown(&mut engine, command, 5), line);
    }
}

#[test]
fn a_replica_hides_a_dead_key_and_keeps_it() {
    let mut engine = engine();
    engine.apply(&Command::Set {
        key: LOCK,
        value: T1,
        condition: SetCondition::Always,
        get: false,
        expiry: Expiry::AtMillis(100),
    });
    engine.set_role(Role::Replica);
    let get = Command::Get { key: LOCK };
    assert_eq!(engine.execute(&get, 100).reply, Reply::Value(T1));
    let Outcome { reply, expired, .. } = engine.execute(&get, 101);
    assert_eq!((reply, expired), (Reply::Nil, false));
    let del = Command::Del { key: LOCK };
    assert_eq!(engine.execute(&del, 101).reply, Reply::Error(ErrorCode::ReadOnly));
    assert!(engine.entry(LOCK, 101).is_some_and(|entry| entry.dead));
    engine.set_role(Role::Master);
    assert!(engine.execute(&get, 101).expired);
    assert_eq!(engine.entry(LOCK, 101), None);
}

#[test]
fn texts_have_one_form_each() {
    let mut names = Names::new();
    assert_eq!(names.value("-12"), Value::Integer(-12));
    assert_eq!(names.value("c12-7"), Value::Token { client: 12, serial: 7 });
    for word in ["-0", "007", "+1", "c1-", "c01-1", "c65536-1", "9223372036854775808", ""] {
        assert!(matches!(names.value(word), Value::Name(_)), "{word}");
    }
    assert_eq!(names.value("-9223372036854775808"), Value::Integer(i64::MIN));
}

/// Commands over two keys, three values and times close together, so that they meet.
pub(crate) fn command() -> impl Strategy<Value = Command> {
    let key = prop_oneof![Just(LOCK), Just(FENCE)];
    let value =
        prop_oneof![Just(T1), Just(T2), Just(Value::Name(2)), (-2i64..3).prop_map(Value::Integer)];
    let span = || prop_oneof![-3i64..20, Just(i64::MAX), Just(i64::MIN)];
    let condition = prop_oneof![
        Just(SetCondition::Always),
        Just(SetCondition::IfMissing),
        Just(SetCondition::IfExists)
    ];
    let expiry = prop_oneof![
        Just(Expiry::None),
        Just(Expiry::Keep),
        Just(Expiry::Persist),
        span().prop_map(Expiry::Millis),
        span().prop_map(Expiry::Seconds),
        span().prop_map(Expiry::AtMillis),
        span().prop_map(Expiry::AtSeconds)
    ];
    let unit = prop_oneof![
        Just(ExpireUnit::Seconds),
        Just(ExpireUnit::Millis),
        Just(ExpireUnit::AtSeconds),
        Just(ExpireUnit::AtMillis)
    ];
    let rule = prop_oneof![
        Just(ExpireCondition::Always),
        Just(ExpireCondition::IfNone),
        Just(ExpireCondition::IfSome),
        Just(ExpireCondition::IfLater),
        Just(ExpireCondition::IfEarlier),
        Just(ExpireCondition::IfSomeAndEarlier)
    ];
    (0..15u8, key, value, condition, any::<bool>(), expiry, (unit, rule, span())).prop_map(
        |(kind, key, value, condition, get, expiry, (unit, rule, time))| match kind {
            0 => Command::Set { key, value, condition, get, expiry },
            1 => Command::SetNx { key, value },
            2 => Command::Get { key },
            3 => Command::GetSet { key, value },
            4 => Command::GetDel { key },
            5 => Command::GetEx { key, expiry },
            6 => Command::Del { key },
            7 => Command::Exists { key },
            8 => Command::Expire { key, time, unit, condition: rule },
            9 => Command::Persist { key },
            10 => Command::Ttl { key, unit },
            11 => Command::IncrBy { key, by: time },
            12 => Command::CompareAndDelete { key, value },
            13 => Command::CompareAndPexpire { key, value, millis: time },
            _ => Command::AcquireWithToken { key, value, millis: time, counter: FENCE },
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn the_engine_agrees_with_the_model(
        steps in prop::collection::vec((command(), 0u64..12), 1..30),
    ) {
        let mut engine = engine();
        let mut model = Model::default();
        let mut now = 1_000;
        for (command, pause) in steps {
            now += pause;
            let names = engine.names().clone();
            let expected = model.run(&command, i64::try_from(now).unwrap(), &names);
            let got = engine.execute(&command, now).reply.to_text(&names);
            prop_assert_eq!(got, expected, "{} at {}", command.to_text(&names), now);
        }
    }

    /// A replica that applies what the master propagates holds what the master holds.
    #[test]
    fn propagated_effects_make_an_equal_replica(
        steps in prop::collection::vec((command(), 0u64..12), 1..30),
    ) {
        let (mut master, mut replica) = (engine(), engine());
        replica.set_role(Role::Replica);
        let mut now = 1_000;
        for (command, pause) in steps {
            now += pause;
            let outcome = master.execute(&command, now);
            command.propagate(&outcome, now, |effect| {
                replica.apply(&effect);
            });
            for key in [LOCK, FENCE] {
                let alive = |engine: &Engine| engine.entry(key, now).filter(|entry| !entry.dead);
                prop_assert_eq!(alive(&master), alive(&replica), "{:?} at {}", command, now);
            }
        }
    }

    #[test]
    fn a_text_is_the_value_that_prints_it(text in "-?(c?[0-9]{1,3}-?[0-9]{0,20}|[a-c]{0,3})") {
        let mut names = Names::new();
        let value = names.value(&text);
        prop_assert_eq!(value.to_bytes(&names), text.as_bytes());
    }
}
