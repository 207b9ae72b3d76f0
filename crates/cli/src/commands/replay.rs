//! `fencepost replay FILE`.

use super::run::once;
use crate::arguments;
use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::seed::Seed;
use crate::source::Source;
use crate::telling::Asked;

/// Shows the run of a file again, and compares it with what the file records.
pub(crate) fn replay(command: &arguments::Replay, output: &mut Output) -> Result<Exit, Failure> {
    let source = Source::read(&command.file)?;
    let parsed = source.parse_or_tell(output, &[])?;
    let scenario = &parsed.scenario;
    let recorded = scenario.replay.as_ref().and_then(|replay| replay.seed);
    let seed = recorded.map_or(Seed::default(), |seed| Seed::from(seed.0));
    let asked = Asked { source: &source, scenario, settings: &[], seed, report: &command.report };
    once(&asked, &parsed, output)
}
