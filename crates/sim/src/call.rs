//! A request and its reply, as client code awaits them.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use fencepost_history::{Duration, Moment, ServerId, What};

use crate::ops::Kind;
use crate::process::OpState;
use crate::server::{CallRef, NO_SLOT};
use crate::{Client, Services};

/// No reply came in time, or none will.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no reply came in time")]
pub struct TimedOut;

/// A request and its reply.
#[must_use = "futures do nothing unless awaited"]
pub struct Call<'a, S: Services> {
    client: &'a Client<S>,
    server: ServerId,
    slot: u8,
    sent: Option<Moment>,
    timeout: Duration,
    request: S::Request,
    telling: Option<What>,
}

impl<'a, S: Services> Call<'a, S> {
    #[inline(always)]
    pub(crate) const fn new(client: &'a Client<S>, server: ServerId, request: S::Request) -> Self {
        let timeout = Duration::MAX;
        Self { client, server, slot: NO_SLOT, sent: None, timeout, request, telling: None }
    }

    /// Gives the call up after `timeout` of the host's monotonic clock.
    #[inline(always)]
    pub const fn within(mut self, timeout: Duration) -> WithinCall<'a, S> {
        self.timeout = timeout;
        WithinCall(self)
    }

    /// Passes a named moment when the request is sent.
    #[inline(always)]
    pub const fn marking(mut self, sent: Moment) -> Self {
        self.sent = Some(sent);
        self
    }

    /// Tells what happens when the request is sent.
    #[inline(always)]
    pub const fn telling(mut self, what: What) -> Self {
        self.telling = Some(what);
        self
    }

    #[inline(always)]
    fn poll_call(&mut self) -> Poll<Result<S::Reply, TimedOut>> {
        if self.slot == NO_SLOT {
            self.send();
            return Poll::Pending;
        }
        let thread = self.client.thread;
        let world = &mut self.client.core.borrow_mut().world;
        let state = &mut world.threads[thread.index()];
        let op = state.op(self.slot);
        let result = match op.state {
            OpState::Waiting => return Poll::Pending,
            OpState::Replied => Ok(op.reply.expect("a reply stays where it was sent to")),
            OpState::TimerFired => Err(TimedOut),
        };
        let call = op.call;
        state.close(self.slot);
        self.slot = NO_SLOT;
        if result.is_err() {
            world.mention(What::GivenUp { call });
        }
        Poll::Ready(result)
    }

    /// Passes the step at which the request is sent, unless the thread is stopped.
    #[inline(never)]
    fn send(&mut self) {
        let thread = self.client.thread;
        let core = &mut *self.client.core.borrow_mut();
        let Some(opened) = core.world.open(thread, self.timeout, Kind::Call) else {
            return;
        };
        self.slot = opened.slot;
        if let Some(what) = self.telling {
            core.world.emit(what);
        }
        let to = CallRef { call: opened.call, thread, server: self.server, slot: opened.slot };
        core.send_request(to, opened.passed.process, &self.request);
        if let Some(moment) = self.sent
            && self.client.watches_moments()
        {
            core.world.pass(thread, moment);
        }
        core.world.stepped(opened.passed);
    }
}

impl<S: Services> Future for Call<'_, S>
where
    S::Request: Unpin,
{
    type Output = S::Reply;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<S::Reply> {
        match self.poll_call() {
            Poll::Ready(Ok(reply)) => Poll::Ready(reply),
            Poll::Ready(Err(TimedOut)) => unreachable!("a call without time-out has no timer"),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: Services> Drop for Call<'_, S> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.slot != NO_SLOT {
            self.client.abandon(self.slot);
        }
    }
}

/// A request and its reply, or the time-out.
#[must_use = "futures do nothing unless awaited"]
pub struct WithinCall<'a, S: Services>(Call<'a, S>);

impl<S: Services> Future for WithinCall<'_, S>
where
    S::Request: Unpin,
{
    type Output = Result<S::Reply, TimedOut>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.poll_call()
    }
}
