//! EVAL, EVALSHA and SCRIPT (`src/eval.c`).

use super::{Flags, Keys, Run, Spec, integer, is};
use crate::{
    engine::Role,
    frame::Frame,
    reply::ErrorCode,
    script::{Call, Interpreter, digest},
    server::{Context, Refusal},
};

const RUNS: u16 = Flags::NO_SCRIPT;
const WRITES: u16 = RUNS | Flags::MAY_REPLICATE;
const MANAGES: u16 = Flags::NO_SCRIPT | Flags::STALE;
const KEYS: Keys = Keys::Counted(2);

pub(super) const COMMANDS: &[Spec] = &[
    Spec::new("eval", -3, WRITES, KEYS, |cx, words| eval(cx, words, false)),
    Spec::new("evalsha", -3, WRITES, KEYS, |cx, words| eval_digest(cx, words, false)),
    Spec::new("eval_ro", -3, RUNS, KEYS, |cx, words| eval(cx, words, true)),
    Spec::new("evalsha_ro", -3, RUNS, KEYS, |cx, words| eval_digest(cx, words, true)),
    Spec::new("script|load", 3, MANAGES, Keys::None, load),
    Spec::new("script|exists", -3, MANAGES, Keys::None, exists),
    Spec::new("script|flush", -2, MANAGES, Keys::None, flush),
    Spec::new("script|kill", 2, MANAGES | Flags::BUSY, Keys::None, KILL),
    Spec::new("function|kill", 2, MANAGES | Flags::BUSY, Keys::None, KILL),
];

const KILL: Run = |cx, _| cx.kill_script().map(|()| Frame::ok());

/// What the first line of a script says of it.
struct Header {
    /// Where the rest begins; the line break stays, so that lines keep their numbers.
    length: usize,
    /// Whether there is such a line, and the script says itself what it does.
    declares: bool,
    no_writes: bool,
}

/// Reads `#!lua flags=...`.
fn header(script: &[u8]) -> Result<Header, Refusal> {
    if !script.starts_with(b"#!") {
        return Ok(Header { length: 0, declares: false, no_writes: false });
    }
    let end = script.iter().position(|byte| *byte == b'\n');
    let Some(length) = end else { return Err("ERR Invalid script shebang".into()) };
    let line = String::from_utf8_lossy(&script[..length]).into_owned();
    let mut parts = line.split_ascii_whitespace();
    let engine = parts.next().unwrap_or_default();
    if engine != "#!lua" {
        return Err(Refusal(format!("ERR Unexpected engine in script shebang: {engine}").into()));
    }
    let mut no_writes = false;
    for part in parts {
        let Some(flags) = part.strip_prefix("flags=") else {
            return Err(Refusal(format!("ERR Unknown lua shebang option: {part}").into()));
        };
        for flag in flags.split(',').filter(|flag| !flag.is_empty()) {
            match flag {
                "no-writes" => no_writes = true,
                "allow-oom" | "allow-stale" | "no-cluster" | "allow-cross-slot-keys" => {}
                _ => {
                    let text = format!("ERR Unexpected flag in script shebang: {flag}");
                    return Err(Refusal(text.into()));
                }
            }
        }
    }
    Ok(Header { length, declares: true, no_writes })
}

/// Compiles a script and keeps it under its digest.
fn keep(cx: &mut Context<'_>, script: &[u8]) -> Result<String, Refusal> {
    let digest = digest(script);
    if !cx.engine.server.scripts.contains_key(&digest) {
        let length = header(script)?.length;
        let compiled = cx.with_interpreter(|lua, _| lua.load(&digest, &script[length..]));
        if let Err(Frame::Error(text)) = compiled {
            return Err(Refusal(text));
        }
        cx.engine.server.scripts.insert(digest.clone(), script.to_vec());
    }
    Ok(digest)
}

type Words = [Vec<u8>];

/// Splits the words after the script into keys and arguments.
fn split(words: &Words) -> Result<(&Words, &Words), Refusal> {
    let (count, rest) = (integer(&words[2])?, &words[3..]);
    match usize::try_from(count) {
        Err(_) => Err("ERR Number of keys can't be negative".into()),
        Ok(count) if count > rest.len() => {
            Err("ERR Number of keys can't be greater than number of args".into())
        }
        Ok(count) => Ok(rest.split_at(count)),
    }
}

fn eval(cx: &mut Context<'_>, words: &[Vec<u8>], read_only: bool) -> Result<Frame, Refusal> {
    split(words)?;
    let digest = keep(cx, &words[1])?;
    run(cx, &digest, &words[1], words, read_only)
}

fn eval_digest(cx: &mut Context<'_>, words: &[Vec<u8>], read_only: bool) -> Result<Frame, Refusal> {
    split(words)?;
    let digest = String::from_utf8_lossy(&words[1]).to_ascii_lowercase();
    let Some(script) = cx.engine.server.scripts.get(&digest).cloned() else {
        return Err(cx.no_script());
    };
    run(cx, &digest, &script, words, read_only)
}

fn run(
    cx: &mut Context<'_>,
    digest: &str,
    script: &[u8],
    words: &[Vec<u8>],
    read_only: bool,
) -> Result<Frame, Refusal> {
    let header = header(script)?;
    let read_only = read_only || header.no_writes;
    if header.declares && !read_only {
        if cx.engine.role == Role::Replica {
            return Err(ErrorCode::ReadOnly.into());
        }
        if let Some(code) = cx.engine.server.health.refuses_write(false) {
            return Err(code.into());
        }
    }
    let (keys, arguments) = split(words)?;
    let limits = cx.engine.server.config.script_limits;
    let source = &script[header.length..];
    let call = Call { digest, source, keys, arguments, read_only, limits };
    Ok(cx.with_interpreter(|lua: &mut Interpreter, cx| lua.run(cx, &call)))
}

fn load(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    keep(cx, &words[2]).map(Frame::bulk)
}

fn exists(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let scripts = &cx.engine.server.scripts;
    let is_kept = |word: &Vec<u8>| {
        let digest = String::from_utf8_lossy(word).to_ascii_lowercase();
        Frame::truth(scripts.contains_key(&digest))
    };
    Ok(Frame::Array(words[2..].iter().map(is_kept).collect()))
}

fn flush(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    match &words[2..] {
        [] => {}
        [mode] if is(mode, "SYNC") || is(mode, "ASYNC") => {}
        _ => return Err("ERR SCRIPT FLUSH only support SYNC|ASYNC option".into()),
    }
    cx.engine.server.scripts.clear();
    Ok(Frame::ok())
}
