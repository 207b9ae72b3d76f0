//! Promotion, demotion, restart, and handing over.

use super::{LOCK, Servers, T};
use crate::{Command, Expiry, FailoverError, Peer, Position, Reply, Role, SetCondition, Value};

fn set(key: crate::KeyId, number: i64) -> Command {
    let (condition, expiry) = (SetCondition::Always, Expiry::None);
    Command::Set { key, value: Value::Integer(number), condition, get: false, expiry }
}

#[test]
fn a_token_that_was_not_replicated_is_given_out_again() {
    let mut servers = Servers::with_replicas(1);
    servers.count(0);
    servers.settle();
    servers.all[1].is_stalled = true;
    assert_eq!(servers.count(0), 2);
    servers.settle();
    servers.promote(1);
    assert_eq!(servers.count(1), 2);
}

#[test]
fn a_promoted_replica_keeps_the_old_id_up_to_its_offset() {
    let mut servers = Servers::with_replicas(1);
    servers.count(0);
    servers.settle();
    let old = Position { id: servers.replication(0).id(), offset: servers.replication(1).offset() };
    servers.promote(1);
    assert_eq!(servers.replication(1).second(), Some(old));
    assert_ne!(servers.replication(1).id(), old.id);
    let id = servers.replication(1).id();
    servers.promote(1);
    assert_eq!(servers.replication(1).id(), id, "a master stays what it is");
}

#[test]
fn a_sibling_continues_with_the_promoted_one() {
    let mut servers = Servers::with_replicas(2);
    servers.count(0);
    servers.settle();
    servers.cut(2);
    servers.promote(1);
    servers.count(1);
    servers.all[2].is_cut = false;
    servers.demote(2, 1);
    assert_eq!(servers.number(2), 2);
    assert_eq!(servers.replication(1).counts().partial, 1);
    assert_eq!(servers.replication(2).id(), servers.replication(1).id());
}

#[test]
fn an_old_master_that_went_no_further_continues() {
    let mut servers = Servers::with_replicas(1);
    servers.count(0);
    servers.settle();
    servers.promote(1);
    servers.count(1);
    servers.demote(0, 1);
    assert_eq!(servers.number(0), 2);
    assert_eq!(servers.replication(1).counts().partial, 1);
}

#[test]
fn an_old_master_that_went_on_loses_what_it_did() {
    let mut servers = Servers::with_replicas(1);
    servers.cut(1);
    servers.promote(1);
    servers.run(0, Command::set_nx_px(LOCK, Value::Integer(7), 60_000));
    assert_eq!(servers.run(1, Command::set_nx_px(LOCK, Value::Integer(8), 60_000)), Reply::Ok);
    servers.all[1].is_cut = false;
    servers.demote(0, 1);
    let value = servers.all[0].engine.entry(LOCK, T).and_then(|entry| entry.value);
    assert_eq!(value, Some(Value::Integer(8)));
    assert_eq!(servers.run(0, set(LOCK, 9)), Reply::Error(crate::ErrorCode::ReadOnly));
    assert_eq!(servers.replication(1).counts().refused, 1);
}

#[test]
fn a_sibling_that_is_further_than_the_promoted_one_gets_a_full_copy() {
    let mut servers = Servers::with_replicas(2);
    servers.all[1].is_stalled = true;
    servers.count(0);
    servers.settle();
    servers.promote(1);
    servers.demote(2, 1);
    assert_eq!(servers.number(2), 0, "what only the sibling had is gone");
    assert_eq!(servers.replication(1).counts().full, 1);
}

#[test]
fn a_master_that_restarts_empty_wipes_its_replica() {
    let mut servers = Servers::with_replicas(1);
    servers.run(0, Command::set_nx_px(LOCK, Value::Integer(1), 60_000));
    servers.settle();
    assert!(servers.is_locked(1));
    servers.break_link(1);
    servers.all[0].engine.reset();
    servers.replication(0).restart(T);
    servers.settle();
    assert!(!servers.is_locked(1));
}

#[test]
fn after_a_restart_a_snapshot_says_what_can_be_continued() {
    for gap in [false, true] {
        let mut servers = Servers::with_replicas(1);
        servers.count(0);
        servers.settle();
        let position = servers.replication(0).position().unwrap();
        assert_eq!(servers.replication(1).position(), Some(position));
        if gap {
            servers.count(0);
            servers.settle();
        }
        servers.break_link(1);
        servers.replication(0).restart(T);
        servers.replication(0).restored(position);
        servers.settle();
        // The replica continues unless it has got more than the snapshot holds.
        let counts = servers.replication(0).counts();
        assert_eq!((counts.partial, counts.full), if gap { (0, 1) } else { (1, 0) });

        let position = servers.replication(1).position().unwrap();
        servers.break_link(1);
        servers.count(0);
        servers.replication(1).restart(T);
        servers.replication(1).follow_from_start(Peer(0), T);
        servers.replication(1).restored(position);
        servers.settle();
        assert_eq!(servers.number(1), servers.number(0));
        assert_eq!(servers.replication(0).counts().partial, counts.partial + 1);
    }
    assert_eq!(Servers::new(1).replication(0).position(), None);
}

#[test]
fn following_the_same_master_again_changes_nothing() {
    let mut servers = Servers::with_replicas(1);
    assert!(!servers.replication(1).follow(Peer(0), T));
    assert!(!servers.replication(1).wants_connection());
}

#[test]
fn handing_over_loses_nothing() {
    let mut servers = Servers::with_replicas(2);
    servers.run(0, Command::set_nx_px(LOCK, Value::Integer(1), 60_000));
    servers.replication(0).begin_failover(None, None, false).unwrap();
    assert!(!servers.replication(0).advance_failover(T), "nobody has acknowledged everything");
    servers.settle();
    servers.acknowledge(2);
    assert!(servers.replication(0).advance_failover(T));
    servers.all[0].engine.set_role(Role::Replica);
    servers.settle();
    assert!(servers.is_locked(2));
    assert!(!servers.replication(0).fails_over());
    assert_eq!(servers.replication(0).master(), Some(Peer(2)));
    assert!(!servers.replication(2).is_replica());
    servers.count(2);
    servers.settle();
    assert_eq!(servers.number(0), 1);
    assert_eq!(servers.number(1), 1, "a replica of the old master follows as a sub-replica");
    assert_eq!(servers.replication(2).counts().full, 0);
}

#[test]
fn a_failover_is_refused_for_its_reasons() {
    let mut servers = Servers::with_replicas(1);
    let mut begin = |at: usize, target| {
        servers.all[at].replication.begin_failover(target, Some(T + 1_000), false)
    };
    assert_eq!(begin(1, None), Err(FailoverError::Replica));
    assert_eq!(begin(0, Some(Peer(9))), Err(FailoverError::NotAReplica));
    assert_eq!(begin(0, Some(Peer(1))), Ok(()));
    assert_eq!(begin(0, None), Err(FailoverError::InProgress));
    let mut alone = Servers::new(1);
    let refused = alone.replication(0).begin_failover(None, None, false);
    assert_eq!(refused, Err(FailoverError::NoReplicas));
}

#[test]
fn a_failover_ends_by_its_time_out_or_is_forced() {
    for is_forced in [false, true] {
        let mut servers = Servers::with_replicas(1);
        servers.all[1].is_stalled = true;
        servers.count(0);
        servers.settle();
        let until = Some(T + 1_000);
        servers.replication(0).begin_failover(Some(Peer(1)), until, is_forced).unwrap();
        assert!(!servers.replication(0).advance_failover(T + 999));
        assert_eq!(servers.replication(0).advance_failover(T + 1_000), is_forced);
        assert_eq!(servers.replication(0).fails_over(), is_forced);
        assert_eq!(servers.replication(0).is_replica(), is_forced);
        if is_forced {
            // The write that had not arrived is lost.
            servers.all[0].engine.set_role(Role::Replica);
            servers.settle();
            servers.heal(0);
            assert_eq!(servers.number(0), 0);
        }
    }
}

#[test]
fn an_aborted_failover_leaves_a_master_under_a_new_id() {
    let mut servers = Servers::with_replicas(1);
    let id = servers.replication(0).id();
    assert!(!servers.replication(0).abort_failover(T));
    servers.acknowledge(1);
    servers.replication(0).begin_failover(None, None, false).unwrap();
    assert!(servers.replication(0).advance_failover(T));
    assert!(servers.replication(0).abort_failover(T));
    assert!(!servers.replication(0).is_replica());
    assert_ne!(servers.replication(0).id(), id);
    servers.settle();
    servers.count(0);
    servers.settle();
    assert_eq!(servers.number(1), 1);
    assert_eq!(servers.replication(0).counts().full, 1);
}
