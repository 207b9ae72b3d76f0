//! What all locks on one key of one Redis node have in common.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use fencepost_history::{Duration, GrantId, Moment, ServerId, Token, WallTime};
use fencepost_services::{
    Client, Command, ErrorCode, ExpireCondition, ExpireUnit, KeyId, RedisReply, RedisRequest,
    Reply, Request, Servers, Value, Wait,
};
use fencepost_sim::WithinCall;

use crate::{Attempt, Grant, Renewal};

/// What a client writes into the key, that is, what it can later recognise as its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ValueSource {
    /// `1` for everybody.
    Fixed,
    /// The process's name.
    ProcessName,
    /// The thread's number within its process.
    ThreadId,
    /// A new value for each attempt, as the Redis documentation asks for
    /// (redis.io, "Distributed Locks with Redis").
    #[default]
    PerAcquisition,
}

/// How the lock is given back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Release {
    /// Not at all: the key expires.
    None,
    /// `DEL`, whoever's key it is.
    Del,
    /// `GET`, compare, `DEL`: three steps.
    GetThenDel,
    /// The documented script: compare and delete in one step
    /// (redis.io, "Distributed Locks with Redis").
    #[default]
    CompareAndDelete,
}

/// Where the fencing token comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TokenSource {
    /// There is none.
    #[default]
    None,
    /// `INCR` in the script that takes the lock.
    InAcquireScript,
    /// `INCR` after the lock is taken.
    IncrAfterSet,
    /// The script counts, and the client reads the counter in a step of its own.
    ReadLater,
}

/// By which clock a client knows when its lock ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LeaseClock {
    /// The wall clock, which can step: `Date.now()`, `System.currentTimeMillis()`.
    #[default]
    Wall,
    /// The monotonic clock.
    Monotonic,
}

/// A command and its reply; nothing if none comes in time.
struct Ask<'a> {
    call: WithinCall<'a, Servers>,
    /// What is awaited in its place if the client has to find the server first.
    routed: Option<Routed<'a>>,
}

type Routed<'a> = Pin<Box<dyn Future<Output = Option<Reply>> + 'a>>;

impl Future for Ask<'_> {
    type Output = Option<RedisReply>;

    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let answer = match &mut self.routed {
            None => Pin::new(&mut self.call).poll(context).map(Result::ok),
            Some(routed) => routed.as_mut().poll(context),
        };
        answer.map(|answer| match answer {
            Some(Reply::Redis(reply)) => Some(reply),
            Some(
                Reply::Script(_) | Reply::Access { .. } | Reply::Waited { .. } | Reply::Master(_),
            )
            | None => None,
        })
    }
}

/// Where a client sends its commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Route {
    /// To the lock's node, always.
    #[default]
    Fixed,
    /// To whoever has the address that the lock's node has at first.
    Address,
    /// To the master, as sentinels tell it. Whoever is refused as at a replica asks anew.
    Sentinels {
        /// The first sentinel; the others follow it.
        first: ServerId,
        /// How many there are.
        count: u16,
        /// Whether a client also asks anew when no reply comes, as those do that drop a connection
        /// then and make it anew; the others wait until they are told.
        asks_after_timeout: bool,
    },
}

/// How a client makes sure that replicas have its lock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copying {
    /// `WAIT`, with zero replicas if there is none.
    pub wait: Wait,
    /// When it is sent.
    pub sent: WaitSent,
    /// Whether an acquisition that too few replicas have counts all the same.
    pub goes_on: bool,
}

/// When `WAIT` is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WaitSent {
    /// In one message with the command.
    #[default]
    Together,
    /// As the next command of the same connection.
    Afterwards,
    /// On another connection of a pool, where it waits for nothing.
    Elsewhere,
}

/// A lock on one key of one Redis node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyLock {
    /// The node.
    pub node: ServerId,
    /// The lock's key.
    pub key: KeyId,
    /// The key of the fencing counter.
    pub counter: KeyId,
    /// How long the key lives; [`Duration::MAX`] for ever.
    pub ttl: Duration,
    /// The same as the client sends it, in milliseconds.
    pub ttl_millis: i64,
    /// What the key holds.
    pub value: ValueSource,
    /// How it is given back.
    pub release: Release,
    /// Whether a release without reply is sent once more.
    pub retries_release: bool,
    /// Where tokens come from.
    pub token: TokenSource,
    /// How long a client waits for a reply of the node.
    pub request_timeout: Duration,
    /// Whether a renewal compares the value first.
    pub renews_own_only: bool,
    /// By which clock the client knows when its lock ends.
    pub clock: LeaseClock,
    /// Whether the client ever compares its clock with the lock's end.
    pub checks_clock: bool,
    /// Where commands go.
    pub route: Route,
    /// Whether an acquisition waits for replicas.
    pub copying: Copying,
}

impl KeyLock {
    /// Returns what an attempt writes.
    #[must_use]
    pub const fn value(&self, attempt: &Attempt) -> Value {
        let who = attempt.who;
        match self.value {
            ValueSource::Fixed => Value::Integer(1),
            ValueSource::ProcessName => who.name,
            ValueSource::ThreadId => Value::Integer(who.thread as i64),
            ValueSource::PerAcquisition => {
                Value::Token { client: who.process, serial: attempt.id.0 }
            }
        }
    }

    /// Sends a command for an attempt or a grant and waits for its reply; nothing if none came in
    /// time. `sent` is the moment that is passed when it is sent.
    #[inline(always)]
    pub fn ask<'a>(
        &self,
        client: &'a Client,
        by: GrantId,
        command: Command,
        sent: Moment,
    ) -> impl Future<Output = Option<RedisReply>> + use<'a> {
        let request = Request::Redis(RedisRequest { command, by });
        let call = client.call(self.node, request).marking(sent).within(self.request_timeout);
        let routed = match self.route {
            Route::Fixed => None,
            Route::Address | Route::Sentinels { .. } => {
                let lock = *self;
                let routed: Routed<'a> =
                    Box::pin(async move { lock.call(client, request, sent).await });
                Some(routed)
            }
        };
        Ask { call, routed }
    }

    /// Sends a request to where commands go and waits for its reply.
    #[inline]
    async fn call(&self, client: &Client, request: Request, sent: Moment) -> Option<Reply> {
        let node = match self.route {
            Route::Fixed => self.node,
            Route::Address | Route::Sentinels { .. } => self.find(client).await?,
        };
        let call = client.call(node, request).marking(sent).within(self.request_timeout);
        let reply = call.await.ok();
        if let Route::Sentinels { asks_after_timeout, .. } = self.route {
            let doubts = match reply {
                Some(Reply::Redis(RedisReply::Error(code))) => {
                    matches!(code, ErrorCode::ReadOnly | ErrorCode::Unblocked)
                }
                Some(_) => false,
                None => asks_after_timeout,
            };
            if doubts && client.recall() == u32::from(node.0) + 1 {
                client.remember(0);
            }
        }
        reply
    }

    /// Finds the server that commands go to; nothing if no sentinel answers.
    async fn find(&self, client: &Client) -> Option<ServerId> {
        let known = client.recall().checked_sub(1).and_then(|server| u16::try_from(server).ok());
        if let Some(server) = known {
            return Some(ServerId(server));
        }
        let Route::Sentinels { first, count, .. } = self.route else {
            return Some(self.node);
        };
        for place in 0..count {
            let call = client.call(ServerId(first.0 + place), Request::AskMaster);
            if let Ok(Reply::Master(server)) = call.within(self.request_timeout).await {
                client.remember(u32::from(server.0) + 1);
                return Some(server);
            }
        }
        None
    }

    /// Sends a command that takes the lock and waits for replicas; says whether enough have it.
    pub async fn ask_for_copies(
        &self,
        client: &Client,
        by: GrantId,
        command: Command,
        sent: Moment,
    ) -> Option<(RedisReply, bool)> {
        let Copying { wait, sent: when, goes_on } = self.copying;
        if when == WaitSent::Together {
            let request = Request::RedisThenWait(RedisRequest { command, by }, wait);
            return match self.call(client, request, sent).await? {
                Reply::Waited { reply, replicas } => {
                    Some((reply, goes_on || replicas >= wait.replicas))
                }
                Reply::Redis(reply) => Some((reply, true)),
                Reply::Script(_) | Reply::Access { .. } | Reply::Master(_) => None,
            };
        }
        let reply = self.ask(client, by, command, sent).await?;
        if matches!(reply, RedisReply::Nil | RedisReply::Error(_)) {
            return Some((reply, true));
        }
        let request = Request::Wait { wait, is_fresh: when == WaitSent::Elsewhere };
        let answer = self.call(client, request, Moment::CopiesAsked).await;
        let has_enough = matches!(answer, Some(Reply::Waited { replicas, .. })
            if replicas >= wait.replicas);
        Some((reply, goes_on || has_enough))
    }

    /// Reads the clock by which the client knows when its lock ends.
    #[inline]
    pub async fn now(&self, client: &Client) -> WallTime {
        match self.clock {
            LeaseClock::Wall => client.wall().await,
            LeaseClock::Monotonic => WallTime::from_nanos(client.now().await.as_nanos()),
        }
    }

    /// Reads the clock before an attempt, if the client will ever want to know when its lock ends.
    #[inline]
    pub async fn starts(&self, client: &Client) -> WallTime {
        if self.checks_clock { self.now(client).await } else { WallTime::NEVER }
    }

    /// Makes the grant of a successful attempt.
    #[must_use]
    pub fn grant(&self, attempt: &Attempt, started: WallTime, token: Token) -> Grant {
        Grant {
            id: attempt.id,
            lock: attempt.lock,
            value: self.value(attempt),
            token,
            ends: started + self.ttl,
        }
    }

    /// Fetches the token of a grant that has none yet; nothing if no reply came.
    pub(crate) async fn take_token(&self, client: &Client, grant: &Grant) -> Option<Grant> {
        let command = match self.token {
            TokenSource::None | TokenSource::InAcquireScript => return Some(*grant),
            TokenSource::IncrAfterSet => Command::IncrBy { key: self.counter, by: 1 },
            TokenSource::ReadLater => Command::Get { key: self.counter },
        };
        let reply = self.ask(client, grant.id, command, Moment::TokenTaken).await?;
        Some(Grant { token: token_of(reply)?, ..*grant })
    }

    pub(crate) async fn fresh_token(&self, client: &Client, grant: &Grant) -> Option<Grant> {
        let command = Command::IncrBy { key: self.counter, by: 1 };
        let reply = self.ask(client, grant.id, command, Moment::TokenTaken).await?;
        Some(Grant { token: token_of(reply)?, ..*grant })
    }

    /// Sends a release and does not look back, as clients do after a failed acquisition.
    pub(crate) async fn undo(&self, client: &Client, grant: &Grant) {
        let command = match self.release {
            Release::CompareAndDelete => {
                Command::CompareAndDelete { key: self.key, value: grant.value }
            }
            Release::None | Release::Del | Release::GetThenDel => Command::Del { key: self.key },
        };
        let request = Request::Redis(RedisRequest { command, by: grant.id });
        let node = match self.route {
            Route::Fixed => Some(self.node),
            Route::Address | Route::Sentinels { .. } => self.find(client).await,
        };
        if let Some(node) = node {
            client.send(node, request).await;
        }
    }

    pub(crate) async fn give_back(&self, client: &Client, grant: &Grant) {
        let (key, value) = (self.key, grant.value);
        let command = match self.release {
            Release::None => return,
            Release::Del => Command::Del { key },
            Release::CompareAndDelete => Command::CompareAndDelete { key, value },
            Release::GetThenDel if self.is_mine(client, grant).await => Command::Del { key },
            Release::GetThenDel => return,
        };
        let mut sendings = 1 + u32::from(self.retries_release);
        while sendings > 0 {
            let answer = self.ask(client, grant.id, command, Moment::ReleaseSent).await;
            let is_refused = answer == Some(RedisReply::Error(ErrorCode::ReadOnly));
            sendings = if answer.is_none() || is_refused { sendings - 1 } else { 0 };
        }
    }

    /// Compares before a release, in a step of its own.
    async fn is_mine(&self, client: &Client, grant: &Grant) -> bool {
        let get = Command::Get { key: self.key };
        let found = self.ask(client, grant.id, get, Moment::BeforeRelease).await;
        if found != Some(RedisReply::Value(grant.value)) {
            return false;
        }
        client.mark(Moment::ReleaseCompared);
        true
    }

    /// Returns the command that lengthens a grant's life at a node.
    pub(crate) const fn extension(&self, value: Value) -> Command {
        let (key, millis) = (self.key, self.ttl_millis);
        if self.renews_own_only {
            Command::CompareAndPexpire { key, value, millis }
        } else {
            let (unit, condition) = (ExpireUnit::Millis, ExpireCondition::Always);
            Command::Expire { key, time: millis, unit, condition }
        }
    }

    pub(crate) async fn prolong(&self, client: &Client, grant: &Grant) -> Renewal {
        let command = self.extension(grant.value);
        match self.ask(client, grant.id, command, Moment::RenewSent).await {
            Some(RedisReply::Integer(1)) => Renewal::Renewed,
            Some(RedisReply::Integer(_)) => Renewal::Lost,
            Some(_) | None => Renewal::Unknown,
        }
    }
}

/// Reads a reply as a token.
pub(crate) fn token_of(reply: RedisReply) -> Option<Token> {
    match reply {
        RedisReply::Integer(number) | RedisReply::Value(Value::Integer(number)) => {
            u64::try_from(number).ok().map(Token)
        }
        RedisReply::Ok
        | RedisReply::Nil
        | RedisReply::Queued
        | RedisReply::Value(_)
        | RedisReply::Error(_) => None,
    }
}
