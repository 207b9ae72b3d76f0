//! The event queue: a sorted vector, soonest last.
//!
//! With the few pending events of a lock simulation an insertion that walks from the end beats
//! every heap; the order at one instant is part of the key.

use fencepost_history::Instant;

/// What orders events at one instant: kind (fault, server, reply), then actor, then number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Order(u64);

impl Order {
    const ACTOR: u32 = 44;
    const KIND: u32 = 60;

    #[inline(always)]
    pub(crate) const fn fault(actor: u16, number: u32) -> Self {
        Self::new(0, actor, number)
    }

    #[inline(always)]
    pub(crate) const fn server(actor: u16, number: u32) -> Self {
        Self::new(1, actor, number)
    }

    #[inline(always)]
    pub(crate) const fn reply(actor: u16, number: u32) -> Self {
        Self::new(2, actor, number)
    }

    #[inline(always)]
    const fn new(kind: u64, actor: u16, number: u32) -> Self {
        Self((kind << Self::KIND) | ((actor as u64) << Self::ACTOR) | number as u64)
    }

    /// Returns the number of the process or server that the event touches.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "an actor has 16 bits")]
    pub(crate) const fn actor(self) -> u16 {
        (self.0 >> Self::ACTOR) as u16
    }

    /// Returns the number of the call that a message belongs to.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "a number has 32 bits")]
    pub(crate) const fn number(self) -> u32 {
        self.0 as u32
    }

    /// Returns whether two events touch the same actor or server.
    #[inline(always)]
    pub(crate) const fn same_actor(self, other: Self) -> bool {
        self.0 >> Self::ACTOR == other.0 >> Self::ACTOR
    }

    /// Returns whether this is a fault or the end of one.
    #[inline(always)]
    pub(crate) const fn is_fault(self) -> bool {
        self.0 >> Self::KIND == 0
    }
}

/// An event that will happen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<A> {
    pub(crate) at: Instant,
    pub(crate) order: Order,
    pub(crate) action: A,
}

impl<A> Entry<A> {
    #[inline(always)]
    const fn key(&self) -> (u64, Order) {
        (self.at.as_nanos(), self.order)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Queue<A> {
    entries: Vec<Entry<A>>,
}

/// From how many events on an insertion searches its place by halves.
const MANY: usize = 64;

impl<A: Copy> Queue<A> {
    pub(crate) const fn new() -> Self {
        Self { entries: Vec::new() }
    }

    pub(crate) fn clear(&mut self) {
        self.entries.clear();
    }

    #[inline(always)]
    pub(crate) fn peek(&self) -> Option<&Entry<A>> {
        self.entries.last()
    }

    /// Returns when the next event happens; `u64::MAX` if there is none.
    #[inline(always)]
    pub(crate) fn next_at(&self) -> u64 {
        match self.entries.as_slice() {
            [.., next] => next.at.as_nanos(),
            [] => u64::MAX,
        }
    }

    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Option<Entry<A>> {
        self.entries.pop()
    }

    /// Returns whether the event after the next one is due with it and touches the same actor, so
    /// that a choice decides between them; faults have their order.
    #[inline(always)]
    pub(crate) fn is_tied(&self) -> bool {
        let [.., second, head] = self.entries.as_slice() else {
            return false;
        };
        second.at == head.at && second.order.same_actor(head.order) && !head.order.is_fault()
    }

    /// Counts the events of the next one's actor that are due with it, itself included.
    pub(crate) fn count_tied(&self) -> usize {
        let Some(head) = self.peek() else {
            return 0;
        };
        let is_tied = |other: &&Entry<A>| other.at == head.at && other.order.same_actor(head.order);
        self.entries.iter().rev().take_while(is_tied).count()
    }

    /// Makes the event the next one that comes `places` events later.
    pub(crate) fn bring_forward(&mut self, places: usize) {
        let first = self.entries.len() - 1 - places;
        self.entries[first..].rotate_left(1);
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, entry: Entry<A>) {
        match self.entries.last() {
            Some(next) if next.key() < entry.key() => {
                self.push_behind(entry.at, entry.order, entry.action);
            }
            Some(_) | None => self.entries.push(entry),
        }
    }

    /// Queues an event that is not the next one; its parts come in registers.
    #[inline(never)]
    fn push_behind(&mut self, at: Instant, order: Order, action: A) {
        let entry = Entry { at, order, action };
        let key = entry.key();
        if self.entries.len() > MANY {
            let place = self.entries.partition_point(|other| other.key() > key);
            self.entries.insert(place, entry);
            return;
        }
        self.entries.push(entry);
        let mut later = self.entries.as_mut_slice();
        while let [rest @ .., before, place] = later
            && before.key() < key
        {
            *place = *before;
            *before = entry;
            let len = rest.len();
            later = &mut later[..=len];
        }
    }
}
