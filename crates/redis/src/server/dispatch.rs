//! From a request to a reply: the order of refusals, queueing, the call, and what follows it.

use super::{Connection, Context, Origin, Refusal, ReplyMode};
use crate::{
    commands::{self, Flags, Spec},
    effects::{ConnectionId, Effect, Operation},
    engine::Role,
    frame::Frame,
    reply::ErrorCode,
};

/// What became of a request.
enum Verdict {
    /// It was refused or queued.
    Reply(Frame),
    /// It was carried out.
    Ran(Frame),
    /// A pause holds it back.
    Postponed,
}

impl Context<'_> {
    /// Takes a request, runs it and everything it lets run.
    pub(crate) fn receive(&mut self, connection: ConnectionId, words: Vec<Vec<u8>>) {
        if words.is_empty() {
            return;
        }
        let is_busy = self.is_busy();
        let server = &mut self.engine.server;
        let next = &mut server.next_client;
        let entry = server.connections.entry(connection).or_insert_with(|| {
            *next += 1;
            Connection { client: *next - 1, ..Connection::default() }
        });
        entry.last_seen = self.frozen;
        let is_waiting = entry.blocked.is_some() || !entry.waiting.is_empty();
        let waits_for_script =
            is_busy && (self.runs_script(connection) || !self.is_over_threshold());
        if is_waiting || waits_for_script {
            self.connection = connection;
            self.me().waiting.push_back(words);
            return;
        }
        if is_busy {
            self.answer_while_busy(connection, words);
            return;
        }
        if !self.top_level(connection, words) {
            let turn = self.engine.server.take_turn();
            self.me().turn = turn;
        }
        self.finish();
    }

    /// Forgets a connection that has ended.
    pub(crate) fn forget(&mut self, connection: ConnectionId) {
        self.is_busy();
        self.engine.server.connections.remove(&connection);
    }

    /// Closes a connection from this side.
    pub(crate) fn close(&mut self, connection: ConnectionId) {
        if self.engine.server.connections.remove(&connection).is_some() {
            self.out.list.push(Effect::Close(connection));
        }
    }

    /// Runs one request of a client; false if it has to wait.
    pub(super) fn top_level(&mut self, connection: ConnectionId, words: Vec<Vec<u8>>) -> bool {
        self.connection = connection;
        self.origin = Origin::Client;
        self.freeze();
        let started = self.clock.monotonic_micros();
        self.database = self.me().database;
        match self.process(&words) {
            Verdict::Postponed => {
                self.me().waiting.push_front(words);
                return false;
            }
            Verdict::Reply(frame) => self.reply(frame),
            Verdict::Ran(frame) => match self.suspend(started, frame) {
                Some(frame) => self.complete(frame),
                None => return true,
            },
        }
        if words[0].eq_ignore_ascii_case(b"quit") || std::mem::take(&mut self.leaves) {
            self.close(connection);
        }
        true
    }

    /// Ends a command that has run: its reply, and how far the stream has come with it.
    pub(super) fn complete(&mut self, frame: Frame) {
        self.reply(frame);
        self.propagate();
        let (connection, offset) = (self.connection, self.engine.server.replication.offset());
        if let Some(me) = self.engine.server.connections.get_mut(&connection) {
            me.offset = offset;
        }
    }

    /// Sends the reply of the present command, unless its client wants none.
    fn reply(&mut self, frame: Frame) {
        let connection = self.connection;
        let Some(me) = self.engine.server.connections.get_mut(&connection) else { return };
        match me.reply_mode {
            ReplyMode::On => {
                if frame != Frame::Several(Vec::new()) {
                    self.send(connection, frame);
                }
            }
            // Subscriptions are confirmed all the same (`src/pubsub.c`, CLIENT_PUSHING).
            ReplyMode::Off if frame.is_pushed() => self.send(connection, frame),
            ReplyMode::Off => {}
            ReplyMode::SkipNext => me.reply_mode = ReplyMode::Skip,
            ReplyMode::Skip => {
                me.reply_mode = ReplyMode::On;
                if frame.is_pushed() {
                    self.send(connection, frame);
                }
            }
        }
    }

    fn process(&mut self, words: &[Vec<u8>]) -> Verdict {
        let spec = match commands::resolve(self.version(), words) {
            Ok(spec) => spec,
            Err(refusal) => return self.refuse(None, refusal),
        };
        if let Err(refusal) = self.admit(spec, words) {
            return self.refuse(Some(spec), refusal);
        }
        if self.is_held(spec) {
            return Verdict::Postponed;
        }
        if !spec.has(Flags::IMMEDIATE) && self.me().queue.is_some() {
            let words = words.to_vec();
            self.me().queue.get_or_insert_default().push(words);
            return Verdict::Reply(Frame::Simple("QUEUED".into()));
        }
        Verdict::Ran(self.call(spec, words))
    }

    /// Refuses a request; a transaction that was being queued is spoiled.
    fn refuse(&mut self, spec: Option<&Spec>, Refusal(text): Refusal) -> Verdict {
        let me = self.me();
        if spec.is_some_and(|spec| spec.name == "exec") {
            me.discard();
            let text = text.strip_prefix("ERR ").unwrap_or(&text);
            let text = format!("EXECABORT Transaction discarded because of: {text}");
            return Verdict::Reply(Frame::Error(text.into()));
        }
        me.spoiled |= me.queue.is_some();
        Verdict::Reply(Frame::Error(text))
    }

    /// Checks all reasons to refuse, in the server's order (`src/server.c:processCommand`).
    fn admit(&mut self, spec: &Spec, words: &[Vec<u8>]) -> Result<(), Refusal> {
        spec.check_arity(words)?;
        if self.version().is_valkey() && spec.name == "client|reply" && self.me().queue.is_some() {
            let text = "ERR Command 'client|reply' not allowed inside a transaction";
            return Err(Refusal(text.into()));
        }
        let locked = self.engine.server.config.password().is_some();
        if locked && !self.me().authenticated && !spec.has(Flags::NO_AUTH) {
            return Err(Refusal("NOAUTH Authentication required.".into()));
        }
        if spec.has(Flags::NO_MULTI) && self.me().queue.is_some() {
            return Err("ERR Command not allowed inside a transaction".into());
        }
        let writes = spec.has(Flags::WRITE) || (spec.name == "exec" && self.queue_writes());
        let health = self.engine.server.health_now();
        if writes && self.engine.role == Role::Master {
            let needs_memory = spec.has(Flags::DENY_OOM);
            if let Some(code) = health.refuses_write(needs_memory) {
                return Err(code.into());
            }
        }
        if health.misconf && spec.name == "ping" {
            return Err(ErrorCode::Misconf.into());
        }
        if writes && self.engine.is_read_only() {
            return Err(ErrorCode::ReadOnly.into());
        }
        if self.me().only_subscribes() && !spec.has(Flags::SUBSCRIBED) {
            return Err(Refusal(
                format!(
                    "ERR Can't execute '{}': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT \
                     / RESET are allowed in this context",
                    spec.name
                )
                .into(),
            ));
        }
        if health.master_down && !spec.has(Flags::STALE) {
            return Err(ErrorCode::MasterDown.into());
        }
        if health.loading && !spec.has(Flags::LOADING) {
            return Err(ErrorCode::Loading.into());
        }
        if self.engine.server.running.is_some() && !spec.has(Flags::BUSY) {
            return Err(self.busy());
        }
        Ok(())
    }

    /// Tells whether a command queued since MULTI writes.
    fn queue_writes(&mut self) -> bool {
        let version = self.version();
        let Some(queue) = &self.me().queue else { return false };
        queue
            .iter()
            .any(|words| commands::resolve(version, words).is_ok_and(|spec| spec.has(Flags::WRITE)))
    }

    /// Tells whether CLIENT PAUSE holds the command back.
    fn is_held(&mut self, spec: &Spec) -> bool {
        let Some(pause) = self.engine.server.pause_at(self.frozen) else { return false };
        if spec.name.starts_with("client|") {
            return false;
        }
        let replicates = spec.has(Flags::WRITE)
            || spec.has(Flags::MAY_REPLICATE)
            || (spec.name == "exec" && self.queue_writes());
        !pause.writes_only || replicates
    }

    /// Runs a command and notes what it is to the replicas.
    pub(crate) fn call(&mut self, spec: &Spec, words: &[Vec<u8>]) -> Frame {
        let outer = std::mem::take(&mut self.dirty);
        let outer_rewritten = self.rewritten.take();
        let frame = match (spec.run)(self, words) {
            Ok(frame) => frame,
            Err(Refusal(text)) => Frame::Error(text),
        };
        let rewritten = std::mem::replace(&mut self.rewritten, outer_rewritten);
        if self.dirty > 0 && spec.has(Flags::WRITE) {
            let database = self.database;
            for words in rewritten.unwrap_or_else(|| vec![words.to_vec()]) {
                self.engine.server.pending.push(Operation { database, words });
            }
        }
        self.dirty += outer;
        frame
    }

    /// Ends a top-level command: tells replicas, serves blocked clients, lets waiting requests run.
    pub(crate) fn finish(&mut self) {
        loop {
            if self.engine.server.running.is_some() {
                return;
            }
            self.propagate();
            if self.serve_ready() {
                continue;
            }
            let Some(connection) = self.next_waiting() else { return };
            let words = self
                .engine
                .server
                .connections
                .get_mut(&connection)
                .and_then(|waiter| waiter.waiting.pop_front());
            if let Some(words) = words
                && !self.top_level(connection, words)
            {
                return;
            }
        }
    }

    /// The connection whose turn it is to go on with a waiting request.
    fn next_waiting(&self) -> Option<ConnectionId> {
        let server = &self.engine.server;
        let now = self.wall();
        let pause = server.pause_at(now);
        if pause.is_some_and(|pause| !pause.writes_only) {
            return None;
        }
        let version = server.config.version;
        let free = |(_, connection): &(_, &Connection)| {
            connection.blocked.is_none()
                && connection.waiting.front().is_some_and(|words| {
                    pause.is_none()
                        || commands::resolve(version, words).is_ok_and(|spec| {
                            !spec.has(Flags::WRITE) && !spec.has(Flags::MAY_REPLICATE)
                        })
                })
        };
        let waiting = server.connections.iter().filter(free);
        waiting.min_by_key(|(_, connection)| connection.turn).map(|(&id, _)| id)
    }

    /// Hands over what the command has to say to the replicas.
    fn propagate(&mut self) {
        let operations = std::mem::take(&mut self.engine.server.pending);
        if !operations.is_empty() {
            self.stream(&operations);
            self.store(&operations);
            self.out.list.push(Effect::Propagate(operations));
        }
        let changes = std::mem::take(&mut self.dirty);
        self.count_changes(changes);
    }

    /// Carries out a command of the replication stream.
    pub(crate) fn apply(&mut self, operation: &Operation) {
        self.origin = Origin::Master;
        self.database = operation.database;
        if let Ok(spec) = commands::resolve(self.version(), &operation.words) {
            self.call(spec, &operation.words);
        }
        let changes = std::mem::take(&mut self.dirty);
        self.count_changes(changes);
        self.engine.server.pending.clear();
    }
}

/// Runs a command for a script, which costs 2 µs of the server's time.
///
/// The frame is an error for whatever a script may not do; its text is the one the script sees.
#[cfg(feature = "lua")]
pub(crate) fn call_from_script(cx: &mut Context<'_>, words: &[Vec<u8>], read_only: bool) -> Frame {
    let refused = |text: &'static str| Frame::Error(text.into());
    let is_valkey = cx.version().is_valkey();
    let Ok(spec) = commands::resolve(cx.version(), words) else {
        return refused(if is_valkey {
            "ERR Unknown command called from script"
        } else {
            "ERR Unknown Redis command called from script"
        });
    };
    if spec.check_arity(words).is_err() {
        return refused(if is_valkey {
            "ERR Wrong number of args calling command from script"
        } else {
            "ERR Wrong number of args calling Redis command from script"
        });
    }
    let blocking = spec.has(Flags::BLOCKING) && !cx.version().freezes_time();
    if spec.has(Flags::NO_SCRIPT) && !spec.has(Flags::BLOCKING) || blocking {
        return refused(if is_valkey {
            "ERR This Valkey command is not allowed from script"
        } else {
            "ERR This Redis command is not allowed from script"
        });
    }
    if read_only && (spec.has(Flags::WRITE) || spec.has(Flags::MAY_REPLICATE)) {
        return refused("ERR Write commands are not allowed from read-only scripts.");
    }
    if spec.has(Flags::WRITE) {
        if cx.engine.is_read_only() {
            return refused(ErrorCode::ReadOnly.text());
        }
        let health = cx.engine.server.health_now();
        if let Some(code) = health.refuses_write(spec.has(Flags::DENY_OOM)) {
            return refused(code.text());
        }
    }
    let outer = std::mem::replace(&mut cx.origin, Origin::Script);
    cx.spend(2);
    let frame = cx.call(spec, words);
    cx.origin = outer;
    frame
}
