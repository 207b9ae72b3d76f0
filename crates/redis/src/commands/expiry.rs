//! The EXPIRE family, and the commands that tell what time a key has left.

use super::{Flags, Keys, Spec, integer, is};
use crate::{
    command::{ExpireCondition, ExpireUnit},
    deadlines::expire_deadline,
    engine::Role,
    frame::Frame,
    reply::ErrorCode,
    server::{Context, EventClass, Origin, Refusal},
};

pub(super) const COMMANDS: &[Spec] = &[
    Spec::new("expire", -3, Flags::WRITE, Keys::First, |cx, words| {
        expire(cx, words, ExpireUnit::Seconds)
    }),
    Spec::new("pexpire", -3, Flags::WRITE, Keys::First, |cx, words| {
        expire(cx, words, ExpireUnit::Millis)
    }),
    Spec::new("expireat", -3, Flags::WRITE, Keys::First, |cx, words| {
        expire(cx, words, ExpireUnit::AtSeconds)
    }),
    Spec::new("pexpireat", -3, Flags::WRITE, Keys::First, |cx, words| {
        expire(cx, words, ExpireUnit::AtMillis)
    }),
    Spec::new("persist", 2, Flags::WRITE, Keys::First, persist),
    Spec::new("ttl", 2, Flags::READ, Keys::First, |cx, words| ttl(cx, words, ExpireUnit::Seconds)),
    Spec::new("pttl", 2, Flags::READ, Keys::First, |cx, words| ttl(cx, words, ExpireUnit::Millis)),
    Spec::new("expiretime", 2, Flags::READ, Keys::First, |cx, words| {
        ttl(cx, words, ExpireUnit::AtSeconds)
    }),
    Spec::new("pexpiretime", 2, Flags::READ, Keys::First, |cx, words| {
        ttl(cx, words, ExpireUnit::AtMillis)
    }),
];

/// `src/expire.c:expireGenericCommand`.
fn expire(cx: &mut Context<'_>, words: &[Vec<u8>], unit: ExpireUnit) -> Result<Frame, Refusal> {
    let key = &words[1];
    let condition = condition(&words[3..])?;
    let time = integer(&words[2])?;
    let deadline = expire_deadline(time, unit, cx.base())
        .ok_or(Refusal::from(ErrorCode::InvalidExpire(unit.command())))?;
    let Some(id) = cx.find(key) else { return Ok(Frame::Integer(0)) };
    if !condition.holds(cx.slot(id).deadline(), deadline) {
        return Ok(Frame::Integer(0));
    }
    cx.move_deadline(key, deadline);
    if let Some(rewritten) = &mut cx.rewritten
        && let [first] = rewritten.as_mut_slice()
        && first.first().is_some_and(|verb| verb == b"PEXPIREAT")
    {
        // The options stay in the stream; they hold on a replica as they held here.
        first.extend_from_slice(&words[3..]);
    }
    Ok(Frame::Integer(1))
}

/// Reads `NX`, `XX`, `GT` and `LT` (`src/expire.c:parseExtendedExpireArgumentsOrReply`).
fn condition(options: &[Vec<u8>]) -> Result<ExpireCondition, Refusal> {
    let [mut nx, mut xx, mut gt, mut lt] = [false; 4];
    for word in options {
        if is(word, "NX") {
            nx = true;
        } else if is(word, "XX") {
            xx = true;
        } else if is(word, "GT") {
            gt = true;
        } else if is(word, "LT") {
            lt = true;
        } else {
            let word = String::from_utf8_lossy(word);
            return Err(Refusal(format!("ERR Unsupported option {word}").into()));
        }
    }
    if nx && (xx || gt || lt) {
        let text = "ERR NX and XX, GT or LT options at the same time are not compatible";
        return Err(text.into());
    }
    if gt && lt {
        return Err("ERR GT and LT options at the same time are not compatible".into());
    }
    Ok(match (nx, xx, gt, lt) {
        (true, ..) => ExpireCondition::IfNone,
        (_, _, true, _) => ExpireCondition::IfLater,
        (_, true, _, true) => ExpireCondition::IfSomeAndEarlier,
        (_, false, _, true) => ExpireCondition::IfEarlier,
        (_, true, ..) => ExpireCondition::IfSome,
        _ => ExpireCondition::Always,
    })
}

impl Context<'_> {
    /// Sets the deadline of a living key, or deletes it if that deadline is not in the future.
    pub(crate) fn move_deadline(&mut self, key: &[u8], deadline: i64) {
        let id = self.id(key);
        let own_clock = self.engine.role() == Role::Master && self.origin != Origin::Master;
        if own_clock && deadline <= self.base() {
            self.delete(key);
            let valkey = self.version().is_valkey();
            let event = if valkey { "expired" } else { "del" };
            let class = if valkey { EventClass::EXPIRED } else { EventClass::GENERIC };
            self.notify(class, event, key);
            self.rewrite(&[if valkey { b"UNLINK" } else { b"DEL" }, key]);
            return;
        }
        self.slot(id).set_deadline(deadline);
        self.modified(key, EventClass::GENERIC, "expire");
        self.rewrite(&[b"PEXPIREAT", key, deadline.to_string().as_bytes()]);
    }
}

fn persist(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let Some(id) = cx.find(&words[1]) else { return Ok(Frame::Integer(0)) };
    let had = cx.slot(id).deadline().is_some();
    if had {
        cx.slot(id).clear_deadline();
        cx.modified(&words[1], EventClass::GENERIC, "persist");
    }
    Ok(Frame::truth(had))
}

fn ttl(cx: &mut Context<'_>, words: &[Vec<u8>], unit: ExpireUnit) -> Result<Frame, Refusal> {
    let Some(id) = cx.find(&words[1]) else { return Ok(Frame::Integer(-2)) };
    let deadline = cx.slot(id).deadline();
    Ok(Frame::Integer(unit.ttl(deadline, cx.base())))
}
