//! Reads single values and keeps the mistakes.

use std::collections::BTreeSet;
use std::ops::Range;

use toml::de::DeValue;

use super::error::{Code, ScenarioError};
use super::limits;
use super::read::{Place, Places};
use super::units::{self, BadLength};
use super::value::Input;

/// What has been read so far, and what was wrong with it.
#[derive(Debug, Default)]
pub(super) struct Reader {
    pub(super) path: Vec<String>,
    pub(super) places: Places,
    pub(super) skipped: BTreeSet<String>,
    pub(super) errors: Vec<ScenarioError>,
}

impl Reader {
    /// Notes a mistake, unless there are so many that nobody reads them.
    pub(super) fn report(&mut self, error: ScenarioError) {
        if !self.is_full() {
            self.errors.push(error);
        }
    }

    /// Returns whether further mistakes are not noted.
    pub(super) fn is_full(&self) -> bool {
        self.errors.len() >= limits::MISTAKES
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
                || known.code == Code::WrongType && contains(&known.span, &error.span)
        });
        if !follows {
            self.report(error);
        }
    }

    /// Returns whether nothing is wrong with the value of a key, so that it can be judged.
    pub(super) fn is_sound(&self, path: &str) -> bool {
        let place = self.places.get(path);
        place.is_none_or(|place| {
            !self.errors.iter().any(|error| contains(&place.value, &error.span))
        })
    }

    /// Names the table at hand as the file writes it.
    pub(super) fn table_name(&self) -> String {
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
                let label = if max < u32::MAX.into() {
                    format!("between {min} and {max}")
                } else {
                    format!("at least {min}, and not so large")
                };
                self.report(ScenarioError::new(Code::BadValue, input.span(), message).label(label));
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
        self.find_word(input.span(), "", text, all, name)
    }

    /// Finds one of some words, which stands behind other text in its value.
    pub(super) fn find_word<T: Copy>(
        &mut self,
        span: Range<usize>,
        before: &str,
        text: &str,
        all: &[T],
        name: fn(T) -> &'static str,
    ) -> Option<T> {
        let found = all.iter().copied().find(|word| name(*word) == text);
        if found.is_none() {
            let names: Vec<&str> = all.iter().map(|word| name(*word)).collect();
            let message = format!("`{}` does not know the word `{text}`", self.key_name());
            let mut error = ScenarioError::new(Code::UnknownWord, span.clone(), message)
                .label("not one of its words")
                .note(format!("it knows {}", list(&names)));
            if let Some(near) = nearest(text, &names) {
                let right = format!("\"{before}{near}\"");
                error = error.help(format!("did you mean `{near}`?")).replace(span, right);
            }
            self.report(error);
        }
        found
    }
}

fn contains(outer: &Range<usize>, inner: &Range<usize>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
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
