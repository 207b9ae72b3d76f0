//! What a Redis node tells of its lock keys: who did what to whose key, and when it will be dead.

use fencepost_history::{Duration, GrantId, How, Instant, LockId, ServerId, ThreadId, What};
use fencepost_sim::Slot;

use super::lab::{
    COUNTER, DURABLE, LOCK, NOBODY, OTHER, Rules, Run, Sending, VOLATILE, acquire, bare_world, ms,
    play, run, send, to, token, us, world,
};
use crate::{
    Command, ExpireCondition, ExpireUnit, Expiry, RedisReply, RedisRequest, Reply, Request,
    SetCondition, Value,
};

pub(super) const LOCK_ID: LockId = LockId(7);

/// The key was written: by whom, whose it was, and when it will be dead.
const fn set(by: u32, owner: u32, deadline: Instant, how: How) -> What {
    let commits = matches!(how, How::Create) && by != 0;
    What::KeySet {
        server: VOLATILE,
        lock: LOCK_ID,
        by: GrantId(by),
        owner: GrantId(owner),
        deadline,
        how,
        commits,
    }
}

/// The key is gone: by whom, and whose it was.
const fn gone(by: u32, owner: u32, how: How) -> What {
    let (by, owner) = (GrantId(by), GrantId(owner));
    What::KeyGone { server: VOLATILE, lock: LOCK_ID, by, owner, how }
}

fn keys(sendings: Vec<Sending>) -> Vec<(Instant, What)> {
    run(Rules::default(), sendings, &[]).keys()
}

const GET: Command = Command::Get { key: LOCK };
const DEL: Command = Command::Del { key: LOCK };

const fn pexpire(time: i64) -> Command {
    let (unit, condition) = (ExpireUnit::Millis, ExpireCondition::Always);
    Command::Expire { key: LOCK, time, unit, condition }
}

const fn overwrite(serial: u32) -> Command {
    let condition = SetCondition::Always;
    Command::Set { key: LOCK, value: token(serial), condition, get: false, expiry: Expiry::None }
}

#[test]
fn the_one_who_is_granted_is_told_and_the_refused_are_not() {
    let told = keys(vec![send(5, 1, acquire(100, 1)), send(6, 2, acquire(100, 2))]);
    // Redis holds a key for dead when its clock is past the deadline, in whole milliseconds.
    assert_eq!(told, [(ms(5), set(1, 0, ms(106), How::Create))]);
}

#[test]
fn a_deadline_counts_from_the_whole_millisecond_before() {
    let command = RedisRequest { command: acquire(100, 1), by: GrantId(1) };
    let told = keys(vec![(5_700, VOLATILE, Request::Redis(command))]);
    assert_eq!(told, [(us(5_700), set(1, 0, ms(106), How::Create))]);
}

#[test]
fn a_key_lives_through_its_deadline_s_millisecond_and_is_found_dead_after_it() {
    let get = |at| (at, VOLATILE, Request::Redis(RedisRequest { command: GET, by: GrantId(2) }));
    let alive = keys(vec![send(5, 1, acquire(100, 1)), get(105_999)]);
    assert_eq!(alive.len(), 1);
    let dead = keys(vec![send(5, 1, acquire(100, 1)), get(106_000), send(107, 2, GET)]);
    assert_eq!(dead[1..], [(ms(106), gone(0, 1, How::Expire))], "told once, and by nobody");
}

#[test]
fn a_successor_finds_the_key_expired_and_takes_it() {
    let told = keys(vec![
        send(0, 1, acquire(100, 1)),
        send(100, 2, acquire(100, 2)),
        send(101, 3, acquire(100, 3)),
    ]);
    assert_eq!(
        told[1..],
        [(ms(101), gone(0, 1, How::Expire)), (ms(101), set(3, 0, ms(202), How::Create))]
    );
}

#[test]
fn a_delete_names_who_did_it_and_whose_key_it_was() {
    let told = |command| keys(vec![send(0, 1, acquire(100, 1)), send(9, 2, command)])[1..].to_vec();
    assert_eq!(told(DEL), [(ms(9), gone(2, 1, How::Delete))]);
    assert_eq!(told(Command::GetDel { key: LOCK }), [(ms(9), gone(2, 1, How::Delete))]);
    let compare = |serial| Command::CompareAndDelete { key: LOCK, value: token(serial) };
    assert_eq!(told(compare(1)), [(ms(9), gone(2, 1, How::Delete))], "the value is no owner");
    assert_eq!(told(compare(2)), []);
    assert_eq!(told(pexpire(0)), [(ms(9), gone(2, 1, How::Delete))]);
    assert_eq!(told(GET), []);
    let twice = keys(vec![send(0, 1, acquire(100, 1)), send(8, 2, DEL), send(9, 2, DEL)]);
    assert_eq!(twice.len(), 2, "there is nothing left to delete");
}

#[test]
fn an_extension_moves_the_deadline_and_not_the_ownership() {
    let told = keys(vec![
        send(0, 1, acquire(100, 1)),
        send(10, 2, pexpire(100)),
        send(20, 1, Command::CompareAndPexpire { key: LOCK, value: token(1), millis: 100 }),
        send(25, 2, Command::CompareAndPexpire { key: LOCK, value: token(2), millis: 100 }),
        send(30, 2, Command::Persist { key: LOCK }),
        send(40, 2, DEL),
    ]);
    assert_eq!(
        told[1..],
        [
            (ms(10), set(2, 1, ms(111), How::Extend)),
            (ms(20), set(1, 1, ms(121), How::Extend)),
            (ms(30), set(2, 1, Instant::NEVER, How::Extend)),
            (ms(40), gone(2, 1, How::Delete)),
        ]
    );
}

#[test]
fn an_overwriting_makes_the_key_somebody_else_s() {
    let told = keys(vec![
        send(0, 1, acquire(100, 1)),
        send(10, 2, overwrite(2)),
        send(20, 3, Command::GetSet { key: LOCK, value: Value::Integer(5) }),
        send(30, 4, Command::IncrBy { key: LOCK, by: 1 }),
        send(40, 1, DEL),
    ]);
    assert_eq!(
        told[1..],
        [
            (ms(10), set(2, 1, Instant::NEVER, How::Overwrite)),
            (ms(20), set(3, 2, Instant::NEVER, How::Overwrite)),
            (ms(30), set(4, 3, Instant::NEVER, How::Overwrite)),
            (ms(40), gone(1, 4, How::Delete)),
        ]
    );
}

#[test]
fn setnx_and_expire_are_told_apart_and_other_keys_not_at_all() {
    let told = keys(vec![
        send(0, 1, Command::SetNx { key: LOCK, value: token(1) }),
        send(1, 1, pexpire(100)),
        send(2, 1, Command::IncrBy { key: COUNTER, by: 1 }),
        send(3, 1, Command::SetNx { key: OTHER, value: token(1) }),
        send(4, 1, Command::Del { key: OTHER }),
    ]);
    assert_eq!(
        told,
        [(ms(0), set(1, 0, Instant::NEVER, How::Create)), (ms(1), set(1, 1, ms(102), How::Extend)),]
    );
}

#[test]
fn the_script_that_also_counts_is_one_acquisition() {
    let command = |value| Command::AcquireWithToken {
        key: LOCK,
        value: token(value),
        millis: 100,
        counter: COUNTER,
    };
    let told = run(
        Rules::default(),
        vec![send(0, 1, command(1)), send(1, 2, command(2)), send(150, 3, command(3))],
        &[],
    );
    assert_eq!(
        told.keys(),
        [
            (ms(0), set(1, 0, ms(101), How::Create)),
            (ms(150), gone(0, 1, How::Expire)),
            (ms(150), set(3, 0, ms(251), How::Create)),
        ]
    );
}

#[test]
fn a_flush_loses_the_keys_of_locks() {
    let told = keys(vec![
        send(0, 1, acquire(100, 1)),
        send(10, 2, Command::FlushAll),
        send(20, 3, acquire(100, 3)),
        send(30, 3, Command::FlushAll),
        send(40, 3, Command::FlushAll),
    ]);
    assert_eq!(
        told[1..],
        [
            (ms(10), gone(0, 1, How::Lose)),
            (ms(20), set(3, 0, ms(121), How::Create)),
            (ms(30), gone(0, 3, How::Lose)),
        ]
    );
}

fn with(plan: &[&str], sendings: Vec<Sending>) -> Run {
    run(Rules::default(), sendings, plan)
}

#[test]
fn an_outsider_acts_for_nobody() {
    let grant = || vec![send(0, 1, acquire(100, 1)), send(20, 2, DEL)];
    let run = with(&["server.operation@r1@10ms = 0"], grant());
    assert_eq!(run.keys()[1..], [(ms(10), gone(0, 1, How::Delete))]);
    let outsiders = |what: &What| matches!(what, What::Outsider { server: VOLATILE });
    assert_eq!(run.events.iter().filter(|event| outsiders(&event.what)).count(), 1);
    let run = with(&["server.operation@r1@10ms = 1"], grant());
    assert_eq!(
        run.keys()[1..],
        [(ms(10), set(0, 1, ms(61), How::Overwrite)), (ms(20), gone(2, 0, How::Delete))]
    );
    let run = with(&["server.operation@r1@10ms = 2"], grant());
    assert_eq!(run.keys()[1..], [(ms(10), gone(0, 1, How::Lose))]);
    // What an outsider creates commits no acquisition.
    let run = with(&["server.operation@r1@10ms = 1"], Vec::new());
    assert_eq!(run.keys(), [(ms(10), set(0, 0, ms(61), How::Create))]);
    let run = with(&["server.operation@r1@10ms = 3"], Vec::new());
    assert_eq!(run.keys(), []);
}

#[test]
fn nobody_can_command_a_node_that_is_down() {
    let plan = ["server.restart@r2@5ms = 10ms", "server.operation@r2@10ms = 0"];
    let run = with(&plan, vec![to(DURABLE, 0, 1, acquire(100, 1))]);
    assert_eq!(run.keys().len(), 1, "{:?}", run.keys());
}

#[test]
fn a_restart_loses_the_keys_of_a_volatile_node_alone() {
    let plan = ["server.restart@r1@10ms = 10ms", "server.restart@r2@10ms = 10ms"];
    let sendings =
        |server| vec![to(server, 0, 1, acquire(100, 1)), to(server, 30, 2, acquire(100, 2))];
    let volatile = with(&plan, sendings(VOLATILE)).keys();
    assert_eq!(
        volatile[1..],
        [(ms(10), gone(0, 1, How::Lose)), (ms(30), set(2, 0, ms(131), How::Create))]
    );
    let durable = with(&plan, sendings(DURABLE)).keys();
    assert_eq!(durable.len(), 1, "the key is still there and the second one is refused");
    let late = vec![to(DURABLE, 0, 1, acquire(100, 1)), to(DURABLE, 101, 2, acquire(100, 2))];
    assert_eq!(with(&plan, late).keys().len(), 3, "its deadline holds as before");
}

#[test]
fn a_clock_step_moves_the_deadline() {
    let grant = |more: &[Sending]| [&[send(0, 1, acquire(100, 1))], more].concat();
    let moved = |plan: &str| with(&[plan], grant(&[])).keys()[1..].to_vec();
    // The key is its owner's as before; only its end has moved.
    assert_eq!(moved("clock.step@r1@10ms = +30ms"), [(ms(10), set(1, 1, ms(71), How::Restore))]);
    assert_eq!(moved("clock.step@r1@10ms = -30ms"), [(ms(10), set(1, 1, ms(131), How::Restore))]);
    assert_eq!(moved("clock.step@r2@10ms = +30ms"), [], "another node's clock");
    assert_eq!(moved("clock.step@c1@10ms = +30ms"), [], "a client's clock");
    // Half as fast: 91 ms that are left take 182.
    assert_eq!(moved("clock.rate@r1@10ms = -500ms"), [(ms(10), set(1, 1, ms(192), How::Restore))]);
    // A step beyond the deadline: it is dead at once, and the next command finds that.
    let over = with(&["clock.step@r1@10ms = +5s"], grant(&[send(20, 2, acquire(100, 2))])).keys();
    let What::KeySet { deadline, .. } = over[1].1 else {
        panic!("{over:?}");
    };
    assert!(deadline <= ms(10));
    assert_eq!(
        over[2..],
        [(ms(20), gone(0, 1, How::Expire)), (ms(20), set(2, 0, ms(121), How::Create))]
    );
    // Keys without expiry, and no keys, have no end to move.
    let run = with(
        &["clock.step@r1@10ms = +5s"],
        vec![send(0, 1, Command::SetNx { key: LOCK, value: token(1) })],
    );
    assert_eq!(run.keys().len(), 1);
}

#[test]
fn commands_and_scripts_take_their_time() {
    let compare = Command::CompareAndDelete { key: LOCK, value: token(1) };
    let mut sim = bare_world(Rules::default());
    let client = sim.client(ThreadId(0));
    sim.set_tasks(vec![Box::new(Slot::new(move || {
        let client = client.clone();
        async move {
            for command in [acquire(100, 1), compare, GET] {
                let request = Request::Redis(RedisRequest { command, by: GrantId(1) });
                let _ = client.call(VOLATILE, request).within(Duration::from_secs(1)).await;
            }
        }
    }))]);
    let run = play(&mut sim, &[]);
    let seen: Vec<u64> = run
        .events
        .iter()
        .filter(|event| matches!(event.what, What::Seen { .. }))
        .map(|event| event.at.as_nanos() / 1000)
        .collect();
    assert_eq!(seen, [2, 22, 24]);
    assert_eq!(
        run.texts(),
        [
            "SET lock:job c1-1 NX PX 100",
            "OK",
            "EVAL <compare-and-delete> 1 lock:job c1-1",
            "(integer) 1",
            "GET lock:job",
            "(nil)",
        ]
    );
    let nothing = Reply::Redis(RedisReply::Nil);
    assert_ne!(nothing, Reply::Redis(RedisReply::Ok));
}

#[test]
fn every_run_begins_with_empty_servers() {
    let mut sim = world(Rules::default(), vec![send(0, 1, acquire(100, 1))]);
    let first = play(&mut sim, &[]).keys();
    assert_eq!(first, [(ms(0), set(1, 0, ms(101), How::Create))]);
    for _ in 0..3 {
        assert_eq!(play(&mut sim, &[]).keys(), first);
    }
    let other = What::KeyGone {
        server: ServerId(1),
        lock: LOCK_ID,
        by: NOBODY,
        owner: NOBODY,
        how: How::Lose,
    };
    assert!(!first.iter().any(|&(_, what)| what == other));
}
