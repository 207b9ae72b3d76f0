//! One run, one hash: silent or recorded, fresh or reused memory, drawn or replayed.

use fencepost_choice::{Deviation, Distribution, RunKey, Source};
use fencepost_history::{Duration, Event, Moment, ThreadId, What};
use proptest::prelude::*;

use super::lab::{
    Ask, Counters, Port, R1, R2, Run, code, go, here, ms, noted, only, play, play_from, process,
    setup, world,
};
use crate::{Hazard, HazardAt, LinkModel, Setup, Sim, Stop, join};

/// Two processes of two threads, two servers, links with latencies and losses, hazards.
fn busy_setup() -> Setup {
    let mut setup = setup(
        vec![process("c1", &["worker"], &["renewer"]), process("c2", &["worker", "worker-2"], &[])],
        &["r1", "r2"],
    );
    let latency = Distribution::Steps { step: ms(1), min: 1, max: 3 };
    setup.link = LinkModel { latency, loss_odds: u64::MAX / 16 };
    let gap = |mean| HazardAt::Gap(Distribution::Exponential { mean: ms(mean) });
    let hazard = |site: &str, at, millis| Hazard {
        site: site.to_owned(),
        at,
        magnitude: Distribution::Uniform { min: ms(1), max: ms(millis) },
        is_backward: false,
    };
    setup.hazards = vec![
        hazard("client.pause@c1", gap(100), 50),
        hazard("client.crash@c2", gap(300), 20),
        hazard("client.stall@c1/renewer", gap(200), 30),
        hazard("clock.step@c2", gap(100), 40),
        hazard("clock.step@r1", gap(100), 40),
        hazard("server.stall@r1", gap(200), 20),
        hazard("server.restart@r2", gap(200), 20),
        hazard("net.partition@c1->r1", gap(300), 20),
        hazard("net.cut@r2->c2", gap(300), 20),
        hazard("client.pause@c1", HazardAt::Moment(Moment::BeforeWrite, u64::MAX / 4), 60),
        hazard("client.crash@c2", HazardAt::Moment(Moment::Refused, u64::MAX / 8), 30),
        hazard("client.pause@c2", HazardAt::Moment(Moment::Refused, u64::MAX / 4), 30),
        hazard("client.crash@c1", HazardAt::Moment(Moment::WriteSent, u64::MAX / 16), 30),
    ];
    setup
}

async fn worker(client: Port) {
    for round in 0..6 {
        let jitter = client.draw(&Distribution::Uniform { min: ms(1), max: ms(9) });
        client.sleep(jitter).await;
        let server = if round % 2 == 0 { R1 } else { R2 };
        match client.call(server, Ask::Add(1)).within(ms(8)).await {
            Ok(_) => noted(&client).await,
            Err(_) => {
                // Whoever tells and marks at one step marks first, where the replay has the fault.
                client.mark(Moment::Refused);
                here(&client, 4);
                client.now().await;
            }
        }
        client.mark(Moment::BeforeWrite);
        let write = client.call(R2, Ask::Later(3)).marking(Moment::WriteSent).within(ms(9));
        let (seen, ()) = join(write, client.work(ms(4))).await;
        here(&client, u32::from(seen.is_ok()));
        client.send(R1, Ask::Forward(R2, 1)).await;
        let wall = client.wall().await.as_nanos();
        client.note(What::ServerClock { server: R1, by: wall.cast_signed() }).await;
    }
}

fn busy() -> Sim<Counters> {
    let mut sim = world(&busy_setup());
    let tasks = vec![
        code(&sim, 0, async |client| {
            client.spawn(ThreadId(1)).await;
            worker(client.clone()).await;
            client.cancel(ThreadId(1)).await;
        }),
        code(&sim, 1, async |client| {
            loop {
                client.sleep(ms(7)).await;
                client.call(R1, Ask::Add(1)).within(ms(5)).await.ok();
            }
        }),
        code(&sim, 2, worker),
        code(&sim, 3, worker),
    ];
    sim.set_tasks(tasks);
    sim
}

const PROCESS_SITES: [&str; 8] = [
    "client.pause@c1",
    "client.pause@c2",
    "client.crash@c1",
    "client.crash@c2",
    "client.stall@c1/worker",
    "client.stall@c2/worker-2",
    "server.stall@r2",
    "server.restart@r1",
];
const LINK_SITES: [&str; 7] = [
    "net.delay@c1->r1",
    "net.delay@r2->c2",
    "net.latency@c1->r1",
    "net.latency@r1->c2",
    "net.cut@c2->r1",
    "net.partition@r1->c1",
    "net.partition@c2->r2",
];
const PICKED: [&str; 5] =
    ["net.loss@c1->r1", "net.loss@r2->c2", "order.tie@c1", "order.tie@r1", "server.operation@r2"];

/// Deviations of all kinds, each place at most once.
fn plans() -> impl Strategy<Value = Vec<Deviation>> {
    let lengths = (prop::sample::select(PROCESS_SITES.as_slice()), 1_u32..40, 0_u64..60)
        .prop_map(|(site, nth, length)| format!("{site}#{nth} = {length}ms"));
    let timed = (prop::sample::select(PROCESS_SITES.as_slice()), 0_u64..200, 0_u64..60)
        .prop_map(|(site, at, length)| format!("{site}@{at}ms = {length}ms"));
    let links = (prop::sample::select(LINK_SITES.as_slice()), 1_u32..15, 0_u64..30)
        .prop_map(|(site, nth, length)| format!("{site}#{nth} = {length}ms"));
    let picks = (prop::sample::select(PICKED.as_slice()), 1_u32..15)
        .prop_map(|(site, nth)| format!("{site}#{nth} = 1"));
    let steps = (prop::sample::select(["c1", "r1"].as_slice()), 1_u32..20, -90_i64..90)
        .prop_map(|(host, nth, by)| format!("clock.step@{host}#{nth} = {by:+}ms"));
    let one = prop_oneof![lengths, timed, links, picks, steps];
    prop::collection::vec(one, 0..6).prop_map(|texts| {
        let mut plan: Vec<Deviation> = Vec::new();
        for text in texts {
            let deviation: Deviation = text.parse().expect("a well-formed deviation");
            let place = |other: &Deviation| (other.site.clone(), other.anchor);
            if plan.iter().all(|other| place(other) != place(&deviation)) {
                plan.push(deviation);
            }
        }
        plan
    })
}

/// The events that are hashed. Of the others, two may change places with a fault at their instant:
/// a hazard strikes when a moment is passed, its replay when the own event before it is over.
fn hashed(run: &Run) -> impl Iterator<Item = &Event> {
    run.events
        .iter()
        .filter(|event| !matches!(event.what, What::Passed { .. } | What::GivenUp { .. }))
}

fn seeded(seed: u64) -> Source {
    Source::Seeded(RunKey::new(seed, 1))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn a_run_s_own_log_repeats_it(seed: u64, plan in plans(), is_seeded: bool) {
        let mut sim = busy();
        let source = if is_seeded { seeded(seed) } else { Source::Benign };
        let first = play_from(&mut sim, source, &plan);
        let again = play_from(&mut sim, Source::Benign, &first.log);
        prop_assert_eq!(&again.unreached, &Vec::<String>::new());
        for (again, first) in hashed(&again).zip(hashed(&first)) {
            prop_assert_eq!(again, first);
        }
        prop_assert_eq!(again.hash, first.hash);
        prop_assert_eq!(again.stop, first.stop);
    }

    #[test]
    fn a_silent_run_has_the_hash_of_the_recorded_one(seed: u64, plan in plans()) {
        let mut sim = busy();
        let recorded = play_from(&mut sim, seeded(seed), &plan);
        sim.record(false);
        let silent = go(&mut sim, seeded(seed), &plan);
        prop_assert_eq!(silent.hash, recorded.hash);
        prop_assert!(silent.events.iter().all(|event| !event.what.is_detail()));
        let judged: Vec<_> =
            recorded.events.iter().filter(|event| !event.what.is_detail()).copied().collect();
        prop_assert_eq!(silent.events, judged);
    }

    #[test]
    fn reused_memory_changes_nothing(seeds: Vec<u64>, plan in plans()) {
        let mut used = busy();
        for &seed in seeds.iter().take(3) {
            let fresh = play_from(&mut busy(), seeded(seed), &plan);
            prop_assert_eq!(play_from(&mut used, seeded(seed), &plan), fresh);
        }
    }
}

#[test]
fn different_seeds_make_different_runs() {
    let mut sim = busy();
    let mut hashes: Vec<u64> =
        (0..50).map(|seed| play_from(&mut sim, seeded(seed), &[]).hash).collect();
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(hashes.len(), 50);
}

#[test]
fn hazards_strike_in_seeded_runs_alone() {
    let mut sim = busy();
    let is_fault = |what: &What| {
        matches!(what, What::Paused { .. } | What::Crashed { .. } | What::ServerDown { .. })
    };
    let run = play(&mut sim, &[]);
    assert_eq!(run.when(is_fault), [0; 0]);
    assert_eq!(run.log, []);
    assert_eq!(run.stop, Stop::Finished);
    let struck =
        (0..20).filter(|&seed| !play_from(&mut sim, seeded(seed), &[]).when(is_fault).is_empty());
    assert!(struck.count() > 15);
}

#[test]
fn hazards_that_are_certain_strike_on_time() {
    let mut setup = super::lab::alone();
    setup.hazards = vec![Hazard {
        site: "client.pause@c1".to_owned(),
        at: HazardAt::Gap(Distribution::Fixed(ms(10))),
        magnitude: Distribution::Fixed(ms(3)),
        is_backward: false,
    }];
    let mut sim = only(&setup, async |client| {
        client.work(ms(25)).await;
        here(&client, 1);
    });
    let run = play_from(&mut sim, seeded(1), &[]);
    // Gaps count from strike to strike; the work is lengthened by three pauses.
    assert_eq!(run.when(|what| matches!(what, What::Paused { .. })), [10, 20, 30]);
    assert_eq!(run.places(), [(34, 1)]);
    let log: Vec<String> = run.log.iter().map(ToString::to_string).collect();
    assert_eq!(log[0], "client.pause@c1@10ms = 3ms");
    assert_eq!(log.len(), 3);
}

#[test]
fn a_hazard_at_a_moment_has_its_odds() {
    let setup = |odds| {
        let mut setup = super::lab::alone();
        setup.hazards = vec![Hazard {
            site: "clock.step@c1".to_owned(),
            at: HazardAt::Moment(Moment::Renewed, odds),
            magnitude: Distribution::Fixed(ms(3)),
            is_backward: true,
        }];
        setup
    };
    let count = |odds| {
        let mut sim = only(&setup(odds), async |client| {
            for _ in 0..1000 {
                client.sleep(Duration::from_micros(1)).await;
                client.mark(Moment::Renewed);
                client.mark(Moment::Acquired);
            }
        });
        let run = play_from(&mut sim, seeded(5), &[]);
        let steps = run.pick(|what| match *what {
            What::ProcessClock { by, .. } => Some(by),
            _ => None,
        });
        assert!(steps.iter().all(|&(_, by)| by == -3_000_000));
        steps.len()
    };
    assert_eq!(count(0), 0);
    assert_eq!(count(u64::MAX), 1000);
    assert!((180..320).contains(&count(u64::MAX / 4)));
}

#[test]
fn no_hazard_strikes_after_healing() {
    let mut sim = busy();
    for seed in 0..10 {
        sim.record(true);
        sim.begin(seeded(seed), &[]).expect("no plan");
        let mut faults = 0;
        sim.run(super::lab::at(20), false, &mut |_: &_| {});
        sim.heal();
        sim.run(super::lab::at(2_000), false, &mut |event: &Event| {
            faults += usize::from(matches!(
                event.what,
                What::Paused { .. }
                    | What::Crashed { .. }
                    | What::Stalled { .. }
                    | What::ServerStalled { .. }
                    | What::LinkCut { .. }
                    | What::ProcessClock { .. }
            ));
        });
        assert_eq!(faults, 0, "seed {seed}");
    }
}
