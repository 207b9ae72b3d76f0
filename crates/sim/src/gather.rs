//! One request to several servers at once, and how they answer.

use std::future::Future;
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

/// The same request to neighbouring servers, sent one after the other without waiting.
///
/// Each sending is a step, and each reply that is seen and each time-out is an own event; the code
/// goes on when all have answered or timed out, or sooner: see [`Gather::until`].
#[must_use = "futures do nothing unless awaited"]
pub struct Gather<'a, S: Services> {
    client: &'a Client<S>,
    first: ServerId,
    count: u16,
    request: S::Request,
    is_yes: fn(&S::Reply) -> bool,
    timeout: Duration,
    sent: Option<Moment>,
    quorum: u16,
    /// How many requests have been sent.
    next: u16,
    votes: Votes,
    /// Those that have neither answered nor timed out.
    open: u32,
    slots: [u8; MOST],
}

impl<S: Services> Client<S> {
    /// Sends a request to `count` servers from `first` on and gathers their answers.
    ///
    /// # Panics
    ///
    /// If there are more than 16 of them.
    #[inline]
    pub fn gather(
        &self,
        first: ServerId,
        count: u16,
        request: S::Request,
        is_yes: fn(&S::Reply) -> bool,
    ) -> Gather<'_, S> {
        assert!(usize::from(count) <= MOST, "at most {MOST} servers are asked at once");
        Gather {
            client: self,
            first,
            count,
            request,
            is_yes,
            timeout: Duration::MAX,
            sent: None,
            quorum: u16::MAX,
            next: 0,
            votes: Votes::default(),
            open: 0,
            slots: [0; MOST],
        }
    }
}

impl<S: Services> Gather<'_, S> {
    /// Gives each server up after `timeout` of the host's monotonic clock.
    #[inline]
    pub const fn within(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Passes a named moment when the last request is sent.
    #[inline]
    pub const fn marking(mut self, sent: Moment) -> Self {
        self.sent = Some(sent);
        self
    }

    /// Goes on as soon as so many have said yes, or so many no longer can; the other answers are
    /// given up.
    #[inline]
    pub const fn until(mut self, quorum: u16) -> Self {
        self.quorum = quorum;
        self
    }

    /// Sends what is still to be sent; returns whether all is.
    #[inline]
    fn send(&mut self) -> bool {
        let thread = self.client.thread;
        let core = &mut *self.client.core.borrow_mut();
        while self.next < self.count {
            let Some(opened) = core.world.open(thread, self.timeout, Kind::Call) else {
                return false;
            };
            let server = ServerId(self.first.0 + self.next);
            let to = CallRef { call: opened.call, thread, server, slot: opened.slot };
            core.send_request(to, opened.passed.process, &self.request);
            self.slots[usize::from(self.next)] = opened.slot;
            if self.quorum == u16::MAX {
                // Each answer but the last would only be counted.
                core.world.threads[thread.index()].together |= 1 << opened.slot;
            }
            self.open |= 1 << self.next;
            self.next += 1;
            if self.next == self.count
                && let Some(moment) = self.sent
            {
                core.world.pass(thread, moment);
            }
            core.world.stepped(opened.passed);
        }
        true
    }

    /// Counts the answers that have come.
    #[inline]
    fn count(&mut self) {
        let thread = self.client.thread;
        let world = &mut self.client.core.borrow_mut().world;
        let mut left = self.open;
        while left != 0 {
            let place = left.trailing_zeros();
            left &= left - 1;
            let slot = self.slots[place as usize];
            let op = world.threads[thread.index()].op(slot);
            let call = op.call;
            match op.state {
                OpState::Waiting => continue,
                OpState::Replied => {
                    let reply = op.reply.expect("a reply stays where it was sent to");
                    let answers = if (self.is_yes)(&reply) {
                        &mut self.votes.yes
                    } else {
                        &mut self.votes.no
                    };
                    *answers |= 1 << place;
                }
                OpState::TimerFired => world.mention(What::GivenUp { call }),
            }
            self.open &= !(1 << place);
            world.threads[thread.index()].close(slot);
        }
    }

    const fn is_decided(&self) -> bool {
        let (yes, open) = (self.votes.yes.count_ones(), self.open.count_ones());
        let quorum = self.quorum as u32;
        open == 0 || quorum != u16::MAX as u32 && (yes >= quorum || yes + open < quorum)
    }
}

impl<S: Services> Future for Gather<'_, S>
where
    S::Request: Unpin,
{
    type Output = Votes;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Votes> {
        if self.next < self.count {
            let is_fresh = self.open == 0;
            let is_sent = self.send();
            // What has just been sent cannot have been answered.
            if !is_sent || is_fresh && self.open != 0 {
                return Poll::Pending;
            }
        }
        self.count();
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
