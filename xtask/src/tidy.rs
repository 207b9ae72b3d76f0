//! House rules that no compiler checks.
//!
//! A rule is one function over the tree that returns complaints, and one entry in
//! [`RULES`]. Nothing here looks at meaning: what clippy or rustdoc can say is theirs.

mod arrows;
mod dependencies;
mod text;
mod tree;

use anyhow::{Result, ensure};
use tree::Tree;

/// A rule: its name and what it finds, one complaint an entry.
type Rule = (&'static str, fn(&Tree) -> Vec<String>);

const RULES: &[Rule] = &[
    ("arrows", arrows::between_crates),
    ("homes", arrows::homes_of_packages),
    ("lints", arrows::workspace_lints),
    ("adr", dependencies::justified),
    ("used", dependencies::used),
    ("licences", dependencies::licensed),
    ("bans", dependencies::banned),
    ("length", text::length),
    ("columns", text::columns),
    ("unfinished", text::unfinished),
    ("paths", text::machine_paths),
    ("reasons", text::reasons),
    ("crate-docs", text::crate_docs),
    ("links", text::links),
];

/// Runs `cargo xtask tidy`.
pub(crate) fn run(_: &[String]) -> Result<()> {
    check()
}

/// Checks every rule and prints every complaint.
pub(crate) fn check() -> Result<()> {
    let tree = Tree::read(crate::shell::root())?;
    for note in text::long_files(&tree) {
        println!("note: {note}");
    }
    let mut complaints = 0;
    for (name, rule) in RULES {
        for complaint in rule(&tree) {
            println!("{name}: {complaint}");
            complaints += 1;
        }
    }
    ensure!(complaints == 0, "tidy has {complaints} complaints");
    println!(
        "{} files, {} packages, {} rules: tidy",
        tree.files.len(),
        tree.packages.len(),
        RULES.len()
    );
    Ok(())
}
