//! The engine behind the same door as the real server: requests in, messages out.

use crate::conformance::replies;
use crate::servers::encoded;
use anyhow::{Result, ensure};
use fencepost_redis::{
    ConnectionId, Effect, Effects, Engine, Input, RequestParser, StandingClock, Version,
};
use std::collections::BTreeMap;

/// An engine and what it has sent.
#[derive(Clone)]
pub(super) struct Model {
    engine: Engine,
    inboxes: BTreeMap<u64, Inbox>,
    next: u64,
}

#[derive(Clone, Default)]
struct Inbox {
    bytes: Vec<u8>,
    closed: bool,
}

impl Model {
    /// Makes an engine of a version that keeps dead keys until they are touched, as the real
    /// server is told to, and whose client ids start at this number.
    pub(super) fn new(version: Version, first_client: i64) -> Result<Self> {
        let mut engine = Engine::new();
        engine.config_mut().version = version;
        engine.configure("enable-debug-command", "yes")?;
        let mut model = Self { engine, inboxes: BTreeMap::new(), next: 0 };
        let own = model.connect();
        let words = ["DEBUG", "SET-ACTIVE-EXPIRE", "0"];
        let words = words.map(|word| word.as_bytes().to_vec());
        model.request(own, &words, 0);
        ensure!(model.take(own) == [["+OK"]], "the engine does not stop its active expiry");
        model.close(own, 0);
        for _ in 2..first_client {
            let client = model.connect();
            model.request(client, &[b"PING".to_vec()], 0);
            model.close(client, 0);
        }
        model.inboxes.clear();
        Ok(model)
    }

    /// Tells whether the engine can run scripts.
    pub(super) fn has_scripts(&self) -> bool {
        let mut trial = self.clone();
        let client = trial.connect();
        let words = ["EVAL", "return 1", "0"].map(|word| word.as_bytes().to_vec());
        trial.request(client, &words, 0);
        trial.take(client) == [[":1"]]
    }

    /// Gives a new connection.
    pub(super) fn connect(&mut self) -> u64 {
        self.next += 1;
        self.inboxes.insert(self.next, Inbox::default());
        self.next
    }

    /// Ends a connection from the client's side.
    pub(super) fn close(&mut self, client: u64, now: u64) {
        self.inboxes.remove(&client);
        self.step(Input::Disconnect { connection: ConnectionId(client) }, now);
    }

    /// Takes a request, by way of the bytes on the wire.
    pub(super) fn request(&mut self, client: u64, words: &[Vec<u8>], now: u64) {
        let mut parser = RequestParser::default();
        parser.feed(&encoded(words));
        while let Ok(Some(words)) = parser.next_request() {
            self.step(Input::Request { connection: ConnectionId(client), words }, now);
        }
    }

    /// Lets the event loop's timer tick.
    pub(super) fn tick(&mut self, now: u64) {
        self.step(Input::Tick, now);
    }

    fn step(&mut self, input: Input, now: u64) {
        let (mut clock, mut effects) = (StandingClock(now), Effects::new());
        self.engine.step(input, &mut clock, &mut effects);
        while effects.busy {
            effects.busy = false;
            self.engine.step(Input::Resume, &mut clock, &mut effects);
        }
        // Its log and its replicas are nobody's business here.
        for effect in effects.list {
            if let Effect::Send { connection, protocol, frame } = effect {
                if let Some(inbox) = self.inboxes.get_mut(&connection.0) {
                    frame.encode(protocol, &mut inbox.bytes);
                }
            } else if let Effect::Close(connection) = effect
                && let Some(inbox) = self.inboxes.get_mut(&connection.0)
            {
                inbox.closed = true;
            }
        }
    }

    /// Takes what a connection has got; `(closed)` is the last of it.
    pub(super) fn take(&mut self, client: u64) -> Vec<Vec<String>> {
        let Some(inbox) = self.inboxes.get_mut(&client) else { return Vec::new() };
        let mut messages = Vec::new();
        while let Some(lines) = replies::decode(&mut inbox.bytes) {
            messages.push(lines);
        }
        if std::mem::take(&mut inbox.closed) {
            messages.push(vec!["(closed)".to_owned()]);
        }
        messages
    }
}
