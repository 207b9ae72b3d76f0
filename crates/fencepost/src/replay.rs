//! Repeats a counterexample, and insists that it is the same run.

use fencepost_choice::Deviation;
use fencepost_testbed::{Testbed, scenario::Scenario};

use crate::{Error, Origin, Run, run_on};

/// Repeats the run of a counterexample, or the one schedule that another scenario pins down.
///
/// # Errors
///
/// A deviation that names no place of the scenario, one that the run does not reach or that does
/// not fit its place, or a hash that differs from the one the file records.
pub fn replay(scenario: &Scenario) -> Result<Run, Error> {
    let recorded = scenario.replay.as_ref();
    if let Some(replay) = recorded {
        for text in &replay.deviations {
            text.parse::<Deviation>()?;
        }
    }
    let mut run = run_on(&mut Testbed::new(scenario)?, scenario)?;
    if !run.recorded.unreached.is_empty() {
        return Err(Error::Unreached(run.recorded.unreached));
    }
    if let Some(replay) = recorded {
        let (recorded, found) = (replay.hash.0, run.recorded.brief.hash);
        if recorded != found {
            return Err(Error::OtherHash { recorded, found, tool: replay.tool.clone() });
        }
        run.origin = Origin::Recorded { seed: replay.seed.map(|seed| seed.0), run: replay.run };
    }
    Ok(run)
}
