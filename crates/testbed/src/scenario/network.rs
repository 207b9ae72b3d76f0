//! `[network]` and `[[clock]]`: how long messages take, and how wrong clocks are.

use fencepost_choice::Distribution;
use fencepost_history::Duration;

use super::numbers::Shift;
use super::section::section;

section! {
    /// How long messages take.
    pub struct Network {
        /// How long a message takes in one direction.
        latency: Distribution = Distribution::LogNormal {
            p50: Duration::from_micros(120),
            p999: Duration::from_millis(2),
        },
        /// Links that are slower or faster than the others.
        link: Vec<Link> = Vec::new(),
    }
}

section! {
    /// A link with a latency of its own, in both directions.
    pub struct Link {
        /// Its two ends, a client and a server.
        between: (String, String),
        /// How long a message takes in one direction.
        latency!: Distribution = Distribution::Fixed(Duration::ZERO),
    }
}

section! {
    /// A machine whose clocks are wrong from the start.
    pub struct Clock {
        /// The client or server.
        host: String,
        /// How far its wall clock is ahead of true time.
        offset: Shift = Shift::ZERO,
        /// By how many millionths its clocks run too fast; a negative number is too slow.
        rate_ppm: i64 = 0,
    }
}
