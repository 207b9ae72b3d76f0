//! A server process in virtual time: its engine, its clocks, and what waits at its door.

use std::collections::VecDeque;

use fencepost_redis::{Clock, Config, Effect, Effects, Engine, Input, Version};

/// The unix time at which every case starts, in microseconds.
pub(crate) const START: u64 = 1_796_073_000_000_000;
/// How long an fsync takes by itself, in microseconds.
const FSYNC: u64 = 300;
/// How long a child takes to write a snapshot or an append-only file, in microseconds.
const CHILD: u64 = 10_000;
/// The fsyncs of a first start with an append-only file: its base, its manifest twice.
const FIRST_FSYNCS: u64 = 3;

/// The clocks of one server's machine.
pub(crate) struct Clocks {
    /// Microseconds since the start.
    monotonic: u64,
    /// How far the wall clock has been stepped, in milliseconds.
    step: i64,
    pub(crate) spent: u64,
}

impl Clock for Clocks {
    fn wall_micros(&self) -> u64 {
        (START + self.monotonic_micros()).saturating_add_signed(self.step * 1000)
    }

    fn monotonic_micros(&self) -> u64 {
        self.monotonic + self.spent
    }

    fn spend(&mut self, micros: u64) {
        self.spent += micros;
    }
}

/// What a process does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// It runs.
    Up,
    /// SIGSTOP: its kernel goes on.
    Stopped,
    /// There is none.
    Down,
}

/// A server.
pub(crate) struct Node {
    pub(crate) engine: Engine,
    pub(crate) state: State,
    /// How far its wall clock has been stepped, in milliseconds.
    pub(crate) step: i64,
    /// The server it was configured to follow.
    pub(crate) master: Option<String>,
    /// Whether snapshots fail.
    pub(crate) cannot_save: bool,
    options: Vec<(String, String)>,
    version: Version,
    /// What an fsync takes longer, in microseconds.
    slow_fsync: u64,
    is_new: bool,
    /// Requests and messages that have arrived and are not read.
    inbox: VecDeque<Input>,
    /// When fsyncs and children end.
    timers: Vec<(u64, Input)>,
    /// Until when the whole server waits for an fsync, and what leaves it then.
    held: Option<(u64, Vec<Effect>)>,
}

impl Node {
    /// Makes a server with the arguments of `@node` that are its own.
    pub(crate) fn new(version: Version, seed: u64, arguments: &[String]) -> Result<Self, String> {
        let mut engine = Engine::new();
        engine.seed_replication(seed);
        let mut node = Self {
            engine,
            state: State::Down,
            step: 0,
            master: None,
            cannot_save: false,
            options: vec![("repl-ping-replica-period".into(), "1".into())],
            version,
            slow_fsync: 0,
            is_new: true,
            inbox: VecDeque::new(),
            timers: Vec::new(),
            held: None,
        };
        node.add_options(arguments)?;
        Ok(node)
    }

    /// Takes more options for the next start.
    pub(crate) fn add_options(&mut self, arguments: &[String]) -> Result<(), String> {
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            if argument == "wallclock" {
            } else if let Some(millis) = argument.strip_prefix("slowsync=") {
                self.slow_fsync = millis.parse::<u64>().map_err(|error| error.to_string())? * 1000;
            } else if let Some(master) = argument.strip_prefix("replicaof=") {
                self.master = Some(master.into());
            } else if let Some(option) = argument.strip_prefix("--") {
                let value = rest.next().ok_or("an option without value")?;
                self.options.push((option.into(), value.clone()));
            } else {
                return Err(format!("{argument} is not modelled"));
            }
        }
        Ok(())
    }

    pub(crate) fn add_option(&mut self, name: &str, value: &str) {
        self.options.push((name.into(), value.into()));
    }

    /// Starts the process; gives what leaves it and how long the start takes in microseconds.
    pub(crate) fn start(&mut self, now: u64) -> (Vec<Effect>, u64) {
        *self.engine.config_mut() = Config::default();
        self.engine.config_mut().version = self.version;
        for (name, value) in &self.options {
            self.engine.configure(name, value).unwrap();
        }
        let mut effects = Effects::new();
        let micros = self.engine.start(&mut self.clocks(now), &mut effects);
        self.engine.health_mut().cannot_save = self.cannot_save;
        self.state = State::Up;
        let logs = self.engine.disk().is_some_and(|disk| disk.fsync().is_some());
        let first = if std::mem::take(&mut self.is_new) && logs { FIRST_FSYNCS } else { 0 };
        (effects.list, micros + first * self.slow_fsync)
    }

    /// Ends the process: with it go its memory and whatever has not left it.
    pub(crate) fn end(&mut self) {
        self.engine.kill();
        self.state = State::Down;
        self.inbox.clear();
        self.timers.clear();
        self.held = None;
    }

    pub(crate) fn is_loading(&self, now: u64) -> bool {
        self.engine.is_loading(&self.clocks(now))
    }

    fn clocks(&self, now: u64) -> Clocks {
        Clocks { monotonic: now, step: self.step, spent: 0 }
    }

    /// Something arrives.
    pub(crate) fn push(&mut self, input: Input) {
        if self.state != State::Down {
            self.inbox.push_back(input);
        }
    }

    /// Does what is due, then reads everything that has arrived. Gives what leaves the server and
    /// how much time it computed.
    pub(crate) fn run(&mut self, now: u64, ticks: bool) -> (Vec<Effect>, u64) {
        let (mut left, mut spent) = (Vec::new(), 0);
        if self.state != State::Up {
            return (left, spent);
        }
        if let Some((until, effects)) = self.held.take() {
            if now < until {
                self.held = Some((until, effects));
                return (left, spent);
            }
            self.inbox.push_front(Input::FsyncEnded);
            left.extend(effects);
        }
        while let Some(at) = self.timers.iter().position(|(due, _)| *due <= now) {
            let (_, input) = self.timers.remove(at);
            self.inbox.push_front(input);
        }
        if ticks {
            self.inbox.push_back(Input::Tick);
        }
        while self.held.is_none()
            && let Some(input) = self.inbox.pop_front()
        {
            let mut clocks = self.clocks(now + spent);
            let mut effects = Effects::new();
            self.engine.step(input, &mut clocks, &mut effects);
            spent += clocks.spent;
            self.note(effects.list, now + spent, &mut left);
        }
        (left, spent)
    }

    /// Keeps what concerns the server's own machine; the rest leaves, at once or after an fsync.
    fn note(&mut self, effects: Vec<Effect>, now: u64, left: &mut Vec<Effect>) {
        let fsync = now + FSYNC + self.slow_fsync;
        let mut outward = Vec::new();
        for effect in effects {
            if let Effect::Fsync { in_foreground: true } = effect {
                self.held = Some((fsync, Vec::new()));
            } else if let Effect::Fsync { .. } = effect {
                self.timers.push((fsync, Input::FsyncEnded));
            } else if effect == Effect::Snapshot {
                self.timers.push((now + CHILD, Input::SnapshotEnded));
            } else if effect == Effect::Rewrite {
                self.timers.push((now + CHILD, Input::RewriteEnded));
            } else {
                outward.push(effect);
            }
        }
        match &mut self.held {
            Some((_, held)) => held.extend(outward),
            None => left.extend(outward),
        }
    }
}
