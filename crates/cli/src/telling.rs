//! A run told twice: to whoever typed the command, and to files that read the same wherever they
//! were made.

use std::path::{Path, PathBuf};

use fencepost::report::formats;
use fencepost::report::{Line, Look, Span, Story, Tone, Verdict};
use fencepost::{Origin, Run, Sample, Scenario, Telling, counterexample};

use crate::arguments::Report;
use crate::exit::{Exit, Failure, shown};
use crate::folder::{File, Folder, Manifest, finding_name};
use crate::seed::Seed;
use crate::source::{self, Source, quoted};
use crate::terminal::variable;

/// What was asked for: the scenario, the settings, and where the report goes.
#[derive(Debug)]
pub(crate) struct Asked<'a> {
    /// The file.
    pub(crate) source: &'a Source,
    /// What it says, settings included.
    pub(crate) scenario: &'a Scenario,
    /// The settings.
    pub(crate) settings: &'a [String],
    /// The seed.
    pub(crate) seed: Seed,
    /// Whether and where a report is written.
    pub(crate) report: &'a Report,
}

/// A run, told.
#[derive(Debug)]
pub(crate) struct Told {
    /// For whoever typed the command: with the paths that were typed.
    pub(crate) shown: Story,
    /// For files: with no path.
    pub(crate) stored: Story,
    /// The counterexample's file, if this run was found among others.
    pub(crate) finding: Option<File>,
}

impl Asked<'_> {
    /// Returns the folder of the report.
    pub(crate) fn folder(&self) -> PathBuf {
        if let Some(folder) = &self.report.output {
            return folder.clone();
        }
        let reports = variable("FENCEPOST_OUT").filter(|folder| !folder.is_empty());
        Path::new(reports.as_deref().unwrap_or("reports")).join(self.source.name())
    }

    /// Opens the folder of the report, if there is to be one.
    pub(crate) fn open(&self) -> Result<Option<Folder>, Failure> {
        if self.report.no_report {
            return Ok(None);
        }
        Folder::open(&self.folder(), &self.source.name(), self.report.force).map(Some)
    }

    /// Returns the command that shows the same run again, with a file as it is to be named.
    fn command(&self, file: &str) -> String {
        if self.settings.is_empty() {
            return format!("fencepost replay {}", quoted(file));
        }
        let settings = self.settings.iter().map(|setting| format!(" --set {}", quoted(setting)));
        format!("fencepost run {}{}", quoted(file), settings.collect::<String>())
    }

    /// Tells a run.
    pub(crate) fn tell(&self, run: &Run) -> Told {
        let name = self.source.name();
        let is_found = matches!(run.origin, Origin::Sampled { .. });
        let finding = is_found.then(|| counterexample(self.scenario, run, &name)).flatten();
        let (typed, alone) = match &finding {
            Some(finding) => {
                let path = self.folder().join(finding_name(&finding.name));
                let command = |file: &str| format!("fencepost replay {}", quoted(file));
                (command(&shown(&path)), command(&finding.name))
            }
            None => {
                let typed = shown(&self.source.path);
                (self.command(&typed), self.command(&self.source.file_name()))
            }
        };
        let telling = Telling { scenario_name: name, command: alone, page: None };
        let stored = fencepost::story(self.scenario, run, &telling);
        let mut told = Told { shown: stored.clone(), stored, finding: None };
        told.shown.command = typed;
        told.shown.scenario_name = shown(&self.source.path);
        if !self.report.no_report {
            told.shown.page = Some(shown(&self.folder().join("index.html")));
        }
        told.finding =
            finding.map(|finding| (finding_name(&finding.name), finding.text.into_bytes()));
        told
    }

    /// Writes the report of a run, or at least its counterexample.
    pub(crate) fn write(
        &self,
        folder: Option<Folder>,
        run: &Run,
        told: &Told,
    ) -> Result<(), Failure> {
        let mut files: Vec<File> = Vec::new();
        if folder.is_some() {
            let history = &run.recorded.history;
            for format in formats::ALL {
                files.push((format.file.to_owned(), (format.write)(&told.stored, history)));
            }
        }
        files.extend(told.finding.clone());
        let folder = match folder {
            Some(folder) => Some(folder),
            None if files.is_empty() => None,
            None => {
                let force = self.report.force;
                Some(Folder::open(&self.folder(), &self.source.name(), force)?)
            }
        };
        folder.map_or(Ok(()), |mut folder| folder.write(self.manifest(&told.stored), &files))
    }

    fn manifest(&self, story: &Story) -> Manifest {
        Manifest {
            tool: story.tool_version.clone(),
            scenario: self.source.name(),
            scenario_sha256: source::hash(self.scenario),
            seed: self.seed.to_string(),
            hash: format!("{:#018x}", story.hash),
            verdict: story.verdict.name().to_owned(),
            ..Manifest::default()
        }
    }
}

/// Returns how a command ends that made this run.
pub(crate) fn exit(run: &Run) -> Exit {
    match run.verdict {
        Verdict::Inconclusive => Exit::Inconclusive,
        _ if run.judgement.has_expectation && run.judgement.is_met() => Exit::Fine,
        _ if run.judgement.has_expectation => Exit::Violated,
        Verdict::Violated => Exit::Violated,
        Verdict::Clean | Verdict::NoneFound | Verdict::Exhausted => Exit::Fine,
    }
}

/// Tells a sample in which nothing was found.
pub(crate) fn quiet_sample(asked: &Asked<'_>, sample: &Sample, look: Look) -> Vec<Line> {
    let verdict = sample.verdict();
    let mut lines = vec![Line(vec![
        span(format!("{} {}", verdict.symbol(look.ascii), verdict.words()), Tone::Verdict(verdict)),
        span(format!("  {}", asked.scenario.title), Tone::Strong),
    ])];
    let strategy = asked.scenario.lock.strategy.name();
    let source = format!("{}, strategy {strategy}", shown(&asked.source.path));
    lines.push(Line(vec![span(format!("  {source}"), Tone::Muted)]));
    lines.push(Line::default());
    for row in crate::commands::wrap(&what_is_known(sample), look.width.saturating_sub(2)) {
        lines.push(Line(vec![span(format!("  {row}"), Tone::Plain)]));
    }
    lines.push(Line::default());
    let command = format!(
        "fencepost run {} --runs {}{}{}",
        quoted(&shown(&asked.source.path)),
        sample.asked,
        if asked.seed == Seed::default() {
            String::new()
        } else {
            format!(" --seed {}", asked.seed)
        },
        asked.settings.iter().map(|one| format!(" --set {}", quoted(one))).collect::<String>(),
    );
    let again = if verdict == Verdict::Inconclusive { "anew" } else { "again" };
    for (label, text, tone) in
        [("seed", asked.seed.to_string(), Tone::Plain), (again, command, Tone::Command)]
    {
        lines.push(Line(vec![span(format!("  {label:<10}"), Tone::Muted), span(text, tone)]));
    }
    lines
}

fn span(text: String, tone: Tone) -> Span {
    Span { text, tone }
}

/// Says what a sample without a finding means, and no more.
fn what_is_known(sample: &Sample) -> String {
    let runs = match sample.done {
        1 => "1 run".to_owned(),
        done => format!("{done} runs"),
    };
    let broke = if sample.done < sample.asked {
        format!("Interrupted: {runs} of {} broke nothing", sample.asked)
    } else {
        format!("{runs} with random schedules broke nothing")
    };
    if sample.unfinished > 0 {
        return format!(
            "{broke}, but {} of them hit the limit of events, so that nothing is known of those.",
            sample.unfinished
        );
    }
    match sample.bound() {
        Some(bound) => format!(
            "{broke}; the chance of a violation in a run drawn the same way is at most {bound} \
             (95 %)."
        ),
        None => format!("{broke}; so few say nothing."),
    }
}
