//! Giving the lock back, in each of the ways that clients do.

use fencepost_history::Duration;

use super::lab::{DOCUMENTED, KEY, attempt, meddle, steal, talk};
use crate::{KeyLock, LockStrategy, Release, SetNxPx};
use fencepost_services::{Command, RedisReply, Value};

/// What is said at a release, and what is in the key afterwards.
fn release(release: Release, retries: bool, is_stolen: bool, plan: &[&str]) -> Vec<String> {
    let lock = KeyLock { release, retries_release: retries, ..DOCUMENTED };
    let strategy = SetNxPx(lock);
    let mut texts = talk(plan, move |client| async move {
        let grant = strategy.acquire(&client, attempt(7)).await.expect("the lock is free");
        if is_stolen {
            meddle(&client, Command::Del { key: KEY }).await;
            meddle(&client, steal()).await;
        }
        strategy.release(&client, &grant).await;
        client.sleep(Duration::from_secs(1)).await;
        meddle(&client, Command::Get { key: KEY }).await;
    })
    .texts;
    texts.drain(..if is_stolen { 6 } else { 2 });
    texts
}

const GONE: [&str; 2] = ["GET lock:job", "(nil)"];
const MINE: [&str; 2] = ["GET lock:job", "\"c3-7\""];
const THEIRS: [&str; 2] = ["GET lock:job", "\"c9-9\""];

fn said(first: &[&str], then: [&str; 2]) -> Vec<String> {
    first.iter().chain(&then).map(|&text| text.to_owned()).collect()
}

#[test]
fn no_release_leaves_the_key() {
    assert_eq!(release(Release::None, true, false, &[]), said(&[], MINE));
}

#[test]
fn del_deletes_whoever_s_key_it_is() {
    let del = ["DEL lock:job", "(integer) 1"];
    assert_eq!(release(Release::Del, false, false, &[]), said(&del, GONE));
    assert_eq!(release(Release::Del, false, true, &[]), said(&del, GONE));
}

#[test]
fn get_then_del_compares_first() {
    let both = ["GET lock:job", "\"c3-7\"", "DEL lock:job", "(integer) 1"];
    assert_eq!(release(Release::GetThenDel, false, false, &[]), said(&both, GONE));
    let get = ["GET lock:job", "\"c9-9\""];
    assert_eq!(release(Release::GetThenDel, false, true, &[]), said(&get, THEIRS));
    // Without the answer it deletes nothing.
    let lost = release(Release::GetThenDel, true, false, &["net.loss@c1->r1#2 = 1"]);
    assert_eq!(lost, said(&["GET lock:job"], MINE));
}

#[test]
fn get_then_del_deletes_a_foreign_key_if_the_key_changes_hands_in_between() {
    let strategy = SetNxPx(KeyLock { release: Release::GetThenDel, ..DOCUMENTED });
    let talk = talk(&["net.delay@c1->r1#3 = 5ms"], move |client| async move {
        let grant = strategy.acquire(&client, attempt(7)).await.expect("the lock is free");
        let meddling = async {
            // The DEL is under way from 4 to 10 ms.
            client.sleep(Duration::from_millis(3)).await;
            meddle(&client, Command::Del { key: KEY }).await;
            meddle(&client, steal()).await;
        };
        fencepost_sim::join(strategy.release(&client, &grant), meddling).await;
        meddle(&client, Command::Get { key: KEY }).await;
    });
    let end = talk.texts.len() - 2;
    assert_eq!(talk.texts[end..], GONE, "{:?}", talk.texts);
}

#[test]
fn compare_and_delete_deletes_its_own_key_alone() {
    let own = ["EVAL <compare-and-delete> 1 lock:job c3-7", "(integer) 1"];
    assert_eq!(release(Release::CompareAndDelete, false, false, &[]), said(&own, GONE));
    let foreign = ["EVAL <compare-and-delete> 1 lock:job c3-7", "(integer) 0"];
    assert_eq!(release(Release::CompareAndDelete, false, true, &[]), said(&foreign, THEIRS));
}

#[test]
fn a_release_is_retried_once_and_only_if_asked_for() {
    let lost_request = ["net.loss@c1->r1#2 = 1"];
    assert_eq!(release(Release::Del, false, false, &lost_request), said(&["DEL lock:job"], MINE));
    let twice = ["DEL lock:job", "DEL lock:job", "(integer) 1"];
    assert_eq!(release(Release::Del, true, false, &lost_request), said(&twice, GONE));
    let lost_reply = ["net.loss@r1->c1#2 = 1"];
    let again = ["DEL lock:job", "(integer) 1", "DEL lock:job", "(integer) 0"];
    assert_eq!(release(Release::Del, true, false, &lost_reply), said(&again, GONE));
    let lost_both = ["net.loss@c1->r1#2 = 1", "net.loss@c1->r1#3 = 1"];
    let in_vain = ["DEL lock:job", "DEL lock:job"];
    assert_eq!(release(Release::Del, true, false, &lost_both), said(&in_vain, MINE));
    // Of GET and DEL the retry repeats the DEL: nothing is compared again.
    let lost_del = ["net.loss@c1->r1#3 = 1"];
    let both = ["GET lock:job", "\"c3-7\"", "DEL lock:job", "DEL lock:job", "(integer) 1"];
    assert_eq!(release(Release::GetThenDel, true, false, &lost_del), said(&both, GONE));
    let script = "EVAL <compare-and-delete> 1 lock:job c3-7";
    assert_eq!(
        release(Release::CompareAndDelete, true, false, &lost_request),
        said(&[script, script, "(integer) 1"], GONE)
    );
}

#[test]
fn a_value_that_everybody_writes_protects_nobody() {
    let lock = KeyLock { value: crate::ValueSource::Fixed, ..DOCUMENTED };
    let strategy = SetNxPx(lock);
    let talk = talk(&[], move |client| async move {
        let grant = strategy.acquire(&client, attempt(7)).await.expect("the lock is free");
        meddle(&client, Command::Del { key: KEY }).await;
        strategy.acquire(&client, attempt(8)).await.expect("the lock is free again");
        strategy.release(&client, &grant).await;
        grant.value
    });
    assert_eq!(talk.result, Value::Integer(1));
    let end = talk.texts.len() - 2;
    assert_eq!(talk.texts[end..], ["EVAL <compare-and-delete> 1 lock:job 1", "(integer) 1"]);
    assert_eq!(RedisReply::Integer(1), RedisReply::Integer(1));
}
