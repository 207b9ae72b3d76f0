//! A violation as a file that replays alone.

use std::fmt::Write as _;

use fencepost_check::{Kind, KindSet};
use fencepost_choice::site_hash;
use fencepost_report::{Look, block};
use fencepost_testbed::scenario::{Expect, Hex, Replay, Scenario};

use crate::{Origin, Run, Telling, story};

/// A violation as a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterexample {
    /// The file's name: the gravest kind and six digits that stand for kind, strategy and
    /// schedule, so that the same finding has the same name.
    pub name: String,
    /// What the file says.
    pub text: String,
    /// The same, read.
    pub scenario: Scenario,
}

/// Writes a violating run as a scenario that repeats it; nothing if the run is not violated.
///
/// `scenario_name` is the name of the scenario's file without its ending.
///
/// ```
/// use fencepost::Scenario;
///
/// let scenario = Scenario::parse(
///     r#"
///     [lock]
///     strategy = "set-nx-px"
///     [[fault]]
///     pause = { process = "c1", when = "acquired", for = "31s" }
///     "#,
/// )
/// .expect("well formed");
/// let run = fencepost::run(&scenario)?;
/// let file = fencepost::counterexample(&scenario, &run, "zombie").expect("it is violated");
/// let again = Scenario::parse(&file.text).expect("well formed");
/// assert_eq!(fencepost::replay(&again)?.recorded.brief.hash, run.recorded.brief.hash);
/// # Ok::<(), fencepost::Error>(())
/// ```
#[must_use]
pub fn counterexample(
    scenario: &Scenario,
    run: &Run,
    scenario_name: &str,
) -> Option<Counterexample> {
    let headline = headline(run)?;
    let deviations: Vec<String> = run.recorded.deviations.iter().map(ToString::to_string).collect();
    let schedule = deviations.join("\n");
    let strategy = scenario.lock.strategy.name();
    let digits = site_hash(&format!("{headline}\n{strategy}\n{schedule}")) >> 40;
    let name = format!("{headline}-{digits:06x}.toml");
    let mut again = scenario.clone();
    let own = KindSet::of(&[Kind::Own]);
    again.expect = Some(Expect {
        violations: run.recorded.brief.violated.minus(own).iter().collect(),
        ..Expect::default()
    });
    let (seed, number) = run.origin.seed().unzip();
    again.replay = Some(Replay {
        tool: crate::VERSION.to_owned(),
        seed: seed.map(Hex),
        run: number,
        hash: Hex(run.recorded.brief.hash),
        deviations,
    });
    let text = commented(&again, run, scenario_name, &name);
    Some(Counterexample { name, text, scenario: again })
}

/// Returns the name of the gravest kind that was violated.
fn headline(run: &Run) -> Option<&'static str> {
    let kind = run.recorded.brief.violated.iter().next()?;
    let mut findings = run.recorded.findings.iter().filter(|finding| !finding.note);
    Some(findings.find(|finding| finding.kind == kind).map_or(kind.name(), |first| first.name()))
}

/// Writes the scenario with the run's block before it, as a comment.
fn commented(again: &Scenario, run: &Run, scenario_name: &str, file: &str) -> String {
    let telling = Telling {
        scenario_name: scenario_name.to_owned(),
        command: format!("fencepost replay {file}"),
        page: None,
    };
    // The comment is about the run that was found, whatever its scenario expected.
    let met = Run { judgement: fencepost_testbed::judge(again, &run.recorded), ..run.clone() };
    let met = Run { origin: replayed(run.origin), ..met };
    let mut text = String::new();
    for line in block(&story(again, &met, &telling), &run.recorded.history, Look::default()) {
        let _ = writeln!(text, "{}", format!("# {line}").trim_end());
    }
    text.push('\n');
    text.push_str(&again.to_toml());
    text
}

fn replayed(origin: Origin) -> Origin {
    let (seed, run) = origin.seed().unzip();
    Origin::Recorded { seed, run }
}
