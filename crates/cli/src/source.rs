//! Scenario files on their way in.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use fencepost::scenario::{Parsed, Scenario, ScenarioError};

use crate::diagnostics::{self, Texts};
use crate::exit::{Failure, shown};
use crate::folder::sha256;
use crate::output::Output;

/// The most that is read of a file: beyond its limit a scenario is refused anyway.
const MOST: u64 = (1 << 20) + 1;

/// A file that may be a scenario.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// Where it is, as the user wrote it.
    pub(crate) path: PathBuf,
    /// What it says.
    pub(crate) text: String,
}

impl Source {
    /// Reads a file.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        if path.is_dir() {
            return Err(Failure::Usage(format!(
                "{0} is a folder; `fencepost test {0}` runs all scenarios in it",
                shown(path)
            )));
        }
        let mut bytes = Vec::new();
        let file = File::open(path).map_err(|error| Failure::reading(path, &error))?;
        let read = file.take(MOST).read_to_end(&mut bytes);
        read.map_err(|error| Failure::reading(path, &error))?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let place = error.utf8_error().valid_up_to();
            Failure::Usage(format!("{} is no text: byte {place} is not UTF-8", shown(path)))
        })?;
        Ok(Self { path: path.to_owned(), text })
    }

    /// Returns the scenario's name: the file's without its ending.
    pub(crate) fn name(&self) -> String {
        let stem = self.path.file_stem().unwrap_or_default();
        stem.to_string_lossy().into_owned()
    }

    /// Returns the file's name without its folder, which results may state: it is the same
    /// wherever they are made.
    pub(crate) fn file_name(&self) -> String {
        let name = self.path.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// Reads the scenario.
    pub(crate) fn parse(&self, settings: &[String]) -> Result<Parsed, Vec<ScenarioError>> {
        Scenario::parse_with(&self.text, settings)
    }

    /// Reads the scenario, and tells all mistakes if there are any.
    pub(crate) fn parse_or_tell(
        &self,
        output: &mut Output,
        settings: &[String],
    ) -> Result<Parsed, Failure> {
        self.parse(settings).or_else(|errors| {
            let texts = Texts { path: &self.path, file: &self.text, settings };
            Err(diagnostics::tell(output, texts, &errors)?)
        })
    }
}

/// Returns the hash by which results name a scenario: of all its values, whatever the file leaves
/// out or remarks.
pub(crate) fn hash(scenario: &Scenario) -> String {
    sha256(scenario.to_toml().as_bytes())
}

/// Returns a word as a shell takes it.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./=+,:@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
