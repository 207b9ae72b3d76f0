//! A simulation of two nodes and a resource, driven by a list of requests with their times.

use fencepost_history::{
    Access, Detail, Duration, Event, GrantId, Instant, JobId, LockId, ResourceId, ServerId,
    ThreadId, Token, What,
};
use fencepost_sim::{
    Deviation, HostClock, LinkModel, ProcessSetup, ServerSetup, Setup, Sim, Slot, Source,
};

use crate::{
    Accept, AccessRequest, Client, Command, Fencing, KeyId, KeyNames, LockKey, NodeSetup,
    Operation, Path, RedisRequest, Request, ResourceSetup, Servers, ServersSetup, StorageSetup,
    Value,
};

/// A node that loses its data when it dies.
pub(super) const VOLATILE: ServerId = ServerId(0);
/// A node that keeps it.
pub(super) const DURABLE: ServerId = ServerId(1);
/// The resource.
pub(super) const STORE: ServerId = ServerId(2);

/// The key of the only lock.
pub(super) const LOCK: KeyId = KeyId(0);
/// The key of its counter.
pub(super) const COUNTER: KeyId = KeyId(1);
/// A key that is no lock's.
pub(super) const OTHER: KeyId = KeyId(2);

pub(super) const NOBODY: GrantId = GrantId::NONE;

/// A request, when it is sent in microseconds, and to whom.
pub(super) type Sending = (u64, ServerId, Request);

/// What the resource of a world is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rules {
    pub(super) fencing: Fencing,
    pub(super) accept: Accept,
    pub(super) is_idempotent: bool,
}

pub(super) const fn us(micros: u64) -> Instant {
    Instant::from_nanos(micros * 1000)
}

pub(super) const fn ms(millis: u64) -> Instant {
    us(millis * 1000)
}

pub(super) fn names() -> KeyNames {
    let mut names = KeyNames::new();
    assert_eq!(names.key("lock:job"), LOCK);
    assert_eq!(names.key("fence:job"), COUNTER);
    assert_eq!(names.key("other"), OTHER);
    names
}

/// A command of a grant for the volatile node, in milliseconds.
pub(super) const fn send(at: u64, by: u32, command: Command) -> Sending {
    to(VOLATILE, at, by, command)
}

pub(super) const fn to(server: ServerId, at: u64, by: u32, command: Command) -> Sending {
    (at * 1000, server, Request::Redis(RedisRequest { command, by: GrantId(by) }))
}

/// An access of a grant whose token is its number, by the main path.
pub(super) const fn access(at: u64, grant: u32, access: Access) -> Sending {
    access_by(at, grant, access, Path::Main, grant)
}

pub(super) const fn access_by(
    at: u64,
    grant: u32,
    access: Access,
    path: Path,
    job: u32,
) -> Sending {
    let (token, job) = (Token(grant as u64), JobId(job));
    (
        at * 1000,
        STORE,
        Request::Access(AccessRequest { grant: GrantId(grant), token, job, access, path }),
    )
}

pub(super) const fn acquire(millis: i64, value: u32) -> Command {
    Command::set_nx_px(LOCK, token(value), millis)
}

pub(super) const fn token(serial: u32) -> Value {
    Value::Token { client: 1, serial }
}

/// What came of one run.
pub(super) struct Run {
    pub(super) events: Vec<Event>,
    pub(super) details: Vec<Detail>,
}

impl Run {
    /// What happened to keys, and when.
    pub(super) fn keys(&self) -> Vec<(Instant, What)> {
        self.pick(|what| matches!(what, What::KeySet { .. } | What::KeyGone { .. }))
    }

    /// What happened at the resource, and when.
    pub(super) fn accesses(&self) -> Vec<(Instant, What)> {
        self.pick(|what| matches!(what, What::Accessed { .. } | What::TokensForgotten { .. }))
    }

    fn pick(&self, is_it: impl Fn(&What) -> bool) -> Vec<(Instant, What)> {
        let chosen = self.events.iter().filter(|event| is_it(&event.what));
        chosen.map(|event| (event.at, event.what)).collect()
    }

    /// The requests and replies in words.
    pub(super) fn texts(&self) -> Vec<&str> {
        self.details.iter().map(|detail| detail.text.as_str()).collect()
    }
}

/// Lets one client send each request at its time and await no reply longer than 100 s.
async fn send_all(client: Client, sendings: Vec<Sending>) {
    let start = client.now().await;
    for (at, server, request) in sendings {
        let gone = client.now().await.since(start);
        client.sleep(Duration::from_micros(at).saturating_sub(gone)).await;
        client.send(server, request).await;
    }
    client.sleep(Duration::from_secs(1)).await;
}

/// A run of a world without latencies, in which the requests are the only ones.
pub(super) fn run(rules: Rules, sendings: Vec<Sending>, plan: &[&str]) -> Run {
    let mut sim = world(rules, sendings);
    play(&mut sim, plan)
}

pub(super) fn play(sim: &mut Sim<Servers>, plan: &[&str]) -> Run {
    let plan: Vec<Deviation> =
        plan.iter().map(|text| text.parse().expect("a well-formed deviation")).collect();
    sim.record(true);
    sim.begin(Source::Benign, &plan).expect("the plan names places of this world");
    let mut events = Vec::new();
    sim.run(Instant::from_nanos(u64::MAX - 1), true, &mut |event: &Event| events.push(*event));
    assert_eq!(sim.choices(|choices| choices.unreached().count()), 0, "{plan:?}");
    Run { events, details: sim.details() }
}

pub(super) fn world(rules: Rules, sendings: Vec<Sending>) -> Sim<Servers> {
    world_with(rules, sendings, None)
}

/// The same with nodes that keep some of their data.
pub(super) fn world_with(
    rules: Rules,
    sendings: Vec<Sending>,
    storage: Option<&StorageSetup>,
) -> Sim<Servers> {
    let mut sim = bare_world_with(rules, storage);
    let client = sim.client(ThreadId(0));
    sim.set_tasks(vec![Box::new(Slot::new(move || send_all(client.clone(), sendings.clone())))]);
    sim
}

/// The same without code.
pub(super) fn bare_world(rules: Rules) -> Sim<Servers> {
    bare_world_with(rules, None)
}

fn bare_world_with(rules: Rules, storage: Option<&StorageSetup>) -> Sim<Servers> {
    let server = |name: &str| ServerSetup {
        name: name.to_owned(),
        clock: HostClock::default(),
        least_downtime: Duration::ZERO,
    };
    let setup = Setup {
        processes: vec![ProcessSetup {
            name: "c1".to_owned(),
            workers: vec!["worker".to_owned()],
            helpers: Vec::new(),
            start: Instant::ZERO,
            clock: HostClock::default(),
        }],
        servers: ["r1", "r2", "store"].into_iter().map(server).collect(),
        link: LinkModel::fixed(Duration::ZERO),
        links: Vec::new(),
        peer_latency: Duration::ZERO,
        hazards: Vec::new(),
        max_events: 100_000,
    };
    let mut names = names();
    let operations = ["DEL lock:job", "SET lock:job thief PX 50", "FLUSHALL", "SET other x"]
        .map(|text| Operation::parse(text, &mut names).expect("an outsider's command"))
        .into_iter()
        .chain([Operation::ForgetTokens])
        .collect();
    let node = |server, is_durable| NodeSetup {
        server,
        locks: vec![LockKey { lock: LockId(7), key: LOCK }],
        names: names.clone(),
        version: fencepost_redis::Version::default(),
        command_time: Duration::from_micros(2),
        script_time: Duration::from_micros(20),
        is_durable,
        storage: storage.cloned(),
        scripts: Vec::new(),
        load_time: Duration::ZERO,
    };
    let resource = ResourceSetup {
        resource: ResourceId(3),
        name: "store".to_owned(),
        fencing: rules.fencing,
        accept: rules.accept,
        is_idempotent: rules.is_idempotent,
    };
    let servers = ServersSetup {
        nodes: vec![node(VOLATILE, false), node(DURABLE, true)],
        replication: None,
        sentinels: None,
        resources: vec![resource],
        operations,
    };
    Sim::new(&setup, Servers::new(servers))
}
