//! `cargo xtask real`: the corpus on real servers, byte for byte, and a failover by Sentinel.
//!
//! The corpus is what the engine's own test runs; here the same code runs it on servers that are
//! started, stopped, killed, cut off and given wrong clocks. So a recorded reply is a fact that
//! anybody can see again.

mod lab;
mod nodes;
mod sentinel;

use crate::ci::Outcome;
use crate::conformance::{corpus, run};
use crate::interrupt::Interrupt;
use crate::servers::{Program, Server};
use crate::shell::root;
use anyhow::{Context, Result, bail, ensure};
use lab::Lab;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// The server that the corpus was recorded on.
const RECORDED: &str = "redis_version:7.0.";

/// How many files are replayed at a time.
const WORKERS: usize = 5;

/// Runs `cargo xtask real`.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let (mut server, mut wanted) = ("redis-server".to_owned(), None);
    let (mut corpus, mut failover) = (true, true);
    for pair in arguments.chunks(2) {
        let [flag, value] = pair else { bail!("{} needs a value", pair[0]) };
        match flag.as_str() {
            "--server" => server.clone_from(value),
            "--file" => (wanted, failover) = (Some(value.clone()), false),
            "--only" if value == "corpus" => failover = false,
            "--only" if value == "failover" => corpus = false,
            _ => bail!(
                "unknown argument {flag} {value}; there are --server PROGRAM, --file NAME, \
                 --only corpus and --only failover"
            ),
        }
    }
    let (interrupt, program) = (Interrupt::listen()?, Program::find(&server)?);
    let started = Instant::now();
    let mut problems = 0;
    if corpus {
        problems = replay(&program, wanted.as_deref(), &interrupt)?;
        println!("the corpus took {} s", started.elapsed().as_secs());
    }
    if failover {
        sentinel::run(&program, &interrupt)?;
    }
    println!("{} s in all", started.elapsed().as_secs());
    ensure!(problems == 0, "{problems} cases of the corpus are not as recorded");
    Ok(())
}

/// Replays everything, as a stage of the CI.
pub(crate) fn check() -> Result<Outcome> {
    run(&[]).map(|()| Outcome::Passed)
}

/// Replays the files that were recorded on a server of this kind; gives how many cases differ.
fn replay(program: &Program, wanted: Option<&str>, interrupt: &Interrupt) -> Result<usize> {
    let info = Server::start(program, &[])?.connect()?.call(&["INFO", "server"])?.concat();
    let valkey = info.contains("valkey_version:");
    ensure!(
        valkey || info.contains(RECORDED),
        "the corpus was recorded on Redis 7.0 and on Valkey; this server is another one"
    );
    if !crate::shell::has("cc") {
        println!("SKIPPED: there is no C compiler, so no case that steps a clock or slows fsync");
    }
    let mut files = files()?;
    files.retain(|path| {
        let name = path.to_string_lossy();
        wanted.is_none_or(|wanted| name.contains(wanted)) && name.contains("valkey") == valkey
    });
    // The cases sleep most of the time; the longest files, which come late, are begun first.
    files.reverse();
    let (next, total) = (AtomicUsize::new(0), Mutex::new(Tally::default()));
    std::thread::scope(|scope| {
        let work = || -> Result<()> {
            while let Some(path) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                let tally = replay_file(program, path, interrupt)?;
                total.lock().unwrap_or_else(PoisonError::into_inner).add(&tally);
            }
            Ok(())
        };
        let workers: Vec<_> = (0..WORKERS).map(|_| scope.spawn(work)).collect();
        let ended = workers.into_iter().map(|worker| worker.join().expect("no worker panics"));
        ended.collect::<Result<Vec<()>>>()
    })?;
    let Tally { cases, replies, problems, skipped } =
        total.into_inner().unwrap_or_else(PoisonError::into_inner);
    ensure!(cases > 0, "no file of the corpus was replayed");
    println!("{cases} cases with {replies} replies, {problems} differ, {skipped} skipped");
    Ok(problems)
}

/// What was replayed.
#[derive(Default)]
struct Tally {
    cases: usize,
    replies: usize,
    problems: usize,
    skipped: usize,
}

impl Tally {
    const fn add(&mut self, other: &Self) {
        self.cases += other.cases;
        self.replies += other.replies;
        self.problems += other.problems;
        self.skipped += other.skipped;
    }
}

/// Replays a file on its own servers.
fn replay_file(program: &Program, path: &Path, interrupt: &Interrupt) -> Result<Tally> {
    let file = path.file_name().context("a file has a name")?.to_string_lossy().into_owned();
    let (mut lab, mut tally, started) = (Lab::new(program)?, Tally::default(), Instant::now());
    for case in corpus::parse(&std::fs::read_to_string(path)?) {
        interrupt.check()?;
        let shimmed = |line: &str| line.contains(" wallclock") || line.contains(" slowsync=");
        if !lab.has_shim() && case.steps.iter().any(|step| shimmed(&step.text)) {
            tally.skipped += 1;
            continue;
        }
        let report = run::differences(&file, &case, &mut lab);
        lab.clear();
        tally.cases += 1;
        tally.replies += case.steps.iter().filter(|step| !step.reply.is_empty()).count();
        if !report.is_empty() {
            tally.problems += 1;
            println!("{report}");
        }
    }
    let (cases, problems) = (tally.cases, tally.problems);
    println!("{file}: {cases} cases, {problems} differ, {} s", started.elapsed().as_secs());
    Ok(tally)
}

fn files() -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(root().join("crates/redis/corpus"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "txt") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
