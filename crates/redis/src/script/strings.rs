//! The functions of `string` that could run for ever in the interpreter's own form.

use std::rc::Rc;

use mlua::{Lua, MultiValue, Result, Table, Value, Variadic};

use super::{
    convert::{Arguments, lua_number_text, type_name},
    fault::{bad_argument, end, passed_on, raise},
    host::Shared,
    pattern::{Capture, Matcher, Stop, find_plain},
};

/// Makes the functions.
pub(super) fn table(lua: &Lua, shared: &Rc<Shared>) -> Result<Table> {
    type Run = fn(&Arguments<'_>) -> Result<MultiValue>;
    let table = lua.create_table()?;
    let list: [(&str, Run); 7] = [
        ("find", |arguments| search(arguments, true)),
        ("match", |arguments| search(arguments, false)),
        ("gsub", substitute),
        ("rep", repeat),
        ("lower", |arguments| mapped(arguments, <[u8]>::make_ascii_lowercase)),
        ("upper", |arguments| mapped(arguments, <[u8]>::make_ascii_uppercase)),
        ("reverse", |arguments| mapped(arguments, <[u8]>::reverse)),
    ];
    for (name, run) in list {
        let own = shared.clone();
        let run = move |lua: &Lua, values: Variadic<Value>| {
            run(&Arguments { lua, values: &values, shared: &own })
        };
        table.raw_set(name, lua.create_function(run)?)?;
    }
    for name in ["gmatch", "gfind"] {
        let own = shared.clone();
        let run = move |lua: &Lua, values: Variadic<Value>| {
            each(&Arguments { lua, values: &values, shared: &own }, own.clone())
        };
        table.raw_set(name, lua.create_function(run)?)?;
    }
    Ok(table)
}

fn stop(lua: &Lua, stop: Stop) -> mlua::Error {
    match stop {
        Stop::Malformed(text) => raise(lua, text),
        Stop::Ended(ending) => end(ending),
    }
}

fn string(lua: &Lua, bytes: &[u8]) -> Result<Value> {
    lua.create_string(bytes).map(Value::String)
}

/// Gives what a match caught; the whole of it if the pattern has no captures.
fn captures(lua: &Lua, matcher: &Matcher<'_>, start: usize, end: usize) -> Result<Vec<Value>> {
    if matcher.captures.is_empty() {
        return Ok(vec![string(lua, &matcher.text[start..end])?]);
    }
    own_captures(lua, matcher)
}

fn own_captures(lua: &Lua, matcher: &Matcher<'_>) -> Result<Vec<Value>> {
    let value = |capture: &Capture| match *capture {
        Capture::Text(start, end) => string(lua, &matcher.text[start..end]),
        Capture::Position(place) => Ok(Value::Integer(number(place) + 1)),
        Capture::Open(_) => Err(raise(lua, "unfinished capture")),
    };
    matcher.captures.iter().map(value).collect()
}

fn number(place: usize) -> i64 {
    i64::try_from(place).unwrap_or(i64::MAX)
}

/// `string.find` and `string.match`.
fn search(arguments: &Arguments<'_>, finds: bool) -> Result<MultiValue> {
    let lua = arguments.lua;
    let (text, pattern) = (arguments.bytes(1)?, arguments.bytes(2)?);
    let length = number(text.len());
    let start = arguments.integer_or(3, 1)?;
    let start = if start < 0 { (length + start).max(0) } else { (start - 1).max(0) };
    let start = usize::try_from(start.min(length)).unwrap_or(0);
    let is_plain = !matches!(arguments.get(4), Value::Nil | Value::Boolean(false));
    let special = |byte: &u8| b"^$*+?.([%-".contains(byte);
    let meter = &arguments.shared.meter;
    let found = |start: usize, end: usize| {
        vec![Value::Integer(number(start) + 1), Value::Integer(number(end))]
    };
    if finds && (is_plain || !pattern.iter().any(special)) {
        meter.charge((text.len() + pattern.len()) / 16)?;
        let place = find_plain(&text, &pattern, start);
        let result = place.map_or_else(|| vec![Value::Nil], |at| found(at, at + pattern.len()));
        return Ok(MultiValue::from_vec(result));
    }
    let anchored = pattern.first() == Some(&b'^');
    let mut matcher = Matcher::new(&text, &pattern[usize::from(anchored)..], meter);
    for start in start..=text.len() {
        if let Some(end) = matcher.match_at(start).map_err(|error| stop(lua, error))? {
            let mut result = if finds { found(start, end) } else { Vec::new() };
            result.extend(if finds {
                own_captures(lua, &matcher)?
            } else {
                captures(lua, &matcher, start, end)?
            });
            return Ok(MultiValue::from_vec(result));
        }
        if anchored {
            break;
        }
    }
    Ok(MultiValue::from_vec(vec![Value::Nil]))
}

/// `string.gmatch`: a function that gives one match after the other.
fn each(arguments: &Arguments<'_>, shared: Rc<Shared>) -> Result<mlua::Function> {
    let (text, pattern) = (arguments.bytes(1)?, arguments.bytes(2)?);
    let mut next = 0;
    arguments.lua.create_function_mut(move |lua, _: Variadic<Value>| {
        let mut matcher = Matcher::new(&text, &pattern, &shared.meter);
        while next <= text.len() {
            let start = next;
            if let Some(end) = matcher.match_at(start).map_err(|error| stop(lua, error))? {
                // An empty match is not found a second time.
                next = if end == start { end + 1 } else { end };
                return Ok(MultiValue::from_vec(captures(lua, &matcher, start, end)?));
            }
            next += 1;
        }
        Ok(MultiValue::from_vec(vec![Value::Nil]))
    })
}

/// `string.gsub`.
fn substitute(arguments: &Arguments<'_>) -> Result<MultiValue> {
    let lua = arguments.lua;
    let (text, pattern) = (arguments.bytes(1)?, arguments.bytes(2)?);
    let replacement = match arguments.get(3) {
        Value::String(_) | Value::Integer(_) | Value::Number(_) => Err(arguments.bytes(3)?),
        value @ (Value::Table(_) | Value::Function(_)) => Ok(value),
        _ => return Err(bad_argument(lua, 3, "string/function/table expected")),
    };
    let most = arguments.integer_or(4, number(text.len()) + 1)?;
    let anchored = pattern.first() == Some(&b'^');
    let meter = &arguments.shared.meter;
    let mut matcher = Matcher::new(&text, &pattern[usize::from(anchored)..], meter);
    let (mut out, mut count, mut place) = (Vec::new(), 0, 0);
    while count < most {
        let end = matcher.match_at(place).map_err(|error| stop(lua, error))?;
        if let Some(end) = end {
            count += 1;
            let caught = captures(lua, &matcher, place, end)?;
            let new = match &replacement {
                Err(template) => filled(lua, template, &caught, &text[place..end])?,
                Ok(Value::Table(table)) => {
                    replaced(lua, table.get(&caught[0])?, &text[place..end])?
                }
                Ok(Value::Function(function)) => {
                    let value = function.call(MultiValue::from_vec(caught));
                    let value = value.map_err(|error| passed_on(lua, error))?;
                    replaced(lua, value, &text[place..end])?
                }
                Ok(_) => Vec::new(),
            };
            grow(arguments, &mut out, &new)?;
        }
        match end {
            Some(end) if end > place => place = end,
            _ if place < text.len() => {
                out.push(text[place]);
                place += 1;
            }
            _ => break,
        }
        if anchored {
            break;
        }
    }
    grow(arguments, &mut out, text.get(place..).unwrap_or_default())?;
    Ok(MultiValue::from_vec(vec![string(lua, &out)?, Value::Integer(count)]))
}

/// Appends, within the script's memory.
fn grow(arguments: &Arguments<'_>, out: &mut Vec<u8>, more: &[u8]) -> Result<()> {
    let meter = &arguments.shared.meter;
    meter.charge(more.len() / 64)?;
    if out.len() + more.len() > meter.limits().memory {
        return Err(end(super::fault::Ending::Memory));
    }
    out.extend_from_slice(more);
    Ok(())
}

/// What stands for a match where a function or a table says it.
fn replaced(lua: &Lua, value: Value, whole: &[u8]) -> Result<Vec<u8>> {
    match value {
        Value::Nil | Value::Boolean(false) => Ok(whole.to_vec()),
        Value::String(text) => Ok(text.as_bytes().to_vec()),
        Value::Integer(number) => Ok(number.to_string().into_bytes()),
        Value::Number(number) => Ok(lua_number_text(number).into_bytes()),
        other => {
            let text = format!("invalid replacement value (a {})", type_name(&other));
            Err(raise(lua, &text))
        }
    }
}

/// A template with its `%1` filled in.
fn filled(lua: &Lua, template: &[u8], caught: &[Value], whole: &[u8]) -> Result<Vec<u8>> {
    let mut out = Vec::with_capacity(template.len());
    let mut bytes = template.iter();
    while let Some(&byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        match bytes.next() {
            Some(b'0') => out.extend_from_slice(whole),
            Some(digit @ b'1'..=b'9') => match caught.get(usize::from(digit - b'1')) {
                Some(Value::String(text)) => out.extend_from_slice(&text.as_bytes()),
                Some(Value::Integer(number)) => {
                    out.extend_from_slice(number.to_string().as_bytes());
                }
                _ => return Err(raise(lua, "invalid capture index")),
            },
            Some(&other) => out.push(other),
            None => {}
        }
    }
    Ok(out)
}

/// `string.lower` and its like.
fn mapped(arguments: &Arguments<'_>, change: fn(&mut [u8])) -> Result<MultiValue> {
    let mut text = arguments.bytes(1)?;
    arguments.shared.meter.charge(text.len() / 64)?;
    change(&mut text);
    Ok(MultiValue::from_vec(vec![string(arguments.lua, &text)?]))
}

/// `string.rep`.
fn repeat(arguments: &Arguments<'_>) -> Result<MultiValue> {
    let (text, times) = (arguments.bytes(1)?, arguments.integer(2)?);
    let times = if text.is_empty() { 0 } else { usize::try_from(times).unwrap_or(0) };
    let meter = &arguments.shared.meter;
    if text.len().saturating_mul(times) > meter.limits().memory {
        return Err(end(super::fault::Ending::Memory));
    }
    meter.charge(text.len() * times / 64)?;
    Ok(MultiValue::from_vec(vec![string(arguments.lua, &text.repeat(times))?]))
}
