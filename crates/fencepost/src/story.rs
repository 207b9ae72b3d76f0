//! From a run to what the reports tell: names instead of ids, words instead of deviations.

mod faults;
mod findings;
mod notes;

use fencepost_report::{Expected, Story};
use fencepost_testbed::scenario::Scenario;

use crate::Run;

#[cfg(feature = "proptest")]
pub(crate) use faults::begins;

/// What a story needs to know beside the run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Telling {
    /// The scenario file's name without its ending.
    pub scenario_name: String,
    /// The whole line that shows the same run again.
    pub command: String,
    /// Where the timeline page is, if one is written.
    pub page: Option<String>,
}

/// Tells a run to the reports.
///
/// ```
/// use fencepost::{Scenario, Telling, report};
///
/// let scenario = Scenario::parse("[lock]\nstrategy = \"set-nx-px\"").expect("well formed");
/// let run = fencepost::run(&scenario)?;
/// let telling = Telling { scenario_name: "quiet".to_owned(), ..Telling::default() };
/// let story = fencepost::story(&scenario, &run, &telling);
/// let block = report::block(&story, &run.recorded.history, report::Look::default());
/// assert!(block[0].to_string().contains("CLEAN"));
/// # Ok::<(), fencepost::Error>(())
/// ```
#[must_use]
pub fn story(scenario: &Scenario, run: &Run, telling: &Telling) -> Story {
    let history = &run.recorded.history;
    Story {
        title: scenario.title.clone(),
        story_text: scenario.story.clone(),
        scenario_name: telling.scenario_name.clone(),
        strategy: scenario.lock.strategy.name().to_owned(),
        command: telling.command.clone(),
        seed: run.origin.seed().map(|(seed, run)| format!("{seed:#x}, run {run}")),
        hash: run.recorded.brief.hash,
        verdict: run.verdict,
        expected: expected(run),
        findings: findings::views(&run.recorded.findings, history),
        faults: faults::views(scenario, run),
        faults_claim: run.faults_claim(),
        notes: notes::notes(scenario, run),
        assumed: notes::assumed(scenario),
        resolved_scenario: scenario.to_toml(),
        tool_version: crate::VERSION.to_owned(),
        page: telling.page.clone(),
    }
}

fn expected(run: &Run) -> Expected {
    if !run.judgement.has_expectation {
        Expected::Unstated
    } else if run.judgement.is_met() {
        Expected::Met
    } else {
        Expected::Missed(run.judgement.differences.clone())
    }
}

/// Writes a length with a space before its unit: `31 s`.
fn length(length: fencepost_history::Duration) -> String {
    let text = length.to_string();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = &text[digits.len()..];
    format!("{digits} {}", if unit == "us" { "µs" } else { unit })
}
