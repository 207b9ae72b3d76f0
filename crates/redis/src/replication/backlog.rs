//! The end of the stream, kept for replicas that come back.

use std::collections::VecDeque;

use super::{StreamContent, StreamItem, Streamed};

/// Items of the stream without a gap, oldest first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Backlog<W> {
    /// The offset in front of the first item.
    start: u64,
    items: VecDeque<StreamItem<W>>,
}

impl<W: Streamed> Backlog<W> {
    /// Makes an empty one at this offset, in memory that an older one had.
    pub(super) const fn new(start: u64, memory: VecDeque<StreamItem<W>>) -> Self {
        Self { start, items: memory }
    }

    /// Gives the memory back, empty.
    pub(super) fn into_memory(mut self) -> VecDeque<StreamItem<W>> {
        self.items.clear();
        self.items
    }

    pub(super) const fn start(&self) -> u64 {
        self.start
    }

    pub(super) fn push(&mut self, item: StreamItem<W>) {
        self.items.push_back(item);
    }

    /// Ends the group of the last write.
    pub(super) fn end_group(&mut self) {
        if let Some(StreamItem { content: StreamContent::Write { ends_group, .. }, .. }) =
            self.items.back_mut()
        {
            *ends_group = true;
        }
    }

    /// The item right behind this offset.
    pub(super) fn after(&self, offset: u64) -> Option<&StreamItem<W>> {
        let place = self.items.partition_point(|item| item.end <= offset);
        self.items.get(place)
    }

    /// Forgets the oldest items while more than `size` bytes are kept and nobody needs them; all
    /// links have got everything up to `needed`.
    pub(super) fn trim(&mut self, size: u64, needed: u64) {
        while let (Some(first), Some(last)) = (self.items.front(), self.items.back())
            && last.end - self.start > size
            && first.end <= needed
        {
            self.start = first.end;
            self.items.pop_front();
        }
    }
}
