//! Replication between Redis nodes: one master's stream of effects, and who copies it.
//!
//! A reply to a client waits for no replica. Each step of the stream leaves the master's own memory
//! after the lag of the replica's link, so that the master's death loses what has not left. Roles,
//! offsets, stream ids and resyncs follow Redis 7.0 (`src/replication.c`); who decides that another
//! server becomes master, an operator or sentinels, is not decided here.

mod member;
mod roles;
mod stream;
mod wait;

use fencepost_history::{Duration, Instant, ServerId};
use fencepost_redis::{
    Change, ErrorCode, LinkId, Position, ReplicationId, Reply as RedisReply, StreamItem,
    SyncRequest,
};
use fencepost_sim::{CallRef, ServerContext};

use crate::Servers;
use crate::node::{RedisNode, Snapshot};
use crate::servers::{RedisRequest, Reply};
use member::Member;
use wait::Waiting;

pub(crate) use member::Update;
pub use wait::Wait;

/// What a replication is from run to run. The first node is the master at the start, and each of
/// the others copies it.
#[derive(Clone, Debug)]
pub struct ReplicationSetup {
    /// The replicas, in the order of the nodes after the first.
    pub replicas: Vec<ReplicaSetup>,
    /// How many good replicas a master wants before it takes a write: `min-replicas-to-write`.
    pub min_replicas: u32,
    /// For how long a silent replica counts as good: `min-replicas-max-lag`.
    pub max_lag: Duration,
    /// Whether an address that all clients use moves along when a replica is promoted.
    pub address_moves: bool,
}

/// A replica.
#[derive(Clone, Copy, Debug)]
pub struct ReplicaSetup {
    /// How long a step of the stream waits in the master before it leaves for this replica.
    pub lag: Duration,
    /// `replica-priority`: the lowest is promoted first, and 0 never.
    pub priority: u32,
}

/// What nodes send to each other.
#[derive(Clone, Debug)]
pub struct Message {
    link: LinkId,
    content: Content,
}

/// What a message says.
#[derive(Clone, Debug)]
enum Content {
    /// A part of the stream.
    Item(StreamItem<Update>),
    /// A replica has the stream up to this offset: `REPLCONF ACK`.
    Acknowledged(u64),
    /// A replica asks to go on from where it is: `PSYNC`.
    Connect(SyncRequest),
    /// It may, and the stream is called so: `+CONTINUE`.
    Continue(ReplicationId),
    /// It may not and gets everything anew: `+FULLRESYNC`.
    Full(Position, Box<Snapshot>),
    /// Not now.
    Refused,
}

/// The replication of all nodes.
#[derive(Clone, Debug)]
pub(crate) struct Replication {
    setup: ReplicationSetup,
    members: Vec<Member>,
    waits: Vec<Waiting>,
    /// The server that each thread talked to last, and the offset there after its command.
    connections: Vec<(ServerId, u64)>,
    last_link: u64,
}

/// What a node asked to be woken for, in the upper half of the token; a place is in the lower one.
pub(crate) mod token {
    pub(crate) const SEND: u32 = 0;
    pub(crate) const ACKNOWLEDGE: u32 = 1;
    pub(crate) const CONNECT: u32 = 2;
    pub(crate) const GIVE_UP_WAITS: u32 = 3;
    pub(crate) const PROMOTE: u32 = 4;

    #[expect(clippy::cast_possible_truncation, reason = "places are ids, which have 16 bits")]
    pub(crate) const fn of(kind: u32, place: usize) -> u32 {
        (kind << 16) | (place as u32 & 0xffff)
    }

    pub(crate) const fn parts(token: u32) -> (u32, usize) {
        (token >> 16, (token & 0xffff) as usize)
    }
}

pub(crate) fn id(place: usize) -> ServerId {
    ServerId(u16::try_from(place).expect("nodes are few"))
}

/// Reads a node's wall clock in milliseconds.
fn wall_ms(place: usize, cx: &ServerContext<'_, Servers>) -> u64 {
    cx.wall(id(place)).as_nanos() / 1_000_000
}

impl Replication {
    pub(crate) fn new(setup: ReplicationSetup) -> Self {
        let servers = setup.replicas.len() + 1;
        let mut members: Vec<_> = (0..servers).map(|place| Member::new(place, servers)).collect();
        for member in &mut members {
            let settings = &mut member.stream.settings;
            settings.min_replicas = setup.min_replicas as usize;
            let seconds = setup.max_lag.as_nanos() / 1_000_000_000;
            settings.max_lag = i64::try_from(seconds).unwrap_or(i64::MAX);
        }
        Self { setup, members, waits: Vec::new(), connections: Vec::new(), last_link: 0 }
    }

    pub(crate) fn reset(&mut self, nodes: &mut [RedisNode]) {
        self.last_link = 0;
        for (place, member) in self.members.iter_mut().enumerate() {
            member.reset(if place == 0 { None } else { Some(0) });
            nodes[place].set_role(member.role());
        }
        for place in 1..self.members.len() {
            let link = self.next_link();
            let (master, replicas) = self.members.split_at_mut(1);
            master[0].attach(place, &mut replicas[place - 1], link);
        }
        self.waits.clear();
        self.connections.clear();
    }

    const fn next_link(&mut self) -> LinkId {
        self.last_link += 1;
        LinkId(self.last_link)
    }

    pub(crate) fn is_master(&self, place: usize) -> bool {
        self.members[place].master.is_none()
    }

    /// Returns whether a node is told to copy another one.
    pub(crate) fn copies(&self, place: usize, master: usize) -> bool {
        self.members[place].master == Some(master)
    }

    /// Lets a node execute a client's command, and tells its replicas.
    pub(crate) fn serve(
        &mut self,
        nodes: &mut [RedisNode],
        call: CallRef,
        request: &RedisRequest,
        wait: Wait,
        cx: &mut ServerContext<'_, Servers>,
    ) {
        let place = call.server.index();
        let cost = nodes[place].cost(&request.command);
        if let Some(code) = self.refusal(place, request, cx) {
            cx.reply(call, Reply::Redis(RedisReply::Error(code)), cost);
            return;
        }
        let outcome = nodes[place].execute(&request.command, request.by, cx);
        self.publish(&nodes[place], place, &request.command, &outcome, cx);
        let offset = self.members[place].stream.offset();
        let thread = call.thread.index();
        if thread >= self.connections.len() {
            self.connections.resize(thread + 1, (ServerId(u16::MAX), 0));
        }
        self.connections[thread] = (call.server, offset);
        if wait.replicas != 0 && outcome.change != Change::None {
            self.wait(call, outcome.reply, wait, offset, cost, cx);
        } else {
            cx.reply(call, Reply::Redis(outcome.reply), cost);
        }
    }

    /// Returns why a master refuses a command before it looks at it: too few of its replicas have
    /// been heard of lately. Those that nothing keeps away report once a second.
    fn refusal(
        &mut self,
        place: usize,
        request: &RedisRequest,
        cx: &ServerContext<'_, Servers>,
    ) -> Option<ErrorCode> {
        if self.setup.min_replicas == 0 || !self.is_master(place) || !request.command.is_write() {
            return None;
        }
        let wall = wall_ms(place, cx);
        let Member { stream, deliveries, .. } = &mut self.members[place];
        for (replica, delivery) in deliveries.iter().enumerate() {
            let Some(link) = delivery.link else {
                continue;
            };
            let cut = cx.peers_cut_until(id(place), id(replica));
            let is_silent = cut.max(cx.stalled_until(id(replica))) > cx.now();
            let since =
                if is_silent { cx.now().since(delivery.silent_since) } else { Duration::ZERO };
            stream.acknowledge(link, 0, wall.saturating_sub(since.as_millis()));
        }
        stream.renew_good_replicas(wall);
        stream.has_too_few_replicas().then_some(ErrorCode::NoReplicas)
    }

    /// Notes that two nodes hear nothing of each other from now on.
    pub(crate) fn fall_silent(&mut self, place: usize, peer: usize, now: Instant) {
        for (one, other) in [(place, peer), (peer, place)] {
            self.members[one].deliveries[other].silent_since = now;
        }
    }

    /// Notes that a stopped node sends nothing from now on.
    pub(crate) fn stalled(&mut self, place: usize, now: Instant) {
        for peer in 0..self.members.len() {
            self.fall_silent(place, peer, now);
        }
    }

    pub(crate) fn wake(
        &mut self,
        nodes: &mut [RedisNode],
        place: usize,
        token: u32,
        cx: &mut ServerContext<'_, Servers>,
    ) {
        let (kind, other) = token::parts(token);
        match kind {
            token::SEND => self.flush(place, other, cx),
            token::ACKNOWLEDGE => self.acknowledge(place, cx),
            token::CONNECT => self.connect(place, cx),
            token::GIVE_UP_WAITS => self.give_up_waits(place, cx),
            token::PROMOTE => self.promote(nodes, place, Some(other), cx),
            other => unreachable!("no node asks to be woken for {other}"),
        }
    }

    pub(crate) fn crash(&mut self, place: usize, cx: &mut ServerContext<'_, Servers>) {
        self.waits.retain(|wait| wait.call.server != id(place));
        // Its sockets close with it, so the others know at once.
        self.members[place].uplink = None;
        for peer in 0..self.members.len() {
            self.members[place].deliveries[peer].close();
            self.close_link(peer, place, cx);
            if self.members[peer].master == Some(place) {
                self.lose_master(peer, cx);
            }
        }
    }

    /// Starts a node again as what its configuration says.
    pub(crate) fn start(
        &mut self,
        nodes: &mut [RedisNode],
        place: usize,
        cx: &mut ServerContext<'_, Servers>,
    ) {
        let wall = wall_ms(place, cx);
        let member = &mut self.members[place];
        nodes[place].set_role(member.role());
        member.stream.restart(wall);
        if let Some(master) = member.master {
            member.stream.follow_from_start(member::peer(master), wall);
            self.connect(place, cx);
            return;
        }
        for replica in 0..self.members.len() {
            if self.members[replica].master == Some(place) {
                self.try_again_soon(replica, cx);
            }
        }
    }

    /// Takes a message of another node.
    pub(crate) fn receive(
        &mut self,
        nodes: &mut [RedisNode],
        to: usize,
        from: usize,
        message: &Message,
        cx: &mut ServerContext<'_, Servers>,
    ) {
        let (link, wall) = (message.link, wall_ms(to, cx));
        let member = &mut self.members[to];
        match &message.content {
            Content::Connect(request) => {
                self.take_replica(&nodes[to], to, from, link, request, cx);
            }
            Content::Acknowledged(offset) => {
                member.stream.acknowledge(link, *offset, wall);
                self.answer_acknowledged(to, cx);
            }
            // What belongs to a connection that is gone reaches nobody.
            _ if member.uplink != Some(link) => {}
            Content::Item(item) => self.take_item(&mut nodes[to], to, item, cx),
            Content::Continue(history) => member.stream.continued(*history, wall),
            Content::Full(position, data) => {
                member.stream.transfer_begins(wall);
                member.stream.loaded(*position, wall);
                nodes[to].load(data, cx);
            }
            Content::Refused => {
                member.stream.refused(wall);
                self.try_again_soon(to, cx);
            }
        }
    }
}
