//! `cargo xtask differential`: the same sequences to a real server and to the engine.
//!
//! Every reply, every pushed message and the keys left in the end are compared. A sequence that
//! differs is shrunk by proptest and printed as a case of the corpus. What is drawn depends on the
//! seed and the sequence's number alone.

mod bytes;
mod commands;
mod compare;
mod model;
mod print;
mod sequence;
mod session;

use crate::ci::Outcome as Stage;
use crate::interrupt::Interrupt;
use crate::servers::Program;
use anyhow::{Context, Result, bail, ensure};
use commands::Step;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use sequence::{Event, Outcome, Sequence};
use session::Session;
use std::cell::RefCell;
use std::time::{Duration, Instant};

/// How many sequences a run without arguments compares.
const SEQUENCES: u64 = 600;
/// What they are drawn from.
const SEED: u64 = 1;
/// How often a sequence is tried in which an instant may have decided.
const TRIES: u32 = 4;
/// After this many different sequences it is time to look at them.
const ENOUGH: usize = 5;

/// What was asked for.
struct Request {
    sequences: u64,
    /// Takes the place of the number of sequences.
    time: Option<Duration>,
    seed: u64,
    server: String,
}

impl Request {
    /// Returns what is compared if nothing is asked for.
    fn usual() -> Self {
        let server = "redis-server".to_owned();
        Self { sequences: SEQUENCES, time: None, seed: SEED, server }
    }
}

/// Runs `cargo xtask differential`.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let mut request = Request::usual();
    for pair in arguments.chunks(2) {
        let [flag, value] = pair else { bail!("{} needs a value", pair[0]) };
        let number = || value.parse::<u64>().with_context(|| format!("{flag} {value}"));
        match flag.as_str() {
            "--sequences" => request.sequences = number()?,
            "--minutes" => request.time = Some(Duration::from_secs(number()? * 60)),
            "--seed" => request.seed = number()?,
            "--server" => request.server.clone_from(value),
            _ => bail!(
                "unknown argument {flag}; there are --sequences N, --minutes N, --seed N and \
                 --server PROGRAM"
            ),
        }
    }
    match compare_all(&request)? {
        Stage::Passed => Ok(()),
        Stage::Skipped(reason) => bail!(reason),
    }
}

/// Compares the fixed number of sequences, as a stage of the CI.
///
/// A difference fails it; a machine too busy to be sure does not, but is told loudly.
pub(crate) fn check() -> Result<Stage> {
    compare_all(&Request::usual())
}

fn compare_all(request: &Request) -> Result<Stage> {
    let interrupt = Interrupt::listen()?;
    let mut session = Session::start(&Program::find(&request.server)?)?;
    let scripts = session.template.has_scripts();
    println!("{} is compared with the engine's {:?}", session.number, session.version);
    if !scripts {
        println!("the engine runs no scripts here: EVAL is left out");
    }
    let sequences = commands::sequences(scripts);
    let (started, mut tally) = (Instant::now(), Tally::default());
    let (inputs, strange) = bytes::compare(&mut session)?;
    println!("{inputs} inputs that are not all requests compared, {strange} differences");
    tally.differences += strange;
    let mut number = 0;
    while match request.time {
        Some(time) => started.elapsed() < time,
        None => number < request.sequences,
    } {
        interrupt.check()?;
        let title = format!("differential-{}-{number}", request.seed);
        if let Some(events) = one(&mut session, request.seed, number, &sequences, &mut tally)? {
            tally.differences += 1;
            println!("\n{}", print::case(&title, &events));
        }
        number += 1;
        if tally.differences >= ENOUGH {
            break;
        }
    }
    println!(
        "{} replies of {number} sequences compared (seed {}), {} differences; {} sequences unsure",
        tally.replies, request.seed, tally.differences, tally.unsure
    );
    ensure!(tally.differences == 0, "the engine differs from {}", session.number);
    if tally.unsure * 10 > number {
        return Ok(Stage::Skipped(
            "too many sequences are unsure: the machine is too busy".to_owned(),
        ));
    }
    Ok(Stage::Passed)
}

/// What has been compared.
#[derive(Default)]
struct Tally {
    replies: usize,
    unsure: u64,
    differences: usize,
}

/// Compares one sequence and gives the least one like it that differs, if it does.
fn one(
    session: &mut Session,
    seed: u64,
    number: u64,
    sequences: &impl Strategy<Value = Vec<Step>>,
    tally: &mut Tally,
) -> Result<Option<Vec<Event>>> {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..16].copy_from_slice(&number.to_le_bytes());
    let config = Config { max_shrink_iters: 2000, ..Config::default() };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &key);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let tree = sequences.new_tree(&mut runner);
    let tree = tree.map_err(|reason| anyhow::anyhow!("nothing is drawn: {reason}"))?;
    let first = tree.current();
    match tried(session, &first)? {
        Outcome::Same(replies) => tally.replies += replies,
        Outcome::Unsure => tally.unsure += 1,
        Outcome::Different(_) => {
            // The machine may have stood still; a real difference comes again.
            if let Outcome::Different(events) = tried(session, &first)? {
                return Ok(Some(shrunk(session, &mut runner, tree).unwrap_or(events)));
            }
            tally.unsure += 1;
        }
    }
    Ok(None)
}

/// Runs a sequence until no instant may have decided what came.
fn tried(session: &mut Session, steps: &[Step]) -> Result<Outcome> {
    for _ in 1..TRIES {
        let outcome = Sequence::run(session, steps)?;
        if !matches!(outcome, Outcome::Unsure) {
            return Ok(outcome);
        }
    }
    Sequence::run(session, steps)
}

/// Lets proptest find the least sequence that differs and gives what happens in it; nothing if
/// the difference does not come again.
fn shrunk(
    session: &mut Session,
    runner: &mut TestRunner,
    tree: impl ValueTree<Value = Vec<Step>>,
) -> Option<Vec<Event>> {
    let found = RefCell::new((session, None));
    let differs = |steps: Vec<Step>| {
        let (session, events) = &mut *found.borrow_mut();
        match tried(session, &steps) {
            Ok(Outcome::Different(what)) => {
                *events = Some(what);
                Err(TestCaseError::fail("they differ"))
            }
            Ok(Outcome::Same(_) | Outcome::Unsure) => Ok(()),
            Err(error) => Err(TestCaseError::reject(error.to_string())),
        }
    };
    let _ = runner.run_one(tree, differs);
    found.into_inner().1
}
