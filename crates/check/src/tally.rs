//! What is counted beside the findings.

use fencepost_history::Duration;

/// How often something that takes time happened, and its shortest and longest time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spans {
    /// How often it happened.
    pub count: u32,
    /// The shortest time; zero if it never happened.
    pub min: Duration,
    /// The longest time.
    pub max: Duration,
}

impl Spans {
    /// Counts one more.
    pub fn add(&mut self, length: Duration) {
        self.min = if self.count == 0 { length } else { self.min.min(length) };
        self.max = self.max.max(length);
        self.count += 1;
    }
}

/// What is counted beside the findings of one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Grants.
    pub acquisitions: u32,
    /// Attempts that ended without a grant.
    pub refusals: u32,
    /// Attempts of which nobody knows whether they took effect.
    pub unknown: u32,
    /// Releases begun.
    pub releases: u32,
    /// Locks that a holder was told to have lost.
    pub losses: u32,
    /// Accepted accesses.
    pub accesses: u32,
    /// Writes without effect because their job's effect was known.
    pub deduplicated: u32,
    /// Refused accesses of superseded grants.
    pub saves: u32,
    /// Refused accesses of the newest grant.
    pub false_refusals: u32,
    /// Grants that ran a protected step while their successor believed.
    pub double_runs: u32,
    /// Steps of a grant after its belief had ended, which are the application's own fault.
    pub stray_steps: u32,
    /// Times from a holder's crash to the next grant of its lock.
    pub takeovers: Spans,
    /// Times for which a live key was believed in by nobody, releases under way left out.
    pub ghost_holds: Spans,
    /// Attempts refused because of the client's own residue.
    pub self_blocks: u32,
}
