//! `fencepost list TOPIC`: what scenarios can name, from the same lists that read them.

use std::fs;
use std::path::{Path, PathBuf};

use fencepost::report::{Line, Span, Tone};
use fencepost::scenario::Fault;
use fencepost::{CHECKERS, Kind, Moment, STRATEGIES};
use serde::Serialize;

use crate::arguments::{Format, List, Topic};
use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::source::Source;

/// One thing of a list.
#[derive(Debug, Serialize)]
struct Item {
    name: String,
    about: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    more: Option<String>,
}

/// Prints a list.
pub(crate) fn list(asked: &List, output: &mut Output) -> Result<Exit, Failure> {
    let items = match asked.topic {
        Topic::Strategies => STRATEGIES.iter().map(strategy).collect(),
        Topic::Faults => Fault::KINDS.iter().map(|(name, about)| item(name, about, None)).collect(),
        Topic::Moments => {
            Moment::ALL.iter().map(|one| item(one.name(), one.describe(), None)).collect()
        }
        Topic::Checkers => CHECKERS.iter().map(|one| kind(one.kind)).collect(),
        Topic::Scenarios => scenarios(&asked.folder)?,
    };
    match output.format {
        Format::Human => output.lines(&lines(&items, output.look.width))?,
        Format::Json => output.data(&items)?,
        Format::Jsonl => {
            for item in &items {
                output.data(item)?;
            }
        }
    }
    Ok(Exit::Fine)
}

fn item(name: &str, about: &str, more: Option<String>) -> Item {
    Item { name: name.to_owned(), about: about.to_owned(), more }
}

fn strategy(entry: &fencepost::locks::Entry) -> Item {
    item(entry.name, entry.summary, Some(entry.source.to_owned()))
}

fn kind(kind: Kind) -> Item {
    item(kind.name(), kind.definition(), kind.is_note().then(|| "a note, no violation".to_owned()))
}

/// Reads the titles of a folder's scenarios; a broken file is listed with the first mistake.
fn scenarios(folder: &Path) -> Result<Vec<Item>, Failure> {
    let mut items = Vec::new();
    for path in toml_files(folder)? {
        let source = Source::read(&path)?;
        let (about, more) = match source.parse(&[]) {
            Ok(parsed) => {
                let kinds = parsed.scenario.expect.as_ref().map(|expect| &expect.violations);
                let kinds = kinds.map(|kinds| match kinds.as_slice() {
                    [] => "no violation".to_owned(),
                    kinds => kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", "),
                });
                (parsed.scenario.title, kinds)
            }
            Err(errors) => (errors.first().map(ToString::to_string).unwrap_or_default(), None),
        };
        items.push(Item { name: source.name(), about, more });
    }
    Ok(items)
}

/// Returns the TOML files of a folder, by name.
pub(crate) fn toml_files(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let entries = fs::read_dir(folder).map_err(|error| Failure::reading(folder, &error))?;
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| Failure::reading(folder, &error))?.path();
        if path.extension().is_some_and(|extension| extension == "toml") && path.is_file() {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// The longest name that text stands beside; where names are longer it stands below.
const BESIDE: usize = 30;

fn lines(items: &[Item], width: usize) -> Vec<Line> {
    let longest = items.iter().map(|item| item.name.chars().count()).max().unwrap_or(0);
    let is_beside = longest <= BESIDE && width >= longest + 40;
    let indent = if is_beside { longest + 2 } else { 4 };
    let mut lines = Vec::new();
    for item in items {
        let mut name = vec![Span { text: item.name.clone(), tone: Tone::Strong }];
        let texts = [(Some(&item.about), Tone::Plain), (item.more.as_ref(), Tone::Muted)];
        let rows: Vec<(String, Tone)> = texts
            .into_iter()
            .filter_map(|(text, tone)| Some((text?, tone)))
            .flat_map(|(text, tone)| {
                wrap(text, width.saturating_sub(indent)).into_iter().map(move |row| (row, tone))
            })
            .collect();
        if !is_beside {
            lines.push(Line(std::mem::take(&mut name)));
        }
        for (row, tone) in rows {
            let used: usize = name.iter().map(|span| span.text.chars().count()).sum();
            let mut spans = std::mem::take(&mut name);
            spans.push(Span { text: " ".repeat(indent - used), tone: Tone::Plain });
            spans.push(Span { text: row, tone });
            lines.push(Line(spans));
        }
        if !name.is_empty() {
            lines.push(Line(name));
        }
    }
    lines
}

/// Breaks a text at blanks so that its rows fit.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut rows: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match rows.last_mut() {
            Some(row) if row.chars().count() + 1 + word.chars().count() <= width.max(20) => {
                row.push(' ');
                row.push_str(word);
            }
            _ => rows.push(word.to_owned()),
        }
    }
    rows
}
