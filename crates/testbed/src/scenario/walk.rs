//! Reads tables: walks over a section's list of keys beside what the file has.

use std::borrow::Cow;
use std::ops::Range;

use toml::Spanned;
use toml::de::DeTable;

use super::error::{Code, ScenarioError};
use super::reader::{Reader, list, nearest};
use super::section::{Key, Keys, Section};
use super::value::{Input, Value};

impl Reader {
    /// Reads a table into a section that holds its defaults.
    pub(super) fn table<S: Section>(&mut self, input: &Input<'_>, section: &mut S) -> Option<()> {
        let Some(table) = input.get_ref().as_table() else {
            return self.wrong_type(input, "a table");
        };
        self.table_at(table, input.span(), section);
        Some(())
    }

    pub(super) fn table_at<S: Section>(
        &mut self,
        table: &DeTable<'_>,
        span: Range<usize>,
        section: &mut S,
    ) {
        let mut walk = Walk {
            reader: self,
            table,
            span: span.clone(),
            known: Vec::new(),
            missing: Vec::new(),
        };
        section.keys(&mut walk);
        let Walk { known, mut missing, .. } = walk;
        for (key, _) in table {
            if !known.contains(&key.get_ref().as_ref()) {
                let near = self.unknown_key(key, &known, &span);
                missing.retain(|key| Some(key.name) != near);
            }
        }
        for key in missing {
            let place = self.table_name();
            let message = format!("{place} lacks the key `{}`", key.name);
            self.report(
                ScenarioError::new(Code::MissingKey, span.clone(), message)
                    .label(format!("`{}` is missing here", key.name))
                    .note(key.doc),
            );
        }
    }

    /// Reports a key that a table does not have; returns the one that was probably meant.
    fn unknown_key(
        &mut self,
        key: &Spanned<Cow<'_, str>>,
        known: &[&'static str],
        table: &Range<usize>,
    ) -> Option<&'static str> {
        if self.is_full() {
            return None;
        }
        let (place, name) = (self.table_name(), key.get_ref());
        let message = format!("unknown key `{name}` in {place}");
        let mut error = ScenarioError::new(Code::UnknownKey, key.span(), message)
            .label(format!("not a key of {place}"))
            .note(format!("its keys are {}", list(known)));
        if !self.path.is_empty() {
            error = error.context(table.clone(), "in this table");
        }
        let near = nearest(name, known);
        if let Some(near) = near {
            error =
                error.help(format!("did you mean `{near}`?")).replace(key.span(), near.to_owned());
        }
        self.report(error);
        near
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
        let names: Vec<&'static str> = kinds.iter().map(|(name, _)| *name).collect();
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

/// Walks over a section's keys and takes what the table has.
struct Walk<'r, 'a, 'i> {
    reader: &'r mut Reader,
    table: &'a DeTable<'i>,
    span: Range<usize>,
    known: Vec<&'static str>,
    missing: Vec<Key>,
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
                self.missing.push(key);
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
