//! Looking through the keyspace: KEYS, SCAN, RANDOMKEY.

use super::{Flags, Keys, Spec, integer, is, keys::type_name};
use crate::{
    frame::Frame,
    glob,
    object::{Hash, Set, SortedSet},
    server::{Context, Refusal},
};

pub(super) const COMMANDS: &[Spec] = &[
    Spec::new("keys", 2, Flags::READ, Keys::None, keys),
    Spec::new("scan", -2, Flags::READ, Keys::None, scan),
    Spec::new("randomkey", 1, Flags::READ, Keys::None, randomkey),
    Spec::new("hscan", -3, Flags::READ, Keys::First, hscan),
    Spec::new("sscan", -3, Flags::READ, Keys::First, sscan),
    Spec::new("zscan", -3, Flags::READ, Keys::First, zscan),
];

/// The numbers of the keys of the present database, dead ones included.
fn present(cx: &Context<'_>) -> Vec<u32> {
    let slots = cx.engine.databases[cx.database].slots.iter().zip(0u32..);
    slots.filter(|(slot, _)| !slot.content.is_absent()).map(|(_, id)| id).collect()
}

fn keys(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let now = cx.frozen;
    let mut found = Vec::new();
    for id in present(cx) {
        let dead = cx.slot(id).is_dead(now);
        let name = cx.engine.names.text(id);
        if !dead && glob::matches(&words[1], name) {
            found.push(Frame::bulk(name));
        }
    }
    Ok(Frame::Array(found))
}

/// The options of SCAN and its relatives.
struct Options {
    pattern: Option<Vec<u8>>,
    count: usize,
    kind: Option<String>,
}

/// Reads the options; only SCAN itself, which meets keys of all types, has `TYPE`.
fn options(words: &[Vec<u8>], keys: bool) -> Result<Options, Refusal> {
    let mut options = Options { pattern: None, count: 10, kind: None };
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let value = rest.next().ok_or(Refusal::SYNTAX)?;
        if is(word, "MATCH") {
            options.pattern = Some(value.clone());
        } else if is(word, "COUNT") {
            let count = integer(value)?;
            let count = usize::try_from(count).ok().filter(|count| *count > 0);
            options.count = count.ok_or(Refusal::SYNTAX)?;
        } else if keys && is(word, "TYPE") {
            options.kind = Some(String::from_utf8_lossy(value).to_ascii_lowercase());
        } else {
            return Err(Refusal::SYNTAX);
        }
    }
    Ok(options)
}

fn cursor(word: &[u8]) -> Result<usize, Refusal> {
    let text = std::str::from_utf8(word).ok();
    let number = text.filter(|text| !text.starts_with('+')).and_then(|text| text.parse().ok());
    number.ok_or(Refusal::from("ERR invalid cursor"))
}

/// The cursor is the number of the next key to look at, so a scan meets every key that stays.
fn scan(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let start = cursor(&words[1])?;
    let options = options(&words[2..], true)?;
    let now = cx.frozen;
    let later: Vec<u32> = present(cx).into_iter().filter(|id| *id as usize >= start).collect();
    let next = later.get(options.count).map_or(0, |id| *id);
    let mut found = Vec::new();
    for &id in later.iter().take(options.count) {
        if cx.slot(id).is_dead(now) {
            cx.bury(id);
            continue;
        }
        let kind = type_name(&cx.slot(id).content);
        let name = cx.engine.names.text(id);
        let named = options.pattern.as_ref().is_none_or(|pattern| glob::matches(pattern, name));
        if named && options.kind.as_ref().is_none_or(|wanted| wanted == kind) {
            found.push(Frame::bulk(name));
        }
    }
    Ok(Frame::Array(vec![Frame::bulk(next.to_string()), Frame::Array(found)]))
}

fn randomkey(cx: &mut Context<'_>, _: &[Vec<u8>]) -> Result<Frame, Refusal> {
    let now = cx.frozen;
    loop {
        let ids = present(cx);
        if ids.is_empty() {
            return Ok(Frame::Nil);
        }
        let id = ids[cx.engine.server.draw(ids.len())];
        let name = cx.engine.names.text(id).to_vec();
        if !cx.slot(id).is_dead(now) {
            return Ok(Frame::Bulk(name));
        }
        cx.bury(id);
        if !cx.slot(id).content.is_absent() {
            // A replica or a pause keeps dead keys; the server gives one of them after a while.
            return Ok(Frame::Bulk(name));
        }
    }
}

/// The reply of a scan that gives all elements at once, as the server does for small containers.
fn whole(items: Vec<Vec<Vec<u8>>>, options: &Options) -> Frame {
    let wanted = |item: &Vec<Vec<u8>>| {
        options.pattern.as_ref().is_none_or(|pattern| glob::matches(pattern, &item[0]))
    };
    let found = items.into_iter().filter(wanted).flatten().map(Frame::Bulk).collect();
    Frame::Array(vec![Frame::bulk("0"), Frame::Array(found)])
}

/// The reply of a scan of a missing key, whose options nobody looks at.
fn nothing() -> Frame {
    Frame::Array(vec![Frame::bulk("0"), Frame::Array(Vec::new())])
}

fn hscan(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    cursor(&words[2])?;
    let Some(hash) = cx.container::<Hash>(&words[1])? else { return Ok(nothing()) };
    let pairs = hash.iter().map(|(f, v)| vec![f.clone(), v.clone()]).collect();
    Ok(whole(pairs, &options(&words[3..], false)?))
}

fn sscan(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    cursor(&words[2])?;
    let Some(set) = cx.container::<Set>(&words[1])? else { return Ok(nothing()) };
    let members = set.iter().map(|member| vec![member.clone()]).collect();
    Ok(whole(members, &options(&words[3..], false)?))
}

fn zscan(cx: &mut Context<'_>, words: &[Vec<u8>]) -> Result<Frame, Refusal> {
    cursor(&words[2])?;
    let shortest = cx.version().shortest_doubles();
    let Some(zset) = cx.container::<SortedSet>(&words[1])? else { return Ok(nothing()) };
    let text = |score| crate::numbers::format_double(score, shortest).into_bytes();
    let pairs = zset.iter().map(|(member, score)| vec![member.to_vec(), text(score)]).collect();
    Ok(whole(pairs, &options(&words[3..], false)?))
}
