//! The witness table: the least single faults that break each strategy.
//!
//! `witness/witness.csv` holds the least violating magnitudes in ticks, enumerated by an
//! independent integer-time model on the configurations of `witness/witness.toml`. Here the
//! simulator enumerates the same faults after the same events and must find the same numbers, and
//! nothing where the table has no row.

mod configuration;
mod enumerate;

use std::collections::BTreeMap;

use fencepost_check::Kind;

use configuration::Configuration;
use enumerate::{FaultKind, Span, least};

/// The least magnitudes of one strategy and fault; 0 for a fault without magnitude.
type Row = BTreeMap<Kind, u32>;

/// Reads the table: by strategy and fault.
fn table() -> BTreeMap<(String, String), Row> {
    let mut table: BTreeMap<(String, String), Row> = BTreeMap::new();
    for line in include_str!("witness/witness.csv").lines().skip(1) {
        // A description may hold a comma inside quotes; the other fields hold none.
        let (strategy, rest) = line.split_once(',').expect("a strategy");
        let rest = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once("\",").expect("a closing quote").1,
            None => rest.split_once(',').expect("a description").1,
        };
        let fields: Vec<&str> = rest.split(',').collect();
        let kind = Kind::from_name(fields[1]).expect("a kind that is checked");
        let magnitude = if fields[2] == "yes" { 0 } else { fields[2].parse().expect("ticks") };
        let row = table.entry((strategy.to_owned(), fields[0].to_owned())).or_default();
        row.insert(kind, magnitude);
    }
    // Where the simulator is finer than the model behind the table, its own numbers hold:
    // docs/adr/0004-witness-table.md has the schedules, checked by hand.
    for line in include_str!("witness/finer.csv").lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let kind = Kind::from_name(fields[2]).expect("a kind that is checked");
        let row = table.get_mut(&(fields[0].to_owned(), fields[1].to_owned()));
        let cell = row.and_then(|row| row.get_mut(&kind)).expect("a cell of the table");
        assert_eq!(*cell, fields[3].parse::<u32>().expect("ticks"), "{line}");
        *cell = fields[4].parse().expect("ticks");
    }
    table
}

/// Compares all faults of the strategies; returns how many cells are equal, and the differences.
fn compare(names: &[&str], span: Span) -> (usize, usize, Vec<String>) {
    let table = table();
    let (mut equal, mut silent, mut different) = (0, 0, Vec::new());
    for name in names {
        let configuration = Configuration::read(name);
        for fault in FaultKind::ALL {
            let expected = table.get(&((*name).to_owned(), fault.name().to_owned()));
            let expected = expected.cloned().unwrap_or_default();
            let found = least(name, &configuration, *fault, span, &expected);
            for kind in enumerate::JUDGED {
                match (expected.get(kind), found.get(kind)) {
                    (None, None) => silent += 1,
                    (one, other) if one == other => equal += 1,
                    (one, other) => different.push(format!(
                        "{name} {} {}: the table has {one:?}, the simulator {other:?}",
                        fault.name(),
                        kind.name()
                    )),
                }
            }
        }
    }
    (equal, silent, different)
}

const SINGLE_NODE: &[&str] =
    &["S0", "S1", "S2", "S2r", "S3", "S4", "S4t", "S4v", "S5", "S5u", "S5h", "S6n", "S6", "S14"];

const REDLOCK: &[&str] = &["S8", "S8d", "S9"];

#[test]
#[expect(clippy::print_stdout, reason = "the counts are what people want to quote")]
fn least_magnitudes_of_redlock_equal_the_table() {
    let (equal, silent, different) = compare(REDLOCK, Span::from_environment());
    println!("witness: {equal} cells equal, {silent} silent");
    assert!(different.is_empty(), "{}", different.join("\n"));
    assert!(equal > 50, "only {equal} cells were compared");
}

#[test]
#[expect(clippy::print_stdout, reason = "the counts are what people want to quote")]
fn least_magnitudes_of_single_node_strategies_equal_the_table() {
    let (equal, silent, different) = compare(SINGLE_NODE, Span::from_environment());
    println!("witness: {equal} cells equal, {silent} silent");
    assert!(different.is_empty(), "{}", different.join("\n"));
    assert!(equal > 100, "only {equal} cells were compared");
}

const REPLICATED: &[&str] = &["S7", "S7w", "S7f", "S13", "S13w"];

#[test]
#[expect(clippy::print_stdout, reason = "the counts are what people want to quote")]
fn least_magnitudes_of_replicated_strategies_equal_the_table() {
    let (equal, silent, different) = compare(REPLICATED, Span::from_environment());
    println!("witness, replicated: {equal} cells equal, {silent} silent");
    assert!(different.is_empty(), "{}", different.join("\n"));
    assert!(equal > 70, "only {equal} cells were compared");
}
