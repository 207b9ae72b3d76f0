//! Entry points for fuzzing: each takes any bytes and must neither panic nor grow without bound.

use crate::{Clock, ConnectionId, Effects, Engine, Input, RequestParser};

/// A clock that moves a little with every look.
struct Steady(u64);

impl Clock for Steady {
    fn wall_micros(&self) -> u64 {
        1_700_000_000_000_000 + self.0
    }

    fn monotonic_micros(&self) -> u64 {
        self.0
    }

    fn spend(&mut self, micros: u64) {
        self.0 += micros;
    }
}

/// Parses the bytes as what a client sends and runs every request that comes out.
pub fn requests(bytes: &[u8]) {
    let mut parser = RequestParser::default();
    parser.feed(bytes);
    let (mut engine, mut clock) = (Engine::new(), Steady(0));
    while let Ok(Some(words)) = parser.next_request() {
        let mut effects = Effects::new();
        let input = Input::Request { connection: ConnectionId(1), words };
        engine.step(input, &mut clock, &mut effects);
        clock.spend(1000);
        engine.step(Input::Tick, &mut clock, &mut effects);
    }
}
