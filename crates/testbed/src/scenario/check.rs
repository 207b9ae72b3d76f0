//! Mistakes that only show when the parts of a scenario are seen together.

use super::Scenario;
use super::read::Reader;

pub(super) fn check(scenario: &Scenario, reader: &mut Reader) {
    let _ = (scenario, reader);
}
