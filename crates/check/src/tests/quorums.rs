//! A lock on several independent servers: which acceptance decides, and what refusals leave.

use fencepost_history::{GrantId, How, LockId, ServerId, What};

use super::tale::{TTL, Tale};
use crate::Kind;

/// A lock of which two of three servers decide.
fn two_of_three() -> Tale {
    let mut tale = Tale::new();
    let rules = &mut tale.rules.locks[0];
    rules.servers = (0..3).map(ServerId).collect();
    rules.quorum = 2;
    rules.independent = true;
    tale
}

fn accept(tale: &mut Tale, server: u16, grant: u32) {
    tale.what(What::KeySet {
        server: ServerId(server),
        lock: LockId(0),
        by: GrantId(grant),
        owner: GrantId::NONE,
        deadline: tale.now + TTL,
        how: How::Create,
        commits: true,
    });
}

fn lose(tale: &mut Tale, server: u16, grant: u32) {
    let (server, lock, owner) = (ServerId(server), LockId(0), GrantId(grant));
    tale.what(What::KeyGone { server, lock, by: GrantId::NONE, owner, how: How::Lose });
}

#[test]
fn the_acceptance_that_makes_the_quorum_full_decides_who_is_older() {
    // Grant 1 has its quorum at second 1 and a third server at 5; grant 2 has its own at 4.
    let mut tale = two_of_three();
    tale.at(0).ask(0).ask(2);
    accept(&mut tale, 0, 1);
    tale.at(1);
    accept(&mut tale, 1, 1);
    tale.at(2);
    lose(&mut tale, 0, 1);
    lose(&mut tale, 1, 1);
    tale.at(3);
    accept(&mut tale, 0, 2);
    tale.at(4);
    accept(&mut tale, 1, 2);
    tale.at(5);
    accept(&mut tale, 2, 1);
    tale.at(6).believe(2, 2).read(2).believe(0, 1).write(1);
    let judged = tale.judge();
    assert_eq!(judged.violated.to_string(), "stale-write, late-write");
    assert_eq!(judged.only(Kind::StaleWrite).grants.map(|grant| grant.0), [1, 2]);
}

#[test]
fn what_a_refused_attempt_left_may_refuse_the_next_one() {
    let mut tale = two_of_three();
    tale.at(0).ask(0).ask(2);
    accept(&mut tale, 0, 1);
    tale.refuse(0, 1).at(1).refuse(0, 2);
    let judged = tale.judge();
    assert_eq!(judged.noted.to_string(), "ghost-hold, self-block");
    assert_eq!(judged.only(Kind::SelfBlock).grants.map(|grant| grant.0), [1, 0]);
    // It is nobody else's residue, and none once it is gone.
    let mut tale = two_of_three();
    tale.at(0).ask(0).ask(2);
    accept(&mut tale, 0, 1);
    tale.refuse(0, 1).at(1).refuse(2, 2).at(2);
    lose(&mut tale, 0, 1);
    tale.at(3).refuse(0, 3);
    assert!(!tale.judge().noted.contains(Kind::SelfBlock));
}
