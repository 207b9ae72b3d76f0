//! DEBUG, as far as tests use it: it needs `enable-debug-command`.

use super::{Flags, Keys, Spec, integer, is};
use crate::{
    frame::Frame,
    server::{Context, Refusal, text_content},
};

const ADMIN: u16 = Flags::META | Flags::NO_SCRIPT;

pub(super) const COMMANDS: &[Spec] = &[
    Spec::new("debug|set-active-expire", 3, ADMIN, Keys::None, |cx, words| {
        allowed(cx)?;
        cx.engine.server.active_expiry = !is(&words[2], "0");
        Ok(Frame::ok())
    }),
    Spec::new("debug|sleep", 3, ADMIN, Keys::None, sleep),
    Spec::new("debug|populate", -3, ADMIN, Keys::None, populate),
    Spec::new("debug|change-repl-id", 2, ADMIN, Keys::None, |cx, _| {
        allowed(cx)?;
        cx.engine.server.replication.forget_history();
        Ok(Frame::ok())
    }),
];

fn allowed(cx: &Context<'_>) -> Result<(), Refusal> {
    if cx.engine.server.config.debug {
        return Ok(());
    }
    Err("ERR DEBUG command not allowed. If the enable-debug-command option is set to \"local\", \
         you can run it from a local connection, otherwise you need to set this option in the \
         configuration file, and then restart the server."
        .into())
}

/// The whole server does nothing for this many seconds.
fn sleep(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    allowed(cx)?;
    cx.clock.spend(seconds_to_micros(&words[2]));
    Ok(Frame::ok())
}

/// Reads decimal seconds as the C library does: up to the first character that does not fit.
fn seconds_to_micros(text: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(text);
    let (whole, rest) = text.split_once('.').unwrap_or((&text, ""));
    let fraction: String = rest.chars().chain("000000".chars()).take(6).collect();
    let seconds: u64 = whole.parse().unwrap_or(0);
    seconds.saturating_mul(1_000_000).saturating_add(fraction.parse().unwrap_or(0))
}

/// Makes keys `key:0`, `key:1` and so on, unless they are there.
fn populate(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    allowed(cx)?;
    let count = integer(&words[2])?;
    let prefix = words.get(3).map_or(&b"key"[..], Vec::as_slice).to_vec();
    let size = words.get(4).map(|word| integer(word)).transpose()?;
    for number in 0..count {
        let key = [&prefix, format!(":{number}").as_bytes()].concat();
        if cx.exists(&key) {
            continue;
        }
        let mut value = format!("value:{number}").into_bytes();
        if let Some(size) = size.and_then(|size| usize::try_from(size).ok()) {
            value.resize(size.min(MAX_VALUE), 0);
        }
        cx.put(&key, text_content(value));
    }
    Ok(Frame::ok())
}

/// The longest value that a client may ask for: `proto-max-bulk-len`.
const MAX_VALUE: usize = 512 * 1024 * 1024;
