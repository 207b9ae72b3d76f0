//! Leaves faults out of a schedule for as long as it shows the same violation.
//!
//! This deliberately is no search: it tries to do without each fault, and without the drawn
//! latencies, and claims no more than that.

use fencepost_check::Kind;
use fencepost_choice::{Deviation, Source};
use fencepost_testbed::Testbed;

use crate::Error;

/// Beyond so many faults nothing is left out, and nothing is claimed.
const MOST_FAULTS: usize = 64;

/// Sites whose deviations are weather: they belong to no fault.
const WEATHER: &[&str] = &["net.latency@", "client.jitter@", "order.tie@"];

/// Returns whether a deviation is a fault, and not a latency or a turn of the dice.
pub(crate) fn is_fault(deviation: &Deviation) -> bool {
    !WEATHER.iter().any(|label| deviation.site.starts_with(label))
}

fn without(plan: &[Deviation], place: usize) -> Vec<Deviation> {
    let mut rest = plan.to_vec();
    rest.remove(place);
    rest
}

/// Runs exactly these deviations and hands the pinned ones back to the testbed afterwards.
fn attempt<T>(
    testbed: &mut Testbed,
    plan: Vec<Deviation>,
    look: impl FnOnce(fencepost_check::KindSet) -> T,
) -> Result<T, Error> {
    let pinned = testbed.pinned().to_vec();
    testbed.set_pinned(plan);
    let brief = testbed.run(Source::Benign, &[]);
    testbed.set_pinned(pinned);
    Ok(look(brief?.violated))
}

/// Returns whether leaving out any one fault of a violating plan gives a run without violation.
pub(crate) fn is_minimal(testbed: &mut Testbed, plan: &[Deviation]) -> Result<bool, Error> {
    let faults = plan.iter().filter(|deviation| is_fault(deviation)).count();
    if faults == 0 || faults > MOST_FAULTS {
        return Ok(false);
    }
    for place in (0..plan.len()).filter(|place| is_fault(&plan[*place])) {
        if attempt(testbed, without(plan, place), |violated| !violated.is_empty())? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Leaves out of a plan whatever its violation does not need.
pub(crate) fn reduce(
    testbed: &mut Testbed,
    plan: &[Deviation],
    kind: Kind,
) -> Result<Vec<Deviation>, Error> {
    let mut least = plan.to_vec();
    let faults: Vec<Deviation> = plan.iter().filter(|d| is_fault(d)).cloned().collect();
    if faults.len() > MOST_FAULTS {
        return Ok(least);
    }
    if attempt(testbed, faults.clone(), |violated| violated.contains(kind))? {
        least = faults;
    }
    let mut place = least.len();
    while let Some(next) = place.checked_sub(1) {
        place = next;
        if !is_fault(&least[place]) {
            continue;
        }
        let fewer = without(&least, place);
        if attempt(testbed, fewer.clone(), |violated| violated.contains(kind))? {
            least = fewer;
            // What could not be left out before may be superfluous now.
            place = least.len();
        }
    }
    Ok(least)
}
