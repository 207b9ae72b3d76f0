//! The table `redis`: commands, replies made by hand, digests (`src/script_lua.c`).

use std::{fmt::Write as _, rc::Rc};

use mlua::{Lua, Result, Table, Value, Variadic};

use super::{
    convert::{to_lua, words},
    fault::{raise_reply, raise_value},
    host::Shared,
};
use crate::{
    frame::{Frame, Protocol},
    version::Version,
};

/// Makes the table.
pub(super) fn table(lua: &Lua, shared: &Rc<Shared>) -> Result<Table> {
    let table = lua.create_table()?;
    commands(lua, &table, shared)?;
    replies(lua, &table)?;
    settings(lua, &table, shared)?;
    for (name, level) in
        [("LOG_DEBUG", 0), ("LOG_VERBOSE", 1), ("LOG_NOTICE", 2), ("LOG_WARNING", 3)]
    {
        table.raw_set(name, level)?;
    }
    let targets = [("NONE", 0), ("AOF", 1), ("SLAVE", 2), ("REPLICA", 2), ("ALL", 3)];
    for (name, target) in targets {
        table.raw_set(format!("REPL_{name}"), target)?;
    }
    Ok(table)
}

/// Writes the server's version into the table.
pub(super) fn set_version(table: &Table, version: Version) -> Result<()> {
    let number = version.number();
    let mut packed = 0;
    for part in number.split('.') {
        packed = packed * 256 + part.parse::<i64>().unwrap_or(0);
    }
    table.raw_set("REDIS_VERSION", number)?;
    table.raw_set("REDIS_VERSION_NUM", packed)
}

fn commands(lua: &Lua, table: &Table, shared: &Rc<Shared>) -> Result<()> {
    let own = shared.clone();
    table.raw_set(
        "call",
        lua.create_function(move |lua, arguments: Variadic<Value>| {
            let (frame, protocol) = run(lua, &own, &arguments)?;
            match frame {
                Frame::Error(_) => Err(raise_value(to_lua(lua, &frame, protocol)?)),
                frame => to_lua(lua, &frame, protocol),
            }
        })?,
    )?;
    let own = shared.clone();
    table.raw_set(
        "pcall",
        lua.create_function(move |lua, arguments: Variadic<Value>| {
            match run(lua, &own, &arguments) {
                Ok((frame, protocol)) => to_lua(lua, &frame, protocol),
                Err(error) => super::fault::caught(lua, Value::Error(Box::new(error))),
            }
        })?,
    )?;
    let own = shared.clone();
    table.raw_set(
        "acl_check_cmd",
        lua.create_function(move |lua, arguments: Variadic<Value>| {
            let words = words(lua, &arguments, false)?;
            let version = own.host()?.engine.server.config.version;
            match crate::commands::resolve(version, &words) {
                Ok(_) => Ok(true),
                Err(_) => {
                    let text = "ERR Invalid command passed to redis.acl_check_cmd()";
                    Err(raise_reply(lua, text))
                }
            }
        })?,
    )
}

fn run(lua: &Lua, shared: &Shared, arguments: &[Value]) -> Result<(Frame, Protocol)> {
    let mut host = shared.host()?;
    let shortest = host.engine.server.config.version.shortest_doubles();
    let words = words(lua, arguments, shortest)?;
    shared.meter.charge(words.iter().map(|word| word.len() / 64).sum())?;
    let frame = host.call(&words);
    if let Frame::Array(items) = &frame {
        shared.meter.charge(items.len())?;
    }
    Ok((frame, host.protocol))
}

/// The one text that a function wants, or the table that says so.
fn single(lua: &Lua, arguments: &[Value]) -> Result<std::result::Result<String, Table>> {
    if let [Value::String(text)] = arguments {
        return Ok(Ok(text.to_string_lossy()));
    }
    named(lua, "err", "ERR wrong number or type of arguments").map(Err)
}

/// A table with one field.
fn named(lua: &Lua, name: &str, text: &str) -> Result<Table> {
    let table = lua.create_table()?;
    table.raw_set(name, text)?;
    Ok(table)
}

fn replies(lua: &Lua, table: &Table) -> Result<()> {
    table.raw_set(
        "error_reply",
        lua.create_function(move |lua, arguments: Variadic<Value>| {
            let text = match single(lua, &arguments)? {
                Ok(text) => text,
                Err(table) => return Ok(table),
            };
            // A text with a code of its own keeps it, a dash in front of it or not.
            let bare = text.strip_prefix('-').unwrap_or(&text);
            let code = if bare.contains(' ') { "" } else { "ERR " };
            named(lua, "err", &format!("{code}{bare}"))
        })?,
    )?;
    table.raw_set(
        "status_reply",
        lua.create_function(move |lua, arguments: Variadic<Value>| {
            match single(lua, &arguments)? {
                Ok(text) => named(lua, "ok", &text),
                Err(table) => Ok(table),
            }
        })?,
    )?;
    table.raw_set(
        "sha1hex",
        lua.create_function(|lua, arguments: Variadic<Value>| match &arguments[..] {
            [Value::String(text)] => Ok(super::interpreter::digest(&text.as_bytes())),
            [Value::Integer(number)] => {
                Ok(super::interpreter::digest(number.to_string().as_bytes()))
            }
            [Value::Number(number)] => {
                Ok(super::interpreter::digest(super::convert::lua_number_text(*number).as_bytes()))
            }
            [_] => Ok(super::interpreter::digest(b"")),
            _ => Err(raise_reply(lua, "ERR wrong number of arguments")),
        })?,
    )
}

fn settings(lua: &Lua, table: &Table, shared: &Rc<Shared>) -> Result<()> {
    let level = |value: &Value| match value {
        Value::Integer(number) => Some(*number),
        Value::Number(number) => Some(super::convert::truncated(*number)),
        _ => None,
    };
    table.raw_set(
        "log",
        lua.create_function(move |lua, arguments: Variadic<Value>| {
            if arguments.len() < 2 {
                return Err(raise_reply(lua, "ERR redis.log() requires two arguments or more."));
            }
            match level(&arguments[0]) {
                None => Err(raise_reply(lua, "ERR First argument must be a number (log level).")),
                Some(0..=3) => Ok(()),
                Some(_) => Err(raise_reply(lua, "ERR Invalid debug level.")),
            }
        })?,
    )?;
    let own = shared.clone();
    table.raw_set(
        "setresp",
        lua.create_function(move |lua, arguments: Variadic<Value>| {
            let [value] = &arguments[..] else {
                return Err(raise_reply(lua, "ERR redis.setresp() requires one argument."));
            };
            own.host()?.protocol = match lua.coerce_integer(value.clone())? {
                Some(2) => Protocol::Resp2,
                Some(3) => Protocol::Resp3,
                _ => return Err(raise_reply(lua, "ERR RESP version must be 2 or 3.")),
            };
            Ok(())
        })?,
    )?;
    let own = shared.clone();
    table.raw_set(
        "set_repl",
        lua.create_function(move |lua, arguments: Variadic<Value>| {
            let [value] = &arguments[..] else {
                return Err(raise_reply(lua, "ERR redis.set_repl() requires two arguments."));
            };
            let target = lua.coerce_integer(value.clone())?.unwrap_or(0);
            if !(0..=3).contains(&target) {
                return Err(raise_reply(
                    lua,
                    "ERR Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or \
                     REPL_NONE.",
                ));
            }
            // The stream and the file are one here, so either keeps both.
            own.host()?.replicates = target != 0;
            Ok(())
        })?,
    )?;
    table.raw_set("replicate_commands", lua.create_function(|_, _: Variadic<Value>| Ok(true))?)?;
    table.raw_set("breakpoint", lua.create_function(|_, _: Variadic<Value>| Ok(false))?)?;
    table.raw_set("debug", lua.create_function(|_, _: Variadic<Value>| Ok(()))?)
}

/// A digest in the form that EVALSHA takes.
pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}
