//! MULTI, EXEC, DISCARD, WATCH.

use super::{Flags, Keys, Spec, resolve};
use crate::{
    frame::Frame,
    server::{Context, Origin, Refusal, Watch},
};

const AT_ONCE: u16 = Flags::NO_SCRIPT | Flags::META | Flags::IMMEDIATE;
const EVEN_BUSY: u16 = AT_ONCE | Flags::BUSY;

pub(super) const COMMANDS: &[Spec] = &[
    Spec::new("multi", 1, EVEN_BUSY, Keys::None, multi),
    Spec::new("exec", 1, AT_ONCE, Keys::None, exec),
    Spec::new("discard", 1, EVEN_BUSY, Keys::None, discard),
    Spec::new("watch", -2, EVEN_BUSY, Keys::All, watch),
    Spec::new("unwatch", 1, Flags::NO_SCRIPT | Flags::META | Flags::BUSY, Keys::None, unwatch),
];

/// Valkey refuses MULTI and WATCH inside MULTI as it refuses any command: EXEC fails later.
fn not_inside(cx: &mut Context<'_>, name: &'static str, text: &'static str) -> Result<(), Refusal> {
    if cx.me().queue.is_none() {
        return Ok(());
    }
    if cx.version().is_valkey() {
        cx.me().spoiled = true;
        let text = format!("ERR Command '{name}' not allowed inside a transaction");
        return Err(Refusal(text.into()));
    }
    Err(text.into())
}

fn multi(cx: &mut Context<'_>, _: &[Vec<u8>]) -> Result<Frame, Refusal> {
    not_inside(cx, "multi", "ERR MULTI calls can not be nested")?;
    cx.me().queue = Some(Vec::new());
    Ok(Frame::ok())
}

fn discard(cx: &mut Context<'_>, _: &[Vec<u8>]) -> Result<Frame, Refusal> {
    if cx.me().queue.is_none() {
        return Err("ERR DISCARD without MULTI".into());
    }
    cx.me().discard();
    Ok(Frame::ok())
}

/// `src/multi.c:execCommand`.
fn exec(cx: &mut Context<'_>, _: &[Vec<u8>]) -> Result<Frame, Refusal> {
    if cx.me().queue.is_none() {
        return Err("ERR EXEC without MULTI".into());
    }
    let watches = std::mem::take(&mut cx.me().watches);
    let broken = watches.into_iter().any(|watch| is_broken(cx, watch));
    let (spoiled, queue) = (cx.me().spoiled, cx.me().queue.take().unwrap_or_default());
    cx.me().discard();
    if spoiled {
        return Err("EXECABORT Transaction discarded because of previous errors.".into());
    }
    if broken {
        return Ok(Frame::NilArray);
    }
    cx.origin = Origin::Transaction;
    let mut replies = Vec::with_capacity(queue.len());
    for words in &queue {
        cx.midst = Some(Vec::new());
        let reply = match resolve(cx.version(), words) {
            Ok(spec) => cx.call(spec, words),
            Err(Refusal(text)) => Frame::Error(text),
        };
        // What the command says to this client, such as an event, stands before its reply.
        let mut frames = cx.midst.take().unwrap_or_default();
        frames.push(reply);
        replies.push(if frames.len() == 1 { frames.remove(0) } else { Frame::Several(frames) });
        if cx.ahead.endless {
            break;
        }
    }
    cx.origin = Origin::Client;
    Ok(Frame::Array(replies))
}

/// Tells whether a watched key has changed: written, or alive then and dead now.
fn is_broken(cx: &mut Context<'_>, watch: Watch) -> bool {
    let now = cx.frozen;
    let slot = cx.engine.databases[watch.database].slot(watch.key);
    let died = watch.alive && (slot.content.is_absent() || slot.is_dead(now));
    died || slot.version() != watch.version
}

fn watch(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    not_inside(cx, "watch", "ERR WATCH inside MULTI is not allowed")?;
    let (database, now) = (cx.database, cx.frozen);
    for key in &words[1..] {
        let key = cx.id(key);
        let slot = cx.slot(key);
        let alive = !slot.content.is_absent() && !slot.is_dead(now);
        let watch = Watch { database, key, version: slot.version(), alive };
        cx.me().watches.push(watch);
    }
    Ok(Frame::ok())
}

fn unwatch(cx: &mut Context<'_>, _: &[Vec<u8>]) -> Result<Frame, Refusal> {
    cx.me().watches.clear();
    Ok(Frame::ok())
}
