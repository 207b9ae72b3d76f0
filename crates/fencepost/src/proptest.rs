//! Plans of faults for property tests, and the assertion that goes with them.
//!
//! [`plans`] draws faults as `explore` counts them: each is anchored after an actor's own event or
//! at a message, and half of the magnitudes are *critical*, that is, they let the actor come back
//! just before, at, or just after an instant at which something shared changed in its absence. A
//! [`Trial`] runs a scenario under a plan; [`assert_safe!`](crate::assert_safe) fails with the
//! violation block, so that `proptest` prints it once, for the smallest plan, and leaves one file
//! that replays.
//!
//! ```
//! use fencepost::proptest::{Trial, plans};
//! use fencepost::{Kind, Scenario, assert_safe};
//! use proptest::test_runner::TestRunner;
//!
//! let scenario = Scenario::parse(
//!     r#"
//!     [lock]
//!     strategy = "set-nx-px"
//!     release = "compare-and-delete"
//!     [workload]
//!     retry_every = "1s"
//!     "#,
//! )
//! .expect("well formed");
//! let trial = Trial::new(&scenario, "release").of(&[Kind::ForeignRelease]);
//! TestRunner::default()
//!     .run(&plans(&scenario), |plan| {
//!         assert_safe!(plan, trial);
//!         Ok(())
//!     })
//!     .expect("a release that compares and deletes in one step never hits another's key");
//! ```
//!
//! Anchoring at own events loses nothing, since a pause only puts off what its actor does next,
//! and it meets the bugs of locks far sooner than faults at random times would; so do critical
//! magnitudes, since a lock goes wrong where two things happen at almost the same time.

mod base;
mod draw;
#[cfg(test)]
mod tests;
mod trial;

use std::fmt;
use std::rc::Rc;

use ::proptest::collection::vec;
use ::proptest::strategy::Strategy;

use fencepost_choice::Deviation;
use fencepost_history::Duration;
use fencepost_sim::FaultKind;
use fencepost_testbed::{Testbed, scenario::Scenario};

use draw::{Drawer, Raw};

pub use ::proptest::test_runner::TestCaseError;
pub use trial::{Failure, Trial};

/// What goes wrong in a run, by name.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// The deviations from the benign run.
    pub deviations: Vec<Deviation>,
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.deviations.is_empty() {
            return f.write_str("no fault");
        }
        for (place, deviation) in self.deviations.iter().enumerate() {
            let comma = if place > 0 { ", " } else { "" };
            write!(f, "{comma}{deviation}")?;
        }
        Ok(())
    }
}

/// Writes the same as `Display`, since that is what `proptest` prints of a smallest plan.
impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What plans may hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// The largest number of faults.
    pub faults: usize,
    /// The kinds of faults, the mildest first: shrinking goes towards the front.
    pub kinds: Vec<FaultKind>,
    /// The longest pause, delay or outage, and the largest step of a clock.
    pub longest: Duration,
}

impl Bound {
    /// Returns the usual bound of a scenario: up to three faults, each as long as twice the TTL.
    ///
    /// Its kinds are pauses of processes, losses and delays of messages, crashes, and steps of
    /// clocks.
    #[must_use]
    pub fn of(scenario: &Scenario) -> Self {
        let ttl = scenario.lock.ttl.unwrap_or(Duration::from_secs(30));
        Self {
            faults: 3,
            kinds: vec![
                FaultKind::Pause,
                FaultKind::Delay,
                FaultKind::Loss,
                FaultKind::Clock,
                FaultKind::Crash,
            ],
            longest: ttl.saturating_mul(2),
        }
    }
}

/// Draws plans of faults for a scenario, inside its usual bound.
///
/// # Panics
///
/// If a fault of the scenario's own cannot be placed.
pub fn plans(scenario: &Scenario) -> impl Strategy<Value = Plan> + use<> {
    plans_within(scenario, Bound::of(scenario))
}

/// Draws plans of faults for a scenario, inside a bound.
///
/// # Panics
///
/// If a fault of the scenario's own cannot be placed, or the bound has no kinds.
pub fn plans_within(scenario: &Scenario, bound: Bound) -> impl Strategy<Value = Plan> + use<> {
    let testbed = Testbed::new(scenario).expect("the scenario's own faults have places");
    plans_on(testbed, scenario, bound)
}

/// Draws plans of faults for a testbed with a strategy of one's own, inside a bound.
///
/// Such a strategy has own events of its own, so plans must be drawn by looking at its runs.
///
/// # Panics
///
/// If the bound has no kinds.
pub fn plans_on(
    testbed: Testbed,
    scenario: &Scenario,
    bound: Bound,
) -> impl Strategy<Value = Plan> + use<> {
    assert!(!bound.kinds.is_empty(), "a bound has at least one kind of fault");
    let faults = vec(Raw::any(), 0..=bound.faults);
    let drawer = Rc::new(Drawer::new(testbed, scenario, bound));
    faults.prop_map(move |raw| drawer.plan(&raw))
}

/// Fails a test case if a plan makes a [`Trial`] violate what it is about.
///
/// The case fails with the violation block; see the module's example.
#[macro_export]
macro_rules! assert_safe {
    ($plan:expr, $trial:expr) => {
        if let Err(failure) = $trial.check(&$plan) {
            return Err($crate::proptest::TestCaseError::fail(failure.to_string()));
        }
    };
}
