//! Reads a scenario file: walks the document beside the lists of keys and collects mistakes.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{Code, ScenarioError};
use super::section::{Key, Keys, Section};
use super::units::{self, BadLength};
use super::value::{Input, Value};
use super::{Scenario, check, limits, names, set};

/// A scenario that was read, and where its parts stand.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// What the file says.
    pub scenario: Scenario,
    /// Where it says so.
    pub places: Places,
}

/// Where the keys of a file stand.
///
/// Paths are keys joined by dots, with the items of lists counted from 1:
/// `workload.client.2.name`, `fault.1.pause.process`.
#[derive(Clone, Debug, Default)]
pub struct Places(BTreeMap<String, Place>);

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
        for error in syntax {
            let span = error.span().unwrap_or(0..0);
            reader.report(ScenarioError::new(Code::Syntax, span, error.message()));
        }
        set::apply(&mut document, text.len(), settings, &mut reader);
        let mut scenario = Scenario::default();
        reader.table_at(document.get_ref(), document.span(), &mut scenario);
        names::resolve(&mut scenario, &reader.places);
        check::check(&scenario, &mut reader);
        let Reader { places, mut errors, .. } = reader;
        if errors.is_empty() {
            return Ok(Parsed { scenario, places });
        }
        for error in &mut errors {
            set::attribute(error, text.len(), settings);
        }
        errors.sort_by_key(|error| (error.source, error.span.start, error.span.end));
        Err(errors)
    }
}

/// What has been read so far, and what was wrong with it.
#[derive(Debug, Default)]
pub(super) struct Reader {
    path: Vec<String>,
    pub(super) places: Places,
    skipped: BTreeSet<String>,
    errors: Vec<ScenarioError>,
}

impl Reader {
    /// Notes a mistake.
    pub(super) fn report(&mut self, error: ScenarioError) {
        self.errors.push(error);
    }

    /// Returns how many mistakes have been noted.
    pub(super) fn error_count(&self) -> usize {
        self.errors.len()
    }

    /// Goes down to a key or an item of a list.
    pub(super) fn enter(&mut self, name: &str, key: Range<usize>, value: Range<usize>) {
        self.path.push(name.to_owned());
        self.places.0.insert(self.path.join("."), Place { key, value });
    }

    /// Goes back up.
    pub(super) fn leave(&mut self) {
        self.path.pop();
    }

    /// Leaves out the item of a list at hand, which could not be read.
    pub(super) fn skip(&mut self) {
        self.skipped.insert(self.path.join("."));
    }

    /// Returns the numbers in the file of the items of a list that could be read.
    pub(super) fn item_numbers(&self, list: &str, count: usize) -> Vec<usize> {
        let is_read = |number: &usize| !self.skipped.contains(&format!("{list}.{number}"));
        (1..).filter(is_read).take(count).collect()
    }

    /// Notes a mistake that may follow from one that is already known.
    pub(super) fn report_if_new(&mut self, error: ScenarioError) {
        let follows = self.errors.iter().any(|known| {
            known.span == error.span
                || error.context.as_ref().is_some_and(|(span, _)| known.span == *span)
        });
        if !follows {
            self.errors.push(error);
        }
    }

    /// Names the table at hand as the file writes it.
    fn table_name(&self) -> String {
        let is_index = |name: &&String| name.bytes().all(|c| c.is_ascii_digit());
        let keys: Vec<&str> =
            self.path.iter().filter(|name| !is_index(name)).map(String::as_str).collect();
        if keys.is_empty() { "the file".to_owned() } else { format!("[{}]", keys.join(".")) }
    }

    /// Names the key at hand.
    fn key_name(&self) -> &str {
        let is_index = |name: &&String| name.bytes().all(|c| c.is_ascii_digit());
        self.path.iter().rfind(|name| !is_index(name)).map_or("", String::as_str)
    }

    /// Reports a value of the wrong type.
    pub(super) fn wrong_type<T>(&mut self, input: &Input<'_>, wanted: &str) -> Option<T> {
        let found = match input.get_ref() {
            DeValue::String(_) => "a text",
            DeValue::Integer(_) | DeValue::Float(_) => "a number",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        let message = format!("`{}` is {found}, not {wanted}", self.key_name());
        self.report(
            ScenarioError::new(Code::WrongType, input.span(), message)
                .label(format!("{wanted} belongs here")),
        );
        None
    }

    /// Reads a text.
    pub(super) fn text<'a>(&mut self, input: &'a Input<'_>, wanted: &str) -> Option<&'a str> {
        match input.get_ref() {
            DeValue::String(text) => Some(text.as_ref()),
            DeValue::Integer(_)
            | DeValue::Float(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_)
            | DeValue::Array(_)
            | DeValue::Table(_) => self.wrong_type(input, wanted),
        }
    }

    /// Reads a whole number between two bounds.
    pub(super) fn integer(&mut self, input: &Input<'_>, min: i64, max: i64) -> Option<i64> {
        let DeValue::Integer(number) = input.get_ref() else {
            return self.wrong_type(input, "a whole number");
        };
        match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) if (min..=max).contains(&number) => Some(number),
            _ => {
                let message = format!("`{}` is out of its range", self.key_name());
                self.report(
                    ScenarioError::new(Code::BadValue, input.span(), message)
                        .label(format!("between {min} and {max}")),
                );
                None
            }
        }
    }

    /// Reads a length of time with one of the two parsers for them.
    pub(super) fn length<T>(
        &mut self,
        input: &Input<'_>,
        parse: impl Fn(&str) -> Result<T, BadLength>,
    ) -> Option<T> {
        let (text, error) = match input.get_ref() {
            DeValue::String(text) => match parse(text.as_ref()) {
                Ok(length) => return Some(length),
                Err(error) => (text.as_ref(), error),
            },
            DeValue::Integer(number) if number.radix() == 10 => {
                (number.as_str(), BadLength::NoUnit(number.as_str().to_owned()))
            }
            DeValue::Float(number) => {
                (number.as_str(), BadLength::NoUnit(number.as_str().to_owned()))
            }
            DeValue::Integer(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_)
            | DeValue::Array(_)
            | DeValue::Table(_) => return self.wrong_type(input, "a length of time"),
        };
        let remedy = units::remedy(text, &error);
        let message = format!("`{}`: {error}", self.key_name());
        let mut report = ScenarioError::new(Code::BadLength, input.span(), message);
        if let Some(right) = remedy.strip_prefix("write ").filter(|_| remedy.ends_with('"')) {
            report = report.replace(input.span(), right);
        }
        self.report(report.label("a text such as \"30s\" belongs here").help(remedy));
        None
    }

    /// Reads one of some words.
    pub(super) fn word<T: Copy>(
        &mut self,
        input: &Input<'_>,
        all: &[T],
        name: fn(T) -> &'static str,
    ) -> Option<T> {
        let names: Vec<&str> = all.iter().map(|word| name(*word)).collect();
        let text = self.text(input, &format!("one of {}", list(&names)))?;
        self.find_word(input.span(), text, all, name)
    }

    /// Finds one of some words.
    pub(super) fn find_word<T: Copy>(
        &mut self,
        span: Range<usize>,
        text: &str,
        all: &[T],
        name: fn(T) -> &'static str,
    ) -> Option<T> {
        let found = all.iter().copied().find(|word| name(*word) == text);
        if found.is_none() {
            let names: Vec<&str> = all.iter().map(|word| name(*word)).collect();
            let message = format!("`{}` does not know the word `{text}`", self.key_name());
            let mut error = ScenarioError::new(Code::UnknownWord, span, message)
                .label("not one of its words")
                .note(format!("it knows {}", list(&names)));
            if let Some(near) = nearest(text, &names) {
                error = error.help(format!("did you mean `{near}`?"));
            }
            self.report(error);
        }
        found
    }

    /// Reads a table into a section that holds its defaults.
    pub(super) fn table<S: Section>(&mut self, input: &Input<'_>, section: &mut S) -> Option<()> {
        let Some(table) = input.get_ref().as_table() else {
            return self.wrong_type(input, "a table");
        };
        self.table_at(table, input.span(), section);
        Some(())
    }

    fn table_at<S: Section>(&mut self, table: &DeTable<'_>, span: Range<usize>, section: &mut S) {
        let mut walk = Walk { reader: self, table, span, known: Vec::new() };
        section.keys(&mut walk);
        let Walk { known, span, .. } = walk;
        for (key, _) in table {
            if !known.contains(&key.get_ref().as_ref()) {
                self.unknown_key(key, &known, &span);
            }
        }
    }

    fn unknown_key(&mut self, key: &Spanned<Cow<'_, str>>, known: &[&str], table: &Range<usize>) {
        let (place, name) = (self.table_name(), key.get_ref());
        let message = format!("unknown key `{name}` in {place}");
        let mut error = ScenarioError::new(Code::UnknownKey, key.span(), message)
            .label(format!("not a key of {place}"))
            .note(format!("its keys are {}", list(known)));
        if !self.path.is_empty() {
            error = error.context(table.clone(), "in this table");
        }
        if let Some(near) = nearest(name, known) {
            error =
                error.help(format!("did you mean `{near}`?")).replace(key.span(), near.to_owned());
        }
        self.report(error);
    }

    /// Reads a table that must have exactly one key, and goes down to it.
    pub(super) fn only_key<'a, 'i>(
        &mut self,
        input: &'a Input<'i>,
        kinds: &[(&'static str, &'static str)],
    ) -> Option<(&'static str, &'a Input<'i>)> {
        let Some(table) = input.get_ref().as_table() else {
            return self.wrong_type(input, "a table");
        };
        let names: Vec<&str> = kinds.iter().map(|(name, _)| *name).collect();
        let (mut found, mut unknown) = (Vec::new(), false);
        for (key, value) in table {
            match kinds.iter().find(|(name, _)| *name == key.get_ref().as_ref()) {
                Some((name, _)) => found.push((*name, key.span(), value)),
                None => {
                    unknown = true;
                    self.unknown_key(key, &names, &input.span());
                }
            }
        }
        if found.len() > 1 || (found.is_empty() && !unknown) {
            let message = format!("{} needs exactly one key", self.table_name());
            let span = found.get(1).map_or(input.span(), |(_, span, _)| span.clone());
            self.report(
                ScenarioError::new(Code::KeysConflict, span, message)
                    .label(if found.is_empty() { "which is missing" } else { "this is one more" })
                    .note(format!("one of {}", list(&names))),
            );
        }
        let (name, key, value) = found.into_iter().next()?;
        self.enter(name, key, value.span());
        Some((name, value))
    }
}

/// Joins words as one writes them.
pub(super) fn list(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

/// Returns the name that is misspelt by at most a third of its letters.
pub(super) fn nearest<'a>(text: &str, names: &[&'a str]) -> Option<&'a str> {
    // The comparison takes time in proportion to the product of the lengths.
    if text.len() > 100 {
        return None;
    }
    names
        .iter()
        .map(|name| (strsim::damerau_levenshtein(text, name), *name))
        .filter(|(distance, name)| *distance <= name.chars().count().max(3) / 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Walks over a section's keys and takes what the table has.
struct Walk<'r, 'a, 'i> {
    reader: &'r mut Reader,
    table: &'a DeTable<'i>,
    span: Range<usize>,
    known: Vec<&'static str>,
}

impl<'a, 'i> Walk<'_, 'a, 'i> {
    fn find(&mut self, name: &'static str) -> Option<&'a Input<'i>> {
        self.known.push(name);
        let (key, value) = self.table.get_key_value(name)?;
        self.reader.enter(name, key.span(), value.span());
        Some(value)
    }

    fn given(&self, names: &[&'static str]) -> Vec<(&'static str, Range<usize>)> {
        names
            .iter()
            .filter_map(|name| Some((*name, self.table.get_key_value(*name)?.0.span())))
            .collect()
    }
}

impl Keys for Walk<'_, '_, '_> {
    fn key<T: Value>(&mut self, key: Key, field: &mut T) -> bool {
        let Some(value) = self.find(key.name) else {
            if key.is_required {
                let place = self.reader.table_name();
                let message = format!("{place} lacks the key `{}`", key.name);
                self.reader.report(
                    ScenarioError::new(Code::MissingKey, self.span.clone(), message)
                        .label(format!("`{}` is missing here", key.name))
                        .note(key.doc),
                );
            }
            return false;
        };
        if let Some(value) = T::read(value, self.reader) {
            *field = value;
        }
        self.reader.leave();
        true
    }

    fn optional<T: Value>(&mut self, key: Key, field: &mut Option<T>) -> bool {
        let Some(value) = self.find(key.name) else {
            *field = None;
            return false;
        };
        *field = T::read(value, self.reader);
        self.reader.leave();
        true
    }

    fn list<S: Section>(&mut self, key: Key, field: &mut Vec<S>, template: impl Fn(usize) -> S) {
        field.clear();
        let Some(value) = self.find(key.name) else { return };
        match value.get_ref().as_array() {
            Some(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.reader.enter(&(index + 1).to_string(), item.span(), item.span());
                    let mut section = template(index);
                    if self.reader.table(item, &mut section).is_some() {
                        field.push(section);
                    }
                    self.reader.leave();
                }
            }
            None => {
                self.reader.wrong_type::<()>(value, "a list of tables");
            }
        }
        self.reader.leave();
    }

    fn exactly_one(&mut self, names: &[&'static str]) {
        let given = self.given(names);
        if given.len() == 1 {
            return;
        }
        let place = self.reader.table_name();
        let message = format!("{place} needs exactly one of {}", list(names));
        let (span, label) = match given.get(1) {
            Some((_, span)) => (span.clone(), "this is one more"),
            None => (self.span.clone(), "one is missing here"),
        };
        let mut error = ScenarioError::new(Code::KeysConflict, span, message).label(label);
        if let [(_, first), _, ..] = given.as_slice() {
            error = error.context(first.clone(), "this is one");
        }
        self.reader.report(error);
    }

    fn together(&mut self, names: &[&'static str]) {
        let given = self.given(names);
        if let Some((name, span)) = given.first().filter(|_| given.len() < names.len()) {
            let others: Vec<&str> = names.iter().copied().filter(|other| other != name).collect();
            let message = format!("`{name}` belongs together with {}", list(&others));
            self.reader.report(
                ScenarioError::new(Code::KeysConflict, span.clone(), message)
                    .label(format!("without {}", list(&others))),
            );
        }
    }
}
