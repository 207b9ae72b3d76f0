//! What the benchmark's jobs promise: no allocation once a testbed is warm, and the faults that
//! the reference job names.

#[path = "../../benches/hot_path/jobs.rs"]
mod jobs;

use allocation_counter::measure;
use fencepost_choice::{RunKey, Source};
use fencepost_history::{ProcessId, What};
use fencepost_testbed::Testbed;

use jobs::{JOBS, Job};

/// The base seed of the benchmark.
const SEED: u64 = 20_240;

/// Runs silently and returns how many events the runs had.
fn run(testbed: &mut Testbed, runs: std::ops::Range<u64>) -> u64 {
    let source = |run| Source::Seeded(RunKey::new(SEED, run));
    runs.map(|run| testbed.run(source(run), &[]).expect("the job has no plan").steps).sum()
}

#[test]
fn a_warm_testbed_allocates_nothing() {
    // An interpreter makes its values on the heap.
    let silent = JOBS.iter().filter(|(_, job)| !matches!(job, Job::Lua));
    for (name, job) in silent {
        let mut testbed = job.testbed();
        let events = run(&mut testbed, 0..1_000);
        // As many runs as a fixed number of events has, so that long jobs do not take longer.
        let runs = 1_000 * 1_000_000 / events;
        let memory = measure(|| {
            run(&mut testbed, 1_000..1_000 + runs);
        });
        assert_eq!(memory.count_total, 0, "{name} allocates in {runs} runs after its warm-up");
    }
}

fn is_pause(what: What, of: ProcessId) -> bool {
    matches!(what, What::Paused { process, .. } if process == of)
}

fn is_crash(what: What, of: ProcessId) -> bool {
    matches!(what, What::Crashed { process } if process == of)
}

fn is_finish(what: What, of: ProcessId) -> bool {
    // Each client has one thread, so their numbers are the same.
    matches!(what, What::Finished { thread } if thread.0 == of.0)
}

/// How often the faults of the reference job befell it, in parts of 10,000.
#[derive(Debug)]
struct Shares {
    lost: u64,
    paused: u64,
    crashed: u64,
    stepped: u64,
}

impl Shares {
    /// Counts over recorded runs; a fault after a client has finished counts for nothing.
    fn count(job: Job) -> Self {
        const RUNS: u64 = 4_000;
        const CLIENTS: u16 = 3;
        let mut testbed = job.testbed();
        let (mut sent, mut lost, mut paused, mut crashed, mut stepped) = (0, 0, 0, 0, 0);
        for run in 0..RUNS {
            let source = Source::Seeded(RunKey::new(SEED, run));
            let recorded = testbed.record(source, &[]).expect("the job has no plan");
            let losses = recorded.deviations.iter();
            lost += losses.filter(|one| one.site.starts_with("net.loss@")).count() as u64;
            let links = testbed.sim().messages_sent();
            sent += links.iter().map(|(_, sent)| u64::from(*sent)).sum::<u64>();
            let events = || recorded.history.events.iter().map(|event| event.what);
            for client in (0..CLIENTS).map(ProcessId) {
                let unfinished = || events().take_while(|what| !is_finish(*what, client));
                paused += u64::from(unfinished().any(|what| is_pause(what, client)));
                crashed += u64::from(unfinished().any(|what| is_crash(what, client)));
            }
            stepped += u64::from(events().any(|what| matches!(what, What::ServerClock { .. })));
        }
        let of = |count: u64, all: u64| count * 10_000 / all;
        let clients = RUNS * u64::from(CLIENTS);
        Self {
            lost: of(lost, sent),
            paused: of(paused, clients),
            crashed: of(crashed, clients),
            stepped: of(stepped, RUNS),
        }
    }
}

#[test]
fn the_reference_jobs_are_what_their_stories_say() {
    const RUNS: u64 = 20_000;
    for (job, least, most) in [(Job::R1, 65, 75), (Job::R2, 150, 165)] {
        let events = run(&mut job.testbed(), 0..RUNS);
        let shares = Shares::count(job);
        assert!((least * RUNS..=most * RUNS).contains(&events), "{events} events");
        assert!((80..=120).contains(&shares.lost), "{shares:?}");
        assert!((2_700..=3_300).contains(&shares.paused), "{shares:?}");
        assert!((400..=600).contains(&shares.crashed), "{shares:?}");
        assert!((850..=1_150).contains(&shares.stepped), "{shares:?}");
    }
}
