//! Strings: SET with all of its options, and its relatives.

use super::{Flags, Keys, Spec, integer, is};
use crate::{
    command::{Expiry, SetCondition},
    deadlines::set_deadline,
    frame::Frame,
    reply::{ErrorCode, ExpiringCommand},
    server::{Context, EventClass, Refusal, text_content},
    version::Version,
};

pub(super) const COMMANDS: &[Spec] = &[
    Spec::new("set", -3, Flags::GROW, Keys::First, set),
    Spec::new("setnx", 3, Flags::GROW, Keys::First, setnx),
    Spec::new("setex", 4, Flags::GROW, Keys::First, setex),
    Spec::new("psetex", 4, Flags::GROW, Keys::First, psetex),
    Spec::new("get", 2, Flags::READ, Keys::First, get),
    Spec::new("getset", 3, Flags::GROW, Keys::First, getset),
    Spec::new("getdel", 2, Flags::WRITE, Keys::First, getdel),
    Spec::new("getex", -2, Flags::WRITE, Keys::First, getex),
    Spec::new("mset", -3, Flags::GROW, Keys::Pairs, mset),
    Spec::new("msetnx", -3, Flags::GROW, Keys::Pairs, msetnx),
    Spec::new("mget", -2, Flags::READ, Keys::All, mget),
    Spec::new("append", 3, Flags::GROW, Keys::First, append),
    Spec::new("strlen", 2, Flags::READ, Keys::First, strlen),
    Spec::new("getrange", 4, Flags::READ, Keys::First, getrange),
    Spec::new("setrange", 4, Flags::GROW, Keys::First, setrange),
    Spec::new("delifeq", 3, Flags::WRITE | Flags::DELIFEQ, Keys::First, delifeq),
    Spec::new("delex", -2, Flags::WRITE | Flags::DELEX, Keys::First, delex),
];

/// The longest string, as the server limits it.
const MAX_TEXT: usize = 512 * 1024 * 1024;

/// What must hold of the old value for SET to set.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Comparison {
    None,
    Equal(Vec<u8>),
    Different(Vec<u8>),
}

/// The options of SET and GETEX.
struct Options {
    condition: SetCondition,
    comparison: Comparison,
    get: bool,
    expiry: Expiry,
    /// A time that is still a word: what is wrong with it is found only when it is needed.
    time: Option<(Unit, Vec<u8>)>,
}

impl Options {
    /// The absolute deadline that the options ask for.
    fn deadline(&self, cx: &Context<'_>, command: ExpiringCommand) -> Result<Option<i64>, Refusal> {
        let expiry = match &self.time {
            Some((unit, word)) => unit.expiry(integer(word)?),
            None => self.expiry,
        };
        deadline(cx, expiry, command)
    }
}

/// Reads the options of SET or of GETEX
/// (`src/t_string.c:parseExtendedStringArgumentsOrReply`).
fn options(version: Version, words: &[Vec<u8>], getex: bool) -> Result<Options, Refusal> {
    let mut options = Options {
        condition: SetCondition::Always,
        comparison: Comparison::None,
        get: false,
        expiry: Expiry::None,
        time: None,
    };
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let plain = options.expiry == Expiry::None;
        let unconditional = options.comparison == Comparison::None;
        if !getex && is(word, "NX") && options.condition != SetCondition::IfExists && unconditional
        {
            options.condition = SetCondition::IfMissing;
        } else if !getex
            && is(word, "XX")
            && options.condition != SetCondition::IfMissing
            && unconditional
        {
            options.condition = SetCondition::IfExists;
        } else if !getex && is(word, "GET") {
            options.get = true;
        } else if !getex && is(word, "KEEPTTL") && options.time.is_none() {
            options.expiry = Expiry::Keep;
        } else if getex && is(word, "PERSIST") && options.time.is_none() {
            options.expiry = Expiry::Persist;
        } else if let Some(unit) = Unit::from_word(word)
            && plain
            && options.time.as_ref().is_none_or(|(before, _)| *before == unit)
        {
            options.time = Some((unit, rest.next().ok_or(Refusal::SYNTAX)?.clone()));
        } else if !getex
            && comparison_word(version, word).is_some()
            && unconditional
            && options.condition == SetCondition::Always
        {
            let value = rest.next().ok_or(Refusal::SYNTAX)?.clone();
            options.comparison = match comparison_word(version, word) {
                Some(true) => Comparison::Equal(value),
                _ => Comparison::Different(value),
            };
        } else {
            return Err(Refusal::SYNTAX);
        }
    }
    Ok(options)
}

/// Whether the word is `IFEQ` (true) or `IFNE` (false) in a version that knows it.
fn comparison_word(version: Version, word: &[u8]) -> Option<bool> {
    if version.has_ifeq() && is(word, "IFEQ") {
        Some(true)
    } else if version.has_delex() && is(word, "IFNE") {
        Some(false)
    } else {
        None
    }
}

/// The four options that carry a time.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Seconds,
    Millis,
    AtSeconds,
    AtMillis,
}

impl Unit {
    fn from_word(word: &[u8]) -> Option<Self> {
        [
            ("EX", Self::Seconds),
            ("PX", Self::Millis),
            ("EXAT", Self::AtSeconds),
            ("PXAT", Self::AtMillis),
        ]
        .into_iter()
        .find_map(|(keyword, unit)| is(word, keyword).then_some(unit))
    }

    const fn expiry(self, time: i64) -> Expiry {
        match self {
            Self::Seconds => Expiry::Seconds(time),
            Self::Millis => Expiry::Millis(time),
            Self::AtSeconds => Expiry::AtSeconds(time),
            Self::AtMillis => Expiry::AtMillis(time),
        }
    }
}

/// The absolute deadline, or the error that names the command.
fn deadline(
    cx: &Context<'_>,
    expiry: Expiry,
    command: ExpiringCommand,
) -> Result<Option<i64>, Refusal> {
    set_deadline(expiry, cx.base()).map_err(|()| ErrorCode::InvalidExpire(command).into())
}

fn set(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let (key, value) = (&words[1], &words[2]);
    let options = options(cx.version(), &words[3..], false)?;
    let deadline = options.deadline(cx, ExpiringCommand::Set)?;
    let compares = options.comparison != Comparison::None;
    let old = if options.get || compares { cx.text(key)? } else { None };
    let exists = cx.exists(key);
    let refused = !options.condition.holds(exists)
        || match &options.comparison {
            Comparison::None => false,
            Comparison::Equal(wanted) => old.as_ref() != Some(wanted),
            Comparison::Different(unwanted) => old.as_ref() == Some(unwanted),
        };
    let reply = |done: Frame| if options.get { Frame::optional(old.clone()) } else { done };
    if refused {
        return Ok(reply(Frame::Nil));
    }
    let keep = options.expiry == Expiry::Keep;
    store(cx, key, value.clone(), deadline, keep);
    if let Some(at) = deadline {
        cx.rewrite(&[b"SET", key, value, b"PXAT", at.to_string().as_bytes()]);
    } else if options.get {
        // GET would send the old value to replicas that want no reply.
        let kept = words.iter().enumerate().filter(|(at, word)| *at < 3 || !is(word, "GET"));
        cx.rewritten = Some(vec![kept.map(|(_, word)| word.clone()).collect()]);
    }
    Ok(reply(Frame::ok()))
}

/// Puts a string into a key with a deadline, without one, or with the one the key has.
fn store(cx: &mut Context<'_>, key: &[u8], value: Vec<u8>, deadline: Option<i64>, keep: bool) {
    cx.put(key, text_content(value));
    let id = cx.id(key);
    let gone = deadline.is_some_and(|at| cx.version().is_valkey() && at <= cx.base());
    match deadline {
        Some(at) => cx.slot(id).set_deadline(at),
        None if keep => {}
        None => cx.slot(id).clear_deadline(),
    }
    cx.notify(EventClass::STRING, "set", key);
    if deadline.is_some() {
        cx.notify(EventClass::GENERIC, "expire", key);
    }
    if gone {
        cx.slot(id).delete();
    }
}

fn setnx(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let missing = !cx.exists(&words[1]);
    if missing {
        store(cx, &words[1], words[2].clone(), None, false);
    }
    Ok(Frame::truth(missing))
}

fn setex(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let expiry = Expiry::Seconds(integer(&words[2])?);
    set_for(cx, words, expiry, ExpiringCommand::SetEx)
}

fn psetex(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let expiry = Expiry::Millis(integer(&words[2])?);
    set_for(cx, words, expiry, ExpiringCommand::PsetEx)
}

fn set_for(
    cx: &mut Context<'_>,
    words: &[Vec<u8>],
    expiry: Expiry,
    command: ExpiringCommand,
) -> Result<Frame, Refusal> {
    let (key, value) = (&words[1], &words[3]);
    let at = deadline(cx, expiry, command)?;
    store(cx, key, value.clone(), at, false);
    let text = at.unwrap_or(0).to_string();
    cx.rewrite(&[b"SET", key, value, b"PXAT", text.as_bytes()]);
    Ok(Frame::ok())
}

fn get(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    Ok(Frame::optional(cx.text(&words[1])?))
}

fn getset(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let old = cx.text(&words[1])?;
    store(cx, &words[1], words[2].clone(), None, false);
    cx.rewrite(&[b"SET", &words[1], &words[2]]);
    Ok(Frame::optional(old))
}

fn getdel(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let old = cx.text(&words[1])?;
    if old.is_some() {
        cx.delete(&words[1]);
        cx.notify(EventClass::GENERIC, "del", &words[1]);
        cx.rewrite(&[b"DEL", &words[1]]);
    }
    Ok(Frame::optional(old))
}

fn getex(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let key = &words[1];
    let options = options(cx.version(), &words[2..], true)?;
    // Valkey looks at the time first, Redis at the key.
    let early = cx.version().is_valkey().then(|| options.deadline(cx, ExpiringCommand::GetEx));
    let early = early.transpose()?;
    let Some(old) = cx.text(key)? else { return Ok(Frame::Nil) };
    let at = match early {
        Some(at) => at,
        None => options.deadline(cx, ExpiringCommand::GetEx)?,
    };
    let id = cx.id(key);
    if let Some(at) = at {
        cx.move_deadline(key, at);
    } else if options.expiry == Expiry::Persist && cx.slot(id).deadline().is_some() {
        cx.slot(id).clear_deadline();
        cx.modified(key, EventClass::GENERIC, "persist");
        cx.rewrite(&[b"PERSIST", key]);
    }
    Ok(Frame::Bulk(old))
}

fn mset(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    if words.len().is_multiple_of(2) {
        return Err(Refusal::arity("mset"));
    }
    for pair in words[1..].chunks_exact(2) {
        store(cx, &pair[0], pair[1].clone(), None, false);
    }
    Ok(Frame::ok())
}

fn msetnx(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    if words.len().is_multiple_of(2) {
        return Err(Refusal::arity("msetnx"));
    }
    if words[1..].chunks_exact(2).any(|pair| cx.exists(&pair[0])) {
        return Ok(Frame::Integer(0));
    }
    mset(cx, words)?;
    Ok(Frame::Integer(1))
}

fn mget(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let values = words[1..].iter().map(|key| Frame::optional(cx.text(key).unwrap_or(None)));
    Ok(Frame::Array(values.collect()))
}

fn append(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let mut text = cx.text(&words[1])?.unwrap_or_default();
    text.extend_from_slice(&words[2]);
    replace_text(cx, &words[1], text, "append")
}

/// Puts a longer string into a key, which keeps its deadline.
fn replace_text(
    cx: &mut Context<'_>,
    key: &[u8],
    text: Vec<u8>,
    event: &str,
) -> Result<Frame, Refusal> {
    if text.len() > MAX_TEXT {
        return Err("ERR string exceeds maximum allowed size (proto-max-bulk-len)".into());
    }
    let len = text.len();
    cx.put(key, text_content(text));
    cx.notify(EventClass::STRING, event, key);
    Ok(Frame::count(len))
}

fn strlen(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    Ok(Frame::count(cx.text(&words[1])?.map_or(0, |text| text.len())))
}

fn getrange(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let (start, end) = (integer(&words[2])?, integer(&words[3])?);
    let text = cx.text(&words[1])?.unwrap_or_default();
    if text.is_empty() || (start < 0 && end < 0 && start > end) {
        return Ok(Frame::bulk(""));
    }
    // Unlike a list's range, an end before the first byte means the first byte.
    let least = -i64::try_from(text.len()).unwrap_or(i64::MAX);
    let range = super::lists::range(text.len(), start, end.max(least));
    Ok(Frame::bulk(&text[range]))
}

fn setrange(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let offset = integer(&words[2])?;
    let offset =
        usize::try_from(offset).map_err(|_| Refusal::from("ERR offset is out of range"))?;
    let mut text = cx.text(&words[1])?.unwrap_or_default();
    if words[3].is_empty() {
        return Ok(Frame::count(text.len()));
    }
    let end = offset.saturating_add(words[3].len());
    if end > MAX_TEXT {
        return Err("ERR string exceeds maximum allowed size (proto-max-bulk-len)".into());
    }
    text.resize(text.len().max(end), 0);
    text[offset..end].copy_from_slice(&words[3]);
    replace_text(cx, &words[1], text, "setrange")
}

fn delifeq(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let equal = cx.text(&words[1])?.as_ref() == Some(&words[2]);
    Ok(Frame::truth(equal && delete(cx, &words[1])))
}

fn delex(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let key = &words[1];
    let wanted = match &words[2..] {
        [] => return Ok(Frame::truth(delete(cx, key))),
        [word, value] if is(word, "IFEQ") => cx.text(key)?.map(|old| old == *value),
        [word, value] if is(word, "IFNE") => cx.text(key)?.map(|old| old != *value),
        _ => return Err(Refusal::SYNTAX),
    };
    Ok(Frame::truth(wanted == Some(true) && delete(cx, key)))
}

fn delete(cx: &mut Context<'_>, key: &[u8]) -> bool {
    let deleted = cx.delete(key).is_some();
    if deleted {
        cx.notify(EventClass::GENERIC, "del", key);
        cx.rewrite(&[b"DEL", key]);
    }
    deleted
}
