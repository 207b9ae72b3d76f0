//! Which clock decides what: the wall clock for what lasts, the monotonic one for timers.

use crate::*;

/// Two clocks, in milliseconds.
struct Clocks {
    wall: u64,
    monotonic: u64,
}

impl Clock for Clocks {
    fn wall_micros(&self) -> u64 {
        self.wall * 1000
    }

    fn monotonic_micros(&self) -> u64 {
        self.monotonic * 1000
    }

    fn spend(&mut self, _: u64) {}
}

struct Server {
    engine: Engine,
    clocks: Clocks,
}

impl Server {
    /// Starts an empty server with these parameters.
    fn new(parameters: &[(&str, &str)]) -> Self {
        let mut engine = Engine::new();
        for (name, value) in parameters {
            engine.configure(name, value).unwrap();
        }
        let mut server = Self { engine, clocks: Clocks { wall: 1_000_000, monotonic: 0 } };
        server.start();
        server.tick(100);
        server
    }

    fn start(&mut self) {
        self.engine.start(&mut self.clocks, &mut Effects::new());
    }

    fn step(&mut self, input: Input) -> Vec<Effect> {
        let mut effects = Effects::new();
        self.engine.step(input, &mut self.clocks, &mut effects);
        effects.list
    }

    /// Both clocks go on by this many milliseconds, and a tick follows.
    fn tick(&mut self, millis: u64) -> Vec<Effect> {
        self.clocks.wall += millis;
        self.clocks.monotonic += millis;
        self.step(Input::Tick)
    }

    fn send(&mut self, line: &str) -> Vec<Effect> {
        let words = line.split(' ').map(|word| word.as_bytes().to_vec()).collect();
        self.step(Input::Request { connection: ConnectionId(1), words })
    }

    fn keys(&self) -> usize {
        self.engine.databases[0].len()
    }
}

#[test]
fn a_step_of_the_wall_clock_does_not_call_the_timers() {
    let mut server = Server::new(&[]);
    server.send("SET k v PX 1000");
    server.clocks.wall += 3_600_000;
    server.tick(1);
    assert_eq!(server.keys(), 1, "the cycle of active expiry is not due");
    server.tick(100);
    assert_eq!(server.keys(), 0);
}

#[test]
fn nothing_expires_while_data_are_loaded() {
    let parameters = [("appendonly", "yes"), ("appendfsync", "no"), ("key-load-delay", "900000")];
    let mut server = Server::new(&parameters);
    server.send("SET k v PX 50");
    server.engine.kill();
    server.start();
    server.tick(800);
    assert_eq!(server.keys(), 1);
    server.tick(200);
    assert_eq!(server.keys(), 0);
}

#[test]
fn idle_clients_are_closed_by_the_wall_clock() {
    let mut server = Server::new(&[("timeout", "30")]);
    server.send("PING");
    server.clocks.wall += 60_000;
    let effects = server.tick(1);
    assert!(effects.contains(&Effect::Close(ConnectionId(1))));
}

#[test]
fn a_shutdown_waits_for_replicas_by_the_wall_clock() {
    let mut server = Server::new(&[]);
    let position = None;
    let sync = FromReplica::Sync(SyncRequest { position, peer: Peer(2), failover: false });
    server.step(Input::FromReplica { link: LinkId(1), said: sync });
    server.step(Input::FromReplica { link: LinkId(1), said: FromReplica::Acknowledge(0) });
    server.send("SET k v");
    let exits = |effects: &[Effect]| effects.contains(&Effect::Exit);
    assert!(!exits(&server.step(Input::Terminate)), "the replica has not got the write");
    assert!(!exits(&server.tick(9_000)));
    server.clocks.wall += 2_000;
    assert!(exits(&server.tick(1)));
}
