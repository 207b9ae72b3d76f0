//! Names of clients, threads and servers, and the defaults that hang on other keys.

use fencepost_history::{Duration, ProcessId, ServerId};

use super::lock::{Lock, Renew, Strategy};
use super::read::Places;
use super::{Discovery, Redlock, Release, Scenario, Store, Topology, Workload};

/// What a thread does in its process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// It contends for the lock; the first is `worker`, the second `worker-2`.
    Worker(u32),
    /// It renews the lock that a worker holds; the first is `renewer`, the second `renewer-2`.
    Renewer(u32),
}

impl Role {
    /// Reads a role of a thread; workers and their renewers count from 0.
    fn from_name(name: &str) -> Option<Self> {
        let (kind, index) = match name.split_once('-') {
            Some((kind, number)) => {
                (kind, number.parse::<u32>().ok()?.checked_sub(1).filter(|index| *index > 0)?)
            }
            None => (name, 0),
        };
        match kind {
            "worker" => Some(Self::Worker(index)),
            "renewer" => Some(Self::Renewer(index)),
            _ => None,
        }
    }
}

impl Scenario {
    /// Finds a client by its name.
    #[must_use]
    pub fn process(&self, name: &str) -> Option<ProcessId> {
        let index = self.workload.clients.iter().position(|client| client.name == name)?;
        u16::try_from(index).ok().map(ProcessId)
    }

    /// Finds a thread by its name: `c1/worker`, `c1/renewer`, `c1/worker-2`, or a client's name for
    /// its first worker.
    #[must_use]
    pub fn thread(&self, name: &str) -> Option<(ProcessId, Role)> {
        let (process, role) = match name.split_once('/') {
            Some((process, role)) => (process, Role::from_name(role)?),
            None => (name, Role::Worker(0)),
        };
        let process = self.process(process)?;
        let threads = self.workload.clients[process.index()].behaviour.threads;
        let is_there = match role {
            Role::Worker(index) => index < threads,
            Role::Renewer(index) => index < threads && self.lock.renew == Renew::Watchdog,
        };
        is_there.then_some((process, role))
    }

    /// Returns the names of all servers in the order of their ids: the store's, its sentinels, and
    /// then the protected resource.
    #[must_use]
    pub fn server_names(&self) -> Vec<String> {
        let mut names = self.store.server_names();
        names.extend(self.store.sentinel_names());
        names.push(self.workload.resource.name.clone());
        names
    }

    /// Finds a server, or the protected resource, by its name.
    #[must_use]
    pub fn server(&self, name: &str) -> Option<ServerId> {
        let index = self.server_names().iter().position(|server| server == name)?;
        u16::try_from(index).ok().map(ServerId)
    }

    /// Returns the id of the protected resource among the servers.
    #[must_use]
    pub fn resource_server(&self) -> ServerId {
        let store = self.store.server_names().len() + self.store.sentinel_names().len();
        ServerId(u16::try_from(store).unwrap_or(u16::MAX))
    }
}

/// Fills in the defaults that hang on other keys.
pub(super) fn resolve(scenario: &mut Scenario, places: &Places) {
    for text in [&mut scenario.title, &mut scenario.story] {
        *text = text.trim().to_owned();
    }
    let Store::Redis(redis) = &mut scenario.store;
    if redis.topology.has_replicas() && !places.has("store.redis.replicas") {
        let listed = u32::try_from(redis.replica.len()).unwrap_or(u32::MAX);
        let usual = if redis.topology == Topology::Sentinel { 2 } else { 1 };
        redis.replicas = if listed == 0 { usual } else { listed };
    }
    if redis.topology == Topology::Sentinel && !places.has("store.redis.discovery") {
        redis.discovery = Discovery::Sentinels;
    }
    let lock = &mut scenario.lock;
    if !places.has("lock.ttl") && lock.strategy.expires() {
        lock.ttl = Some(Duration::from_secs(30));
    }
    if !places.has("lock.release") {
        lock.release = match lock.strategy {
            Strategy::SetNxPx | Strategy::Redlock | Strategy::Script => Release::CompareAndDelete,
            Strategy::SetNx | Strategy::SetNxExpire => Release::Del,
        };
    }
    if lock.strategy == Strategy::Redlock {
        redlock(lock, &scenario.store, places);
        impatience(&mut scenario.workload, places);
    }
    if lock.renew == Renew::Watchdog && !places.has("lock.renew_every") {
        lock.renew_every = lock.ttl.map(|ttl| Duration::from_nanos(ttl.as_nanos() / 3));
    }
}

/// Fills in how long a server is waited for: the documentation asks for much less than the TTL.
fn impatience(workload: &mut Workload, places: &Places) {
    if places.has("workload.request_timeout") {
        return;
    }
    let timeout = Some(Duration::from_millis(50));
    workload.common.request_timeout = timeout;
    for (number, client) in (1..).zip(&mut workload.clients) {
        if !places.has(&format!("workload.client.{number}.request_timeout")) {
            client.behaviour.request_timeout = timeout;
        }
    }
}

/// Fills in a majority, and the drift of most libraries.
fn redlock(lock: &mut Lock, store: &Store, places: &Places) {
    let rules = lock.redlock.get_or_insert_with(Redlock::default);
    if !places.has("lock.redlock.quorum") {
        let servers = u32::try_from(store.server_names().len()).unwrap_or(u32::MAX);
        rules.quorum = Some(servers / 2 + 1);
    }
    if !places.has("lock.redlock.drift") {
        let hundredth = lock.ttl.unwrap_or_default().as_nanos() / 100;
        rules.drift = Some(Duration::from_nanos(hundredth) + Duration::from_millis(2));
    }
}
