//! Waits: their clocks run only after all faults, and only while nobody can go on.

use fencepost_history::{
    GrantId, How, Instant, LockId, ProcessId, ServerId, ThreadId, Token, What,
};

use super::tale::{Tale, secs};
use crate::{Kind, KindSet};

fn paused(process: u16, until: Instant) -> What {
    What::Paused { process: ProcessId(process), until }
}

#[test]
fn a_wait_for_an_orphan_is_unbounded() {
    let mut tale = Tale::new();
    tale.at(0).ask(0).key(1, How::Create, Instant::NEVER, true).at(1).crash(0).ask(2);
    tale.at(5).heal();
    assert_eq!(tale.at(36).violated(), "orphan-no-ttl");
    let judged = tale.at(37).judge();
    assert_eq!(judged.violated.to_string(), "orphan-no-ttl, unbounded-wait");
    let finding = judged.only(Kind::UnboundedWait);
    assert_eq!((finding.from, finding.to), (secs(5), secs(37)));
    assert_eq!(finding.grants[0], GrantId(1));
    assert_eq!(finding.threads[1], Some(ThreadId(2)));
}

#[test]
fn nothing_is_judged_before_the_faults_are_over() {
    let mut tale = Tale::new();
    tale.at(0).ask(2).at(300).heal().at(310);
    assert_eq!(tale.violated(), "");
    tale.at(332);
    assert_eq!(tale.violated(), "unbounded-wait");
}

#[test]
fn a_long_section_under_a_working_watchdog_is_no_finding() {
    let mut tale = Tale::new();
    tale.at(0).acquire(0, 1).ask(2).heal();
    for at in (10..90).step_by(10) {
        tale.at(at).key(1, How::Extend, secs(at + 30), false);
    }
    tale.at(90).free(1).at(91).commit(2).believe(2, 2).at(95).free(2);
    assert_eq!(tale.violated(), "");
}

#[test]
fn the_clock_runs_when_the_key_is_dead_though_somebody_believes() {
    let mut tale = Tale::new();
    tale.at(0).acquire(0, 1).ask(2).heal();
    assert_eq!(tale.at(61).violated(), "");
    assert_eq!(tale.at(62).violated(), "unbounded-wait");
}

#[test]
fn a_hung_worker_with_a_live_renewer_is_nobody_able_to_go_on() {
    for (until, expected) in [(Instant::NEVER, "unbounded-wait"), (secs(70), "")] {
        let mut tale = Tale::new();
        tale.at(0).acquire(0, 1).ask(2).at(1).what(What::Stalled { thread: ThreadId(0), until });
        tale.heal();
        for at in (10..70).step_by(10) {
            tale.at(at).key(1, How::Extend, secs(at + 30), false);
        }
        assert_eq!(tale.violated(), expected);
    }
}

#[test]
fn a_waiter_that_does_not_run_cannot_complain() {
    let mut tale = Tale::new();
    tale.at(0).ask(2).what(paused(1, secs(60))).heal().at(60);
    tale.what(What::Resumed { process: ProcessId(1) });
    assert_eq!(tale.at(90).violated(), "");
    assert_eq!(tale.at(92).violated(), "unbounded-wait");
    let mut tale = Tale::new();
    tale.at(0).ask(2).heal().at(60).crash(1);
    assert_eq!(tale.violated(), "");
}

#[test]
fn a_wait_that_was_served_too_late_or_given_up_is_judged_then() {
    let mut tale = Tale::new();
    tale.at(0).ask(2).heal().at(32).commit(1).believe(2, 1).at(33).free(1);
    assert_eq!(tale.judge().only(Kind::UnboundedWait).to, secs(32));
    let mut tale = Tale::new();
    tale.at(0).ask(2).heal().at(31).abandon(2).ask(2).at(60);
    assert_eq!(tale.violated(), "");
}

#[test]
fn a_quorum_of_independent_keys_is_a_hold() {
    let tale = |keys: u16| {
        let mut tale = Tale::new();
        tale.rules.locks[0].servers = (0..3).map(ServerId).collect();
        tale.rules.locks[0].quorum = 2;
        tale.rules.locks[0].independent = true;
        tale.at(0).ask(0).ask(2);
        for server in 0..keys {
            tale.what(What::KeySet {
                server: ServerId(server),
                lock: LockId(0),
                by: GrantId(1),
                owner: GrantId::NONE,
                deadline: secs(100 + u64::from(server)),
                how: How::Create,
                commits: true,
            });
        }
        tale.believe(0, 1).heal().at(90).violated()
    };
    assert_eq!(tale(1), "unbounded-wait");
    assert_eq!(tale(2), "");
    assert_eq!(tale(3), "");
}

/// Threads 0 and 2 take one lock each and then ask for the other's.
fn crossed(tale: &mut Tale, deadline: Instant) {
    for (thread, lock) in [(0, 0), (2, 1)] {
        let (grant, thread) = (GrantId(u32::from(thread) + 1), ThreadId(thread));
        let (lock, server) = (LockId(lock), ServerId(0));
        tale.what(What::AcquireInvoked { thread, lock });
        tale.what(What::KeySet {
            server,
            lock,
            by: grant,
            owner: GrantId::NONE,
            deadline,
            how: How::Create,
            commits: true,
        });
        tale.what(What::Acquired { thread, grant, lock, token: Token::NONE });
    }
    tale.what(What::AcquireInvoked { thread: ThreadId(0), lock: LockId(1) });
    tale.what(What::AcquireInvoked { thread: ThreadId(2), lock: LockId(0) });
}

#[test]
fn two_locks_taken_in_opposite_order_without_expiry_deadlock() {
    let mut tale = Tale::new();
    crossed(tale.at(0), Instant::NEVER);
    let judged = tale.heal().at(20).judge();
    assert_eq!(judged.violated, KindSet::of(&[Kind::Deadlock]));
    let finding = judged.only(Kind::Deadlock);
    assert_eq!((finding.threads[0], finding.threads[1]), (Some(ThreadId(2)), Some(ThreadId(0))));
}

#[test]
fn locks_that_expire_do_not_deadlock_unless_somebody_renews_them() {
    let mut tale = Tale::new();
    crossed(tale.at(0), secs(30));
    assert!(!tale.heal().at(31).judge().violated.contains(Kind::Deadlock));
    let mut tale = Tale::new();
    crossed(tale.at(0), secs(90));
    assert!(!tale.heal().at(30).judge().violated.contains(Kind::Deadlock));
    assert!(tale.at(31).judge().violated.contains(Kind::Deadlock));
}

#[test]
fn a_thread_that_waits_for_its_own_lock_is_in_a_circle_of_one() {
    let mut tale = Tale::new();
    tale.at(0).ask(0).key(1, How::Create, Instant::NEVER, true).believe(0, 1).at(1).ask(0);
    assert_eq!(tale.heal().at(20).violated(), "deadlock");
}
