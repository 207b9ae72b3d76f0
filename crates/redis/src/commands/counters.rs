//! The INCR family.

#![expect(clippy::float_arithmetic, reason = "INCRBYFLOAT adds floating-point numbers")]

use super::{Flags, Keys, Spec, integer};
use crate::{
    frame::Frame,
    numbers::{format_human, parse_double},
    reply::ErrorCode,
    server::{Context, EventClass, Refusal, text_content},
    value::parse_integer,
};

pub(super) const COMMANDS: &[Spec] = &[
    Spec::new("incr", 2, Flags::GROW, Keys::First, |cx, words| add(cx, &words[1], 1)),
    Spec::new("decr", 2, Flags::GROW, Keys::First, |cx, words| add(cx, &words[1], -1)),
    Spec::new("incrby", 3, Flags::GROW, Keys::First, incrby),
    Spec::new("decrby", 3, Flags::GROW, Keys::First, decrby),
    Spec::new("incrbyfloat", 3, Flags::GROW, Keys::First, incrbyfloat),
];

fn incrby(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let by = integer(&words[2])?;
    add(cx, &words[1], by)
}

fn decrby(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let by = integer(&words[2])?;
    let by = by.checked_neg().ok_or(Refusal::from(ErrorCode::DecrementOverflow))?;
    add(cx, &words[1], by)
}

/// Adds to the number in a key; a missing key counts as 0, and the deadline stays.
fn add(cx: &mut Context<'_>, key: &[u8], by: i64) -> Result<Frame, Refusal> {
    let old = match cx.text(key)? {
        None => 0,
        Some(text) => parse_integer(&text).ok_or(Refusal::from(ErrorCode::NotAnInteger))?,
    };
    let new = old.checked_add(by).ok_or(Refusal::from(ErrorCode::Overflow))?;
    cx.put(key, text_content(new.to_string().into_bytes()));
    cx.notify(EventClass::STRING, "incrby", key);
    Ok(Frame::Integer(new))
}

fn incrbyfloat(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let key = &words[1];
    let old = match cx.text(key)? {
        None => 0.0,
        Some(text) => parse_double(&text).ok_or(Refusal::NOT_A_FLOAT)?,
    };
    let new = old + parse_double(&words[2]).ok_or(Refusal::NOT_A_FLOAT)?;
    if !new.is_finite() {
        return Err("ERR increment would produce NaN or Infinity".into());
    }
    let text = format_human(new).into_bytes();
    cx.put(key, text_content(text.clone()));
    cx.notify(EventClass::STRING, "incrbyfloat", key);
    cx.rewrite(&[b"SET", key, &text, b"KEEPTTL"]);
    Ok(Frame::Bulk(text))
}
