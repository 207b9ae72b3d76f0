//! Hashes, as reentrant locks use them.

#![expect(clippy::float_arithmetic, reason = "HINCRBYFLOAT adds floating-point numbers")]

use super::{Flags, Keys, Spec, integer};
use crate::{
    frame::Frame,
    numbers::{format_human, parse_double},
    object::Hash,
    reply::ErrorCode,
    server::{Context, EventClass, Refusal},
    value::parse_integer,
};

pub(super) const COMMANDS: &[Spec] = &[
    Spec::new("hset", -4, Flags::GROW, Keys::First, hset),
    Spec::new("hmset", -4, Flags::GROW, Keys::First, |cx, words| {
        hset(cx, words)?;
        Ok(Frame::ok())
    }),
    Spec::new("hsetnx", 4, Flags::GROW, Keys::First, hsetnx),
    Spec::new("hget", 3, Flags::READ, Keys::First, hget),
    Spec::new("hmget", -3, Flags::READ, Keys::First, hmget),
    Spec::new("hdel", -3, Flags::WRITE, Keys::First, hdel),
    Spec::new("hexists", 3, Flags::READ, Keys::First, hexists),
    Spec::new("hlen", 2, Flags::READ, Keys::First, hlen),
    Spec::new("hstrlen", 3, Flags::READ, Keys::First, hstrlen),
    Spec::new("hkeys", 2, Flags::READ, Keys::First, hkeys),
    Spec::new("hvals", 2, Flags::READ, Keys::First, hvals),
    Spec::new("hgetall", 2, Flags::READ, Keys::First, hgetall),
    Spec::new("hincrby", 4, Flags::GROW, Keys::First, hincrby),
    Spec::new("hincrbyfloat", 4, Flags::GROW, Keys::First, hincrbyfloat),
];

fn hset(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    if words.len() % 2 == 1 {
        let name = String::from_utf8_lossy(&words[0]).to_ascii_lowercase();
        return Err(Refusal::arity(&name));
    }
    let hash = cx.container_or_new::<Hash>(&words[1])?;
    let pairs = words[2..].chunks_exact(2);
    let new = pairs.filter(|pair| hash.set(&pair[0], pair[1].clone())).count();
    cx.modified(&words[1], EventClass::HASH, "hset");
    cx.counts_as(words.len() / 2 - 1);
    Ok(Frame::count(new))
}

fn hsetnx(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let hash = cx.container::<Hash>(&words[1])?;
    if hash.is_some_and(|hash| hash.get(&words[2]).is_some()) {
        return Ok(Frame::Integer(0));
    }
    cx.container_or_new::<Hash>(&words[1])?.set(&words[2], words[3].clone());
    cx.modified(&words[1], EventClass::HASH, "hset");
    Ok(Frame::Integer(1))
}

/// A copy of a field's value.
fn field(cx: &mut Context<'_>, key: &[u8], field: &[u8]) -> Result<Option<Vec<u8>>, Refusal> {
    Ok(cx.container::<Hash>(key)?.and_then(|hash| hash.get(field).cloned()))
}

fn hget(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    Ok(Frame::optional(field(cx, &words[1], &words[2])?))
}

fn hmget(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let mut values = Vec::with_capacity(words.len() - 2);
    for name in &words[2..] {
        values.push(Frame::optional(field(cx, &words[1], name)?));
    }
    Ok(Frame::Array(values))
}

fn hdel(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let Some(hash) = cx.container::<Hash>(&words[1])? else { return Ok(Frame::Integer(0)) };
    let removed = words[2..].iter().filter(|name| hash.remove(name).is_some()).count();
    if removed > 0 {
        cx.modified(&words[1], EventClass::HASH, "hdel");
        cx.counts_as(removed);
    }
    Ok(Frame::count(removed))
}

fn hexists(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    Ok(Frame::truth(field(cx, &words[1], &words[2])?.is_some()))
}

fn hlen(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    Ok(Frame::count(cx.container::<Hash>(&words[1])?.map_or(0, |hash| hash.len())))
}

fn hstrlen(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    Ok(Frame::count(field(cx, &words[1], &words[2])?.map_or(0, |value| value.len())))
}

/// A field and its value.
type Pair = (Vec<u8>, Vec<u8>);

/// Copies of all fields with their values.
fn all(cx: &mut Context<'_>, key: &[u8]) -> Result<Vec<Pair>, Refusal> {
    Ok(cx.container::<Hash>(key)?.map_or_else(Vec::new, |hash| hash.iter().cloned().collect()))
}

fn hkeys(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    Ok(Frame::bulks(all(cx, &words[1])?.into_iter().map(|(name, _)| name)))
}

fn hvals(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    Ok(Frame::bulks(all(cx, &words[1])?.into_iter().map(|(_, value)| value)))
}

fn hgetall(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let pairs = all(cx, &words[1])?;
    let frames = |(name, value)| (Frame::Bulk(name), Frame::Bulk(value));
    Ok(Frame::Map(pairs.into_iter().map(frames).collect()))
}

fn hincrby(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let by = integer(&words[3])?;
    let old = match field(cx, &words[1], &words[2])? {
        None => 0,
        Some(text) => {
            parse_integer(&text).ok_or(Refusal::from("ERR hash value is not an integer"))?
        }
    };
    let new = old.checked_add(by).ok_or(Refusal::from(ErrorCode::Overflow))?;
    let text = new.to_string().into_bytes();
    cx.container_or_new::<Hash>(&words[1])?.set(&words[2], text);
    cx.modified(&words[1], EventClass::HASH, "hincrby");
    Ok(Frame::Integer(new))
}

fn hincrbyfloat(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let by = parse_double(&words[3]).ok_or(Refusal::NOT_A_FLOAT)?;
    if by.is_infinite() {
        return Err("ERR value is NaN or Infinity".into());
    }
    let old = match field(cx, &words[1], &words[2])? {
        None => 0.0,
        Some(text) => parse_double(&text).ok_or(Refusal::from("ERR hash value is not a float"))?,
    };
    let new = old + by;
    if !new.is_finite() {
        return Err("ERR increment would produce NaN or Infinity".into());
    }
    let text = format_human(new).into_bytes();
    cx.container_or_new::<Hash>(&words[1])?.set(&words[2], text.clone());
    cx.modified(&words[1], EventClass::HASH, "hincrbyfloat");
    cx.rewrite(&[b"HSET", &words[1], &words[2], &text]);
    Ok(Frame::Bulk(text))
}
