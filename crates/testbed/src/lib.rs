//! Scenario files, workloads, and running one run.

pub mod scenario;
