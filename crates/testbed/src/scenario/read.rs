//! Reads a scenario file: walks the document beside the lists of keys and collects mistakes.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::de::DeTable;

use super::error::{Code, ScenarioError};
use super::reader::Reader;
use super::{Scenario, check, limits, names, set};

/// A scenario that was read, and where its parts stand.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// What the file says.
    pub scenario: Scenario,
    /// Where it says so.
    pub places: Places,
    file: usize,
    settings: Vec<String>,
}

impl Parsed {
    /// Makes an error about a part of the scenario that showed only later, when it was run.
    #[must_use]
    pub fn error(&self, path: &str, message: impl Into<String>) -> ScenarioError {
        let mut error = ScenarioError::new(Code::NeverHappens, self.places.near(path), message);
        set::attribute(&mut error, self.file, &self.settings);
        error
    }
}

/// Where the keys of a file stand.
///
/// Paths are keys joined by dots, with the items of lists counted from 1:
/// `workload.client.2.name`, `fault.1.pause.process`.
#[derive(Clone, Debug, Default)]
pub struct Places(pub(super) BTreeMap<String, Place>);

/// Where a key and its value stand, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The key.
    pub key: Range<usize>,
    /// The value.
    pub value: Range<usize>,
}

impl Places {
    /// Returns where a key stands, if the file has it.
    #[must_use]
    pub fn get(&self, path: &str) -> Option<&Place> {
        self.0.get(path)
    }

    /// Returns whether the file has a key.
    #[must_use]
    pub fn has(&self, path: &str) -> bool {
        self.0.contains_key(path)
    }

    /// Returns where the value of a key stands, or of the nearest table around it.
    #[must_use]
    pub fn near(&self, path: &str) -> Range<usize> {
        let mut path = path;
        loop {
            match (self.0.get(path), path.rsplit_once('.')) {
                (Some(place), _) => return place.value.clone(),
                (None, Some((parent, _))) => path = parent,
                (None, None) => return 0..0,
            }
        }
    }
}

impl Scenario {
    /// Reads a scenario file.
    ///
    /// # Errors
    ///
    /// Returns all mistakes of the file, in the order of their places.
    pub fn parse(text: &str) -> Result<Self, Vec<ScenarioError>> {
        Self::parse_with(text, &[]).map(|parsed| parsed.scenario)
    }

    /// Reads a scenario file, with settings `KEY=VALUE` of the command line in place of what it
    /// says.
    ///
    /// # Errors
    ///
    /// Returns all mistakes of the file and of the settings, in the order of their places.
    pub fn parse_with(text: &str, settings: &[String]) -> Result<Parsed, Vec<ScenarioError>> {
        if text.len() > limits::FILE {
            let message = format!("the file has {} bytes, more than 1 MiB", text.len());
            return Err(vec![ScenarioError::new(Code::OutOfLimits, 0..0, message)]);
        }
        let (mut document, syntax) = DeTable::parse_recoverable(text);
        let mut reader = Reader::default();
        let is_torn = !syntax.is_empty();
        for error in syntax {
            let span = error.span().unwrap_or(0..0);
            reader.report(ScenarioError::new(Code::Syntax, span, error.message()));
        }
        set::apply(&mut document, text.len(), settings, &mut reader);
        let mut scenario = Scenario::default();
        reader.table_at(document.get_ref(), document.span(), &mut scenario);
        names::resolve(&mut scenario, &reader.places);
        if !is_torn {
            check::check(&scenario, &mut reader);
        }
        let Reader { places, mut errors, .. } = reader;
        if is_torn {
            // What is missing or out of its place may only seem so.
            errors.retain(|error| {
                let is_guess = error.code == Code::UnknownKey && error.help.is_none();
                error.code != Code::MissingKey && !is_guess
            });
        }
        if errors.is_empty() {
            let (file, settings) = (text.len(), settings.to_vec());
            return Ok(Parsed { scenario, places, file, settings });
        }
        for error in &mut errors {
            set::attribute(error, text.len(), settings);
        }
        errors.sort_by_key(|error| (error.source, error.span.start, error.span.end));
        Err(errors)
    }
}
