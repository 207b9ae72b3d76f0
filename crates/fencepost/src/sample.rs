//! Seeded schedules of a scenario, until one is violated.

use std::ops::ControlFlow;

use fencepost_choice::{RunKey, Source};
use fencepost_report::Verdict;
use fencepost_sim::Stop;
use fencepost_testbed::{Testbed, scenario::Scenario};

use crate::run::complete;
use crate::{Error, Origin, Run, UpperBound, reduce};

/// The least number of runs from which anything is concluded.
pub const LEAST_RUNS: u64 = 30;

/// What came of running seeded schedules.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The base seed.
    pub seed: u64,
    /// How many runs were asked for.
    pub asked: u64,
    /// How many were carried out.
    pub done: u64,
    /// How many of them hit the limit of events, so that nothing is known of them.
    pub unfinished: u64,
    /// The first violating run, with what it does not need left out.
    pub found: Option<Run>,
}

impl Sample {
    /// Returns the verdict: violated, none found, or inconclusive.
    #[must_use]
    pub const fn verdict(&self) -> Verdict {
        if self.found.is_some() {
            Verdict::Violated
        } else if self.done < self.asked || self.unfinished > 0 {
            Verdict::Inconclusive
        } else {
            Verdict::NoneFound
        }
    }

    /// Returns how likely a violation can be at most, with 95 % confidence, if none was found in
    /// enough runs.
    #[must_use]
    pub fn bound(&self) -> Option<UpperBound> {
        let is_known = self.found.is_none() && self.unfinished == 0 && self.done >= LEAST_RUNS;
        is_known.then(|| UpperBound::after(self.done))
    }
}

/// Runs seeded schedules until one is violated.
///
/// `progress` is told how many runs are done and how many are asked for, and may stop it early.
///
/// ```
/// use std::ops::ControlFlow;
/// use fencepost::{Scenario, Verdict};
///
/// let scenario = Scenario::parse(
///     r#"
///     [lock]
///     strategy = "set-nx-px"
///     [hazard]
///     pause = { when = "acquired", odds = "1/64", for = "31s" }
///     "#,
/// )
/// .expect("well formed");
/// let sample = fencepost::sample(&scenario, 1, 1_000, |_, _| ControlFlow::Continue(()))?;
/// assert_eq!(sample.verdict(), Verdict::Violated);
/// assert_eq!(sample.found.expect("a run is violated").faults().len(), 1);
/// # Ok::<(), fencepost::Error>(())
/// ```
///
/// # Errors
///
/// Fewer than [`LEAST_RUNS`] runs, or a fault that cannot be placed.
pub fn sample(
    scenario: &Scenario,
    seed: u64,
    runs: u64,
    progress: impl FnMut(u64, u64) -> ControlFlow<()>,
) -> Result<Sample, Error> {
    if runs < LEAST_RUNS {
        return Err(Error::TooFewRuns(runs));
    }
    sample_on(&mut Testbed::new(scenario)?, scenario, seed, runs, progress)
}

/// Runs seeded schedules on a testbed, which may have a strategy or checkers of one's own.
///
/// # Errors
///
/// Fewer than [`LEAST_RUNS`] runs, or a fault that cannot be placed.
pub fn sample_on(
    testbed: &mut Testbed,
    scenario: &Scenario,
    seed: u64,
    runs: u64,
    mut progress: impl FnMut(u64, u64) -> ControlFlow<()>,
) -> Result<Sample, Error> {
    if runs < LEAST_RUNS {
        return Err(Error::TooFewRuns(runs));
    }
    let mut sample = Sample { seed, asked: runs, done: 0, unfinished: 0, found: None };
    for run in 0..runs {
        let brief = testbed.run(Source::Seeded(RunKey::new(seed, run)), &[])?;
        sample.done += 1;
        sample.unfinished += u64::from(brief.stop == Stop::Limit);
        if !brief.violated.is_empty() {
            sample.found = Some(found(testbed, scenario, seed, run, runs)?);
            break;
        }
        if progress(sample.done, runs).is_break() {
            break;
        }
    }
    Ok(sample)
}

/// Records a violating run, without what it does not need.
fn found(
    testbed: &mut Testbed,
    scenario: &Scenario,
    seed: u64,
    run: u64,
    of: u64,
) -> Result<Run, Error> {
    let recorded = testbed.record(Source::Seeded(RunKey::new(seed, run)), &[])?;
    let headline = recorded.brief.violated.iter().next();
    let kind = headline.expect("the silent run was violated, and this one is the same");
    let plan = reduce::reduce(testbed, &recorded.deviations, kind)?;
    let faults = |plan: &[fencepost_choice::Deviation]| {
        plan.iter().filter(|deviation| reduce::is_fault(deviation)).count()
    };
    let shrunk_from = Some(faults(&recorded.deviations)).filter(|before| *before > faults(&plan));
    let pinned = testbed.pinned().to_vec();
    testbed.set_pinned(plan);
    let recorded = testbed.record(Source::Benign, &[]);
    testbed.set_pinned(pinned);
    let found = complete(testbed, scenario, recorded?, Origin::Sampled { seed, run, of })?;
    Ok(Run { shrunk_from, ..found })
}
