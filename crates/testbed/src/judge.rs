//! Whether a run is what `[expect]` says.

use std::fmt;

use fencepost_check::KindSet;

use crate::plan::threads_of;
use crate::scenario::{Expect, Scenario, Whose};
use crate::testbed::Recorded;

/// What came of comparing a run with `[expect]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judgement {
    /// Whether the scenario expects anything.
    pub has_expectation: bool,
    /// What differs, each in a sentence; nothing if the run is as expected.
    pub differences: Vec<String>,
}

impl Judgement {
    /// Returns whether the run is as expected, or nothing was.
    #[must_use]
    pub const fn is_met(&self) -> bool {
        self.differences.is_empty()
    }
}

impl fmt::Display for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.has_expectation {
            return f.write_str("no [expect]");
        }
        if self.is_met() {
            return f.write_str("as expected by [expect]");
        }
        write!(f, "not as expected by [expect]: {}", self.differences.join("; "))
    }
}

/// Compares a recorded run with what its scenario expects.
#[must_use]
pub fn judge(scenario: &Scenario, recorded: &Recorded) -> Judgement {
    let Some(expect) = &scenario.expect else {
        return Judgement::default();
    };
    let mut differences = Vec::new();
    judge_kinds(expect, recorded.brief.violated, &mut differences);
    judge_numbers(expect, recorded, &mut differences);
    for note in &expect.notes {
        if !recorded.findings.iter().any(|finding| finding.note && finding.kind == *note) {
            differences.push(format!("there is no note of {}", note.name()));
        }
    }
    for whose in &expect.sometimes {
        if !happened(scenario, recorded, whose) {
            differences.push(format!("`{whose}` never happened"));
        }
    }
    if !recorded.unreached.is_empty() {
        let missed: Vec<String> =
            recorded.unreached.iter().map(|deviation| format!("`{deviation}`")).collect();
        differences.push(format!("a fault never took effect: {}", missed.join(", ")));
    }
    Judgement { has_expectation: true, differences }
}

fn happened(scenario: &Scenario, recorded: &Recorded, whose: &Whose) -> bool {
    let Some(who) = &whose.who else {
        let threads = (0_u16..).zip(&recorded.history.names.threads);
        let all: Vec<_> = threads.map(|(id, _)| fencepost_history::ThreadId(id)).collect();
        return recorded.passed(&all, whose.moment);
    };
    recorded.passed(&threads_of(scenario, &recorded.history, who), whose.moment)
}

fn judge_kinds(expect: &Expect, violated: KindSet, differences: &mut Vec<String>) {
    let listed: KindSet = expect.violations.iter().copied().collect();
    for kind in &expect.violations {
        if !violated.contains(*kind) {
            differences.push(format!("{} did not occur", kind.name()));
        }
    }
    for kind in &expect.absent {
        if violated.contains(*kind) {
            differences.push(format!("{} occurred", kind.name()));
        }
    }
    for kind in violated.iter() {
        let is_allowed = listed.contains(kind)
            || expect.also.contains(&kind)
            || expect.absent.contains(&kind)
            || listed.iter().any(|listed| listed.companions().contains(kind));
        if !is_allowed {
            differences.push(format!("{} occurred and is not listed", kind.name()));
        }
    }
}

fn judge_numbers(expect: &Expect, recorded: &Recorded, differences: &mut Vec<String>) {
    if let Some(saves) = expect.saves
        && saves != u64::from(recorded.tally.saves)
    {
        let counted = recorded.tally.saves;
        differences.push(format!("the fence saved {counted} times and not {saves}"));
    }
    if let Some(range) = &expect.takeover {
        let spans = recorded.tally.takeovers;
        if spans.count == 0 {
            differences.push("nobody took over from a dead holder".to_owned());
        } else if spans.min < range.min || spans.max > range.max {
            differences.push(format!(
                "a takeover took {} to {} and not {} to {}",
                spans.min, spans.max, range.min, range.max
            ));
        }
    }
}
