//! What client code holds: its host's clocks, messages, sleep, work and notes.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use fencepost_choice::Distribution;
use fencepost_history::{
    Duration, GrantId, Instant, LocalTime, Moment, ServerId, ThreadId, WallTime, What,
};

use crate::Services;
use crate::process::{OpState, slot_place};
use crate::run::Core;
use crate::server::NO_SLOT;
use crate::world::World;

/// A thread's access to the simulation.
///
/// Every awaited operation first passes a step: a numbered place at which a pause, a crash or
/// another fault can fall. Between two steps code runs in no time at all.
pub struct Client<S: Services> {
    core: Rc<RefCell<Core<S>>>,
    /// Whether anybody wants to know of moments.
    watches_moments: Rc<Cell<bool>>,
    thread: ThreadId,
}

impl<S: Services> Clone for Client<S> {
    fn clone(&self) -> Self {
        let watches_moments = Rc::clone(&self.watches_moments);
        Self { core: Rc::clone(&self.core), watches_moments, thread: self.thread }
    }
}

/// No reply came in time, or none will.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no reply came in time")]
pub struct TimedOut;

impl<S: Services> Client<S> {
    pub(crate) const fn new(
        core: Rc<RefCell<Core<S>>>,
        watches_moments: Rc<Cell<bool>>,
        thread: ThreadId,
    ) -> Self {
        Self { core, watches_moments, thread }
    }

    /// Returns the thread that this is.
    #[must_use]
    pub const fn thread(&self) -> ThreadId {
        self.thread
    }

    /// Passes a step, then does something to the world.
    #[inline(always)]
    fn step<T>(&self, act: impl FnOnce(&mut World<S>) -> T) -> impl Future<Output = T> {
        let mut act = Some(act);
        poll_fn(move |_| {
            let world = &mut self.core.borrow_mut().world;
            if !world.step(self.thread) {
                return Poll::Pending;
            }
            let act = act.take().expect("a future is not polled after it is ready");
            let done = act(world);
            world.stepped(self.thread);
            Poll::Ready(done)
        })
    }

    /// Reads the host's monotonic clock.
    #[inline]
    pub fn now(&self) -> impl Future<Output = LocalTime> {
        let thread = self.thread;
        self.step(move |world| world.local_time(thread))
    }

    /// Reads the host's wall clock.
    #[inline]
    pub fn wall(&self) -> impl Future<Output = WallTime> {
        let thread = self.thread;
        self.step(move |world| world.wall_time(thread))
    }

    /// Changes a belief, that is, does something that the history must tell.
    #[inline]
    pub fn note(&self, what: What) -> impl Future<Output = ()> {
        self.step(move |world| world.emit(what))
    }

    /// Tells what happened together with the operation before; no step of its own. Code that
    /// died at that operation tells nothing.
    #[inline]
    pub fn tell(&self, what: What) {
        let world = &mut self.core.borrow_mut().world;
        if world.threads[self.thread.index()].is_running {
            world.emit(what);
        }
    }

    /// Passes a named moment; no step of its own. A hazard that strikes here is replayed right
    /// after the last own event, so code that also tells something marks first.
    #[inline]
    pub fn mark(&self, moment: Moment) {
        if !self.watches_moments.get() {
            return;
        }
        self.core.borrow_mut().world.pass(self.thread, moment);
    }

    /// Makes the number of a new attempt to acquire; no step of its own.
    #[inline]
    #[must_use]
    pub fn new_grant(&self) -> GrantId {
        let world = &mut self.core.borrow_mut().world;
        world.last_grant += 1;
        GrantId(world.last_grant)
    }

    /// Draws a length that the client itself leaves to chance, such as the jitter of a retry; a
    /// run without deviations gets the nominal length. No step of its own.
    #[must_use]
    pub fn draw(&self, distribution: &Distribution) -> Duration {
        let world = &mut self.core.borrow_mut().world;
        let process = world.threads[self.thread.index()].process;
        let site = world.processes[process.index()].sites.jitter;
        let nominal = distribution.nominal().as_nanos();
        let sample = |random| distribution.sample(random).as_nanos();
        Duration::from_nanos(world.choices.draw(site, nominal, sample))
    }

    /// Waits without working: a pause in between does not lengthen it.
    #[inline]
    pub const fn sleep(&self, length: Duration) -> Sleep<'_, S> {
        Sleep { client: self, length, is_work: false, slot: NO_SLOT }
    }

    /// Works on the CPU: a pause in between lengthens it.
    #[inline]
    pub const fn work(&self, length: Duration) -> Sleep<'_, S> {
        Sleep { client: self, length, is_work: true, slot: NO_SLOT }
    }

    /// Sends a request and waits for its reply, for ever if need be; see [`Call::within`].
    #[inline]
    pub const fn call(&self, server: ServerId, request: S::Request) -> Call<'_, S> {
        Call {
            client: self,
            server,
            request,
            timeout: Duration::MAX,
            sent: None,
            telling: None,
            slot: NO_SLOT,
        }
    }

    /// Sends a request whose reply nobody awaits.
    #[inline]
    pub fn send(&self, server: ServerId, request: S::Request) -> impl Future<Output = ()> {
        let thread = self.thread;
        self.step(move |world| {
            world.send_request(thread, server, NO_SLOT, &request);
        })
    }

    /// Drops the code of another thread of the same process where it stands.
    pub fn cancel(&self, thread: ThreadId) -> impl Future<Output = ()> {
        self.step(move |world| {
            let state = &mut world.threads[thread.index()];
            if state.is_running {
                state.is_running = false;
                state.used = 0;
                world.timers[thread.index()] = Instant::NEVER.as_nanos();
                world.open_workers -= u32::from(world.is_worker[thread.index()]);
                world.cancelled.push(thread);
                world.has_business = true;
            }
        })
    }

    /// Starts another thread of the same process.
    pub fn spawn(&self, thread: ThreadId) -> impl Future<Output = ()> {
        self.step(move |world| {
            assert!(!world.threads[thread.index()].is_running, "a thread runs once at a time");
            world.threads[thread.index()].is_running = true;
            world.spawned.push(thread);
            world.has_business = true;
        })
    }
}

/// Waits for a length of time of the host's monotonic clock.
#[must_use = "futures do nothing unless awaited"]
pub struct Sleep<'a, S: Services> {
    client: &'a Client<S>,
    length: Duration,
    is_work: bool,
    slot: u8,
}

impl<S: Services> Future for Sleep<'_, S> {
    type Output = ();

    #[inline]
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        let thread = self.client.thread;
        let world = &mut self.client.core.borrow_mut().world;
        if self.slot == NO_SLOT {
            if world.step(thread) {
                self.slot = world.open_slot(thread, self.length, self.is_work);
                world.stepped(thread);
            }
            return Poll::Pending;
        }
        if world.slots[slot_place(thread, self.slot)].state == OpState::Waiting {
            return Poll::Pending;
        }
        world.close_slot(thread, self.slot);
        self.slot = NO_SLOT;
        Poll::Ready(())
    }
}

impl<S: Services> Drop for Sleep<'_, S> {
    fn drop(&mut self) {
        if self.slot != NO_SLOT {
            self.client.core.borrow_mut().world.abandon(self.client.thread, self.slot);
        }
    }
}

/// A request and its reply.
#[must_use = "futures do nothing unless awaited"]
pub struct Call<'a, S: Services> {
    client: &'a Client<S>,
    server: ServerId,
    request: S::Request,
    timeout: Duration,
    sent: Option<Moment>,
    telling: Option<What>,
    slot: u8,
}

impl<'a, S: Services> Call<'a, S> {
    /// Gives the call up after `timeout` of the host's monotonic clock.
    #[inline]
    pub const fn within(mut self, timeout: Duration) -> WithinCall<'a, S> {
        self.timeout = timeout;
        WithinCall(self)
    }

    /// Passes a named moment when the request is sent.
    #[inline]
    pub const fn marking(mut self, sent: Moment) -> Self {
        self.sent = Some(sent);
        self
    }

    /// Tells what happens when the request is sent.
    #[inline]
    pub const fn telling(mut self, what: What) -> Self {
        self.telling = Some(what);
        self
    }

    #[inline]
    fn poll_call(&mut self) -> Poll<Result<S::Reply, TimedOut>> {
        let thread = self.client.thread;
        let world = &mut self.client.core.borrow_mut().world;
        if self.slot == NO_SLOT {
            if world.step(thread) {
                if let Some(what) = self.telling {
                    world.emit(what);
                }
                self.slot = world.open_slot(thread, self.timeout, false);
                world.send_request(thread, self.server, self.slot, &self.request);
                if let Some(moment) = self.sent {
                    world.pass(thread, moment);
                }
                world.stepped(thread);
            }
            return Poll::Pending;
        }
        let op = &mut world.slots[slot_place(thread, self.slot)];
        let result = match op.state {
            OpState::Waiting => return Poll::Pending,
            OpState::Replied => Ok(op.reply.take().expect("a reply is kept until it is seen")),
            OpState::TimerFired => {
                let call = op.call;
                world.mention(What::GivenUp { call });
                Err(TimedOut)
            }
        };
        world.close_slot(thread, self.slot);
        self.slot = NO_SLOT;
        Poll::Ready(result)
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
    fn drop(&mut self) {
        if self.slot != NO_SLOT {
            self.client.core.borrow_mut().world.abandon(self.client.thread, self.slot);
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

impl<S: Services> World<S> {
    /// Gives up an operation that is under way, unless the process died and lost it already.
    fn abandon(&mut self, thread: ThreadId, slot: u8) {
        if self.threads[thread.index()].used & (1 << slot) == 0 {
            return;
        }
        let op = &mut self.slots[slot_place(thread, slot)];
        let (call, was_waiting) = (op.call, op.state == OpState::Waiting);
        op.deadline = Instant::NEVER;
        if call.0 != 0 && was_waiting {
            self.mention(What::GivenUp { call });
        }
        self.close_slot(thread, slot);
    }
}
