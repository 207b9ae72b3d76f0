//! The stream, its offsets, and resyncs.

use super::{FENCE, LOCK, Servers, T};
use crate::{Command, Peer, Replication, StreamContent, SyncCounts, Value};

#[test]
fn a_replica_gets_effects_and_the_same_offset() {
    let mut servers = Servers::with_replicas(1);
    let (key, value, millis) = (LOCK, Value::Integer(1), 5_000);
    servers.run(0, Command::AcquireWithToken { key, value, millis, counter: FENCE });
    servers.settle();
    assert_eq!(servers.number(1), 1);
    let deadline = servers.all[1].engine.entry(LOCK, T).unwrap().deadline;
    assert_eq!(deadline, Some(i64::try_from(T).unwrap() + 5_000), "the deadline is absolute");
    let offset = servers.replication(0).offset();
    assert_eq!(servers.replication(1).offset(), offset);
    assert_eq!(servers.replication(1).id(), servers.replication(0).id());
}

#[test]
fn without_a_replica_there_is_no_stream() {
    let mut servers = Servers::new(1);
    servers.count(0);
    assert_eq!((servers.replication(0).offset(), servers.replication(0).backlog()), (0, None));
}

#[test]
fn a_stalled_link_delays_and_a_cut_one_is_continued() {
    let mut servers = Servers::with_replicas(1);
    servers.all[1].is_stalled = true;
    servers.count(0);
    servers.settle();
    assert_eq!(servers.number(1), 0);
    servers.heal(1);
    assert_eq!(servers.number(1), 1);
    servers.cut(1);
    servers.count(0);
    servers.settle();
    assert_eq!(servers.number(1), 1);
    servers.heal(1);
    assert_eq!(servers.number(1), 2);
    let counts = SyncCounts { full: 1, partial: 1, refused: 0 };
    assert_eq!(servers.replication(0).counts(), counts);
}

#[test]
fn a_replica_that_missed_more_than_the_backlog_holds_gets_a_full_copy() {
    let mut servers = Servers::with_replicas(1);
    servers.replication(0).settings.backlog_size = 640;
    for missed in [10, 11] {
        servers.cut(1);
        for _ in 0..missed {
            servers.count(0);
        }
        servers.heal(1);
        assert_eq!(servers.number(1), servers.number(0));
    }
    let counts = SyncCounts { full: 2, partial: 1, refused: 1 };
    assert_eq!(servers.replication(0).counts(), counts);
}

#[test]
fn what_a_stalled_replica_has_not_been_given_is_kept_beyond_the_backlog() {
    let mut master = Replication::<Command>::new(1);
    let mut replica = Replication::<Command>::new(2);
    master.settings.backlog_size = 64;
    replica.follow_from_start(Peer(0), T);
    let link = crate::LinkId(1);
    master.answer(link, &replica.connected(Peer(1), T), T);
    for by in 0..5 {
        master.write(Command::IncrBy { key: FENCE, by });
        master.commit();
    }
    assert!(master.next_item(link).is_none(), "nothing flows during the full copy");
    master.transferred(link, T);
    let mut seen = Vec::new();
    while let Some(item) = master.next_item(link) {
        let StreamContent::Write { write: Command::IncrBy { by, .. }, ends_group: true } =
            item.content
        else {
            panic!("{item:?}")
        };
        seen.push(by);
    }
    assert_eq!(seen, [0, 1, 2, 3, 4]);
}

#[test]
fn a_group_that_came_in_part_is_carried_out_once_and_whole() {
    let mut master = Replication::<Command>::new(1);
    let mut replica = Replication::<Command>::new(2);
    replica.follow_from_start(Peer(0), T);
    let first = crate::LinkId(1);
    let crate::SyncAnswer::Full(position) = master.answer(first, &replica.connected(Peer(1), T), T)
    else {
        panic!()
    };
    master.transferred(first, T);
    replica.loaded(position, T);
    for by in 1..=2 {
        master.write(Command::IncrBy { key: FENCE, by });
    }
    master.commit();
    let mut applied = Vec::new();
    let item = master.next_item(first).unwrap();
    replica.receive(item, T, |write| applied.push(*write));
    assert!(applied.is_empty());
    assert_eq!(replica.offset(), position.offset, "half a group is nothing");

    replica.master_lost(T);
    master.link_lost(first, T);
    let second = crate::LinkId(2);
    let crate::SyncAnswer::Continue(id) = master.answer(second, &replica.connected(Peer(1), T), T)
    else {
        panic!()
    };
    replica.continued(id, T);
    while let Some(item) = master.next_item(second) {
        replica.receive(item, T, |write| applied.push(*write));
    }
    assert_eq!(applied.len(), 2);
    assert_eq!(replica.offset(), master.offset());
}

#[test]
fn a_replica_of_a_replica_shares_the_history() {
    let mut servers = Servers::new(3);
    servers.demote(1, 0);
    servers.demote(2, 1);
    servers.count(0);
    servers.settle();
    assert_eq!(servers.number(2), 1);
    let (id, offset) = (servers.replication(0).id(), servers.replication(0).offset());
    assert_eq!((servers.replication(2).id(), servers.replication(2).offset()), (id, offset));
    // While the middle one has no master, it takes no replica.
    servers.cut(1);
    servers.break_link(2);
    servers.settle();
    assert!(servers.replication(2).wants_connection());
    servers.heal(1);
    assert!(!servers.replication(2).wants_connection());
}

#[test]
fn a_replica_hides_a_dead_key_by_its_own_clock_and_waits_for_the_del() {
    let mut servers = Servers::with_replicas(1);
    servers.run(0, Command::set_nx_px(LOCK, Value::Integer(1), 500));
    servers.settle();
    servers.all[1].wall += 501;
    assert_eq!(servers.run(1, Command::Get { key: LOCK }), crate::Reply::Nil);
    servers.all[1].engine.sweep(T + 501, |_| panic!("a replica deletes nothing by itself"));
    assert!(servers.all[1].engine.entry(LOCK, T + 501).is_some());
    // The master meets the dead key; a DEL goes in front of what the command does.
    servers.all[0].wall += 501;
    servers.run(0, Command::Get { key: LOCK });
    servers.settle();
    assert_eq!(servers.all[1].engine.entry(LOCK, T + 501), None);
}

#[test]
fn a_backlog_that_nobody_wants_is_given_up_with_the_id() {
    let mut servers = Servers::with_replicas(1);
    servers.replication(0).settings.backlog_ttl = 60;
    let id = servers.replication(0).id();
    servers.cut(1);
    for _ in 0..60 {
        servers.second();
    }
    assert_eq!(servers.replication(0).id(), id);
    servers.second();
    assert_ne!(servers.replication(0).id(), id);
    assert_eq!(servers.replication(0).backlog(), None);
    servers.heal(1);
    assert_eq!(servers.replication(0).counts().full, 2);
}

#[test]
fn a_reset_one_is_a_new_one() {
    let mut servers = Servers::with_replicas(1);
    servers.count(0);
    servers.settle();
    servers.cut(1);
    servers.demote(0, 1);
    let mut used = servers.all.remove(0).replication;
    used.reset();
    assert_eq!(used, Replication::new(1));
    assert_eq!(used.id().to_string().len(), 40);
}
