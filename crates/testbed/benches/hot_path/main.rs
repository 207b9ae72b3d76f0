//! The hot path: whole runs, silent, with all checkers and the rolling hash.
//!
//! Without arguments it prints a line a job, the peer jobs beside a bare event loop that is timed
//! in turn with them. With `--job NAME --runs N` it runs one job N times and prints its counts, for
//! instruction counters. With `--check` it compares the bare loop with the simulator run by run.

mod bare;
mod jobs;

use std::time::Instant;

use fencepost_check::Kind;
use fencepost_choice::{RunKey, Source};
use fencepost_testbed::Testbed;

use bare::Bare;
use jobs::{JOBS, Job, Peer};

/// The base seed of all benchmarks.
const SEED: u64 = 20_240;
/// How often each job is timed.
const ROUNDS: u64 = 31;
/// About how many events are timed at once.
const EVENTS: u64 = 400_000;
/// How many runs are compared with the bare loop.
const COMPARED: u64 = 20_000;

/// What one run or many came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count {
    /// Events that the loop took.
    pub(crate) events: u64,
    /// Runs with a stale write.
    pub(crate) stale: u64,
}

impl Count {
    const fn add(&mut self, other: Self) {
        self.events += other.events;
        self.stale += other.stale;
    }
}

/// Something that does a job.
trait Runner {
    /// Does one run.
    fn one(&mut self, key: RunKey) -> Count;

    /// Does many runs.
    fn many(&mut self, first: u64, runs: u64) -> Count {
        let mut count = Count::default();
        for run in first..first + runs {
            count.add(self.one(RunKey::new(SEED, run)));
        }
        count
    }
}

impl Runner for Testbed {
    fn one(&mut self, key: RunKey) -> Count {
        let brief = self.run(Source::Seeded(key), &[]).expect("the job has no plan");
        let stale = u64::from(brief.violated.contains(Kind::StaleWrite));
        Count { events: brief.steps, stale }
    }
}

impl Runner for Bare {
    fn one(&mut self, key: RunKey) -> Count {
        self.run(key)
    }
}

/// Does many runs and returns what they came to and how many seconds they took.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
fn timed(runner: &mut impl Runner, first: u64, runs: u64) -> (Count, f64) {
    let started = Instant::now();
    let count = runner.many(first, runs);
    (count, started.elapsed().as_secs_f64())
}

#[expect(clippy::print_stdout, reason = "a benchmark prints its lines")]
#[expect(clippy::float_arithmetic, reason = "rates are printed, not simulated")]
fn measure(job: Job) {
    let mut testbed = job.testbed();
    let mut bare = match job {
        Job::R1 | Job::R2 | Job::Lua => None,
        Job::Peer(peer) => Some(Bare::new(peer)),
    };
    let warm = testbed.many(0, 1_000);
    let runs = EVENTS * 1_000 / warm.events;
    let (mut total, mut best, mut ratios) = (Count::default(), f64::MAX, Vec::new());
    for round in 0..ROUNDS {
        let (count, taken) = timed(&mut testbed, round * runs, runs);
        total.add(count);
        best = best.min(taken / count.events as f64);
        if let Some(bare) = &mut bare {
            let (same, bare_taken) = timed(bare, round * runs, runs);
            assert_eq!(same, count, "the bare loop must do the same job");
            ratios.push(taken / bare_taken);
        }
    }
    ratios.sort_by(f64::total_cmp);
    let ratio = ratios.get(ratios.len() / 2);
    let ratio = ratio.map_or(String::new(), |ratio| format!(" ratio_to_bare={ratio:.1}"));
    let all = (ROUNDS * runs) as f64;
    let events = total.events as f64 / all;
    println!(
        "{} runs_per_s={:.0} events_per_s={:.0} ns_per_event={:.1}{ratio} \
         events_per_run={events:.1} stale_writes_per_run={:.5}",
        title(job),
        1.0 / (best * events),
        1.0 / best,
        best * 1e9,
        total.stale as f64 / all,
    );
}

fn title(job: Job) -> String {
    match job {
        Job::R1 => "r1".to_owned(),
        Job::R2 => "r2".to_owned(),
        Job::Lua => "lua".to_owned(),
        Job::Peer(Peer { clients, rounds, is_fenced }) => {
            let fenced = if is_fenced { "-fenced" } else { "" };
            format!("peer-job{fenced} n={clients} r={rounds}")
        }
    }
}

/// Compares the bare loop with the simulator, run by run.
#[expect(clippy::print_stdout, reason = "a benchmark prints its lines")]
fn check() {
    for (name, job) in JOBS {
        let Job::Peer(peer) = job else {
            continue;
        };
        let (mut testbed, mut bare) = (job.testbed(), Bare::new(peer));
        let mut total = Count::default();
        for run in 0..COMPARED {
            let key = RunKey::new(SEED, run);
            let (count, same) = (testbed.one(key), bare.one(key));
            assert_eq!(same, count, "{name}: run {run} differs");
            total.add(count);
        }
        assert_eq!(total.stale == 0, peer.is_fenced, "{name}: the fence keeps stale writes out");
        println!("{name}: equal in {COMPARED} runs: events={} stale={}", total.events, total.stale);
    }
}

/// Runs one job so many times, for instruction counters.
#[expect(clippy::print_stdout, reason = "a benchmark prints its lines")]
fn count(name: &str, runs: u64) {
    let job = JOBS.into_iter().find(|(known, _)| *known == name);
    let (_, job) = job.unwrap_or_else(|| panic!("there is no job `{name}`"));
    let count = job.testbed().many(0, runs);
    println!("{name} runs={runs} events={} stale={}", count.events, count.stale);
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |flag: &str| {
        let place = arguments.iter().position(|argument| argument == flag)?;
        arguments.get(place + 1).cloned()
    };
    if let Some(name) = value("--job") {
        count(&name, value("--runs").and_then(|runs| runs.parse().ok()).unwrap_or(1_000));
    } else if arguments.iter().any(|argument| argument == "--check") {
        check();
    } else {
        JOBS.into_iter().for_each(|(_, job)| measure(job));
    }
}
