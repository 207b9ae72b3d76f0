//! The jobs of the benchmark as scenarios.

use fencepost_choice::Distribution;
use fencepost_history::{Duration, Instant};
use fencepost_locks::SetNxPx;
use fencepost_testbed::scenario::Scenario;
use fencepost_testbed::{Parts, Testbed};

/// Many clients on one lock, in ticks of 20 ms, with rare pauses before the write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer {
    /// How many clients.
    pub(crate) clients: u32,
    /// How many rounds each.
    pub(crate) rounds: u32,
    /// Whether the resource checks the grants' numbers.
    pub(crate) is_fenced: bool,
}

/// A job.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Job {
    /// The reference job of the hot path.
    R1,
    /// The reference job of a quorum.
    R2,
    /// The reference job with scripts of one's own.
    Lua,
    /// The peer job.
    Peer(Peer),
}

/// All jobs, by the names that the command line knows them by.
pub(crate) const JOBS: [(&str, Job); 7] = [
    ("r1", Job::R1),
    ("r2", Job::R2),
    ("lua", Job::Lua),
    ("peer-2-1", peer(2, 1, false)),
    ("peer-5-20", peer(5, 20, false)),
    ("peer-2-1-fenced", peer(2, 1, true)),
    ("peer-5-20-fenced", peer(5, 20, true)),
];

const fn peer(clients: u32, rounds: u32, is_fenced: bool) -> Job {
    Job::Peer(Peer { clients, rounds, is_fenced })
}

impl Job {
    /// Builds its testbed.
    pub(crate) fn testbed(self) -> Testbed {
        match self {
            Self::R1 => shipped(include_str!("r1.toml")),
            Self::R2 => shipped(include_str!("r2.toml")),
            Self::Lua => shipped(include_str!("lua.toml")),
            Self::Peer(peer) => peer.testbed(),
        }
    }
}

impl Peer {
    fn scenario(self) -> Scenario {
        let Self { clients, rounds, is_fenced } = self;
        let (token, fencing) =
            if is_fenced { ("in-acquire-script", "reads-and-writes") } else { ("none", "off") };
        // A key is dead the millisecond after its time to live: after 5 ticks here.
        parse(&format!(
            r#"
            [store]
            redis = {{ command_time = "0s", script_time = "0s" }}
            [lock]
            strategy = "set-nx-px"
            ttl = "99ms"
            fencing_token = "{token}"
            [workload]
            clients = {clients}
            rounds = {rounds}
            reads = 0
            work = "20ms"
            retry_every = "40ms"
            request_timeout = "none"
            write_timeout = "none"
            resource = {{ fencing = "{fencing}" }}
            [hazard]
            pause = {{ when = "before-write", odds = "1/64", for = "240ms" }}
            "#
        ))
    }

    fn testbed(self) -> Testbed {
        let mut parts = Parts::new(&self.scenario());
        let step = Duration::from_millis(20);
        parts.setup.link.latency = Distribution::Steps { step, min: 1, max: 2 };
        for process in &mut parts.setup.processes {
            process.start = Instant::ZERO;
        }
        Testbed::with_parts(&parts, SetNxPx)
    }
}

fn shipped(text: &str) -> Testbed {
    Testbed::new(&parse(text)).expect("it has no pinned faults")
}

fn parse(text: &str) -> Scenario {
    Scenario::parse(text).unwrap_or_else(|errors| panic!("{errors:?}"))
}
