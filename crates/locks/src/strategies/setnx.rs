//! `SETNX key value`: a lock that nothing ends but its release.

use fencepost_history::{Moment, Token};
use fencepost_services::{Client, Command, RedisReply};

use super::Entry;
use crate::{AcquireError, Attempt, Grant, KeyLock, LockStrategy, Renewal};

/// The strategy's place in the list.
pub(super) const ENTRY: Entry = Entry {
    name: "setnx",
    summary: "SETNX without expiry: a crash of the holder leaves the key for ever.",
    source: "Redis documentation of SETNX before 2.6.12, \"Design pattern: Locking with SETNX\"",
};

/// Takes the lock by `SETNX` and sets no expiry.
#[derive(Clone, Copy, Debug)]
pub struct SetNx(pub KeyLock);

impl LockStrategy for SetNx {
    async fn acquire(&self, client: &Client, attempt: Attempt) -> Result<Grant, AcquireError> {
        let lock = &self.0;
        let started = lock.starts(client).await;
        let command = Command::SetNx { key: lock.key, value: lock.value(&attempt) };
        match lock.ask(client, attempt.id, command, Moment::AcquireSent).await {
            Some(RedisReply::Integer(1)) => {}
            Some(_) => return Err(AcquireError::Refused),
            None => return Err(AcquireError::Unknown),
        }
        let grant = lock.grant(&attempt, started, Token::NONE);
        if let Some(grant) = lock.take_token(client, &grant).await {
            return Ok(grant);
        }
        lock.undo(client, &grant).await;
        Err(AcquireError::Unknown)
    }

    async fn release(&self, client: &Client, grant: &Grant) {
        self.0.give_back(client, grant).await;
    }

    async fn renew(&self, client: &Client, grant: &Grant) -> Renewal {
        self.0.prolong(client, grant).await
    }

    async fn fresh_token(&self, client: &Client, grant: &Grant) -> Option<Grant> {
        self.0.fresh_token(client, grant).await
    }
}
