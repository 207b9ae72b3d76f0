//! Lua 5.1 as the server embeds it.
//!
//! An [`Interpreter`] is no part of an engine's state: it keeps nothing from one script to the
//! next but its memory, so one serves any number of engines. A script runs to its end within the
//! step that started it; what that takes in virtual time is written down, and until that time has
//! passed the server is busy (`server/running.rs`).
//!
//! A script cannot leave its budget of instructions and memory: `pcall` and coroutines do not
//! catch the end of it, pattern matching and the like count their own steps, and bytecode is not
//! loaded.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    fmt,
    rc::Rc,
};

use mlua::chunk::ChunkMode;
use mlua::{Error, Function, Lua, LuaOptions, MultiValue, StdLib, Value};
use sha1::{Digest as _, Sha1};

use super::{
    ScriptLimits,
    convert::{self, Returned, lua_number_text},
    environment::{self, Environment},
    fault::{self, Ending, Fault},
    host::{Host, Shared},
    library,
    meter::Meter,
};
use crate::{frame::Frame, server::Context, version::Version};

/// Gives the SHA-1 of a script, as EVALSHA takes it.
#[must_use]
pub fn digest(script: &[u8]) -> String {
    library::hexadecimal(&Sha1::digest(script))
}

/// How a script failed.
#[derive(Debug)]
pub(super) struct Failure {
    cause: Cause,
    /// The chunk and the line.
    place: Option<(String, usize)>,
}

#[derive(Debug)]
enum Cause {
    /// It raised an error that nothing caught.
    Raised(String),
    /// It was ended.
    Ended(Ending),
}

/// One call of a script.
pub(crate) struct Call<'a> {
    pub(crate) digest: &'a str,
    /// The source, without a shebang.
    pub(crate) source: &'a [u8],
    pub(crate) keys: &'a [Vec<u8>],
    pub(crate) arguments: &'a [Vec<u8>],
    pub(crate) read_only: bool,
    pub(crate) limits: ScriptLimits,
}

/// How many compiled scripts are kept.
const CACHED: usize = 256;

/// A Lua interpreter in which scripts run, one after the other.
pub struct Interpreter {
    lua: Lua,
    shared: Rc<Shared>,
    environment: Environment,
    xpcall: Function,
    handler: Function,
    compiled: BTreeMap<String, Function>,
    version: Option<Version>,
}

impl fmt::Debug for Interpreter {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Interpreter").finish_non_exhaustive()
    }
}

impl Default for Interpreter {
    fn default() -> Self {
        Self::new()
    }
}

impl Interpreter {
    /// Makes an interpreter.
    ///
    /// # Panics
    ///
    /// Panics if there is no memory for it.
    #[must_use]
    pub fn new() -> Self {
        Self::build().expect("an empty interpreter needs little memory, and its own code is sound")
    }

    fn build() -> mlua::Result<Self> {
        let libraries = StdLib::TABLE | StdLib::STRING | StdLib::MATH;
        let lua = Lua::new_with(libraries, LuaOptions::new())?;
        let shared = Rc::new(Shared {
            host: RefCell::new(None),
            meter: Rc::new(Meter::new()),
            failure: RefCell::new(None),
            named: Cell::new(0),
        });
        let environment = environment::build(&lua, &shared)?;
        lua.set_named_registry_value(environment::FRONT, environment.front.clone())?;
        let xpcall = lua.globals().raw_get("xpcall")?;
        let own = shared.clone();
        let handler = lua.create_function(move |lua, value: Value| {
            let failure = failure(lua, &value);
            own.failure.replace(Some(failure));
            Ok(())
        })?;
        lua.gc_collect()?;
        let (compiled, version) = (BTreeMap::new(), None);
        Ok(Self { lua, shared, environment, xpcall, handler, compiled, version })
    }

    /// Compiles a script.
    ///
    /// # Errors
    ///
    /// Gives the compiler's message, the line in it.
    pub fn check(&mut self, source: &[u8]) -> Result<(), String> {
        self.compile(&digest(source), source, ScriptLimits::SCENARIO).map(drop)
    }

    fn compile(
        &mut self,
        digest: &str,
        source: &[u8],
        limits: ScriptLimits,
    ) -> Result<Function, String> {
        if let Some(function) = self.compiled.get(digest) {
            return Ok(function.clone());
        }
        let text = |error: &Error| match error {
            Error::MemoryError(_) => "not enough memory".to_owned(),
            other => fault::text_of(other),
        };
        self.shared.meter.start(&self.lua, limits).map_err(|error| text(&error))?;
        let chunk = self.lua.load(source).set_name("@user_script").set_mode(ChunkMode::Text);
        let function = chunk.set_environment(self.environment.front.clone()).into_function();
        let stopped = self.shared.meter.stop(&self.lua);
        let function = function.and_then(|function| stopped.map(|()| function));
        let function = function.map_err(|error| text(&error))?;
        if self.compiled.len() >= CACHED {
            self.compiled.clear();
        }
        self.compiled.insert(digest.to_owned(), function.clone());
        Ok(function)
    }

    /// Compiles a script for a server; the error is the reply to send.
    pub(crate) fn load(&mut self, digest: &str, source: &[u8]) -> Result<(), Frame> {
        self.compile(digest, source, ScriptLimits::SERVER).map(drop).map_err(|text| {
            Frame::Error(format!("ERR Error compiling script (new function): {text}").into())
        })
    }

    /// Runs a script on the context's engine and gives its reply.
    ///
    /// A script that does not end leaves its last line in [`Ahead`](crate::server::Ahead).
    pub(crate) fn run(&mut self, cx: &mut Context<'_>, call: &Call<'_>) -> Frame {
        let function = match self.compile(call.digest, call.source, call.limits) {
            Ok(function) => function,
            Err(text) => {
                let text = format!("ERR Error compiling script (new function): {text}");
                return Frame::Error(text.into());
            }
        };
        let (version, client) = (cx.version(), cx.protocol());
        self.shared.failure.replace(None);
        self.shared.named.set(0);
        self.shared.host.replace(Some(Host::enter(cx, call.read_only)));
        let result = self.enter(&function, call, version).and_then(|values| {
            let value = match &values[..] {
                [Value::Boolean(true), rest @ ..] => rest.first().unwrap_or(&Value::Nil),
                _ => return Ok(None),
            };
            let script = self.shared.host()?.protocol;
            let shortest = version.shortest_doubles();
            let meter = &self.shared.meter;
            Returned { meter, script, client, shortest }.frame(value, 0).map(Some)
        });
        let stopped = self.shared.meter.stop(&self.lua);
        if let Some(host) = self.shared.host.take() {
            host.leave(cx);
        }
        match result.and_then(|frame| stopped.map(|()| frame)) {
            Ok(Some(frame)) => {
                let line = self.shared.meter.line();
                cx.ahead.killed = killed(cx.version(), call.digest, "@user_script", line);
                frame
            }
            Ok(None) => self.failed(cx, call, self.shared.failure.take()),
            Err(error) => self.failed(cx, call, Some(outer_failure(&error))),
        }
    }

    /// Sets the script's globals and calls it.
    fn enter(
        &mut self,
        function: &Function,
        call: &Call<'_>,
        version: Version,
    ) -> mlua::Result<Vec<Value>> {
        let exports = &self.environment.exports;
        if self.version != Some(version) {
            library::set_version(&self.environment.redis, version)?;
            self.version = Some(version);
        }
        self.shared.meter.start(&self.lua, call.limits)?;
        let list = |words: &[Vec<u8>]| {
            let table = self.lua.create_table_with_capacity(words.len(), 0)?;
            for (word, place) in words.iter().zip(1..) {
                table.raw_set(place, self.lua.create_string(word)?)?;
            }
            Ok::<_, Error>(table)
        };
        exports.raw_set("KEYS", list(call.keys)?)?;
        exports.raw_set("ARGV", list(call.arguments)?)?;
        let values: MultiValue = self.xpcall.call((function, &self.handler))?;
        Ok(values.into_iter().collect())
    }

    /// Makes the reply of a script that failed.
    fn failed(&self, cx: &mut Context<'_>, call: &Call<'_>, failure: Option<Failure>) -> Frame {
        // Lua calls no handler when memory runs out.
        let failure =
            failure.unwrap_or(Failure { cause: Cause::Ended(Ending::Memory), place: None });
        let (source, line) =
            failure.place.unwrap_or_else(|| ("@user_script".to_owned(), self.shared.meter.line()));
        let limits = call.limits;
        cx.ahead.killed = killed(cx.version(), call.digest, &source, line);
        let text = match failure.cause {
            Cause::Raised(text) => text,
            Cause::Ended(Ending::Instructions) if !limits.is_error => {
                cx.ahead.endless = true;
                return Frame::Nil;
            }
            Cause::Ended(Ending::Instructions) => {
                format!("ERR the script ran more than {} instructions", limits.instructions)
            }
            Cause::Ended(Ending::Memory) => {
                format!("ERR the script asked for more than {} MiB of memory", limits.memory >> 20)
            }
        };
        Frame::Error(located(cx.version(), &text, call.digest, &source, line).into())
    }
}

/// An error's text with the script and the line behind it.
fn located(version: Version, text: &str, digest: &str, source: &str, line: usize) -> String {
    match version {
        Version::Valkey90 => format!("{text} script: on {source}:{line}."),
        _ => format!("{text} script: {digest}, on {source}:{line}."),
    }
}

/// What the client of a killed script gets.
fn killed(version: Version, digest: &str, source: &str, line: usize) -> String {
    let text = "ERR Script killed by user with SCRIPT KILL...";
    located(version, text, digest, source, line)
}

/// What an error is that came out past the handler.
fn outer_failure(error: &Error) -> Failure {
    let cause = match error.downcast_ref::<Fault>() {
        Some(Fault::Ended(ending)) => Cause::Ended(*ending),
        _ if fault::is_memory(error) => Cause::Ended(Ending::Memory),
        _ => Cause::Raised(format!("ERR {}", fault::text_of(error))),
    };
    Failure { cause, place: None }
}

/// What an error is that nothing caught, and where it happened.
fn failure(lua: &Lua, value: &Value) -> Failure {
    let cause = match fault::caught(lua, value.clone()) {
        Ok(Value::Table(table)) => match table.raw_get::<Value>("err") {
            Ok(Value::String(text)) => Cause::Raised(text.to_string_lossy()),
            _ => Cause::Raised("ERR unknown error".to_owned()),
        },
        Ok(Value::String(text)) => Cause::Raised(format!("ERR {}", text.to_string_lossy())),
        Ok(Value::Integer(number)) => Cause::Raised(format!("ERR {number}")),
        Ok(Value::Number(number)) => Cause::Raised(format!("ERR {}", lua_number_text(number))),
        Ok(Value::Boolean(truth)) => Cause::Raised(format!("ERR {truth}")),
        Ok(other) => Cause::Raised(format!("ERR {}", convert::type_name(&other))),
        Err(error) => return Failure { place: place(lua), ..outer_failure(&error) },
    };
    Failure { cause, place: place(lua) }
}

/// The innermost function that is the script's: its chunk and its line.
fn place(lua: &Lua) -> Option<(String, usize)> {
    for level in 1.. {
        let found = lua.inspect_stack(level, |debug| {
            let source = debug.source();
            let name = source.source?.into_owned();
            let is_ours = source.what == "C" || name == environment::PRELUDE;
            (!is_ours).then_some((name, debug.current_line()?))
        })?;
        if found.is_some() {
            return found;
        }
    }
    None
}
