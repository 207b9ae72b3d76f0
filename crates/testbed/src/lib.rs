//! Scenario files, workloads, and running one run.
//!
//! A [`scenario::Scenario`] says who does what with which lock, what goes wrong, and what should
//! come of it. A [`Testbed`] builds that once and runs it again and again in the same memory,
//! silently or recorded, and hands the events to the checkers. [`judge`] compares a recorded run
//! with the scenario's `[expect]`.
//!
//! This crate deliberately runs one run at a time: searches and samples are built on it.

mod build;
mod hazards;
mod job;
mod judge;
mod operations;
mod plan;
pub mod scenario;
mod testbed;
mod workload;

pub use build::Parts;
pub use job::{DeadlineCheck, Hold, Job, OnRefusal, SidePath};
pub use judge::{Judgement, judge};
pub use plan::{FaultError, thread_of, threads_of};
pub use testbed::{Brief, BuildError, Recorded, RunError, Testbed};
