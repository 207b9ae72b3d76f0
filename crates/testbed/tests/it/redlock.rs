//! Redlock against what is known of it by arithmetic: when it is safe, and how often votes split.

use fencepost_check::Kind;
use fencepost_choice::{Anchor, Deviation, Source, Value};
use fencepost_history::{Duration, GrantId, ServerId, What};
use fencepost_testbed::Testbed;
use fencepost_testbed::scenario::Scenario;

fn testbed(text: &str) -> Testbed {
    let scenario = Scenario::parse(text).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
    Testbed::new(&scenario).expect("it has no pinned faults")
}

/// Two clients and three servers whose clocks differ: c1 has exactly the majority of r1 and r2,
/// works for all the time that it believes to have, and c2 asks every millisecond.
fn drifting(drift: Duration, slow_client_ppm: i64, fast_node_ppm: i64) -> Testbed {
    let ttl = Duration::from_secs(10);
    let validity = ttl.saturating_sub(drift);
    testbed(&format!(
        r#"
        [store]
        redis = {{ topology = "independent", nodes = 3, command_time = "0s", script_time = "0s" }}
        [lock]
        strategy = "redlock"
        ttl = "{ttl}"
        clock = "monotonic"
        redlock = {{ drift = "{drift}" }}
        [workload]
        reads = 0
        writes = 0
        work = "{validity}"
        work_kind = "wait"
        retry_every = "1ms"
        request_timeout = "50ms"
        [[workload.client]]
        name = "c1"
        [[workload.client]]
        name = "c2"
        start = "0s"
        work = "1ms"
        [network]
        latency = "1us"
        [[network.link]]
        between = ["c1", "r3"]
        latency = "3us"
        [[network.link]]
        between = ["c2", "r1"]
        latency = "3us"
        [[network.link]]
        between = ["c2", "r2"]
        latency = "3us"
        [[clock]]
        host = "c1"
        rate_ppm = -{slow_client_ppm}
        [[clock]]
        host = "r1"
        rate_ppm = {fast_node_ppm}
        [[clock]]
        host = "r2"
        rate_ppm = {fast_node_ppm}
        "#
    ))
}

#[test]
fn the_drift_allowance_is_enough_exactly_from_the_bound_on() {
    for (slow, fast) in [(0, 10_000), (10_000, 0), (5_000, 5_000), (50_000, 20_000)] {
        // Safe iff drift >= TTL * (1 - (1 - r_c) / (1 + r_n)); in nanoseconds for a TTL of 10 s.
        let bound = 10_000_000_000 * (slow + fast) / (1_000_000 + fast);
        let violated = |drift: i64| {
            let drift = Duration::from_nanos(u64::try_from(drift).expect("it is positive"));
            let brief = drifting(drift, slow, fast).run(Source::Benign, &[]);
            brief.expect("nothing is planned").violated.contains(Kind::DoubleHolder)
        };
        // A server's clock counts whole milliseconds, and c2 asks once in each.
        let tolerance = 4_000_000;
        assert!(violated(bound - tolerance), "{slow} and {fast} ppm: too small an allowance");
        assert!(!violated(bound + tolerance), "{slow} and {fast} ppm: enough");
    }
}

/// Contenders that ask all servers at once, by drawn latencies so that every order is alike.
fn contenders(clients: u32, nodes: u32) -> Testbed {
    let starts: String = (1..=clients)
        .map(|number| format!("[[workload.client]]\nname = \"c{number}\"\nstart = \"0s\"\n"))
        .collect();
    testbed(&format!(
        r#"
        [store]
        redis = {{ topology = "independent", nodes = {nodes} }}
        [lock]
        strategy = "redlock"
        ttl = "10s"
        [workload]
        attempts = 1
        reads = 0
        writes = 0
        work = "1s"
        {starts}
        [network]
        latency = {{ uniform = ["1ms", "9ms"] }}
        "#
    ))
}

#[test]
fn votes_split_as_often_as_independent_orders_make_them() {
    // Nobody reaches a majority: none for two and three, 6 of 27, 90 of 243, 2220 of 3125.
    for (clients, nodes, hits, of) in
        [(2, 3, 0_u64, 1_u64), (3, 3, 6, 27), (3, 5, 90, 243), (5, 5, 2_220, 3_125)]
    {
        const RUNS: u64 = 4_000;
        let mut testbed = contenders(clients, nodes);
        let mut split = 0;
        for run in 0..RUNS {
            let source = Source::Seeded(fencepost_choice::RunKey::new(7, run));
            testbed.run(source, &[]).expect("nothing is planned");
            split += u64::from(testbed.tally().acquisitions == 0);
        }
        let expected = RUNS * hits / of;
        // Four standard deviations of the binomial are below 4 * sqrt(RUNS) / 2.
        let off = split.abs_diff(expected);
        assert!(off <= 127, "{clients} clients, {nodes} servers: {split} and not {expected}");
        assert_eq!(split == 0, hits == 0);
    }
}

/// A lock on three servers without persistence that stay down for longer than the TTL.
fn forgetful(delayed_restart: &str) -> Testbed {
    testbed(&format!(
        r#"
        [store]
        redis.topology = "independent"
        redis.nodes = 3
        redis.persistence = "none"
        redis.delayed_restart = "{delayed_restart}"
        [lock]
        strategy = "redlock"
        ttl = "2s"
        [workload]
        clients = 3
        rounds = 2
        work = "500ms"
        retry_every = "50ms"
        retry_jitter = "50ms"
        [network]
        latency = {{ uniform = ["100us", "3ms"] }}
        [hazard]
        server-restart = {{ rate = "1/2s", for = "100ms" }}
        "#
    ))
}

#[test]
fn restarts_alone_break_nothing_if_each_takes_longer_than_the_longest_lock() {
    const RUNS: u64 = 3_000;
    let broken = |delayed_restart| {
        let mut testbed = forgetful(delayed_restart);
        let source = |run| Source::Seeded(fencepost_choice::RunKey::new(11, run));
        let is_broken = |run: &u64| {
            let brief = testbed.run(source(*run), &[]).expect("nothing is planned");
            let kinds = [Kind::DoubleHolder, Kind::StaleWrite, Kind::ForeignRelease];
            kinds.into_iter().any(|kind| brief.violated.contains(kind))
        };
        (0..RUNS).filter(is_broken).count()
    };
    assert!(broken("0s") > 30, "without the delay restarts do harm");
    assert_eq!(broken("2001ms"), 0);
}

#[test]
#[expect(clippy::wildcard_enum_match_arm, reason = "only keys that are set are looked at")]
fn a_restart_answers_loading_until_the_data_is_there() {
    let mut testbed = testbed(
        r#"
        [store]
        redis = { load_time = "300ms" }
        [lock]
        strategy = "set-nx-px"
        [workload]
        clients = 1
        retry_every = "50ms"
        [[workload.client]]
        name = "c1"
        start = "150ms"
        [network]
        latency = "1ms"
        "#,
    );
    let restart = Deviation {
        site: "server.restart@r1".to_owned(),
        anchor: Anchor::At(fencepost_history::Instant::ZERO),
        value: Value::Length(Duration::from_millis(100)),
    };
    let recorded = testbed.record(Source::Benign, &[restart]).expect("r1 can be restarted");
    let granted = recorded.history.events.iter().find_map(|event| match event.what {
        What::KeySet { server: ServerId(0), by: GrantId(_), .. } => Some(event.at.as_nanos()),
        _ => None,
    });
    let granted = granted.expect("it is granted in the end") / 1_000_000;
    assert!((400..460).contains(&granted), "at {granted} ms");
    let texts: Vec<&str> =
        recorded.history.details.iter().map(|detail| detail.text.as_str()).collect();
    assert!(texts.iter().any(|text| text.contains("LOADING")), "{texts:?}");
}
