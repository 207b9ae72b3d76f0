//! A request and its reply, as client code awaits them.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use fencepost_history::{Duration, Moment, ServerId, What};

use crate::ops::Kind;
use crate::process::OpState;
use crate::server::{CallRef, NO_SLOT};
use crate::{Client, Held, Services};

/// No reply came in time, or none will.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no reply came in time")]
pub struct TimedOut;

/// What the history is told when a request is sent.
pub trait Tale {
    /// Makes what is told, if anything is.
    fn what(&self) -> Option<What>;
}

/// Nothing is told.
#[derive(Clone, Copy, Debug)]
pub struct Untold;

impl Tale for Untold {
    #[inline(always)]
    fn what(&self) -> Option<What> {
        None
    }
}

impl<F: Fn() -> What> Tale for F {
    #[inline(always)]
    fn what(&self) -> Option<What> {
        Some(self())
    }
}

/// A request and its reply.
#[must_use = "futures do nothing unless awaited"]
pub struct Call<'a, S: Services, T = Untold> {
    held: Held<'a, S>,
    server: ServerId,
    sent: Option<Moment>,
    timeout: Duration,
    request: S::Request,
    tale: T,
}

impl<'a, S: Services> Call<'a, S> {
    #[inline(always)]
    pub(crate) const fn new(client: &'a Client<S>, server: ServerId, request: S::Request) -> Self {
        let held = Held::new(client);
        Self { held, server, sent: None, timeout: Duration::MAX, request, tale: Untold }
    }

    /// Tells what happens when the request is sent.
    #[inline(always)]
    pub fn telling<T: Fn() -> What>(self, tale: T) -> Call<'a, S, T> {
        let Self { held, server, sent, timeout, request, tale: Untold } = self;
        Call { held, server, sent, timeout, request, tale }
    }
}

impl<'a, S: Services, T: Tale> Call<'a, S, T> {
    /// Gives the call up after `timeout` of the host's monotonic clock.
    #[inline(always)]
    pub fn within(mut self, timeout: Duration) -> WithinCall<'a, S, T> {
        self.timeout = timeout;
        WithinCall(self)
    }

    /// Passes a named moment when the request is sent.
    #[inline(always)]
    pub fn marking(mut self, sent: Moment) -> Self {
        self.sent = Some(sent);
        self
    }

    #[inline(always)]
    fn poll_call(&mut self) -> Poll<Result<S::Reply, TimedOut>> {
        let held = &mut self.held;
        if held.slot == NO_SLOT {
            self.send();
            return Poll::Pending;
        }
        let world = &mut held.client.core.borrow_mut().world;
        let state = &mut world.threads[held.client.thread.index()];
        let op = state.op(held.slot);
        let result = match op.state {
            OpState::Waiting => return Poll::Pending,
            OpState::Replied => Ok(op.reply.expect("a reply stays where it was sent to")),
            OpState::TimerFired => Err(TimedOut),
        };
        let call = op.call;
        state.close(held.slot);
        held.slot = NO_SLOT;
        if result.is_err() {
            world.mention(What::GivenUp { call });
        }
        Poll::Ready(result)
    }

    /// Passes the step at which the request is sent, unless the thread is stopped.
    #[inline(never)]
    fn send(&mut self) {
        let client = self.held.client;
        let thread = client.thread;
        let core = &mut *client.core.borrow_mut();
        let Some(opened) = core.world.open(thread, self.timeout, Kind::Call) else {
            return;
        };
        self.held.slot = opened.slot;
        if let Some(what) = self.tale.what() {
            core.world.emit(what);
        }
        let to = CallRef { call: opened.call, thread, server: self.server, slot: opened.slot };
        core.send_request(to, opened.passed.process, &self.request);
        if let Some(moment) = self.sent
            && client.watches_moments()
        {
            core.world.pass(thread, moment);
        }
        core.world.stepped(opened.passed);
    }
}

impl<S: Services, T: Tale> Future for Call<'_, S, T>
where
    S::Request: Unpin,
    T: Unpin,
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

/// A request and its reply, or the time-out.
#[must_use = "futures do nothing unless awaited"]
pub struct WithinCall<'a, S: Services, T = Untold>(Call<'a, S, T>);

impl<S: Services, T: Tale> Future for WithinCall<'_, S, T>
where
    S::Request: Unpin,
    T: Unpin,
{
    type Output = Result<S::Reply, TimedOut>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.poll_call()
    }
}
