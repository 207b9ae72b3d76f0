//! What a script works on, for the time it runs: the engine, the clock, and whose script it is.
//!
//! Functions inside of Lua cannot borrow, so the engine moves in here and back out afterwards.

use std::cell::{Cell, RefCell, RefMut};

use mlua::{Error, Result};

use super::{door::ScriptChange, meter::Meter};
use crate::{
    commands::{Flags, resolve},
    effects::{Clock, ConnectionId, Effect, Effects},
    engine::Engine,
    frame::{Frame, Protocol},
    reply::Change,
    server::{Context, Origin, SLICE, call_from_script},
};

/// A clock that stands, but for what the script spends.
#[derive(Clone, Copy, Debug)]
struct Held {
    wall: u64,
    monotonic: u64,
    spent: u64,
}

impl Clock for Held {
    fn wall_micros(&self) -> u64 {
        self.wall + self.spent
    }

    fn monotonic_micros(&self) -> u64 {
        self.monotonic + self.spent
    }

    fn spend(&mut self, micros: u64) {
        self.spent += micros;
    }
}

/// What a script works on.
pub(super) struct Host {
    pub(super) engine: Engine,
    out: Effects,
    clock: Held,
    connection: ConnectionId,
    database: usize,
    origin: Origin,
    frozen: i64,
    frozen_micros: u64,
    dirty: u64,
    midst: Option<Vec<Frame>>,
    /// The protocol that replies are turned into Lua by.
    pub(super) protocol: Protocol,
    /// Whether writes are refused.
    read_only: bool,
    /// Whether replicas are told of what commands do; `redis.set_repl` can stop it.
    pub(super) replicates: bool,
    /// When the script wrote first.
    first_write: Option<u64>,
    /// What was in the databases before a first write that comes after the first slice.
    undo: Option<Box<[crate::keyspace::Database; crate::engine::DATABASES]>>,
    /// What left the server after the first slice, and when.
    late: Vec<(u64, Effect)>,
    tracked: Option<Tracked>,
}

/// A key of database 0 that the caller looks at, and what commands have done to it so far.
pub(crate) struct Tracked {
    pub(super) key: u32,
    pub(super) changes: Vec<ScriptChange>,
}

/// How a key was before a command.
#[derive(Clone, Copy)]
struct Before {
    exists: bool,
    is_dead: bool,
    version: u32,
    deadline: Option<i64>,
}

impl Tracked {
    fn look(&self, engine: &Engine, now: i64) -> Before {
        let slot = engine.databases[0].peek(self.key);
        slot.map_or(Before { exists: false, is_dead: false, version: 0, deadline: None }, |slot| {
            Before {
                exists: !slot.content.is_absent(),
                is_dead: slot.is_dead(now),
                version: slot.version(),
                deadline: slot.deadline(),
            }
        })
    }

    /// Notes what a command has done to the key.
    fn note(&mut self, before: Before, engine: &Engine, verb: &[u8]) {
        let after = self.look(engine, i64::MIN);
        let is_untouched = after.version == before.version && after.deadline == before.deadline;
        if is_untouched && after.exists == before.exists {
            return;
        }
        let expired = before.exists && before.is_dead;
        let about_time =
            [&b"EXPIRE"[..], b"PEXPIRE", b"EXPIREAT", b"PEXPIREAT", b"GETEX", b"PERSIST"];
        let change = match (before.exists && !expired, after.exists) {
            (false, false) => Change::None,
            (false, true) => Change::Created,
            (true, false) => Change::Deleted,
            (true, true) if about_time.iter().any(|own| verb.eq_ignore_ascii_case(own)) => {
                if after.deadline.is_some() { Change::Extended } else { Change::Persisted }
            }
            (true, true) => Change::Overwritten,
        };
        self.changes.push(ScriptChange { expired, change });
    }
}

impl Host {
    /// Moves the engine in.
    pub(super) fn enter(cx: &mut Context<'_>, read_only: bool) -> Self {
        Self {
            clock: Held { wall: cx.wall_micros(), monotonic: cx.monotonic_micros(), spent: 0 },
            engine: std::mem::take(cx.engine),
            out: Effects::new(),
            connection: cx.connection,
            database: cx.database,
            origin: cx.origin,
            frozen: cx.frozen,
            frozen_micros: cx.frozen_micros,
            dirty: cx.dirty,
            midst: cx.midst.take(),
            protocol: Protocol::Resp2,
            read_only,
            replicates: true,
            first_write: cx.ahead.first_write,
            undo: None,
            late: Vec::new(),
            tracked: cx.tracked.take(),
        }
    }

    /// Moves the engine back and lets the time pass that the script took.
    pub(super) fn leave(self, cx: &mut Context<'_>) {
        *cx.engine = self.engine;
        cx.out.list.extend(self.out.list);
        cx.dirty = self.dirty;
        cx.midst = self.midst;
        cx.tracked = self.tracked;
        cx.ahead.first_write = self.first_write;
        cx.ahead.undo = cx.ahead.undo.take().or(self.undo);
        cx.ahead.late.extend(self.late);
        cx.spend(self.clock.spent);
    }

    /// Runs a command of the script.
    pub(super) fn call(&mut self, words: &[Vec<u8>]) -> Frame {
        let spec =
            words.first().and_then(|_| resolve(self.engine.server.config.version, words).ok());
        let writes = spec.is_some_and(|spec| spec.has(Flags::WRITE));
        let is_late = self.clock.spent > SLICE;
        if writes && self.first_write.is_none() && !self.read_only {
            if is_late {
                self.undo = Some(Box::new(self.engine.databases.clone()));
            }
            self.first_write = Some(self.clock.monotonic_micros());
        }
        let before = self.tracked.as_ref().map(|key| key.look(&self.engine, self.frozen));
        let mut cx = Context::new(&mut self.engine, &mut self.clock, &mut self.out);
        cx.connection = self.connection;
        cx.database = self.database;
        cx.origin = self.origin;
        cx.frozen = self.frozen;
        cx.frozen_micros = self.frozen_micros;
        cx.midst = self.midst.take();
        cx.script_protocol = Some(self.protocol);
        let told = cx.engine.server.pending.len();
        let frame = call_from_script(&mut cx, words, self.read_only);
        self.dirty += cx.dirty;
        self.midst = cx.midst;
        if !self.replicates {
            cx.engine.server.pending.truncate(told);
        }
        self.database = cx.database;
        if let (Some(tracked), Some(before)) = (&mut self.tracked, before) {
            let verb = words.first().map_or(&[][..], Vec::as_slice);
            tracked.note(before, &self.engine, verb);
        }
        if is_late {
            let now = self.clock.monotonic_micros();
            self.late.extend(self.out.list.drain(..).map(|effect| (now, effect)));
        }
        frame
    }
}

/// What the functions inside of Lua share with the outside.
pub(super) struct Shared {
    pub(super) host: RefCell<Option<Host>>,
    pub(super) meter: std::rc::Rc<Meter>,
    /// How the present script failed.
    pub(super) failure: RefCell<Option<super::interpreter::Failure>>,
    /// How many tables, functions and coroutines have got a name from `tostring`.
    pub(super) named: Cell<u64>,
}

impl Shared {
    /// Gives the host of the present script.
    pub(super) fn host(&self) -> Result<RefMut<'_, Host>> {
        let host = self.host.try_borrow_mut().map_err(Error::external)?;
        RefMut::filter_map(host, Option::as_mut).map_err(|_| Error::runtime("no script runs"))
    }
}
