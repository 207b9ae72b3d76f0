//! The stream on its way: what leaves a master and when, and what a replica does with it.

use fencepost_history::{Duration, Instant};
use fencepost_redis::{Command, LinkId, Outcome, StreamItem, SyncAnswer, SyncRequest};
use fencepost_sim::ServerContext;

use super::member::{Update, peer};
use super::{Content, Message, Replication, id, token, wall_ms};
use crate::Servers;
use crate::node::RedisNode;

/// How soon a replica whose link broke tries again: `replicationCron` runs once a second.
const RECONNECT: Duration = Duration::from_secs(1);

impl Replication {
    /// Adds to a master's stream what a command did, and lets it leave when it may.
    pub(crate) fn publish(
        &mut self,
        node: &RedisNode,
        place: usize,
        command: &Command,
        outcome: &Outcome,
        cx: &mut ServerContext<'_, Servers>,
    ) {
        let stream = &mut self.members[place].stream;
        let before = stream.offset();
        node.propagate(command, outcome, cx, |update| stream.write(update));
        if stream.offset() != before {
            stream.commit();
            self.enqueue_all(place, cx);
        }
    }

    /// Lets all of the stream up to now leave for each replica once its lag is over.
    pub(super) fn enqueue_all(&mut self, place: usize, cx: &mut ServerContext<'_, Servers>) {
        for replica in 0..self.members.len() {
            self.enqueue(place, replica, cx);
        }
    }

    fn enqueue(&mut self, place: usize, replica: usize, cx: &mut ServerContext<'_, Servers>) {
        let (lag, now) = (self.lag(replica), cx.now());
        let member = &mut self.members[place];
        let delivery = &mut member.deliveries[replica];
        if delivery.link.is_none() {
            return;
        }
        let after_others = delivery.queue.back().map_or(Instant::ZERO, |last| last.0);
        let leaves = (now + lag).max(after_others);
        delivery.queue.push_back((leaves, member.stream.offset()));
        if leaves <= now {
            self.flush(place, replica, cx);
        } else {
            cx.wake(id(place), leaves, token::of(token::SEND, replica));
        }
    }

    fn lag(&self, replica: usize) -> Duration {
        // The first node has no lag of its own: as a replica it has that of the first replica.
        let place = replica.max(1) - 1;
        self.setup.replicas.get(place).map_or(Duration::ZERO, |replica| replica.lag)
    }

    /// Lets leave what is due.
    pub(super) fn flush(
        &mut self,
        place: usize,
        replica: usize,
        cx: &mut ServerContext<'_, Servers>,
    ) {
        let now = cx.now();
        let cut = cx.peers_cut_until(id(place), id(replica));
        let member = &mut self.members[place];
        let delivery = &mut member.deliveries[replica];
        let Some(link) = delivery.link else {
            return;
        };
        let held = delivery.stalled_until.max(cut);
        if held > now {
            wake_at(place, held, token::of(token::SEND, replica), cx);
            return;
        }
        while let Some((_, offset)) = delivery.queue.pop_front_if(|next| next.0 <= now) {
            while delivery.sent < offset {
                let Some(item) = member.stream.next_item(link) else {
                    break;
                };
                delivery.sent = item.end;
                let content = Content::Item(item);
                cx.send(id(place), id(replica), Message { link, content });
            }
        }
    }

    /// Holds the stream to one replica back for a while.
    pub(crate) fn stall_stream(&mut self, place: usize, replica: usize, until: Instant) {
        let delivery = &mut self.members[place].deliveries[replica];
        delivery.stalled_until = delivery.stalled_until.max(until);
    }

    /// Breaks the connection of a replica to its master for a while.
    pub(crate) fn cut_stream(
        &mut self,
        place: usize,
        replica: usize,
        until: Instant,
        cx: &mut ServerContext<'_, Servers>,
    ) {
        if self.members[replica].master != Some(place) {
            return;
        }
        self.close_link(place, replica, cx);
        self.lose_master(replica, cx);
        wake_at(replica, until, token::of(token::CONNECT, place), cx);
    }

    /// Lets a master forget its connection to a replica.
    pub(super) fn close_link(
        &mut self,
        place: usize,
        replica: usize,
        cx: &ServerContext<'_, Servers>,
    ) {
        let wall = wall_ms(place, cx);
        let member = &mut self.members[place];
        if let Some(link) = member.deliveries[replica].close() {
            member.stream.link_lost(link, wall);
        }
    }

    /// Lets a replica notice that its connection is gone.
    pub(super) fn lose_master(&mut self, place: usize, cx: &ServerContext<'_, Servers>) {
        let wall = wall_ms(place, cx);
        let member = &mut self.members[place];
        if member.uplink.take().is_some() {
            member.stream.master_lost(wall);
        }
    }

    /// Lets a replica carry out a part of the stream.
    pub(super) fn take_item(
        &mut self,
        node: &mut RedisNode,
        place: usize,
        item: &StreamItem<Update>,
        cx: &mut ServerContext<'_, Servers>,
    ) {
        let wall = wall_ms(place, cx);
        let stream = &mut self.members[place].stream;
        let asked = stream.receive(*item, wall, |update| node.apply(update, cx));
        if asked.is_some() {
            self.acknowledge(place, cx);
        }
    }

    /// Lets a replica tell its master how far it is.
    pub(super) fn acknowledge(&mut self, place: usize, cx: &mut ServerContext<'_, Servers>) {
        let member = &self.members[place];
        let (Some(master), Some(link)) = (member.master, member.uplink) else {
            return;
        };
        let cut = cx.peers_cut_until(id(place), id(master));
        if cut > cx.now() {
            wake_at(place, cut, token::of(token::ACKNOWLEDGE, master), cx);
        } else {
            let content = Content::Acknowledged(member.stream.offset());
            cx.send(id(place), id(master), Message { link, content });
        }
    }

    /// Lets a replica try again to reach its master.
    pub(super) fn try_again_soon(&self, place: usize, cx: &mut ServerContext<'_, Servers>) {
        wake_at(place, cx.now() + RECONNECT, token::of(token::CONNECT, 0), cx);
    }

    /// Lets a replica ask its master to go on from where it is.
    pub(super) fn connect(&mut self, place: usize, cx: &mut ServerContext<'_, Servers>) {
        let Some(master) = self.members[place].master else {
            return;
        };
        // A master that is down makes its replicas try again when it is back.
        if !cx.is_up(id(master)) || !self.members[place].stream.wants_connection() {
            return;
        }
        let stalled = self.members[master].deliveries[place].stalled_until;
        let held = cx.peers_cut_until(id(place), id(master)).max(stalled);
        if held > cx.now() {
            wake_at(place, held, token::of(token::CONNECT, master), cx);
            return;
        }
        let (link, wall) = (self.next_link(), wall_ms(place, cx));
        let member = &mut self.members[place];
        member.uplink = Some(link);
        let content = Content::Connect(member.stream.connected(peer(place), wall));
        cx.send(id(place), id(master), Message { link, content });
    }

    /// Lets a master take a replica on, from where it is if that is known, else from scratch.
    pub(super) fn take_replica(
        &mut self,
        node: &RedisNode,
        place: usize,
        replica: usize,
        link: LinkId,
        request: &SyncRequest,
        cx: &mut ServerContext<'_, Servers>,
    ) {
        self.close_link(place, replica, cx);
        let (is_master, wall) = (self.is_master(place), wall_ms(place, cx));
        let member = &mut self.members[place];
        let answer =
            if is_master { member.stream.answer(link, request, wall) } else { SyncAnswer::NotNow };
        let content = match answer {
            SyncAnswer::Continue(history) => {
                let offset = request.position.map_or(0, |have| have.offset);
                member.deliveries[replica].open(link, offset);
                Content::Continue(history)
            }
            SyncAnswer::Full(position) => {
                member.stream.transferred(link, wall);
                member.deliveries[replica].open(link, position.offset);
                Content::Full(position, Box::new(node.copy()))
            }
            SyncAnswer::Refused | SyncAnswer::NotNow => Content::Refused,
        };
        cx.send(id(place), id(replica), Message { link, content });
        self.enqueue(place, replica, cx);
    }
}

/// Asks for a wake, unless that is never.
fn wake_at(place: usize, at: Instant, token: u32, cx: &mut ServerContext<'_, Servers>) {
    if at != Instant::NEVER {
        cx.wake(id(place), at, token);
    }
}
