//! Errors on their way through Lua: where they happened, and which of them a script may catch.

use std::fmt;

use mlua::{Error, Lua, Result, Value};

/// An error that our side raises inside of Lua.
#[derive(Clone, Debug)]
pub(super) enum Fault {
    /// A value that a script may catch, as `error` raises it.
    Raised(Value),
    /// The end of the script; no pcall stops it.
    Ended(Ending),
}

/// Why a script is ended from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// It ran more instructions than it may.
    Instructions,
    /// It asked for more memory than it may.
    Memory,
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Raised(value) => write!(out, "a script raised a {}", value.type_name()),
            Self::Ended(Ending::Instructions) => out.write_str("too many instructions"),
            Self::Ended(Ending::Memory) => out.write_str("too much memory"),
        }
    }
}

impl std::error::Error for Fault {}

/// What Lua says when the allocator refuses.
const OUT_OF_MEMORY: &str = "not enough memory";

/// Makes the error that ends a script.
pub(super) fn end(ending: Ending) -> Error {
    Error::external(Fault::Ended(ending))
}

/// Makes an error of any value.
pub(super) fn raise_value(value: Value) -> Error {
    Error::external(Fault::Raised(value))
}

/// Makes an error of this text, in front of it the line that called the present function.
pub(super) fn raise(lua: &Lua, text: &str) -> Error {
    let text = format!("{}{text}", position(lua, 1));
    lua.create_string(text).map_or_else(|error| error, |text| raise_value(Value::String(text)))
}

/// Makes an error as `redis.call` raises it: a table with the text.
pub(super) fn raise_reply(lua: &Lua, text: &str) -> Error {
    let table = lua.create_table().and_then(|table| {
        table.raw_set("err", lua.create_string(text)?)?;
        Ok(Value::Table(table))
    });
    table.map_or_else(|error| error, raise_value)
}

/// The place of a function on the stack, as Lua writes it in front of an error.
pub(super) fn position(lua: &Lua, level: usize) -> String {
    let place = lua.inspect_stack(level, |debug| {
        let source = debug.source();
        debug
            .current_line()
            .map(|line| format!("{}:{line}: ", source.short_src.unwrap_or_default()))
    });
    place.flatten().unwrap_or_default()
}

/// Makes the error for a wrong argument of the present function (`lauxlib.c:luaL_argerror`).
pub(super) fn bad_argument(lua: &Lua, argument: usize, problem: &str) -> Error {
    let (name, is_method) = lua
        .inspect_stack(0, |debug| {
            let names = debug.names();
            let name = names.name.map_or_else(|| "?".to_owned(), |name| name.into_owned());
            (name, names.name_what == Some("method"))
        })
        .unwrap_or_else(|| ("?".to_owned(), false));
    let text = match (argument, is_method) {
        (1, true) => format!("calling '{name}' on bad self ({problem})"),
        (_, true) => format!("bad argument #{} to '{name}' ({problem})", argument - 1),
        (_, false) => format!("bad argument #{argument} to '{name}' ({problem})"),
    };
    raise(lua, &text)
}

/// Gives the value that a catcher sees.
///
/// # Errors
///
/// Passes on what nobody may catch.
pub(super) fn caught(lua: &Lua, value: Value) -> Result<Value> {
    match value {
        Value::Error(error) => match error.downcast_ref::<Fault>() {
            Some(Fault::Raised(value)) => Ok(value.clone()),
            Some(Fault::Ended(ending)) => Err(end(*ending)),
            None if is_memory(&error) => Err(end(Ending::Memory)),
            None => Ok(Value::String(lua.create_string(text_of(&error))?)),
        },
        Value::String(text) if text.as_bytes() == OUT_OF_MEMORY.as_bytes() => {
            Err(end(Ending::Memory))
        }
        other => Ok(other),
    }
}

/// Tells whether an error says that memory ran out.
pub(super) fn is_memory(error: &Error) -> bool {
    match error {
        Error::MemoryError(_) => true,
        Error::CallbackError { cause, .. } => is_memory(cause),
        _ => false,
    }
}

/// The text of an error of the binding, without the stack it adds.
pub(super) fn text_of(error: &Error) -> String {
    let text = match error {
        Error::CallbackError { cause, .. } => return text_of(cause),
        Error::RuntimeError(text) | Error::SyntaxError { message: text, .. } => text.clone(),
        other => other.to_string(),
    };
    text.split("\nstack traceback:").next().unwrap_or_default().to_owned()
}

/// Passes on an error that came out of a function called from our side: what Lua raised is raised
/// again as it was, without the stack that the binding adds.
pub(super) fn passed_on(lua: &Lua, error: Error) -> Error {
    match error {
        Error::RuntimeError(_) => {
            let text = lua.create_string(text_of(&error));
            text.map_or_else(|error| error, |text| raise_value(Value::String(text)))
        }
        Error::MemoryError(_) => end(Ending::Memory),
        other => other,
    }
}
