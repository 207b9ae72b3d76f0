//! Replies into Lua and back (`src/script_lua.c:redisProtocolToLuaType` and
//! `luaReplyToRedisReply`).

#![expect(clippy::float_arithmetic, reason = "numbers of Lua are floating-point")]

use mlua::{Lua, Result, Table, Value};

use super::{
    fault::{bad_argument, raise_reply},
    host::Shared,
    meter::Meter,
};
use crate::{
    frame::{Frame, Protocol},
    numbers::format_double,
};

/// How deep a table that is returned may be nested: the depth of the interpreter's own stack.
const MAX_DEPTH: usize = 1_000;

/// Gives a reply as Lua sees it.
pub(super) fn to_lua(lua: &Lua, frame: &Frame, protocol: Protocol) -> Result<Value> {
    let three = protocol == Protocol::Resp3;
    Ok(match frame {
        Frame::Integer(number) => Value::Number(*number as f64),
        Frame::Bulk(bytes) => string(lua, bytes)?,
        Frame::Nil | Frame::NilArray if three => Value::Nil,
        Frame::Nil | Frame::NilArray => Value::Boolean(false),
        Frame::Simple(text) => field(lua, "ok", string(lua, text.as_bytes())?)?,
        Frame::Error(text) => {
            let table = lua.create_table()?;
            table.raw_set("err", lua.create_string(text.as_bytes())?)?;
            table.raw_set("ignore_error_stats_update", true)?;
            Value::Table(table)
        }
        Frame::Array(items) | Frame::Push(items) | Frame::Several(items) => {
            array(lua, items.iter(), protocol)?
        }
        Frame::Set(items) if three => {
            let set = lua.create_table()?;
            for item in items {
                set.raw_set(to_lua(lua, item, protocol)?, true)?;
            }
            field(lua, "set", Value::Table(set))?
        }
        Frame::Set(items) => array(lua, items.iter(), protocol)?,
        Frame::Map(pairs) if three => {
            let map = lua.create_table()?;
            for (name, value) in pairs {
                map.raw_set(to_lua(lua, name, protocol)?, to_lua(lua, value, protocol)?)?;
            }
            field(lua, "map", Value::Table(map))?
        }
        Frame::Map(pairs) => {
            array(lua, pairs.iter().flat_map(|(name, value)| [name, value]), protocol)?
        }
        Frame::Double(text) if three => {
            field(lua, "double", Value::Number(text.parse().unwrap_or(f64::NAN)))?
        }
        Frame::BigNumber(text) if three => field(lua, "big_number", string(lua, text.as_bytes())?)?,
        Frame::Double(text) | Frame::BigNumber(text) => string(lua, text.as_bytes())?,
        Frame::Boolean(truth) if three => Value::Boolean(*truth),
        Frame::Boolean(true) => Value::Integer(1),
        Frame::Boolean(false) => Value::Boolean(false),
        Frame::Verbatim(format, text) if three => {
            let inner = lua.create_table()?;
            inner.raw_set("format", string(lua, format.as_bytes())?)?;
            inner.raw_set("string", string(lua, text)?)?;
            field(lua, "verbatim_string", Value::Table(inner))?
        }
        Frame::Verbatim(_, text) => string(lua, text)?,
    })
}

fn string(lua: &Lua, bytes: &[u8]) -> Result<Value> {
    lua.create_string(bytes).map(Value::String)
}

fn field(lua: &Lua, name: &str, value: Value) -> Result<Value> {
    let table = lua.create_table()?;
    table.raw_set(name, value)?;
    Ok(Value::Table(table))
}

fn array<'a>(
    lua: &Lua,
    items: impl Iterator<Item = &'a Frame>,
    protocol: Protocol,
) -> Result<Value> {
    let table = lua.create_table()?;
    for (item, place) in items.zip(1..) {
        table.raw_set(place, to_lua(lua, item, protocol)?)?;
    }
    Ok(Value::Table(table))
}

/// Reads what a script returns.
pub(super) struct Returned<'a> {
    pub(super) meter: &'a Meter,
    /// The protocol that the script has set for itself.
    pub(super) script: Protocol,
    /// The protocol of the client.
    pub(super) client: Protocol,
    /// Whether doubles are printed as the shortest text.
    pub(super) shortest: bool,
}

impl Returned<'_> {
    /// Gives the reply that a value is.
    pub(super) fn frame(&self, value: &Value, depth: usize) -> Result<Frame> {
        self.meter.charge(1)?;
        Ok(match value {
            Value::String(text) => Frame::Bulk(text.as_bytes().to_vec()),
            Value::Integer(number) => Frame::Integer(*number),
            Value::Number(number) => Frame::Integer(truncated(*number)),
            Value::Boolean(truth) => self.boolean(*truth),
            Value::Table(_) if depth >= MAX_DEPTH => {
                Frame::Error("ERR reached lua stack limit".into())
            }
            Value::Table(table) => self.table(table, depth)?,
            _ => Frame::Nil,
        })
    }

    const fn boolean(&self, truth: bool) -> Frame {
        match (self.script, self.client, truth) {
            (Protocol::Resp3, Protocol::Resp3, _) => Frame::Boolean(truth),
            (Protocol::Resp3, Protocol::Resp2, _) | (Protocol::Resp2, _, true) => {
                Frame::truth(truth)
            }
            (Protocol::Resp2, _, false) => Frame::Nil,
        }
    }

    fn table(&self, table: &Table, depth: usize) -> Result<Frame> {
        if let Value::String(text) = table.raw_get::<Value>("err")? {
            return Ok(Frame::Error(text.to_string_lossy().into()));
        }
        if let Value::String(text) = table.raw_get::<Value>("ok")? {
            return Ok(Frame::Simple(text.to_string_lossy().into()));
        }
        let double = match table.raw_get::<Value>("double")? {
            Value::Integer(number) => Some(number as f64),
            Value::Number(number) => Some(number),
            _ => None,
        };
        if let Some(number) = double {
            return Ok(Frame::Double(number_text(number, self.shortest)));
        }
        if let Value::Table(map) = table.raw_get::<Value>("map")? {
            let mut pairs = Vec::new();
            for pair in map.pairs::<Value, Value>() {
                let (name, value) = pair?;
                pairs.push((self.frame(&name, depth + 1)?, self.frame(&value, depth + 1)?));
            }
            return Ok(Frame::Map(pairs));
        }
        if let Value::Table(set) = table.raw_get::<Value>("set")? {
            let mut items = Vec::new();
            for pair in set.pairs::<Value, Value>() {
                items.push(self.frame(&pair?.0, depth + 1)?);
            }
            return Ok(Frame::Set(items));
        }
        if let Value::String(text) = table.raw_get::<Value>("big_number")? {
            let text = text.to_string_lossy().replace(['\r', '\n'], " ");
            return Ok(Frame::BigNumber(text));
        }
        if let Value::Table(verbatim) = table.raw_get::<Value>("verbatim_string")?
            && let Value::String(text) = verbatim.raw_get::<Value>("string")?
            && let Value::String(format) = verbatim.raw_get::<Value>("format")?
        {
            let format = format.to_string_lossy().chars().take(3).collect();
            return Ok(Frame::Verbatim(format, text.as_bytes().to_vec()));
        }
        let mut items = Vec::new();
        for place in 1.. {
            let value: Value = table.raw_get(place)?;
            if value.is_nil() {
                break;
            }
            items.push(self.frame(&value, depth + 1)?);
        }
        Ok(Frame::Array(items))
    }
}

/// A number of Lua as an integer, as the server's processor converts it: what does not fit is the
/// least integer.
#[expect(clippy::cast_possible_truncation, reason = "the range is checked first")]
pub(super) fn truncated(number: f64) -> i64 {
    let limit = 2f64.powi(63);
    if number >= -limit && number < limit { number as i64 } else { i64::MIN }
}

/// A number as the server prints it.
pub(super) fn number_text(number: f64, shortest: bool) -> String {
    if number.is_nan() {
        return if number.is_sign_negative() { "-nan".into() } else { "nan".into() };
    }
    format_double(number, shortest)
}

/// A number as Lua prints it: `%.14g`.
pub(super) fn lua_number_text(number: f64) -> String {
    if number.is_nan() || number.is_infinite() || number == 0.0 {
        return number_text(number, false);
    }
    let scientific = format!("{number:.13e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trim = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if !(-4..14).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trim(digits), exponent.abs());
    }
    let decimals = usize::try_from(13 - exponent).unwrap_or(0);
    trim(&format!("{number:.decimals$}"))
}

/// Reads the words of a command from a function's arguments.
pub(super) fn words(lua: &Lua, arguments: &[Value], shortest: bool) -> Result<Vec<Vec<u8>>> {
    if arguments.is_empty() {
        let text = "ERR Please specify at least one argument for this redis lib call";
        return Err(raise_reply(lua, text));
    }
    let word = |value: &Value| match value {
        Value::String(text) => Ok(text.as_bytes().to_vec()),
        Value::Integer(number) => Ok(number.to_string().into_bytes()),
        Value::Number(number) => Ok(number_text(*number, shortest).into_bytes()),
        _ => {
            let text = "ERR Lua redis lib command arguments must be strings or integers";
            Err(raise_reply(lua, text))
        }
    };
    arguments.iter().map(word).collect()
}

/// The arguments of a function, checked as Lua's own library checks them.
pub(super) struct Arguments<'a> {
    pub(super) lua: &'a Lua,
    pub(super) values: &'a [Value],
    pub(super) shared: &'a Shared,
}

impl Arguments<'_> {
    /// Gives the argument at this place, counted from 1.
    pub(super) fn get(&self, place: usize) -> &Value {
        self.values.get(place - 1).unwrap_or(&Value::Nil)
    }

    /// Makes the error for an argument of the wrong type.
    pub(super) fn wrong(&self, place: usize, wanted: &str) -> mlua::Error {
        let got = self.values.get(place - 1).map_or("no value", type_name);
        bad_argument(self.lua, place, &format!("{wanted} expected, got {got}"))
    }

    pub(super) fn bytes(&self, place: usize) -> Result<Vec<u8>> {
        match self.get(place) {
            Value::String(text) => Ok(text.as_bytes().to_vec()),
            Value::Integer(number) => Ok(number.to_string().into_bytes()),
            Value::Number(number) => Ok(lua_number_text(*number).into_bytes()),
            _ => Err(self.wrong(place, "string")),
        }
    }

    pub(super) fn number(&self, place: usize) -> Result<f64> {
        match self.get(place) {
            Value::Integer(number) => Ok(*number as f64),
            Value::Number(number) => Ok(*number),
            text @ Value::String(_) => match self.lua.coerce_number(text.clone())? {
                Some(number) => Ok(number),
                None => Err(self.wrong(place, "number")),
            },
            _ => Err(self.wrong(place, "number")),
        }
    }

    pub(super) fn integer(&self, place: usize) -> Result<i64> {
        self.number(place).map(truncated)
    }

    pub(super) fn integer_or(&self, place: usize, default: i64) -> Result<i64> {
        if self.get(place).is_nil() { Ok(default) } else { self.integer(place) }
    }
}

/// The name of a value's type in messages.
pub(super) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Integer(_) => "number",
        Value::LightUserData(_) | Value::Error(_) => "userdata",
        other => other.type_name(),
    }
}
