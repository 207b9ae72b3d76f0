//! Lists, as fair queues and blocking notification use them.

use std::ops::Range;

use super::{Flags, Keys, Spec, integer, is};
use crate::{
    frame::Frame,
    object::List,
    server::{Context, EventClass, Refusal, Wish},
    value::parse_integer,
};

pub(super) const COMMANDS: &[Spec] = &[
    Spec::new("lpush", -3, Flags::GROW, Keys::First, |cx, words| push(cx, words, true, true)),
    Spec::new("rpush", -3, Flags::GROW, Keys::First, |cx, words| push(cx, words, false, true)),
    Spec::new("lpushx", -3, Flags::GROW, Keys::First, |cx, words| push(cx, words, true, false)),
    Spec::new("rpushx", -3, Flags::GROW, Keys::First, |cx, words| push(cx, words, false, false)),
    Spec::new("lpop", -2, Flags::WRITE, Keys::First, |cx, words| pop(cx, words, true)),
    Spec::new("rpop", -2, Flags::WRITE, Keys::First, |cx, words| pop(cx, words, false)),
    Spec::new("llen", 2, Flags::READ, Keys::First, llen),
    Spec::new("lrange", 4, Flags::READ, Keys::First, lrange),
    Spec::new("lindex", 3, Flags::READ, Keys::First, lindex),
    Spec::new("lset", 4, Flags::GROW, Keys::First, lset),
    Spec::new("linsert", 5, Flags::GROW, Keys::First, linsert),
    Spec::new("lrem", 4, Flags::WRITE, Keys::First, lrem),
    Spec::new("ltrim", 4, Flags::WRITE, Keys::First, ltrim),
    Spec::new("lpos", -3, Flags::READ, Keys::First, lpos),
    Spec::new("lmove", 5, Flags::GROW, Keys::FirstTwo, lmove),
    Spec::new("rpoplpush", 3, Flags::GROW, Keys::FirstTwo, |cx, words| {
        let moved = cx.move_element(&words[1], &words[2], false, true)?;
        Ok(Frame::optional(moved))
    }),
    Spec::new("blpop", -3, BLOCKING, Keys::AllButLast, |cx, words| bpop(cx, words, true)),
    Spec::new("brpop", -3, BLOCKING, Keys::AllButLast, |cx, words| bpop(cx, words, false)),
    Spec::new("blmove", 6, BLOCKING | Flags::DENY_OOM, Keys::FirstTwo, blmove),
    Spec::new("brpoplpush", 4, BLOCKING | Flags::DENY_OOM, Keys::FirstTwo, brpoplpush),
];

/// Commands that write, but may have to wait first.
pub(super) const BLOCKING: u16 = Flags::WRITE | Flags::BLOCKING;

fn push(
    cx: &mut Context<'_>,
    words: &[Vec<u8>],
    left: bool,
    create: bool,
) -> Result<Frame, Refusal> {
    let key = &words[1];
    if !create && cx.container::<List>(key)?.is_none() {
        return Ok(Frame::Integer(0));
    }
    let list = cx.container_or_new::<List>(key)?;
    for element in &words[2..] {
        if left {
            list.push_front(element.clone());
        } else {
            list.push_back(element.clone());
        }
    }
    let len = list.len();
    cx.modified(key, EventClass::LIST, if left { "lpush" } else { "rpush" });
    cx.counts_as(words.len() - 2);
    cx.signal(key);
    Ok(Frame::count(len))
}

fn pop(cx: &mut Context<'_>, words: &[Vec<u8>], left: bool) -> Result<Frame, Refusal> {
    let Some(count) = words.get(2) else { return Ok(Frame::optional(cx.pop(&words[1], left)?)) };
    if words.len() > 3 {
        return Err(Refusal::arity(if left { "lpop" } else { "rpop" }));
    }
    let count = parse_integer(count).and_then(|count| usize::try_from(count).ok());
    let count = count.ok_or(Refusal::MUST_BE_POSITIVE)?;
    let Some(list) = cx.container::<List>(&words[1])? else { return Ok(Frame::NilArray) };
    let count = count.min(list.len());
    let taken: Vec<_> = if left {
        list.drain(..count).collect()
    } else {
        let from = list.len() - count;
        list.drain(from..).rev().collect()
    };
    if count > 0 {
        cx.modified(&words[1], EventClass::LIST, if left { "lpop" } else { "rpop" });
        cx.counts_as(count);
    }
    Ok(Frame::bulks(taken))
}

fn llen(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    Ok(Frame::count(cx.container::<List>(&words[1])?.map_or(0, |list| list.len())))
}

/// The positions from `start` to `end`, both inclusive, negative ones counted from the end.
pub(super) fn range(len: usize, start: i64, end: i64) -> Range<usize> {
    let place = |index: i64| {
        if index >= 0 {
            usize::try_from(index).unwrap_or(usize::MAX)
        } else {
            len.saturating_sub(usize::try_from(index.unsigned_abs()).unwrap_or(usize::MAX))
        }
    };
    let before_all = end < 0 && end.unsigned_abs() > len as u64;
    let end = if before_all { 0 } else { place(end).saturating_add(1).min(len) };
    let start = place(start).min(end);
    start..end
}

fn lrange(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let (start, end) = (integer(&words[2])?, integer(&words[3])?);
    let Some(list) = cx.container::<List>(&words[1])? else { return Ok(Frame::Array(Vec::new())) };
    let range = range(list.len(), start, end);
    Ok(Frame::bulks(list.range(range).cloned()))
}

/// The position of an index that may count from the end, if it is inside.
fn position(len: usize, index: i64) -> Option<usize> {
    let index = if index < 0 { index.checked_add_unsigned(len as u64)? } else { index };
    usize::try_from(index).ok().filter(|index| *index < len)
}

fn lindex(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let Some(list) = cx.container::<List>(&words[1])? else { return Ok(Frame::Nil) };
    let index = position(list.len(), integer(&words[2])?);
    Ok(Frame::optional(index.and_then(|index| list.get(index).cloned())))
}

fn lset(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let list = cx.container::<List>(&words[1])?.ok_or(Refusal::NO_SUCH_KEY)?;
    let index = position(list.len(), integer(&words[2])?);
    let index = index.ok_or(Refusal::from("ERR index out of range"))?;
    list[index].clone_from(&words[3]);
    cx.modified(&words[1], EventClass::LIST, "lset");
    Ok(Frame::ok())
}

fn linsert(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let after = if is(&words[2], "AFTER") {
        1
    } else if is(&words[2], "BEFORE") {
        0
    } else {
        return Err(Refusal::SYNTAX);
    };
    let Some(list) = cx.container::<List>(&words[1])? else { return Ok(Frame::Integer(0)) };
    let Some(pivot) = list.iter().position(|element| *element == words[3]) else {
        return Ok(Frame::Integer(-1));
    };
    list.insert(pivot + after, words[4].clone());
    let len = list.len();
    cx.modified(&words[1], EventClass::LIST, "linsert");
    Ok(Frame::count(len))
}

fn lrem(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let count = integer(&words[2])?;
    let Some(list) = cx.container::<List>(&words[1])? else { return Ok(Frame::Integer(0)) };
    let most = match count {
        0 => usize::MAX,
        count => usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX),
    };
    let before = list.len();
    let mut removed = 0;
    let mut keep = |element: &Vec<u8>| {
        let goes = *element == words[3] && removed < most;
        removed += usize::from(goes);
        !goes
    };
    if count < 0 {
        let mut kept: List = List::with_capacity(before);
        for element in list.drain(..).rev() {
            if keep(&element) {
                kept.push_front(element);
            }
        }
        *list = kept;
    } else {
        list.retain(keep);
    }
    let removed = before - list.len();
    if removed > 0 {
        cx.modified(&words[1], EventClass::LIST, "lrem");
        cx.counts_as(removed);
    }
    Ok(Frame::count(removed))
}

fn ltrim(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let (start, end) = (integer(&words[2])?, integer(&words[3])?);
    let Some(list) = cx.container::<List>(&words[1])? else { return Ok(Frame::ok()) };
    let range = range(list.len(), start, end);
    list.truncate(range.end);
    list.drain(..range.start);
    cx.modified(&words[1], EventClass::LIST, "ltrim");
    Ok(Frame::ok())
}

fn lpos(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    if words.len() > 3 {
        return Err(Refusal::SYNTAX);
    }
    let list = cx.container::<List>(&words[1])?;
    let at = list.and_then(|list| list.iter().position(|element| *element == words[2]));
    Ok(at.map_or(Frame::Nil, Frame::count))
}

/// Reads `LEFT` (true) or `RIGHT`.
fn side(word: &[u8]) -> Result<bool, Refusal> {
    if is(word, "LEFT") {
        Ok(true)
    } else if is(word, "RIGHT") {
        Ok(false)
    } else {
        Err(Refusal::SYNTAX)
    }
}

fn lmove(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let (from, to) = (side(&words[3])?, side(&words[4])?);
    Ok(Frame::optional(cx.move_element(&words[1], &words[2], from, to)?))
}

/// Reads a time-out in seconds; none means for ever (`src/timeout.c:getTimeoutFromObjectOrReply`).
#[expect(clippy::float_arithmetic, clippy::cast_possible_truncation, reason = "a float of seconds")]
pub(super) fn timeout(word: &[u8]) -> Result<Option<i64>, Refusal> {
    let seconds = crate::numbers::parse_double(word);
    let seconds = seconds.ok_or(Refusal::from("ERR timeout is not a float or out of range"))?;
    let millis = (seconds * 1000.0).ceil();
    // A number too large for the server's integer wraps around there and counts as negative.
    if !(0.0..9.0e18).contains(&millis) {
        return Err("ERR timeout is negative".into());
    }
    Ok((millis > 0.0).then_some(millis as i64))
}

fn bpop(cx: &mut Context<'_>, words: &[Vec<u8>], left: bool) -> Result<Frame, Refusal> {
    let (last, keys) = (&words[words.len() - 1], &words[1..words.len() - 1]);
    let timeout = timeout(last)?;
    cx.pop_or_block(Wish::Pop { left }, keys.to_vec(), timeout)
}

fn blmove(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let (from_left, to_left) = (side(&words[3])?, side(&words[4])?);
    let timeout = timeout(&words[5])?;
    let wish = Wish::Move { to: words[2].clone(), from_left, to_left };
    cx.pop_or_block(wish, vec![words[1].clone()], timeout)
}

fn brpoplpush(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let timeout = timeout(&words[3])?;
    let wish = Wish::Move { to: words[2].clone(), from_left: false, to_left: true };
    cx.pop_or_block(wish, vec![words[1].clone()], timeout)
}
