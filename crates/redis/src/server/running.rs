//! A script that has not ended yet: what others get in the meantime, and how it is killed.
//!
//! A script is computed to its end in the step that starts it, since nobody can see its effects
//! before: others wait, or are told that the server is busy. What the step gives back is the first
//! slice of virtual time; the rest is kept here until the clock has come that far. A script that
//! uses up its instructions is taken to never end.

use super::{Context, Refusal};
use crate::{
    effects::{ConnectionId, Effect},
    engine::DATABASES,
    frame::Frame,
    keyspace::Database,
};

/// How long a command may take before a step ends without it, in microseconds.
#[cfg(feature = "lua")]
pub(crate) const SLICE: u64 = 1_000;

/// What the present top-level command has run ahead of the clock.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ahead {
    /// The time the clock has not been told of, in microseconds.
    pub(crate) micros: u64,
    /// The time the clock has been told of.
    #[cfg(feature = "lua")]
    spent: u64,
    /// Whether the command never ends.
    pub(crate) endless: bool,
    /// What its client gets if the script is killed.
    pub(crate) killed: String,
    /// When it wrote first, by the monotonic clock.
    pub(crate) first_write: Option<u64>,
    /// What was in the databases before a first write that comes after the first slice.
    pub(crate) undo: Option<Box<[Database; DATABASES]>>,
    /// What left the server after the first slice, and when.
    pub(crate) late: Vec<(u64, Effect)>,
}

/// A command that has been computed and whose time has not passed yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Running {
    connection: ConnectionId,
    /// When it started, by the monotonic clock.
    started: u64,
    /// When it ends; a script that does not end has no such time.
    ends: Option<u64>,
    reply: Frame,
    killed: String,
    first_write: Option<u64>,
    undo: Option<Box<[Database; DATABASES]>>,
    late: Vec<(u64, Effect)>,
}

impl Context<'_> {
    /// Lets time pass; what exceeds the slice of a step is kept back from the clock.
    #[cfg(feature = "lua")]
    pub(crate) fn spend(&mut self, micros: u64) {
        let now = micros.min(SLICE.saturating_sub(self.ahead.spent));
        self.clock.spend(now);
        self.ahead.spent += now;
        self.ahead.micros += micros - now;
    }

    /// Keeps a command for later that takes longer than a step may; gives back the others' reply.
    pub(super) fn suspend(&mut self, started: u64, reply: Frame) -> Option<Frame> {
        let ahead = std::mem::take(&mut self.ahead);
        if ahead.micros == 0 && !ahead.endless {
            return Some(reply);
        }
        let now = self.clock.monotonic_micros();
        self.engine.server.running = Some(Box::new(Running {
            connection: self.connection,
            started,
            ends: (!ahead.endless).then_some(now + ahead.micros),
            reply,
            killed: ahead.killed,
            first_write: ahead.first_write,
            undo: ahead.undo,
            late: ahead.late,
        }));
        None
    }

    /// Ends the running script if its time has come; tells whether one still runs.
    pub(super) fn is_busy(&mut self) -> bool {
        let now = self.clock.monotonic_micros();
        let Some(running) = &mut self.engine.server.running else { return false };
        let due = running.late.iter().take_while(|(at, _)| *at <= now).count();
        self.out.list.extend(running.late.drain(..due).map(|(_, effect)| effect));
        if running.ends.is_some_and(|ends| ends <= now) {
            if let Some(running) = self.engine.server.running.take() {
                self.connection = running.connection;
                self.complete(running.reply);
                self.finish();
            }
            return self.engine.server.running.is_some();
        }
        if self.is_over_threshold() {
            self.refuse_waiting();
        }
        self.engine.server.running.is_some()
    }

    /// Tells whether others are answered while the script runs, instead of waiting.
    pub(super) fn is_over_threshold(&self) -> bool {
        let Some(running) = &self.engine.server.running else { return false };
        let threshold = self.engine.server.config.get("busy-reply-threshold");
        let millis = threshold.and_then(|text| text.parse::<u64>().ok()).unwrap_or(5_000);
        let runs = self.clock.monotonic_micros().saturating_sub(running.started);
        runs >= millis.saturating_mul(1_000)
    }

    /// Tells whether the connection is the one whose script runs.
    pub(super) fn runs_script(&self, connection: ConnectionId) -> bool {
        let running = self.engine.server.running.as_ref();
        running.is_some_and(|running| running.connection == connection)
    }

    /// Answers those who have waited for the script so far.
    fn refuse_waiting(&mut self) {
        let connections = self.engine.server.connections.iter();
        let waiting = connections.filter(|(_, connection)| connection.blocked.is_none());
        let waiting: Vec<_> = waiting.map(|(id, _)| *id).collect();
        for id in waiting.into_iter().filter(|id| !self.runs_script(*id)).collect::<Vec<_>>() {
            while let Some(words) = self
                .engine
                .server
                .connections
                .get_mut(&id)
                .and_then(|connection| connection.waiting.pop_front())
            {
                self.answer_while_busy(id, words);
            }
        }
    }

    /// Answers a request while a script runs for too long.
    pub(super) fn answer_while_busy(&mut self, connection: ConnectionId, words: Vec<Vec<u8>>) {
        self.top_level(connection, words);
        let now = self.clock.monotonic_micros();
        let running = self.engine.server.running.as_ref();
        if running.is_some_and(|running| running.ends.is_some_and(|ends| ends <= now)) {
            self.is_busy();
        }
    }

    /// Ends the running script, unless it has written.
    #[cfg(feature = "lua")]
    pub(crate) fn kill_script(&mut self) -> Result<(), Refusal> {
        let now = self.clock.monotonic_micros();
        let Some(running) = &mut self.engine.server.running else {
            return Err("NOTBUSY No scripts in execution right now.".into());
        };
        if running.first_write.is_some_and(|first| first <= now) {
            return Err("UNKILLABLE Sorry the script already executed write commands against the \
                        dataset. You can either wait the script termination or kill the server \
                        in a hard way using the SHUTDOWN NOSAVE command."
                .into());
        }
        running.ends = Some(now);
        running.late.clear();
        running.reply = Frame::Error(std::mem::take(&mut running.killed).into());
        if let Some(databases) = running.undo.take() {
            self.engine.databases = *databases;
            self.engine.server.pending.clear();
        }
        Ok(())
    }

    /// Runs something in the caller's interpreter, or in one made for the purpose.
    #[cfg(feature = "lua")]
    pub(crate) fn with_interpreter<T>(
        &mut self,
        run: impl FnOnce(&mut crate::Interpreter, &mut Self) -> T,
    ) -> T {
        if let Some(interpreter) = self.interpreter.take() {
            let result = run(interpreter, self);
            self.interpreter = Some(interpreter);
            result
        } else {
            run(&mut crate::Interpreter::new(), self)
        }
    }

    /// The error of EVALSHA for a digest that is not known.
    #[cfg(feature = "lua")]
    pub(crate) fn no_script(&self) -> Refusal {
        if self.version().is_valkey() {
            "NOSCRIPT No matching script.".into()
        } else {
            crate::reply::ErrorCode::NoScript.into()
        }
    }

    /// The error while a script runs for too long.
    pub(super) fn busy(&self) -> Refusal {
        if self.version().is_valkey() {
            "BUSY Valkey is busy running a script. You can only call SCRIPT KILL or SHUTDOWN \
             NOSAVE."
                .into()
        } else {
            crate::reply::ErrorCode::Busy.into()
        }
    }
}
