//! What a report is told beside the history: plain data that the caller fills.

use fencepost_history::{GrantId, Instant};

/// Everything about a run that its history does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Story {
    /// The scenario's title.
    pub title: String,
    /// The scenario's story, in a sentence or two.
    pub story_text: String,
    /// The scenario file's name without its ending.
    pub scenario_name: String,
    /// The lock strategy's name.
    pub strategy: String,
    /// The whole line that shows the same run again.
    pub command: String,
    /// The seed as people write it (`0x5eed2a91c4`), if chance took part.
    pub seed: Option<String>,
    /// The trace's hash.
    pub hash: u64,
    /// What came of the run.
    pub verdict: Verdict,
    /// How the verdict compares with what was expected.
    pub expected: Expected,
    /// The findings, in any order.
    pub findings: Vec<FindingView>,
    /// The faults that took effect, in the order in which they did.
    pub faults: Vec<FaultView>,
    /// What is known of their number: `no fault can be left out`.
    pub faults_claim: Option<String>,
    /// Remarks that are no violations.
    pub notes: Vec<String>,
    /// What the run takes for granted, one sentence each.
    pub assumed: Vec<String>,
    /// The scenario with every default filled in, as TOML.
    pub resolved_scenario: String,
    /// The tool's version.
    pub tool_version: String,
    /// Where the timeline page is, if one is written.
    pub page: Option<String>,
}

/// The verdict of a run or of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verdict {
    /// A concrete counterexample is at hand.
    Violated,
    /// Every schedule inside a bound was run, and none violated.
    Exhausted,
    /// Schedules were sampled, and none violated.
    NoneFound,
    /// One schedule was run and broke nothing.
    #[default]
    Clean,
    /// The run stopped early.
    Inconclusive,
}

impl Verdict {
    /// Returns the words that people read.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Violated => "VIOLATED",
            Self::Exhausted => "SAFE IN BOUND",
            Self::NoneFound => "NONE FOUND",
            Self::Clean => "CLEAN",
            Self::Inconclusive => "NOT FINISHED",
        }
    }

    /// Returns the name that machines read.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Violated => "violated",
            Self::Exhausted => "exhausted",
            Self::NoneFound => "none-found",
            Self::Clean => "clean",
            Self::Inconclusive => "inconclusive",
        }
    }

    /// Returns the symbol, or its stand-in for terminals that know only ASCII.
    #[must_use]
    pub const fn symbol(self, ascii: bool) -> &'static str {
        match (self, ascii) {
            (Self::Violated, false) => "✕",
            (Self::Violated, true) => "X",
            (Self::Exhausted, false) => "■",
            (Self::Exhausted, true) => "#",
            (Self::NoneFound, false) => "○",
            (Self::NoneFound, true) => "o",
            (Self::Clean, false) => "●",
            (Self::Clean, true) => "*",
            (Self::Inconclusive, false) => "…",
            (Self::Inconclusive, true) => "?",
        }
    }
}

/// How a verdict compares with the scenario's `[expect]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Expected {
    /// Nothing was expected.
    #[default]
    Unstated,
    /// All of it holds.
    Met,
    /// Some of it does not: one sentence for each difference.
    Missed(Vec<String>),
}

/// One finding of a checker, in names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FindingView {
    /// The kind: `double-holder`.
    pub kind: String,
    /// Its place among the kinds; 0 is the most severe.
    pub severity: u8,
    /// The lock.
    pub lock: String,
    /// The client whose grant is the older one, or who did wrong.
    pub older: String,
    /// The client whose grant is the newer one, or who suffered; empty where there is only one.
    pub newer: String,
    /// Both grants, [`GrantId::NONE`] where there is none.
    pub grants: [GrantId; 2],
    /// The tokens of both grants.
    pub tokens: [Option<u64>; 2],
    /// When it begins, or when what led to it happened.
    pub from: Instant,
    /// When it ends; equal to the beginning for what happens at once.
    pub to: Instant,
    /// The resource, if one takes part.
    pub resource: Option<String>,
    /// The index of the event that completes it.
    pub event: Option<usize>,
    /// A sentence to print instead of the one that the kind has.
    pub sentence: Option<String>,
}

/// One fault that took effect.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FaultView {
    /// Its label: `F1`.
    pub label: String,
    /// What it does, as a person would order it: `pause c1 for 31 s`.
    pub text: String,
    /// When it took effect.
    pub at: Instant,
    /// The index of its first event, if it is known.
    pub event: Option<usize>,
}

impl FindingView {
    /// Returns since when it is so: for what happens at once, the end of what led to it.
    #[must_use]
    pub fn begin(&self) -> Instant {
        let happens_at_once = matches!(
            self.kind.as_str(),
            "lost-update"
                | "stale-write"
                | "late-write"
                | "double-run"
                | "duplicate-effect"
                | "token-regression"
                | "fence-regression"
                | "foreign-release"
                | "foreign-renew"
        );
        if happens_at_once { self.to } else { self.from }
    }
}

impl Story {
    /// Returns the findings, most severe first, then by time.
    #[must_use]
    pub fn ranked(&self) -> Vec<&FindingView> {
        let mut ranked: Vec<_> = self.findings.iter().collect();
        ranked.sort_by(|a, b| {
            (a.severity, &a.kind, a.from, a.event).cmp(&(b.severity, &b.kind, b.from, b.event))
        });
        ranked
    }

    /// Returns the kinds that were found, most severe first, each once.
    #[must_use]
    pub fn kinds(&self) -> Vec<&str> {
        let mut kinds: Vec<&str> = Vec::new();
        for finding in self.ranked() {
            if !kinds.contains(&finding.kind.as_str()) {
                kinds.push(&finding.kind);
            }
        }
        kinds
    }

    /// Returns the first finding of each kind that no other one implies, in the order of time.
    ///
    /// A stale write is a late one too, and whoever runs twice believes twice.
    #[must_use]
    pub fn told(&self) -> Vec<&FindingView> {
        let kinds = self.kinds();
        let mut told = self.firsts();
        told.retain(|finding| match finding.kind.as_str() {
            "late-write" => !kinds.contains(&"stale-write"),
            "double-run" => !kinds.contains(&"double-holder"),
            _ => true,
        });
        told.sort_by_key(|finding| (finding.event, finding.to, finding.severity));
        told
    }

    /// Returns the first finding of each kind, most severe first.
    #[must_use]
    pub fn firsts(&self) -> Vec<&FindingView> {
        let mut firsts: Vec<&FindingView> = Vec::new();
        for finding in self.ranked() {
            if firsts.iter().all(|first| first.kind != finding.kind) {
                firsts.push(finding);
            }
        }
        firsts
    }
}
