//! The edge cases that the definitions name, one test each.

use fencepost_history::{Access, AccessOutcome, How, Instant, Token, What};

use super::tale::{Tale, secs};
use crate::{Kind, KindSet};

#[test]
fn a_holder_that_never_runs_again_is_a_double_holder_and_no_double_run() {
    let mut tale = Tale::new();
    tale.at(0).acquire(0, 1).step(1).read(1).at(31).gone(0, How::Expire).acquire(2, 2);
    tale.at(32).step(2).read(2).at(40).lose(1).at(50).free(2);
    let judged = tale.judge();
    assert_eq!(judged.violated.to_string(), "double-holder");
    let finding = judged.only(Kind::DoubleHolder);
    assert_eq!((finding.from, finding.to), (secs(31), secs(40)));
    assert_eq!(finding.grants.map(|grant| grant.0), [1, 2]);
}

#[test]
fn checked_then_paused_then_written() {
    let mut tale = Tale::new();
    tale.at(0).acquire(0, 1).at(31).gone(0, How::Expire).acquire(2, 2);
    tale.at(32).step(1).write(1);
    assert_eq!(tale.violated(), "late-write, double-run, double-holder");

    let mut tale = Tale::new();
    tale.at(0).acquire(0, 1).at(31).gone(0, How::Expire).acquire(2, 2);
    tale.at(32).step(2).read(2).at(33).step(1).write(1);
    assert_eq!(tale.violated(), "stale-write, late-write, double-run, double-holder");
}

#[test]
fn a_holder_that_knows_of_its_loss_and_stops_is_fine() {
    let mut tale = Tale::new();
    tale.at(0).acquire(0, 1).step(1).read(1).at(30).lose(1);
    tale.at(31).gone(0, How::Expire).acquire(2, 2).step(2).write(2).at(40).free(2);
    let judged = tale.judge();
    assert_eq!(judged.violated, KindSet::EMPTY);
    assert_eq!(judged.tally.stray_steps, 0);
}

#[test]
fn a_step_after_the_loss_is_the_applications_fault() {
    let mut tale = Tale::new();
    tale.at(0).acquire(0, 1).at(30).lose(1).at(31).gone(0, How::Expire).acquire(2, 2);
    tale.at(32).step(1).at(40).free(2);
    let judged = tale.judge();
    assert_eq!(judged.violated, KindSet::EMPTY);
    assert_eq!(judged.tally.stray_steps, 1);
}

#[test]
fn a_write_in_flight_when_the_lease_ends_needs_no_pause() {
    let mut tale = Tale::new();
    tale.at(0).acquire(0, 1).at(29).step(1).at(30).lose(1);
    tale.at(31).gone(0, How::Expire).acquire(2, 2).step(2).read(2).at(32).write(1).at(40).free(2);
    assert_eq!(tale.violated(), "stale-write, late-write");
}

#[test]
fn a_write_that_lands_after_the_release_needs_no_expiry() {
    let mut tale = Tale::new();
    tale.at(0).acquire(0, 1).step(1).read(1).at(5).step(1).at(6).free(1);
    tale.at(7).acquire(2, 2).step(2).read(2).at(8).write(1).at(9).step(2).write(2).free(2);
    assert_eq!(tale.violated(), "lost-update, stale-write, late-write");
}

#[test]
fn an_acquisition_whose_reply_is_lost_is_a_ghost_or_an_orphan() {
    let mut tale = Tale::new();
    tale.at(0).ask(0).commit(1).at(1).unknown(0, 1).abandon(0);
    tale.at(31).gone(0, How::Expire).acquire(2, 2).at(35).free(2).heal().at(100);
    let judged = tale.judge();
    assert_eq!((judged.violated, judged.noted), (KindSet::EMPTY, KindSet::of(&[Kind::GhostHold])));
    let ghost = judged.only(Kind::GhostHold);
    assert_eq!((ghost.from, ghost.to), (secs(0), secs(30)));

    let mut tale = Tale::new();
    tale.at(0).ask(0).key(1, How::Create, Instant::NEVER, true).at(1).unknown(0, 1).abandon(0);
    tale.at(5).heal().at(100);
    assert_eq!(tale.violated(), "orphan-no-ttl");
}

#[test]
fn an_adopted_value_begins_a_belief_at_the_adoption() {
    let mut tale = Tale::new();
    tale.at(0).ask(0).commit(1).at(1).unknown(0, 1).at(2).believe(0, 1).at(9).free(1);
    let judged = tale.judge();
    assert_eq!((judged.violated, judged.noted), (KindSet::EMPTY, KindSet::EMPTY));
}

#[test]
fn a_holder_that_hangs_on_a_lost_reply_is_a_double_holder() {
    let mut tale = Tale::new();
    tale.at(0).acquire(0, 1).step(1).at(31).gone(0, How::Expire).acquire(2, 2).at(50);
    let judged = tale.judge();
    assert_eq!(judged.violated.to_string(), "double-holder");
    assert_eq!(judged.only(Kind::DoubleHolder).to, secs(50));
}

#[test]
fn an_old_write_before_the_successors_first_access_is_late_and_not_stale() {
    let mut tale = Tale::new();
    tale.at(0).acquire(0, 1).at(30).lose(1).at(31).gone(0, How::Expire).acquire(2, 2);
    tale.at(32).write(1).at(33).step(2).read(2).write(2).free(2);
    assert_eq!(tale.violated(), "late-write");
}

#[test]
fn equal_tokens_are_a_regression() {
    let mut tale = Tale::new();
    tale.at(0).acquire_with(0, 1, 7).at(5).free(1).at(6).acquire_with(2, 2, 7).at(9).free(2);
    let judged = tale.judge();
    assert_eq!(judged.violated.to_string(), "token-regression");
    assert_eq!(judged.only(Kind::TokenRegression).tokens, [Token(7); 2]);
}

#[test]
fn a_token_read_late_orders_the_grants_the_wrong_way() {
    // The first grant's deciding command comes first, but its belief begins last.
    let mut tale = Tale::new();
    tale.at(0).ask(0).commit(1).at(31).gone(0, How::Expire).acquire_with(2, 2, 1);
    tale.at(32).believe_with(0, 1, Token(2)).at(33).lose(1).at(40).free(2);
    let judged = tale.judge();
    assert_eq!(judged.violated.to_string(), "token-regression, double-holder");
    assert_eq!(judged.only(Kind::TokenRegression).grants.map(|grant| grant.0), [1, 2]);
    // The naive judge orders tokens and not beliefs, too: a smaller token is fine.
    let mut tale = Tale::new();
    tale.at(0).ask(0).commit(1).at(31).gone(0, How::Expire).acquire_with(2, 2, 2);
    tale.at(32).believe_with(0, 1, Token(1)).lose(1).at(40).free(2);
    assert_eq!(tale.violated(), "");
}

#[test]
fn a_fence_on_writes_alone_loses_updates() {
    let mut tale = Tale::new();
    tale.at(0).acquire_with(0, 1, 1).step(1).read(1);
    tale.at(30).gone(0, How::Expire).acquire_with(2, 2, 2).step(2).read(2);
    tale.at(31).step(1).write(1).at(35).step(2).write(2).free(2).at(36).free(1);
    let judged = tale.judge();
    assert!(
        judged.violated.contains(Kind::LostUpdate) && judged.violated.contains(Kind::StaleWrite)
    );
    assert_eq!(judged.only(Kind::LostUpdate).grants.map(|grant| grant.0), [2, 1]);
}

#[test]
fn stale_writes_are_judged_for_each_resource_apart() {
    let accepted = AccessOutcome::Accepted;
    let mut tale = Tale::new();
    tale.at(0).acquire(0, 1).at(30).lose(1).at(31).gone(0, How::Expire).acquire(2, 2);
    tale.at(32).access(0, 2, Access::Write, accepted, 2).access(1, 1, Access::Write, accepted, 1);
    tale.at(40).free(2);
    assert_eq!(tale.violated(), "late-write");
    tale.access(0, 1, Access::Write, accepted, 1);
    assert_eq!(tale.violated(), "stale-write, late-write");
}

#[test]
fn a_wall_clock_token_goes_back() {
    let mut tale = Tale::new();
    tale.at(0).acquire_with(0, 1, 9_000).at(5).free(1).at(6).acquire_with(2, 2, 8_000).free(2);
    assert_eq!(tale.violated(), "token-regression");
}

#[test]
fn another_thread_of_the_process_is_another_owner() {
    let mut tale = Tale::new();
    tale.at(0).acquire(0, 1).at(5).acquire(1, 2).at(6).gone(1, How::Delete);
    assert_eq!(tale.violated(), "double-holder, foreign-release");
}

#[test]
fn a_crashed_owners_key_is_no_violation_and_the_takeover_is_measured() {
    let mut tale = Tale::new();
    tale.at(0).acquire(0, 1).at(10).crash(0).at(31).gone(0, How::Expire).acquire(2, 2);
    tale.at(40).free(2);
    let judged = tale.judge();
    assert_eq!(judged.violated, KindSet::EMPTY);
    let takeovers = judged.tally.takeovers;
    assert_eq!((takeovers.count, takeovers.min, takeovers.max), {
        let length = secs(31).since(secs(10));
        (1, length, length)
    });
}

#[test]
fn a_release_and_a_grant_at_one_instant_do_not_overlap() {
    let mut tale = Tale::new();
    tale.at(0).acquire(0, 1).at(5).acquire(2, 2).free(1).at(9).free(2);
    let judged = tale.judge();
    assert!(!judged.violated.contains(Kind::DoubleHolder));
}

#[test]
fn a_step_at_the_instant_of_the_successors_grant_is_a_double_run() {
    let mut tale = Tale::new();
    tale.at(0).acquire(0, 1).at(31).step(1).write(1).gone(0, How::Expire).acquire(2, 2);
    assert_eq!(tale.violated(), "late-write, double-run");
    tale.at(32).lose(1);
    assert_eq!(tale.violated(), "late-write, double-run, double-holder");
    let mut near = Tale::new();
    near.at(0).acquire(0, 1).at(30).step(1).write(1).at(31).lose(1);
    near.gone(0, How::Expire).acquire(2, 2);
    assert_eq!(near.violated(), "");
}

#[test]
fn a_reentrant_acquisition_is_no_second_holder_but_another_life_is() {
    let mut tale = Tale::new();
    tale.at(0).acquire(0, 1).at(1).believe(0, 2).at(2).believe(0, 2).at(3).release(2);
    assert_eq!(tale.at(4).free(1).violated(), "");
    // A crash ends the beliefs of one life; the next one's owner is another, one after the other.
    let mut tale = Tale::new();
    tale.at(0).acquire(0, 1).step(1).at(5).crash(0);
    tale.what(What::Restarted { process: fencepost_history::ProcessId(0) });
    tale.at(31).gone(0, How::Expire).acquire(0, 2).step(2).at(40).free(2);
    assert_eq!(tale.violated(), "");
}
