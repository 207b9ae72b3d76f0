//! A lock whose commands are scripts of the user's.

use fencepost_history::{GrantId, Moment, Token};
use fencepost_services::{
    Client, Reply, Request, ScriptCall, ScriptReply, ScriptRequest, ScriptVerdict,
};

use super::Entry;
use crate::{AcquireError, Attempt, Grant, KeyLock, LockStrategy, Renewal, TokenSource};

/// The strategy's place in the list.
pub(super) const ENTRY: Entry = Entry {
    name: "script",
    summary: "Lua scripts of one's own take, keep and give back the lock.",
    source: "the scenario's [lock.script]",
};

/// What the acquire script answers when the lock is granted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Granted {
    /// Anything but null and 0.
    #[default]
    Truthy,
    /// Null; anything else says how long to wait.
    Nil,
}

/// How clients call their scripts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Calling {
    /// `EVAL`, with the source each time.
    #[default]
    Eval,
    /// `EVALSHA`; a server that does not know the digest is not helped.
    EvalSha,
    /// `EVALSHA`, and `EVAL` where the server does not know the digest.
    EvalShaThenEval,
}

/// Takes the lock by scripts that the node has: the first acquires, the second releases, the third
/// extends.
#[derive(Clone, Copy, Debug)]
pub struct UserScript {
    /// The lock.
    pub lock: KeyLock,
    /// What a granted lock looks like.
    pub granted: Granted,
    /// How the scripts are called.
    pub calling: Calling,
}

const ACQUIRE: u8 = 0;
const RELEASE: u8 = 1;
const EXTEND: u8 = 2;

impl UserScript {
    async fn call(
        &self,
        client: &Client,
        script: u8,
        by: GrantId,
        value: fencepost_services::Value,
        sent: Moment,
    ) -> Option<ScriptReply> {
        let (key, counter, millis) = (self.lock.key, self.lock.counter, self.lock.ttl_millis);
        let call = match self.calling {
            Calling::Eval => ScriptCall::Source,
            Calling::EvalSha | Calling::EvalShaThenEval => ScriptCall::Digest,
        };
        let request = ScriptRequest { script, call, key, counter, value, millis, by };
        let reply = self.send(client, request, sent).await?;
        let is_unknown = reply.verdict == ScriptVerdict::NoScript;
        if is_unknown && self.calling == Calling::EvalShaThenEval {
            let request = ScriptRequest { call: ScriptCall::Source, ..request };
            return self.send(client, request, sent).await;
        }
        Some(reply)
    }

    async fn send(
        &self,
        client: &Client,
        request: ScriptRequest,
        sent: Moment,
    ) -> Option<ScriptReply> {
        let call = client.call(self.lock.node, Request::Script(request)).marking(sent);
        match call.within(self.lock.request_timeout).await {
            Ok(Reply::Script(reply)) => Some(reply),
            Ok(
                Reply::Redis(_) | Reply::Waited { .. } | Reply::Master(_) | Reply::Access { .. },
            )
            | Err(_) => None,
        }
    }

    const fn grants(&self, reply: ScriptReply) -> bool {
        match (self.granted, reply.verdict) {
            (Granted::Truthy, ScriptVerdict::Truthy) | (Granted::Nil, ScriptVerdict::Nil) => true,
            (Granted::Truthy | Granted::Nil, _) => false,
        }
    }
}

impl LockStrategy for UserScript {
    async fn acquire(&self, client: &Client, attempt: Attempt) -> Result<Grant, AcquireError> {
        let lock = &self.lock;
        let (value, started) = (lock.value(&attempt), lock.starts(client).await);
        let reply = self.call(client, ACQUIRE, attempt.id, value, Moment::AcquireSent).await;
        let reply = reply.ok_or(AcquireError::Unknown)?;
        if !self.grants(reply) {
            return Err(AcquireError::Refused);
        }
        let number = reply.number.and_then(|number| u64::try_from(number).ok());
        let token = match lock.token {
            TokenSource::InAcquireScript => number.map_or(Token::NONE, Token),
            TokenSource::None | TokenSource::IncrAfterSet | TokenSource::ReadLater => Token::NONE,
        };
        let grant = lock.grant(&attempt, started, token);
        match lock.take_token(client, &grant).await {
            Some(grant) => Ok(grant),
            None => {
                self.release(client, &grant).await;
                Err(AcquireError::Unknown)
            }
        }
    }

    async fn release(&self, client: &Client, grant: &Grant) {
        let (by, value) = (grant.id, grant.value);
        let reply = self.call(client, RELEASE, by, value, Moment::ReleaseSent).await;
        if reply.is_none() && self.lock.retries_release {
            self.call(client, RELEASE, by, value, Moment::ReleaseSent).await;
        }
    }

    async fn renew(&self, client: &Client, grant: &Grant) -> Renewal {
        let reply = self.call(client, EXTEND, grant.id, grant.value, Moment::RenewSent).await;
        match reply.map(|reply| reply.verdict) {
            Some(ScriptVerdict::Truthy) => Renewal::Renewed,
            Some(ScriptVerdict::Nil | ScriptVerdict::Zero) => Renewal::Lost,
            Some(ScriptVerdict::NoScript | ScriptVerdict::Failed) | None => Renewal::Unknown,
        }
    }
}
