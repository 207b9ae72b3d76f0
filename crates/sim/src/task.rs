//! Clients' code as tasks that are started again in the same memory from run to run.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// A thread's code.
pub trait Task {
    /// Starts the code from its beginning.
    fn start(&mut self);

    /// Lets the code run until it waits; returns whether it has finished.
    fn poll(&mut self) -> bool;

    /// Drops the code where it stands.
    fn stop(&mut self);
}

/// A [`Task`] made of a function that returns a future; one allocation serves all runs.
///
/// There is no waker: whoever polls knows what the future waits for. Combinators that keep wakers
/// (`FuturesUnordered`, `select!` of the usual runtimes) must not be used inside; [`crate::join`]
/// and [`crate::race`] are made for it.
pub struct Slot<F, M> {
    future: Pin<Box<Option<F>>>,
    make: M,
}

impl<F: Future<Output = ()>, M: FnMut() -> F> Slot<F, M> {
    /// Makes a task that is not started.
    pub fn new(make: M) -> Self {
        Self { future: Box::pin(None), make }
    }
}

impl<F: Future<Output = ()>, M: FnMut() -> F> Task for Slot<F, M> {
    fn start(&mut self) {
        let future = (self.make)();
        self.future.set(Some(future));
    }

    fn poll(&mut self) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        match self.future.as_mut().as_pin_mut().map(|future| future.poll(&mut context)) {
            Some(Poll::Pending) => false,
            Some(Poll::Ready(())) => {
                self.future.set(None);
                true
            }
            None => true,
        }
    }

    fn stop(&mut self) {
        self.future.set(None);
    }
}
