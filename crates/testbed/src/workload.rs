//! What clients do with the lock: rounds of acquire, read, work, write, release.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use fencepost_history::{Access, AccessOutcome, Duration, JobId, Moment, What};
use fencepost_locks::{AcquireError, Attempt, Client, Grant, KeyLock, LockStrategy, Renewal};
use fencepost_services::{AccessRequest, Path, Reply, Request, Servers};
use fencepost_sim::{Sleep, Tale, TimedOut, WithinCall};

use crate::job::{DeadlineCheck, Hold, Job, OnRefusal, SidePath};

/// A worker thread with all that its code looks at.
pub(crate) struct Worker<S> {
    pub(crate) client: Client,
    pub(crate) strategy: Rc<S>,
    pub(crate) lock: KeyLock,
    pub(crate) job: Rc<Job>,
    pub(crate) hold: Rc<Hold>,
}

/// How an access ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Accepted,
    Refused,
    TimedOut,
}

/// An access and its answer.
struct Sending<'a, T>(WithinCall<'a, Servers, T>);

impl<T: Tale + Unpin> Future for Sending<'_, T> {
    type Output = Answer;

    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Answer> {
        Pin::new(&mut self.0).poll(context).map(|answer| match answer {
            Ok(Reply::Access { outcome: AccessOutcome::Refused, .. }) => Answer::Refused,
            Ok(_) => Answer::Accepted,
            Err(TimedOut) => Answer::TimedOut,
        })
    }
}

/// The section is over before its end.
struct Over;

impl<S: LockStrategy> Worker<S> {
    /// Makes the renewer of this worker, which is another thread of its process.
    pub(crate) fn renewer(&self, client: Client) -> Self {
        Self {
            client,
            strategy: Rc::clone(&self.strategy),
            lock: self.lock,
            job: Rc::clone(&self.job),
            hold: Rc::clone(&self.hold),
        }
    }

    /// Runs all rounds.
    pub(crate) async fn run(self: Rc<Self>) {
        self.hold.grant.set(None);
        self.hold.is_lost.set(false);
        self.client.mark(Moment::Started);
        if self.job.starts_after != Duration::ZERO {
            self.client.sleep(self.job.starts_after).await;
        }
        for round in 0..self.job.rounds {
            if let Some(grant) = self.acquire().await {
                self.hold(grant, round).await;
            }
        }
        self.client.mark(Moment::Finished);
    }

    /// Asks until the lock is granted.
    async fn acquire(&self) -> Option<Grant> {
        let Self { client, job, .. } = self;
        let (thread, lock) = (client.thread(), job.lock);
        client.tell(What::AcquireInvoked { thread, lock });
        let mut attempts = 0;
        loop {
            let id = client.new_grant();
            let attempt = Attempt { id, lock, who: job.who };
            match self.strategy.acquire(client, attempt).await {
                Ok(grant) => {
                    let token = grant.token;
                    client
                        .note_with(move || What::Acquired { thread, grant: id, lock, token })
                        .await;
                    client.mark(Moment::Acquired);
                    return Some(grant);
                }
                Err(AcquireError::Refused) => {
                    client.mark(Moment::Refused);
                    client.tell(What::Refused { thread, grant: id, lock });
                }
                Err(AcquireError::TooLate) => {
                    client.mark(Moment::TooLate);
                    client.tell(What::Refused { thread, grant: id, lock });
                }
                Err(AcquireError::Unknown) => {
                    client.tell(What::AcquireUnknown { thread, grant: id, lock });
                }
            }
            attempts += 1;
            if attempts >= job.attempts {
                client.tell(What::AcquireAbandoned { thread, lock });
                return None;
            }
            let pause = client.draw(&job.retry_every);
            client.sleep(pause).await;
        }
    }

    /// Does the section under a grant, and gives the lock back.
    async fn hold(&self, grant: Grant, round: u32) {
        let Self { client, job, hold, .. } = self;
        if let Some((renewer, _)) = job.renewer {
            hold.grant.set(Some(grant));
            hold.is_lost.set(false);
            client.spawn(renewer).await;
        }
        // A section that is over early gives the lock back just the same.
        let _ = self.section(grant, round).await;
        client.mark(Moment::BeforeRelease);
        let id = grant.id;
        client.note_with(move || What::ReleaseInvoked { grant: id }).await;
        if let Some((renewer, _)) = job.renewer {
            hold.grant.set(None);
            client.cancel(renewer).await;
        }
        self.strategy.release(client, &grant).await;
        client.mark(Moment::Released);
        client.tell(What::ReleaseDone { grant: id });
    }

    async fn section(&self, mut grant: Grant, round: u32) -> Result<(), Over> {
        let Self { client, job, .. } = self;
        for _ in 0..job.reads {
            client.mark(Moment::BeforeRead);
            self.heed_loss()?;
            if job.deadline_check == DeadlineCheck::BeforeEachSend {
                self.check_deadline(&grant).await?;
            }
            let answer = self.send(&grant, Access::Read, JobId(0), Path::Main).await;
            if answer == Answer::Refused {
                self.react(&mut grant, Access::Read, JobId(0), Path::Main).await?;
            }
            // A read without answer stops nobody: the section goes on with what it knows.
            client.mark(Moment::ReadDone);
        }
        loop {
            self.work(&grant).await;
            client.mark(Moment::WorkDone);
            for write in 0..job.writes {
                let is_last = write + 1 == job.writes;
                let path = match job.side_path {
                    SidePath::Writes => Path::Side,
                    SidePath::LastWrite if is_last => Path::Side,
                    SidePath::Nothing | SidePath::LastWrite => Path::Main,
                };
                client.mark(Moment::BeforeWrite);
                self.heed_loss()?;
                if job.deadline_check != DeadlineCheck::Never {
                    self.check_deadline(&grant).await?;
                }
                let effect = job.effect(round, write);
                match self.send(&grant, Access::Write, effect, path).await {
                    Answer::Accepted => {}
                    Answer::Refused => self.react(&mut grant, Access::Write, effect, path).await?,
                    Answer::TimedOut => return Err(Over),
                }
                client.mark(Moment::WriteDone);
            }
            if !job.works_until_deadline {
                return Ok(());
            }
        }
    }

    async fn work(&self, grant: &Grant) {
        let Self { client, job, .. } = self;
        let (first, rest) = match job.extend_at {
            Some(at) => (at.min(job.work), Some(job.work.saturating_sub(at))),
            None => (job.work, None),
        };
        self.spend(first).await;
        if let Some(rest) = rest {
            // What the extension found is forgotten, as in code that calls it and goes on.
            let _ = self.strategy.renew(client, grant).await;
            self.spend(rest).await;
        }
    }

    #[inline(always)]
    fn spend(&self, length: Duration) -> Sleep<'_, Servers> {
        if self.job.work_is_cpu { self.client.work(length) } else { self.client.sleep(length) }
    }

    /// Ends the section if the renewer has told of a loss.
    fn heed_loss(&self) -> Result<(), Over> {
        if self.hold.is_lost.get() { Err(Over) } else { Ok(()) }
    }

    /// Ends the section if the lock's end is near.
    async fn check_deadline(&self, grant: &Grant) -> Result<(), Over> {
        let Self { client, job, .. } = self;
        if self.lock.now(client).await + job.margin >= grant.ends {
            client.note(What::Lost { grant: grant.id }).await;
            client.mark(Moment::LossNoticed);
            return Err(Over);
        }
        client.mark(Moment::CheckedDeadline);
        Ok(())
    }

    /// Reacts to the refusal of an access as the job says.
    async fn react(
        &self,
        grant: &mut Grant,
        access: Access,
        effect: JobId,
        path: Path,
    ) -> Result<(), Over> {
        self.client.mark(Moment::AccessRefused);
        let again = match self.job.on_refusal {
            OnRefusal::GiveUp => return Err(Over),
            OnRefusal::OtherPath => self.send(grant, access, effect, Path::Side).await,
            OnRefusal::RetryWithFreshToken => {
                let fresh = self.strategy.fresh_token(&self.client, grant).await;
                *grant = fresh.ok_or(Over)?;
                self.send(grant, access, effect, path).await
            }
        };
        match again {
            Answer::Accepted => Ok(()),
            Answer::Refused | Answer::TimedOut => Err(Over),
        }
    }

    /// Sends a read or a write and waits for its answer.
    #[inline(always)]
    fn send(
        &self,
        grant: &Grant,
        access: Access,
        job: JobId,
        path: Path,
    ) -> Sending<'_, impl Tale + Unpin + use<S>> {
        let (token, grant) = (grant.token, grant.id);
        let (moment, timeout) = match access {
            Access::Read => (Moment::ReadSent, self.job.read_timeout),
            Access::Write => (Moment::WriteSent, self.job.write_timeout),
        };
        let request = Request::Access(AccessRequest { grant, token, job, access, path });
        let call = self.client.call(self.job.resource, request);
        Sending(call.telling(move || What::Step { grant }).marking(moment).within(timeout))
    }

    /// Renews the lock for as long as its process lives and nobody cancels it.
    ///
    /// The period counts from renewal to renewal, as in a timer that fires at a fixed rate.
    pub(crate) async fn keep_alive(self: Rc<Self>) {
        let Self { client, strategy, job, hold, .. } = &*self;
        let (Some((_, every)), Some(grant)) = (job.renewer, hold.grant.get()) else {
            return;
        };
        client.sleep(every).await;
        loop {
            let fired = client.now().await;
            match strategy.renew(client, &grant).await {
                Renewal::Renewed => client.mark(Moment::Renewed),
                Renewal::Unknown => {}
                Renewal::Lost => {
                    client.mark(Moment::LossNoticed);
                    if job.notifies {
                        client.note(What::Lost { grant: grant.id }).await;
                        hold.is_lost.set(true);
                    }
                    return;
                }
            }
            let elapsed = client.now().await.since(fired);
            client.sleep(every.saturating_sub(elapsed)).await;
        }
    }
}
