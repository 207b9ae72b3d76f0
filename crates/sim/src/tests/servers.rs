//! Servers that die, hang, wake up, talk to each other, and are operated upon.

use fencepost_history::{Duration, Instant, Leg, What};

use super::lab::{Ask, Counters, R1, R2, alone, here, ms, only, play, process, saw, setup, world};
use crate::{Sim, Stop};

/// Five calls with a time-out of 5 ms and a wait up to the next 10 ms.
fn five_calls() -> Sim<Counters> {
    only(&alone(), five)
}

async fn five(client: super::lab::Port) {
    let start = client.now().await;
    for round in 1..=5 {
        saw(&client, client.call(R1, Ask::Add(1)).within(ms(5)).await.unwrap_or(999));
        let gone = client.now().await.since(start);
        client.sleep(ms(10 * round).saturating_sub(gone)).await;
    }
}

fn replies(sim: &mut Sim<Counters>, texts: &[&str]) -> Vec<u32> {
    let run = play(sim, texts);
    assert!(run.unreached.is_empty(), "{:?}", run.unreached);
    run.places().into_iter().map(|(_, reply)| reply).collect()
}

#[test]
fn a_server_that_is_down_loses_what_arrives_and_comes_back_empty() {
    let mut sim = five_calls();
    assert_eq!(replies(&mut sim, &[]), [1, 2, 3, 4, 5]);
    // Anchored at its second request, which it still answers.
    assert_eq!(replies(&mut sim, &["server.restart@r1#2 = 15ms"]), [1, 2, 999, 1001, 1002]);
    let run = play(&mut sim, &["server.restart@r1#2 = 15ms"]);
    assert_eq!(run.when(|what| matches!(what, What::ServerDown { .. })), [11]);
    assert_eq!(run.when(|what| matches!(what, What::ServerUp { .. })), [26]);
    assert_eq!(
        run.when(|what| matches!(what, What::Dropped { leg: Leg::Request, .. })),
        [21],
        "lost when it arrives"
    );
    assert_eq!(replies(&mut sim, &["server.restart@r1@12ms = never"]), [1, 2, 999, 999, 999]);
    assert_eq!(replies(&mut sim, &[]), [1, 2, 3, 4, 5], "the next run starts anew");
}

#[test]
fn a_power_loss_is_another_death_for_the_server_itself() {
    let mut sim = five_calls();
    let lost = replies(&mut sim, &["server.power-loss@r1#2 = 15ms"]);
    assert_eq!(lost, [1, 2, 999, 6001, 6002], "the counting server tells the two apart");
    let run = play(&mut sim, &["server.power-loss@r1#2 = 15ms"]);
    assert_eq!(run.when(|what| matches!(what, What::ServerDown { .. })), [11]);
    assert_eq!(run.when(|what| matches!(what, What::ServerUp { .. })), [26]);
}

#[test]
fn a_delayed_restart_takes_its_time_whatever_the_fault_says() {
    let mut setup = alone();
    setup.servers[0].least_downtime = ms(15);
    let mut sim = only(&setup, five);
    assert_eq!(replies(&mut sim, &["server.restart@r1#2 = 1ms"]), [1, 2, 999, 1001, 1002]);
    assert_eq!(replies(&mut sim, &["server.restart@r1#2 = 25ms"]), [1, 2, 999, 999, 1001]);
}

#[test]
fn a_server_that_is_down_cannot_die_again() {
    let mut sim = five_calls();
    let run = play(&mut sim, &["server.restart@r1@12ms = 5ms", "server.restart@r1@14ms = 1ms"]);
    assert_eq!(run.when(|what| matches!(what, What::ServerDown { .. })), [12]);
    assert_eq!(run.when(|what| matches!(what, What::ServerUp { .. })), [17]);
}

#[test]
fn a_stalled_server_executes_later_what_has_queued_up() {
    let mut sim = five_calls();
    let run = play(&mut sim, &["server.stall@r1@5ms = 17ms"]);
    // The second call times out at 15 and takes effect at 22, before the third one does.
    let expected = [(2, 1), (15, 999), (23, 3), (32, 4), (42, 5)];
    assert_eq!(run.places(), expected);
    assert_eq!(run.when(|what| matches!(what, What::Applied { .. })), [1, 22, 22, 31, 41]);
    assert_eq!(run.when(|what| matches!(what, What::ServerStalled { .. })), [5]);
}

#[test]
fn an_operation_is_carried_out_after_its_anchor() {
    let mut sim = five_calls();
    assert_eq!(replies(&mut sim, &["server.operation@r1#2 = 3"]), [1, 2, 303, 304, 305]);
    assert_eq!(replies(&mut sim, &["server.operation@r1@5ms = 3"]), [1, 302, 303, 304, 305]);
}

#[test]
fn a_crash_forgets_what_a_server_wanted_to_do() {
    let mut sim = only(&alone(), async |client| {
        saw(&client, client.call(R1, Ask::Later(10)).within(ms(50)).await.unwrap_or(999));
    });
    assert_eq!(play(&mut sim, &[]).places(), [(12, 0)]);
    assert_eq!(play(&mut sim, &["server.restart@r1@5ms = 1ms"]).places(), [(50, 999)]);
}

#[test]
fn servers_send_each_other_messages_that_take_time_and_can_be_lost() {
    let setup = setup(vec![process("c1", &["worker"], &[])], &["r1", "r2"]);
    let mut sim = only(&setup, async |client| {
        client.call(R1, Ask::Forward(R2, 7)).await;
        // The message left at 1 and arrives at 4: one call comes just before, one after.
        client.sleep(Duration::from_micros(900)).await;
        for _ in 0..2 {
            saw(&client, client.call(R2, Ask::Add(0)).within(ms(9)).await.unwrap_or(999));
        }
        client.call(R2, Ask::Cut(R1, 5)).await;
        client.call(R1, Ask::Forward(R2, 7)).await;
        client.sleep(ms(20)).await;
        client.call(R1, Ask::Forward(R2, 50)).await;
        client.sleep(ms(20)).await;
        saw(&client, client.call(R2, Ask::Add(0)).await);
    });
    let run = play(&mut sim, &[]);
    let seen: Vec<u32> = run.places().into_iter().map(|(_, sum)| sum).collect();
    assert_eq!(seen, [0, 7, 57], "the second message is lost in the cut, the third is not");
    let arrives = run.pick(|what| match *what {
        What::PeerSent { arrives, .. } => Some(arrives == Instant::NEVER),
        _ => None,
    });
    assert_eq!(arrives.iter().map(|&(_, lost)| lost).collect::<Vec<_>>(), [false, true, false]);
    let run = play(&mut sim, &["server.restart@r2@2ms = 3ms"]);
    assert_eq!(run.places()[..2], [(11, 999), (13, 1000)], "who is down takes no message");
}

#[test]
fn a_run_with_too_many_events_stops_with_the_limit() {
    let mut setup = alone();
    setup.max_events = 50;
    let mut sim = only(&setup, async |client| {
        loop {
            client.sleep(ms(1)).await;
        }
    });
    let run = play(&mut sim, &[]);
    assert_eq!(run.stop, Stop::Limit);
    assert_eq!(sim.steps(), 50);
    let mut busy = only(&setup, async |client| {
        here(&client, 1);
        // Waits for its clock without ever letting time pass.
        while client.now().await.as_nanos() == 0 {}
        here(&client, 2);
    });
    let run = play(&mut busy, &[]);
    assert_eq!(run.stop, Stop::Limit, "a loop of steps in one instant is no way around the limit");
    assert_eq!(run.places(), [(0, 1)]);
    let mut idle = world(&alone());
    let task = super::lab::code(&idle, 0, async |client| client.sleep(Duration::MAX).await);
    idle.set_tasks(vec![task]);
    assert_eq!(play(&mut idle, &[]).stop, Stop::Reached);
}
