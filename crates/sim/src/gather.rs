//! One request to several servers at once, and how they answer.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};

use fencepost_history::{Duration, Moment, ServerId, What};

use crate::ops::Kind;
use crate::process::OpState;
use crate::server::CallRef;
use crate::{Client, Services};

/// How many servers one [`Gather`] can ask.
const MOST: usize = 16;

/// What servers answered: sets of them, as bits counted from the first one asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Votes {
    /// Those that said yes.
    pub yes: u32,
    /// Those that said no.
    pub no: u32,
}

/// Whom to ask together, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct Round {
    /// The first of the servers.
    pub first: ServerId,
    /// How many there are, at most 16.
    pub count: u16,
    /// After how long of the host's monotonic clock each of them is given up.
    pub timeout: Duration,
    /// How many yes are enough for the code to go on; it also goes on if there cannot be so many.
    /// The other answers are given up. Without it, all answers are waited for.
    pub quorum: Option<u16>,
    /// The moment that is passed when the last request is sent.
    pub sent: Moment,
}

/// The same request to neighbouring servers, sent one after the other without waiting.
///
/// Each sending is a step, and each reply that is seen and each time-out is an own event.
#[must_use = "futures do nothing unless awaited"]
pub struct Gather<'a, S: Services> {
    client: &'a Client<S>,
    round: Round,
    request: S::Request,
    is_yes: fn(&S::Reply) -> bool,
    /// How many requests have been sent.
    next: u16,
    votes: Votes,
    /// Those that have neither answered nor timed out.
    open: u32,
    slots: [u8; MOST],
}

impl<S: Services> Client<S> {
    /// Sends a request to several servers and gathers their answers.
    #[inline(always)]
    pub fn gather(
        &self,
        round: Round,
        request: S::Request,
        is_yes: fn(&S::Reply) -> bool,
    ) -> Gather<'_, S> {
        let votes = Votes::default();
        Gather { client: self, round, request, is_yes, next: 0, votes, open: 0, slots: [0; MOST] }
    }

    /// Sends a request to several servers whose replies nobody awaits; each sending is a step.
    pub fn scatter(
        &self,
        first: ServerId,
        count: u16,
        request: S::Request,
    ) -> impl Future<Output = ()> + use<'_, S> {
        let mut next = 0;
        poll_fn(move |_| {
            let core = &mut *self.core.borrow_mut();
            while next < count {
                let Some(passed) = core.world.step(self.thread) else {
                    return Poll::Pending;
                };
                core.send_unawaited(self.thread, ServerId(first.0 + next), &request);
                next += 1;
                core.world.stepped(passed);
            }
            Poll::Ready(())
        })
    }
}

impl<S: Services> Gather<'_, S> {
    /// Sends what is still to be sent; returns whether all is.
    #[inline]
    fn send(&mut self) -> bool {
        let thread = self.client.thread;
        let core = &mut *self.client.core.borrow_mut();
        while self.next < self.round.count {
            let Some(opened) = core.world.open(thread, self.round.timeout, Kind::Call) else {
                return false;
            };
            let server = ServerId(self.round.first.0 + self.next);
            let to = CallRef { call: opened.call, thread, server, slot: opened.slot };
            core.send_request(to, opened.passed.process, &self.request);
            self.slots[usize::from(self.next)] = opened.slot;
            if self.round.quorum.is_none() {
                // Each answer but the last would only be counted.
                core.world.threads[thread.index()].together |= 1 << opened.slot;
            }
            self.open |= 1 << self.next;
            self.next += 1;
            if self.next == self.round.count {
                core.world.pass(thread, self.round.sent);
            }
            core.world.stepped(opened.passed);
        }
        true
    }

    /// Counts the answers that have come; returns who has timed out.
    #[inline]
    fn count(&mut self) -> u32 {
        let world = &mut self.client.core.borrow_mut().world;
        let state = &mut world.threads[self.client.thread.index()];
        let (mut left, mut late, mut closed) = (self.open, 0, 0);
        while left != 0 {
            let place = left.trailing_zeros();
            left &= left - 1;
            let slot = self.slots[place as usize];
            let op = state.op(slot);
            match op.state {
                OpState::Waiting => continue,
                OpState::Replied => {
                    let reply = op.reply.as_ref().expect("a reply stays where it was sent to");
                    let is_yes = u32::from((self.is_yes)(reply));
                    self.votes.yes |= is_yes << place;
                    self.votes.no |= (1 - is_yes) << place;
                }
                OpState::TimerFired => late |= 1 << place,
            }
            self.open &= !(1 << place);
            closed |= 1 << slot;
        }
        state.close_some(closed);
        late
    }

    /// Tells a reader which calls are given up.
    #[cold]
    fn give_up(&self, late: u32) {
        let world = &mut self.client.core.borrow_mut().world;
        for (place, &slot) in self.slots.iter().enumerate() {
            if late & 1 << place != 0 {
                let call = world.threads[self.client.thread.index()].op(slot).call;
                world.mention(What::GivenUp { call });
            }
        }
    }

    const fn is_decided(&self) -> bool {
        let (yes, open) = (self.votes.yes.count_ones(), self.open.count_ones());
        match self.round.quorum {
            Some(quorum) => open == 0 || yes >= quorum as u32 || yes + open < quorum as u32,
            None => open == 0,
        }
    }
}

impl<S: Services> Future for Gather<'_, S>
where
    S::Request: Unpin,
{
    type Output = Votes;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Votes> {
        if self.next < self.round.count {
            let is_fresh = self.open == 0;
            let is_sent = self.send();
            // What has just been sent cannot have been answered.
            if !is_sent || is_fresh && self.open != 0 {
                return Poll::Pending;
            }
        }
        let late = self.count();
        if late != 0 {
            self.give_up(late);
        }
        if self.is_decided() { Poll::Ready(self.votes) } else { Poll::Pending }
    }
}

impl<S: Services> Drop for Gather<'_, S> {
    fn drop(&mut self) {
        if self.open == 0 {
            return;
        }
        for place in 0..self.next {
            if self.open & 1 << place != 0 {
                self.client.abandon(self.slots[usize::from(place)]);
            }
        }
    }
}
