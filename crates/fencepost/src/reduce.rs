//! Leaves faults out of a schedule for as long as it shows the same violation.
//!
//! This deliberately is no search: it tries to do without each fault, and without the drawn
//! latencies, and claims no more than that.

use fencepost_check::{Kind, KindSet};
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
    look: impl FnOnce(KindSet) -> T,
) -> Result<T, Error> {
    let pinned = testbed.pinned().to_vec();
    testbed.set_pinned(plan);
    let brief = testbed.run(Source::Benign, &[]);
    testbed.set_pinned(pinned);
    Ok(look(brief?.violated))
}

/// What is known of the faults of a violated run after it was run again without each of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Needed {
    /// Nothing: there are no faults, or too many to try.
    #[default]
    Unknown,
    /// Without any one of them nothing at all is violated.
    Each,
    /// Without any one of them the gravest violation is gone, though others may remain.
    EachForGravest,
    /// The gravest violation is there even without one of these, counted from 0.
    NotAll(Vec<usize>),
}

/// Runs a violating plan again without each of its faults.
pub(crate) fn needed(
    testbed: &mut Testbed,
    plan: &[Deviation],
    gravest: Kind,
) -> Result<Needed, Error> {
    let faults: Vec<usize> = (0..plan.len()).filter(|place| is_fault(&plan[*place])).collect();
    if faults.is_empty() || faults.len() > MOST_FAULTS {
        return Ok(Needed::Unknown);
    }
    let mut spare = Vec::new();
    let mut is_quiet = true;
    for (number, place) in faults.into_iter().enumerate() {
        let left = attempt(testbed, without(plan, place), |violated| violated)?;
        is_quiet &= left.is_empty();
        if left.contains(gravest) {
            spare.push(number);
        }
    }
    Ok(match (spare.is_empty(), is_quiet) {
        (true, true) => Needed::Each,
        (true, false) => Needed::EachForGravest,
        (false, _) => Needed::NotAll(spare),
    })
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
