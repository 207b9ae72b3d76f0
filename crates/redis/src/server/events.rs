//! Keyspace events: which are published, and how.

use std::ops::BitOr;

use super::{Context, context::words};
use crate::{effects::ConnectionId, frame::Frame, glob};

/// A set of classes of keyspace events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct EventClass(u16);

impl EventClass {
    pub(crate) const NONE: Self = Self(0);
    const KEYSPACE: Self = Self(1);
    const KEYEVENT: Self = Self(2);
    pub(crate) const GENERIC: Self = Self(4);
    pub(crate) const STRING: Self = Self(8);
    pub(crate) const LIST: Self = Self(16);
    pub(crate) const SET: Self = Self(32);
    pub(crate) const HASH: Self = Self(64);
    pub(crate) const ZSET: Self = Self(128);
    pub(crate) const EXPIRED: Self = Self(256);
    const EVICTED: Self = Self(512);
    const STREAM: Self = Self(1024);
    const MODULE: Self = Self(2048);
    /// What `A` stands for.
    const ALL: Self = Self(0xffc);
    pub(crate) const NEW: Self = Self(4096);
    const MISS: Self = Self(8192);

    /// The letters, in the order in which CONFIG GET gives them.
    const LETTERS: &[(char, Self)] = &[
        ('A', Self::ALL),
        ('g', Self::GENERIC),
        ('$', Self::STRING),
        ('l', Self::LIST),
        ('s', Self::SET),
        ('h', Self::HASH),
        ('z', Self::ZSET),
        ('x', Self::EXPIRED),
        ('e', Self::EVICTED),
        ('t', Self::STREAM),
        ('d', Self::MODULE),
        ('n', Self::NEW),
        ('K', Self::KEYSPACE),
        ('E', Self::KEYEVENT),
        ('m', Self::MISS),
    ];

    /// Reads the letters of `notify-keyspace-events`.
    pub(crate) fn from_flags(letters: &str) -> Option<Self> {
        letters.chars().try_fold(Self::NONE, |all, letter| {
            let (_, class) = Self::LETTERS.iter().find(|(known, _)| *known == letter)?;
            Some(all | *class)
        })
    }

    /// Writes the letters as the server does (`src/notify.c:keyspaceEventsFlagsToString`): with
    /// `A`, none of the classes follow that it stands for, and `n` is left out.
    pub(crate) fn to_flags(self) -> String {
        let holds = |class: Self| self.0 & class.0 == class.0;
        let all = holds(Self::ALL);
        let covered = |class: Self| all && (Self::ALL.meets(class) || class == Self::NEW);
        let shown =
            |&&(letter, class): &&(char, Self)| holds(class) && (letter == 'A' || !covered(class));
        Self::LETTERS.iter().filter(shown).map(|(letter, _)| letter).collect()
    }

    const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl BitOr for EventClass {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl Context<'_> {
    /// Publishes a keyspace event, if anybody asked for its class.
    pub(crate) fn notify(&mut self, class: EventClass, event: &str, key: &[u8]) {
        let wanted = self.engine.server.config.events;
        if !wanted.meets(class) {
            return;
        }
        let database = self.database;
        if wanted.meets(EventClass::KEYSPACE) {
            let mut channel = format!("__keyspace@{database}__:").into_bytes();
            channel.extend_from_slice(key);
            self.publish(&channel, event.as_bytes());
        }
        if wanted.meets(EventClass::KEYEVENT) {
            let channel = format!("__keyevent@{database}__:{event}");
            self.publish(channel.as_bytes(), key);
        }
    }

    /// Sends a message to all who subscribed the channel, and counts them.
    pub(crate) fn publish(&mut self, channel: &[u8], message: &[u8]) -> usize {
        let mut sent: Vec<(ConnectionId, Frame)> = Vec::new();
        for (&id, connection) in &self.engine.server.connections {
            if connection.channels.contains(channel) {
                let parts = words(&[b"message", channel, message]);
                sent.push((id, Frame::Push(parts.into_iter().map(Frame::Bulk).collect())));
            }
        }
        for (&id, connection) in &self.engine.server.connections {
            for pattern in connection.patterns.iter().filter(|p| glob::matches(p, channel)) {
                let parts = words(&[b"pmessage", pattern, channel, message]);
                sent.push((id, Frame::Push(parts.into_iter().map(Frame::Bulk).collect())));
            }
        }
        let count = sent.len();
        for (id, frame) in sent {
            self.send(id, frame);
        }
        count
    }

    /// Sends a message to all who subscribed the shard channel, and counts them.
    pub(crate) fn publish_shard(&mut self, channel: &[u8], message: &[u8]) -> usize {
        let connections = &self.engine.server.connections;
        let listens = |&(_, connection): &(_, &super::Connection)| {
            connection.shard_channels.contains(channel)
        };
        let ids: Vec<_> = connections.iter().filter(listens).map(|(&id, _)| id).collect();
        for &id in &ids {
            let parts = words(&[b"smessage", channel, message]);
            self.send(id, Frame::Push(parts.into_iter().map(Frame::Bulk).collect()));
        }
        ids.len()
    }
}
