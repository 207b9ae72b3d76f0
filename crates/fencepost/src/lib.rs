//! A deterministic simulation testbed for distributed lock protocols: the library's front door.
//!
//! [`run`] carries out the one schedule that a scenario pins down, [`sample`] tries seeded
//! schedules, [`replay`] repeats a counterexample and insists that it is the same run, and
//! [`story`] turns a run into what the reports tell. With the feature `proptest`, which is on by
//! default, the module `proptest` draws plans of faults for property tests.
//!
//! A strategy of one's own implements [`LockStrategy`]; a checker of one's own implements
//! [`Checker`]. Both are put into a [`Testbed`] and run by [`run_on`]; all that they need is
//! re-exported here, so that this crate is the only dependency.
//!
//! ```
//! use fencepost::{Kind, Scenario, Verdict};
//!
//! let scenario = Scenario::parse(
//!     r#"
//!     [lock]
//!     strategy = "set-nx-px"
//!     ttl = "30s"
//!
//!     [[fault]]
//!     pause = { process = "c1", when = "acquired", for = "31s" }
//!     "#,
//! )
//! .expect("the scenario is well formed");
//! let run = fencepost::run(&scenario)?;
//! assert_eq!(run.verdict, Verdict::Violated);
//! assert!(run.recorded.brief.violated.contains(Kind::StaleWrite));
//! assert!(run.is_minimal(), "without the pause nothing goes wrong");
//! # Ok::<(), fencepost::Error>(())
//! ```
//!
//! This crate deliberately prints nothing and reads neither clocks nor the environment, and no
//! terminal, plotting or argument-parsing crate is below it.

mod bound;
mod counterexample;
mod error;
#[cfg(feature = "proptest")]
pub mod proptest;
mod reduce;
mod replay;
mod run;
mod sample;
mod story;

#[cfg(test)]
mod tests;

pub use bound::UpperBound;
pub use counterexample::{Counterexample, counterexample};
pub use error::Error;
pub use reduce::Needed;
pub use replay::replay;
pub use run::{Origin, Run, run, run_on};
pub use sample::{LEAST_RUNS, Sample, sample, sample_on};
pub use story::{Telling, story};

pub use fencepost_check::{
    self as check, Checker, Finding, Findings, Kind, KindSet, LIST as CHECKERS, Tally,
};
pub use fencepost_choice::{Deviation, RNG_SCHEME, RunKey, Source};
pub use fencepost_history::{
    self as history, Duration, Event, GrantId, History, Instant, LockId, Moment, ThreadId, Token,
    WallTime, What,
};
pub use fencepost_locks::{
    self as locks, AcquireError, Attempt, Client, Grant, KeyLock, LIST as STRATEGIES, LockStrategy,
    Renewal,
};
pub use fencepost_report::{self as report, Story, Verdict};
pub use fencepost_services as services;
pub use fencepost_sim::{FaultKind, Round, Stop, Votes};
pub use fencepost_testbed::{
    Brief, BuildError, Judgement, Recorded, RunError, Testbed, judge,
    scenario::{self, Scenario},
};

/// The version of the tool, as counterexample files state it.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
