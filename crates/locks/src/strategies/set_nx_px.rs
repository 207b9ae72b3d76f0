//! `SET key value NX PX milliseconds`: value and expiry in one command.

use fencepost_history::{Moment, Token};
use fencepost_services::{Client, Command, RedisReply};

use super::Entry;
use crate::key::token_of;
use crate::{AcquireError, Attempt, Grant, KeyLock, LockStrategy, Renewal, TokenSource};

/// The strategy's place in the list.
pub(super) const ENTRY: Entry = Entry {
    name: "set-nx-px",
    summary: "SET NX PX: one atomic command takes the lock and gives it an expiry.",
    source: "Redis documentation, \"Distributed Locks with Redis\", the single-instance case",
};

/// Takes the lock by one `SET` with `NX` and `PX`, or by a script that also counts a token.
#[derive(Clone, Copy, Debug)]
pub struct SetNxPx(pub KeyLock);

impl LockStrategy for SetNxPx {
    async fn acquire(&self, client: &Client, attempt: Attempt) -> Result<Grant, AcquireError> {
        let lock = &self.0;
        let (key, value, millis) = (lock.key, lock.value(&attempt), lock.ttl_millis);
        let started = lock.starts(client).await;
        let command = match lock.token {
            TokenSource::InAcquireScript | TokenSource::ReadLater => {
                Command::AcquireWithToken { key, value, millis, counter: lock.counter }
            }
            TokenSource::None | TokenSource::IncrAfterSet => Command::set_nx_px(key, value, millis),
        };
        let (id, sent) = (attempt.id, Moment::AcquireSent);
        let answer = if lock.copying.wait.replicas == 0 {
            lock.ask(client, id, command, sent).await.map(|reply| (reply, true))
        } else {
            Box::pin(lock.ask_for_copies(client, id, command, sent)).await
        };
        let (token, has_copies) = match answer {
            Some((RedisReply::Ok, has_copies)) => (Token::NONE, has_copies),
            Some((reply, has_copies)) => {
                (token_of(reply).ok_or(AcquireError::Refused)?, has_copies)
            }
            None => return Err(AcquireError::Unknown),
        };
        let grant = lock.grant(&attempt, started, token);
        if !has_copies {
            lock.undo(client, &grant).await;
            return Err(AcquireError::Unknown);
        }
        if matches!(lock.token, TokenSource::None | TokenSource::InAcquireScript) {
            return Ok(grant);
        }
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
