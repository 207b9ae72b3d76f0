//! A lock strategy and a checker of one's own, on `fencepost` alone.
use fencepost::services::{Command, RedisReply};
use fencepost::{AcquireError, Attempt, Client, Grant, KeyLock, LockStrategy, Moment, Token};
use fencepost::{Checker, Event, Finding, Findings, Instant, What};

/// `SET NX PX`, given back by a `DEL` that does not look whose lock it is.
pub struct MyLock(pub KeyLock);

impl LockStrategy for MyLock {
    async fn acquire(&self, client: &Client, attempt: Attempt) -> Result<Grant, AcquireError> {
        let (lock, started) = (&self.0, self.0.now(client).await);
        let set = Command::set_nx_px(lock.key, lock.value(&attempt), lock.ttl_millis);
        match lock.ask(client, attempt.id, set, Moment::AcquireSent).await {
            Some(RedisReply::Ok) => Ok(lock.grant(&attempt, started, Token::NONE)),
            Some(_) => Err(AcquireError::Refused),
            None => Err(AcquireError::Unknown),
        }
    }
    async fn release(&self, client: &Client, grant: &Grant) {
        self.0.ask(client, grant.id, Command::Del { key: self.0.key }, Moment::ReleaseSent).await;
    }
}

/// Finds a run in which nobody ever gets the lock.
#[derive(Default)]
pub struct NobodyServed(bool);

impl Checker for NobodyServed {
    fn reset(&mut self) {
        self.0 = false;
    }
    fn event(&mut self, _: u32, event: &Event, _: &mut Findings) {
        self.0 |= matches!(event.what, What::Acquired { .. });
    }
    fn end(&mut self, at: Instant, findings: &mut Findings) {
        if !self.0 {
            findings.add(Finding::own("nobody-served", 0, at));
        }
    }
}
