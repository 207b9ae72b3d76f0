//! The tables of scenarios in README.md and docs/scenarios.md, written from the scenarios.
//!
//! A table says what a scenario's `[expect]` says; the stage `scenarios` proves that to be
//! what happens.

use crate::scenarios;
use crate::shell::root;
use anyhow::{Context, Result, bail, ensure};
use std::fmt::Write as _;
use toml::{Table, Value};

/// The scenarios that README.md shows: each known failure beside its remedy.
const RECORD: &[&str] = &[
    "setnx-expire-crash",
    "plain-del-after-pause",
    "fixed-value-release",
    "get-then-del-race",
    "compare-and-delete",
    "work-outlives-ttl",
    "watchdog",
    "zombie-writer",
    "zombie-writer-watchdog",
    "zombie-writer-fenced",
    "fence-reads-too",
    "late-write-in-flight",
    "partition-holder",
    "failover-loses-the-lock",
    "failover-wait",
    "failover-wait-elsewhere",
    "failover-token-twice",
    "sentinel-old-master-returns",
    "redlock-restart",
    "redlock-delayed-restart",
    "redlock-clock-step",
    "redlock-pause-after-check",
    "script-plain-del",
];

const START: &str = "<!-- scenarios: written by cargo xtask tables -->\n";
const END: &str = "<!-- end of scenarios -->\n";

/// Writes the tables.
pub(crate) fn run(_: &[String]) -> Result<()> {
    for (path, text) in written()? {
        std::fs::write(root().join(path), text)?;
    }
    Ok(())
}

/// Checks that the tables are current.
pub(crate) fn check() -> Result<()> {
    for (path, text) in written()? {
        let now = std::fs::read_to_string(root().join(path))?;
        ensure!(now == text, "{path} is not current; run `cargo xtask tables`");
    }
    Ok(())
}

/// Returns each paper with a table, and the text that it should have.
fn written() -> Result<Vec<(&'static str, String)>> {
    let all = scenarios::names()?;
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let mut papers = Vec::new();
    for (path, folder, names) in
        [("README.md", "scenarios", RECORD), ("docs/scenarios.md", "../scenarios", &all[..])]
    {
        let text = std::fs::read_to_string(root().join(path)).context(path)?;
        papers.push((path, replaced(&text, &table(names, folder)?).context(path)?));
    }
    Ok(papers)
}

/// Puts a table between the marks of a paper.
fn replaced(text: &str, table: &str) -> Result<String> {
    let (before, rest) = text.split_once(START).context("no mark where the table starts")?;
    let (_, after) = rest.split_once(END).context("no mark where the table ends")?;
    Ok(format!("{before}{START}{table}{END}{after}"))
}

fn table(names: &[&str], folder: &str) -> Result<String> {
    let mut table = "| scenario | what happens | verdict |\n| --- | --- | --- |\n".to_owned();
    for name in names {
        let text = std::fs::read_to_string(root().join(format!("scenarios/{name}.toml")))
            .with_context(|| format!("scenarios/{name}.toml"))?;
        let scenario: Table = text.parse().with_context(|| format!("scenarios/{name}.toml"))?;
        let title = scenario.get("title").and_then(Value::as_str).context("no title")?;
        let verdict = verdict(&scenario).with_context(|| format!("scenarios/{name}.toml"))?;
        writeln!(table, "| [{name}]({folder}/{name}.toml) | {title} | {verdict} |")?;
    }
    Ok(table)
}

/// Says what a scenario expects, in the words of a verdict.
fn verdict(scenario: &Table) -> Result<String> {
    let Some(expect) = scenario.get("expect").and_then(Value::as_table) else {
        bail!("a shipped scenario has an [expect]");
    };
    let kinds = |key: &str| {
        let list = expect.get(key).and_then(Value::as_array).into_iter().flatten();
        list.filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
    };
    let (violations, absent, notes) = (kinds("violations"), kinds("absent"), kinds("notes"));
    let mut parts = match violations.as_str() {
        "" => vec!["clean".to_owned()],
        kinds => vec![format!("**violated**: {kinds}")],
    };
    if !absent.is_empty() {
        parts.push(format!("no {absent}"));
    }
    if !notes.is_empty() {
        parts.push(format!("noted: {notes}"));
    }
    if let Some(saves) = expect.get("saves").and_then(Value::as_integer).filter(|saves| *saves > 0)
    {
        parts.push(format!("{saves} refused by the fence"));
    }
    if let Some(takeover) = expect.get("takeover") {
        let bound = |key: &str| takeover.get(key).and_then(Value::as_str).unwrap_or("0 s");
        parts.push(format!("takeover {} to {}", bound("min"), bound("max")));
    }
    Ok(parts.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expectation_is_said_in_words() {
        let said = |expect: &str| verdict(&expect.parse().unwrap()).unwrap();
        assert_eq!(said("[expect]\nviolations = []"), "clean");
        assert_eq!(
            said("[expect]\nviolations = [\"a\", \"b\"]\nabsent = [\"c\"]\nsaves = 1"),
            "**violated**: a, b; no c; 1 refused by the fence"
        );
        assert_eq!(
            said("[expect]\nviolations = []\ntakeover = { min = \"25s\", max = \"26s\" }"),
            "clean; takeover 25s to 26s"
        );
    }

    #[test]
    fn only_the_table_changes() {
        let text = format!("a\n{START}old\n{END}b\n");
        assert_eq!(replaced(&text, "new\n").unwrap(), format!("a\n{START}new\n{END}b\n"));
        assert!(replaced("a", "new\n").is_err());
    }
}
