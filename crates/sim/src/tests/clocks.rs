//! Wall clocks step, monotonic clocks do not, and both may run fast or slow.

use fencepost_history::{Duration, Instant, What};
use proptest::prelude::*;

use super::lab::{Ask, R1, alone, here, ms, only, play, saw};
use crate::HostClock;
use crate::clock::{Clock, EPOCH};

#[test]
fn a_step_moves_the_wall_clock_alone() {
    let mut sim = only(&alone(), async |client| {
        let (wall, local) = (client.wall().await, client.now().await);
        client.sleep(ms(10)).await;
        saw(&client, client.wall().await.since(wall).as_millis());
        saw(&client, client.now().await.since(local).as_millis());
    });
    assert_eq!(play(&mut sim, &[]).places(), [(10, 10), (10, 10)]);
    let ahead = play(&mut sim, &["clock.step@c1@5ms = +2s"]);
    assert_eq!(ahead.places(), [(10, 2010), (10, 10)], "the sleep is not shortened either");
    let back = play(&mut sim, &["clock.step@c1@5ms = -3ms"]);
    assert_eq!(back.places(), [(10, 7), (10, 10)]);
    assert_eq!(back.when(|what| matches!(what, What::ProcessClock { .. })), [5]);
    assert_eq!(play(&mut sim, &[]).places(), [(10, 10), (10, 10)], "the next run starts anew");
}

#[test]
fn a_host_may_start_ahead_and_run_fast() {
    let mut setup = alone();
    setup.processes[0].clock = HostClock { rate: 250_000_000, offset: 7_000_000, slew: 0 };
    let mut sim = only(&setup, async |client| {
        saw(&client, (client.wall().await.as_nanos() - EPOCH) / 1_000_000);
        let local = client.now().await;
        // Ten milliseconds of a clock that is a quarter too fast are eight of true time.
        client.sleep(ms(10)).await;
        saw(&client, client.now().await.since(local).as_millis());
        saw(&client, (client.wall().await.as_nanos() - EPOCH) / 1_000_000);
    });
    assert_eq!(play(&mut sim, &[]).places(), [(0, 7), (8, 10), (8, 17)]);
}

#[test]
fn a_change_of_rate_keeps_what_the_clock_has_shown() {
    let mut sim = only(&alone(), async |client| {
        client.sleep(ms(10)).await;
        saw(&client, client.now().await.as_nanos() / 1_000_000);
        client.sleep(ms(10)).await;
        saw(&client, client.now().await.as_nanos() / 1_000_000);
    });
    let run = play(&mut sim, &["clock.rate@c1@10ms = -500000000ns"]);
    assert_eq!(run.places(), [(10, 10), (30, 20)], "half as fast, so twice as long");
    assert_eq!(run.when(|what| matches!(what, What::ProcessRate { .. })), [10]);
}

#[test]
fn a_change_of_rate_moves_the_timers_that_are_set() {
    let mut sim = only(&alone(), async |client| {
        let reply = client.call(R1, Ask::Later(90)).within(ms(20)).await;
        here(&client, u32::from(reply.is_ok()));
        client.work(ms(20)).await;
        here(&client, 2);
    });
    assert_eq!(play(&mut sim, &[]).places(), [(20, 0), (40, 2)]);
    // Ten of twenty are over when the clock falls to half its speed; the rest takes twenty.
    assert_eq!(play(&mut sim, &["clock.rate@c1@10ms = -500ms"]).places(), [(30, 0), (70, 2)]);
    let back = ["clock.rate@c1@10ms = -500ms", "clock.rate@c1@20ms = +1s"];
    assert_eq!(play(&mut sim, &back).places(), [(22, 0), (32, 2)]);
}

#[test]
fn a_slew_brings_a_clock_forward_or_back_little_by_little() {
    let mut setup = alone();
    // A tenth: 5 ms are made up for in 50.
    setup.processes[0].clock.slew = 100_000_000;
    setup.servers[0].clock.slew = 100_000_000;
    let mut sim = only(&setup, async |client| {
        let start = client.wall().await;
        for wait in [30, 30, 40] {
            client.work(ms(wait)).await;
            saw(&client, client.wall().await.since(start).as_millis());
        }
        saw(&client, client.call(R1, Ask::Wall).await / 1_000 % 1_000_000);
    });
    let mut seen = |plan: &str| {
        let run = play(&mut sim, &[plan]);
        let rates =
            run.when(|what| matches!(what, What::ProcessRate { .. } | What::ServerRate { .. }));
        (run.places().into_iter().map(|(at, _)| at).collect::<Vec<_>>(), rates)
    };
    // Each sleep is as long as before by its own clock, which runs a tenth too fast from 10 to 60.
    let (fast, rates) = seen("clock.slew@c1@10ms = +5ms");
    assert_eq!((fast[..3].to_vec(), rates), (vec![28, 55, 95], vec![10, 60]));
    let (slow, rates) = seen("clock.slew@c1@10ms = -5ms");
    assert_eq!((slow[..3].to_vec(), rates), (vec![32, 65, 105], vec![10, 60]));
    let run = play(&mut sim, &["clock.slew@r1@10ms = +5ms"]);
    assert_eq!(run.places().last(), Some(&(102, 106_000)), "five milliseconds ahead from then on");
}

#[test]
fn a_server_has_a_clock_of_its_own() {
    let mut sim = only(&alone(), async |client| {
        for _ in 0..2 {
            let wall = client.call(R1, Ask::Wall).await;
            saw(&client, (wall - EPOCH) / 1_000_000);
        }
        here(&client, 0);
    });
    assert_eq!(play(&mut sim, &[]).places(), [(2, 1), (4, 3), (4, 0)]);
    let run = play(&mut sim, &["clock.step@r1@2ms = +5s", "clock.step@c1@2ms = +9s"]);
    assert_eq!(run.places(), [(2, 1), (4, 5003), (4, 0)]);
    // The server itself is told, right after the history is.
    let told = run.pick(|what| match what {
        What::ServerClock { by, .. } => Some(*by),
        What::Promoted { .. } => Some(0),
        _ => None,
    });
    assert_eq!(told, [(2, 5_000_000_000), (2, 0)]);
}

proptest! {
    #[test]
    fn the_instant_of_a_reading_is_the_first_one_that_shows_it(
        rate in -500_000_000_i64..500_000_000,
        later in -500_000_000_i64..500_000_000,
        offset in -1_000_000_000_000_i64..1_000_000_000_000,
        changed in 0_u64..1_000_000_000_000,
        reading in 0_u64..1_000_000_000_000,
    ) {
        let mut clock = Clock::new(HostClock { rate, offset, slew: 0 });
        let changed = Instant::from_nanos(changed);
        clock.set_rate(changed, later);
        let wall = clock.wall(changed) + Duration::from_nanos(reading);
        let first = clock.instant_of(wall);
        prop_assert!(clock.wall(first) >= wall);
        if first > changed {
            prop_assert!(clock.wall(first - Duration::from_nanos(1)) < wall);
        }
    }

    #[test]
    fn a_timer_never_fires_before_its_own_clock_says_so(
        rate in -500_000_000_i64..500_000_000,
        start in 0_u64..1_000_000_000_000,
        length in 0_u64..1_000_000_000_000,
    ) {
        let clock = Clock::new(HostClock { rate, offset: 0, slew: 0 });
        let start = Instant::from_nanos(start);
        let end = start + Duration::from_nanos(clock.true_length(length));
        let shown = clock.local(end).since(clock.local(start)).as_nanos();
        prop_assert!((length..=length + 2).contains(&shown), "{shown} is not {length}");
    }
}
