//! `fencepost show-config SCENARIO`: every value, and where it comes from.

use std::collections::BTreeMap;

use fencepost::scenario::Parsed;
use serde::Serialize;

use crate::arguments::{Format, ShowConfig};
use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::source::Source;

/// A line of the resolved scenario.
#[derive(Debug)]
enum Row<'a> {
    /// A key with its value.
    Value(Value<'a>),
    /// A heading, a blank line, or the rest of a text of several lines.
    Other(&'a str),
}

/// A key with its value, and where that comes from.
#[derive(Debug, Serialize)]
struct Value<'a> {
    key: String,
    value: &'a str,
    origin: String,
    #[serde(skip)]
    line: &'a str,
}

/// Prints a scenario whole.
pub(crate) fn show_config(asked: &ShowConfig, output: &mut Output) -> Result<Exit, Failure> {
    let source = Source::read(&asked.file)?;
    let parsed = source.parse_or_tell(output, &asked.settings.set)?;
    let resolved = parsed.scenario.to_toml();
    let rows = rows(&resolved, &source, &parsed);
    if output.format == Format::Human {
        let mut text = String::new();
        for row in &rows {
            match row {
                Row::Value(value) => {
                    text.push_str(&format!("{:<40}  # {}\n", value.line, value.origin));
                }
                Row::Other(line) => text.push_str(&format!("{line}\n")),
            }
        }
        output.text(&text)?;
        return Ok(Exit::Fine);
    }
    let values: Vec<&Value<'_>> = rows
        .iter()
        .filter_map(|row| match row {
            Row::Value(value) => Some(value),
            Row::Other(_) => None,
        })
        .collect();
    if output.format == Format::Json {
        output.data(&values)?;
    } else {
        for value in values {
            output.data(value)?;
        }
    }
    Ok(Exit::Fine)
}

fn rows<'a>(resolved: &'a str, source: &Source, parsed: &Parsed) -> Vec<Row<'a>> {
    let mut table = String::new();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut is_inside_text = false;
    let mut rows = Vec::new();
    for line in resolved.lines() {
        let opens = line.matches("\"\"\"").count() % 2 == 1;
        if is_inside_text {
            is_inside_text = !opens;
            rows.push(Row::Other(line));
            continue;
        }
        is_inside_text = opens;
        if let Some(list) = line.strip_prefix("[[").and_then(|line| line.strip_suffix("]]")) {
            let count = counts.entry(list).or_default();
            *count += 1;
            table = format!("{list}.{count}.");
        } else if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            table = format!("{name}.");
        } else if let Some((key, value)) = line.split_once(" = ").filter(|_| !opens) {
            let key = format!("{table}{key}");
            let origin = origin(&key, source, parsed);
            rows.push(Row::Value(Value { key, value, origin, line }));
            continue;
        }
        rows.push(Row::Other(line));
    }
    rows
}

/// Says where a value comes from.
fn origin(key: &str, source: &Source, parsed: &Parsed) -> String {
    let Some(place) = parsed.places.get(key) else { return "default".to_owned() };
    // The places of settings count on behind the end of the file.
    match source.text.get(..place.value.start) {
        Some(before) if place.value.start < source.text.len() => {
            format!("{}:{}", source.file_name(), before.matches('\n').count() + 1)
        }
        _ => "--set".to_owned(),
    }
}
