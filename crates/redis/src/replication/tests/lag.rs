//! Acknowledgements: WAIT, good replicas, and links given up.

use super::{Servers, T};
use crate::MasterLink;

#[test]
fn wait_counts_replicas_that_have_received() {
    let mut servers = Servers::with_replicas(2);
    servers.count(0);
    let offset = servers.replication(0).offset();
    assert_eq!(servers.replication(0).acknowledged_by(offset), 0);
    servers.all[2].is_stalled = true;
    servers.replication(0).ask_for_acknowledgements();
    servers.settle();
    assert_eq!(servers.replication(0).acknowledged_by(offset), 1);
    servers.heal(2);
    assert_eq!(servers.replication(0).acknowledged_by(offset), 2);
}

#[test]
fn the_offset_of_a_fresh_connection_is_acknowledged_by_all() {
    let mut servers = Servers::with_replicas(1);
    servers.all[1].is_stalled = true;
    servers.count(0);
    assert_eq!(servers.replication(0).acknowledged_by(0), 1);
}

#[test]
fn without_being_asked_a_replica_acknowledges_once_a_second() {
    let mut servers = Servers::with_replicas(1);
    servers.count(0);
    let offset = servers.replication(0).offset();
    servers.settle();
    assert_eq!(servers.replication(0).acknowledged_by(offset), 0);
    servers.second();
    assert_eq!(servers.replication(0).acknowledged_by(offset), 1);
}

/// A master that wants one good replica within 2 s, and has it.
fn careful() -> Servers {
    let mut servers = Servers::with_replicas(1);
    let settings = &mut servers.replication(0).settings;
    (settings.min_replicas, settings.max_lag) = (1, 2);
    servers.second();
    servers.second();
    assert!(!servers.replication(0).has_too_few_replicas());
    servers
}

#[test]
fn a_silent_replica_counts_as_good_for_the_lag_and_a_second() {
    let mut servers = careful();
    servers.all[1].is_stalled = true;
    let mut seconds = 0;
    while !servers.replication(0).has_too_few_replicas() {
        servers.second();
        seconds += 1;
    }
    // Its last word came in the second before; a lag of 2 is good, one of 3 is not.
    assert_eq!(seconds, 3);
    servers.heal(1);
    servers.second();
    servers.second();
    assert!(!servers.replication(0).has_too_few_replicas());
}

#[test]
fn a_broken_link_counts_at_once() {
    let mut servers = careful();
    servers.cut(1);
    assert!(servers.replication(0).has_too_few_replicas());
    servers.heal(1);
    assert!(!servers.replication(0).has_too_few_replicas());
}

#[test]
fn a_step_of_the_wall_clock_makes_good_replicas_bad_for_a_second() {
    let mut servers = careful();
    servers.all[0].wall += 60_000;
    assert!(!servers.replication(0).has_too_few_replicas(), "it is counted once a second");
    let wall = servers.all[0].wall;
    servers.replication(0).cron(wall);
    assert!(servers.replication(0).has_too_few_replicas());
    servers.second();
    servers.second();
    assert!(!servers.replication(0).has_too_few_replicas());
    // A step back makes a silent replica good for as long as the step was.
    servers.all[0].wall -= 60_000;
    servers.all[1].is_stalled = true;
    for _ in 0..60 {
        servers.second();
    }
    assert!(!servers.replication(0).has_too_few_replicas());
}

#[test]
fn replicas_are_not_counted_unless_somebody_asks() {
    let mut servers = Servers::with_replicas(1);
    servers.second();
    assert_eq!(servers.replication(0).good_replicas(), 0);
    servers.replication(0).settings.min_replicas = 1;
    assert!(servers.replication(0).has_too_few_replicas(), "until they are counted");
    let wall = servers.all[0].wall;
    servers.replication(0).renew_good_replicas(wall);
    assert!(!servers.replication(0).has_too_few_replicas());
}

#[test]
fn a_forward_step_makes_a_master_drop_every_replica_once() {
    let mut servers = Servers::with_replicas(2);
    servers.second();
    servers.all[0].wall += 120_000;
    // The cron finds both silent before either can speak.
    let wall = servers.all[0].wall;
    servers.replication(0).cron(wall);
    assert!(servers.replication(0).links().is_empty());
    servers.settle();
    assert_eq!(servers.replication(0).counts().partial, 2, "they come back by partial resyncs");
    for _ in 0..3 {
        servers.second();
    }
    assert_eq!(servers.replication(0).counts().partial, 2);
}

#[test]
fn a_forward_step_of_a_replica_counts_unless_a_ping_comes_first() {
    for ping_first in [true, false] {
        let mut servers = Servers::with_replicas(1);
        servers.replication(0).settings.ping_period = 1;
        servers.second();
        servers.all[1].wall += 3_600_000;
        if ping_first {
            servers.replication(0).cron(T + 2_000);
            servers.settle();
        }
        let wall = servers.all[1].wall;
        assert_eq!(servers.replication(1).cron(wall).lost_master, !ping_first);
    }
}

#[test]
fn a_replica_gives_up_a_silent_master() {
    let mut servers = Servers::with_replicas(1);
    servers.all[1].is_stalled = true;
    for _ in 0..60 {
        let wall = servers.all[1].wall + 1_000;
        servers.all[1].wall = wall;
        assert!(!servers.replication(1).cron(wall).lost_master);
    }
    let wall = servers.all[1].wall + 1_000;
    assert!(servers.replication(1).cron(wall).lost_master);
    assert_eq!(servers.replication(1).master_link(), Some(MasterLink::Connect));
    assert_eq!(servers.replication(1).down_for(wall + 5_000), Some(5));
}

#[test]
fn a_master_pings_so_that_nobody_gives_up() {
    let mut servers = Servers::with_replicas(1);
    let before = servers.replication(0).offset();
    for _ in 0..100 {
        servers.second();
    }
    assert_eq!(servers.replication(0).offset() - before, 10 * 14);
    assert_eq!(servers.replication(0).counts().full, 1);
    assert_eq!(servers.replication(0).links().len(), 1);
}
