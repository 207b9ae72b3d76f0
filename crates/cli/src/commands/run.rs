//! `fencepost run SCENARIO`: the one schedule that it pins down, or many at random.

use std::ops::ControlFlow;

use fencepost::report::{Verdict, block};
use fencepost::scenario::{Code, Parsed, ScenarioError, Source as Place};
use fencepost::{BuildError, Error, RunError, Sample};
use fencepost_testbed::FaultError;

use crate::arguments;
use crate::diagnostics::{self, Texts};
use crate::exit::{Exit, Failure, shown};
use crate::interrupt::Interrupt;
use crate::output::Output;
use crate::results;
use crate::seed::Seed;
use crate::source::Source;
use crate::telling::{self, Asked};

/// Runs a scenario.
pub(crate) fn run(
    command: &arguments::Run,
    output: &mut Output,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    let source = Source::read(&command.file)?;
    let settings = &command.settings.set;
    let parsed = source.parse_or_tell(output, settings)?;
    let (scenario, report) = (&parsed.scenario, &command.report);
    let asked = Asked { source: &source, scenario, settings, seed: command.seed, report };
    match command.runs {
        Some(runs) => sample(&asked, &parsed, runs, output, interrupt),
        None => {
            if command.seed != Seed::default() {
                output.note("the seed changes nothing here: without --runs, nothing is drawn");
            }
            once(&asked, &parsed, output)
        }
    }
}

/// Runs the one schedule that a scenario pins down, and compares it with what the file records.
pub(crate) fn once(
    asked: &Asked<'_>,
    parsed: &Parsed,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let folder = asked.open()?;
    let is_recorded = asked.scenario.replay.is_some() && asked.settings.is_empty();
    let run = if is_recorded {
        fencepost::replay(asked.scenario)
    } else {
        fencepost::run(asked.scenario)
    };
    let run = run.or_else(|error| Err(failure(&error, asked, parsed, output)?))?;
    let told = asked.tell(&run);
    asked.write(folder, &run, &told)?;
    let exit = telling::exit(&run);
    if output.hushes(exit) {
        return Ok(exit);
    }
    if output.is_human() {
        output.lines(&block(&told.shown, &run.recorded.history, output.look))?;
    } else {
        results::write(output, asked, Some(&told.stored), None)?;
    }
    Ok(exit)
}

/// Runs random schedules until one is violated.
fn sample(
    asked: &Asked<'_>,
    parsed: &Parsed,
    runs: u64,
    output: &mut Output,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    let go_on = |_, _| match interrupt.is_asked() {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    let folder = asked.open()?;
    if asked.seed.is_drawn {
        output.note(&format!("the seed is {}", asked.seed));
    }
    let sample = fencepost::sample(asked.scenario, asked.seed.value, runs, go_on);
    let sample = sample.or_else(|error| Err(failure(&error, asked, parsed, output)?))?;
    let Some(run) = &sample.found else {
        if let Some(folder) = folder {
            folder.leave();
        }
        return tell_quiet(asked, &sample, output);
    };
    let told = asked.tell(run);
    asked.write(folder, run, &told)?;
    let exit = telling::exit(run);
    if output.hushes(exit) {
        return Ok(exit);
    }
    if output.is_human() {
        output.lines(&block(&told.shown, &run.recorded.history, output.look))?;
    } else {
        results::write(output, asked, Some(&told.stored), Some(&sample))?;
    }
    Ok(exit)
}

/// Tells of a sample in which nothing was found.
fn tell_quiet(asked: &Asked<'_>, sample: &Sample, output: &mut Output) -> Result<Exit, Failure> {
    let wanted = asked.scenario.expect.as_ref();
    let is_wanted = wanted.is_some_and(|expect| !expect.violations.is_empty());
    let exit = match sample.verdict() {
        Verdict::Inconclusive => Exit::Inconclusive,
        Verdict::NoneFound if !is_wanted => Exit::Fine,
        Verdict::NoneFound | Verdict::Violated | Verdict::Clean | Verdict::Exhausted => {
            Exit::Violated
        }
    };
    if output.hushes(exit) {
        return Ok(exit);
    }
    if output.is_human() {
        let look = output.look;
        output.lines(&telling::quiet_sample(asked, sample, look))?;
    } else {
        results::write(output, asked, None, Some(sample))?;
    }
    Ok(exit)
}

/// Tells why a scenario could not be run.
pub(crate) fn failure(
    error: &Error,
    asked: &Asked<'_>,
    parsed: &Parsed,
    output: &mut Output,
) -> Result<Failure, Failure> {
    match error {
        Error::Build(BuildError::Fault(fault)) => {
            let (FaultError::NeverPassed { number, .. }
            | FaultError::NoMessage { number, .. }
            | FaultError::Unknown { number, .. }) = fault;
            let kind = number.checked_sub(1).and_then(|place| asked.scenario.fault.get(place));
            let kind = kind.map_or("", fencepost::scenario::Fault::kind);
            let mistake = ScenarioError {
                code: Code::NeverHappens,
                message: fault.to_string(),
                source: Place::File,
                span: parsed.places.near(&format!("fault.{number}.{kind}")),
                label: "this fault would never take effect".to_owned(),
                context: None,
                help: Some("`fencepost list moments` says when each moment is passed".to_owned()),
                replacement: None,
                notes: Vec::new(),
            };
            let texts = Texts {
                path: &asked.source.path,
                file: &asked.source.text,
                settings: asked.settings,
            };
            diagnostics::tell(output, texts, &[mistake])
        }
        Error::Run(RunError::NotDeterministic { .. }) => {
            output.error(&error.to_string());
            Ok(Failure::Told(Exit::Bug))
        }
        Error::Unreached(_) | Error::OtherHash { .. } => {
            let path = shown(&asked.source.path);
            output.error(&format!("{path} does not replay: {error}"));
            Ok(Failure::Told(Exit::Differs))
        }
        Error::Deviation(_)
        | Error::TooFewRuns(_)
        | Error::Run(RunError::Plan(_) | RunError::Script(_)) => {
            Ok(Failure::Usage(format!("{}: {error}", shown(&asked.source.path))))
        }
    }
}
