//! Servers joined by links that a test carries by hand.

mod changing_sides;
mod lag;
mod random;
mod stream;

use std::collections::VecDeque;

use super::{LinkId, Peer, Position, Replication, StreamItem, SyncAnswer};
use crate::{Command, Engine, KeyId, Role, Value};

/// A wall time at the beginning of a second.
const T: u64 = 1_800_000_000_000;
const LOCK: KeyId = KeyId(0);
const FENCE: KeyId = KeyId(1);

/// What travels to a replica.
enum Parcel {
    Data(Box<Engine>, Position),
    Item(StreamItem<Command>),
}

/// A server, the clock on its wall, and the link to its master.
struct Server {
    engine: Engine,
    replication: Replication<Command>,
    wall: u64,
    /// The server it is connected to, with the link's number there.
    up: Option<(usize, LinkId)>,
    /// What is on its way to it.
    inbox: VecDeque<Parcel>,
    /// Whether what is on its way stays there.
    is_stalled: bool,
    is_cut: bool,
}

/// Some servers; server n is known as peer n.
struct Servers {
    all: Vec<Server>,
    links: u64,
}

impl Servers {
    /// Makes masters that nobody follows.
    fn new(count: u16) -> Self {
        let make = |seed| Server {
            engine: crate::tests::engine(),
            replication: Replication::new(seed),
            wall: T,
            up: None,
            inbox: VecDeque::new(),
            is_stalled: false,
            is_cut: false,
        };
        Self { all: (1..=u64::from(count)).map(make).collect(), links: 0 }
    }

    /// Makes a master, server 0, and replicas of it that have its data.
    fn with_replicas(count: u16) -> Self {
        let mut servers = Self::new(count + 1);
        for replica in 1..=count {
            let server = &mut servers.all[usize::from(replica)];
            server.replication.follow_from_start(Peer(0), T);
            server.engine.set_role(Role::Replica);
        }
        servers.settle();
        servers
    }

    fn replication(&mut self, at: usize) -> &mut Replication<Command> {
        &mut self.all[at].replication
    }

    /// Runs a command at a server that is its client's master.
    fn run(&mut self, at: usize, command: Command) -> crate::Reply {
        let Server { engine, replication, wall, .. } = &mut self.all[at];
        let outcome = engine.execute(&command, *wall);
        command.propagate(&outcome, *wall, |write| replication.write(write));
        replication.commit();
        outcome.reply
    }

    fn count(&mut self, at: usize) -> i64 {
        let reply = self.run(at, Command::IncrBy { key: FENCE, by: 1 });
        let crate::Reply::Integer(number) = reply else { panic!("{reply:?}") };
        number
    }

    fn number(&self, at: usize) -> i64 {
        let server = &self.all[at];
        match server.engine.entry(FENCE, server.wall).and_then(|entry| entry.value) {
            Some(Value::Integer(number)) => number,
            _ => 0,
        }
    }

    /// Tells whether a server holds the lock for alive.
    fn is_locked(&self, at: usize) -> bool {
        let server = &self.all[at];
        server.engine.entry(LOCK, server.wall).is_some_and(|entry| !entry.dead)
    }

    /// Connects and delivers until nothing moves any more.
    fn settle(&mut self) {
        for _ in 0..3 {
            for at in 0..self.all.len() {
                self.close_dropped(at);
                self.connect(at);
                self.replication(at).turn_ended();
            }
            for at in 0..self.all.len() {
                self.send(at);
                self.deliver(at);
            }
        }
    }

    fn connect(&mut self, at: usize) {
        let server = &mut self.all[at];
        if server.is_cut || !server.replication.wants_connection() {
            return;
        }
        let master = usize::from(server.replication.master().unwrap().0);
        self.links += 1;
        let (link, me) = (LinkId(self.links), Peer(u16::try_from(at).unwrap()));
        let server = &mut self.all[at];
        server.inbox.clear();
        server.up = Some((master, link));
        let (request, wall) = (server.replication.connected(me, server.wall), server.wall);
        let Server { engine, replication, wall: there, .. } = &mut self.all[master];
        let answer = replication.answer(link, &request, *there);
        if !replication.is_replica() {
            engine.set_role(Role::Master);
        }
        let data = engine.clone();
        match answer {
            SyncAnswer::Continue(id) => self.replication(at).continued(id, wall),
            SyncAnswer::Full(position) => {
                replication.transferred(link, *there);
                let server = &mut self.all[at];
                server.replication.transfer_begins(wall);
                server.inbox.push_back(Parcel::Data(Box::new(data), position));
            }
            SyncAnswer::NotNow | SyncAnswer::Refused => self.replication(at).refused(wall),
        }
    }

    fn send(&mut self, at: usize) {
        let Some((master, link)) = self.all[at].up else { return };
        while let Some(item) = self.replication(master).next_item(link) {
            self.all[at].inbox.push_back(Parcel::Item(item));
        }
    }

    fn deliver(&mut self, at: usize) {
        while !self.all[at].is_stalled
            && let Some(parcel) = self.all[at].inbox.pop_front()
        {
            let Server { engine, replication, wall, .. } = &mut self.all[at];
            let asked = match parcel {
                Parcel::Data(data, position) => {
                    engine.copy_data_from(&data);
                    replication.loaded(position, *wall);
                    Some(position.offset)
                }
                Parcel::Item(item) => replication.receive(item, *wall, |write| {
                    engine.apply(write);
                }),
            };
            if asked.is_some() {
                self.acknowledge(at);
            }
        }
    }

    /// A replica tells its master what it has.
    fn acknowledge(&mut self, at: usize) {
        let offset = self.all[at].replication.offset();
        if let Some((master, link)) = self.all[at].up {
            let wall = self.all[master].wall;
            self.replication(master).acknowledge(link, offset, wall);
        }
    }

    /// A second passes everywhere.
    fn second(&mut self) {
        for at in 0..self.all.len() {
            self.all[at].wall += 1_000;
            let wall = self.all[at].wall;
            let cron = self.replication(at).cron(wall);
            if cron.lost_master {
                self.break_link(at);
            }
            if cron.acknowledge.is_some() && !self.all[at].is_stalled {
                self.acknowledge(at);
            }
        }
        self.settle();
    }

    /// Breaks the links that a server has closed.
    fn close_dropped(&mut self, at: usize) {
        let dropped: Vec<LinkId> = self.replication(at).take_dropped().collect();
        for other in 0..self.all.len() {
            if self.all[other].up.is_some_and(|(_, link)| dropped.contains(&link)) {
                self.break_link(other);
            }
        }
    }

    fn break_link(&mut self, at: usize) {
        let wall = self.all[at].wall;
        self.all[at].inbox.clear();
        self.replication(at).master_lost(wall);
        if let Some((master, link)) = self.all[at].up.take() {
            let wall = self.all[master].wall;
            self.replication(master).link_lost(link, wall);
        }
    }

    fn cut(&mut self, at: usize) {
        self.all[at].is_cut = true;
        self.break_link(at);
    }

    fn heal(&mut self, at: usize) {
        (self.all[at].is_cut, self.all[at].is_stalled) = (false, false);
        self.settle();
    }

    fn promote(&mut self, at: usize) {
        let wall = self.all[at].wall;
        self.break_link(at);
        self.replication(at).promote(wall);
        self.all[at].engine.set_role(Role::Master);
    }

    fn demote(&mut self, at: usize, master: u16) {
        let wall = self.all[at].wall;
        self.replication(at).follow(Peer(master), wall);
        self.all[at].engine.set_role(Role::Replica);
        self.settle();
    }
}
