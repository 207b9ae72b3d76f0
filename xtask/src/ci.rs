//! `cargo xtask ci`: every stage, a table of what each took, and a last line to read.
//!
//! A failing stage does not stop the later ones, so that one run shows everything. A stage
//! is skipped only where the machine lacks a program or the processor it needs, and says so.

use crate::shell::{cargo, must, root};
use crate::{browser, differential, gallery, instructions, real, scenarios, tables, tidy};
use anyhow::{Result, bail, ensure};
use std::time::{Duration, Instant};

/// How a stage that did not fail ended.
pub(crate) enum Outcome {
    /// Everything it looked at was in order.
    Passed,
    /// It could not look, for this reason.
    Skipped(String),
}

type Stage = (&'static str, fn() -> Result<Outcome>);

const STAGES: &[Stage] = &[
    ("fmt", || passes("fmt --all --check")),
    ("tidy", || tidy::check().map(|()| Outcome::Passed)),
    ("clippy", || passes("clippy --workspace --all-targets -- -D warnings")),
    ("test", || passes("test --workspace")),
    ("doc", doc),
    ("features", features),
    ("scenarios", || scenarios::check().map(|()| Outcome::Passed)),
    ("tables", || tables::check().map(|()| Outcome::Passed)),
    ("gallery", || gallery::check().map(|()| Outcome::Passed)),
    ("browser", browser::check),
    ("instructions", instructions::check),
    ("differential", differential::check),
    ("real", real::check),
];

/// Runs the stages that the arguments leave.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let mut rows = Vec::new();
    for (name, stage) in chosen(arguments)? {
        println!("\n== {name}");
        let started = Instant::now();
        let result = stage();
        if let Err(error) = &result {
            println!("{error:#}");
        }
        rows.push((name, started.elapsed(), result));
    }
    println!("\n{:<14}{:>9}  result", "stage", "time");
    for (name, took, result) in &rows {
        println!("{name:<14}{:>9}  {}", seconds(*took), described(result));
    }
    let failed = rows.iter().filter(|(_, _, result)| result.is_err()).count();
    let passed = rows.iter().filter(|(_, _, result)| matches!(result, Ok(Outcome::Passed))).count();
    println!("{passed} passed, {failed} failed");
    ensure!(failed == 0, "CI failed");
    Ok(())
}

fn chosen(arguments: &[String]) -> Result<Vec<Stage>> {
    let mut left = STAGES.to_vec();
    for pair in arguments.chunks(2) {
        let [flag, name] = pair else { bail!("{} needs the name of a stage", pair[0]) };
        if !STAGES.iter().any(|(stage, _)| stage == name) {
            let names: Vec<_> = STAGES.iter().map(|(stage, _)| *stage).collect();
            bail!("no stage {name}; the stages are {}", names.join(", "));
        }
        match flag.as_str() {
            "--without" => left.retain(|(stage, _)| stage != name),
            "--only" => left.retain(|(stage, _)| stage == name),
            _ => bail!("unknown argument {flag}; there are --without STAGE and --only STAGE"),
        }
    }
    Ok(left)
}

fn described(result: &Result<Outcome>) -> String {
    match result {
        Ok(Outcome::Passed) => "passed".to_owned(),
        Ok(Outcome::Skipped(reason)) => format!("SKIPPED: {reason}"),
        Err(error) => format!("FAILED: {}", error.to_string().lines().next().unwrap_or_default()),
    }
}

/// Writes a duration as seconds with one decimal place.
fn seconds(duration: Duration) -> String {
    let tenths = duration.as_millis() / 100;
    format!("{}.{} s", tenths / 10, tenths % 10)
}

fn passes(arguments: &str) -> Result<Outcome> {
    must(&mut cargo(arguments))?;
    Ok(Outcome::Passed)
}

fn doc() -> Result<Outcome> {
    must(cargo("doc --workspace --no-deps").env("RUSTDOCFLAGS", "-Dwarnings"))?;
    Ok(Outcome::Passed)
}

/// Checks that what is optional can be left out.
fn features() -> Result<Outcome> {
    for (folder, feature) in [("report", "plotters"), ("redis", "lua")] {
        let manifest = root().join("crates").join(folder).join("Cargo.toml");
        let text = std::fs::read_to_string(&manifest)?;
        let declared = text.parse::<toml::Table>()?;
        if declared.get("features").and_then(|features| features.get(feature)).is_some() {
            must(&mut cargo(&format!("check -p fencepost-{folder} --no-default-features")))?;
        }
    }
    Ok(Outcome::Passed)
}
