//! Running other programs from the root of the repository.

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

/// Where this repository lies: as cargo says now, since a binary that several checkouts share
/// may have been built in another one.
static ROOT: LazyLock<PathBuf> = LazyLock::new(|| {
    let package =
        std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or(env!("CARGO_MANIFEST_DIR").into());
    Path::new(&package).parent().expect("xtask lies in the root folder").to_owned()
});

/// Returns the root of the repository.
pub(crate) fn root() -> &'static Path {
    &ROOT
}

/// Prepares a program that runs at the root and reads nothing.
pub(crate) fn program(name: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(name);
    command.current_dir(root()).stdin(Stdio::null());
    command
}

/// Prepares cargo with these space-separated arguments.
pub(crate) fn cargo(arguments: &str) -> Command {
    let mut command = program(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments.split_whitespace());
    command
}

/// Runs a program with its output shown; anything but success is an error.
pub(crate) fn must(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start {command:?}"))?;
    if !status.success() {
        bail!("{} ended with {status}", shown(command));
    }
    Ok(())
}

/// Runs a program and captures what it writes; anything but success is an error.
pub(crate) fn output(command: &mut Command) -> Result<Output> {
    let output = command.output().with_context(|| format!("cannot start {command:?}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("{} ended with {}\n{}", shown(command), output.status, said.trim_end());
    }
    Ok(output)
}

/// Builds one executable with cargo and returns where it lies.
pub(crate) fn build(arguments: &str) -> Result<PathBuf> {
    let mut command = cargo(arguments);
    command.args(["--message-format", "json-render-diagnostics"]).stderr(Stdio::inherit());
    let built = output(&mut command)?;
    String::from_utf8(built.stdout)?
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter_map(|message| message["executable"].as_str().map(PathBuf::from))
        .next_back()
        .with_context(|| format!("cargo {arguments} built no executable"))
}

/// Says whether a program of this name lies on the search path.
pub(crate) fn has(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
}

fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
