//! Calls: their five instants, and what the network does to them.

use fencepost_choice::{PlanError, Source};
use fencepost_history::{CallId, Duration, Event, Instant, Leg, ProcessId, ThreadId, What};

use super::lab::{
    Ask, Counters, R1, R2, Run, alone, at, here, ms, only, plan, play, process, saw, setup,
};
use crate::{LinkModel, Sim, Stop};

/// Three calls with a time-out of 20 ms each, and what came of them: the reply, or 999.
fn three_calls() -> Sim<Counters> {
    only(&alone(), async |client| {
        for _ in 0..3 {
            let reply = client.call(R1, Ask::Add(1)).within(ms(20)).await;
            saw(&client, reply.unwrap_or(999));
        }
    })
}

fn dropped(run: &Run) -> Vec<(u64, (CallId, Leg))> {
    run.pick(|what| match *what {
        What::Dropped { call, leg } => Some((call, leg)),
        _ => None,
    })
}

#[test]
fn a_call_has_five_instants_in_the_history() {
    let mut setup = alone();
    setup.links =
        vec![(ProcessId(0), R1, Leg::Reply, LinkModel::fixed(Duration::from_micros(4500)))];
    let mut sim = only(&setup, async |client| {
        saw(&client, client.call(R1, Ask::Add(7)).await);
    });
    sim.services(|counters| counters.cost = Duration::from_micros(500));
    let run = play(&mut sim, &[]);
    let (call, thread, server) = (CallId(1), ThreadId(0), R1);
    // The reply leaves when the server has worked for half a millisecond.
    assert_eq!(
        run.events[..4],
        [
            Event { at: at(0), what: What::Sent { call, thread, server, arrives: at(1) } },
            Event { at: at(1), what: What::Applied { call, server } },
            Event { at: at(1), what: What::Replied { call, server, arrives: at(6) } },
            Event { at: at(6), what: What::Seen { call } },
        ]
    );
    assert_eq!(run.places(), [(6, 7)]);
    let details = sim.details();
    let texts: Vec<_> = details.iter().map(|d| (d.event, d.text.as_str())).collect();
    assert_eq!(texts, [(0, "Add(7)"), (2, "= 7")]);
}

#[test]
fn a_busy_server_answers_one_request_after_the_other() {
    let setup =
        setup(vec![process("c1", &["worker"], &[]), process("c2", &["worker"], &[])], &["r1"]);
    let mut sim = super::lab::world(&setup);
    let ask = async |client: super::lab::Port| saw(&client, client.call(R1, Ask::Add(1)).await);
    let tasks = vec![super::lab::code(&sim, 0, ask), super::lab::code(&sim, 1, ask)];
    sim.set_tasks(tasks);
    sim.services(|counters| counters.cost = ms(5));
    assert_eq!(play(&mut sim, &[]).places(), [(7, 1), (12, 2)]);
}

#[test]
fn a_lost_request_never_takes_effect_and_times_out() {
    let run = play(&mut three_calls(), &["net.loss@c1->r1#2 = 1"]);
    assert_eq!(run.places(), [(2, 1), (22, 999), (24, 2)]);
    assert_eq!(dropped(&run), [(2, (CallId(2), Leg::Request))]);
    let given_up = run.pick(|what| match *what {
        What::GivenUp { call } => Some(call),
        _ => None,
    });
    assert_eq!(given_up, [(22, CallId(2))]);
    let sent = run.pick(|what| match *what {
        What::Sent { arrives, .. } => Some(arrives),
        _ => None,
    });
    assert_eq!(sent[1], (2, Instant::NEVER), "the record says that it is lost");
}

#[test]
fn a_lost_reply_leaves_the_effect_and_times_out() {
    let run = play(&mut three_calls(), &["net.loss@r1->c1#2 = 1"]);
    assert_eq!(run.places(), [(2, 1), (22, 999), (24, 3)]);
    assert_eq!(dropped(&run), [(3, (CallId(2), Leg::Reply))]);
}

#[test]
fn requests_and_replies_of_a_link_are_numbered_apart() {
    // The first request is lost, so the second request has the first reply.
    let run = play(&mut three_calls(), &["net.loss@c1->r1#1 = 1", "net.loss@r1->c1#1 = 1"]);
    assert_eq!(run.places(), [(20, 999), (40, 999), (42, 2)]);
    let sim = {
        let mut sim = three_calls();
        play(&mut sim, &["net.loss@c1->r1#1 = 1"]);
        sim
    };
    let sent = sim.messages_sent();
    assert_eq!(sent, [("c1->r1".to_owned(), 3), ("r1->c1".to_owned(), 2)]);
}

#[test]
fn a_delay_adds_to_one_message_and_a_latency_replaces_its_own() {
    let mut sim = three_calls();
    let run = play(&mut sim, &["net.delay@c1->r1#2 = 7ms"]);
    assert_eq!(run.places(), [(2, 1), (11, 2), (13, 3)]);
    let run = play(&mut sim, &["net.latency@r1->c1#1 = 8ms"]);
    assert_eq!(run.places(), [(9, 1), (11, 2), (13, 3)]);
}

#[test]
fn a_late_reply_is_nobody_s() {
    // The second reply comes at 33; the third call has been waiting since 22 and is not answered
    // by it, but by its own reply.
    let run = play(&mut three_calls(), &["net.delay@r1->c1#2 = 19ms", "net.delay@r1->c1#3 = 9ms"]);
    assert_eq!(run.places(), [(2, 1), (22, 999), (33, 3)]);
    let seen = run.pick(|what| match *what {
        What::Seen { call } => Some(call),
        _ => None,
    });
    assert_eq!(seen, [(2, CallId(1)), (33, CallId(3))]);
}

#[test]
fn a_stale_reply_is_no_own_event() {
    let late = "net.delay@r1->c1#2 = 25ms";
    let mut sim = three_calls();
    play(&mut sim, &[late]);
    // Sent and seen, sent and timed out, sent and seen.
    assert_eq!(sim.own_events(ProcessId(0)), 6);
    assert_eq!(sim.executed(R1), 3);
}

#[test]
fn a_cut_loses_one_direction_and_a_partition_both() {
    let mut sim = three_calls();
    // From its first request on, nothing reaches the server for 25 ms.
    let run = play(&mut sim, &["net.cut@c1->r1#1 = 25ms"]);
    assert_eq!(run.places(), [(20, 999), (40, 999), (42, 1)]);
    // The other direction: the requests take effect.
    let run = play(&mut sim, &["net.cut@r1->c1#1 = 25ms"]);
    assert_eq!(run.places(), [(20, 999), (40, 999), (42, 3)]);
    // Replies that are under way when a cut of requests begins arrive.
    let run = play(&mut sim, &["net.cut@c1->r1@1.5ms = 25ms"]);
    assert_eq!(run.places(), [(2, 1), (22, 999), (42, 999)]);
    // A partition loses the reply of the request that was under way.
    let run = play(&mut sim, &["net.partition@c1->r1@500us = 25ms"]);
    assert_eq!(run.places(), [(20, 999), (40, 999), (42, 2)]);
    let cut = run.pick(|what| match *what {
        What::LinkCut { process, server, until } => Some((process, server, until)),
        _ => None,
    });
    assert_eq!(cut, [(0, (ProcessId(0), R1, Instant::from_nanos(25_500_000)))]);
}

#[test]
fn a_cut_between_one_pair_leaves_others_alone() {
    let setup = setup(vec![process("c1", &["worker"], &[])], &["r1", "r2"]);
    let mut sim = only(&setup, async |client| {
        saw(&client, client.call(R1, Ask::Add(1)).within(ms(20)).await.unwrap_or(999));
        saw(&client, client.call(R2, Ask::Add(1)).within(ms(20)).await.unwrap_or(999));
    });
    let run = play(&mut sim, &["net.partition@r2->c1@0s = never"]);
    assert_eq!(run.places(), [(2, 1), (22, 999)]);
    let run = play(&mut sim, &["net.partition@r1->c1@0s = never"]);
    assert_eq!(run.places(), [(20, 999), (22, 1)]);
}

#[test]
fn healing_ends_the_cuts_that_have_an_end() {
    for (cut, expected) in [
        ("net.partition@c1->r1#1 = 10min", vec![(20, 999), (40, 999), (42, 1)]),
        ("net.partition@c1->r1#1 = never", vec![(20, 999), (40, 999), (60, 999)]),
    ] {
        let mut sim = three_calls();
        sim.begin(Source::Benign, &plan(&[cut])).expect("a place of this world");
        let mut run = Run {
            events: Vec::new(),
            stop: Stop::Reached,
            hash: 0,
            log: Vec::new(),
            unreached: Vec::new(),
        };
        let stop = sim.run(at(30), true, &mut |event: &Event| run.events.push(*event));
        assert_eq!(stop, Stop::Reached);
        assert_eq!(sim.now(), at(30));
        sim.heal();
        let stop = sim.run(at(100), true, &mut |event: &Event| run.events.push(*event));
        assert_eq!(stop, Stop::Finished);
        assert_eq!(run.places(), expected, "{cut}");
        assert_eq!(run.when(|what| matches!(what, What::Healed)), [30]);
    }
}

#[test]
fn what_a_run_does_not_reach_is_told_and_what_it_does_not_have_is_refused() {
    let mut sim = three_calls();
    let run = play(
        &mut sim,
        &["net.loss@c1->r1#4 = 1", "net.loss@r1->c1#3 = 1", "client.pause@c1@2s = 1s"],
    );
    assert_eq!(run.stop, Stop::Finished);
    assert_eq!(run.unreached, ["net.loss@c1->r1#4 = 1", "client.pause@c1@2s = 1s"]);
    let nobody = sim.begin(Source::Benign, &plan(&["client.pause@c7#1 = 1s"]));
    assert!(matches!(nobody, Err(PlanError::NoSuchSite(_))));
    let twice =
        sim.begin(Source::Benign, &plan(&["client.pause@c1#1 = 1s", "client.pause@c1#1 = 2s"]));
    assert!(matches!(twice, Err(PlanError::Twice(_))));
}

#[test]
fn a_request_that_nobody_awaits_is_executed_and_not_answered() {
    let mut sim = only(&alone(), async |client| {
        client.send(R1, Ask::Add(5)).await;
        client.sleep(ms(10)).await;
        here(&client, 1);
    });
    let run = play(&mut sim, &[]);
    assert_eq!(sim.services(|counters| counters.sums[0]), 5);
    assert_eq!(run.when(|what| matches!(what, What::Replied { .. })), [0; 0]);
    assert_eq!(sim.own_events(ProcessId(0)), 3);
}
