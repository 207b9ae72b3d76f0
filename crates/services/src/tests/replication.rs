//! What replication promises, and what it does not.

use fencepost_history::{Duration, GrantId, How, Instant, LockId, What};

use super::lab::{LOCK, ms};
use super::replicas::{R1, R2, R3, call, count, get, lock, lock_and_wait, value, with_lags};
use crate::{
    Command, ErrorCode, Expiry, Operation, RedisReply, Reply, Request, SetCondition, Value, Wait,
};

const OK: Option<RedisReply> = Some(RedisReply::Ok);
const NIL: Option<RedisReply> = Some(RedisReply::Nil);

const fn failed(code: ErrorCode) -> Option<RedisReply> {
    Some(RedisReply::Error(code))
}

const fn number(number: i64) -> Option<RedisReply> {
    Some(RedisReply::Integer(number))
}

fn failover(after: u64, down: Duration) -> Operation {
    Operation::Failover { to: R2, after: Duration::from_millis(after), down }
}

#[test]
fn a_replica_has_a_key_after_its_lag_and_knows_whose_it_is() {
    let told = with_lags(&[10]).run(&[lock(5, R1, 1), get(14, R2), get(16, R2)], &[]);
    assert_eq!(told.redis(), [OK, NIL, value(1)]);
    let copied = What::KeySet {
        server: R2,
        lock: LockId(7),
        by: GrantId(1),
        owner: GrantId::NONE,
        deadline: ms(30_006),
        how: How::Restore,
        commits: false,
    };
    assert!(told.events.iter().any(|event| (event.at, event.what) == (ms(15), copied)));
}

#[test]
fn a_replica_takes_no_writes_and_hides_dead_keys_without_deleting_them() {
    let calls = [
        call(1, R1, 1, super::lab::acquire(50, 1)),
        lock(20, R2, 2),
        get(50, R2),
        get(60, R2),
        // The master deletes the key when somebody asks for it, and tells its replica.
        get(70, R1),
        get(80, R2),
    ];
    let told = with_lags(&[1]).run(&calls, &[]);
    let expected = [OK, failed(ErrorCode::ReadOnly), value(1), NIL, NIL, NIL];
    assert_eq!(told.redis(), expected);
    let gone = told.when(|what| matches!(what, What::KeyGone { server, .. } if *server == R2));
    assert_eq!(gone, [71]);
}

#[test]
fn the_death_of_a_master_loses_what_has_not_left_it() {
    let mut world = with_lags(&[10]);
    world.operations = vec![failover(20, Duration::MAX)];
    // The first count has left after 10 ms, the second and the lock have not.
    let calls = [count(5, R1), count(50, R1), lock(51, R1, 1), count(100, R2), lock(101, R2, 2)];
    let told = world.run(&calls, &["server.operation@r1#3 = 0"]);
    assert_eq!(told.redis(), [number(1), number(2), OK, number(2), OK]);
    assert_eq!(told.when(|what| matches!(what, What::Promoted { server } if *server == R2)), [71]);
}

#[test]
fn an_acquire_script_is_copied_as_a_whole() {
    let script = Command::AcquireWithToken {
        key: LOCK,
        value: Value::Integer(7),
        millis: 30_000,
        counter: super::lab::COUNTER,
    };
    let read = call(20, R2, 0, Command::Get { key: super::lab::COUNTER });
    let told = with_lags(&[5]).run(&[call(1, R1, 1, script), get(10, R2), read], &[]);
    let seven = Some(RedisReply::Value(Value::Integer(7)));
    let one = Some(RedisReply::Value(Value::Integer(1)));
    assert_eq!(told.redis(), [number(1), seven, one]);
}

#[test]
fn a_promoted_replica_deletes_dead_keys_by_itself() {
    let mut world = with_lags(&[1]);
    world.operations = vec![failover(10, Duration::MAX)];
    let calls = [call(1, R1, 1, super::lab::acquire(50, 1)), get(10, R1), lock(100, R2, 2)];
    let told = world.run(&calls, &["server.operation@r1#2 = 0"]);
    assert_eq!(told.redis(), [OK, value(1), OK]);
    let expired = |what: &What| matches!(what, What::KeyGone { how: How::Expire, .. });
    assert_eq!(told.when(expired), [100]);
}

#[test]
fn an_old_master_comes_back_as_a_replica_and_throws_its_own_writes_away() {
    let mut world = with_lags(&[10]);
    world.operations = vec![failover(20, Duration::from_millis(200))];
    let calls = [lock(5, R1, 1), lock(50, R2, 2), get(250, R1), lock(300, R1, 3)];
    let told = world.run(&calls, &["server.operation@r1#1 = 0"]);
    assert_eq!(told.redis(), [OK, OK, value(2), failed(ErrorCode::ReadOnly)]);
    assert_eq!(told.when(|what| matches!(what, What::DataLost { server } if *server == R1)), [205]);
}

#[test]
fn a_master_that_comes_back_empty_wipes_its_replicas() {
    let mut world = with_lags(&[1]);
    world.is_durable = false;
    let calls = [lock(1, R1, 1), get(10, R2), lock(50, R1, 2), get(2_000, R2)];
    let told = world.run(&calls, &["server.restart@r1@20ms = 20ms"]);
    assert_eq!(told.redis(), [OK, value(1), OK, value(2)]);
}

#[test]
fn a_broken_connection_goes_on_where_it_was() {
    let mut world = with_lags(&[1]);
    let length = Duration::from_millis(100);
    world.operations = vec![Operation::CutStream { replica: R2, length }];
    let calls = [count(1, R1), lock(20, R1, 1), get(50, R2), get(200, R2)];
    let told = world.run(&calls, &["server.operation@r1@10ms = 0"]);
    assert_eq!(told.redis(), [number(1), OK, NIL, value(1)]);
    // What the replica had is still good: nothing was copied as a whole.
    assert_eq!(told.when(|what| matches!(what, What::DataLost { .. })), [0_u64; 0]);
}

#[test]
fn a_stalled_stream_is_late_and_loses_nothing() {
    let mut world = with_lags(&[1]);
    let length = Duration::from_millis(100);
    world.operations = vec![Operation::StallStream { replica: R2, length }];
    let calls = [lock(20, R1, 1), get(100, R2), get(120, R2)];
    let told = world.run(&calls, &["server.operation@r1@10ms = 0"]);
    assert_eq!(told.redis(), [OK, NIL, value(1)]);
}

#[test]
fn wait_answers_with_how_many_have_it_and_takes_nothing_back() {
    let told = with_lags(&[10, 1_000]).run(
        &[
            lock_and_wait(1, R1, 1, Wait { replicas: 1, millis: 500 }),
            lock_and_wait(2_000, R1, 2, Wait { replicas: 2, millis: 500 }),
            call(3_000, R1, 1, Command::Del { key: LOCK }),
            lock_and_wait(4_000, R1, 3, Wait { replicas: 2, millis: 500 }),
            get(5_000, R1),
        ],
        &[],
    );
    let waited = |reply, replicas| Some(Reply::Waited { reply, replicas });
    assert_eq!(told.replies[0], waited(RedisReply::Ok, 1));
    // A refused command has nothing that could be copied.
    assert_eq!(told.replies[1], Some(Reply::Redis(RedisReply::Nil)));
    assert_eq!(told.replies[3], waited(RedisReply::Ok, 1));
    assert_eq!(told.redis()[4], value(3));
}

#[test]
fn wait_on_a_connection_without_commands_waits_for_nothing() {
    let wait = Wait { replicas: 1, millis: 500 };
    let told = with_lags(&[1_000]).run(
        &[
            lock(1, R1, 1),
            (2, R1, Request::Wait { wait, is_fresh: true }),
            (3, R1, Request::Wait { wait, is_fresh: false }),
        ],
        &[],
    );
    let waited = |replicas| Some(Reply::Waited { reply: RedisReply::Ok, replicas });
    assert_eq!(told.replies[1], waited(1));
    assert_eq!(told.replies[2], waited(0));
}

#[test]
fn a_master_without_its_replica_refuses_at_once_or_when_it_has_been_silent_for_long() {
    let mut world = with_lags(&[1]);
    world.min_replicas = 1;
    let calls = [lock(1, R1, 1), count(20, R1), count(5_000, R1), count(12_500, R1)];
    // A dead replica closes its connection.
    let told = world.run(&calls, &["server.restart@r2@10ms = 60s"]);
    let refused = failed(ErrorCode::NoReplicas);
    assert_eq!(told.redis(), [OK, refused, refused, refused]);
    // A stopped one only says nothing.
    let told = world.run(&calls, &["server.stall@r2@10ms = 60s"]);
    assert_eq!(told.redis(), [OK, number(1), number(2), refused]);
}

#[test]
fn min_replicas_saves_no_write() {
    let mut world = with_lags(&[10, 10]);
    world.min_replicas = 1;
    world.operations = vec![failover(20, Duration::MAX)];
    let calls = [lock(5, R1, 1), lock(2_000, R2, 2), get(2_100, R3)];
    let told = world.run(&calls, &["server.operation@r1#1 = 0"]);
    assert_eq!(told.redis(), [OK, OK, value(2)]);
}

#[test]
fn what_outsiders_and_evictions_do_reaches_the_replicas() {
    let mut world = with_lags(&[1]);
    let set = Command::Set {
        key: LOCK,
        value: Value::Integer(5),
        condition: SetCondition::Always,
        get: false,
        expiry: Expiry::None,
    };
    world.operations = vec![Operation::Evict(LOCK), Operation::Command(set)];
    let calls = [lock(1, R1, 1), get(30, R2), get(60, R2)];
    let told = world.run(&calls, &["server.operation@r1@20ms = 0", "server.operation@r1@50ms = 1"]);
    let five = Some(RedisReply::Value(Value::Integer(5)));
    assert_eq!(told.redis(), [OK, NIL, five]);
    let lost = |what: &What| matches!(what, What::KeyGone { how: How::Lose, .. });
    assert_eq!(told.when(lost), [20]);
}

#[test]
fn a_node_that_answers_with_errors_does_so_for_a_while() {
    let mut world = with_lags(&[1]);
    let length = Duration::from_millis(100);
    let refuse = |error| Operation::Refuse { error, length };
    world.operations = vec![refuse(ErrorCode::OutOfMemory), refuse(ErrorCode::Loading)];
    let calls = [lock(20, R1, 1), get(30, R1), lock(120, R1, 1), get(230, R1)];
    let (full, loading) = ("server.operation@r1@10ms = 0", "server.operation@r1@200ms = 1");
    let told = world.run(&calls, &[full, loading]);
    let expected = [failed(ErrorCode::OutOfMemory), NIL, OK, failed(ErrorCode::Loading)];
    assert_eq!(told.redis(), expected);
    assert_eq!(told.when(|what| matches!(what, What::Refusing { .. })), [10, 200]);
    assert!(told.events.iter().all(|event| event.at < Instant::NEVER));
}
