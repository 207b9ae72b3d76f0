//! The list of strategies, and what one has that says little.

use fencepost_services::Client;

use super::lab::{DOCUMENTED, attempt, talk};
use crate::{AcquireError, Attempt, Grant, LIST, LockStrategy, Renewal, SetNxPx};

#[test]
fn every_strategy_says_what_it_does_and_where_it_comes_from() {
    assert!(!LIST.is_empty());
    for entry in LIST {
        let is_kebab = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        assert!(entry.name.chars().all(is_kebab), "{}", entry.name);
        assert!(entry.summary.ends_with('.'), "{}", entry.summary);
        assert!(!entry.source.is_empty(), "{}", entry.name);
        assert_eq!(LIST.iter().filter(|other| other.name == entry.name).count(), 1);
    }
}

/// A strategy that only takes and gives back.
struct Short;

impl LockStrategy for Short {
    async fn acquire(&self, client: &Client, attempt: Attempt) -> Result<Grant, AcquireError> {
        SetNxPx(DOCUMENTED).acquire(client, attempt).await
    }

    async fn release(&self, client: &Client, grant: &Grant) {
        SetNxPx(DOCUMENTED).release(client, grant).await;
    }
}

#[test]
fn a_short_strategy_cannot_renew_and_has_no_token() {
    let talk = talk(&[], |client| async move {
        let grant = Short.acquire(&client, attempt(1)).await.expect("the lock is free");
        (Short.renew(&client, &grant).await, Short.fresh_token(&client, &grant).await)
    });
    assert_eq!(talk.result, (Renewal::Lost, None));
    assert_eq!(talk.texts.len(), 2, "neither says a word");
}
