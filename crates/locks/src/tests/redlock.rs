//! Redlock on three servers: who is granted, until when, and what failure leaves behind.

use fencepost_history::{Duration, GrantId, ServerId, WallTime};
use fencepost_services::{Client, Command, RedisRequest, Request};

use super::lab::{DOCUMENTED, EPOCH, KEY, attempt, steal, talk_to};
use crate::{
    AcquireError, Contact, KeyLock, LeaseClock, LockStrategy, Missing, Quorum, Redlock, Renewal,
};

const MS: Duration = Duration::from_millis(1);

/// Two of three, as documented: 30 s less 302 ms of drift.
const RULES: Quorum = Quorum {
    servers: 3,
    quorum: 2,
    contact: Contact::Parallel,
    drift: Duration::from_millis(302),
    min_validity: Some(Duration::ZERO),
    undoes: true,
    returns_early: false,
    missing: Missing::Leave,
};

const fn redlock(rules: Quorum) -> Redlock {
    Redlock { lock: DOCUMENTED, rules }
}

const SET: &str = "SET lock:job c3-7 NX PX 30000";
const UNDO: &str = "EVAL <compare-and-delete> 1 lock:job c3-7";

/// Lets an outsider have the key on the first servers, then asks.
fn acquire(
    strategy: Redlock,
    stolen: u16,
    plan: &[&str],
) -> (Result<WallTime, AcquireError>, Vec<String>) {
    let talk = talk_to(3, plan, move |client| async move {
        take(&client, 0..stolen, steal()).await;
        strategy.acquire(&client, attempt(7)).await.map(|grant| grant.ends)
    });
    let texts = talk.texts.into_iter().skip(2 * usize::from(stolen)).collect();
    (talk.result, texts)
}

async fn take(client: &Client, servers: std::ops::Range<u16>, command: Command) {
    for server in servers {
        let request = Request::Redis(RedisRequest { command, by: GrantId(99) });
        client.call(ServerId(server), request).await;
    }
}

fn ends_after(millis: u64) -> Result<WallTime, AcquireError> {
    Ok(EPOCH + Duration::from_millis(millis))
}

fn count(texts: &[String], text: &str) -> usize {
    texts.iter().filter(|said| *said == text).count()
}

#[test]
fn a_majority_is_enough_and_the_lock_ends_early_by_the_drift() {
    let (all, texts) = acquire(redlock(RULES), 0, &[]);
    assert_eq!(all, ends_after(30_000 - 302));
    assert_eq!(texts, [SET, SET, SET, "OK", "OK", "OK"]);
    let (two, texts) = acquire(redlock(RULES), 0, &["net.loss@c1->r2#1 = 1"]);
    assert_eq!(two, ends_after(30_000 - 302));
    assert_eq!(count(&texts, UNDO), 0);
    let (two, _) = acquire(redlock(RULES), 1, &[]);
    assert_eq!(two, ends_after(30_002 - 302), "the clock was read before the request");
}

#[test]
fn a_minority_is_undone_on_all_servers() {
    let (refused, texts) = acquire(redlock(RULES), 2, &[]);
    assert_eq!(refused, Err(AcquireError::Refused));
    assert_eq!(count(&texts, UNDO), 3, "also where it seemed to be refused");
    let silent = ["net.loss@c1->r1#1 = 1", "net.loss@r2->c1#1 = 1"];
    let (unknown, texts) = acquire(redlock(RULES), 0, &silent);
    assert_eq!(unknown, Err(AcquireError::Unknown), "nobody knows whether r2 has it");
    assert_eq!(count(&texts, UNDO), 3);
    let rules = Quorum { undoes: false, ..RULES };
    let (refused, texts) = acquire(redlock(rules), 2, &[]);
    assert_eq!(refused, Err(AcquireError::Refused));
    assert_eq!(count(&texts, UNDO), 0);
}

/// A lock for 30 ms, of which 10 are drift, and a server that may take long to answer.
fn short(min_validity: Option<Duration>) -> Redlock {
    let lock = KeyLock {
        ttl: MS.saturating_mul(30),
        ttl_millis: 30,
        request_timeout: MS.saturating_mul(100),
        ..DOCUMENTED
    };
    Redlock { lock, rules: Quorum { drift: MS.saturating_mul(10), min_validity, ..RULES } }
}

#[test]
fn validity_is_what_asking_and_drift_leave_of_the_time_to_live() {
    // Asking takes 2 ms and the delay; 20 ms are to be had.
    let after = |delay: u32, min_validity| {
        let delay = format!("net.delay@r3->c1#1 = {delay}ms");
        acquire(short(min_validity), 0, &[&delay]).0
    };
    let any = Some(Duration::ZERO);
    assert_eq!(after(17, any), ends_after(20), "one millisecond is left");
    assert_eq!(after(18, any), Err(AcquireError::TooLate), "nothing is left");
    assert_eq!(after(18, None), Ok(WallTime::NEVER), "nobody looks at the clock");
    let five = Some(MS.saturating_mul(5));
    assert_eq!(after(13, five), ends_after(20));
    assert_eq!(after(14, five), Err(AcquireError::TooLate), "less than is wanted is left");
}

#[test]
fn a_wall_clock_that_steps_back_makes_validity_too_long() {
    let step = "clock.step@c1@1ms = -1s";
    let late = ["net.delay@r3->c1#1 = 60ms", step];
    assert_eq!(acquire(short(Some(Duration::ZERO)), 0, &late).0, ends_after(20));
    let mut monotonic = short(Some(Duration::ZERO));
    monotonic.lock.clock = LeaseClock::Monotonic;
    assert_eq!(acquire(monotonic, 0, &late).0, Err(AcquireError::TooLate));
}

#[test]
fn servers_can_be_asked_in_turn() {
    let rules = Quorum { contact: Contact::Sequential, ..RULES };
    let (granted, texts) = acquire(redlock(rules), 0, &[]);
    assert_eq!(granted, ends_after(30_000 - 302));
    assert_eq!(texts, [SET, "OK", SET, "OK", SET, "OK"]);
    // Each has its own time-out of 10 ms, and early return asks no more than it needs.
    let rules = Quorum { returns_early: true, ..rules };
    let (granted, texts) = acquire(redlock(rules), 0, &["net.loss@c1->r1#1 = 1"]);
    assert_eq!(granted, ends_after(30_000 - 302));
    assert_eq!(texts, [SET, SET, "OK", SET, "OK"]);
    let (_, texts) = acquire(redlock(rules), 0, &[]);
    assert_eq!(texts, [SET, "OK", SET, "OK"]);
}

#[test]
fn an_early_return_leaves_the_slow_server_to_itself() {
    let rules = Quorum { returns_early: true, ..RULES };
    let talk = talk_to(3, &["net.delay@c1->r3#1 = 6ms"], move |client| async move {
        let strategy = redlock(rules);
        let grant = strategy.acquire(&client, attempt(7)).await.expect("two are enough");
        let granted = client.now().await.as_nanos();
        strategy.release(&client, &grant).await;
        (granted, client.now().await.as_nanos())
    });
    assert_eq!(talk.result, (2_000_000, 4_000_000));
    // The SET that comes after the release stays there until it expires.
    let end = talk.texts.len() - 1;
    assert_eq!(talk.texts[end], "OK", "{:?}", talk.texts);
}

/// What a renewal says after the key went missing on the first servers, and how many have it then.
fn renew(missing: Missing, gone: u16, stolen: bool) -> (Renewal, usize) {
    let talk = talk_to(3, &[], move |client| async move {
        let strategy = redlock(Quorum { missing, ..RULES });
        let grant = strategy.acquire(&client, attempt(7)).await.expect("the lock is free");
        take(&client, 0..gone, Command::Del { key: KEY }).await;
        if stolen {
            take(&client, 0..gone, steal()).await;
        }
        let renewal = strategy.renew(&client, &grant).await;
        take(&client, 0..3, Command::Get { key: KEY }).await;
        renewal
    });
    (talk.result, count(&talk.texts, "\"c3-7\""))
}

#[test]
fn a_renewal_wants_a_quorum_and_may_set_missing_keys_anew() {
    assert_eq!(renew(Missing::Leave, 0, false), (Renewal::Renewed, 3));
    assert_eq!(renew(Missing::Leave, 1, false), (Renewal::Renewed, 2));
    assert_eq!(renew(Missing::Refill, 1, false), (Renewal::Renewed, 3));
    assert_eq!(renew(Missing::Leave, 2, false), (Renewal::Lost, 1));
    assert_eq!(renew(Missing::Refill, 2, false), (Renewal::Lost, 1), "no quorum, no refill");
    assert_eq!(renew(Missing::Create, 2, false), (Renewal::Renewed, 3), "as if nothing had been");
    assert_eq!(renew(Missing::Create, 2, true), (Renewal::Lost, 1), "but it takes nobody's key");
}

#[test]
fn a_renewal_that_few_answer_is_unknown() {
    let plan = ["net.loss@c1->r1#2 = 1", "net.loss@c1->r2#2 = 1"];
    let talk = talk_to(3, &plan, |client| async move {
        let strategy = redlock(RULES);
        let grant = strategy.acquire(&client, attempt(7)).await.expect("the lock is free");
        strategy.renew(&client, &grant).await
    });
    assert_eq!(talk.result, Renewal::Unknown);
}

#[test]
fn a_release_asks_all_servers_and_may_be_retried() {
    let release = |retries_release: bool| {
        talk_to(3, &["net.loss@c1->r1#2 = 1"], move |client| async move {
            let lock = KeyLock { retries_release, ..DOCUMENTED };
            let strategy = Redlock { lock, rules: RULES };
            let grant = strategy.acquire(&client, attempt(7)).await.expect("the lock is free");
            strategy.release(&client, &grant).await;
            take(&client, 0..3, Command::Get { key: KEY }).await;
        })
        .texts
    };
    let once = release(false);
    assert_eq!((count(&once, UNDO), count(&once, "\"c3-7\"")), (3, 1));
    let twice = release(true);
    assert_eq!((count(&twice, UNDO), count(&twice, "\"c3-7\"")), (6, 0));
}
