//! The door by which a simulation runs a user's script: interned keys in, and what became of one
//! of them out.

use super::{Call, Interpreter, ScriptLimits, digest, host::Tracked};
use crate::{
    effects::{Effect, Effects, Operation, StandingClock},
    engine::Engine,
    frame::Frame,
    names::KeyId,
    reply::Change,
    server::Context,
};

/// A user's script and its digest.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Script {
    source: Vec<u8>,
    digest: String,
}

impl Script {
    /// Takes a script's source.
    #[must_use]
    pub fn new(source: &str) -> Self {
        Self { source: source.as_bytes().to_vec(), digest: digest(source.as_bytes()) }
    }

    /// Gives the name by which EVALSHA calls it.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.digest
    }
}

/// What a command of a script did to the key that is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScriptChange {
    /// Whether the command found the key dead and removed it.
    pub expired: bool,
    /// What the command did.
    pub change: Change,
}

/// The reply of a script and what it did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptOutcome {
    /// What the client gets.
    pub reply: Frame,
    /// What its commands did to the key that is looked at, in order.
    pub changes: Vec<ScriptChange>,
    /// What the script is to replicas.
    pub operations: Vec<Operation>,
}

impl Engine {
    /// Runs a script of the user's in database 0 at this wall time of the server, in microseconds.
    ///
    /// `watched` is the key whose changes the outcome tells of.
    pub fn run_script(
        &mut self,
        interpreter: &mut Interpreter,
        script: &Script,
        keys: &[KeyId],
        arguments: &[Vec<u8>],
        watched: KeyId,
        wall_micros: u64,
    ) -> ScriptOutcome {
        let keys: Vec<Vec<u8>> = keys.iter().map(|key| self.names.text(key.0).to_vec()).collect();
        let (mut clock, mut out) = (StandingClock(wall_micros), Effects::new());
        let mut cx = Context::new(self, &mut clock, &mut out);
        cx.tracked = Some(Tracked { key: watched.0, changes: Vec::new() });
        let call = Call {
            digest: &script.digest,
            source: &script.source,
            keys: &keys,
            arguments,
            read_only: false,
            limits: ScriptLimits::SCENARIO,
        };
        let reply = interpreter.run(&mut cx, &call);
        let changes = cx.tracked.take().map(|tracked| tracked.changes).unwrap_or_default();
        let mut operations = std::mem::take(&mut cx.engine.server.pending);
        for effect in out.list {
            if let Effect::Propagate(more) = effect {
                operations.extend(more);
            }
        }
        ScriptOutcome { reply, changes, operations }
    }
}
