//! One request to several servers: who answered, when the code goes on, and what faults leave.

use fencepost_history::{Moment, What};

use super::lab::{Ask, Counters, Port, R1, at, here, ms, only, play, process, saw, setup};
use crate::{Round, Setup, Sim, Votes};

/// One client and three servers; a message takes a millisecond.
fn three() -> Setup {
    setup(vec![process("c1", &["worker"], &[])], &["r1", "r2", "r3"])
}

/// A first request says yes, since it makes the sum one.
fn is_one(sum: &u64) -> bool {
    *sum == 1
}

fn tell(client: &Port, votes: Votes) {
    saw(client, u64::from(votes.yes * 10 + votes.no));
}

const fn round(quorum: Option<u16>, millis: u64) -> Round {
    let (timeout, sent) = (ms(millis), Moment::AcquireSent);
    Round { first: R1, count: 3, timeout, quorum, sent }
}

async fn ask(client: &Port) -> Votes {
    client.gather(round(None, 5), Ask::Add(1), is_one).await
}

async fn ask_twice(client: Port) {
    for _ in 0..2 {
        let votes = ask(&client).await;
        tell(&client, votes);
    }
}

fn sums(sim: &mut Sim<Counters>) -> Vec<u64> {
    sim.run(at(1_000), false, &mut |_: &_| {});
    sim.services(|counters| counters.sums.clone())
}

#[test]
fn all_are_asked_at_once_and_all_answers_are_counted() {
    let mut sim = only(&three(), ask_twice);
    let run = play(&mut sim, &[]);
    assert_eq!(run.places(), [(2, 70), (4, 7)], "as bits: first all say yes, then all say no");
    assert_eq!(run.when(|what| matches!(what, What::Applied { .. })), [1, 1, 1, 3, 3, 3]);
    // Three sendings and three answers each time, and the moment is passed with the third.
    let moments = run.pick(|what| match *what {
        What::Passed { step, .. } => Some(step),
        _ => None,
    });
    assert_eq!(moments, [(0, 3), (2, 9)]);
}

#[test]
fn who_does_not_answer_is_given_up_after_the_time_out() {
    let mut sim = only(&three(), ask_twice);
    for lost in ["net.loss@c1->r2#1 = 1", "net.loss@r2->c1#1 = 1"] {
        let run = play(&mut sim, &[lost]);
        assert_eq!(run.places()[0], (5, 50), "{lost}");
        assert_eq!(run.when(|what| matches!(what, What::GivenUp { .. })), [5]);
    }
    let run = play(&mut sim, &["net.delay@r2->c1#1 = 4ms"]);
    assert_eq!(run.places()[..2], [(5, 50), (7, 7)], "the late answer belongs to nobody");
}

#[test]
fn a_pause_between_two_sendings_leaves_the_rest_for_later() {
    let mut sim = only(&three(), ask_twice);
    let run = play(&mut sim, &["client.pause@c1#2 = 10ms"]);
    assert_eq!(run.when(|what| matches!(what, What::Sent { .. }))[..3], [0, 0, 10]);
    // The answers to the first two came at 2; their time-outs are due, too, and come second.
    assert_eq!(run.places()[0], (12, 70));
}

#[test]
fn a_crash_between_two_sendings_lets_the_others_never_be_asked() {
    let mut sim = only(&three(), ask_twice);
    let run = play(&mut sim, &["client.crash@c1#2 = never"]);
    assert_eq!(run.places(), []);
    assert_eq!(sums(&mut sim), [1, 1, 0]);
}

#[test]
fn it_can_go_on_as_soon_as_the_outcome_is_certain() {
    async fn early(client: Port) {
        for _ in 0..2 {
            let votes = client.gather(round(Some(2), 9), Ask::Add(1), is_one).await;
            tell(&client, votes);
        }
    }
    let mut sim = only(&three(), early);
    let run = play(&mut sim, &["net.delay@c1->r3#1 = 5ms", "net.delay@c1->r3#2 = 5ms"]);
    assert_eq!(run.places(), [(2, 30), (4, 3)], "two yes decide, and so do two no");
    assert_eq!(sums(&mut sim), [2, 2, 2], "what is under way still takes effect");
    let run = play(&mut sim, &["net.loss@c1->r1#1 = 1", "net.loss@c1->r2#1 = 1"]);
    assert_eq!(run.places()[0], (9, 40), "one yes decides nothing as long as others may follow");
}

#[test]
fn dropping_it_gives_the_open_calls_up() {
    let mut sim = only(&three(), async |client| {
        let votes = async { Some(ask(&client).await) };
        let nap = async {
            client.sleep(ms(2)).await;
            None
        };
        let first = crate::race(votes, nap).await;
        saw(&client, u64::from(first.is_some()));
        tell(&client, ask(&client).await);
        here(&client, 99);
    });
    let run = play(&mut sim, &["net.delay@c1->r1#1 = 2ms", "net.delay@c1->r2#1 = 2ms"]);
    assert_eq!(run.when(|what| matches!(what, What::GivenUp { .. }))[..2], [2, 2]);
    assert_eq!(run.places()[0], (2, 0));
    // Its own slots are free again, and no answer of the first round is counted in the second.
    assert_eq!(run.places()[1..], [(4, 7), (4, 99)]);
}

#[test]
fn what_is_scattered_is_awaited_by_nobody_and_can_be_stopped_in_between() {
    let mut sim = only(&three(), async |client| {
        client.scatter(R1, 3, Ask::Add(7)).await;
        here(&client, 1);
    });
    let run = play(&mut sim, &[]);
    assert_eq!(run.places(), [(0, 1)]);
    assert_eq!(sums(&mut sim), [7, 7, 7]);
    let run = play(&mut sim, &["client.pause@c1#1 = 4ms"]);
    assert_eq!(run.places(), [(4, 1)]);
    play(&mut sim, &["client.crash@c1#2 = never"]);
    assert_eq!(sums(&mut sim), [7, 7, 0]);
}
