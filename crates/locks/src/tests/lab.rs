//! One node, and one client that does what a test says, recorded as commands and replies.

use std::cell::RefCell;
use std::future::Future;
use std::rc::Rc;

use fencepost_history::{
    Duration, Event, GrantId, Instant, LockId, ProcessId, ServerId, ThreadId, WallTime,
};
use fencepost_services::{
    Client, Command, KeyId, KeyNames, LockKey, NodeSetup, RedisRequest, Request, Servers,
    ServersSetup, Value,
};
use fencepost_sim::{
    Deviation, HostClock, LinkModel, ProcessSetup, ServerSetup, Setup, Sim, Slot, Source,
};

use crate::{
    Attempt, Copying, Identity, KeyLock, LeaseClock, Release, Route, TokenSource, ValueSource,
    Wait, WaitSent,
};

pub(super) const NODE: ServerId = ServerId(0);
pub(super) const KEY: KeyId = KeyId(0);
pub(super) const COUNTER: KeyId = KeyId(1);
const CLIENT_NAME: u32 = 2;

/// The wall clock's reading at the start: 2024-01-01T00:00:00Z.
pub(super) const EPOCH: WallTime = WallTime::from_nanos(1_704_067_200_000_000_000);

/// The documented lock: 30 s, a value per acquisition, compare-and-delete, no token.
pub(super) const DOCUMENTED: KeyLock = KeyLock {
    node: NODE,
    key: KEY,
    counter: COUNTER,
    ttl: Duration::from_secs(30),
    ttl_millis: 30_000,
    value: ValueSource::PerAcquisition,
    release: Release::CompareAndDelete,
    retries_release: false,
    token: TokenSource::None,
    request_timeout: Duration::from_millis(10),
    renews_own_only: true,
    clock: LeaseClock::Wall,
    checks_clock: false,
    route: Route::Fixed,
    copying: Copying {
        wait: Wait { replicas: 0, millis: 0 },
        sent: WaitSent::Together,
        goes_on: false,
    },
};

/// An attempt of the second thread of process 3, `billing`.
pub(super) const fn attempt(id: u32) -> Attempt {
    let who = Identity { process: 3, name: Value::Name(CLIENT_NAME), thread: 2 };
    Attempt { id: GrantId(id), lock: LockId(0), who }
}

/// What the node was asked and what it answered, in order, and what the code returned.
pub(super) struct Talk<T> {
    pub(super) texts: Vec<String>,
    pub(super) result: T,
}

/// Sends a command of somebody else and waits for its effect.
pub(super) async fn meddle(client: &Client, command: Command) {
    let request = Request::Redis(RedisRequest { command, by: GrantId(99) });
    client.call(NODE, request).await;
}

/// A command that makes the key somebody else's.
pub(super) fn steal() -> Command {
    Command::set_nx_px(KEY, Value::Token { client: 9, serial: 9 }, 30_000)
}

/// Records what is said while `run` runs, with deviations; a message takes a millisecond.
pub(super) fn talk<T, F, R>(plan: &[&str], run: R) -> Talk<T>
where
    T: 'static,
    F: Future<Output = T> + 'static,
    R: Fn(Client) -> F + 'static,
{
    talk_to(1, plan, run)
}

/// The same where there are several nodes, `r1` and so on.
pub(super) fn talk_to<T, F, R>(nodes: u16, plan: &[&str], run: R) -> Talk<T>
where
    T: 'static,
    F: Future<Output = T> + 'static,
    R: Fn(Client) -> F + 'static,
{
    let mut names = KeyNames::new();
    assert_eq!((names.key("lock:job"), names.key("fence:job")), (KEY, COUNTER));
    assert_eq!(names.value("billing"), Value::Name(CLIENT_NAME));
    let node = |server| NodeSetup {
        server: ServerId(server),
        locks: vec![LockKey { lock: LockId(0), key: KEY }],
        names: names.clone(),
        version: fencepost_services::Version::default(),
        command_time: Duration::ZERO,
        script_time: Duration::ZERO,
        is_durable: true,
        storage: None,
        scripts: Vec::new(),
        load_time: Duration::ZERO,
    };
    let server = |number| ServerSetup {
        name: format!("r{number}"),
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
        servers: (1..=nodes).map(server).collect(),
        link: LinkModel::fixed(Duration::from_millis(1)),
        links: Vec::new(),
        peer_latency: Duration::ZERO,
        hazards: Vec::new(),
        max_events: 10_000,
    };
    let servers = ServersSetup {
        nodes: (0..nodes).map(node).collect(),
        replication: None,
        sentinels: None,
        resources: Vec::new(),
        operations: Vec::new(),
    };
    let mut sim = Sim::new(&setup, Servers::new(servers));
    let result = Rc::new(RefCell::new(None));
    let (client, shared, run) = (sim.client(ThreadId(0)), Rc::clone(&result), Rc::new(run));
    sim.set_tasks(vec![Box::new(Slot::new(move || {
        let (client, shared, run) = (client.clone(), Rc::clone(&shared), Rc::clone(&run));
        async move {
            let done = run(client).await;
            *shared.borrow_mut() = Some(done);
        }
    }))]);
    let plan: Vec<Deviation> =
        plan.iter().map(|text| text.parse().expect("a well-formed deviation")).collect();
    sim.record(true);
    sim.begin(Source::Benign, &plan).expect("the plan names places of this world");
    sim.run(Instant::from_nanos(u64::MAX - 1), true, &mut |_: &Event| {});
    // What nobody waits for still arrives.
    sim.run(Instant::from_nanos(u64::MAX - 1), false, &mut |_: &Event| {});
    assert_eq!(sim.choices(|choices| choices.unreached().count()), 0, "{plan:?}");
    assert!(sim.own_events(ProcessId(0)) > 0);
    let texts = sim.details().into_iter().map(|detail| detail.text).collect();
    let result = result.borrow_mut().take().expect("the code has finished");
    Talk { texts, result }
}
