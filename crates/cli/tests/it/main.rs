//! The binary as people and programs use it: streams, exit codes, files.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![expect(clippy::too_many_lines, reason = "a snapshot is as long as what it shows")]

mod codes;
mod look;
mod machines;
mod mistakes;
mod reports;
mod samples;

use std::fs;
use std::path::Path;

use snapbox::cmd::Command;
use tempfile::TempDir;

/// The scenarios of these tests.
const FILES: &[(&str, &str)] = &[
    ("zombie.toml", include_str!("files/zombie.toml")),
    ("quiet.toml", include_str!("files/quiet.toml")),
    ("never.toml", include_str!("files/never.toml")),
    ("hazard.toml", include_str!("files/hazard.toml")),
    ("broken.toml", include_str!("files/broken.toml")),
];

/// Makes a folder with all scenarios.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in FILES {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

/// Makes a command that runs in a folder, in an environment that says nothing.
fn fencepost(folder: &Path, line: &str) -> Command {
    let mut command = Command::new(snapbox::cmd::cargo_bin!("fencepost")).current_dir(folder);
    for name in [
        "CLICOLOR_FORCE",
        "COLUMNS",
        "FENCEPOST_COLOR",
        "FENCEPOST_OUT",
        "FORCE_COLOR",
        "NO_COLOR",
        "TERM",
    ] {
        command = command.env_remove(name);
    }
    command.args(line.split(' ').filter(|word| !word.is_empty()))
}

/// Returns what a command writes to standard output.
fn said(command: Command) -> String {
    String::from_utf8(command.assert().get_output().stdout.clone()).unwrap()
}

/// Returns the names of all files below a folder that are no scenarios of these tests.
fn made(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(place) = folders.pop() {
        for entry in fs::read_dir(place).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(folder).unwrap().display().to_string();
            if path.is_dir() {
                folders.push(path);
            } else if !FILES.iter().any(|(file, _)| *file == name) {
                names.push(name.replace('\\', "/"));
            }
        }
    }
    names.sort();
    names
}
