//! Every scenario of `scenarios/`: as its `[expect]` says, and the same bytes twice.

use crate::shell::{build, must, output, program, root};
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};

/// Runs `cargo xtask scenarios`.
pub(crate) fn run(_: &[String]) -> Result<()> {
    check()
}

/// Builds the command line in release mode and returns where it lies.
pub(crate) fn command_line() -> Result<PathBuf> {
    build("build --release -p fencepost-cli")
}

/// Checks all scenarios.
pub(crate) fn check() -> Result<()> {
    let fencepost = command_line()?;
    must(program(&fencepost).args(["test", "scenarios"]))?;
    let elsewhere = tempfile::tempdir()?;
    let names = names()?;
    for name in &names {
        let file = PathBuf::from(format!("scenarios/{name}.toml"));
        let here = as_json(&fencepost, root(), &file, "C", "UTC")?;
        let file = root().join(file);
        let there = as_json(&fencepost, elsewhere.path(), &file, "tr_TR.UTF-8", "Asia/Kathmandu")?;
        ensure!(here == there, "{name}: two folders, locales and time zones, two outputs");
        ensure!(here.starts_with(b"{"), "{name}: --format json wrote no object");
    }
    println!("{} scenarios run twice with equal bytes", names.len());
    Ok(())
}

/// Lists the scenarios by name, sorted.
pub(crate) fn names() -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(root().join("scenarios")).context("cannot read scenarios/")? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let stem = path.file_stem().context("a scenario has a name")?;
            names.push(stem.to_string_lossy().into_owned());
        }
    }
    names.sort();
    ensure!(!names.is_empty(), "scenarios/ holds no scenario");
    Ok(names)
}

/// Runs one scenario; whether its verdict is the expected one was judged before.
fn as_json(exe: &Path, folder: &Path, file: &Path, locale: &str, zone: &str) -> Result<Vec<u8>> {
    let mut command = program(exe);
    command.arg("run").arg(file).args(["--format", "json", "--no-report"]).current_dir(folder);
    command.env("LC_ALL", locale).env("TZ", zone);
    Ok(output(&mut command)?.stdout)
}
