//! From a scenario to a simulation: processes, servers, jobs, names, rules.

use fencepost_check::{Purpose as Judged, Rules};
use fencepost_choice::Distribution;
use fencepost_history::{
    Duration, Instant, Leg, LockId, LockRules, Names, ProcessId, ResourceId, ServerId, ThreadId,
    ThreadName,
};
use fencepost_locks::{
    Contact, Copying, Identity, KeyLock, LeaseClock, Missing, Quorum, Release, Route, TokenSource,
    ValueSource, Wait, WaitSent,
};
use fencepost_services::{
    Accept, Fencing, KeyNames, LockKey, NodeSetup, Operation, Policy, ReplicaSetup,
    ReplicationSetup, ResourceSetup, SentinelSetup, ServersSetup, StorageSetup,
};
use fencepost_sim::{HostClock, LinkModel, ProcessSetup, ServerSetup, Setup};

use crate::hazards;
use crate::job::{DeadlineCheck, Job, OnRefusal, SidePath};
use crate::operations;
use crate::scenario::{self, Behaviour, Discovery, Fault, Redis, Scenario, Store, Topology};

/// Everything that the runs of one scenario have in common.
#[derive(Clone, Debug)]
pub struct Parts {
    /// The simulation's setup.
    pub setup: Setup,
    /// The servers.
    pub servers: ServersSetup,
    /// The lock, as each process's threads use it.
    pub locks: Vec<KeyLock>,
    /// How many servers decide about the lock, and how they are asked.
    pub quorum: Quorum,
    /// What each worker does, by thread; nothing for helper threads.
    pub jobs: Vec<Option<Job>>,
    /// The worker whose renewer a thread is.
    pub renews_for: Vec<Option<ThreadId>>,
    /// The names of all ids.
    pub names: Names,
    /// What the checkers must know.
    pub rules: Rules,
    /// When faults heal and the run is brought to its end.
    pub horizon: Instant,
    /// How long the settle phase takes.
    pub settle: Duration,
}

fn id(place: usize) -> u16 {
    u16::try_from(place).expect("a scenario has fewer than 65,536 actors of a kind")
}

fn or_ever(length: Option<Duration>) -> Duration {
    length.unwrap_or(Duration::MAX)
}

impl Parts {
    /// Builds the parts of a scenario.
    #[must_use]
    pub fn new(scenario: &Scenario) -> Self {
        let mut key_names = KeyNames::new();
        let lock_name = &scenario.lock.name;
        let key = key_names.key(&format!("lock:{lock_name}"));
        let counter = key_names.key(&format!("fence:{lock_name}"));
        let client_names: Vec<_> =
            scenario.workload.clients.iter().map(|client| key_names.value(&client.name)).collect();
        let operations = operations::all(scenario, key, &mut key_names);
        let names = names(scenario);
        let lock = |behaviour: &Behaviour| KeyLock {
            node: ServerId(0),
            key,
            counter,
            ..key_lock(scenario, behaviour)
        };
        let locks = scenario.workload.clients.iter().map(|client| lock(&client.behaviour));
        let locks: Vec<KeyLock> = locks.collect();
        let mut jobs = vec![None; names.threads.len()];
        let mut renews_for = vec![None; names.threads.len()];
        let mut next = 0;
        let mut effects = 1;
        for (place, client) in scenario.workload.clients.iter().enumerate() {
            let threads = usize::try_from(client.behaviour.threads).unwrap_or(usize::MAX);
            for thread in 0..threads {
                let worker = next + thread;
                let renewer = ThreadId(id(worker + threads));
                let who = Identity {
                    process: id(place + 1),
                    name: client_names[place],
                    thread: id(thread + 1),
                };
                let mut job = job(scenario, &client.behaviour, who, effects);
                job.starts_after = Duration::from_micros(100).saturating_mul(thread as u64);
                if scenario.lock.renew == scenario::Renew::Watchdog {
                    let every = scenario.lock.renew_every.unwrap_or(Duration::MAX);
                    job.renewer = Some((renewer, every));
                    renews_for[renewer.index()] = Some(ThreadId(id(worker)));
                }
                if scenario.workload.occurrence == scenario::Occurrence::Own {
                    effects += job.effects_a_round.saturating_mul(job.rounds);
                }
                jobs[worker] = Some(job);
            }
            next += threads * if has_renewers(scenario) { 2 } else { 1 };
        }
        let rules = rules(scenario, &names);
        Self {
            setup: setup(scenario),
            servers: servers(scenario, &key_names, key, operations),
            locks,
            quorum: quorum(scenario),
            jobs,
            renews_for,
            // A wait is unbounded once it is longer than its bound.
            settle: scenario.lock.ttl.unwrap_or_default()
                + rules.wait_bound
                + Duration::from_millis(1),
            rules,
            names,
            horizon: Instant::ZERO + scenario.workload.horizon,
        }
    }
}

fn has_renewers(scenario: &Scenario) -> bool {
    scenario.lock.renew == scenario::Renew::Watchdog
}

fn roles(name: &str, count: u32) -> Vec<String> {
    (1..=count)
        .map(|number| if number == 1 { name.to_owned() } else { format!("{name}-{number}") })
        .collect()
}

fn names(scenario: &Scenario) -> Names {
    let mut names = Names {
        servers: scenario.server_names(),
        locks: vec![scenario.lock.name.clone()],
        resources: vec![scenario.workload.resource.name.clone()],
        resource_servers: vec![scenario.resource_server()],
        rules: vec![LockRules {
            servers: (0..scenario.store.server_names().len()).map(|n| ServerId(id(n))).collect(),
            quorum: quorum(scenario).quorum,
            independent: is_independent(scenario),
            ttl: scenario.lock.ttl.unwrap_or_default(),
        }],
        ..Names::default()
    };
    for (place, client) in scenario.workload.clients.iter().enumerate() {
        names.processes.push(client.name.clone());
        let process = ProcessId(id(place));
        let helpers = if has_renewers(scenario) { client.behaviour.threads } else { 0 };
        let roles =
            roles("worker", client.behaviour.threads).into_iter().chain(roles("renewer", helpers));
        names.threads.extend(roles.map(|role| ThreadName { process, role }));
    }
    names
}

fn key_lock(scenario: &Scenario, behaviour: &Behaviour) -> KeyLock {
    use scenario::{FencingToken, Release as Way, TokenSource as Value};
    let lock = &scenario.lock;
    KeyLock {
        node: ServerId(0),
        key: fencepost_services::KeyId(0),
        counter: fencepost_services::KeyId(0),
        ttl: or_ever(lock.ttl),
        ttl_millis: lock.ttl.map_or(0, |ttl| i64::try_from(ttl.as_millis()).unwrap_or(i64::MAX)),
        value: match lock.token {
            Value::Fixed => ValueSource::Fixed,
            Value::ProcessName => ValueSource::ProcessName,
            Value::ThreadId => ValueSource::ThreadId,
            Value::PerAcquisition => ValueSource::PerAcquisition,
        },
        release: match lock.release {
            Way::None => Release::None,
            Way::Del => Release::Del,
            Way::GetThenDel => Release::GetThenDel,
            Way::CompareAndDelete => Release::CompareAndDelete,
        },
        retries_release: lock.retry_release,
        token: match lock.fencing_token {
            FencingToken::None => TokenSource::None,
            FencingToken::InAcquireScript => TokenSource::InAcquireScript,
            FencingToken::IncrAfterSet => TokenSource::IncrAfterSet,
            FencingToken::ReadLater => TokenSource::ReadLater,
        },
        request_timeout: or_ever(behaviour.request_timeout),
        renews_own_only: lock.renew_compare,
        clock: match lock.clock {
            scenario::LeaseClock::Wall => LeaseClock::Wall,
            scenario::LeaseClock::Monotonic => LeaseClock::Monotonic,
        },
        checks_clock: lock.deadline_check != scenario::DeadlineCheck::None,
        route: route(scenario),
        copying: copying(lock),
    }
}

/// Returns where clients send their commands.
fn route(scenario: &Scenario) -> Route {
    let Store::Redis(redis) = &scenario.store;
    match (redis.topology.has_replicas(), redis.discovery) {
        (false, _) => Route::Fixed,
        (true, Discovery::Address) => Route::Address,
        (true, discovery) => Route::Sentinels {
            first: ServerId(id(scenario.store.server_names().len())),
            count: id(scenario.store.sentinel_names().len()),
            asks_after_timeout: discovery == Discovery::Sentinels,
        },
    }
}

fn copying(lock: &scenario::Lock) -> Copying {
    use scenario::WaitSent as Sent;
    let millis = u16::try_from(lock.wait_timeout.as_millis()).unwrap_or(u16::MAX);
    Copying {
        wait: Wait { replicas: u8::try_from(lock.wait_replicas).unwrap_or(u8::MAX), millis },
        sent: match lock.wait_sent {
            Sent::Together => WaitSent::Together,
            Sent::Afterwards => WaitSent::Afterwards,
            Sent::Elsewhere => WaitSent::Elsewhere,
        },
        goes_on: lock.on_too_few == scenario::OnTooFew::GoOn,
    }
}

/// Returns the user's scripts, in the order in which clients number them.
fn scripts(scenario: &Scenario) -> Vec<String> {
    let scripts = scenario.lock.script.as_ref();
    let sources = scripts.map(|script| script.sources().map(|(_, source)| source.to_owned()));
    sources.map(Vec::from).unwrap_or_default()
}

fn is_independent(scenario: &Scenario) -> bool {
    let Store::Redis(redis) = &scenario.store;
    redis.topology == scenario::Topology::Independent
}

/// Returns how many servers decide; where they are not independent, the one that serves.
fn quorum(scenario: &Scenario) -> Quorum {
    let servers = id(scenario.store.server_names().len());
    let rules = scenario.lock.redlock.clone().filter(|_| is_independent(scenario));
    let is_one = rules.is_none();
    let rules = rules.unwrap_or_default();
    Quorum {
        servers: if is_one { 1 } else { servers },
        quorum: rules.quorum.and_then(|quorum| u16::try_from(quorum).ok()).unwrap_or(1),
        contact: match rules.contact {
            scenario::Contact::Parallel => Contact::Parallel,
            scenario::Contact::Sequential => Contact::Sequential,
        },
        drift: rules.drift.unwrap_or_default(),
        min_validity: rules.min_validity,
        undoes: rules.undo_failed,
        returns_early: rules.return_early,
        missing: match rules.renew_missing {
            scenario::Missing::Leave => Missing::Leave,
            scenario::Missing::Refill => Missing::Refill,
            scenario::Missing::Create => Missing::Create,
        },
    }
}

fn job(scenario: &Scenario, behaviour: &Behaviour, who: Identity, first_effect: u32) -> Job {
    use scenario::{DeadlineCheck as Check, Fencing as Fence, OnRefusal as Reaction};
    let lock = &scenario.lock;
    let on_refusal = match behaviour.on_refusal {
        Reaction::GiveUp => OnRefusal::GiveUp,
        Reaction::RetryWithFreshToken => OnRefusal::RetryWithFreshToken,
        Reaction::OtherPath => OnRefusal::OtherPath,
    };
    let is_open = scenario.workload.resource.fencing == Fence::SidePathOpen;
    Job {
        who,
        lock: LockId(0),
        resource: scenario.resource_server(),
        starts_after: Duration::ZERO,
        rounds: behaviour.rounds,
        retry_every: retries(behaviour),
        attempts: behaviour.attempts.unwrap_or(u32::MAX),
        reads: behaviour.reads,
        work: behaviour.work,
        work_is_cpu: behaviour.work_kind == scenario::WorkKind::Cpu,
        writes: behaviour.writes,
        read_timeout: or_ever(behaviour.read_timeout),
        write_timeout: or_ever(behaviour.write_timeout),
        extend_at: behaviour.extend_after,
        deadline_check: match lock.deadline_check {
            Check::None => DeadlineCheck::Never,
            Check::BeforeEachSend => DeadlineCheck::BeforeEachSend,
            Check::BeforeWrite => DeadlineCheck::BeforeWrite,
        },
        margin: lock.margin,
        works_until_deadline: false,
        on_refusal,
        // A side path that nobody takes after a refusal is the one of the last write, such as a
        // notification.
        side_path: if is_open && on_refusal != OnRefusal::OtherPath {
            SidePath::LastWrite
        } else {
            SidePath::Nothing
        },
        renewer: None,
        notifies: lock.on_loss == scenario::OnLoss::Notify,
        first_effect,
        effects_a_round: behaviour.writes,
    }
}

/// Returns how long a thread waits between two attempts.
fn retries(behaviour: &Behaviour) -> Distribution {
    let Behaviour { retry_every: min, retry_jitter: jitter, .. } = *behaviour;
    if jitter == Duration::ZERO {
        return Distribution::Fixed(min);
    }
    Distribution::Uniform { min, max: min.saturating_add(jitter) }
}

fn rules(scenario: &Scenario, names: &Names) -> Rules {
    use scenario::{Effect, Purpose};
    let clients = scenario.workload.clients.iter();
    let retry = clients
        .map(|client| client.behaviour.retry_every.saturating_add(client.behaviour.retry_jitter));
    let retry = retry.max().unwrap_or_default();
    // A round trip is bounded by the longest time-out, or by a second where there is none.
    let clients = scenario.workload.clients.iter();
    let trip = clients.filter_map(|client| client.behaviour.request_timeout).max();
    let ttl = scenario.lock.ttl.unwrap_or_default();
    let bound = retry + trip.unwrap_or(Duration::from_secs(1));
    Rules {
        locks: names.rules.clone(),
        threads: names.threads.iter().map(|thread| thread.process).collect(),
        wait_bound: ttl.saturating_add(bound),
        ghost_bound: bound,
        purpose: match scenario.lock.purpose {
            Purpose::Correctness => Judged::Correctness,
            Purpose::Efficiency => {
                Judged::Efficiency { harmful: scenario.lock.effect == Effect::Harmful }
            }
        },
    }
}

fn servers(
    scenario: &Scenario,
    names: &KeyNames,
    key: fencepost_services::KeyId,
    operations: Vec<Operation>,
) -> ServersSetup {
    use scenario::{Accept as Passes, Fencing as Fence};
    let Store::Redis(redis) = &scenario.store;
    let resource = &scenario.workload.resource;
    let nodes = (0..scenario.store.server_names().len()).map(|place| NodeSetup {
        server: ServerId(id(place)),
        locks: vec![LockKey { lock: LockId(0), key }],
        names: names.clone(),
        version: match redis.version {
            scenario::Version::V7_0 => fencepost_services::Version::Redis70,
            scenario::Version::V7_2 => fencepost_services::Version::Redis72,
        },
        command_time: redis.command_time,
        script_time: redis.script_time,
        is_durable: redis.persistence == scenario::Persistence::Always,
        storage: storage(redis),
        scripts: scripts(scenario),
        load_time: redis.load_time,
    });
    ServersSetup {
        nodes: nodes.collect(),
        replication: replication(redis),
        sentinels: (redis.topology == Topology::Sentinel).then(|| SentinelSetup {
            count: u16::try_from(redis.sentinels).unwrap_or(u16::MAX),
            quorum: u16::try_from(redis.quorum).unwrap_or(u16::MAX),
            down_after: redis.down_after,
            failover_timeout: redis.failover_timeout,
            tells_clients: redis.discovery == Discovery::SwitchMaster,
        }),
        resources: vec![ResourceSetup {
            resource: ResourceId(0),
            name: resource.name.clone(),
            fencing: match resource.fencing {
                Fence::Off => Fencing::Off,
                Fence::Writes => Fencing::Writes,
                Fence::ReadsAndWrites => Fencing::ReadsAndWrites,
                Fence::CheckNotAtomic => Fencing::CheckNotAtomic(Duration::from_millis(1)),
                Fence::SidePathOpen => Fencing::SidePathOpen,
            },
            accept: match resource.accept {
                Passes::AtLeast => Accept::HighestOrAbove,
                Passes::Above => Accept::Above,
            },
            is_idempotent: resource.idempotency,
        }],
        operations,
    }
}

/// Returns how a server keeps its data, if it keeps neither all nor nothing.
fn storage(redis: &scenario::Redis) -> Option<StorageSetup> {
    let seconds = |length: Duration| i64::try_from(length.as_millis() / 1_000).unwrap_or(i64::MAX);
    let policy = match redis.persistence {
        scenario::Persistence::Always | scenario::Persistence::None => return None,
        scenario::Persistence::EverySecond => Policy::EverySecond,
        scenario::Persistence::No => Policy::Never,
        scenario::Persistence::Rdb => {
            let points = redis.save.iter();
            let points = points.map(|point| (seconds(point.after), u64::from(point.changes)));
            Policy::Snapshots(points.collect())
        }
    };
    Some(StorageSetup { policy, fsync_time: redis.fsync_time })
}

fn replication(redis: &Redis) -> Option<ReplicationSetup> {
    let count = usize::try_from(redis.replicas).unwrap_or(usize::MAX);
    let replicas = (0..count).map(|place| {
        let own = redis.replica.get(place).cloned().unwrap_or_default();
        ReplicaSetup { lag: own.lag.unwrap_or(redis.lag), priority: own.priority }
    });
    redis.topology.has_replicas().then(|| ReplicationSetup {
        replicas: replicas.collect(),
        min_replicas: redis.min_replicas,
        max_lag: redis.min_replicas_max_lag,
        address_moves: redis.discovery == Discovery::Address,
    })
}

#[expect(clippy::wildcard_enum_match_arm, reason = "no other fault says how fast clocks are set")]
fn setup(scenario: &Scenario) -> Setup {
    let clock = |host: &str| {
        let own = scenario.clock.iter().rev().find(|clock| clock.host == host);
        let slew = scenario.fault.iter().find_map(|fault| match fault {
            Fault::ClockSlew(slew) if slew.host == host => Some(slew.ppm.saturating_mul(1_000)),
            _ => None,
        });
        HostClock {
            rate: own.map_or(0, |clock| clock.rate_ppm.saturating_mul(1_000)),
            offset: own.map_or(0, |clock| clock.offset.as_nanos()),
            slew: slew.unwrap_or(0),
        }
    };
    let processes = scenario.workload.clients.iter().map(|client| ProcessSetup {
        name: client.name.clone(),
        workers: roles("worker", client.behaviour.threads),
        helpers: roles(
            "renewer",
            if has_renewers(scenario) { client.behaviour.threads } else { 0 },
        ),
        start: Instant::ZERO + client.start,
        clock: clock(&client.name),
    });
    let Store::Redis(redis) = &scenario.store;
    let nodes = scenario.store.server_names().len();
    let servers =
        scenario.server_names().into_iter().enumerate().map(|(place, name)| ServerSetup {
            clock: clock(&name),
            name,
            least_downtime: if place < nodes { redis.delayed_restart } else { Duration::ZERO },
        });
    let odds = hazards::loss_odds(scenario);
    let mut links = Vec::new();
    for (place, client) in scenario.workload.clients.iter().enumerate() {
        for (number, server) in scenario.server_names().iter().enumerate() {
            for (leg, from, to) in
                [(Leg::Request, &client.name, server), (Leg::Reply, server, &client.name)]
            {
                let own = scenario.network.link.iter().rev().find(|link| {
                    let (one, other) = &link.between;
                    (one, other) == (from, to) || (one, other) == (to, from)
                });
                let latency = own.map_or(&scenario.network.latency, |link| &link.latency);
                let loss_odds = odds(from, to);
                if own.is_some() || loss_odds != 0 {
                    let model = LinkModel { latency: latency.clone(), loss_odds };
                    links.push((ProcessId(id(place)), ServerId(id(number)), leg, model));
                }
            }
        }
    }
    Setup {
        processes: processes.collect(),
        servers: servers.collect(),
        link: LinkModel { latency: scenario.network.latency.clone(), loss_odds: 0 },
        links,
        peer_latency: scenario.network.latency.nominal(),
        hazards: hazards::all(scenario),
        max_events: 10_000_000,
    }
}
