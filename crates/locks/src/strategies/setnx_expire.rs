//! `SETNX`, then `EXPIRE`: two commands, and a crash fits between them.

use fencepost_history::{Moment, Token};
use fencepost_services::{Client, Command, ExpireCondition, ExpireUnit, RedisReply};

use super::Entry;
use crate::{AcquireError, Attempt, Grant, KeyLock, LockStrategy, Renewal};

/// The strategy's place in the list.
pub(super) const ENTRY: Entry = Entry {
    name: "setnx-expire",
    summary: "SETNX, then EXPIRE as a second command: a crash between the two leaves the key \
              for ever.",
    source: "Countless tutorials; Jedis' setnx and expire used one after the other",
};

/// Takes the lock by `SETNX` and gives it an expiry by a second command.
#[derive(Clone, Copy, Debug)]
pub struct SetNxExpire(pub KeyLock);

impl LockStrategy for SetNxExpire {
    async fn acquire(&self, client: &Client, attempt: Attempt) -> Result<Grant, AcquireError> {
        let lock = &self.0;
        let started = lock.starts(client).await;
        let command = Command::SetNx { key: lock.key, value: lock.value(&attempt) };
        match lock.ask(client, attempt.id, command, Moment::AcquireSent).await {
            Some(RedisReply::Integer(1)) => client.mark(Moment::ExpireDue),
            Some(_) => return Err(AcquireError::Refused),
            None => return Err(AcquireError::Unknown),
        }
        let grant = lock.grant(&attempt, started, Token::NONE);
        let (unit, time) = match (lock.ttl_millis / 1000, lock.ttl_millis % 1000) {
            (seconds, 0) => (ExpireUnit::Seconds, seconds),
            _ => (ExpireUnit::Millis, lock.ttl_millis),
        };
        let condition = ExpireCondition::Always;
        let expire = Command::Expire { key: lock.key, time, unit, condition };
        if lock.ask(client, attempt.id, expire, Moment::AcquireSent).await.is_some()
            && let Some(grant) = lock.take_token(client, &grant).await
        {
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
