//! `fencepost test PATH...`: every scenario and counterexample, compared with its `[expect]`.

use std::fs;
use std::path::{Path, PathBuf};

use fencepost::report::{Line, Span, Tone, Verdict};
use fencepost::{KindSet, Run};
use serde::Serialize;

use super::list::wrap;
use crate::arguments::{Format, Test};
use crate::exit::{Exit, Failure, shown};
use crate::interrupt::Interrupt;
use crate::output::Output;
use crate::source::Source;

/// What came of one file.
#[derive(Debug, Serialize)]
struct Tested {
    file: String,
    ok: bool,
    verdict: Option<&'static str>,
    kinds: Vec<&'static str>,
    hash: Option<String>,
    differences: Vec<String>,
    #[serde(skip)]
    exit: Exit,
    #[serde(skip)]
    said: Option<Verdict>,
}

/// What came of all files.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Counts {
    files: usize,
    ok: usize,
    not_as_expected: usize,
    not_run: usize,
    complete: bool,
}

/// All files in one document.
#[derive(Debug, Serialize)]
struct Document {
    schema: &'static str,
    tool: &'static str,
    files: Vec<Tested>,
    counts: Counts,
}

/// A line of the same.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Entry<'a> {
    File(&'a Tested),
    End(Counts),
}

/// Runs all files.
pub(crate) fn test(
    command: &Test,
    output: &mut Output,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    let sources = sources(&command.paths)?;
    let mut scenarios = Vec::new();
    let mut broken = None;
    for source in &sources {
        match source.parse_or_tell(output, &[]) {
            Ok(parsed) => scenarios.push(parsed.scenario),
            Err(failure @ Failure::Output(_)) => return Err(failure),
            Err(failure) => broken = Some(failure),
        }
    }
    if let Some(failure) = broken {
        return Err(failure);
    }
    let (mut files, mut exit) = (Vec::new(), Exit::Fine);
    for (source, scenario) in sources.iter().zip(&scenarios) {
        if interrupt.is_asked() {
            break;
        }
        let is_recorded = scenario.replay.is_some();
        let run = if is_recorded { fencepost::replay(scenario) } else { fencepost::run(scenario) };
        let tested = tested(source, &run);
        exit = exit.worse(tested.exit);
        match output.format {
            Format::Human if output.hushes(tested.exit) => {}
            Format::Human => output.lines(&lines(&tested, output.look.width, output.look.ascii))?,
            Format::Jsonl => output.data(&Entry::File(&tested))?,
            Format::Json => {}
        }
        files.push(tested);
    }
    let ok = files.iter().filter(|file| file.ok).count();
    let counts = Counts {
        files: sources.len(),
        ok,
        not_as_expected: files.len() - ok,
        not_run: sources.len() - files.len(),
        complete: files.len() == sources.len(),
    };
    match output.format {
        Format::Human if output.hushes(exit) => {}
        Format::Human => output.lines(&[Line(vec![strong(summary(counts))])])?,
        Format::Jsonl => output.data(&Entry::End(counts))?,
        Format::Json => {
            let tool = fencepost::VERSION;
            output.data(&Document { schema: "test/1", tool, files, counts })?;
        }
    }
    Ok(if counts.complete { exit } else { exit.worse(Exit::Inconclusive) })
}

/// Reads all files, and those of all folders.
fn sources(paths: &[PathBuf]) -> Result<Vec<Source>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            let before = files.len();
            walk(path, &mut files)?;
            if files.len() == before {
                return Err(Failure::Usage(format!("{} holds no TOML file", shown(path))));
            }
        } else {
            files.push(path.clone());
        }
    }
    files.iter().map(|file| Source::read(file)).collect()
}

/// Finds the TOML files of a folder and of those in it, in the order of their names.
fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let failed = |error| Failure::reading(folder, &error);
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        entries.push((entry.path(), entry.file_type().map_err(failed)?.is_dir()));
    }
    entries.sort();
    for (path, is_folder) in entries {
        if is_folder {
            walk(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "toml") && path.is_file() {
            files.push(path);
        }
    }
    Ok(())
}

fn tested(source: &Source, run: &Result<Run, fencepost::Error>) -> Tested {
    let file = shown(&source.path);
    let run = match run {
        Ok(run) => run,
        Err(error) => {
            let exit = if error.is_difference() { Exit::Differs } else { Exit::Violated };
            return Tested {
                file,
                ok: false,
                verdict: None,
                kinds: Vec::new(),
                hash: None,
                differences: vec![error.to_string()],
                exit,
                said: None,
            };
        }
    };
    let violated: KindSet = run.recorded.brief.violated;
    let mut differences = run.judgement.differences.clone();
    if !run.judgement.has_expectation && run.verdict == Verdict::Violated {
        differences.push(format!("{violated} occurred, and there is no [expect]"));
    }
    if run.verdict == Verdict::Inconclusive && differences.is_empty() {
        differences.push("the run hit a limit".to_owned());
    }
    let ok = differences.is_empty();
    Tested {
        file,
        ok,
        verdict: Some(run.verdict.name()),
        kinds: violated.iter().map(|kind| kind.name()).collect(),
        hash: Some(format!("{:#018x}", run.recorded.brief.hash)),
        differences,
        exit: if ok { Exit::Fine } else { Exit::Violated },
        said: Some(run.verdict),
    }
}

fn summary(counts: Counts) -> String {
    let files = if counts.files == 1 { "1 file" } else { "files" };
    let files =
        if counts.files == 1 { files.to_owned() } else { format!("{} {files}", counts.files) };
    let mut text = format!("{files}: {} as expected", counts.ok);
    if counts.not_as_expected > 0 {
        text.push_str(&format!(", {} NOT AS EXPECTED", counts.not_as_expected));
    }
    if counts.not_run > 0 {
        text.push_str(&format!(", {} not run: interrupted", counts.not_run));
    }
    text
}

fn strong(text: String) -> Span {
    Span { text, tone: Tone::Strong }
}

/// The columns of the word before each file.
const INDENT: &str = "    ";

fn lines(tested: &Tested, width: usize, ascii: bool) -> Vec<Line> {
    let file = Span { text: tested.file.clone(), tone: Tone::Plain };
    let mut lines = Vec::new();
    if tested.ok {
        let word = Span { text: "ok  ".to_owned(), tone: Tone::Verdict(Verdict::Clean) };
        lines.push(Line(vec![word, file]));
    } else {
        let word = "NOT AS EXPECTED  ".to_owned();
        let word = Span { text: word, tone: Tone::Verdict(Verdict::Violated) };
        lines.push(Line(vec![word, file]));
    }
    let room = width.saturating_sub(INDENT.len());
    let mut put = |text: &str, tone: Tone| {
        for row in wrap(text, room) {
            let indent = Span { text: INDENT.to_owned(), tone: Tone::Plain };
            lines.push(Line(vec![indent, Span { text: row, tone }]));
        }
    };
    if let Some(verdict) = tested.said {
        let kinds = tested.kinds.join(", ");
        let text = format!("{} {} {kinds}", verdict.symbol(ascii), verdict.words());
        put(&text, Tone::Muted);
    }
    for difference in &tested.differences {
        put(difference, Tone::Finding);
    }
    lines
}
