//! A scenario under trial by many plans.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::{fmt, fs, io};

use fencepost_check::{Kind, KindSet};
use fencepost_choice::Source;
use fencepost_report::{Look, block};
use fencepost_testbed::{Testbed, scenario::Scenario};

use super::Plan;
use crate::run::complete;
use crate::{Origin, Run, Telling, counterexample, story};

/// A scenario under trial by many plans.
pub struct Trial {
    scenario: Scenario,
    name: String,
    kinds: KindSet,
    testbed: RefCell<Testbed>,
    folder: Option<PathBuf>,
    /// The file of the last failing plan, which a smaller one replaces.
    written: RefCell<Option<PathBuf>>,
}

/// A violation that a plan brought about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The violation block.
    pub block: String,
    /// Where the file that replays it is, if one was written.
    pub file: Option<PathBuf>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.block)
    }
}

impl Trial {
    /// Puts a scenario under trial for every kind of violation; `name` is what reports call it.
    ///
    /// # Panics
    ///
    /// If a fault of the scenario's own cannot be placed.
    #[must_use]
    pub fn new(scenario: &Scenario, name: &str) -> Self {
        let testbed = Testbed::new(scenario).expect("the scenario's own faults have places");
        Self {
            scenario: scenario.clone(),
            name: name.to_owned(),
            kinds: Kind::ALL.iter().copied().collect(),
            testbed: RefCell::new(testbed),
            folder: None,
            written: RefCell::new(None),
        }
    }

    /// Restricts the trial to some kinds of violation.
    #[must_use]
    pub fn of(mut self, kinds: &[Kind]) -> Self {
        self.kinds = KindSet::of(kinds);
        self
    }

    /// Runs on another testbed, with a strategy or checkers of one's own.
    #[must_use]
    pub fn on(mut self, testbed: Testbed) -> Self {
        self.testbed = RefCell::new(testbed);
        self
    }

    /// Writes the counterexample of a failing plan into a folder, which is made if need be; that
    /// of a smaller plan replaces it.
    #[must_use]
    pub fn writing(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// Runs the scenario under a plan.
    ///
    /// # Errors
    ///
    /// A violation of the kinds that the trial is about.
    ///
    /// # Panics
    ///
    /// If the plan names places that the scenario does not have, or the folder cannot be written.
    pub fn check(&self, plan: &Plan) -> Result<(), Failure> {
        let testbed = &mut *self.testbed.borrow_mut();
        let brief = testbed.run(Source::Benign, &plan.deviations);
        let brief = brief.expect("the plan is one of this scenario");
        if brief.violated.intersection(self.kinds).is_empty() {
            return Ok(());
        }
        let recorded = testbed.record(Source::Benign, &plan.deviations);
        let recorded = recorded.expect("the same plan has just been run");
        let run = complete(testbed, &self.scenario, recorded, Origin::Planned);
        Err(self.fail(&run.expect("a part of the same plan can be run")))
    }

    fn fail(&self, run: &Run) -> Failure {
        let found = counterexample(&self.scenario, run, &self.name);
        let found = found.expect("a violated run has a counterexample");
        let file = self.folder.as_ref().map(|folder| folder.join(&found.name));
        if let Some(file) = &file {
            let written = self.replace(file, &found.text);
            written.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        }
        let shown = file.as_deref().unwrap_or(Path::new(&found.name)).display();
        let telling = Telling {
            scenario_name: self.name.clone(),
            command: format!("fencepost replay {shown}"),
            page: None,
        };
        let lines = block(&story(&self.scenario, run, &telling), &run.recorded.history, LOOK);
        let block = lines.iter().map(|line| format!("{line}\n")).collect();
        Failure { block, file }
    }

    /// Writes a file in the place of the one of the last failing plan.
    fn replace(&self, file: &Path, text: &str) -> io::Result<()> {
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(file, text)?;
        let last = self.written.replace(Some(file.to_owned()));
        match last.filter(|last| last != file) {
            Some(last) => fs::remove_file(last),
            None => Ok(()),
        }
    }
}

const LOOK: Look = Look { width: 100, ascii: false };
