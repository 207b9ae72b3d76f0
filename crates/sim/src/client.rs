//! What client code holds: its host's clocks, messages, sleep, work and notes.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use fencepost_choice::Distribution;
use fencepost_history::{
    Duration, GrantId, Instant, LocalTime, Moment, ServerId, ThreadId, WallTime, What,
};

use crate::ops::Kind;
use crate::process::OpState;
use crate::run::Core;
use crate::server::NO_SLOT;
use crate::{Call, Services};

/// A thread's access to the simulation.
///
/// Every awaited operation first passes a step: a numbered place at which a pause, a crash or
/// another fault can fall. Between two steps code runs in no time at all.
pub struct Client<S: Services> {
    pub(crate) core: Rc<RefCell<Core<S>>>,
    /// Whether anybody wants to know of moments.
    watches_moments: Rc<Cell<bool>>,
    pub(crate) thread: ThreadId,
}

impl<S: Services> Clone for Client<S> {
    fn clone(&self) -> Self {
        let watches_moments = Rc::clone(&self.watches_moments);
        Self { core: Rc::clone(&self.core), watches_moments, thread: self.thread }
    }
}

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
    const fn step<T, F: Fn(&mut Core<S>) -> T>(&self, act: F) -> Step<'_, S, F> {
        Step { client: self, act }
    }

    /// Reads the host's monotonic clock.
    #[inline]
    pub fn now(&self) -> impl Future<Output = LocalTime> {
        let thread = self.thread;
        self.step(move |core| core.world.local_time(thread))
    }

    /// Reads the host's wall clock.
    #[inline]
    pub fn wall(&self) -> impl Future<Output = WallTime> {
        let thread = self.thread;
        self.step(move |core| core.world.wall_time(thread))
    }

    /// Changes a belief, that is, does something that the history must tell.
    #[inline]
    pub fn note(&self, what: What) -> impl Future<Output = ()> {
        self.step(move |core| core.world.emit(what))
    }

    /// Does the same with what `what` makes, which is cheaper where its kind is known at once.
    #[inline(always)]
    pub fn note_with(&self, what: impl Fn() -> What) -> impl Future<Output = ()> {
        self.step(move |core| core.world.emit(what()))
    }

    /// Tells what happened together with the operation before; no step of its own. Code that
    /// died at that operation tells nothing.
    #[inline(always)]
    pub fn tell(&self, what: What) {
        let world = &mut self.core.borrow_mut().world;
        if world.threads[self.thread.index()].is_running {
            world.emit(what);
        }
    }

    /// Passes a named moment; no step of its own. A hazard that strikes here is replayed right
    /// after the last own event, so code that also tells something marks first.
    #[inline(always)]
    pub fn mark(&self, moment: Moment) {
        if self.watches_moments() {
            self.pass(moment);
        }
    }

    #[inline(always)]
    pub(crate) fn watches_moments(&self) -> bool {
        self.watches_moments.get()
    }

    #[cold]
    fn pass(&self, moment: Moment) {
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

    /// Returns the number that the process's threads remember in common, zero at first; no step
    /// of its own.
    #[must_use]
    pub fn recall(&self) -> u32 {
        let world = &self.core.borrow().world;
        let process = world.threads[self.thread.index()].process;
        world.processes[process.index()].memory
    }

    /// Lets the process's threads remember a number in common until it dies; no step of its own.
    pub fn remember(&self, number: u32) {
        let world = &mut self.core.borrow_mut().world;
        let process = world.threads[self.thread.index()].process;
        world.processes[process.index()].memory = number;
    }

    /// Draws a length that the client itself leaves to chance, such as the jitter of a retry; a
    /// run without deviations gets the nominal length. No step of its own.
    #[must_use]
    pub fn draw(&self, distribution: &Distribution) -> Duration {
        let world = &mut self.core.borrow_mut().world;
        let process = world.threads[self.thread.index()].process;
        let site = world.processes[process.index()].sites.jitter;
        let nominal = distribution.nominal().as_nanos();
        let is_fixed = matches!(distribution, Distribution::Fixed(_));
        let sample = |random| {
            if is_fixed { nominal } else { distribution.sample(random).as_nanos() }
        };
        Duration::from_nanos(world.choices.draw(site, nominal, sample))
    }

    /// Gives up an operation that is dropped before its end.
    #[cold]
    pub(crate) fn abandon(&self, slot: u8) {
        self.core.borrow_mut().world.abandon(self.thread, slot);
    }

    /// Waits without working: a pause in between does not lengthen it.
    #[inline]
    pub const fn sleep(&self, length: Duration) -> Sleep<'_, S> {
        Sleep { held: Held::new(self), length, kind: Kind::Sleep }
    }

    /// Works on the CPU: a pause in between lengthens it.
    #[inline]
    pub const fn work(&self, length: Duration) -> Sleep<'_, S> {
        Sleep { held: Held::new(self), length, kind: Kind::Work }
    }

    /// Sends a request and waits for its reply, for ever if need be; see [`Call::within`].
    #[inline]
    pub const fn call(&self, server: ServerId, request: S::Request) -> Call<'_, S> {
        Call::new(self, server, request)
    }

    /// Sends a request whose reply nobody awaits.
    #[inline]
    pub fn send(&self, server: ServerId, request: S::Request) -> impl Future<Output = ()> {
        let thread = self.thread;
        self.step(move |core| core.send_unawaited(thread, server, &request))
    }

    /// Drops the code of another thread of the same process where it stands.
    pub fn cancel(&self, thread: ThreadId) -> impl Future<Output = ()> {
        self.step(move |core| {
            let world = &mut core.world;
            let state = &mut world.threads[thread.index()];
            if state.is_running {
                state.is_running = false;
                state.close_all();
                world.open_workers -= u32::from(state.is_worker);
                world.timers.set(thread, Instant::NEVER);
                world.cancelled.push(thread);
                world.has_business = true;
            }
        })
    }

    /// Starts another thread of the same process.
    pub fn spawn(&self, thread: ThreadId) -> impl Future<Output = ()> {
        self.step(move |core| {
            let world = &mut core.world;
            assert!(!world.threads[thread.index()].is_running, "a thread runs once at a time");
            world.threads[thread.index()].is_running = true;
            world.spawned.push(thread);
            world.has_business = true;
        })
    }
}

/// Passes a step, then does something to the world.
struct Step<'a, S: Services, F> {
    client: &'a Client<S>,
    act: F,
}

impl<S: Services, T, F: Fn(&mut Core<S>) -> T> Future for Step<'_, S, F> {
    type Output = T;

    #[inline(always)]
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<T> {
        let core = &mut *self.client.core.borrow_mut();
        let Some(passed) = core.world.step(self.client.thread) else {
            return Poll::Pending;
        };
        let done = (self.act)(core);
        core.world.stepped(passed);
        Poll::Ready(done)
    }
}

/// Waits for a length of time of the host's monotonic clock.
#[must_use = "futures do nothing unless awaited"]
pub struct Sleep<'a, S: Services> {
    held: Held<'a, S>,
    length: Duration,
    kind: Kind,
}

impl<S: Services> Future for Sleep<'_, S> {
    type Output = ();

    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if self.held.slot == NO_SLOT {
            self.begin();
            return Poll::Pending;
        }
        let held = &mut self.held;
        let world = &mut held.client.core.borrow_mut().world;
        let state = &mut world.threads[held.client.thread.index()];
        if state.op(held.slot).state == OpState::Waiting {
            return Poll::Pending;
        }
        state.close(held.slot);
        held.slot = NO_SLOT;
        Poll::Ready(())
    }
}

impl<S: Services> Sleep<'_, S> {
    /// Passes the step at which the timer is set, unless the thread is stopped.
    #[inline(never)]
    fn begin(&mut self) {
        let client = self.held.client;
        let world = &mut client.core.borrow_mut().world;
        if let Some(opened) = world.open(client.thread, self.length, self.kind) {
            self.held.slot = opened.slot;
            world.stepped(opened.passed);
        }
    }
}

/// The slot that an operation has once it has begun; dropping it gives the operation up.
pub(crate) struct Held<'a, S: Services> {
    pub(crate) client: &'a Client<S>,
    /// [`NO_SLOT`] before the operation has begun and after its end.
    pub(crate) slot: u8,
}

impl<'a, S: Services> Held<'a, S> {
    #[inline(always)]
    pub(crate) const fn new(client: &'a Client<S>) -> Self {
        Self { client, slot: NO_SLOT }
    }
}

impl<S: Services> Drop for Held<'_, S> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.slot != NO_SLOT {
            self.client.abandon(self.slot);
        }
    }
}
