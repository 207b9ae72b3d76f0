//! What a node has after a death, by how it keeps its data.

use fencepost_history::{Duration, GrantId, How, Instant, What};

use super::lab::{COUNTER, LOCK, Rules, Sending, VOLATILE, acquire, ms, play, send, world_with};
use crate::{Command, Policy, StorageSetup};

const fn setup(policy: Policy, fsync_millis: u64) -> StorageSetup {
    StorageSetup { policy, fsync_time: Duration::from_millis(fsync_millis) }
}

/// What is told of the key from the restart on, in a run that is restarted at 10,100 ms for 50.
fn after(setup: &StorageSetup, plan: &str, sendings: Vec<Sending>) -> Vec<(Instant, What)> {
    let mut sim = world_with(Rules::default(), sendings, Some(setup));
    let keys = play(&mut sim, &[plan]).keys();
    keys.into_iter().filter(|(at, _)| *at >= ms(10_100)).collect()
}

const GET: Command = Command::Get { key: LOCK };
const KILL: &str = "server.restart@r1@10100ms = 50ms";
const POWER: &str = "server.power-loss@r1@10100ms = 50ms";

/// A lock for 30 s, taken at this millisecond, and somebody who asks again at the end.
fn taken_at(millis: u64) -> Vec<Sending> {
    vec![send(millis, 1, acquire(30_000, 1)), send(11_000, 2, acquire(30_000, 2))]
}

/// Whether the key was lost, so that the second one got it.
fn is_lost(policy: Policy, fsync_millis: u64, plan: &str, millis: u64) -> bool {
    let told = after(&setup(policy, fsync_millis), plan, taken_at(millis));
    let gone = What::KeyGone {
        server: VOLATILE,
        lock: super::node::LOCK_ID,
        by: GrantId::NONE,
        owner: GrantId(1),
        how: How::Lose,
    };
    match told.as_slice() {
        [] => false,
        [(at, what), (later, What::KeySet { by: GrantId(2), how: How::Create, .. })] => {
            assert_eq!((*at, *what, *later), (ms(10_150), gone, ms(11_000)));
            true
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn everysec_loses_at_a_kill_what_it_kept_while_an_fsync_ran() {
    // An fsync begins with the first write of a second, here at 10,000, and takes 300 ms.
    let lost = |first: u64, second: u64| {
        let mut sendings = vec![send(first, 9, Command::IncrBy { key: COUNTER, by: 1 })];
        sendings.extend(taken_at(second));
        !after(&setup(Policy::EverySecond, 300), KILL, sendings).is_empty()
    };
    assert!(lost(10_000, 10_050), "answered, and only in the server's memory");
    assert!(!lost(9_000, 9_500), "handed to the kernel when the fsync was over");
    assert!(!is_lost(Policy::EverySecond, 300, KILL, 10_000), "the write that began it");
    assert!(!is_lost(Policy::EverySecond, 0, KILL, 10_050), "normally nothing");
}

#[test]
fn everysec_loses_the_last_second_when_the_power_fails() {
    let lost = |millis| is_lost(Policy::EverySecond, 0, POWER, millis);
    assert!(!lost(9_000), "synced a second later at the latest");
    assert!(!lost(10_000), "the first write of a second is synced at once");
    let mut early = vec![send(10_000, 9, Command::IncrBy { key: COUNTER, by: 1 })];
    early.extend(taken_at(10_050));
    assert!(!after(&setup(Policy::EverySecond, 0), POWER, early).is_empty());
}

#[test]
fn no_fsync_loses_what_the_kernel_had_when_the_power_fails_and_nothing_at_a_kill() {
    assert!(!is_lost(Policy::Never, 0, KILL, 10_050));
    assert!(is_lost(Policy::Never, 0, POWER, 10_050));
    assert!(is_lost(Policy::Never, 0, POWER, 50), "the kernel may take 30 s");
}

#[test]
fn snapshots_lose_what_came_after_the_last_one() {
    let points = || Policy::Snapshots(vec![(5, 1)]);
    assert!(!is_lost(points(), 0, KILL, 1_000), "saved at 5,000");
    let mut later = vec![send(6_000, 9, Command::IncrBy { key: COUNTER, by: 1 })];
    later.extend(taken_at(8_000));
    assert!(!after(&setup(points(), 0), KILL, later).is_empty(), "saved at 6,000, and not again");
    assert!(is_lost(Policy::Snapshots(Vec::new()), 0, KILL, 1_000), "one change in an hour");
    assert!(!is_lost(points(), 0, POWER, 1_000), "a snapshot is on the disk");
}

#[test]
fn an_older_key_may_come_back_with_its_owner() {
    // The holder released after the snapshot: the node brings its key back.
    let policy = Policy::Snapshots(vec![(5, 1)]);
    let release = Command::Del { key: LOCK };
    let sendings =
        vec![send(1_000, 1, acquire(30_000, 1)), send(9_000, 1, release), send(10_500, 3, GET)];
    let told = after(&setup(policy, 0), KILL, sendings);
    let back = What::KeySet {
        server: VOLATILE,
        lock: super::node::LOCK_ID,
        by: GrantId(1),
        owner: GrantId::NONE,
        deadline: ms(31_001),
        how: How::Restore,
        commits: false,
    };
    assert_eq!(told, [(ms(10_150), back)]);
}

#[test]
fn every_run_begins_with_an_empty_disk() {
    let setup = setup(Policy::Snapshots(vec![(5, 1)]), 0);
    let mut sim = world_with(Rules::default(), taken_at(1_000), Some(&setup));
    let first = play(&mut sim, &[KILL]).keys();
    assert_eq!(play(&mut sim, &[KILL]).keys(), first);
}
