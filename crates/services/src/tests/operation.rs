//! Outsiders' commands as people type them.

use super::lab::{COUNTER, LOCK, names};
use crate::{Command, ExpireCondition, ExpireUnit, Expiry, Operation, SetCondition, Value};

fn parse(text: &str) -> Option<Command> {
    let Operation::Command(command) = Operation::parse(text, &mut names())? else {
        panic!("what is typed is a command");
    };
    Some(command)
}

fn set(value: Value, expiry: Expiry) -> Option<Command> {
    Some(Command::Set { key: LOCK, value, condition: SetCondition::Always, get: false, expiry })
}

#[test]
fn the_commands_that_are_known_are_read() {
    let condition = ExpireCondition::Always;
    let expire = |time, unit| Some(Command::Expire { key: LOCK, time, unit, condition });
    for (text, expected) in [
        ("FLUSHALL", Some(Command::FlushAll)),
        ("flushall", Some(Command::FlushAll)),
        ("DEL lock:job", Some(Command::Del { key: LOCK })),
        ("  del   lock:job ", Some(Command::Del { key: LOCK })),
        ("PERSIST lock:job", Some(Command::Persist { key: LOCK })),
        ("INCR fence:job", Some(Command::IncrBy { key: COUNTER, by: 1 })),
        ("EXPIRE lock:job 5", expire(5, ExpireUnit::Seconds)),
        ("PEXPIRE lock:job -1", expire(-1, ExpireUnit::Millis)),
        ("SET lock:job 1", set(Value::Integer(1), Expiry::None)),
        (
            "SET lock:job c1-7 PX 500",
            set(Value::Token { client: 1, serial: 7 }, Expiry::Millis(500)),
        ),
        ("SET lock:job 1 ex 5", set(Value::Integer(1), Expiry::Seconds(5))),
    ] {
        assert_eq!(parse(text), expected, "{text}");
    }
}

#[test]
fn a_value_that_is_a_word_is_written_as_it_was_typed() {
    let mut names = names();
    let read = Operation::parse("SET lock:job thief PX 50", &mut names);
    let Some(Operation::Command(command)) = read else {
        panic!("{read:?}");
    };
    assert_eq!(command.to_text(&names), "SET lock:job thief PX 50");
}

#[test]
fn anything_else_is_nothing() {
    for text in [
        "",
        " ",
        "DEL",
        "DEL a b",
        "GET lock:job",
        "SET lock:job",
        "SET lock:job 1 PX",
        "SET lock:job 1 PX soon",
        "SET lock:job 1 NX",
        "SET lock:job 1 PX 5 NX",
        "EXPIRE lock:job",
        "EXPIRE lock:job 1.5",
        "PEXPIRE lock:job 10 NX",
        "FLUSHALL ASYNC",
        "INCR fence:job 2",
    ] {
        assert_eq!(parse(text), None, "{text}");
    }
}
