//! What can keep a run from being carried out, or a counterexample from being repeated.

use fencepost_choice::{Deviation, ParseDeviationError};
use fencepost_testbed::{BuildError, RunError};

use crate::LEAST_RUNS;

/// Why there is no run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A fault of the scenario cannot be placed.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// A run cannot be carried out.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A counterexample's deviation cannot be read.
    #[error(transparent)]
    Deviation(#[from] ParseDeviationError),
    /// A counterexample's deviations were never reached, or do not fit their places.
    #[error("the run never reached {}", list(.0))]
    Unreached(Vec<Deviation>),
    /// A counterexample's run has another hash than the file says.
    #[error(
        "the run's hash is {found:#018x}, and the file says {recorded:#018x}; the file was written \
         by version {tool}, this is version {}",
        crate::VERSION
    )]
    OtherHash {
        /// What the file says.
        recorded: u64,
        /// What this run gave.
        found: u64,
        /// The version that wrote the file.
        tool: String,
    },
    /// So few runs say nothing.
    #[error("{0} runs are too few to say anything; {LEAST_RUNS} are the least")]
    TooFewRuns(u64),
}

fn list(deviations: &[Deviation]) -> String {
    let names: Vec<String> = deviations.iter().map(|deviation| format!("`{deviation}`")).collect();
    names.join(", ")
}

impl Error {
    /// Returns whether a replay differs from what its file records, rather than a bad scenario.
    #[must_use]
    pub const fn is_difference(&self) -> bool {
        matches!(self, Self::Unreached(_) | Self::OtherHash { .. })
    }
}
