//! What a command works with: the engine, the clock, the way out, and whose command it is.

use std::borrow::Cow;

use super::{Ahead, EventClass};
use crate::{
    effects::{Clock, ConnectionId, Effect, Effects, Operation},
    engine::{Engine, Role},
    frame::{Frame, Protocol},
    keyspace::{Content, Slot},
    object::{Kind, Object},
    reply::{Change, ErrorCode},
    value::Value,
    version::Version,
};

/// An error reply that ends a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal(pub(crate) Cow<'static, str>);

impl Refusal {
    pub(crate) const SYNTAX: Self = Self(Cow::Borrowed("ERR syntax error"));
    pub(crate) const NO_SUCH_KEY: Self = Self(Cow::Borrowed("ERR no such key"));
    pub(crate) const NOT_A_FLOAT: Self = Self(Cow::Borrowed("ERR value is not a valid float"));
    pub(crate) const MUST_BE_POSITIVE: Self =
        Self(Cow::Borrowed("ERR value is out of range, must be positive"));

    pub(crate) fn arity(name: &str) -> Self {
        Self(format!("ERR wrong number of arguments for '{name}' command").into())
    }
}

impl From<ErrorCode> for Refusal {
    fn from(code: ErrorCode) -> Self {
        Self(Cow::Borrowed(code.text()))
    }
}

impl From<&'static str> for Refusal {
    fn from(text: &'static str) -> Self {
        Self(Cow::Borrowed(text))
    }
}

/// Who runs a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A client, directly.
    Client,
    /// EXEC.
    Transaction,
    /// A script.
    Script,
    /// The replication stream or the append-only file: no key counts as dead.
    Master,
}

/// What a command works with.
pub(crate) struct Context<'a> {
    pub(crate) engine: &'a mut Engine,
    pub(crate) clock: &'a mut dyn Clock,
    pub(crate) out: &'a mut Effects,
    /// The connection whose command it is; nobody's in a tick.
    pub(crate) connection: ConnectionId,
    pub(crate) database: usize,
    pub(crate) origin: Origin,
    /// The wall time in milliseconds at the start of the top-level command: what dead or alive is
    /// judged by.
    pub(crate) frozen: i64,
    /// The same in microseconds.
    pub(crate) frozen_micros: u64,
    /// Changes made by the present command.
    pub(crate) dirty: u64,
    /// What the present command is to replicas, if not itself.
    pub(crate) rewritten: Option<Vec<Vec<Vec<u8>>>>,
    /// Messages to the client whose EXEC runs: they go out in the midst of its reply.
    pub(crate) midst: Option<Vec<Frame>>,
    /// Whether the client ended its own connection: it goes once the reply has been sent.
    pub(crate) leaves: bool,
    /// What the present command has run ahead of the clock.
    pub(crate) ahead: Ahead,
    /// The protocol that the script has set for itself, while it calls a command.
    pub(crate) script_protocol: Option<Protocol>,
    /// Where scripts run, if the caller keeps a place for them.
    #[cfg(feature = "lua")]
    pub(crate) interpreter: Option<&'a mut crate::script::Interpreter>,
    /// The key that the caller of a script looks at.
    #[cfg(feature = "lua")]
    pub(crate) tracked: Option<crate::script::Tracked>,
}

impl<'a> Context<'a> {
    pub(crate) fn new(
        engine: &'a mut Engine,
        clock: &'a mut dyn Clock,
        out: &'a mut Effects,
    ) -> Self {
        let frozen_micros = clock.wall_micros();
        Self {
            engine,
            clock,
            out,
            connection: ConnectionId(u64::MAX),
            database: 0,
            origin: Origin::Client,
            frozen: millis(frozen_micros),
            frozen_micros,
            dirty: 0,
            rewritten: None,
            midst: None,
            leaves: false,
            ahead: Ahead::default(),
            script_protocol: None,
            #[cfg(feature = "lua")]
            interpreter: None,
            #[cfg(feature = "lua")]
            tracked: None,
        }
    }

    pub(crate) const fn version(&self) -> Version {
        self.engine.server.config.version
    }

    /// The running wall clock in microseconds.
    pub(crate) fn wall_micros(&self) -> u64 {
        self.clock.wall_micros() + self.ahead.micros
    }

    /// The running wall clock in milliseconds.
    pub(crate) fn wall(&self) -> i64 {
        millis(self.wall_micros())
    }

    /// The monotonic clock in microseconds.
    #[cfg(feature = "lua")]
    pub(crate) fn monotonic_micros(&self) -> u64 {
        self.clock.monotonic_micros() + self.ahead.micros
    }

    /// The wall clock at the start of the top-level command, as replication and disk want it.
    pub(crate) const fn wall_ms(&self) -> u64 {
        self.frozen_micros / 1000
    }

    /// Starts a top-level command: dead or alive is judged by this instant from now on.
    pub(crate) fn freeze(&mut self) {
        self.frozen_micros = self.wall_micros();
        self.frozen = millis(self.frozen_micros);
    }

    /// The base of a new relative deadline, and what PTTL counts from.
    pub(crate) fn base(&self) -> i64 {
        if self.version().freezes_time() { self.frozen } else { self.wall() }
    }

    /// The connection whose command it is.
    pub(crate) fn me(&mut self) -> &mut super::Connection {
        self.engine.server.connections.entry(self.connection).or_default()
    }

    /// The protocol of the present connection.
    pub(crate) fn protocol(&mut self) -> Protocol {
        self.script_protocol.unwrap_or_else(|| self.me().protocol)
    }

    /// Sends a frame to a connection, if it is still there.
    pub(crate) fn send(&mut self, connection: ConnectionId, frame: Frame) {
        if let Some(midst) = &mut self.midst
            && connection == self.connection
        {
            midst.push(frame);
            return;
        }
        if let Some(target) = self.engine.server.connections.get(&connection) {
            let protocol = target.protocol;
            self.out.list.push(Effect::Send { connection, protocol, frame });
        }
    }

    pub(crate) fn slot(&mut self, id: u32) -> &mut Slot {
        self.engine.databases[self.database].slot(id)
    }

    /// Looks a living key up; a dead one is buried on the way (`src/db.c:expireIfNeeded`).
    pub(crate) fn find(&mut self, key: &[u8]) -> Option<u32> {
        let id = self.engine.names.find(key)?;
        let slot = self.engine.databases[self.database].peek(id)?;
        if slot.is_dead(self.frozen) && self.origin != Origin::Master {
            self.bury(id);
            return None;
        }
        (!slot.content.is_absent()).then_some(id)
    }

    /// Removes a dead key, unless a replica or a pause keeps it.
    pub(crate) fn bury(&mut self, id: u32) {
        let server = &mut self.engine.server;
        let paused = server.pause_at(self.frozen).is_some();
        if self.engine.role == Role::Replica || paused {
            return;
        }
        server.expired_keys += 1;
        self.slot(id).expire();
        let key = self.engine.names.text(id).to_vec();
        let verb: &[u8] = if self.version().is_valkey() { b"UNLINK" } else { b"DEL" };
        self.engine
            .server
            .pending
            .push(Operation { database: self.database, words: words(&[verb, &key]) });
        self.notify(EventClass::EXPIRED, "expired", &key);
    }

    pub(crate) fn exists(&mut self, key: &[u8]) -> bool {
        self.find(key).is_some()
    }

    /// The key's number, made if need be.
    pub(crate) fn id(&mut self, key: &[u8]) -> u32 {
        self.engine.names.intern_transient(key)
    }

    /// The bytes of a string key.
    pub(crate) fn text(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>, Refusal> {
        let Some(id) = self.find(key) else { return Ok(None) };
        match &self.engine.databases[self.database].slots[id as usize].content {
            Content::Absent => Ok(None),
            Content::Value(value) => Ok(Some(value.to_bytes(&self.engine.names))),
            Content::Object(object) => match object.text() {
                Some(text) => Ok(Some(text.to_vec())),
                None => Err(ErrorCode::WrongType.into()),
            },
        }
    }

    /// The container in a key, if the key exists.
    pub(crate) fn container<T: Kind>(&mut self, key: &[u8]) -> Result<Option<&mut T>, Refusal> {
        let Some(id) = self.find(key) else { return Ok(None) };
        match &mut self.slot(id).content {
            Content::Object(object) => match T::of(object) {
                Some(inner) => Ok(Some(inner)),
                None => Err(ErrorCode::WrongType.into()),
            },
            Content::Absent | Content::Value(_) => Err(ErrorCode::WrongType.into()),
        }
    }

    /// The container in a key, made empty if the key is missing; the caller puts something in.
    pub(crate) fn container_or_new<T: Kind>(&mut self, key: &[u8]) -> Result<&mut T, Refusal> {
        if self.find(key).is_none() {
            let id = self.id(key);
            self.slot(id).content = Content::Object(Box::new(T::default().into_object()));
        }
        self.container(key)?.ok_or(Refusal::NO_SUCH_KEY)
    }

    /// Puts a value into a key; the deadline stays.
    pub(crate) fn put(&mut self, key: &[u8], content: Content) -> Change {
        let new = self.find(key).is_none();
        let id = self.id(key);
        let change = self.slot(id).put(content);
        self.dirty += 1;
        if new {
            self.notify(EventClass::NEW, "new", key);
        }
        change
    }

    /// Notes a change of a key and tells of it; a container left empty goes.
    pub(crate) fn modified(&mut self, key: &[u8], class: EventClass, event: &str) {
        let id = self.id(key);
        self.slot(id).touch();
        self.dirty += 1;
        self.notify(class, event, key);
        let empty = match &self.slot(id).content {
            Content::Object(object) => object.is_empty(),
            Content::Absent | Content::Value(_) => false,
        };
        if empty {
            self.slot(id).delete();
            self.notify(EventClass::GENERIC, "del", key);
        }
    }

    /// Says how many changes, at least one, the change just made is: save points count elements.
    pub(crate) fn counts_as(&mut self, changes: usize) {
        self.dirty += (changes as u64).saturating_sub(1);
    }

    /// Deletes a living key and gives what was in it.
    pub(crate) fn delete(&mut self, key: &[u8]) -> Option<Content> {
        let id = self.find(key)?;
        self.dirty += 1;
        Some(self.slot(id).delete())
    }

    /// Marks a key as one that blocked clients may be waiting for.
    pub(crate) fn signal(&mut self, key: &[u8]) {
        let ready = (self.database, key.to_vec());
        if !self.engine.server.ready.contains(&ready) {
            self.engine.server.ready.push(ready);
        }
    }

    /// Says what the command is to replicas instead of itself.
    pub(crate) fn rewrite(&mut self, command: &[&[u8]]) {
        self.rewritten = Some(vec![words(command)]);
    }
}

/// A string's content in its canonical form.
pub(crate) fn text_content(bytes: Vec<u8>) -> Content {
    match Value::from_text(&bytes) {
        Some(value) => Content::Value(value),
        None => Content::Object(Box::new(Object::Text(bytes))),
    }
}

/// Words that own their bytes.
pub(crate) fn words(parts: &[&[u8]]) -> Vec<Vec<u8>> {
    parts.iter().map(|part| part.to_vec()).collect()
}

/// Whole milliseconds of a clock in microseconds.
pub(crate) fn millis(micros: u64) -> i64 {
    i64::try_from(micros / 1000).unwrap_or(i64::MAX)
}
