//! What is due at one instant: a benign order, and the choice to turn it around.

use fencepost_history::ThreadId;

use super::lab::{
    Ask, Counters, Port, R1, R2, alone, code, here, ms, only, play, process, saw, setup, world,
};
use crate::Sim;

#[test]
fn a_reply_and_a_time_out_at_one_instant_are_a_choice() {
    let mut sim = only(&alone(), async |client| {
        saw(&client, client.call(R1, Ask::Add(1)).within(ms(2)).await.unwrap_or(999));
        saw(&client, client.call(R1, Ask::Add(1)).within(ms(2)).await.unwrap_or(999));
    });
    assert_eq!(play(&mut sim, &[]).places(), [(2, 1), (4, 2)], "the reply is benign");
    let run = play(&mut sim, &["order.tie@c1#1 = 1"]);
    assert_eq!(run.places(), [(2, 999), (4, 2)]);
    assert!(run.unreached.is_empty());
    let run = play(&mut sim, &["order.tie@c1#2 = 1"]);
    assert_eq!(run.places(), [(2, 1), (4, 999)]);
}

#[test]
fn a_deferred_reply_and_a_deferred_time_out_are_a_choice_too() {
    let mut sim = only(&alone(), async |client| {
        saw(&client, client.call(R1, Ask::Add(1)).within(ms(5)).await.unwrap_or(999));
    });
    let pause = "client.pause@c1@1ms = 50ms";
    assert_eq!(play(&mut sim, &[pause]).places(), [(51, 1)]);
    assert_eq!(play(&mut sim, &[pause, "order.tie@c1#1 = 1"]).places(), [(51, 999)]);
}

/// Clients whose requests arrive at one server at one instant.
fn crowd(count: u16) -> Sim<Counters> {
    let names: Vec<String> = (1..=count).map(|number| format!("c{number}")).collect();
    let processes = names.iter().map(|name| process(name, &["worker"], &[])).collect();
    let mut sim = world(&setup(processes, &["r1"]));
    let ask = async |client: Port| saw(&client, client.call(R1, Ask::Add(1)).await);
    let tasks = (0..count).map(|thread| code(&sim, thread, ask)).collect();
    sim.set_tasks(tasks);
    sim
}

#[test]
fn two_requests_at_one_server_are_a_choice() {
    let mut sim = crowd(2);
    let order = |sim: &mut Sim<Counters>, texts: &[&str]| {
        let run = play(sim, texts);
        let seen: Vec<u32> = run.places().into_iter().map(|(_, sum)| sum).collect();
        (seen, run.unreached.len())
    };
    assert_eq!(order(&mut sim, &[]), (vec![1, 2], 0));
    assert_eq!(order(&mut sim, &["order.tie@r1#1 = 1"]), (vec![2, 1], 0));
    // Between two requests there is one choice.
    assert_eq!(order(&mut sim, &["order.tie@r1#2 = 1"]), (vec![1, 2], 1));
    // Of three requests any can be the first, and of those left any the second.
    let mut sim = crowd(3);
    for (first, second, sums) in [
        (0, 0, [1, 2, 3]),
        (0, 1, [1, 3, 2]),
        (1, 0, [2, 1, 3]),
        (1, 1, [3, 1, 2]),
        (2, 0, [2, 3, 1]),
        (2, 1, [3, 2, 1]),
    ] {
        let plan = [format!("order.tie@r1#1 = {first}"), format!("order.tie@r1#2 = {second}")];
        let plan: Vec<&str> = plan.iter().map(String::as_str).collect();
        assert_eq!(order(&mut sim, &plan), (sums.to_vec(), 0), "{first}, {second}");
    }
}

#[test]
fn events_of_different_actors_are_no_choice() {
    let setup = setup(
        vec![process("c1", &["worker"], &[]), process("c2", &["worker"], &[])],
        &["r1", "r2"],
    );
    let mut sim = world(&setup);
    let tasks = vec![
        code(&sim, 0, async |client| {
            client.call(R1, Ask::Add(1)).await;
        }),
        code(&sim, 1, async |client| {
            client.call(R2, Ask::Add(1)).await;
        }),
    ];
    sim.set_tasks(tasks);
    for site in ["order.tie@r1", "order.tie@r2", "order.tie@c1", "order.tie@c2"] {
        let run = play(&mut sim, &[&format!("{site}#1 = 1")]);
        assert_eq!(run.unreached.len(), 1, "{site}");
    }
}

#[test]
fn a_timer_of_another_process_does_not_hide_the_choice() {
    // At 2 ms a timer of c1 is due, and both the reply and the time-out of c2.
    let setup =
        setup(vec![process("c1", &["worker"], &[]), process("c2", &["worker"], &[])], &["r1"]);
    let mut sim = world(&setup);
    let tasks = vec![
        code(&sim, 0, async |client| {
            client.sleep(ms(2)).await;
            here(&client, 7);
        }),
        code(&sim, 1, async |client| {
            saw(&client, client.call(R1, Ask::Add(1)).within(ms(2)).await.unwrap_or(999));
        }),
    ];
    sim.set_tasks(tasks);
    assert_eq!(play(&mut sim, &[]).places(), [(2, 1), (2, 7)]);
    let run = play(&mut sim, &["order.tie@c2#1 = 1"]);
    assert_eq!(run.places(), [(2, 999), (2, 7)]);
    assert!(run.unreached.is_empty());
}

#[test]
fn two_replies_for_threads_of_one_process_are_a_choice() {
    let setup = setup(vec![process("c1", &["worker", "worker-2"], &[])], &["r1", "r2"]);
    let mut sim = world(&setup);
    let tasks = vec![
        code(&sim, 0, async |client| {
            client.call(R1, Ask::Add(1)).await;
            here(&client, u32::from(ThreadId(1).0));
        }),
        code(&sim, 1, async |client| {
            client.call(R2, Ask::Add(1)).await;
            here(&client, 2);
        }),
    ];
    sim.set_tasks(tasks);
    assert_eq!(play(&mut sim, &[]).places(), [(2, 1), (2, 2)]);
    assert_eq!(play(&mut sim, &["order.tie@c1#1 = 1"]).places(), [(2, 2), (2, 1)]);
}
