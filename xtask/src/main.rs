//! The chores of this repository, run as `cargo xtask NAME`.
//!
//! `cargo xtask ci` is the whole CI and runs on a laptop. A chore is one file with one
//! `run` function, and one entry in [`CHORES`].

#![expect(clippy::print_stdout, reason = "chores talk to the person who runs them")]
#![expect(clippy::print_stderr, reason = "chores talk to the person who runs them")]

mod browser;
mod ci;
mod conformance;
mod differential;
mod gallery;
mod instructions;
mod interrupt;
mod real;
mod scenarios;
mod servers;
mod shell;
mod tables;
mod tidy;

use std::process::ExitCode;

/// A chore: its name, its one-line help, and what it does with its arguments.
type Chore = (&'static str, &'static str, fn(&[String]) -> anyhow::Result<()>);

/// Every chore, in the order of the help.
const CHORES: &[Chore] = &[
    ("ci", "every check of this repository [--without STAGE] [--only STAGE]", ci::run),
    ("tidy", "house rules that no compiler checks", tidy::run),
    ("scenarios", "each scenario as expected, and twice with equal bytes", scenarios::run),
    ("tables", "rewrite the tables of scenarios in the papers", tables::run),
    ("gallery", "rebuild reports/gallery, or DIR [DIR]", gallery::run),
    ("browser", "open the gallery's pages in headless chromium", browser::run),
    (
        "differential",
        "the engine against a real server [--sequences N] [--minutes N] [--seed N] [--server P]",
        differential::run,
    ),
    (
        "real",
        "the corpus and a failover on real servers [--server PROGRAM] [--file NAME] [--only PART]",
        real::run,
    ),
    (
        "instructions",
        "instructions a run against the committed budget [--bless]",
        instructions::run,
    ),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let asked = arguments.first().map_or("", String::as_str);
    let Some((_, _, run)) = CHORES.iter().find(|(name, _, _)| *name == asked) else {
        eprintln!("usage: cargo xtask CHORE\n");
        for (name, about, _) in CHORES {
            eprintln!("  {name:<14}{about}");
        }
        return ExitCode::from(2);
    };
    match run(&arguments[1..]) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
