//! Making the lock live longer, and fetching a token without a grant.

use fencepost_history::Token;
use fencepost_services::{Command, KeyId};

use super::lab::{DOCUMENTED, KEY, Talk, attempt, meddle, steal, talk};
use crate::{KeyLock, LockStrategy, Renewal, SetNx, SetNxExpire, SetNxPx};

/// What is said at a renewal, after something was done to the key.
fn renew(compares: bool, before: &'static [fn() -> Command], plan: &[&str]) -> Talk<Renewal> {
    let strategy = SetNxPx(KeyLock { renews_own_only: compares, ..DOCUMENTED });
    let mut talk = talk(plan, move |client| async move {
        let grant = strategy.acquire(&client, attempt(7)).await.expect("the lock is free");
        for command in before {
            meddle(&client, command()).await;
        }
        strategy.renew(&client, &grant).await
    });
    talk.texts.drain(..2 + 2 * before.len());
    talk
}

const DEL: fn() -> Command = || Command::Del { key: KEY };

#[test]
fn a_renewal_that_compares_lengthens_its_own_key_alone() {
    let script = "EVAL <compare-and-pexpire> 1 lock:job c3-7 30000";
    let own = renew(true, &[], &[]);
    assert_eq!((own.texts, own.result), (said(&[script, "(integer) 1"]), Renewal::Renewed));
    let foreign = renew(true, &[DEL, steal], &[]);
    assert_eq!((foreign.texts, foreign.result), (said(&[script, "(integer) 0"]), Renewal::Lost));
    let gone = renew(true, &[DEL], &[]);
    assert_eq!((gone.texts, gone.result), (said(&[script, "(integer) 0"]), Renewal::Lost));
}

#[test]
fn a_blind_renewal_lengthens_whatever_is_there() {
    let command = "PEXPIRE lock:job 30000";
    let own = renew(false, &[], &[]);
    assert_eq!((own.texts, own.result), (said(&[command, "(integer) 1"]), Renewal::Renewed));
    let foreign = renew(false, &[DEL, steal], &[]);
    assert_eq!(
        (foreign.texts, foreign.result),
        (said(&[command, "(integer) 1"]), Renewal::Renewed),
        "it takes the successor's key for its own"
    );
    let gone = renew(false, &[DEL], &[]);
    assert_eq!((gone.texts, gone.result), (said(&[command, "(integer) 0"]), Renewal::Lost));
}

#[test]
fn a_renewal_without_reply_is_unknown() {
    for plan in ["net.loss@c1->r1#2 = 1", "net.loss@r1->c1#2 = 1"] {
        assert_eq!(renew(true, &[], &[plan]).result, Renewal::Unknown);
        assert_eq!(renew(false, &[], &[plan]).result, Renewal::Unknown);
    }
}

#[test]
fn every_strategy_renews_and_counts_alike() {
    async fn keep<S: LockStrategy>(
        strategy: S,
        client: crate::Client,
    ) -> (Renewal, Option<Token>, Option<Token>) {
        let grant = strategy.acquire(&client, attempt(7)).await.expect("the lock is free");
        let renewal = strategy.renew(&client, &grant).await;
        let first = strategy.fresh_token(&client, &grant).await;
        let second = strategy.fresh_token(&client, &grant).await;
        (renewal, first.map(|grant| grant.token), second.map(|grant| grant.token))
    }
    let expected = (Renewal::Renewed, Some(Token(1)), Some(Token(2)));
    let lock = DOCUMENTED;
    assert_eq!(talk(&[], move |client| keep(SetNx(lock), client)).result, expected);
    assert_eq!(talk(&[], move |client| keep(SetNxExpire(lock), client)).result, expected);
    let last = talk(&[], move |client| keep(SetNxPx(lock), client));
    assert_eq!(last.result, expected);
    let end = last.texts.len() - 4;
    assert_eq!(
        last.texts[end..],
        ["INCR fence:job", "(integer) 1", "INCR fence:job", "(integer) 2"]
    );
}

#[test]
fn a_fresh_token_keeps_all_else_of_the_grant_and_may_not_come() {
    let fresh = |plan: &[&str]| {
        talk(plan, |client| async move {
            let strategy = SetNxPx(DOCUMENTED);
            let grant = strategy.acquire(&client, attempt(7)).await.expect("the lock is free");
            (grant, strategy.fresh_token(&client, &grant).await)
        })
        .result
    };
    let (grant, renewed) = fresh(&[]);
    let renewed = renewed.expect("the node answers");
    assert_eq!(crate::Grant { token: Token::NONE, ..renewed }, grant);
    assert_eq!(fresh(&["net.loss@r1->c1#2 = 1"]).1, None);
    assert_ne!(KeyId(0), DOCUMENTED.counter);
}

fn said(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}
