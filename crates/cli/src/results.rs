//! Results as programs read them. Times are integers, in nanoseconds of virtual time.

use fencepost::Sample;
use fencepost::report::{Expected, FaultView, FindingView, Story};
use serde::Serialize;

use crate::arguments::Format;
use crate::exit::Failure;
use crate::output::Output;
use crate::source;
use crate::telling::Asked;

/// The version of these documents; fields are only added within a major one.
pub(crate) const SCHEMA: &str = "result/1";

/// Why there is no result.
#[derive(Debug, Serialize)]
pub(crate) struct Error {
    r#type: &'static str,
    message: String,
}

impl Error {
    /// Says why a command failed.
    pub(crate) fn new(failure: &Failure) -> Self {
        Self { r#type: "error", message: failure.to_string() }
    }
}

/// What was run.
#[derive(Debug, Serialize)]
struct Head {
    schema: &'static str,
    tool: &'static str,
    scenario: String,
    title: String,
    strategy: &'static str,
    scenario_sha256: String,
    seed: String,
}

/// What came of it.
#[derive(Debug, Serialize)]
struct Outcome {
    verdict: &'static str,
    complete: bool,
    expected: &'static str,
    differences: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    runs: Option<Runs>,
    hash: Option<String>,
    faults_claim: Option<String>,
    notes: Vec<String>,
    replay: Option<String>,
}

/// How many runs it took.
#[derive(Debug, Serialize)]
struct Runs {
    asked: u64,
    done: u64,
    unfinished: u64,
    /// The number of the violating run, from 0.
    violated: Option<u64>,
    /// The upper bound at 95 % of the chance of a violation, in parts per billion.
    upper95_ppb: Option<u64>,
}

/// A violation.
#[derive(Debug, Serialize)]
struct Violation<'a> {
    kind: &'a str,
    lock: &'a str,
    clients: Vec<&'a str>,
    tokens: [Option<u64>; 2],
    from_ns: u64,
    to_ns: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    resource: Option<&'a str>,
}

/// A fault.
#[derive(Debug, Serialize)]
struct Fault<'a> {
    label: &'a str,
    text: &'a str,
    at_ns: u64,
}

/// Everything in one document.
#[derive(Debug, Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    head: Head,
    #[serde(flatten)]
    outcome: Outcome,
    violations: Vec<Violation<'a>>,
    faults: Vec<Fault<'a>>,
}

/// A line of the same.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Entry<'a> {
    Run(Head),
    Fault(Fault<'a>),
    Violation(Violation<'a>),
    End(Outcome),
}

/// Writes what came of a run, or of a sample in which `story` was found.
pub(crate) fn write(
    output: &mut Output,
    asked: &Asked<'_>,
    story: Option<&Story>,
    sample: Option<&Sample>,
) -> Result<(), Failure> {
    let head = head(asked);
    let outcome = outcome(story, sample);
    let ranked = story.map(Story::ranked).unwrap_or_default();
    let violations = ranked.into_iter().map(violation).collect();
    let faults = story.map(|story| story.faults.iter().map(fault).collect()).unwrap_or_default();
    if output.format != Format::Jsonl {
        return output.data(&Document { head, outcome, violations, faults });
    }
    output.data(&Entry::Run(head))?;
    for fault in faults {
        output.data(&Entry::Fault(fault))?;
    }
    for violation in violations {
        output.data(&Entry::Violation(violation))?;
    }
    output.data(&Entry::End(outcome))
}

fn head(asked: &Asked<'_>) -> Head {
    Head {
        schema: SCHEMA,
        tool: fencepost::VERSION,
        scenario: asked.source.name(),
        title: asked.scenario.title.clone(),
        strategy: asked.scenario.lock.strategy.name(),
        scenario_sha256: source::hash(asked.scenario),
        seed: asked.seed.to_string(),
    }
}

fn outcome(story: Option<&Story>, sample: Option<&Sample>) -> Outcome {
    let runs = sample.map(|sample| Runs {
        asked: sample.asked,
        done: sample.done,
        unfinished: sample.unfinished,
        violated: sample.found.as_ref().and_then(|run| run.origin.seed()).map(|(_, run)| run),
        upper95_ppb: sample.bound().map(fencepost::UpperBound::billionths),
    });
    let (expected, differences) = match story.map(|story| &story.expected) {
        None | Some(Expected::Unstated) => ("unstated", Vec::new()),
        Some(Expected::Met) => ("met", Vec::new()),
        Some(Expected::Missed(differences)) => ("missed", differences.clone()),
    };
    let verdict = match (story, sample) {
        (Some(story), _) => story.verdict,
        (None, sample) => sample.map(Sample::verdict).unwrap_or_default(),
    };
    Outcome {
        verdict: verdict.name(),
        complete: sample.is_none_or(|sample| sample.found.is_some() || sample.done == sample.asked),
        expected,
        differences,
        runs,
        hash: story.map(|story| format!("{:#018x}", story.hash)),
        faults_claim: story.and_then(|story| story.faults_claim.clone()),
        notes: story.map(|story| story.notes.clone()).unwrap_or_default(),
        replay: story.map(|story| story.command.clone()),
    }
}

fn violation(finding: &FindingView) -> Violation<'_> {
    let clients = [finding.older.as_str(), finding.newer.as_str()];
    Violation {
        kind: &finding.kind,
        lock: &finding.lock,
        clients: clients.into_iter().filter(|client| !client.is_empty()).collect(),
        tokens: finding.tokens,
        from_ns: finding.from.as_nanos(),
        to_ns: finding.to.as_nanos(),
        resource: finding.resource.as_deref(),
    }
}

fn fault(fault: &FaultView) -> Fault<'_> {
    Fault { label: &fault.label, text: &fault.text, at_ns: fault.at.as_nanos() }
}
