//! One run of a scenario, and what came of it.

use fencepost_choice::{Deviation, Source};
use fencepost_report::Verdict;
use fencepost_sim::Stop;
use fencepost_testbed::{Judgement, Recorded, Testbed, judge, scenario::Scenario};

use crate::{Error, reduce};

/// One run with everything that is known of it.
#[derive(Clone, Debug)]
pub struct Run {
    /// What came of it: violated, clean, or inconclusive.
    pub verdict: Verdict,
    /// Everything that happened in it.
    pub recorded: Recorded,
    /// How it compares with the scenario's `[expect]`.
    pub judgement: Judgement,
    /// Where its schedule comes from.
    pub origin: Origin,
    /// Whether leaving out any one of its faults gives a run without violation.
    pub is_minimal: bool,
    /// How many faults it had when it was found, if some were left out since.
    pub shrunk_from: Option<usize>,
}

/// Where a run's schedule comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The scenario pins it down.
    Pinned,
    /// It was found among seeded runs.
    Sampled {
        /// The base seed.
        seed: u64,
        /// The number of the run, from 0.
        run: u64,
        /// How many runs were asked for.
        of: u64,
    },
    /// A plan gives it, as property tests draw them.
    Planned,
    /// A counterexample file gives it.
    Recorded {
        /// The base seed of the search that wrote the file, if chance took part.
        seed: Option<u64>,
        /// The number of the run in that search.
        run: Option<u64>,
    },
}

impl Origin {
    /// Returns the base seed and the number of the run, where chance took part.
    #[must_use]
    pub const fn seed(self) -> Option<(u64, u64)> {
        match self {
            Self::Sampled { seed, run, .. }
            | Self::Recorded { seed: Some(seed), run: Some(run) } => Some((seed, run)),
            Self::Pinned | Self::Planned | Self::Recorded { .. } => None,
        }
    }
}

/// Runs the one schedule that a scenario pins down.
///
/// ```
/// use fencepost::{Scenario, Verdict};
///
/// let scenario = Scenario::parse("[lock]\nstrategy = \"set-nx-px\"").expect("well formed");
/// assert_eq!(fencepost::run(&scenario)?.verdict, Verdict::Clean);
/// # Ok::<(), fencepost::Error>(())
/// ```
///
/// # Errors
///
/// A fault that cannot be placed.
pub fn run(scenario: &Scenario) -> Result<Run, Error> {
    run_on(&mut Testbed::new(scenario)?, scenario)
}

/// Runs the one schedule that a scenario pins down on a testbed, which may have a strategy or
/// checkers of one's own.
///
/// # Errors
///
/// A fault that cannot be placed.
pub fn run_on(testbed: &mut Testbed, scenario: &Scenario) -> Result<Run, Error> {
    let recorded = testbed.record(Source::Benign, &[])?;
    complete(testbed, scenario, recorded, Origin::Pinned)
}

/// Adds to a recorded run what else is to be known of it.
pub(crate) fn complete(
    testbed: &mut Testbed,
    scenario: &Scenario,
    recorded: Recorded,
    origin: Origin,
) -> Result<Run, Error> {
    let verdict = verdict(&recorded);
    let is_minimal =
        verdict == Verdict::Violated && reduce::is_minimal(testbed, &recorded.deviations)?;
    let judgement = judge(scenario, &recorded);
    Ok(Run { verdict, recorded, judgement, origin, is_minimal, shrunk_from: None })
}

fn verdict(recorded: &Recorded) -> Verdict {
    if !recorded.brief.violated.is_empty() {
        Verdict::Violated
    } else if recorded.brief.stop == Stop::Limit || !recorded.unreached.is_empty() {
        // A fault that never took effect says nothing about the run that was meant.
        Verdict::Inconclusive
    } else {
        Verdict::Clean
    }
}

impl Run {
    /// Returns the faults among the run's deviations, in the order in which they took effect.
    #[must_use]
    pub fn faults(&self) -> Vec<&Deviation> {
        self.recorded.deviations.iter().filter(|deviation| reduce::is_fault(deviation)).collect()
    }

    /// Says what is known of the number of faults.
    ///
    /// This is the same for a run and its replay, so it does not tell how many there were once.
    #[must_use]
    pub fn faults_claim(&self) -> Option<String> {
        self.is_minimal.then(|| "no fault can be left out".to_owned())
    }
}
