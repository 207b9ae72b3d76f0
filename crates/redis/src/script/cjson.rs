//! The table `cjson`: JSON text of values, and values of JSON text.
//!
//! The texts follow Lua CJSON 2.1 (kyne.au/~mark/software/lua-cjson-manual.html).

use std::rc::Rc;

use mlua::{Lua, Result, Table, Value, Variadic};

use super::{
    convert::{Arguments, lua_number_text, type_name},
    fault::{bad_argument, end, raise},
    host::Shared,
    json::Parser,
};

/// How deep values may be nested.
const MAX_DEPTH: usize = 1_000;

/// Makes the table.
pub(super) fn table(lua: &Lua, shared: &Rc<Shared>) -> Result<Table> {
    let table = lua.create_table()?;
    table.raw_set("_NAME", "cjson")?;
    table.raw_set("_VERSION", "2.1.0")?;
    table.raw_set("null", Value::NULL)?;
    let own = shared.clone();
    let encode = move |lua: &Lua, values: Variadic<Value>| {
        let [value] = &values[..] else {
            return Err(bad_argument(lua, 1, "expected 1 argument"));
        };
        let mut writer = Writer { lua, shared: &own, out: Vec::new() };
        writer.value(value, 0)?;
        lua.create_string(&writer.out)
    };
    table.raw_set("encode", lua.create_function(encode)?)?;
    let own = shared.clone();
    let decode = move |lua: &Lua, values: Variadic<Value>| {
        let [_] = &values[..] else {
            return Err(bad_argument(lua, 1, "expected 1 argument"));
        };
        let text = Arguments { lua, values: &values, shared: &own }.bytes(1)?;
        own.meter.charge(text.len() / 8)?;
        Parser::new(lua, &own.meter, &text).whole()
    };
    table.raw_set("decode", lua.create_function(decode)?)?;
    Ok(table)
}

struct Writer<'a> {
    lua: &'a Lua,
    shared: &'a Shared,
    out: Vec<u8>,
}

impl Writer<'_> {
    fn value(&mut self, value: &Value, depth: usize) -> Result<()> {
        self.shared.meter.charge(1)?;
        if self.out.len() > self.shared.meter.limits().memory {
            return Err(end(super::fault::Ending::Memory));
        }
        match value {
            Value::Nil => self.out.extend_from_slice(b"null"),
            Value::LightUserData(pointer) if pointer.0.is_null() => {
                self.out.extend_from_slice(b"null");
            }
            Value::Boolean(true) => self.out.extend_from_slice(b"true"),
            Value::Boolean(false) => self.out.extend_from_slice(b"false"),
            Value::Integer(number) => self.out.extend_from_slice(number.to_string().as_bytes()),
            Value::Number(number) if number.is_finite() => {
                self.out.extend_from_slice(lua_number_text(*number).as_bytes());
            }
            Value::Number(_) => {
                let text = "Cannot serialise number: must not be NaN or Inf";
                return Err(raise(self.lua, text));
            }
            Value::String(text) => {
                self.shared.meter.charge(text.as_bytes().len() / 16)?;
                self.string(&text.as_bytes());
            }
            Value::Table(_) if depth >= MAX_DEPTH => {
                let text = format!("Cannot serialise, excessive depth ({})", depth + 1);
                return Err(raise(self.lua, &text));
            }
            Value::Table(table) => self.table(table, depth + 1)?,
            other => {
                let kind = type_name(other);
                let text = format!("Cannot serialise {kind}: type not supported");
                return Err(raise(self.lua, &text));
            }
        }
        Ok(())
    }

    fn string(&mut self, text: &[u8]) {
        self.out.push(b'"');
        for &byte in text {
            match byte {
                b'"' | b'\\' | b'/' => self.out.extend([b'\\', byte]),
                8 => self.out.extend_from_slice(b"\\b"),
                b'\t' => self.out.extend_from_slice(b"\\t"),
                b'\n' => self.out.extend_from_slice(b"\\n"),
                12 => self.out.extend_from_slice(b"\\f"),
                b'\r' => self.out.extend_from_slice(b"\\r"),
                0..=31 | 127 => self.out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
                _ => self.out.push(byte),
            }
        }
        self.out.push(b'"');
    }

    fn table(&mut self, table: &Table, depth: usize) -> Result<()> {
        if let Some(length) = self.array_length(table)? {
            self.out.push(b'[');
            for place in 1..=length {
                if place > 1 {
                    self.out.push(b',');
                }
                self.value(&table.raw_get::<Value>(place)?, depth)?;
            }
            self.out.push(b']');
            return Ok(());
        }
        self.out.push(b'{');
        let mut is_first = true;
        for pair in table.pairs::<Value, Value>() {
            let (key, value) = pair?;
            if !is_first {
                self.out.push(b',');
            }
            is_first = false;
            match &key {
                Value::String(text) => self.string(&text.as_bytes()),
                Value::Integer(number) => self.string(number.to_string().as_bytes()),
                Value::Number(number) => self.string(lua_number_text(*number).as_bytes()),
                _ => {
                    let text = "Cannot serialise table: table key must be a number or string";
                    return Err(raise(self.lua, text));
                }
            }
            self.out.push(b':');
            self.value(&value, depth)?;
        }
        self.out.push(b'}');
        Ok(())
    }

    /// How long a table is, if it is an array; an empty one is none.
    fn array_length(&self, table: &Table) -> Result<Option<i64>> {
        let (mut items, mut highest) = (0, 0);
        for pair in table.pairs::<Value, Value>() {
            self.shared.meter.charge(1)?;
            match pair?.0 {
                Value::Integer(key) if key > 0 => highest = highest.max(key),
                _ => return Ok(None),
            }
            items += 1;
        }
        if items == 0 {
            return Ok(None);
        }
        if highest > 10 && highest > items * 2 {
            let text = "Cannot serialise table: excessively sparse array";
            return Err(raise(self.lua, text));
        }
        Ok(Some(highest))
    }
}
