//! Scripts: what no script can escape, and single traits that the corpus does not show.

mod limits;
mod traits;
mod twins;

use crate::*;

/// A clock that stands but for what is spent.
struct Standing(u64);

impl Standing {
    /// A clock at this unix time in milliseconds.
    const fn at(millis: u64) -> Self {
        Self((millis * 1_000).wrapping_sub(START))
    }
}

const START: u64 = 1_700_000_000_000_000;

impl Clock for Standing {
    fn wall_micros(&self) -> u64 {
        START.wrapping_add(self.0)
    }

    fn monotonic_micros(&self) -> u64 {
        self.0
    }

    fn spend(&mut self, micros: u64) {
        self.0 += micros;
    }
}

/// A server with an interpreter that is used again and again.
struct Server {
    engine: Engine,
    interpreter: Interpreter,
    clock: Standing,
}

impl Server {
    fn new(version: Version, limits: ScriptLimits) -> Self {
        let mut engine = Engine::new();
        engine.config_mut().version = version;
        engine.config_mut().script_limits = limits;
        Self { engine, interpreter: Interpreter::new(), clock: Standing(0) }
    }

    /// Sends a request and gives all that comes back, as RESP2 text.
    fn send(&mut self, words: &[&[u8]]) -> String {
        let words = words.iter().map(|word| word.to_vec()).collect();
        let input = Input::Request { connection: ConnectionId(1), words };
        let mut effects = Effects::new();
        let Self { engine, interpreter, clock } = self;
        engine.step_with(interpreter, input, clock, &mut effects);
        let mut bytes = Vec::new();
        for effect in effects.list {
            if let Effect::Send { protocol, frame, .. } = effect {
                frame.encode(protocol, &mut bytes);
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn eval(&mut self, script: &str) -> String {
        self.send(&[b"EVAL", script.as_bytes(), b"0"])
    }
}

/// Runs a script as a simulation does.
fn eval(script: &str) -> String {
    Server::new(Version::Redis70, ScriptLimits::SCENARIO).eval(script)
}
