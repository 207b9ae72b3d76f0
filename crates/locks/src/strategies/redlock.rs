//! Redlock: a lock on a majority of servers that know nothing of each other.
//!
//! As the Redis documentation describes it ("Distributed Locks with Redis", the Redlock algorithm):
//! the same `SET NX PX` on all servers, granted if a quorum said yes before the lock's time was
//! over. Its libraries differ in the points that [`Quorum`] lists.

use fencepost_history::{Duration, GrantId, Moment, ServerId, Token, WallTime};
use fencepost_services::{Client, Command, RedisReply, RedisRequest, Reply, Request};
use fencepost_sim::{Round, Votes};

use super::Entry;
use crate::{AcquireError, Attempt, Grant, KeyLock, LockStrategy, Release, Renewal};

/// The strategy's place in the list.
pub(super) const ENTRY: Entry = Entry {
    name: "redlock",
    summary: "Redlock: SET NX PX on several independent servers, granted by a majority of them.",
    source: "Redis documentation, \"Distributed Locks with Redis\", the Redlock algorithm",
};

/// In which order servers are asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Contact {
    /// All at once.
    #[default]
    Parallel,
    /// Each when the one before it has answered or timed out.
    Sequential,
}

/// What an extension does at a server that no longer has the key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Missing {
    /// Nothing.
    #[default]
    Leave,
    /// It sets the key there once a quorum of the others has been extended.
    Refill,
    /// It sets the key there and takes that for extended, as RedLock.net and aioredlock do.
    Create,
}

/// The servers, how many of them decide, and where libraries differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quorum {
    /// How many servers there are, from [`KeyLock::node`] on.
    pub servers: u16,
    /// How many must agree.
    pub quorum: u16,
    /// In which order they are asked.
    pub contact: Contact,
    /// What is taken off the lock's life for clocks that run at different rates.
    pub drift: Duration,
    /// How much of the lock's life must be left; nothing if the client does not look.
    pub min_validity: Option<Duration>,
    /// Whether a failed attempt is undone everywhere.
    pub undoes: bool,
    /// Whether the client goes on as soon as a quorum has answered.
    pub returns_early: bool,
    /// What an extension does where the key is missing.
    pub missing: Missing,
}

/// Takes the lock on a quorum of independent servers.
#[derive(Clone, Copy, Debug)]
pub struct Redlock {
    /// The key, its value and its time to live, alike on all servers.
    pub lock: KeyLock,
    /// The servers and their quorum.
    pub rules: Quorum,
}

/// Returns whether a server has done what it was asked for.
fn is_yes(reply: &Reply) -> bool {
    matches!(reply, Reply::Redis(RedisReply::Ok | RedisReply::Integer(1)))
}

impl Redlock {
    /// Asks all servers the same and counts their answers.
    async fn ask(&self, client: &Client, by: GrantId, command: Command, sent: Moment) -> Votes {
        let Self { lock, rules } = self;
        let request = Request::Redis(RedisRequest { command, by });
        if rules.contact == Contact::Sequential {
            return self.ask_in_turn(client, request, sent).await;
        }
        let round = Round {
            first: lock.node,
            count: rules.servers,
            timeout: lock.request_timeout,
            quorum: rules.returns_early.then_some(rules.quorum),
            sent,
        };
        client.gather(round, request, is_yes).await
    }

    async fn ask_in_turn(&self, client: &Client, request: Request, sent: Moment) -> Votes {
        let Self { lock, rules } = self;
        let mut votes = Votes::default();
        for place in 0..rules.servers {
            let server = ServerId(lock.node.0 + place);
            let call = client.call(server, request).marking(sent).within(lock.request_timeout);
            match call.await {
                Ok(reply) if is_yes(&reply) => votes.yes |= 1 << place,
                Ok(_) => votes.no |= 1 << place,
                Err(_) => {}
            }
            if rules.returns_early && self.has_quorum(votes) {
                break;
            }
        }
        votes
    }

    fn has_quorum(&self, votes: Votes) -> bool {
        votes.yes.count_ones() >= u32::from(self.rules.quorum)
    }

    /// Returns whether those that said no are too many for a quorum of the others.
    fn is_hopeless(&self, votes: Votes) -> bool {
        votes.no.count_ones() + u32::from(self.rules.quorum) > u32::from(self.rules.servers)
    }

    /// Reads the clock, if its reading will ever be compared with another.
    async fn starts(&self, client: &Client) -> WallTime {
        let is_read = self.rules.min_validity.is_some() || self.lock.checks_clock;
        if is_read { self.lock.now(client).await } else { WallTime::NEVER }
    }

    /// Returns when the lock ends that was asked for at a reading of the clock.
    fn ends(&self, started: WallTime) -> WallTime {
        started + self.lock.ttl.saturating_sub(self.rules.drift)
    }

    /// Compares the clock with the lock's end: validity is the time to live less the time that
    /// asking took and less the drift.
    async fn is_in_time(&self, client: &Client, ends: WallTime) -> bool {
        let Some(least) = self.rules.min_validity else {
            return true;
        };
        let now = self.lock.now(client).await;
        now < ends && now + least <= ends
    }

    /// Takes the key away from all servers, also from those that seemed to refuse, and does not
    /// look back.
    fn undo(&self, client: &Client, by: GrantId, command: Command) -> impl Future<Output = ()> {
        let request = Request::Redis(RedisRequest { command, by });
        client.scatter(self.lock.node, self.rules.servers, request)
    }

    const fn delete(&self, value: fencepost_services::Value) -> Command {
        let key = self.lock.key;
        match self.lock.release {
            Release::CompareAndDelete => Command::CompareAndDelete { key, value },
            Release::None | Release::Del | Release::GetThenDel => Command::Del { key },
        }
    }
}

impl LockStrategy for Redlock {
    async fn acquire(&self, client: &Client, attempt: Attempt) -> Result<Grant, AcquireError> {
        let Self { lock, rules } = self;
        let value = lock.value(&attempt);
        let started = self.starts(client).await;
        let command = Command::set_nx_px(lock.key, value, lock.ttl_millis);
        let votes = self.ask(client, attempt.id, command, Moment::AcquireSent).await;
        let ends = self.ends(started);
        let error = if self.has_quorum(votes) {
            client.mark(Moment::QuorumReached);
            if self.is_in_time(client, ends).await {
                client.mark(Moment::ValidityChecked);
                let (id, lock, token) = (attempt.id, attempt.lock, Token::NONE);
                return Ok(Grant { id, lock, value, token, ends });
            }
            AcquireError::TooLate
        } else if self.is_hopeless(votes) {
            AcquireError::Refused
        } else {
            AcquireError::Unknown
        };
        if rules.undoes {
            self.undo(client, attempt.id, self.delete(value)).await;
        }
        Err(error)
    }

    async fn release(&self, client: &Client, grant: &Grant) {
        let Self { lock, rules } = self;
        if lock.release == Release::None {
            return;
        }
        let command = self.delete(grant.value);
        let votes = self.ask(client, grant.id, command, Moment::ReleaseSent).await;
        let answered = (votes.yes | votes.no).count_ones();
        if lock.retries_release && answered < u32::from(rules.servers) {
            self.ask(client, grant.id, command, Moment::ReleaseSent).await;
        }
    }

    async fn renew(&self, client: &Client, grant: &Grant) -> Renewal {
        let Self { lock, rules } = self;
        let (key, value, millis) = (lock.key, grant.value, lock.ttl_millis);
        let started = self.starts(client).await;
        let command = lock.extension(value);
        let mut votes = self.ask(client, grant.id, command, Moment::RenewSent).await;
        let is_short = votes.yes.count_ones() < u32::from(rules.servers);
        let refills = match rules.missing {
            Missing::Leave => false,
            Missing::Refill => self.has_quorum(votes),
            Missing::Create => true,
        };
        if refills && is_short {
            let command = Command::set_nx_px(key, value, millis);
            let created = self.ask(client, grant.id, command, Moment::RenewSent).await;
            votes.yes |= created.yes;
            votes.no &= !created.yes;
        }
        if self.has_quorum(votes) && self.is_in_time(client, self.ends(started)).await {
            Renewal::Renewed
        } else if self.is_hopeless(votes) {
            Renewal::Lost
        } else {
            Renewal::Unknown
        }
    }
}
