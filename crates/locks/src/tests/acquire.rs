//! Asking for the lock: granted, refused, and unanswered.

use fencepost_history::{Duration, GrantId, LockId, Token, WallTime};
use fencepost_services::Value;

use super::lab::{DOCUMENTED, EPOCH, Talk, attempt, meddle, steal, talk};
use crate::{
    AcquireError, Grant, KeyLock, LeaseClock, LockStrategy, Release, SetNx, SetNxExpire, SetNxPx,
    TokenSource, ValueSource,
};

type Asked = Talk<Result<Grant, AcquireError>>;

fn ask<S: LockStrategy + Copy>(strategy: S, plan: &[&str]) -> Asked {
    talk(plan, move |client| async move { strategy.acquire(&client, attempt(7)).await })
}

/// The same when somebody else has the lock; what that one says is left out.
fn ask_in_vain<S: LockStrategy + Copy>(strategy: S) -> Asked {
    let mut talk = talk(&[], move |client| async move {
        meddle(&client, steal()).await;
        strategy.acquire(&client, attempt(7)).await
    });
    talk.texts.drain(..2);
    talk
}

fn with(change: impl FnOnce(&mut KeyLock)) -> KeyLock {
    let mut lock = DOCUMENTED;
    change(&mut lock);
    lock
}

#[test]
fn set_nx_px_takes_the_lock_by_one_command() {
    let asked = ask(SetNxPx(DOCUMENTED), &[]);
    assert_eq!(asked.texts, ["SET lock:job c3-7 NX PX 30000", "OK"]);
    let grant = Grant {
        id: GrantId(7),
        lock: LockId(0),
        value: Value::Token { client: 3, serial: 7 },
        token: Token::NONE,
        ends: WallTime::NEVER,
    };
    assert_eq!(asked.result, Ok(grant));
    let asked = ask_in_vain(SetNxPx(DOCUMENTED));
    assert_eq!(asked.texts, ["SET lock:job c3-7 NX PX 30000", "(nil)"]);
    assert_eq!(asked.result, Err(AcquireError::Refused));
}

#[test]
fn an_attempt_without_reply_is_unknown_and_asks_nothing_more() {
    for (plan, said) in [("net.loss@c1->r1#1 = 1", 1), ("net.loss@r1->c1#1 = 1", 2)] {
        let asked = ask(SetNxPx(DOCUMENTED), &[plan]);
        assert_eq!(asked.texts, ["SET lock:job c3-7 NX PX 30000", "OK"][..said]);
        assert_eq!(asked.result, Err(AcquireError::Unknown));
        let asked = ask(SetNx(DOCUMENTED), &[plan]);
        assert_eq!(asked.texts, ["SETNX lock:job c3-7", "(integer) 1"][..said]);
        assert_eq!(asked.result, Err(AcquireError::Unknown));
        let asked = ask(SetNxExpire(DOCUMENTED), &[plan]);
        assert_eq!(asked.texts, ["SETNX lock:job c3-7", "(integer) 1"][..said]);
        assert_eq!(asked.result, Err(AcquireError::Unknown));
    }
}

#[test]
fn setnx_sets_no_expiry() {
    let asked = ask(SetNx(DOCUMENTED), &[]);
    assert_eq!(asked.texts, ["SETNX lock:job c3-7", "(integer) 1"]);
    assert!(asked.result.is_ok());
    let asked = ask_in_vain(SetNx(DOCUMENTED));
    assert_eq!(asked.texts, ["SETNX lock:job c3-7", "(integer) 0"]);
    assert_eq!(asked.result, Err(AcquireError::Refused));
}

#[test]
fn setnx_expire_takes_two_commands() {
    let asked = ask(SetNxExpire(DOCUMENTED), &[]);
    assert_eq!(
        asked.texts,
        ["SETNX lock:job c3-7", "(integer) 1", "EXPIRE lock:job 30", "(integer) 1"]
    );
    assert!(asked.result.is_ok());
    // A length that is no whole number of seconds goes out in milliseconds.
    let short = with(|lock| (lock.ttl, lock.ttl_millis) = (Duration::from_millis(1500), 1500));
    assert_eq!(ask(SetNxExpire(short), &[]).texts[2], "PEXPIRE lock:job 1500");
    // Whoever is refused leaves the expiry of the holder alone.
    let asked = ask_in_vain(SetNxExpire(DOCUMENTED));
    assert_eq!(asked.texts, ["SETNX lock:job c3-7", "(integer) 0"]);
    assert_eq!(asked.result, Err(AcquireError::Refused));
}

#[test]
fn setnx_expire_undoes_what_it_cannot_finish() {
    let asked = ask(SetNxExpire(DOCUMENTED), &["net.loss@c1->r1#2 = 1"]);
    assert_eq!(
        asked.texts,
        [
            "SETNX lock:job c3-7",
            "(integer) 1",
            "EXPIRE lock:job 30",
            "EVAL <compare-and-delete> 1 lock:job c3-7",
        ],
        "it awaits no answer to the release"
    );
    assert_eq!(asked.result, Err(AcquireError::Unknown));
    let plain = with(|lock| lock.release = Release::Del);
    let asked = ask(SetNxExpire(plain), &["net.loss@c1->r1#2 = 1"]);
    assert_eq!(asked.texts[3], "DEL lock:job");
}

#[test]
fn a_value_tells_apart_whom_it_can() {
    let said = |value| {
        let lock = with(|lock| lock.value = value);
        ask(SetNxPx(lock), &[]).texts[0].clone()
    };
    assert_eq!(said(ValueSource::Fixed), "SET lock:job 1 NX PX 30000");
    assert_eq!(said(ValueSource::ProcessName), "SET lock:job billing NX PX 30000");
    assert_eq!(said(ValueSource::ThreadId), "SET lock:job 2 NX PX 30000");
    assert_eq!(said(ValueSource::PerAcquisition), "SET lock:job c3-7 NX PX 30000");
    let [first, second] = [attempt(7), attempt(8)].map(|attempt| DOCUMENTED.value(&attempt));
    assert_ne!(first, second);
    let fixed = with(|lock| lock.value = ValueSource::ThreadId);
    assert_eq!(fixed.value(&attempt(7)), fixed.value(&attempt(8)));
}

#[test]
fn a_token_may_come_with_the_grant() {
    let lock = with(|lock| lock.token = TokenSource::InAcquireScript);
    let asked = ask(SetNxPx(lock), &[]);
    let script = "EVAL <acquire-with-token> 2 lock:job fence:job c3-7 30000";
    assert_eq!(asked.texts, [script, "(integer) 1"]);
    assert_eq!(asked.result.map(|grant| grant.token), Ok(Token(1)));
    let asked = ask_in_vain(SetNxPx(lock));
    assert_eq!(asked.texts, [script, "(nil)"]);
    assert_eq!(asked.result, Err(AcquireError::Refused));
}

#[test]
fn a_token_may_be_counted_after_the_grant() {
    let lock = with(|lock| lock.token = TokenSource::IncrAfterSet);
    let asked = ask(SetNxPx(lock), &[]);
    assert_eq!(
        asked.texts,
        ["SET lock:job c3-7 NX PX 30000", "OK", "INCR fence:job", "(integer) 1"]
    );
    assert_eq!(asked.result.map(|grant| grant.token), Ok(Token(1)));
    assert_eq!(ask(SetNx(lock), &[]).texts[2], "INCR fence:job");
    assert_eq!(ask(SetNxExpire(lock), &[]).texts[4], "INCR fence:job");
    // Without its token the lock is of no use: it is given back.
    let asked = ask(SetNxPx(lock), &["net.loss@r1->c1#2 = 1"]);
    assert_eq!(asked.texts[4..], ["EVAL <compare-and-delete> 1 lock:job c3-7"]);
    assert_eq!(asked.result, Err(AcquireError::Unknown));
}

#[test]
fn a_token_may_be_read_later() {
    let lock = with(|lock| lock.token = TokenSource::ReadLater);
    let asked = ask(SetNxPx(lock), &[]);
    assert_eq!(
        asked.texts,
        [
            "EVAL <acquire-with-token> 2 lock:job fence:job c3-7 30000",
            "(integer) 1",
            "GET fence:job",
            "\"1\"",
        ]
    );
    assert_eq!(asked.result.map(|grant| grant.token), Ok(Token(1)));
    // What is read is what stands there then: a successor's token.
    let late = talk(&["net.delay@c1->r1#2 = 5ms"], move |client| async move {
        let meddling = async {
            client.sleep(Duration::from_millis(4)).await;
            let incr = fencepost_services::Command::IncrBy { key: super::lab::COUNTER, by: 1 };
            meddle(&client, incr).await;
        };
        let strategy = SetNxPx(lock);
        fencepost_sim::join(strategy.acquire(&client, attempt(7)), meddling).await.0
    });
    assert_eq!(late.result.map(|grant| grant.token), Ok(Token(2)));
}

#[test]
fn the_lease_counts_from_before_the_attempt_by_the_client_s_clock() {
    let ends = |clock, plan: &[&str]| {
        let lock = with(|lock| (lock.clock, lock.checks_clock) = (clock, true));
        let strategy = SetNxPx(lock);
        let talk = talk(plan, move |client| async move {
            client.sleep(Duration::from_secs(1)).await;
            strategy.acquire(&client, attempt(7)).await.map(|grant| grant.ends)
        });
        talk.result.expect("the lock is free")
    };
    let second = Duration::from_secs(1);
    let length = DOCUMENTED.ttl;
    assert_eq!(ends(LeaseClock::Wall, &[]), EPOCH + second + length);
    let stepped = ["clock.step@c1@500ms = +9s"];
    let nine = Duration::from_secs(9);
    assert_eq!(ends(LeaseClock::Wall, &stepped), EPOCH + second + nine + length);
    let monotonic = WallTime::ZERO + second + length;
    assert_eq!(ends(LeaseClock::Monotonic, &[]), monotonic);
    assert_eq!(ends(LeaseClock::Monotonic, &stepped), monotonic);
    let endless = with(|lock| (lock.ttl, lock.checks_clock) = (Duration::MAX, true));
    let ends = ask(SetNx(endless), &[]).result.map(|grant| grant.ends);
    assert_eq!(ends, Ok(WallTime::NEVER));
}
