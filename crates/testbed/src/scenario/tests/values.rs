use fencepost_history::Duration;

use super::super::units::{BadLength, length, shift};
use super::super::{Odds, Rate, Scenario};

#[test]
fn lengths_are_read_with_our_units_only() {
    assert_eq!(length("30s"), Ok(Duration::from_secs(30)));
    assert_eq!(length(" 1m 30s "), Ok(Duration::from_secs(90)));
    assert_eq!(length("1m30s"), Ok(Duration::from_secs(90)));
    assert_eq!(length("10min"), Ok(Duration::from_secs(600)));
    assert_eq!(length("1.5 ms"), Ok(Duration::from_micros(1500)));
    assert_eq!(length("20us"), Ok(Duration::from_micros(20)));
    assert_eq!(length("0s"), Ok(Duration::ZERO));
    assert_eq!(length("1M"), Err(BadLength::Unit("M".to_owned())));
    assert_eq!(length("1day"), Err(BadLength::Unit("day".to_owned())));
    assert_eq!(length("30"), Err(BadLength::NoUnit("30".to_owned())));
    assert_eq!(length("+3s"), Err(BadLength::Sign));
    assert_eq!(length("0.1ns"), Err(BadLength::TooFine));
    assert_eq!(length("99999999999999999999h"), Err(BadLength::TooLong));
    for text in ["", " ", "s", "1..5s", "1.s", ".5s", "1s,", "٣s", "1_000s"] {
        assert!(length(text).is_err(), "{text:?}");
    }
    assert_eq!(shift("+15s"), Ok(15_000_000_000));
    assert_eq!(shift("-50ms"), Ok(-50_000_000));
    assert_eq!(shift("- 3s"), Ok(-3_000_000_000));
    assert!(shift("--3s").is_err());
}

#[test]
fn lengths_are_written_as_they_are_read() {
    for nanos in [1, 999, 1_001, 1_500_000, 90_000_000_000, 600_000_000_000, 7_200_000_000_000] {
        let written = Duration::from_nanos(nanos).to_string();
        assert_eq!(length(&written), Ok(Duration::from_nanos(nanos)), "{written}");
    }
}

fn hazard(line: &str) -> super::super::Hazard {
    let text = format!("[lock]\nstrategy = \"set-nx-px\"\n[hazard]\n{line}");
    let scenario = Scenario::parse(&text).unwrap_or_else(|errors| panic!("{}", errors[0]));
    scenario.hazard.expect("it is there")
}

#[test]
fn probabilities_are_fractions_of_whole_numbers() {
    for (written, hits, of) in [
        ("\"1/64\"", 1, 64),
        ("\"5%\"", 5, 100),
        ("\"0.5 %\"", 5, 1000),
        ("0.05", 5, 100),
        ("1", 1, 1),
    ] {
        let lose = hazard(&format!("lose = {{ odds = {written} }}")).lose.expect("it is there");
        assert_eq!(lose.odds, Odds { hits, of }, "{written}");
    }
}

#[test]
fn rates_are_events_in_a_length() {
    for (written, events, secs) in [("1/h", 1, 3600), ("3/10m", 3, 600), ("2 / s", 2, 1)] {
        let crash = hazard(&format!("crash = {{ rate = \"{written}\" }}")).crash;
        let rate = Rate { events, per: Duration::from_secs(secs) };
        let trigger = crash.expect("it is there").trigger;
        assert_eq!(trigger, super::super::Trigger::Rate(rate), "{written}");
        assert_eq!(rate.mean_gap().as_millis(), secs * 1000 / u64::from(events));
    }
}
