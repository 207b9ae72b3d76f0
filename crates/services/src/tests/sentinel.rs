//! What sentinels do, and when.

use fencepost_history::{Duration, ServerId, What};

use super::replicas::{R1, R2, R3, World, count, get, lock, replica, value, with_lags};
use crate::{ErrorCode, Operation, RedisReply, ReplicaSetup, Reply, Request, SentinelSetup};

const OK: Option<RedisReply> = Some(RedisReply::Ok);
const NIL: Option<RedisReply> = Some(RedisReply::Nil);

const fn number(number: i64) -> Option<RedisReply> {
    Some(RedisReply::Integer(number))
}

/// Three sentinels, of which two must agree that a server is down that was silent for 5 s.
fn watched(replicas: Vec<ReplicaSetup>) -> World {
    let sentinels = SentinelSetup {
        count: 3,
        quorum: 2,
        down_after: Duration::from_secs(5),
        failover_timeout: Duration::from_secs(180),
        tells_clients: false,
    };
    World { replicas, sentinels: Some(sentinels), ..with_lags(&[]) }
}

fn promoted(what: &What) -> bool {
    matches!(what, What::Promoted { .. })
}

/// Asks the first sentinel.
const fn ask(at: u64, nodes: u16) -> (u64, ServerId, Request) {
    (at, ServerId(nodes), Request::AskMaster)
}

#[test]
fn a_dead_master_is_replaced_at_the_measured_moments() {
    let world = watched(vec![replica(1), replica(1)]);
    let calls = [lock(1, R1, 1), ask(7_290, 3), ask(7_310, 3), lock(8_000, R2, 2)];
    let told = world.run(&calls, &["server.restart@r1@1s = 1h"]);
    assert_eq!(told.when(|what| matches!(what, What::Doubted { .. })), [6_140]);
    assert_eq!(told.when(promoted), [6_400]);
    assert_eq!(told.when(|what| matches!(what, What::Announced { .. })), [7_300]);
    assert_eq!(told.replies[1], Some(Reply::Master(R1)));
    assert_eq!(told.replies[2], Some(Reply::Master(R2)));
    assert_eq!(told.redis()[3], NIL);
}

#[test]
fn a_short_silence_alarms_nobody() {
    let world = watched(vec![replica(1)]);
    let told = world.run(&[lock(1, R1, 1), get(60_000, R1)], &["server.stall@r1@1s = 4900ms"]);
    assert_eq!(told.when(promoted), [0_u64; 0]);
}

#[test]
fn a_quorum_without_a_majority_promotes_nobody() {
    let mut world = watched(vec![replica(1)]);
    world.sentinels.as_mut().expect("there are some").quorum = 1;
    let plan = [
        "server.restart@s2@100ms = 1h",
        "server.restart@s3@100ms = 1h",
        "server.restart@r1@1s = 1h",
    ];
    let told = world.run(&[lock(1, R1, 1), get(60_000, R2)], &plan);
    assert_eq!(told.when(promoted), [0_u64; 0]);
    // With one more sentinel there is one.
    let told = world.run(&[lock(1, R1, 1), get(60_000, R2)], &[plan[0], plan[2]]);
    assert_eq!(told.when(promoted), [6_400]);
}

#[test]
fn priority_comes_before_offset_and_zero_never_stands() {
    let prefers = |replicas: Vec<ReplicaSetup>| {
        let told = watched(replicas)
            .run(&[lock(900, R1, 1), get(30_000, R2)], &["server.restart@r1@1s = 1h"]);
        told.events.iter().find_map(|event| match event.what {
            What::Promoted { server } => Some(server),
            _ => None,
        })
    };
    let with = |lag: u64, priority: u32| ReplicaSetup { priority, ..replica(lag) };
    // r2 lags and has not got the key when the master dies.
    assert_eq!(prefers(vec![with(500, 100), with(1, 100)]), Some(R3));
    assert_eq!(prefers(vec![with(500, 50), with(1, 100)]), Some(R2));
    assert_eq!(prefers(vec![with(1, 0), with(500, 100)]), Some(R3));
    assert_eq!(prefers(vec![with(1, 0), with(1, 0)]), None);
}

#[test]
fn a_stopped_master_carries_out_what_waits_and_stays_master_for_ten_seconds() {
    let world = watched(vec![replica(1), replica(1)]);
    let calls = [
        count(1, R1),
        // It is stopped at 1 s and runs again at 20 s.
        lock(2_000, R1, 1),
        lock(20_100, R2, 2),
        count(29_900, R1),
        get(29_950, R1),
        count(30_100, R1),
        get(31_000, R1),
    ];
    let told = world.run(&calls, &["server.stall@r1@1s = 19s"]);
    let read_only = Some(RedisReply::Error(ErrorCode::ReadOnly));
    let expected = [number(1), OK, OK, number(2), value(1), read_only, value(2)];
    assert_eq!(told.redis(), expected);
    assert_eq!(told.when(|what| matches!(what, What::Demoted { .. })), [30_000]);
    assert_eq!(told.when(|what| matches!(what, What::DataLost { .. })), [30_000]);
}

#[test]
fn a_master_cut_off_stays_one_for_the_partition_and_ten_seconds() {
    let mut world = watched(vec![replica(1), replica(1)]);
    let length = Duration::from_secs(60);
    let processes = vec![fencepost_history::ProcessId(0)];
    world.operations = vec![Operation::Split { servers: vec![R1], processes, length }];
    let calls = [lock(1, R1, 1), count(30_000, R1), count(62_000, R1), count(62_001, R2)];
    let told = world.run(&calls, &["server.operation@r1@1s = 0"]);
    // Both sides count the same number.
    assert_eq!(told.redis(), [OK, number(1), number(2), number(1)]);
    assert_eq!(told.when(promoted), [6_400]);
    assert_eq!(told.when(|what| matches!(what, What::Demoted { .. })), [0_u64; 0]);
    let late = [lock(1, R1, 1), get(71_500, R2)];
    let told = world.run(&late, &["server.operation@r1@1s = 0"]);
    assert_eq!(told.when(|what| matches!(what, What::Demoted { .. })), [71_000]);
}

#[test]
fn sentinels_on_the_wrong_side_learn_of_it_when_the_network_is_whole_again() {
    let mut world = watched(vec![replica(1), replica(1)]);
    let length = Duration::from_secs(20);
    let servers = vec![R1, ServerId(3)];
    world.operations = vec![Operation::Split { servers, processes: Vec::new(), length }];
    let told = world.run(&[ask(20_900, 3), ask(22_100, 3)], &["server.operation@r1@1s = 0"]);
    assert_eq!(told.replies[1], Some(Reply::Master(R2)));
}
