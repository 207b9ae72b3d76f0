//! The exit codes, and what ends a command early.

use std::fmt;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;

/// How a command ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Finished, and what was expected came true.
    Fine,
    /// Finished; a violation was found, or an expected one was not.
    Violated,
    /// The command line or a file was wrong; nothing was run.
    Usage,
    /// There is no answer: a limit was hit.
    Inconclusive,
    /// A replay differs from what its file records.
    Differs,
    /// The tool has a bug.
    Bug,
    /// Something could not be written.
    Output,
}

/// What `--help` says about the codes.
pub(crate) const HELP: &str = "\
Exit codes:
  0    finished; what [expect] says came true (without [expect]: no violation)
  1    finished; a violation was found, or an expected one was not
  2    wrong command line or scenario; nothing was run
  3    no answer: a limit was hit
  4    a replay differs from what its file records
  70   a bug in the tool
  74   output could not be written
  130  interrupted";

impl Exit {
    /// Returns the number.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Fine => 0,
            Self::Violated => 1,
            Self::Usage => 2,
            Self::Inconclusive => 3,
            Self::Differs => 4,
            Self::Bug => 70,
            Self::Output => 74,
        }
    }

    /// Returns how serious it is, so that a command over many files can end with the worst.
    const fn rank(self) -> u8 {
        match self {
            Self::Fine => 0,
            Self::Inconclusive => 1,
            Self::Violated => 2,
            Self::Usage => 3,
            Self::Differs => 4,
            Self::Output => 5,
            Self::Bug => 6,
        }
    }

    /// Returns the more serious of two.
    pub(crate) fn worse(self, other: Self) -> Self {
        if other.rank() > self.rank() { other } else { self }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// What ends a command before it has a result.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line, or a file that it names, is of no use.
    Usage(String),
    /// Something could not be written.
    Output(String),
    /// The mistakes were told already.
    Told(Exit),
}

impl Failure {
    /// Says that a file or a folder could not be written.
    pub(crate) fn writing(path: &Path, error: &io::Error) -> Self {
        Self::Output(format!("cannot write {}: {}", path.display(), words(error)))
    }

    /// Says that a file or a folder could not be read.
    pub(crate) fn reading(path: &Path, error: &io::Error) -> Self {
        Self::Usage(format!("cannot read {}: {}", path.display(), words(error)))
    }

    /// Returns how a command ends that it stopped.
    pub(crate) const fn exit(&self) -> Exit {
        match self {
            Self::Usage(_) => Exit::Usage,
            Self::Output(_) => Exit::Output,
            Self::Told(exit) => *exit,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(text) | Self::Output(text) => f.write_str(text),
            Self::Told(_) => Ok(()),
        }
    }
}

/// Says what went wrong with a file, without the number that the system gives it.
fn words(error: &io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error") {
        Some((words, _)) => words.to_lowercase(),
        None => text,
    }
}

/// Shows a path as the user typed it, without parts that say nothing.
pub(crate) fn shown(path: &Path) -> String {
    let short: PathBuf = path.components().filter(|part| *part != Component::CurDir).collect();
    if short.as_os_str().is_empty() { ".".to_owned() } else { short.display().to_string() }
}
