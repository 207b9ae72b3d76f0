//! `[expect]` and `[replay]`: what should come of a run, and what did.

use fencepost_check::Kind;
use fencepost_history::Duration;

use super::anchor::Whose;
use super::numbers::Hex;
use super::section::section;

section! {
    /// What should come of a run; this makes the scenario a test.
    pub struct Expect {
        /// The kinds of violation that must all occur. No other kind may, unless it is implied by
        /// one of these or listed in `also`.
        violations: Vec<Kind> = Vec::new(),
        /// Kinds that may occur besides.
        also: Vec<Kind> = Vec::new(),
        /// Kinds that must not occur.
        absent: Vec<Kind> = Vec::new(),
        /// How long the lock may be without a holder after its holder died.
        takeover?: Range,
        /// How many accesses of superseded grants the fence must have refused.
        saves?: u64,
        /// Remarks that must be made.
        notes: Vec<Kind> = Vec::new(),
        /// What must have happened at least once, each as `CLIENT MOMENT`, so that the scenario
        /// does not pass because nothing happened.
        sometimes: Vec<Whose> = Vec::new(),
    }
}

section! {
    /// A range of lengths.
    pub struct Range {
        /// The shortest allowed.
        min: Duration = Duration::ZERO,
        /// The longest allowed.
        max: Duration,
    }
}

section! {
    /// What a search recorded of the run that this file repeats.
    pub struct Replay {
        /// The version of the program that wrote the file.
        tool: String,
        /// The base seed of the search, if chance took part in it.
        seed?: Hex,
        /// The number of the run in the search, from 0.
        run?: u64,
        /// The hash over all events of the run.
        hash: Hex,
        /// What deviated from the benign run, by name.
        deviations: Vec<String> = Vec::new(),
    }
}
