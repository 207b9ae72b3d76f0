//! Keys as such: deleting, renaming, copying, and the databases they are in.

use super::{Flags, Keys, Spec, integer, is};
use crate::{
    engine::DATABASES,
    frame::Frame,
    keyspace::Content,
    object::Object,
    server::{Context, EventClass, Refusal},
    value::{Value, parse_integer},
};

pub(super) const COMMANDS: &[Spec] = &[
    Spec::new("del", -2, Flags::WRITE, Keys::All, del),
    Spec::new("unlink", -2, Flags::WRITE, Keys::All, del),
    Spec::new("exists", -2, Flags::READ, Keys::All, exists),
    Spec::new("touch", -2, Flags::READ, Keys::All, exists),
    Spec::new("type", 2, Flags::READ, Keys::First, type_of),
    Spec::new("rename", 3, Flags::WRITE, Keys::FirstTwo, |cx, words| {
        rename(cx, words, true)?;
        Ok(Frame::ok())
    }),
    Spec::new("renamenx", 3, Flags::WRITE, Keys::FirstTwo, |cx, words| {
        Ok(Frame::truth(rename(cx, words, false)?))
    }),
    Spec::new("copy", -3, Flags::GROW, Keys::FirstTwo, copy),
    Spec::new("move", 3, Flags::WRITE, Keys::First, move_key),
    Spec::new("select", 2, Flags::META, Keys::None, select),
    Spec::new("swapdb", 3, Flags::WRITE, Keys::None, swapdb),
    Spec::new("dbsize", 1, Flags::READ, Keys::None, dbsize),
    Spec::new("flushdb", -1, Flags::WRITE, Keys::None, |cx, words| flush(cx, words, false)),
    Spec::new("flushall", -1, Flags::WRITE, Keys::None, |cx, words| flush(cx, words, true)),
    Spec::new("object|encoding", 3, Flags::READ, Keys::None, encoding),
    Spec::new("object|refcount", 3, Flags::READ, Keys::None, |cx, words| {
        object_number(cx, &words[2], 1)
    }),
    Spec::new("object|idletime", 3, Flags::READ, Keys::None, |cx, words| {
        object_number(cx, &words[2], 0)
    }),
];

fn del(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let mut deleted = 0;
    for key in &words[1..] {
        if cx.delete(key).is_some() {
            cx.notify(EventClass::GENERIC, "del", key);
            deleted += 1;
        }
    }
    Ok(Frame::Integer(deleted))
}

fn exists(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    Ok(Frame::count(words[1..].iter().filter(|key| cx.exists(key)).count()))
}

/// The word TYPE says of a content.
pub(super) const fn type_name(content: &Content) -> &'static str {
    match content {
        Content::Absent => "none",
        Content::Value(_) => "string",
        Content::Object(object) => object.type_name(),
    }
}

fn type_of(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let name = cx.find(&words[1]).map_or("none", |id| type_name(&cx.slot(id).content));
    Ok(Frame::Simple(name.into()))
}

/// Moves what is in a key, with its deadline, to another name; false if the name is taken.
fn rename(cx: &mut Context<'_>, words: &[Vec<u8>], replace: bool) -> Result<bool, Refusal> {
    let (from, to) = (&words[1], &words[2]);
    let id = cx.find(from).ok_or(Refusal::NO_SUCH_KEY)?;
    if from == to {
        return Ok(replace);
    }
    if cx.exists(to) {
        if !replace {
            return Ok(false);
        }
        cx.delete(to);
    }
    let deadline = cx.slot(id).deadline();
    let content = cx.delete(from).unwrap_or_default();
    place(cx, to, content, deadline);
    cx.notify(EventClass::GENERIC, "rename_from", from);
    cx.notify(EventClass::GENERIC, "rename_to", to);
    Ok(true)
}

/// Puts content with a deadline into a key that is free.
fn place(cx: &mut Context<'_>, key: &[u8], content: Content, deadline: Option<i64>) {
    cx.put(key, content);
    let id = cx.id(key);
    match deadline {
        Some(deadline) => cx.slot(id).set_deadline(deadline),
        None => cx.slot(id).clear_deadline(),
    }
    cx.signal(key);
}

fn copy(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let (from, to) = (&words[1], &words[2]);
    let (home, mut target, mut replace) = (cx.database, cx.database, false);
    let mut rest = words[3..].iter();
    while let Some(word) = rest.next() {
        if is(word, "REPLACE") {
            replace = true;
        } else if is(word, "DB") {
            target = database(rest.next().ok_or(Refusal::SYNTAX)?)?;
        } else {
            return Err(Refusal::SYNTAX);
        }
    }
    if target == home && from == to {
        return Err("ERR source and destination objects are the same".into());
    }
    let Some(id) = cx.find(from) else { return Ok(Frame::Integer(0)) };
    let (content, deadline) = (cx.slot(id).content.clone(), cx.slot(id).deadline());
    cx.database = target;
    let free = replace || !cx.exists(to);
    if free {
        cx.delete(to);
        place(cx, to, content, deadline);
        cx.notify(EventClass::GENERIC, "copy_to", to);
    }
    cx.database = home;
    Ok(Frame::truth(free))
}

fn move_key(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let key = &words[1];
    let (home, target) = (cx.database, database(&words[2])?);
    if home == target {
        return Err("ERR source and destination objects are the same".into());
    }
    let Some(id) = cx.find(key) else { return Ok(Frame::Integer(0)) };
    cx.database = target;
    let taken = cx.exists(key);
    cx.database = home;
    if taken {
        return Ok(Frame::Integer(0));
    }
    let deadline = cx.slot(id).deadline();
    let content = cx.delete(key).unwrap_or_default();
    cx.notify(EventClass::GENERIC, "move_from", key);
    cx.database = target;
    place(cx, key, content, deadline);
    cx.notify(EventClass::GENERIC, "move_to", key);
    cx.database = home;
    Ok(Frame::Integer(1))
}

/// Reads the number of a database.
fn database(word: &[u8]) -> Result<usize, Refusal> {
    database_number(integer(word)?)
}

fn database_number(number: i64) -> Result<usize, Refusal> {
    let number = usize::try_from(number).ok().filter(|number| *number < DATABASES);
    number.ok_or(Refusal::from("ERR DB index is out of range"))
}

fn select(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let number = database(&words[1])?;
    cx.database = number;
    if cx.origin != crate::server::Origin::Script {
        cx.me().database = number;
    }
    Ok(Frame::ok())
}

fn swapdb(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let one = parse_integer(&words[1]).ok_or("ERR invalid first DB index")?;
    let other = parse_integer(&words[2]).ok_or("ERR invalid second DB index")?;
    let (one, other) = (database_number(one)?, database_number(other)?);
    cx.engine.databases.swap(one, other);
    for number in [one, other] {
        cx.engine.databases[number].slots.iter_mut().for_each(crate::keyspace::Slot::touch);
    }
    cx.dirty += 1;
    Ok(Frame::ok())
}

fn dbsize(cx: &mut Context<'_>, _: &[Vec<u8>]) -> Result<Frame, Refusal> {
    Ok(Frame::count(cx.engine.databases[cx.database].len()))
}

fn flush(cx: &mut Context<'_>, words: &[Vec<u8>], all: bool) -> Result<Frame, Refusal> {
    match &words[1..] {
        [] => {}
        [mode] if is(mode, "ASYNC") || is(mode, "SYNC") => {}
        _ => return Err(Refusal::SYNTAX),
    }
    cx.dirty += 1;
    if all {
        cx.engine.databases.iter_mut().for_each(crate::keyspace::Database::flush);
        cx.all_flushed();
    } else {
        cx.engine.databases[cx.database].flush();
    }
    Ok(Frame::ok())
}

fn encoding(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let embedded = if cx.version().is_valkey() { 100 } else { 44 };
    let Some(id) = cx.find(&words[2]) else { return Ok(Frame::Nil) };
    let short = |len: usize| if len <= embedded { "embstr" } else { "raw" };
    let name = match &cx.slot(id).content {
        Content::Value(Value::Integer(_)) => "int",
        Content::Value(_) | Content::Absent => "embstr",
        Content::Object(object) => match &**object {
            Object::Text(text) => short(text.len()),
            Object::Hash(hash) if hash.len() > 128 => "hashtable",
            Object::SortedSet(zset) if zset.len() > 128 => "skiplist",
            Object::Set(_) => "hashtable",
            Object::List(_) => "quicklist",
            Object::Hash(_) | Object::SortedSet(_) => "listpack",
        },
    };
    Ok(Frame::bulk(name))
}

fn object_number(cx: &mut Context<'_>, key: &[u8], number: i64) -> Result<Frame, Refusal> {
    Ok(if cx.exists(key) { Frame::Integer(number) } else { Frame::Nil })
}
