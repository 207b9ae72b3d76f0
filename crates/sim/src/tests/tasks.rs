//! Code that dies, is started again, starts other code, and waits for two things at once.

use fencepost_choice::{Distribution, Source};
use fencepost_history::{Instant, Leg, Moment, ProcessId, ThreadId, What};

use super::lab::{
    Ask, Counters, Port, R1, alone, at, code, here, ms, noted, only, plan, play, process, saw,
    setup, world,
};
use crate::{LinkModel, Sim, Stop, join, race};

/// Says hello, calls, says goodbye.
async fn call_once(client: Port) {
    here(&client, 1);
    saw(&client, 100 + client.call(R1, Ask::Add(1)).await);
}

#[test]
fn a_crash_drops_code_and_a_restart_runs_it_from_its_beginning() {
    let mut setup = alone();
    setup.link = LinkModel::fixed(ms(5));
    let mut sim = only(&setup, call_once);
    let run = play(&mut sim, &["client.crash@c1@6ms = 1ms"]);
    // The old reply comes at 10 to the new incarnation, which waits for its own until 17.
    assert_eq!(run.places(), [(0, 1), (7, 1), (17, 102)]);
    assert_eq!(run.when(|what| matches!(what, What::Crashed { .. })), [6]);
    assert_eq!(run.when(|what| matches!(what, What::Restarted { .. })), [7]);
    assert_eq!(run.when(|what| matches!(what, What::Dropped { leg: Leg::Reply, .. })), [10]);
    assert_eq!(run.when(|what| matches!(what, What::Seen { .. })), [17]);
    assert_eq!(run.stop, Stop::Finished);
}

#[test]
fn a_crash_without_end_ends_the_work_of_its_process() {
    let mut sim = only(&alone(), call_once);
    let run = play(&mut sim, &["client.crash@c1#2 = never"]);
    assert_eq!(run.places(), [(0, 1), (0, 101)][..1]);
    assert_eq!(run.stop, Stop::Finished);
    assert_eq!(run.when(|what| matches!(what, What::Finished { .. })), [0; 0]);
}

#[test]
fn a_crash_at_a_step_comes_after_its_effect_and_before_the_next() {
    let mut sim = only(&alone(), async |client| {
        client.call(R1, Ask::Add(1)).await;
        client.call(R1, Ask::Add(1)).await;
    });
    for (k, sum) in [(1, 1), (2, 1), (3, 2), (4, 2)] {
        let run = play(&mut sim, &[&format!("client.crash@c1#{k} = never")]);
        assert!(run.unreached.is_empty(), "#{k}");
        // The run is over as soon as nobody works; what is under way still arrives.
        sim.run(at(100), false, &mut |_: &_| {});
        assert_eq!(sim.services(|counters| counters.sums[0]), sum, "#{k}");
    }
}

#[test]
fn the_dead_say_no_more() {
    let mut sim = only(&alone(), async |client| {
        client.now().await;
        here(&client, 1);
        client.now().await;
    });
    let run = play(&mut sim, &["client.crash@c1#1 = never"]);
    assert_eq!(run.places(), [], "what follows a step in its instant dies with the process");
}

#[test]
fn a_crash_while_the_process_starts_leaves_no_thread_behind() {
    let mut setup = setup(vec![process("c1", &["worker", "worker-2"], &[])], &["r1"]);
    setup.max_events = 100;
    let mut sim = world(&setup);
    let tasks = vec![
        code(&sim, 0, async |client| {
            client.now().await;
            client.now().await;
        }),
        code(&sim, 1, async |client| {
            here(&client, 2);
            noted(&client).await;
        }),
    ];
    sim.set_tasks(tasks);
    let run = play(&mut sim, &["client.crash@c1#1 = never"]);
    assert_eq!(run.places(), []);
    assert_eq!(run.stop, Stop::Finished);
    let run = play(&mut sim, &["client.crash@c1#1 = 5ms"]);
    assert_eq!(run.places(), [(5, 2)]);
    assert_eq!(run.stop, Stop::Finished);
}

#[test]
fn a_pause_ends_with_the_process() {
    let mut sim = only(&alone(), async |client| {
        client.sleep(ms(100)).await;
        here(&client, 1);
    });
    let plan = ["client.pause@c1@2ms = 48ms", "client.crash@c1@5ms = 5ms"];
    let run = play(&mut sim, &plan);
    assert_eq!(run.places(), [(110, 1)]);
    assert_eq!(run.when(|what| matches!(what, What::Resumed { .. })), [0; 0], "nobody resumes");
}

#[test]
fn the_dead_are_neither_paused_nor_stalled_nor_killed() {
    let mut sim = only(&alone(), call_once);
    let run = play(
        &mut sim,
        &[
            "client.crash@c1@1ms = 20ms",
            "client.pause@c1@2ms = 50ms",
            "client.stall@c1/worker@3ms = 50ms",
            "client.crash@c1@4ms = 1ms",
        ],
    );
    assert_eq!(run.places(), [(0, 1), (21, 1), (23, 102)]);
    assert_eq!(run.when(|what| matches!(what, What::Crashed { .. })), [1]);
}

#[test]
fn a_process_starts_when_it_is_told_to() {
    let mut setup = alone();
    setup.processes[0].start = at(7);
    let mut sim = only(&setup, call_once);
    assert_eq!(play(&mut sim, &[]).places(), [(7, 1), (9, 101)]);
}

/// A worker that has a helper count every 10 ms, cancels it at 25 and starts it again at 50.
fn with_helper() -> Sim<Counters> {
    let mut sim = world(&setup(vec![process("c1", &["worker"], &["renewer"])], &["r1"]));
    let tasks = vec![
        code(&sim, 0, async |client| {
            client.spawn(ThreadId(1)).await;
            client.sleep(ms(25)).await;
            client.cancel(ThreadId(1)).await;
            client.cancel(ThreadId(1)).await;
            client.sleep(ms(25)).await;
            client.spawn(ThreadId(1)).await;
            client.sleep(ms(15)).await;
        }),
        code(&sim, 1, async |client| {
            here(&client, 1);
            loop {
                client.sleep(ms(10)).await;
                here(&client, 2);
            }
        }),
    ];
    sim.set_tasks(tasks);
    sim
}

#[test]
fn a_helper_runs_from_its_spawning_to_its_cancelling() {
    let run = play(&mut with_helper(), &[]);
    assert_eq!(run.places(), [(0, 1), (10, 2), (20, 2), (50, 1), (60, 2)]);
    assert_eq!(run.stop, Stop::Finished, "a helper is not waited for");
}

#[test]
fn a_crash_takes_the_helper_along_and_a_restart_does_not_start_it() {
    let run = play(&mut with_helper(), &["client.crash@c1@12ms = never"]);
    assert_eq!(run.places(), [(0, 1), (10, 2)]);
    let mut sim = world(&setup(vec![process("c1", &["worker"], &["renewer"])], &["r1"]));
    let tasks = vec![
        code(&sim, 0, async |client| {
            here(&client, 1);
            client.sleep(ms(5)).await;
            client.spawn(ThreadId(1)).await;
            client.sleep(ms(5)).await;
        }),
        code(&sim, 1, async |client| here(&client, 2)),
    ];
    sim.set_tasks(tasks);
    let run = play(&mut sim, &["client.crash@c1@7ms = 1ms"]);
    assert_eq!(run.places(), [(0, 1), (5, 2), (8, 1), (13, 2)]);
}

#[test]
fn join_waits_for_both_and_race_for_the_sooner() {
    let mut sim = only(&alone(), async |client| {
        let both = join(client.sleep(ms(30)), client.call(R1, Ask::Add(1))).await;
        saw(&client, both.1);
        let slow = async {
            client.sleep(ms(30)).await;
            1
        };
        let quick = async {
            client.sleep(ms(10)).await;
            2
        };
        saw(&client, race(slow, quick).await);
        client.sleep(ms(50)).await;
        here(&client, 3);
    });
    let run = play(&mut sim, &[]);
    assert_eq!(run.places(), [(30, 1), (40, 2), (90, 3)]);
    // Two starts and two ends of the join, two starts and one end of the race, a sleep.
    assert_eq!(sim.own_events(ProcessId(0)), 4 + 3 + 2);
}

#[test]
fn the_loser_of_a_race_is_given_up_and_its_reply_is_nobody_s() {
    let mut sim = only(&alone(), async |client| {
        let call = async { client.call(R1, Ask::Later(10)).await };
        let sleep = async {
            client.sleep(ms(5)).await;
            77
        };
        saw(&client, race(call, sleep).await);
        // It takes the slot of the call that was given up, and waits beyond that one's reply.
        saw(&client, client.call(R1, Ask::Later(20)).await);
    });
    let run = play(&mut sim, &[]);
    assert_eq!(run.places(), [(5, 77), (27, 0)]);
    assert_eq!(run.when(|what| matches!(what, What::GivenUp { .. })), [5]);
    assert_eq!(run.when(|what| matches!(what, What::Seen { .. })), [27]);
}

#[test]
fn a_draw_is_nominal_unless_a_plan_or_a_seed_says_otherwise() {
    let mut sim = only(&alone(), async |client| {
        let jitter = Distribution::Uniform { min: ms(10), max: ms(30) };
        saw(&client, client.draw(&jitter).as_millis());
        saw(&client, client.draw(&jitter).as_millis());
    });
    assert_eq!(play(&mut sim, &[]).places(), [(0, 20), (0, 20)]);
    let run = play(&mut sim, &["client.jitter@c1#2 = 11ms"]);
    assert_eq!(run.places(), [(0, 20), (0, 11)]);
}

#[test]
fn a_moment_says_how_many_own_events_came_before() {
    let mut sim = only(&alone(), async |client| {
        client.mark(Moment::Started);
        client.sleep(ms(1)).await;
        client.mark(Moment::BeforeWrite);
        client.call(R1, Ask::Add(1)).marking(Moment::WriteSent).within(ms(9)).await.ok();
        client.mark(Moment::WriteDone);
    });
    let run = play(&mut sim, &[]);
    let passed = run.pick(|what| match *what {
        What::Passed { moment, step, .. } => Some((moment, step)),
        _ => None,
    });
    assert_eq!(
        passed,
        [
            (0, (Moment::Started, 0)),
            (1, (Moment::BeforeWrite, 2)),
            (1, (Moment::WriteSent, 3)),
            (3, (Moment::WriteDone, 4)),
        ]
    );
    // A pause anchored at a moment's step falls between that moment and the next own event.
    let run = play(&mut sim, &["client.pause@c1#2 = 10ms"]);
    let sent = run.when(|what| matches!(what, What::Sent { .. }));
    assert_eq!(sent, [11]);
}

#[test]
fn a_run_may_stop_and_go_on() {
    let whole = play(&mut with_helper(), &["client.pause@c1@12ms = 5ms"]);
    let mut sim = with_helper();
    sim.record(true);
    sim.begin(Source::Benign, &plan(&["client.pause@c1@12ms = 5ms"])).expect("a good plan");
    let mut events = Vec::new();
    let mut until = Instant::ZERO;
    loop {
        match sim.run(until, true, &mut |event: &_| events.push(*event)) {
            Stop::Reached => until = until + ms(3),
            stop => break assert_eq!(stop, Stop::Finished),
        }
    }
    assert_eq!(events, whole.events);
    assert_eq!(sim.hash(), whole.hash);
}
