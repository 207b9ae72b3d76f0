//! One run of a scenario, and what came of it.

use fencepost_choice::{Deviation, Source};
use fencepost_report::Verdict;
use fencepost_sim::Stop;
use fencepost_testbed::{Judgement, Recorded, Testbed, judge, scenario::Scenario};

use crate::Error;
use crate::reduce::{self, Needed};

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
    /// Which of its faults its violation needs.
    pub needed: Needed,
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
    let needed = match recorded.brief.violated.iter().next() {
        Some(gravest) => reduce::needed(testbed, &recorded.deviations, gravest)?,
        None => Needed::Unknown,
    };
    let judgement = judge(scenario, &recorded);
    Ok(Run { verdict, recorded, judgement, origin, needed, shrunk_from: None })
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

    /// Returns whether leaving out any one of its faults gives a run without violation.
    #[must_use]
    pub fn is_minimal(&self) -> bool {
        self.needed == Needed::Each
    }

    /// Says what is known of the faults.
    ///
    /// This is the same for a run and its replay, so it does not tell how many there were once.
    #[must_use]
    pub fn faults_claim(&self) -> Option<String> {
        let gravest = self.recorded.brief.violated.iter().next()?.name();
        match &self.needed {
            Needed::Unknown => None,
            Needed::Each => Some("no fault can be left out".to_owned()),
            Needed::EachForGravest => {
                Some(format!("without any one of them there is no {gravest}"))
            }
            Needed::NotAll(spare) => {
                let labels: Vec<String> =
                    spare.iter().map(|number| format!("F{}", number + 1)).collect();
                Some(format!("even without {} there is {gravest}", labels.join(" or ")))
            }
        }
    }
}
