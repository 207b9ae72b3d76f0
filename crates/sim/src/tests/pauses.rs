//! Pauses of processes and stalls of threads: what they defer, and what they lengthen.

use fencepost_history::{Duration, ThreadId, What};

use super::lab::{R1, alone, code, here, ms, noted, only, own_events, play, process, setup, world};
use crate::Sim;
use crate::tests::lab::{Ask, Counters};

/// One operation of each kind: clock, call, sleep, work, note; eight own events.
fn one_of_each() -> Sim<Counters> {
    only(&alone(), async |client| {
        client.now().await;
        client.call(R1, Ask::Add(1)).await;
        client.sleep(ms(10)).await;
        client.work(ms(5)).await;
        noted(&client).await;
    })
}

#[test]
fn a_pause_after_own_event_k_defers_the_one_after_it() {
    let mut sim = one_of_each();
    assert_eq!(own_events(&mut sim, &[], 200), [0, 0, 2, 2, 12, 12, 17, 17]);
    for (k, expected) in [
        (1, [0, 100, 102, 102, 112, 112, 117, 117]),
        (2, [0, 0, 100, 100, 110, 110, 115, 115]),
        (3, [0, 0, 2, 102, 112, 112, 117, 117]),
        // A sleep is not lengthened: its timer was due at 12 and fires when the process resumes.
        (4, [0, 0, 2, 2, 102, 102, 107, 107]),
        (5, [0, 0, 2, 2, 12, 112, 117, 117]),
        // CPU work is lengthened by the whole pause.
        (6, [0, 0, 2, 2, 12, 12, 117, 117]),
        (7, [0, 0, 2, 2, 12, 12, 17, 117]),
        (8, [0, 0, 2, 2, 12, 12, 17, 17]),
    ] {
        let deviation = format!("client.pause@c1#{k} = 100ms");
        assert_eq!(own_events(&mut sim, &[&deviation], 300), expected, "{deviation}");
        assert_eq!(sim.choices(|choices| choices.unreached().count()), 0, "{deviation}");
    }
}

#[test]
fn a_pause_after_an_own_event_that_never_comes_is_told() {
    let mut sim = one_of_each();
    let run = play(&mut sim, &["client.pause@c1#9 = 100ms", "client.pause@c1#8 = 1ms"]);
    assert_eq!(run.unreached, ["client.pause@c1#9 = 100ms"]);
}

#[test]
fn a_pause_ends_at_its_instant_and_not_before() {
    let mut sim = only(&alone(), async |client| {
        here(&client, 1);
        client.work(Duration::from_nanos(1)).await;
        here(&client, 2);
    });
    let run = play(&mut sim, &["client.pause@c1#1 = 12.000003ms"]);
    let exact: Vec<u64> = run.events.iter().map(|event| event.at.as_nanos()).collect();
    // Told the place, paused, resumed, told the second place, finished.
    assert_eq!(exact, [0, 0, 12_000_003, 12_000_004, 12_000_004]);
}

#[test]
fn overlapping_pauses_last_to_the_end_of_the_last_and_stop_once() {
    let both = |texts: &[&str]| {
        let mut sim = setup(vec![process("c1", &["worker", "worker-2"], &[])], &["r1"]);
        sim.max_events = 100;
        let mut sim = super::lab::world(&sim);
        let tasks = vec![
            code(&sim, 0, async |client| {
                client.work(ms(15)).await;
                here(&client, 1);
            }),
            code(&sim, 1, async |client| {
                client.sleep(ms(15)).await;
                here(&client, 2);
            }),
        ];
        sim.set_tasks(tasks);
        play(&mut sim, texts)
    };
    // Stopped from 2 to 20: the work ends 18 ms late, the sleep when its thread may run.
    let run = both(&[
        "client.pause@c1@2ms = 10ms",
        "client.pause@c1@5ms = 3ms",
        "client.pause@c1@10ms = 10ms",
    ]);
    assert_eq!(run.places(), [(20, 2), (33, 1)]);
    assert_eq!(run.when(|what| matches!(what, What::Paused { .. })), [2, 5, 10]);
    assert_eq!(run.when(|what| matches!(what, What::Resumed { .. })), [20]);
    let run = both(&["client.pause@c1@2ms = 10ms", "client.pause@c1@5ms = 7ms"]);
    assert_eq!(run.when(|what| matches!(what, What::Resumed { .. })), [12], "told once");
}

#[test]
fn a_stall_and_a_pause_together_stop_a_thread_for_as_long_as_either_lasts() {
    let mut sim = only(&alone(), async |client| {
        client.work(ms(30)).await;
        here(&client, 1);
    });
    for (first, second, end) in [
        ("client.stall@c1/worker@5ms = 10ms", "client.pause@c1@10ms = 15ms", 30 + 20),
        ("client.pause@c1@5ms = 10ms", "client.stall@c1/worker@10ms = 15ms", 30 + 20),
        ("client.stall@c1/worker@5ms = 20ms", "client.pause@c1@10ms = 5ms", 30 + 20),
        ("client.pause@c1@5ms = 20ms", "client.stall@c1/worker@10ms = 5ms", 30 + 20),
        ("client.pause@c1@5ms = 4ms", "client.stall@c1/worker@10ms = 6ms", 30 + 10),
    ] {
        assert_eq!(play(&mut sim, &[first, second]).places(), [(end, 1)], "{first}, {second}");
    }
}

#[test]
fn a_stall_stops_its_thread_alone() {
    let setup = setup(vec![process("c1", &["worker"], &["renewer"])], &["r1"]);
    let mut sim = world(&setup);
    let tasks = vec![
        code(&sim, 0, async |client| {
            client.spawn(ThreadId(1)).await;
            client.sleep(ms(30)).await;
            here(&client, 1);
        }),
        code(&sim, 1, async |client| {
            loop {
                client.sleep(ms(10)).await;
                here(&client, 2);
            }
        }),
    ];
    sim.set_tasks(tasks);
    let renewals = |texts: &[&str], sim: &mut Sim<Counters>| play(sim, texts).places();
    assert_eq!(renewals(&[], &mut sim), [(10, 2), (20, 2), (30, 1)]);
    let stalled = renewals(&["client.stall@c1/worker@15ms = 40ms"], &mut sim);
    assert_eq!(stalled, [(10, 2), (20, 2), (30, 2), (40, 2), (50, 2), (55, 1)]);
    let stalled = renewals(&["client.stall@c1/renewer@15ms = 10ms"], &mut sim);
    assert_eq!(stalled, [(10, 2), (25, 2), (30, 1)]);
    let paused = renewals(&["client.pause@c1@15ms = 40ms"], &mut sim);
    assert_eq!(paused, [(10, 2), (55, 1)], "a pause of the process stops both");
}

#[test]
fn a_pause_without_end_leaves_the_run_idle() {
    let mut sim = one_of_each();
    sim.begin(fencepost_choice::Source::Benign, &super::lab::plan(&["client.pause@c1#2 = never"]))
        .expect("a place of this world");
    let stop = sim.run(fencepost_history::Instant::NEVER, true, &mut |_: &_| {});
    assert_eq!(stop, crate::Stop::Idle);
}
