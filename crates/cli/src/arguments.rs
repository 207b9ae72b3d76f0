//! The command line.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Args, Command as Parser, CommandFactory, Subcommand, ValueEnum};

use fencepost::LEAST_RUNS;

use crate::exit;
use crate::seed::Seed;
use crate::terminal::Colour;

/// Simulates distributed locks, and shows how they break.
///
/// A scenario says who locks what and how, and what goes wrong. It is run in virtual time: the
/// same file and seed give the same bytes everywhere. `fencepost SCENARIO` is short for
/// `fencepost run SCENARIO`.
#[derive(Debug, clap::Parser)]
#[command(name = "fencepost", version, after_long_help = exit::HELP, max_term_width = 100)]
#[command(override_usage = "fencepost [OPTIONS] SCENARIO\n       fencepost [OPTIONS] COMMAND")]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct CommandLine {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) presentation: Presentation,
}

/// How results are shown; nothing here changes them.
#[derive(Debug, Args)]
#[command(next_help_heading = "Presentation")]
pub(crate) struct Presentation {
    /// What results on standard output look like.
    #[arg(long, global = true, value_name = "FORMAT", default_value = "human")]
    pub(crate) format: Format,
    /// Print nothing on success.
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// When to use colours.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Colour,
    /// Use ASCII symbols only.
    #[arg(long, global = true)]
    pub(crate) ascii: bool,
}

/// What results look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    Human,
    /// One JSON document.
    Json,
    /// A line of JSON for each thing, written as it happens.
    Jsonl,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a scenario once, or with random schedules until one breaks the lock.
    #[command(after_long_help = "Example: fencepost run scenarios/zombie-writer.toml")]
    Run(Run),
    /// Show a scenario's or a counterexample's run again, and compare it with the recorded one.
    #[command(after_long_help = "Example: fencepost replay scenarios/zombie-writer.toml")]
    Replay(Replay),
    /// Run all scenarios and counterexamples of folders, and compare each with its [expect].
    #[command(after_long_help = "Example: fencepost test scenarios")]
    Test(Test),
    /// List what scenarios can name.
    #[command(after_long_help = "Example: fencepost list strategies")]
    List(List),
    /// Print a scenario with every default filled in, and where each value comes from.
    #[command(
        after_long_help = "Example: fencepost show-config scenarios/watchdog.toml --set lock.ttl=9s"
    )]
    ShowConfig(ShowConfig),
    /// Explain a kind of violation, a verdict, or the code of an error.
    #[command(after_long_help = "Example: fencepost explain stale-write")]
    Explain(Explain),
    /// Print the JSON Schema of scenario files, for editors.
    #[command(after_long_help = "Example: fencepost schema > schemas/scenario.schema.json")]
    Schema,
    /// Fail as a bug would, to see what that looks like.
    #[command(hide = true)]
    Bug,
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// The scenario's TOML file.
    #[arg(value_name = "SCENARIO")]
    pub(crate) file: PathBuf,
    /// Run this many random schedules (30 at least), and stop at the first violation.
    #[arg(long, value_name = "N", value_parser = runs)]
    pub(crate) runs: Option<u64>,
    /// What random draws start from: a number, 0x…, a commit hash, or `random`.
    #[arg(long, value_name = "SEED", default_value_t)]
    pub(crate) seed: Seed,
    #[command(flatten)]
    pub(crate) settings: Settings,
    #[command(flatten)]
    pub(crate) report: Report,
}

#[derive(Debug, Args)]
pub(crate) struct Replay {
    /// The scenario or the counterexample.
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) report: Report,
}

/// Values that take the place of the file's.
#[derive(Debug, Args)]
pub(crate) struct Settings {
    /// Set a value of the scenario, such as lock.ttl=10s; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
}

/// Whether and where a report is written.
#[derive(Debug, Args)]
pub(crate) struct Report {
    /// Where the report goes, instead of reports/NAME.
    #[arg(short, long = "output", value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Write no report; a counterexample that --runs finds is stored all the same.
    #[arg(long)]
    pub(crate) no_report: bool,
    /// Write over files that are no part of an earlier report of this scenario.
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Test {
    /// Scenarios and counterexamples, or folders of them.
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct List {
    /// What to list.
    pub(crate) topic: Topic,
    /// The folder whose scenarios are listed.
    #[arg(value_name = "DIR", default_value = "scenarios")]
    pub(crate) folder: PathBuf,
}

/// What can be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Topic {
    /// How locks are taken: `lock.strategy`.
    Strategies,
    /// What can go wrong: `[[fault]]`.
    Faults,
    /// When it can go wrong: `when` of a fault, and `sometimes`.
    Moments,
    /// What can be found: `violations` and `notes` of `[expect]`.
    Checkers,
    /// The scenarios of a folder.
    Scenarios,
}

#[derive(Debug, Args)]
pub(crate) struct ShowConfig {
    /// The scenario's TOML file.
    #[arg(value_name = "SCENARIO")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) settings: Settings,
}

#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// A kind (stale-write), a verdict (none-found), or a code (E0103).
    #[arg(value_name = "WORD")]
    pub(crate) word: String,
}

/// Reads a number of runs.
fn runs(text: &str) -> Result<u64, String> {
    let runs = text.parse::<u64>().map_err(|_| "this is no number of runs".to_owned())?;
    if runs < LEAST_RUNS {
        return Err(format!("so few say nothing; {LEAST_RUNS} runs are the least"));
    }
    Ok(runs)
}

/// Reads the command line, or says why it cannot be read.
pub(crate) fn parse(arguments: Vec<OsString>) -> Result<CommandLine, clap::Error> {
    let parser = CommandLine::command().color(choice(&arguments));
    let arguments = with_verb(&parser, arguments);
    let matches = parser.try_get_matches_from(arguments)?;
    <CommandLine as clap::FromArgMatches>::from_arg_matches(&matches)
}

/// Looks ahead for `--color`, which also holds for the parser's own messages.
fn choice(arguments: &[OsString]) -> clap::ColorChoice {
    let words: Vec<_> = arguments.iter().map(|word| word.to_string_lossy()).collect();
    let said =
        words.iter().enumerate().find_map(|(place, word)| match word.strip_prefix("--color") {
            Some("") => words.get(place + 1).map(|word| word.to_string()),
            Some(rest) => rest.strip_prefix('=').map(str::to_owned),
            None => None,
        });
    match said.as_deref() {
        Some("always") => clap::ColorChoice::Always,
        Some("never") => clap::ColorChoice::Never,
        _ => clap::ColorChoice::Auto,
    }
}

/// Puts the verb `run` in, where the first word is a file.
fn with_verb(parser: &Parser, mut arguments: Vec<OsString>) -> Vec<OsString> {
    let Some(place) = first_word(parser, &arguments) else { return arguments };
    let word = arguments[place].to_string_lossy();
    let verbs = || parser.get_subcommands().map(Parser::get_name).chain(["help"]);
    let is_file = word.contains(['.', '/', '\\']) || Path::new(word.as_ref()).exists();
    if is_file && !verbs().any(|verb| verb == word) {
        arguments.insert(1, "run".into());
    }
    arguments
}

/// Returns the place of the first word that is neither an option nor an option's value.
fn first_word(parser: &Parser, arguments: &[OsString]) -> Option<usize> {
    let run = parser.find_subcommand("run")?;
    let takes_value = |option: &str| {
        let mut all = parser.get_arguments().chain(run.get_arguments());
        let found = all.find(|argument| match option.strip_prefix("--") {
            Some(long) => argument.get_long() == Some(long),
            None => argument.get_short().is_some_and(|short| option == format!("-{short}")),
        });
        found.is_some_and(|argument| argument.get_action().takes_values())
    };
    let mut is_value = false;
    for (place, argument) in arguments.iter().enumerate().skip(1) {
        let argument = argument.to_string_lossy();
        if is_value {
            is_value = false;
        } else if argument.starts_with('-') {
            is_value = takes_value(&argument);
        } else {
            return Some(place);
        }
    }
    None
}

#[cfg(test)]
mod tests;
