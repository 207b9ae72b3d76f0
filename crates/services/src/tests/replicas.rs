//! A simulation of nodes that copy each other, with or without sentinels, driven by a list of calls.

use std::cell::RefCell;
use std::rc::Rc;

use fencepost_history::{Duration, Event, GrantId, Instant, LockId, ServerId, ThreadId, What};
use fencepost_sim::{
    Deviation, HostClock, LinkModel, ProcessSetup, ServerSetup, Setup, Sim, Slot, Source,
};

use super::lab::{COUNTER, LOCK, acquire, names, token};
use crate::{
    Client, Command, LockKey, NodeSetup, Operation, RedisReply, RedisRequest, ReplicaSetup,
    ReplicationSetup, Reply, Request, SentinelSetup, Servers, ServersSetup, Wait,
};

pub(super) const R1: ServerId = ServerId(0);
pub(super) const R2: ServerId = ServerId(1);
pub(super) const R3: ServerId = ServerId(2);

/// A call: when in milliseconds, of whom, and what.
pub(super) type Calling = (u64, ServerId, Request);

/// What a world consists of.
#[derive(Clone)]
pub(super) struct World {
    pub(super) replicas: Vec<ReplicaSetup>,
    pub(super) min_replicas: u32,
    pub(super) is_durable: bool,
    pub(super) sentinels: Option<SentinelSetup>,
    pub(super) operations: Vec<Operation>,
}

/// What came of a run.
pub(super) struct Told {
    pub(super) events: Vec<Event>,
    pub(super) replies: Vec<Option<Reply>>,
}

impl Told {
    /// The replies that are a node's.
    pub(super) fn redis(&self) -> Vec<Option<RedisReply>> {
        let plain = |reply: &Option<Reply>| match reply {
            Some(Reply::Redis(reply)) => Some(*reply),
            Some(_) | None => None,
        };
        self.replies.iter().map(plain).collect()
    }

    /// When something happened, in milliseconds.
    pub(super) fn when(&self, is_it: impl Fn(&What) -> bool) -> Vec<u64> {
        let chosen = self.events.iter().filter(|event| is_it(&event.what));
        chosen.map(|event| event.at.as_nanos() / 1_000_000).collect()
    }
}

pub(super) const fn replica(lag: u64) -> ReplicaSetup {
    ReplicaSetup { lag: Duration::from_millis(lag), priority: 100 }
}

pub(super) fn with_lags(lags: &[u64]) -> World {
    World {
        replicas: lags.iter().map(|lag| replica(*lag)).collect(),
        min_replicas: 0,
        is_durable: true,
        sentinels: None,
        operations: Vec::new(),
    }
}

pub(super) const fn call(at: u64, server: ServerId, by: u32, command: Command) -> Calling {
    (at, server, Request::Redis(RedisRequest { command, by: GrantId(by) }))
}

pub(super) const fn lock(at: u64, server: ServerId, by: u32) -> Calling {
    call(at, server, by, acquire(30_000, by))
}

pub(super) const fn lock_and_wait(at: u64, server: ServerId, by: u32, wait: Wait) -> Calling {
    let request = RedisRequest { command: acquire(30_000, by), by: GrantId(by) };
    (at, server, Request::RedisThenWait(request, wait))
}

pub(super) const fn get(at: u64, server: ServerId) -> Calling {
    call(at, server, 0, Command::Get { key: LOCK })
}

pub(super) const fn count(at: u64, server: ServerId) -> Calling {
    call(at, server, 0, Command::IncrBy { key: COUNTER, by: 1 })
}

pub(super) const fn value(serial: u32) -> Option<RedisReply> {
    Some(RedisReply::Value(token(serial)))
}

async fn call_all(client: Client, calls: Vec<Calling>, replies: Rc<RefCell<Vec<Option<Reply>>>>) {
    let start = client.now().await;
    for (at, server, request) in calls {
        let gone = client.now().await.since(start);
        client.sleep(Duration::from_millis(at).saturating_sub(gone)).await;
        let reply = client.call(server, request).within(Duration::from_secs(100)).await;
        replies.borrow_mut().push(reply.ok());
    }
}

impl World {
    /// Runs some calls without latencies; `plan` is what goes wrong.
    pub(super) fn run(&self, calls: &[Calling], plan: &[&str]) -> Told {
        let sentinels = self.sentinels.map_or(0, |setup| setup.count);
        let nodes = 1 + self.replicas.len();
        let names_of_all = (1..=nodes)
            .map(|number| format!("r{number}"))
            .chain((1..=sentinels).map(|number| format!("s{number}")));
        let setup = Setup {
            processes: vec![ProcessSetup {
                name: "c1".to_owned(),
                workers: vec!["worker".to_owned()],
                helpers: Vec::new(),
                start: Instant::ZERO,
                clock: HostClock::default(),
            }],
            servers: names_of_all
                .map(|name| ServerSetup {
                    name,
                    clock: HostClock::default(),
                    least_downtime: Duration::ZERO,
                })
                .collect(),
            link: LinkModel::fixed(Duration::ZERO),
            links: Vec::new(),
            peer_latency: Duration::ZERO,
            hazards: Vec::new(),
            max_events: 100_000,
        };
        let mut sim = Sim::new(&setup, Servers::new(self.servers(nodes)));
        let (client, replies) = (sim.client(ThreadId(0)), Rc::new(RefCell::new(Vec::new())));
        let (calls, shared) = (calls.to_vec(), Rc::clone(&replies));
        sim.set_tasks(vec![Box::new(Slot::new(move || {
            call_all(client.clone(), calls.clone(), Rc::clone(&shared))
        }))]);
        let plan: Vec<Deviation> =
            plan.iter().map(|text| text.parse().expect("a well-formed deviation")).collect();
        sim.begin(Source::Benign, &plan).expect("the plan names places of this world");
        let mut events = Vec::new();
        let end = Instant::from_nanos(300_000_000_000);
        sim.run(end, true, &mut |event: &Event| events.push(*event));
        drop(sim);
        let replies = Rc::try_unwrap(replies).expect("nobody else has it").into_inner();
        Told { events, replies }
    }

    fn servers(&self, nodes: usize) -> ServersSetup {
        let names = names();
        let node = |place: usize| NodeSetup {
            server: ServerId(u16::try_from(place).expect("it is small")),
            locks: vec![LockKey { lock: LockId(7), key: LOCK }],
            names: names.clone(),
            version: fencepost_redis::Version::default(),
            command_time: Duration::ZERO,
            script_time: Duration::ZERO,
            is_durable: self.is_durable,
            storage: None,
            scripts: Vec::new(),
            load_time: Duration::ZERO,
        };
        ServersSetup {
            nodes: (0..nodes).map(node).collect(),
            replication: Some(ReplicationSetup {
                replicas: self.replicas.clone(),
                min_replicas: self.min_replicas,
                max_lag: Duration::from_secs(10),
                address_moves: self.sentinels.is_none(),
            }),
            sentinels: self.sentinels,
            resources: Vec::new(),
            operations: self.operations.clone(),
        }
    }
}
