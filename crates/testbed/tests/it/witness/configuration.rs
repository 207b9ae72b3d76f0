//! The configurations of the table as scenarios in ticks.

use fencepost_choice::Distribution;
use fencepost_history::{Duration, Instant, Leg, ProcessId, ServerId};
use fencepost_locks::{Redlock, SetNx, SetNxExpire, SetNxPx};
use fencepost_sim::LinkModel;
use fencepost_testbed::scenario::{Scenario, Strategy};
use fencepost_testbed::{Parts, Testbed};

/// A tick; one whole of the milliseconds in which Redis counts.
pub(super) const TICK: Duration = Duration::from_millis(20);

pub(super) fn ticks(count: u32) -> Duration {
    TICK.saturating_mul(u64::from(count))
}

/// One strategy of the table.
pub(super) struct Configuration {
    scenario: Scenario,
    works_until_deadline: bool,
    is_replicated: bool,
    ttl: Option<u32>,
    nodes: u16,
    least_downtime: Duration,
}

/// One base schedule: when the clients start, and the latency of each link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Base {
    offset: i32,
    links: u32,
}

impl Base {
    /// All base schedules: 240 of a single node and 704 of three.
    pub(super) fn all(nodes: u16) -> Vec<Self> {
        let (links, offsets) = if nodes == 1 { (16, -7..=7) } else { (64, -2..=8) };
        let all = |links| offsets.clone().map(move |offset| Self { offset, links });
        (0..links).flat_map(all).collect()
    }

    /// The latency of the link between a client and a server, in ticks.
    fn latency(self, process: u16, server: u16, nodes: u16) -> u32 {
        let bit = match (nodes, server) {
            (1, server) => server * 2 + process,
            // The resource is near where there are several nodes.
            (nodes, server) if server == nodes => return 2,
            (nodes, server) => process * nodes + server,
        };
        if self.links & (1 << bit) == 0 { 2 } else { 3 }
    }
}

fn text(value: &toml::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

impl Configuration {
    /// Reads a strategy of `witness.toml`.
    #[expect(clippy::too_many_lines, reason = "one line for each key of the scenario")]
    pub(super) fn read(name: &str) -> Self {
        let file: toml::Table =
            include_str!("witness.toml").parse().expect("the table's configurations are TOML");
        let own = file[name].as_table().expect("a strategy is a table");
        let default = file["default"].as_table().expect("so are the defaults");
        let get = |key: &str| text(own.get(key).unwrap_or(&default[key]));
        let number = |key: &str| get(key).parse::<u32>().expect("a number of ticks");
        let is = |key: &str| get(key) == "true";
        let in_ticks = |count: u32| format!("\"{}\"", ticks(count));
        let ttl = get("ttl");
        let nodes = u16::try_from(number("nodes")).expect("nodes are few");
        let strategy = match (ttl.as_str(), is("setnx_then_expire")) {
            _ if nodes > 1 => "redlock",
            ("none", _) => "setnx",
            (_, true) => "setnx-expire",
            (_, false) => "set-nx-px",
        };
        let renewal = match number("renew_period") {
            0 => String::new(),
            every => format!(
                "renew = \"watchdog\"\nrenew_every = {}\non_loss = \"{}\"",
                in_ticks(every),
                if is("loss_notified") { "notify" } else { "silent" }
            ),
        };
        let check = match get("deadline_check").as_str() {
            "none" => String::new(),
            _ => {
                let margin = in_ticks(number("margin"));
                format!("deadline_check = \"before-write\"\nmargin = {margin}")
            }
        };
        let write_timeout = match get("write_timeout").parse() {
            Ok(count) => in_ticks(count),
            Err(_) => "\"none\"".to_owned(),
        };
        let replication = if is("replicated") {
            let lag = in_ticks(number("replication_lag"));
            format!("redis.lag = {lag}")
        } else {
            String::new()
        };
        let wait = if is("wait_for_replica") {
            // No reply comes before the client's own time-out, as if `WAIT` had none.
            let timeout = in_ticks(number("request_timeout") - 1);
            format!("wait_replicas = 1\nwait_timeout = {timeout}")
        } else {
            String::new()
        };
        let failover = if is("replicated") {
            let after = in_ticks(number("failover_ticks"));
            format!("[[fault]]\nfailover = {{ after = {after}, at = \"1h\" }}")
        } else {
            String::new()
        };
        let topology = match nodes {
            1 if is("replicated") => "replicated",
            1 => "single",
            _ => "independent",
        };
        let redlock = match nodes {
            1 => String::new(),
            _ => format!(
                "redlock = {{ quorum = {}, drift = \"0s\", min_validity = {} }}",
                number("quorum"),
                if is("validity_check") { "\"0s\"" } else { "\"none\"" }
            ),
        };
        let scenario = format!(
            r#"
            [store]
            redis.topology = "{topology}"
            redis.nodes = {nodes}
            redis.command_time = "0s"
            redis.script_time = "0s"
            redis.load_time = "0s"
            redis.persistence = "{persistence}"
            {replication}
            [lock]
            strategy = "{strategy}"
            ttl = "{ttl_text}"
            release = "{release}"
            retry_release = {retry_release}
            fencing_token = "{token}"
            {renewal}
            {check}
            {redlock}
            {wait}
            [workload]
            work = {work}
            work_kind = "wait"
            retry_every = {poll}
            request_timeout = {request_timeout}
            read_timeout = {write_timeout}
            write_timeout = {write_timeout}
            horizon = "{horizon}"
            [workload.resource]
            fencing = "{fence}"
            [network]
            latency = "{latency}"
            {failover}
            "#,
            persistence = if is("durable") { "always" } else { "none" },
            // The right one is set below: people write whole seconds for EXPIRE.
            ttl_text = if strategy == "setnx" { "none" } else { "1s" },
            release = get("release"),
            retry_release = is("retry_release"),
            token = get("token"),
            work = in_ticks(number("work")),
            poll = in_ticks(number("poll")),
            request_timeout = in_ticks(number("request_timeout")),
            horizon = ticks(170),
            fence = if get("fence") == "none" { "off".to_owned() } else { get("fence") },
            latency = ticks(2),
        );
        let scenario = Scenario::parse(&scenario)
            .unwrap_or_else(|errors| panic!("{name}: {errors:?}\n{scenario}"));
        let works_until_deadline = is("works_until_deadline");
        let least_downtime = ticks(number("least_downtime"));
        let is_replicated = is("replicated");
        let ttl = ttl.parse().ok();
        Self { scenario, works_until_deadline, is_replicated, ttl, nodes, least_downtime }
    }

    /// Builds a testbed for one base schedule.
    pub(super) fn testbed(&self, base: Base) -> Testbed {
        let mut parts = Parts::new(&self.scenario);
        parts.settle = Duration::ZERO;
        let late = |by: i32| Instant::ZERO + ticks(u32::try_from(by).unwrap_or(0));
        parts.setup.processes[0].start = late(-base.offset);
        parts.setup.processes[1].start = late(base.offset);
        // The lag is all that a change takes to a replica, and acknowledgements take no time.
        parts.setup.peer_latency = Duration::ZERO;
        let resource = self.scenario.resource_server().0;
        for (process, server) in (0..2).flat_map(|c| (0..=self.nodes).map(move |s| (c, s))) {
            let latency = ticks(base.latency(process, server, self.nodes));
            let model = LinkModel { latency: Distribution::Fixed(latency), loss_odds: 0 };
            // A replica is as far away as the master whose address it takes over.
            let servers = match server {
                _ if server == self.nodes => resource..resource + 1,
                _ if self.is_replicated => 0..resource,
                node => node..node + 1,
            };
            for server in servers {
                for leg in [Leg::Request, Leg::Reply] {
                    let link = (ProcessId(process), ServerId(server), leg, model.clone());
                    parts.setup.links.push(link);
                }
            }
        }
        for server in &mut parts.setup.servers[..usize::from(self.nodes)] {
            server.least_downtime = self.least_downtime;
        }
        for lock in &mut parts.locks {
            if let Some(ttl) = self.ttl {
                // Redis holds a key for dead a millisecond after its time to live.
                let ttl = ticks(ttl).saturating_sub(Duration::from_millis(1));
                lock.ttl = ttl;
                lock.ttl_millis = i64::try_from(ttl.as_millis()).expect("it is short");
            }
        }
        for job in parts.jobs.iter_mut().flatten() {
            job.works_until_deadline = self.works_until_deadline;
        }
        match self.scenario.lock.strategy {
            Strategy::SetNx => Testbed::with_parts(&parts, SetNx),
            Strategy::SetNxExpire => Testbed::with_parts(&parts, SetNxExpire),
            Strategy::SetNxPx => Testbed::with_parts(&parts, SetNxPx),
            Strategy::Script => panic!("no row of the table has scripts of its own"),
            Strategy::Redlock => {
                Testbed::with_parts(&parts, |lock| Redlock { lock, rules: parts.quorum })
            }
        }
    }

    /// Returns how many nodes there are.
    pub(super) const fn nodes(&self) -> u16 {
        self.nodes
    }

    /// Returns whether there is a replica to fail over to.
    pub(super) const fn is_replicated(&self) -> bool {
        self.is_replicated
    }

    /// Returns whether the strategy has a renewer thread.
    pub(super) fn has_renewer(&self) -> bool {
        self.scenario.lock.renew_every.is_some()
    }
}
