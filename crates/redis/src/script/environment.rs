//! What a script finds in its globals, put together from both sides.

use std::rc::Rc;

use mlua::{Error, Function, Lua, MultiValue, Result, Table, Value, Variadic};

use super::{
    bits, cjson, convert::Arguments, fault, host::Shared, library, msgpack, random, strings,
    structs,
};
use mlua::chunk::ChunkMode;

/// The globals of scripts.
pub(super) struct Environment {
    /// What a script has as its globals: empty, read-only.
    pub(super) front: Table,
    /// What is behind it.
    pub(super) exports: Table,
    /// The table `redis`.
    pub(super) redis: Table,
}

/// Makes the globals.
pub(super) fn build(lua: &Lua, shared: &Rc<Shared>) -> Result<Environment> {
    let redis = library::table(lua, shared)?;
    let libraries = lua.create_table()?;
    libraries.raw_set("redis", redis.clone())?;
    libraries.raw_set("bit", bits::table(lua)?)?;
    libraries.raw_set("cjson", cjson::table(lua, shared)?)?;
    libraries.raw_set("cmsgpack", msgpack::table(lua, shared)?)?;
    libraries.raw_set("struct", structs::table(lua, shared)?)?;
    let native = lua.create_table()?;
    native.raw_set("libraries", libraries)?;
    native.raw_set("string", strings::table(lua, shared)?)?;
    catching(lua, &native)?;
    loading(lua, &native, shared)?;
    random::functions(lua, &native, shared)?;
    let own = shared.clone();
    let whole = move |lua: &Lua, (name, run, hidden)| whole(lua, own.clone(), name, run, hidden);
    native.raw_set("whole", lua.create_function(whole)?)?;
    let own = shared.clone();
    native.raw_set(
        "new_name",
        lua.create_function(move |_, ()| {
            own.named.set(own.named.get() + 1);
            Ok(format!("{:08x}", own.named.get()))
        })?,
    )?;
    let prelude = lua.load(include_str!("prelude.lua")).set_name(PRELUDE).into_function()?;
    let (front, exports) = prelude.call((lua.globals(), native))?;
    Ok(Environment { front, exports, redis })
}

/// The name of the chunk that is ours and not the script's.
pub(super) const PRELUDE: &str = "=fencepost";

fn catching(lua: &Lua, native: &Table) -> Result<()> {
    native
        .raw_set("caught", lua.create_function(|lua, value: Value| fault::caught(lua, value))?)?;
    let is_end = |lua: &Lua, value: Value| Ok(fault::caught(lua, value).is_err());
    native.raw_set("is_end", lua.create_function(is_end)?)
}

/// `loadstring`, for text alone: bytecode could make the interpreter do anything.
fn loading(lua: &Lua, native: &Table, shared: &Rc<Shared>) -> Result<()> {
    let shared = shared.clone();
    let load = move |lua: &Lua, values: Variadic<Value>| {
        let arguments = Arguments { lua, values: &values, shared: &shared };
        let source = arguments.bytes(1)?;
        shared.meter.charge(source.len())?;
        let name = match arguments.get(2) {
            Value::Nil => String::from_utf8_lossy(&source).into_owned(),
            _ => String::from_utf8_lossy(&arguments.bytes(2)?).into_owned(),
        };
        let failed = |lua: &Lua, text: &str| {
            let text = lua.create_string(text)?;
            Ok(MultiValue::from_vec(vec![Value::Nil, Value::String(text)]))
        };
        if source.first() == Some(&0x1b) {
            return failed(lua, "precompiled code cannot be loaded");
        }
        let environment: Table = lua.named_registry_value(FRONT)?;
        let chunk = lua.load(source).set_name(name.replace('\0', "")).set_mode(ChunkMode::Text);
        match chunk.set_environment(environment).into_function() {
            Ok(function) => Ok(MultiValue::from_vec(vec![Value::Function(function)])),
            Err(Error::MemoryError(_)) => Err(fault::end(fault::Ending::Memory)),
            Err(error) => failed(lua, &fault::text_of(&error)),
        }
    };
    native.raw_set("loadstring", lua.create_function(load)?)
}

/// Where the interpreter keeps the globals of scripts.
pub(super) const FRONT: &str = "fencepost.front";

/// Wraps a function of `table` that goes through the whole of it: its work counts, a read-only
/// table is left as it is, and sorting without a comparison of one's own takes no longer than it
/// must.
fn whole(
    lua: &Lua,
    shared: Rc<Shared>,
    name: String,
    run: Function,
    hidden: Table,
) -> Result<Function> {
    lua.create_function(move |lua, values: Variadic<Value>| {
        if let Some(Value::Table(table)) = values.first() {
            let logarithm =
                if name == "sort" { table.raw_len().max(2).ilog2() as usize } else { 1 };
            shared.meter.charge(table.raw_len() / 8 * logarithm)?;
        }
        if let Some(table @ Value::Table(_)) = values.first()
            && hidden.contains_key(table.clone())?
        {
            let text = lua.create_string("Attempt to modify a readonly table")?;
            return Err(fault::raise_value(Value::String(text)));
        }
        if let ("sort", [Value::Table(table)]) = (name.as_str(), &values[..])
            && sort_plain(table)?
        {
            return Ok(MultiValue::new());
        }
        let result = run.call::<MultiValue>(MultiValue::from_iter(values));
        result.map_err(|error| match &error {
            Error::RuntimeError(_) => explain(lua, &name, &fault::text_of(&error)),
            _ => error,
        })
    })
}

/// Gives an error of a library function the name and the place that it would have without us.
fn explain(lua: &Lua, name: &str, text: &str) -> Error {
    let is_own = ["bad argument", "wrong number", "invalid order", "invalid value"];
    if is_own.iter().any(|start| text.starts_with(start)) {
        return fault::raise(lua, &text.replace("'?'", &format!("'{name}'")));
    }
    let text = lua.create_string(text);
    text.map_or_else(|error| error, |text| fault::raise_value(Value::String(text)))
}

/// Sorts a table whose values are all numbers, or all strings; false if they are not.
fn sort_plain(table: &Table) -> Result<bool> {
    let mut numbers: Vec<f64> = Vec::new();
    let mut texts = Vec::new();
    for place in 1..=table.raw_len() {
        match table.raw_get::<Value>(place)? {
            #[expect(clippy::cast_precision_loss, reason = "numbers of Lua are floating-point")]
            Value::Integer(number) => numbers.push(number as f64),
            Value::Number(number) if !number.is_nan() => numbers.push(number),
            Value::String(text) => texts.push(text),
            _ => return Ok(false),
        }
    }
    if !numbers.is_empty() && !texts.is_empty() {
        return Ok(false);
    }
    numbers.sort_by(f64::total_cmp);
    texts.sort_by_cached_key(|text| text.as_bytes().to_vec());
    for (number, place) in numbers.into_iter().zip(1..) {
        table.raw_set(place, number)?;
    }
    for (text, place) in texts.into_iter().zip(1..) {
        table.raw_set(place, text)?;
    }
    Ok(true)
}
