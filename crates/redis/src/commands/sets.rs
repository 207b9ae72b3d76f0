//! Sets: what is needed of them to hold names.

use super::{Flags, Keys, Spec};
use crate::{
    frame::Frame,
    object::Set,
    server::{Context, EventClass, Refusal},
};

pub(super) const COMMANDS: &[Spec] = &[
    Spec::new("sadd", -3, Flags::GROW, Keys::First, sadd),
    Spec::new("srem", -3, Flags::WRITE, Keys::First, srem),
    Spec::new("scard", 2, Flags::READ, Keys::First, scard),
    Spec::new("sismember", 3, Flags::READ, Keys::First, sismember),
    Spec::new("smembers", 2, Flags::READ, Keys::First, smembers),
];

fn sadd(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let set = cx.container_or_new::<Set>(&words[1])?;
    let added = words[2..].iter().filter(|member| set.insert((*member).clone())).count();
    if added > 0 {
        cx.modified(&words[1], EventClass::SET, "sadd");
        cx.counts_as(added);
    }
    Ok(Frame::count(added))
}

fn srem(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let Some(set) = cx.container::<Set>(&words[1])? else { return Ok(Frame::Integer(0)) };
    let removed = words[2..].iter().filter(|member| set.remove(*member)).count();
    if removed > 0 {
        cx.modified(&words[1], EventClass::SET, "srem");
        cx.counts_as(removed);
    }
    Ok(Frame::count(removed))
}

fn scard(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    Ok(Frame::count(cx.container::<Set>(&words[1])?.map_or(0, |set| set.len())))
}

fn sismember(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let set = cx.container::<Set>(&words[1])?;
    Ok(Frame::truth(set.is_some_and(|set| set.contains(&words[2]))))
}

fn smembers(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let set = cx.container::<Set>(&words[1])?;
    let members = |set: &mut Set| set.iter().cloned().map(Frame::Bulk).collect();
    Ok(Frame::Set(set.map_or_else(Vec::new, members)))
}
