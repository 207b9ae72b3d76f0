//! What a simulation consists of.

use fencepost_choice::Distribution;
use fencepost_history::{Duration, Instant, Leg, ProcessId, ServerId};

use crate::Hazard;

/// Everything that stays the same from run to run.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The client processes.
    pub processes: Vec<ProcessSetup>,
    /// The servers.
    pub servers: Vec<ServerSetup>,
    /// The link model between processes and servers where [`Setup::links`] has none.
    pub link: LinkModel,
    /// Links of their own.
    pub links: Vec<(ProcessId, ServerId, Leg, LinkModel)>,
    /// The latency between servers.
    pub peer_latency: Duration,
    /// Faults that seeded runs draw.
    pub hazards: Vec<Hazard>,
    /// How many events a run may have before it stops with [`crate::Stop::Limit`].
    pub max_events: u64,
}

/// A client process.
#[derive(Clone, Debug)]
pub struct ProcessSetup {
    /// Its name.
    pub name: String,
    /// Its threads' names; those in the first list start with the process.
    pub workers: Vec<String>,
    /// Threads that others start by [`crate::Client::spawn`].
    pub helpers: Vec<String>,
    /// When it starts.
    pub start: Instant,
    /// Its host's clock.
    pub clock: HostClock,
}

/// A server.
#[derive(Clone, Debug)]
pub struct ServerSetup {
    /// Its name.
    pub name: String,
    /// Its host's clock.
    pub clock: HostClock,
    /// The shortest time it stays down, whatever a fault says: a delayed restart.
    pub least_downtime: Duration,
}

/// How a host's clock differs from true time at the start.
#[derive(Clone, Copy, Debug, Default)]
pub struct HostClock {
    /// How much faster it runs, in parts per billion.
    pub rate: i64,
    /// How much its wall clock is ahead, in nanoseconds.
    pub offset: i64,
    /// At which rate corrections are made, in parts per billion; zero is the 500 ppm of ntpd(8).
    pub slew: u32,
}

/// How messages travel in one direction of a link.
#[derive(Clone, Debug)]
pub struct LinkModel {
    /// How long they take; runs without deviations take the nominal length.
    pub latency: Distribution,
    /// The odds of a loss in seeded runs, of 2^64.
    pub loss_odds: u64,
}

impl LinkModel {
    /// Makes a link whose messages always take the same time and arrive.
    #[must_use]
    pub const fn fixed(latency: Duration) -> Self {
        Self { latency: Distribution::Fixed(latency), loss_odds: 0 }
    }
}
