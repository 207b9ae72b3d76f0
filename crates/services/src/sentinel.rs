//! Sentinels: who holds the master for down, who promotes, and what they tell clients.
//!
//! The moments are those of Redis 7.0 Sentinel: a server that gives no valid answer for
//! `down-after` is held for down by that sentinel; `quorum` of them agreeing make it so for all;
//! the votes of a majority of all of them are needed to act. What takes time between these steps
//! (periodic questions, elections, the confirmation of a promotion) has the lengths that runs of
//! Redis 7.0.15 showed. Sentinels' own messages are not simulated one by one: whether two machines
//! can talk decides what one knows of the other. The TILT mode is left out.

use fencepost_history::{Duration, Instant, ProcessId, ServerId, What};
use fencepost_sim::ServerContext;

use crate::Servers;
use crate::node::RedisNode;
use crate::replication::{Replication, id, token};

/// What the sentinels are from run to run.
#[derive(Clone, Copy, Debug)]
pub struct SentinelSetup {
    /// How many there are.
    pub count: u16,
    /// How many must hold the master for down.
    pub quorum: u16,
    /// For how long a server may give no answer: `down-after-milliseconds`.
    pub down_after: Duration,
    /// `failover-timeout`: a try that failed is repeated after twice that.
    pub failover_timeout: Duration,
    /// Whether clients are told of a new master (`+switch-master`) or find out when they ask.
    pub tells_clients: bool,
}

/// From "down for me" to "down for all": until the others have been asked.
const AGREEMENT: Duration = Duration::from_millis(140);
/// From there to the promotion: the election, and `REPLICAOF NO ONE`.
const ELECTION: Duration = Duration::from_millis(260);
/// From there until the promotion is confirmed and announced.
const CONFIRMATION: Duration = Duration::from_millis(900);
/// How long sentinels let a server be that comes back as a master before they make it a replica:
/// four periods of 2 s and the one of `INFO`; 10.0 to 10.6 s in runs of Redis 7.0.15.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a sentinel takes to learn from the others what it has missed.
const GOSSIP: Duration = Duration::from_secs(1);
/// How long it takes to ask again whether enough sentinels agree.
const AGAIN: Duration = Duration::from_secs(1);

/// What a sentinel asked to be woken for.
mod wanted {
    pub(super) const LOOK: u32 = 0;
    pub(super) const DOUBT: u32 = 1;
    pub(super) const ELECT: u32 = 2;
    pub(super) const PROMOTE: u32 = 3;
    pub(super) const ANNOUNCE: u32 = 4;
    pub(super) const MEND: u32 = 5;
    pub(super) const LEARN: u32 = 6;
}

/// A failover under way.
#[derive(Clone, Copy, Debug)]
struct Failover {
    leader: usize,
    old: usize,
    chosen: usize,
}

/// The sentinels.
#[derive(Clone, Debug)]
pub(crate) struct Sentinels {
    setup: SentinelSetup,
    nodes: usize,
    /// Whom each holds for master, and the epoch of that belief.
    beliefs: Vec<(usize, u32)>,
    /// Since when each has had no answer of each node; never while it has.
    silent: Vec<Instant>,
    failover: Option<Failover>,
    epoch: u32,
}

impl Sentinels {
    pub(crate) fn new(setup: SentinelSetup, nodes: usize) -> Self {
        let count = usize::from(setup.count);
        Self {
            setup,
            nodes,
            beliefs: vec![(0, 0); count],
            silent: vec![Instant::NEVER; count * nodes],
            failover: None,
            epoch: 0,
        }
    }

    pub(crate) fn reset(&mut self) {
        self.beliefs.fill((0, 0));
        self.silent.fill(Instant::NEVER);
        self.failover = None;
        self.epoch = 0;
    }

    /// Returns whom a sentinel holds for master.
    pub(crate) fn master(&self, sentinel: usize) -> usize {
        self.beliefs[sentinel].0
    }

    fn server(&self, sentinel: usize) -> ServerId {
        id(self.nodes + sentinel)
    }

    fn count(&self) -> usize {
        self.beliefs.len()
    }

    /// Returns whether a sentinel runs and another machine answers it.
    fn reaches(&self, sentinel: usize, other: ServerId, cx: &ServerContext<'_, Servers>) -> bool {
        let me = self.server(sentinel);
        let runs = |server| cx.is_up(server) && cx.stalled_until(server) <= cx.now();
        runs(me) && runs(other) && (me == other || cx.peers_cut_until(me, other) <= cx.now())
    }

    /// Returns the sentinels that a sentinel can talk to, itself included.
    fn peers<'a>(
        &'a self,
        sentinel: usize,
        cx: &'a ServerContext<'_, Servers>,
    ) -> impl Iterator<Item = usize> + 'a {
        let others = 0..self.count();
        others.filter(move |other| self.reaches(sentinel, self.server(*other), cx))
    }

    /// Asks to look at everything again when something is over.
    pub(crate) fn look_again_at(&self, at: Instant, cx: &mut ServerContext<'_, Servers>) {
        if at != Instant::NEVER {
            for sentinel in 0..self.count() {
                cx.wake(self.server(sentinel), at, token::of(wanted::LOOK, 0));
            }
        }
    }

    /// Notes who answers whom, and what follows from a change.
    pub(crate) fn look(&mut self, replication: &Replication, cx: &mut ServerContext<'_, Servers>) {
        for sentinel in 0..self.count() {
            for node in 0..self.nodes {
                self.look_at(sentinel, node, replication, cx);
            }
            let newest = self.peers(sentinel, cx).map(|peer| self.beliefs[peer].1).max();
            if newest.is_some_and(|newest| newest > self.beliefs[sentinel].1) {
                let at = cx.now() + GOSSIP;
                cx.wake(self.server(sentinel), at, token::of(wanted::LEARN, 0));
            }
        }
    }

    fn look_at(
        &mut self,
        sentinel: usize,
        node: usize,
        replication: &Replication,
        cx: &mut ServerContext<'_, Servers>,
    ) {
        let (me, now) = (self.server(sentinel), cx.now());
        if !self.reaches(sentinel, me, cx) {
            // It knows nothing of the time in which it does not run itself.
            self.silent[sentinel * self.nodes + node] = Instant::NEVER;
            return;
        }
        let answers = self.reaches(sentinel, id(node), cx);
        let place = sentinel * self.nodes + node;
        if !answers && self.silent[place] == Instant::NEVER {
            self.silent[place] = now;
            cx.wake(me, now + self.setup.down_after, token::of(wanted::DOUBT, node));
        } else if answers && self.silent[place] != Instant::NEVER {
            self.silent[place] = Instant::NEVER;
            let (master, _) = self.beliefs[sentinel];
            if node != master && !replication.copies(node, master) {
                cx.wake(me, now + PATIENCE, token::of(wanted::MEND, node));
            }
        }
    }

    fn is_down_for(&self, sentinel: usize, node: usize, now: Instant) -> bool {
        let silent = self.silent[sentinel * self.nodes + node];
        silent != Instant::NEVER && silent + self.setup.down_after <= now
    }

    pub(crate) fn wake(
        &mut self,
        replication: &mut Replication,
        nodes: &mut [RedisNode],
        sentinel: usize,
        token: u32,
        cx: &mut ServerContext<'_, Servers>,
    ) {
        let (kind, node) = token::parts(token);
        match kind {
            wanted::LOOK => self.look(replication, cx),
            wanted::DOUBT => self.doubt(sentinel, node, cx),
            wanted::ELECT => self.elect(replication, sentinel, node, cx),
            wanted::PROMOTE => self.promote(replication, nodes, sentinel, cx),
            wanted::ANNOUNCE => self.announce(replication, nodes, sentinel, cx),
            wanted::MEND => self.mend(replication, nodes, sentinel, node, cx),
            wanted::LEARN => self.learn(sentinel, replication, cx),
            other => unreachable!("no sentinel asks to be woken for {other}"),
        }
    }

    /// Holds the master for down, and asks the others.
    fn doubt(&mut self, sentinel: usize, node: usize, cx: &mut ServerContext<'_, Servers>) {
        let now = cx.now();
        if self.beliefs[sentinel].0 != node || !self.is_down_for(sentinel, node, now) {
            return;
        }
        let agreeing = self.peers(sentinel, cx).filter(|peer| self.is_down_for(*peer, node, now));
        let is_agreed = agreeing.count() >= usize::from(self.setup.quorum);
        let (kind, after) =
            if is_agreed { (wanted::ELECT, AGREEMENT) } else { (wanted::DOUBT, AGAIN) };
        if !cx.is_healed() || is_agreed {
            cx.wake(self.server(sentinel), now + after, token::of(kind, node));
        }
    }

    /// Asks for the votes of the others and chooses a replica; the first to ask gets them.
    fn elect(
        &mut self,
        replication: &Replication,
        sentinel: usize,
        node: usize,
        cx: &mut ServerContext<'_, Servers>,
    ) {
        let now = cx.now();
        let is_master = self.beliefs[sentinel].0 == node;
        if !is_master || !self.is_down_for(sentinel, node, now) || self.failover.is_some() {
            return;
        }
        let votes = self.peers(sentinel, cx).count();
        let needed = (self.count() / 2 + 1).max(usize::from(self.setup.quorum));
        let silent = now.since(self.silent[sentinel * self.nodes + node]);
        let longest = self.setup.down_after.saturating_mul(10).saturating_add(silent);
        let is_able = |replica: usize, down_for: Duration| {
            down_for <= longest && self.reaches(sentinel, id(replica), cx)
        };
        let chosen = replication.best_replica(node, is_able, cx).filter(|_| votes >= needed);
        let me = self.server(sentinel);
        let Some(chosen) = chosen else {
            let again = self.setup.failover_timeout.saturating_mul(2);
            if !cx.is_healed() {
                cx.wake(me, now + again, token::of(wanted::DOUBT, node));
            }
            return;
        };
        cx.emit(What::Doubted { server: me, peer: id(node) });
        self.failover = Some(Failover { leader: sentinel, old: node, chosen });
        cx.wake(me, now + ELECTION, token::of(wanted::PROMOTE, chosen));
    }

    fn promote(
        &mut self,
        replication: &mut Replication,
        nodes: &mut [RedisNode],
        sentinel: usize,
        cx: &mut ServerContext<'_, Servers>,
    ) {
        let Some(failover) = self.failover.filter(|failover| failover.leader == sentinel) else {
            return;
        };
        let me = self.server(sentinel);
        if self.reaches(sentinel, id(failover.chosen), cx) {
            replication.promote(nodes, failover.chosen, None, cx);
            cx.wake(me, cx.now() + CONFIRMATION, token::of(wanted::ANNOUNCE, 0));
        } else {
            self.failover = None;
            let again = cx.now() + self.setup.failover_timeout.saturating_mul(2);
            cx.wake(me, again, token::of(wanted::DOUBT, failover.old));
        }
    }

    /// Tells the other sentinels, the other replicas, and the clients who is master now.
    fn announce(
        &mut self,
        replication: &mut Replication,
        nodes: &mut [RedisNode],
        sentinel: usize,
        cx: &mut ServerContext<'_, Servers>,
    ) {
        let Some(failover) = self.failover.take_if(|failover| failover.leader == sentinel) else {
            return;
        };
        let (old, chosen) = (failover.old, failover.chosen);
        cx.emit(What::Announced { server: self.server(sentinel), peer: id(chosen) });
        self.epoch += 1;
        let peers: Vec<usize> = self.peers(sentinel, cx).collect();
        for peer in peers {
            self.believe(peer, (chosen, self.epoch), cx);
        }
        for node in (0..self.nodes).filter(|node| *node != chosen && *node != old) {
            if self.reaches(sentinel, id(node), cx) {
                replication.follow(nodes, node, chosen, cx);
            }
        }
        // Whoever has come back in the meantime is seen to later.
        for node in (0..self.nodes).filter(|node| !replication.copies(*node, chosen)) {
            if node != chosen && self.reaches(sentinel, id(node), cx) {
                let me = self.server(sentinel);
                cx.wake(me, cx.now() + PATIENCE, token::of(wanted::MEND, node));
            }
        }
    }

    fn believe(
        &mut self,
        sentinel: usize,
        (master, epoch): (usize, u32),
        cx: &mut ServerContext<'_, Servers>,
    ) {
        let (old, _) = self.beliefs[sentinel];
        self.beliefs[sentinel] = (master, epoch);
        if self.setup.tells_clients && old != master {
            tell(self.server(sentinel), Some(old), Some(master), cx);
        }
    }

    /// Makes a server that is somebody else's replica, or a master, copy the master.
    fn mend(
        &mut self,
        replication: &mut Replication,
        nodes: &mut [RedisNode],
        sentinel: usize,
        node: usize,
        cx: &mut ServerContext<'_, Servers>,
    ) {
        let (master, _) = self.beliefs[sentinel];
        let is_steady = self.silent[sentinel * self.nodes + node] == Instant::NEVER;
        if node == master || !is_steady || replication.copies(node, master) {
            return;
        }
        let was_master = replication.is_master(node);
        replication.follow(nodes, node, master, cx);
        if was_master {
            // `CLIENT KILL TYPE normal`: clients connect anew, and ask where.
            tell(id(node), Some(node), None, cx);
        }
    }

    /// Takes over what another sentinel knows that this one has missed.
    fn learn(
        &mut self,
        sentinel: usize,
        replication: &Replication,
        cx: &mut ServerContext<'_, Servers>,
    ) {
        let newest = self.peers(sentinel, cx).map(|peer| self.beliefs[peer]);
        let newest = newest.max_by_key(|belief| belief.1);
        if let Some(newest) = newest.filter(|newest| newest.1 > self.beliefs[sentinel].1) {
            self.believe(sentinel, newest, cx);
            self.look(replication, cx);
        }
    }
}

/// Tells all processes that hold one server for master of another, or that they must ask.
pub(crate) fn tell(
    from: ServerId,
    old: Option<usize>,
    new: Option<usize>,
    cx: &mut ServerContext<'_, Servers>,
) {
    let number = |place: Option<usize>| place.map_or(0, |place| u32::from(id(place).0) + 1);
    for process in 0..cx.processes() {
        let process = ProcessId(u16::try_from(process).expect("processes are few"));
        cx.notify(from, process, number(old), number(new));
    }
}
