//! Commands that wait: what a blocked client wants, and how it gets it.
//!
//! A client is served only after the command, script or transaction that brought the element has
//! ended; first come, first served (`src/blocked.c:handleClientsBlockedOnKeys`).

use super::{Context, EventClass, Origin, Refusal};
use crate::{
    effects::{ConnectionId, Operation},
    frame::Frame,
    object::{List, SortedSet},
};

/// A client that waits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Blocked {
    pub(crate) wish: Wish,
    pub(crate) keys: Vec<Vec<u8>>,
    /// The last wall time in milliseconds at which it still waits.
    pub(crate) deadline: Option<i64>,
    /// Its place in the order of arrival.
    pub(crate) turn: u64,
}

/// What a blocked client waits for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Wish {
    /// An element of a list: BLPOP, BRPOP.
    Pop {
        /// Whether it is taken from the left.
        left: bool,
    },
    /// An element to be moved to another list: BLMOVE, BRPOPLPUSH.
    Move {
        /// The other list.
        to: Vec<u8>,
        /// Whether it is taken from the left.
        from_left: bool,
        /// Whether it is put in on the left.
        to_left: bool,
    },
    /// A member of a sorted set: BZPOPMIN, BZPOPMAX.
    PopScore {
        /// Whether the one with the lowest score is meant.
        lowest: bool,
    },
    /// Acknowledgements of replicas: WAIT.
    Acknowledged {
        /// Of this replication offset.
        offset: u64,
        /// By so many replicas.
        replicas: i64,
    },
    /// The end of the server: SHUTDOWN that waits for replicas.
    Shutdown,
}

impl Context<'_> {
    /// The reply when the time is up.
    fn timed_out(&self, wish: &Wish) -> Frame {
        match wish {
            Wish::Acknowledged { offset, .. } => self.acknowledgements(*offset),
            Wish::Pop { .. } | Wish::Move { .. } | Wish::PopScore { .. } | Wish::Shutdown => {
                Frame::NilArray
            }
        }
    }

    /// How many replicas have acknowledged an offset.
    pub(crate) fn acknowledgements(&self, offset: u64) -> Frame {
        Frame::count(self.engine.server.replication.acknowledged_by(offset))
    }

    /// Fulfils the wish at the first key that has something, or blocks the client.
    pub(crate) fn pop_or_block(
        &mut self,
        wish: Wish,
        keys: Vec<Vec<u8>>,
        timeout: Option<i64>,
    ) -> Result<Frame, Refusal> {
        for key in &keys {
            if let Some(frame) = self.fulfil(&wish, key)? {
                return Ok(frame);
            }
        }
        if self.origin != Origin::Client {
            let moves = matches!(wish, Wish::Move { .. });
            return Ok(if moves { Frame::Nil } else { self.timed_out(&wish) });
        }
        let deadline = timeout.map(|millis| self.wall().saturating_add(millis));
        Ok(self.block(wish, keys, deadline))
    }

    /// Has the present client wait; the frame is no reply.
    pub(crate) fn block(&mut self, wish: Wish, keys: Vec<Vec<u8>>, deadline: Option<i64>) -> Frame {
        let turn = self.engine.server.take_turn();
        self.me().blocked = Some(Blocked { wish, keys, deadline, turn });
        Frame::Several(Vec::new())
    }

    /// Takes what the wish asks for out of the key, if it is there.
    fn fulfil(&mut self, wish: &Wish, key: &[u8]) -> Result<Option<Frame>, Refusal> {
        match wish {
            Wish::Acknowledged { .. } | Wish::Shutdown => Ok(None),
            Wish::Pop { left } => {
                let Some(element) = self.pop(key, *left)? else { return Ok(None) };
                self.rewrite(&[if *left { b"LPOP" } else { b"RPOP" }, key]);
                Ok(Some(Frame::bulks([key, &element])))
            }
            Wish::Move { to, from_left, to_left } => {
                if self.container::<List>(key)?.is_none() {
                    return Ok(None);
                }
                let moved = self.move_element(key, to, *from_left, *to_left)?;
                let side = |left: bool| if left { &b"LEFT"[..] } else { &b"RIGHT"[..] };
                self.rewrite(&[b"LMOVE", key, to, side(*from_left), side(*to_left)]);
                Ok(moved.map(Frame::Bulk))
            }
            Wish::PopScore { lowest } => {
                let popped = self.pop_scores(key, *lowest, 1)?;
                self.rewrite(&[if *lowest { b"ZPOPMIN" } else { b"ZPOPMAX" }, key]);
                let key = Frame::bulk(key);
                Ok(popped.into_iter().next().map(|(member, score)| {
                    Frame::Array(vec![key, Frame::Bulk(member), self.double(score)])
                }))
            }
        }
    }

    /// Takes an element off a list.
    pub(crate) fn pop(&mut self, key: &[u8], left: bool) -> Result<Option<Vec<u8>>, Refusal> {
        let Some(list) = self.container::<List>(key)? else { return Ok(None) };
        let element = if left { list.pop_front() } else { list.pop_back() };
        if element.is_some() {
            self.modified(key, EventClass::LIST, if left { "lpop" } else { "rpop" });
        }
        Ok(element)
    }

    /// Moves an element from one end of a list to an end of another.
    pub(crate) fn move_element(
        &mut self,
        from: &[u8],
        to: &[u8],
        from_left: bool,
        to_left: bool,
    ) -> Result<Option<Vec<u8>>, Refusal> {
        if self.container::<List>(from)?.is_none() {
            return Ok(None);
        }
        if self.exists(to) {
            self.container::<List>(to)?;
        }
        let Some(element) = self.pop(from, from_left)? else { return Ok(None) };
        let list = self.container_or_new::<List>(to)?;
        if to_left {
            list.push_front(element.clone());
        } else {
            list.push_back(element.clone());
        }
        self.modified(to, EventClass::LIST, if to_left { "lpush" } else { "rpush" });
        self.signal(to);
        Ok(Some(element))
    }

    /// Takes members with the lowest or highest scores out of a sorted set.
    pub(crate) fn pop_scores(
        &mut self,
        key: &[u8],
        lowest: bool,
        count: usize,
    ) -> Result<Vec<(Vec<u8>, f64)>, Refusal> {
        let Some(zset) = self.container::<SortedSet>(key)? else { return Ok(Vec::new()) };
        let own = |(member, score): (&[u8], f64)| (member.to_vec(), score);
        let popped: Vec<_> = if lowest {
            zset.iter().take(count).map(own).collect()
        } else {
            zset.iter().rev().take(count).map(own).collect()
        };
        for (member, _) in &popped {
            zset.remove(member);
        }
        if !popped.is_empty() {
            self.modified(key, EventClass::ZSET, if lowest { "zpopmin" } else { "zpopmax" });
        }
        Ok(popped)
    }

    /// Serves the clients that wait for keys made ready; true if there were such keys.
    pub(crate) fn serve_ready(&mut self) -> bool {
        let ready = std::mem::take(&mut self.engine.server.ready);
        for (database, key) in &ready {
            self.serve(*database, key);
        }
        !ready.is_empty()
    }

    fn serve(&mut self, database: usize, key: &Vec<u8>) {
        let mut waiters: Vec<(u64, ConnectionId, Wish)> = Vec::new();
        for (&id, connection) in &self.engine.server.connections {
            if let Some(blocked) = &connection.blocked
                && connection.database == database
                && blocked.keys.contains(key)
            {
                waiters.push((blocked.turn, id, blocked.wish.clone()));
            }
        }
        waiters.sort_by_key(|(turn, ..)| *turn);
        for (_, id, wish) in waiters {
            self.database = database;
            self.connection = id;
            self.origin = Origin::Client;
            self.rewritten = None;
            match self.fulfil(&wish, key) {
                Ok(None) => {}
                Ok(Some(frame)) => {
                    for words in self.rewritten.take().unwrap_or_default() {
                        self.engine.server.pending.push(Operation { database, words });
                    }
                    self.unblock(id, frame);
                }
                // A wrong type at the key leaves the client waiting; at the target it is an error.
                Err(Refusal(text)) => {
                    if matches!(wish, Wish::Move { .. }) && self.holds_list(key) {
                        self.unblock(id, Frame::Error(text));
                    }
                }
            }
        }
        self.rewritten = None;
    }

    fn holds_list(&mut self, key: &[u8]) -> bool {
        matches!(self.container::<List>(key), Ok(Some(_)))
    }

    /// Ends a client's wait with this reply.
    pub(crate) fn unblock(&mut self, id: ConnectionId, frame: Frame) {
        let turn = self.engine.server.take_turn();
        if let Some(connection) = self.engine.server.connections.get_mut(&id) {
            connection.blocked = None;
            connection.turn = turn;
            self.send(id, frame);
        }
    }

    /// Ends the wait of the clients whose time is up.
    pub(crate) fn time_out_blocked(&mut self) {
        let now = self.frozen;
        let mut late: Vec<(u64, ConnectionId, Frame)> = Vec::new();
        for (&id, connection) in &self.engine.server.connections {
            if let Some(blocked) = &connection.blocked
                && blocked.deadline.is_some_and(|deadline| deadline < now)
            {
                late.push((blocked.turn, id, self.timed_out(&blocked.wish)));
            }
        }
        late.sort_by_key(|(turn, ..)| *turn);
        for (_, id, frame) in late {
            self.unblock(id, frame);
        }
    }

    /// Ends the wait of the clients whose offsets have been acknowledged by enough replicas.
    pub(crate) fn serve_acknowledged(&mut self) {
        let mut served: Vec<(u64, ConnectionId, Frame)> = Vec::new();
        for (&id, connection) in &self.engine.server.connections {
            if let Some(Blocked { wish: Wish::Acknowledged { offset, replicas }, turn, .. }) =
                &connection.blocked
            {
                let count = self.engine.server.replication.acknowledged_by(*offset);
                if i64::try_from(count).is_ok_and(|count| count >= *replicas) {
                    served.push((*turn, id, Frame::count(count)));
                }
            }
        }
        served.sort_by_key(|(turn, ..)| *turn);
        for (_, id, frame) in served {
            self.unblock(id, frame);
        }
    }

    /// Ends the wait of every blocked client with an error, as a demotion does.
    pub(crate) fn unblock_all(&mut self, text: &'static str) {
        let connections = &self.engine.server.connections;
        let blocked = connections.iter().filter(|(_, connection)| connection.blocked.is_some());
        let ids: Vec<_> = blocked.map(|(&id, _)| id).collect();
        for id in ids {
            self.unblock(id, Frame::Error(text.into()));
        }
    }

    /// Finds the reply of CLIENT UNBLOCK for a client: whether it was blocked and is free now.
    pub(crate) fn unblock_client(&mut self, client: i64, with_error: bool) -> bool {
        let connections = &self.engine.server.connections;
        let found = connections.iter().find(|(_, connection)| connection.client == client);
        let Some((&id, connection)) = found else { return false };
        let Some(blocked) = &connection.blocked else { return false };
        let frame = if with_error {
            Frame::Error("UNBLOCKED client unblocked via CLIENT UNBLOCK".into())
        } else {
            self.timed_out(&blocked.wish)
        };
        self.unblock(id, frame);
        true
    }
}
