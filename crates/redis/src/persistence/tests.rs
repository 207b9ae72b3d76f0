//! What is there after a crash, by mode and by fault.

use proptest::prelude::*;

use super::{Disk, Flush, Fsync, Persistence, SavePoint, Saving};
use crate::{Command, Engine, KeyId, Value};

/// A wall time in the middle of a second.
const T: u64 = 1_800_000_000_500;
const A: KeyId = KeyId(0);
const B: KeyId = KeyId(1);

/// A server with its disk, as whoever drives one has it.
struct Server {
    engine: Engine,
    disk: Disk<Engine, Command>,
    now: u64,
}

impl Server {
    fn new(persistence: Persistence) -> Self {
        let engine = crate::tests::engine();
        let disk = Disk::new(&engine, persistence, T);
        Self { engine, disk, now: T }
    }

    fn with(fsync: Fsync) -> Self {
        Self::new(Persistence::append_only(fsync))
    }

    /// Carries out a command without ending the turn.
    fn run(&mut self, command: Command) {
        let outcome = self.engine.execute(&command, self.now);
        command.propagate(&outcome, self.now, |write| self.disk.write(write));
        self.disk.commit();
    }

    /// INCR of a key, and the end of the turn.
    fn count(&mut self, key: KeyId) -> Flush {
        self.run(Command::IncrBy { key, by: 1 });
        self.disk.turn_ended(self.now)
    }

    fn pass(&mut self, millis: u64) {
        self.now += millis;
    }

    fn restart(&mut self) {
        self.disk.start(&mut self.engine, self.now);
    }

    fn number(&self, key: KeyId) -> i64 {
        match self.engine.entry(key, self.now).and_then(|entry| entry.value) {
            Some(Value::Integer(number)) => number,
            _ => 0,
        }
    }
}

#[test]
fn without_persistence_everything_is_lost() {
    let mut server = Server::new(Persistence::NONE);
    assert_eq!(server.count(A), Flush::Done);
    server.disk.kill();
    server.restart();
    assert_eq!(server.number(A), 0);
}

#[test]
fn a_snapshot_takes_a_counter_back() {
    let mut server = Server::new(Persistence::snapshots());
    server.count(A);
    server.disk.begin_snapshot(&server.engine, server.now);
    server.count(A);
    server.disk.end_snapshot(true, server.now);
    assert_eq!(server.disk.changes(), 1, "what came after the fork is not in it");
    server.disk.kill();
    server.restart();
    assert_eq!(server.number(A), 1);
}

#[test]
fn a_snapshot_that_was_being_made_is_none() {
    for fails in [false, true] {
        let mut server = Server::new(Persistence::snapshots());
        server.count(A);
        server.disk.begin_snapshot(&server.engine, server.now);
        if fails {
            server.disk.end_snapshot(false, server.now);
            assert!(server.disk.snapshot_failed());
        }
        server.disk.kill();
        server.restart();
        assert_eq!(server.number(A), 0);
        assert!(!server.disk.snapshot_failed(), "a new process knows nothing of it");
    }
}

#[test]
fn a_save_point_counts_changes_and_wall_seconds() {
    let save_points = vec![SavePoint { seconds: 60, changes: 2 }];
    let mut server = Server::new(Persistence { append: None, save_points });
    server.count(A);
    server.pass(61_000);
    assert!(!server.disk.snapshot_is_due(server.now), "one change is too few");
    server.count(A);
    assert!(server.disk.snapshot_is_due(server.now));
    assert!(!server.disk.snapshot_is_due(server.now - 3_600_000), "a step back puts it off");
    server.disk.begin_snapshot(&server.engine, server.now);
    assert!(!server.disk.snapshot_is_due(server.now));
    server.disk.end_snapshot(false, server.now);
    assert!(!server.disk.snapshot_is_due(server.now + 5_000), "a failed one is not tried at once");
    assert!(server.disk.snapshot_is_due(server.now + 6_000));
}

#[test]
fn always_loses_nothing_that_was_answered() {
    let mut server = Server::with(Fsync::Always);
    assert_eq!(server.count(A), Flush::Foreground);
    server.disk.fsync_ended();
    server.disk.lose_power(0);
    server.restart();
    assert_eq!(server.number(A), 1);
}

#[test]
fn always_may_keep_what_was_not_answered() {
    let mut server = Server::with(Fsync::Always);
    server.count(A);
    assert_eq!((server.disk.in_memory(), server.disk.in_kernel()), (0, 1));
    let mut after_power_loss = server.disk.clone();
    server.disk.kill();
    server.restart();
    assert_eq!(server.number(A), 1, "the kernel has it");
    after_power_loss.lose_power(0);
    after_power_loss.start(&mut server.engine, server.now);
    assert_eq!(server.number(A), 0, "the platter has not");
}

#[test]
fn one_fsync_serves_the_whole_turn() {
    let mut server = Server::with(Fsync::Always);
    server.run(Command::IncrBy { key: A, by: 1 });
    server.run(Command::IncrBy { key: B, by: 1 });
    assert_eq!(server.disk.turn_ended(server.now), Flush::Foreground);
    server.disk.fsync_ended();
    assert_eq!(server.disk.in_kernel(), 0);
    assert_eq!(server.disk.turn_ended(server.now), Flush::Done);
}

#[test]
fn everysec_keeps_writes_in_memory_while_the_fsync_runs() {
    let mut server = Server::with(Fsync::EverySecond);
    server.pass(1_000);
    assert_eq!(server.count(A), Flush::Background);
    assert_eq!(server.count(A), Flush::Postponed);
    server.pass(1_400);
    assert_eq!(server.count(A), Flush::Postponed);
    assert_eq!(server.disk.in_memory(), 2);
    let mut killed = server.disk.clone();
    killed.kill();
    assert_eq!(killed.groups().count(), 1, "two answered writes are lost at SIGKILL");

    // When the wall clock shows the second after next, the server waits no longer and writes.
    server.pass(100);
    assert_eq!(server.disk.wakes_at(), Some(server.now / 1000 * 1000));
    assert_eq!(server.disk.turn_ended(server.now), Flush::Done);
    assert_eq!((server.disk.in_memory(), server.disk.in_kernel()), (0, 3));
    server.disk.kill();
    server.restart();
    assert_eq!(server.number(A), 3);
}

#[test]
fn everysec_loses_about_a_second_at_a_power_loss() {
    let mut server = Server::with(Fsync::EverySecond);
    assert_eq!(server.count(A), Flush::Done, "in the second of the start there is no fsync");
    assert_eq!(server.disk.wakes_at(), Some((T / 1000 + 1) * 1000));
    server.pass(500);
    // The fsync of what was written before needs no further command.
    assert_eq!(server.disk.turn_ended(server.now), Flush::Background);
    server.disk.fsync_ended();
    assert_eq!(server.disk.wakes_at(), None);
    server.count(A);
    server.count(A);
    assert_eq!(server.disk.in_kernel(), 2);
    for kept in 0..=2 {
        let mut disk = server.disk.clone();
        disk.lose_power(kept);
        disk.start(&mut server.engine, server.now);
        assert_eq!(server.number(A), 1 + i64::try_from(kept).unwrap());
    }
}

#[test]
fn a_backward_step_switches_everysec_off_for_that_long() {
    let mut server = Server::with(Fsync::EverySecond);
    server.pass(1_000);
    assert_eq!(server.count(A), Flush::Background);
    server.disk.fsync_ended();
    server.now -= 3_600_000;
    for _ in 0..3_600 {
        assert_eq!(server.count(A), Flush::Done);
        server.pass(1_000);
    }
    assert_eq!(server.disk.in_kernel(), 3_600);
    server.pass(1_000);
    assert_eq!(server.count(A), Flush::Background);
    // Forward it only comes a little early.
    server.disk.fsync_ended();
    server.pass(3_600_000);
    assert_eq!(server.count(A), Flush::Background);
}

#[test]
fn without_fsync_the_kernel_decides() {
    let mut server = Server::with(Fsync::Never);
    server.count(A);
    server.disk.written_back();
    server.pass(29_000);
    assert_eq!(server.count(A), Flush::Done);
    assert_eq!(server.disk.wakes_at(), None);
    server.disk.lose_power(0);
    server.restart();
    assert_eq!(server.number(A), 1);
}

#[test]
fn a_shutdown_saves_by_the_rules() {
    let saved = |persistence: Persistence, saving| {
        let mut server = Server::new(persistence);
        server.count(A);
        assert!(server.disk.shut_down(&server.engine, saving, true, server.now));
        server.restart();
        server.number(A) == 1
    };
    assert!(!saved(Persistence::NONE, Saving::AsConfigured));
    assert!(saved(Persistence::NONE, Saving::Always));
    assert!(saved(Persistence::snapshots(), Saving::AsConfigured));
    assert!(!saved(Persistence::snapshots(), Saving::Never));
    for fsync in [Fsync::Always, Fsync::EverySecond, Fsync::Never] {
        assert!(saved(Persistence::append_only(fsync), Saving::Never));
    }
    let mut server = Server::new(Persistence::snapshots());
    let ended = server.disk.shut_down(&server.engine, Saving::AsConfigured, false, T);
    assert!(!ended, "a server that cannot save does not end");
}

#[test]
fn a_snapshot_drops_dead_keys_and_the_log_brings_them_back_dead() {
    let lock = Command::set_nx_px(A, Value::Integer(1), 500);
    let mut server = Server::with(Fsync::Never);
    server.run(lock);
    server.disk.turn_ended(server.now);
    server.disk.kill();
    server.pass(600);
    server.restart();
    assert!(server.engine.entry(A, server.now).is_some_and(|entry| entry.dead));

    let mut server = Server::new(Persistence::snapshots());
    server.run(lock);
    server.run(Command::IncrBy { key: B, by: 1 });
    assert!(server.disk.shut_down(&server.engine, Saving::AsConfigured, true, server.now));
    server.pass(600);
    server.restart();
    assert_eq!(server.engine.entry(A, server.now), None);
    assert_eq!(server.number(B), 1);
}

#[test]
fn a_torn_tail_takes_whole_groups() {
    let torn = |bytes| {
        let mut server = Server::with(Fsync::Always);
        server.count(A);
        // A script that sets and counts is one group of two writes.
        let (value, millis) = (Value::Integer(7), 60_000);
        server.run(Command::AcquireWithToken { key: B, value, millis, counter: A });
        server.disk.turn_ended(server.now);
        server.disk.kill();
        server.disk.tear(bytes, |_| 30);
        server.restart();
        (server.number(A), server.number(B))
    };
    assert_eq!(torn(0), (2, 7));
    assert_eq!(torn(5), (1, 0));
    assert_eq!(torn(89), (1, 0), "MULTI and EXEC stand around the group");
    assert_eq!(torn(90), (0, 0));
}

#[test]
fn folding_changes_nothing_but_the_memory() {
    let mut server = Server::with(Fsync::Always);
    for round in 0..10 {
        server.count(A);
        if round < 6 {
            server.disk.fsync_ended();
        }
    }
    let unfolded = server.disk.clone();
    server.disk.fold();
    assert_eq!(server.disk.groups().count(), 4);
    for mut disk in [unfolded, server.disk.clone()] {
        disk.lose_power(1);
        disk.start(&mut server.engine, server.now);
        assert_eq!(server.number(A), 7);
    }
}

#[test]
fn a_rewrite_makes_durable_what_it_began_with() {
    let mut server = Server::with(Fsync::Never);
    server.count(A);
    server.disk.begin_rewrite(server.now);
    server.count(A);
    server.disk.end_rewrite();
    server.disk.lose_power(0);
    server.restart();
    assert_eq!(server.number(A), 1);
    assert_eq!(server.disk.groups().count(), 0);
}

#[test]
fn a_copy_from_the_master_is_found_when_it_has_been_written() {
    for is_written in [false, true] {
        let mut server = Server::with(Fsync::Always);
        server.count(A);
        server.disk.fsync_ended();
        let mut copy = server.engine.clone();
        copy.execute(&Command::IncrBy { key: A, by: 41 }, T);
        server.engine.copy_data_from(&copy);
        server.disk.replace(&copy, T);
        server.count(A);
        server.disk.fsync_ended();
        if is_written {
            server.disk.end_rewrite();
        }
        server.disk.kill();
        server.restart();
        assert_eq!(server.number(A), if is_written { 43 } else { 1 });
    }
    let mut server = Server::new(Persistence::NONE);
    server.disk.replace(&server.engine, T);
    assert!(!server.disk.rewrite_runs());
}

#[test]
fn only_a_snapshot_says_where_in_a_history_it_was_made() {
    let position = Some(crate::Position { id: crate::ReplicationId(7), offset: 99 });
    for (persistence, found) in
        [(Persistence::snapshots(), position), (Persistence::append_only(Fsync::Always), None)]
    {
        let mut server = Server::new(persistence);
        server.disk.set_position(position);
        assert!(server.disk.shut_down(&server.engine, Saving::Always, true, T));
        assert_eq!(server.disk.start(&mut server.engine, T).position, found);
    }
}

#[test]
fn a_reset_disk_is_a_new_one() {
    let mut server = Server::with(Fsync::Always);
    server.count(A);
    server.disk.fsync_ended();
    server.disk.fold();
    server.disk.begin_snapshot(&server.engine, T);
    server.disk.end_snapshot(true, T);
    server.disk.reset(T);
    server.engine.reset();
    let new = Disk::new(&server.engine, Persistence::append_only(Fsync::Always), T);
    assert_eq!(server.disk, new);
}

#[test]
fn a_start_takes_as_long_as_was_measured() {
    let loaded = |from_log, writes| super::Loaded { from_log, writes, position: None };
    assert_eq!(loaded(false, 0).micros(0), 20_000);
    assert_eq!(loaded(false, 0).micros(1_000_000), 720_000);
    assert_eq!(loaded(true, 1_000_000).micros(10), 1_920_000);
}

/// A group of writes, as a naive model follows it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    Memory,
    Kernel,
    Platter,
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Write,
    EndTurn(u64),
    EndFsync,
    WriteBack,
    Fold,
    Kill,
    LosePower(usize),
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        6 => Just(Event::Write),
        6 => (0..1_500u64).prop_map(Event::EndTurn),
        3 => Just(Event::EndFsync),
        1 => Just(Event::WriteBack),
        1 => Just(Event::Fold),
        1 => Just(Event::Kill),
        1 => (0..4usize).prop_map(Event::LosePower),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn what_is_found_is_what_the_naive_model_kept(
        fsync in prop_oneof![Just(Fsync::Always), Just(Fsync::EverySecond), Just(Fsync::Never)],
        events in prop::collection::vec(event(), 1..80),
    ) {
        let mut server = Server::with(fsync);
        let mut places: Vec<Place> = Vec::new();
        let mut syncing = 0;
        let mut postponed: Option<u64> = None;
        for event in events {
            match event {
                Event::Write => {
                    server.run(Command::IncrBy { key: A, by: 1 });
                    places.push(Place::Memory);
                }
                Event::EndTurn(millis) => {
                    server.pass(millis);
                    let flush = server.disk.turn_ended(server.now);
                    let has_new = places.contains(&Place::Memory);
                    prop_assert!(fsync != Fsync::Always || !has_new || flush == Flush::Foreground);
                    if flush == Flush::Postponed {
                        let since = *postponed.get_or_insert(server.now);
                        prop_assert!(server.now - since < 2_000, "held back for too long");
                        continue;
                    }
                    postponed = None;
                    let new = places.iter_mut().filter(|place| **place == Place::Memory);
                    new.for_each(|place| *place = Place::Kernel);
                    if flush != Flush::Done {
                        syncing = places.len();
                    }
                    if fsync == Fsync::Always {
                        // The whole server waits.
                        server.disk.fsync_ended();
                        places.iter_mut().for_each(|place| *place = Place::Platter);
                    }
                }
                Event::EndFsync if server.disk.fsync_runs() => {
                    server.disk.fsync_ended();
                    places[..syncing].fill(Place::Platter);
                }
                Event::EndFsync => {}
                Event::WriteBack => {
                    server.disk.written_back();
                    let in_kernel = places.iter_mut().filter(|place| **place == Place::Kernel);
                    in_kernel.for_each(|place| *place = Place::Platter);
                }
                Event::Fold => server.disk.fold(),
                Event::Kill | Event::LosePower(_) => {
                    let mut kept = usize::MAX;
                    if let Event::LosePower(survivors) = event {
                        server.disk.lose_power(survivors);
                        kept = survivors;
                    } else {
                        server.disk.kill();
                    }
                    server.restart();
                    let at_risk = places.iter().filter(|place| **place == Place::Kernel).count();
                    let safe = places.iter().filter(|place| **place == Place::Platter).count();
                    let found = safe + at_risk.min(kept);
                    let place = if kept < usize::MAX { Place::Platter } else { Place::Kernel };
                    places.truncate(found);
                    places[safe..].fill(place);
                    (syncing, postponed) = (0, None);
                }
            }
            let in_memory = places.iter().filter(|place| **place == Place::Memory).count();
            let in_kernel = places.iter().filter(|place| **place == Place::Kernel).count();
            prop_assert_eq!(server.disk.in_memory(), in_memory);
            prop_assert_eq!(server.disk.in_kernel(), in_kernel);
            prop_assert_eq!(server.number(A), i64::try_from(places.len()).unwrap());
        }
    }
}
