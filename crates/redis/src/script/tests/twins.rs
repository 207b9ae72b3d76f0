//! The scripts that have a native twin: each does what its Lua source does, in all small states.

use super::Standing;
use crate::{
    keyspace::Content,
    tests::{FENCE, LOCK, T1, T2, engine},
    *,
};

const RELEASE: &str = "if redis.call('GET', KEYS[1]) == ARGV[1] then \
    return redis.call('DEL', KEYS[1]) else return 0 end";
const EXTEND: &str = "if redis.call('GET', KEYS[1]) == ARGV[1] then \
    return redis.call('PEXPIRE', KEYS[1], ARGV[2]) else return 0 end";
const ACQUIRE: &str = "if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then \
    return redis.call('INCR', KEYS[2]) end return nil";

const NOW: u64 = 1_000;

/// Ways in which a key can be before a script comes.
const STATES: &[&[&str]] = &[
    &[],
    &["SET KEY c1-1"],
    &["SET KEY c1-1 PX 60000"],
    &["SET KEY c1-1 PXAT 1000"],
    &["SET KEY c1-1 PXAT 999"],
    &["SET KEY c2-1"],
    &["SET KEY c2-1 PX 60000"],
    &["SET KEY c2-1 PXAT 999"],
    &["SET KEY 7"],
    &["SET KEY 7 PXAT 999"],
    &["SET KEY 9223372036854775807"],
    &["SET KEY job1"],
    &["SET KEY c1-01"],
    &["APPEND KEY c1", "APPEND KEY -1"],
    &["RPUSH KEY c1-1"],
    &["HSET KEY c1-1 1", "PEXPIREAT KEY 60000"],
    &["RPUSH KEY c1-1", "PEXPIREAT KEY 999"],
];

/// What a key holds, and until when; a dead key that was not looked at stays.
type Left = Vec<(String, Option<i64>)>;

fn left(engine: &Engine) -> Left {
    let shown = |bytes: &[u8]| format!("{:?}", String::from_utf8_lossy(bytes));
    let slot = |key: KeyId| {
        let Some(slot) = engine.databases[0].peek(key.0) else { return (String::new(), None) };
        // Both doors may store one text in different forms.
        let text = match &slot.content {
            Content::Absent => String::new(),
            Content::Value(value) => shown(&value.to_bytes(&engine.names)),
            Content::Object(object) => object.text().map_or_else(|| format!("{object:?}"), shown),
        };
        (text, slot.deadline())
    };
    vec![slot(LOCK), slot(FENCE)]
}

fn prepared(lock: &[&str], counter: &[&str]) -> Engine {
    let mut engine = engine();
    let names = engine.names().clone();
    for (key, lines) in [(LOCK, lock), (FENCE, counter)] {
        let name = String::from_utf8_lossy(names.text(key.0)).into_owned();
        for line in lines {
            let words = split_inline(line.replace("KEY", &name).as_bytes()).expect("quotes match");
            let input = Input::Request { connection: ConnectionId(1), words };
            let mut effects = Effects::new();
            // The keys are made at a time when none of the deadlines has passed.
            engine.step(input, &mut Standing::at(0), &mut effects);
        }
    }
    engine
}

fn text(frame: &Frame) -> String {
    let mut bytes = Vec::new();
    frame.encode(Protocol::Resp2, &mut bytes);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    text.split(" script: ").next().unwrap_or_default().trim_end().to_owned()
}

fn reply(reply: Reply, names: &Names) -> Frame {
    match reply {
        Reply::Ok => Frame::ok(),
        Reply::Nil => Frame::Nil,
        Reply::Queued => Frame::Simple("QUEUED".into()),
        Reply::Integer(number) => Frame::Integer(number),
        Reply::Value(value) => Frame::Bulk(value.to_bytes(names)),
        Reply::Error(code) => Frame::Error(code.text().into()),
    }
}

#[test]
fn native_scripts_do_what_their_source_does() {
    let mut interpreter = Interpreter::new();
    let mut compared = 0;
    for (lock, counter) in
        STATES.iter().flat_map(|lock| STATES.iter().map(move |counter| (lock, counter)))
    {
        for value in [T1, T2, Value::Integer(7), Value::Name(2)] {
            for millis in [5_000, 1, 0, -1, i64::MAX, i64::MIN] {
                let (key, fence) = (LOCK, FENCE);
                for (source, command) in [
                    (RELEASE, Command::CompareAndDelete { key, value }),
                    (EXTEND, Command::CompareAndPexpire { key, value, millis }),
                    (ACQUIRE, Command::AcquireWithToken { key, value, millis, counter: fence }),
                ] {
                    let mut native = prepared(lock, counter);
                    let outcome = native.execute(&command, NOW);
                    let mut engine = prepared(lock, counter);
                    let arguments =
                        [value.to_bytes(engine.names()), millis.to_string().into_bytes()];
                    let script = Script::new(source);
                    let keys = [LOCK, FENCE];
                    let lua = engine.run_script(
                        &mut interpreter,
                        &script,
                        &keys,
                        &arguments,
                        LOCK,
                        NOW * 1_000,
                    );
                    let at = format!("{command:?} on {lock:?} {counter:?}");
                    let wanted = reply(outcome.reply, native.names());
                    assert_eq!(text(&wanted), text(&lua.reply), "{at}");
                    assert_eq!(left(&native), left(&engine), "{at}");
                    let expired = lua.changes.iter().any(|change| change.expired);
                    let change = lua.changes.iter().map(|change| change.change);
                    let change = change.fold(Change::None, |_, last| last);
                    assert_eq!((outcome.expired, outcome.change), (expired, change), "{at}");
                    compared += 1;
                }
            }
        }
    }
    assert_eq!(compared, STATES.len() * STATES.len() * 4 * 6 * 3);
}
