//! Writes a scenario out, whole, so that it reads back the same.

use std::fmt::Write as _;

use toml::{Table, Value as Toml};

use super::Scenario;
use super::section::{Key, Keys, Section};
use super::value::Value;

impl Scenario {
    /// Writes the scenario as TOML, with every default filled in.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        section(&mut text, "", &table(self));
        text
    }
}

/// Writes a section as a table.
pub(super) fn table<S: Section + Clone>(section: &S) -> Table {
    let mut tables = Tables(Table::new());
    section.clone().keys(&mut tables);
    tables.0
}

struct Tables(Table);

impl Keys for Tables {
    fn key<T: Value>(&mut self, key: Key, field: &mut T) -> bool {
        if let Some(value) = field.write() {
            self.0.insert(key.name.to_owned(), value);
        }
        false
    }

    fn optional<T: Value>(&mut self, key: Key, field: &mut Option<T>) -> bool {
        if let Some(value) = field.as_ref().and_then(Value::write) {
            self.0.insert(key.name.to_owned(), value);
        }
        false
    }

    fn list<S: Section>(&mut self, key: Key, field: &mut Vec<S>, template: impl Fn(usize) -> S) {
        let mut items = Vec::new();
        for (index, section) in field.iter_mut().enumerate() {
            let (mut given, mut usual) = (Tables(Table::new()), Tables(Table::new()));
            section.keys(&mut given);
            template(index).keys(&mut usual);
            let Tables(mut table) = given;
            let is_shown = |name: &str| matches!(name, "name" | "start");
            table.retain(|name, value| is_shown(name) || usual.0.get(name) != Some(value));
            items.push(Toml::Table(table));
        }
        if !items.is_empty() {
            self.0.insert(key.name.to_owned(), Toml::Array(items));
        }
    }

    fn exactly_one(&mut self, _: &[&'static str]) {}

    fn together(&mut self, _: &[&'static str]) {}
}

/// Tables that stand in a line of their own; the others stand inside their line.
const SECTIONS: &[&str] =
    &["store", "lock", "workload", "workload.resource", "network", "hazard", "expect", "replay"];
/// Lists of tables that stand in lines of their own.
const LISTS: &[&str] = &["workload.client", "network.link", "clock", "fault"];

fn section(text: &mut String, path: &str, table: &Table) {
    let inner = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    let is_apart = |key: &str| {
        let path = inner(key);
        SECTIONS.contains(&path.as_str()) || LISTS.contains(&path.as_str())
    };
    for (key, value) in table {
        if !is_apart(key) {
            line(text, key, value);
        }
    }
    for (key, value) in table {
        let path = inner(key);
        match value {
            Toml::Table(table) if is_apart(key) => {
                let _ = writeln!(text, "\n[{path}]");
                section(text, &path, table);
            }
            Toml::Array(items) if is_apart(key) => {
                for item in items.iter().filter_map(Toml::as_table) {
                    let _ = writeln!(text, "\n[[{path}]]");
                    section(text, &path, item);
                }
            }
            Toml::String(_)
            | Toml::Integer(_)
            | Toml::Float(_)
            | Toml::Boolean(_)
            | Toml::Datetime(_)
            | Toml::Array(_)
            | Toml::Table(_) => {}
        }
    }
}

fn line(text: &mut String, key: &str, value: &Toml) {
    let _ = writeln!(text, "{key} = {value}");
}
