//! Each kind found, and silent on its near miss, where the edge cases do not show it already.

use fencepost_history::{
    Access, AccessOutcome, GrantId, How, Instant, JobId, LockId, ResourceId, ServerId, ThreadId,
    Token, What,
};

use super::tale::{TTL, Tale, secs};
use crate::{Kind, KindSet};

#[test]
fn lost_update_needs_a_foreign_write_between_read_and_write() {
    let mut tale = Tale::new();
    tale.at(0).acquire(0, 1).read(1).at(1).acquire(2, 2).write(2).at(2).write(1);
    assert!(tale.judge().violated.contains(Kind::LostUpdate));
    // The foreign write lies before the read, or is a read, or one's own.
    let mut near = Tale::new();
    near.at(0).acquire(0, 1).at(1).acquire(2, 2).write(2).read(1).read(2).write(1).write(1);
    assert!(!near.judge().violated.contains(Kind::LostUpdate));
}

#[test]
fn lost_update_knows_the_reads_of_several_resources() {
    let ok = AccessOutcome::Accepted;
    let tale = |read_of: u16, written: u16| {
        let mut tale = Tale::new();
        tale.at(0).acquire(0, 1);
        for resource in 0..3 {
            tale.access(resource, 1, Access::Read, ok, 1);
        }
        tale.at(1).acquire(2, 2).access(read_of, 2, Access::Write, ok, 2);
        tale.at(2).access(written, 1, Access::Write, ok, 1);
        tale.judge().violated.contains(Kind::LostUpdate)
    };
    for resource in 0..3 {
        assert!(tale(resource, resource));
        assert!(!tale(resource, (resource + 1) % 3));
    }
    assert!(!tale(4, 4), "what was never read cannot be lost");
}

#[test]
fn stale_write_needs_an_access_of_a_newer_grant_before_it() {
    let mut tale = Tale::new();
    tale.at(0).acquire(0, 1).at(1).acquire(2, 2).read(2).at(2).write(1);
    let judged = tale.judge();
    let finding = judged.only(Kind::StaleWrite);
    assert_eq!((finding.first_event, finding.event), (6, 7));
    assert_eq!((finding.from, finding.to), (secs(1), secs(2)));
    // The newer grant may do it.
    let mut near = Tale::new();
    near.at(0).acquire(0, 1).at(1).acquire(2, 2).read(1).write(1).at(2).write(2);
    assert!(!near.judge().violated.contains(Kind::StaleWrite));
}

#[test]
fn grants_are_ordered_by_their_deciding_commands_and_not_by_their_beliefs() {
    let mut tale = Tale::new();
    tale.at(0).ask(0).commit(1).at(31).gone(0, How::Expire).ask(2).commit(2).believe(2, 2);
    tale.at(32).write(2).lose(2).at(33).believe(0, 1).step(1).write(1).lose(1);
    assert_eq!(tale.violated(), "stale-write, late-write");
}

#[test]
fn a_refused_or_deduplicated_access_is_none() {
    for outcome in [AccessOutcome::Refused, AccessOutcome::Deduplicated] {
        let mut tale = Tale::new();
        tale.at(0).acquire(0, 1).at(30).lose(1).at(31).gone(0, How::Expire).acquire(2, 2);
        tale.at(32).write(2).access(0, 1, Access::Write, outcome, 2).at(40).free(2);
        assert_eq!(tale.violated(), "");
    }
}

#[test]
fn saves_and_false_refusals_are_told_apart() {
    let refused = AccessOutcome::Refused;
    let mut tale = Tale::new();
    tale.at(0).acquire(0, 1).at(30).lose(1).at(31).gone(0, How::Expire).acquire(2, 2).write(2);
    tale.at(32).access(0, 1, Access::Write, refused, 1).access(0, 1, Access::Read, refused, 1);
    tale.at(40).free(2);
    let judged = tale.judge();
    assert_eq!(judged.noted, KindSet::of(&[Kind::Save]));
    assert_eq!((judged.tally.saves, judged.tally.false_refusals), (2, 0));

    let mut tale = Tale::new();
    tale.at(0).acquire(0, 1).write(1).access(0, 1, Access::Write, refused, 1).at(5).free(1);
    let judged = tale.judge();
    assert_eq!(judged.noted, KindSet::of(&[Kind::FalseRefusal]));
    assert_eq!((judged.tally.saves, judged.tally.false_refusals), (0, 1));
    // An access without a grant is neither.
    let mut tale = Tale::new();
    tale.at(0).access(0, 0, Access::Write, refused, 1).write(0).read(0);
    assert_eq!(tale.judge().noted, KindSet::EMPTY);
}

#[test]
fn stale_read_is_a_note() {
    let mut tale = Tale::new();
    tale.at(0).acquire(0, 1).at(30).lose(1).at(31).gone(0, How::Expire).acquire(2, 2).read(2);
    tale.at(32).read(1).at(40).free(2);
    let judged = tale.judge();
    assert_eq!((judged.violated, judged.noted), (KindSet::EMPTY, KindSet::of(&[Kind::StaleRead])));
}

#[test]
fn fence_regression_needs_a_path_that_checks() {
    let tale = |checked, regressed, outcome| {
        let mut tale = Tale::new();
        tale.at(0).acquire_with(0, 1, 5).what(What::Accessed {
            resource: ResourceId(0),
            grant: GrantId(1),
            token: Token(5),
            job: JobId(1),
            access: Access::Write,
            outcome,
            checked,
            regressed,
        });
        tale.at(1).free(1).violated()
    };
    assert_eq!(tale(true, true, AccessOutcome::Accepted), "fence-regression");
    assert_eq!(tale(false, true, AccessOutcome::Accepted), "");
    assert_eq!(tale(true, false, AccessOutcome::Accepted), "");
    assert_eq!(tale(true, true, AccessOutcome::Refused), "");
}

#[test]
fn token_regression_ignores_grants_without_tokens_and_other_locks() {
    let mut tale = Tale::new();
    tale.at(0).acquire_with(0, 1, 5).free(1).at(1).acquire(2, 2).free(2);
    tale.at(2).acquire_with(0, 3, 6).free(3);
    let elsewhere =
        What::Acquired { thread: ThreadId(2), grant: GrantId(4), lock: LockId(1), token: Token(1) };
    tale.at(3).what(elsewhere).release(4);
    assert_eq!(tale.violated(), "");
    tale.at(4).acquire_with(0, 5, 5).free(5);
    assert_eq!(tale.judge().only(Kind::TokenRegression).grants.map(|grant| grant.0), [3, 5]);
}

#[test]
fn duplicate_effect_needs_one_job_from_two_grants() {
    let (write, ok) = (Access::Write, AccessOutcome::Accepted);
    // Perfect exclusion: a crash after the effect, and the successor repeats it.
    let mut tale = Tale::new();
    tale.at(0).acquire(0, 1).step(1).access(0, 1, write, ok, 7).at(1).crash(0);
    tale.at(31).gone(0, How::Expire).acquire(2, 2).step(2).access(0, 2, write, ok, 7);
    assert_eq!(tale.at(40).free(2).violated(), "duplicate-effect");
    // With an idempotency key, or another job, or the same grant twice, it is none.
    for (grant, job, outcome) in [
        (2, 7, AccessOutcome::Deduplicated),
        (2, 8, AccessOutcome::Accepted),
        (2, 7, AccessOutcome::Refused),
    ] {
        let mut near = Tale::new();
        near.at(0).acquire(0, 1).access(0, 1, write, ok, 7).access(0, 1, write, ok, 7);
        near.at(1).crash(0).at(31).gone(0, How::Expire).acquire(2, 2);
        near.access(0, grant, write, outcome, job);
        assert_eq!(near.at(40).free(2).violated(), "");
    }
}

#[test]
fn foreign_release_is_about_grants_and_not_about_values_or_threads() {
    // The same thread's next round: its own old release deletes the new key.
    let mut tale = Tale::new();
    tale.at(0).acquire(0, 1).at(5).release(1).at(31).gone(0, How::Expire).acquire(0, 2);
    tale.at(32).gone(1, How::Delete).at(33).release(2);
    let judged = tale.judge();
    assert_eq!(judged.violated.to_string(), "foreign-release");
    assert_eq!(judged.only(Kind::ForeignRelease).server, Some(ServerId(0)));
    // Expiry, loss and an outsider are no client's release.
    for how in [How::Expire, How::Lose, How::Delete] {
        let mut near = Tale::new();
        near.at(0).acquire(0, 1).at(5).gone(0, how).at(6).release(1);
        assert_eq!(near.violated(), "");
    }
}

#[test]
fn foreign_renew_is_extending_or_replacing_anothers_key() {
    for how in [How::Extend, How::Overwrite] {
        let mut tale = Tale::new();
        tale.at(0).acquire(0, 1).at(30).lose(1).at(31).gone(0, How::Expire).acquire(2, 2);
        tale.at(32).key(1, how, secs(62), false).at(40).release(2);
        assert!(tale.judge().violated.contains(Kind::ForeignRenew));
    }
    let mut near = Tale::new();
    near.at(0).acquire(0, 1).at(10).key(1, How::Extend, secs(40), false);
    near.at(20).key(1, How::Overwrite, secs(50), false).at(30).free(1);
    assert_eq!(near.violated(), "");
}

#[test]
fn an_orphan_has_neither_expiry_nor_a_live_believer() {
    let tale = |deadline, ends: fn(&mut Tale) -> &mut Tale| {
        let mut tale = Tale::new();
        tale.at(0).ask(0).key(1, How::Create, deadline, true).believe(0, 1).at(5);
        ends(&mut tale);
        tale.heal().at(100).judge()
    };
    let forever = Instant::NEVER;
    let orphan = "orphan-no-ttl";
    assert_eq!(tale(forever, |tale| tale.crash(0)).violated.to_string(), orphan);
    assert_eq!(tale(forever, |tale| tale.release(1)).violated.to_string(), orphan);
    assert_eq!(
        tale(forever, |tale| tale.what(What::Finished { thread: ThreadId(0) }))
            .violated
            .to_string(),
        orphan
    );
    assert_eq!(tale(forever, |tale| tale).violated, KindSet::EMPTY);
    assert_eq!(tale(forever, |tale| tale.free(1)).violated, KindSet::EMPTY);
    let expires = secs(0) + TTL;
    assert_eq!(tale(expires, |tale| tale.crash(0)).violated, KindSet::EMPTY);
}

#[test]
fn a_replicas_copy_is_no_orphan_unless_it_is_promoted() {
    let tale = |promoted: bool| {
        let mut tale = Tale::new();
        tale.rules.locks[0].servers.push(ServerId(1));
        tale.at(0).acquire(0, 1).what(What::KeySet {
            server: ServerId(1),
            lock: LockId(0),
            by: GrantId(1),
            owner: GrantId::NONE,
            deadline: Instant::NEVER,
            how: How::Create,
            commits: false,
        });
        tale.at(5).free(1);
        if promoted {
            tale.what(What::Promoted { server: ServerId(1) });
        }
        tale.heal().at(100).violated()
    };
    assert_eq!(tale(false), "");
    assert_eq!(tale(true), "orphan-no-ttl");
}

#[test]
fn a_ghost_is_noted_and_violates_beyond_its_bound() {
    // A crash leaves the key until its deadline.
    let mut tale = Tale::new();
    tale.at(0).acquire(0, 1).at(10).crash(0).heal().at(100);
    let judged = tale.judge();
    assert_eq!((judged.violated, judged.noted), (KindSet::EMPTY, KindSet::of(&[Kind::GhostHold])));
    assert_eq!(judged.tally.ghost_holds.max, secs(30).since(secs(10)));
    // Somebody's blind renewals keep it alive for longer than the TTL and the bound.
    for at in [20, 30, 40] {
        let mut tale = Tale::new();
        tale.at(0).acquire(0, 1).at(10).crash(0);
        tale.at(at).key(2, How::Extend, secs(at + 6), false).heal().at(100);
        let exceeds = tale.judge().violated.contains(Kind::GhostHold);
        assert_eq!(exceeds, at == 40, "renewed at {at}");
    }
    // A release under way is none.
    let mut near = Tale::new();
    near.at(0).acquire(0, 1).at(10).release(1).at(11).gone(1, How::Delete);
    assert_eq!(near.judge().noted, KindSet::EMPTY);
}

#[test]
fn a_servers_clock_moves_the_deadlines_of_its_keys() {
    for (by, to) in [(5_000_000_000, 25), (-5_000_000_000, 35)] {
        let mut tale = Tale::new();
        tale.at(0).acquire(0, 1).at(10).crash(0);
        tale.what(What::ServerClock { server: ServerId(0), by }).heal().at(100);
        assert_eq!(tale.judge().only(Kind::GhostHold).to, secs(to));
    }
}

#[test]
fn a_servers_data_loss_ends_its_keys() {
    let mut tale = Tale::new();
    tale.at(0).ask(0).key(1, How::Create, Instant::NEVER, true).believe(0, 1).at(5).release(1);
    tale.what(What::DataLost { server: ServerId(0) }).heal().at(100);
    assert_eq!(tale.violated(), "");
}

#[test]
fn self_block_is_about_residue_of_an_attempt_given_up() {
    let mut tale = Tale::new();
    tale.at(0).ask(0).commit(1).at(1).unknown(0, 1).at(2).refuse(0, 2).refuse(2, 3).refuse(0, 4);
    let judged = tale.abandon(0).judge();
    assert!(judged.noted.contains(Kind::SelfBlock));
    assert_eq!(judged.tally.self_blocks, 2);
    let mut near = Tale::new();
    near.at(0).ask(0).commit(1).at(1).unknown(0, 1).at(2).refuse(2, 3).at(31).refuse(0, 2);
    assert!(!near.judge().noted.contains(Kind::SelfBlock));
}
