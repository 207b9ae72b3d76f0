use crate::{
    Detail, Duration, Event, GrantId, History, Instant, LockId, Moment, RollingHash, ServerId,
    ThreadId, What,
};

#[test]
fn lengths_print_exactly_and_shortly() {
    let cases = [
        (0, "0s"),
        (7, "7ns"),
        (2_500, "2.5us"),
        (250_000_000, "250ms"),
        (1_500_000_000, "1.5s"),
        (90_000_000_000, "90s"),
        (600_000_000_000, "10min"),
        (3_600_000_000_000, "1h"),
        (1_000_000_001, "1.000000001s"),
    ];
    for (nanos, text) in cases {
        assert_eq!(Duration::from_nanos(nanos).to_string(), text);
    }
}

#[test]
fn instants_print_seconds_with_three_decimals_or_more() {
    assert_eq!(Instant::from_nanos(30_000_000_000).to_string(), "30.000");
    assert_eq!(Instant::from_nanos(2_500_000).to_string(), "0.002500");
    assert_eq!(Instant::from_nanos(1).to_string(), "0.000000001");
}

#[test]
fn an_event_is_small() {
    assert_eq!(size_of::<Event>(), 32);
}

#[test]
fn the_hash_notices_time_order_and_content() {
    let hash = |events: &[Event]| {
        let mut hash = RollingHash::new();
        for event in events {
            event.hash_into(&mut hash);
        }
        hash.finish()
    };
    let step = |at, grant| Event {
        at: Instant::from_nanos(at),
        what: What::Step { grant: GrantId(grant) },
    };
    let base = hash(&[step(1, 1), step(2, 2)]);
    assert_eq!(base, hash(&[step(1, 1), step(2, 2)]));
    assert_ne!(base, hash(&[step(2, 2), step(1, 1)]));
    assert_ne!(base, hash(&[step(1, 1), step(3, 2)]));
    assert_ne!(base, hash(&[step(1, 1), step(2, 3)]));
    assert_ne!(base, hash(&[step(1, 1)]));
}

#[test]
fn moments_have_names_and_sentences() {
    for moment in Moment::ALL {
        assert!(!moment.name().is_empty());
        assert!(moment.describe().ends_with('.'), "{}", moment.name());
    }
    assert_eq!(Moment::CheckedDeadline.name(), "checked-deadline");
}

#[test]
fn a_history_survives_json() {
    let history = History {
        events: vec![Event {
            at: Instant::from_nanos(5),
            what: What::AcquireInvoked { thread: ThreadId(1), lock: LockId(0) },
        }],
        details: vec![Detail { event: 0, text: "SET".to_owned() }],
        ..History::default()
    };
    let text = serde_json::to_string(&history).expect("plain data serializes");
    let back: History = serde_json::from_str(&text).expect("what was written reads back");
    assert_eq!(back, history);
    assert_eq!(back.detail(0), Some("SET"));
    assert_eq!(back.detail(1), None);
    assert_eq!(back.names.server(ServerId(3)), "?");
}
