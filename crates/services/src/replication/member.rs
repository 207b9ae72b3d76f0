//! One server's replication, and what is on its way from it.

use std::collections::VecDeque;

use fencepost_history::{GrantId, Instant};
use fencepost_redis::{Command, LinkId, Peer, Replication as Stream, Role, Streamed, SyncAnswer};

/// One write of the stream: what a command did, with absolute deadlines.
///
/// Whose key it is comes along as ghost state, so that a replica keeps it truly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Update {
    pub(crate) command: Command,
    pub(crate) owner: GrantId,
}

impl Streamed for Update {
    fn stream_len(&self) -> u64 {
        self.command.stream_len()
    }
}

/// What leaves a master for one replica, and when.
#[derive(Clone, Debug)]
pub(super) struct Delivery {
    /// The connection, if there is one.
    pub(super) link: Option<LinkId>,
    /// When the stream may leave, and up to which offset.
    pub(super) queue: VecDeque<(Instant, u64)>,
    /// Up to which offset it has left.
    pub(super) sent: u64,
    /// Until when nothing leaves.
    pub(super) stalled_until: Instant,
    /// Since when the replica has not been heard of, if something keeps the two apart.
    pub(super) silent_since: Instant,
}

impl Delivery {
    const fn new() -> Self {
        Self {
            link: None,
            queue: VecDeque::new(),
            sent: 0,
            stalled_until: Instant::ZERO,
            silent_since: Instant::ZERO,
        }
    }

    /// Forgets what was to leave.
    pub(super) fn close(&mut self) -> Option<LinkId> {
        self.queue.clear();
        self.link.take()
    }

    /// Begins anew on a connection, behind an offset.
    pub(super) fn open(&mut self, link: LinkId, sent: u64) {
        self.queue.clear();
        self.link = Some(link);
        self.sent = sent;
    }
}

/// One server's replication.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) stream: Stream<Update>,
    /// Whose replica its configuration says it is; nobody's if it is a master.
    pub(super) master: Option<usize>,
    /// As a replica: its connection to the master.
    pub(super) uplink: Option<LinkId>,
    /// As a master: what leaves for each server, by place.
    pub(super) deliveries: Vec<Delivery>,
}

impl Member {
    pub(super) fn new(place: usize, servers: usize) -> Self {
        Self {
            stream: Stream::new(place as u64 + 1),
            master: None,
            uplink: None,
            deliveries: vec![Delivery::new(); servers],
        }
    }

    pub(super) fn reset(&mut self, master: Option<usize>) {
        self.stream.reset();
        self.master = master;
        self.uplink = None;
        for delivery in &mut self.deliveries {
            delivery.close();
            delivery.stalled_until = Instant::ZERO;
        }
        if let Some(master) = master {
            self.stream.follow_from_start(peer(master), 0);
        }
    }

    /// Connects a replica that is as empty as this master, at the start of a run.
    pub(super) fn attach(&mut self, place: usize, replica: &mut Self, link: LinkId) {
        let request = replica.stream.connected(peer(place), 0);
        let answer = self.stream.answer(link, &request, 0);
        let SyncAnswer::Full(position) = answer else {
            unreachable!("who has nothing to offer gets everything")
        };
        self.stream.transferred(link, 0);
        replica.stream.loaded(position, 0);
        replica.uplink = Some(link);
        self.deliveries[place].open(link, position.offset);
    }

    /// Returns the part as the engine knows it.
    pub(super) const fn role(&self) -> Role {
        if self.master.is_none() { Role::Master } else { Role::Replica }
    }
}

/// Returns a server as the streams number it.
pub(super) fn peer(place: usize) -> Peer {
    Peer(u16::try_from(place).expect("nodes are few"))
}
