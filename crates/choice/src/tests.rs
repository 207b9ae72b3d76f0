use fencepost_history::Duration;
use proptest::prelude::*;

use crate::{Anchor, Choices, Deviation, Distribution, RunKey, Sampler, Source, Value, site_hash};

#[test]
fn the_scheme_has_golden_values() {
    let key = RunKey::new(20_240, 7);
    let site = site_hash("net.latency@c1->r1");
    let drawn: Vec<u64> = (1..=3).map(|nth| key.draw(site, nth)).collect();
    assert_eq!(drawn, GOLDEN, "rng-1 must never change; a new scheme gets a new name");
}

const GOLDEN: [u64; 3] =
    [4_902_501_012_980_986_107, 17_784_990_987_850_635_563, 2_389_591_111_905_473_987];

#[test]
fn deviations_print_and_read_back() {
    for text in [
        "client.pause@c1#6 = 1.5s",
        "client.crash@c1#2 = never",
        "clock.step@r1#3 = +15s",
        "clock.step@r1@12s = -250ms",
        "net.loss@c1->r1#1 = 1",
        "client.stall@c1/renewer@1.5s = 7ns",
    ] {
        let deviation: Deviation = text.parse().expect("a well-formed deviation");
        assert_eq!(deviation.to_string(), text);
    }
}

#[test]
fn a_text_that_is_no_deviation_says_why() {
    for (text, part) in [
        ("client.pause@c1#6", "there is no `=`"),
        ("client.pause#x = 1s", "wants a number from 1"),
        ("client.pause#0 = 1s", "wants a number from 1"),
        ("pause = 1s", "no `#` and no `@`"),
        ("client.pause@soon = 1s", "after `@`"),
        ("client.pause@c1#1 = 1 parsec", "value"),
        (" #1 = 1s", "site"),
    ] {
        let error = text.parse::<Deviation>().expect_err(text).to_string();
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn a_new_site_shifts_no_other() {
    let draws = |labels: &[&str]| {
        let mut choices = Choices::new();
        let sites: Vec<_> = labels.iter().map(|label| choices.site(label)).collect();
        choices.begin(Source::Seeded(RunKey::new(1, 1)), &[]).expect("no plan");
        let last = *sites.last().expect("a site");
        sites.iter().for_each(|&site| {
            choices.draw(site, 0, |random| random);
        });
        choices.draw(last, 0, |random| random)
    };
    assert_eq!(draws(&["a"]), draws(&["b", "a"]));
}

#[test]
fn a_deviation_that_is_not_reached_is_told() {
    let mut choices = Choices::new();
    let site = choices.site("net.loss@c1->r1");
    let plan = ["net.loss@c1->r1#2 = 1", "net.loss@c1->r1#9 = 1"]
        .map(|text| text.parse::<Deviation>().expect("well formed"));
    choices.begin(Source::Benign, &plan).expect("sites exist");
    let picks: Vec<u32> = (0..3).map(|_| choices.pick(site, 2)).collect();
    assert_eq!(picks, [0, 1, 0]);
    assert_eq!(choices.unreached().collect::<Vec<_>>(), plan[1..]);
}

#[test]
fn a_plan_for_unknown_or_doubled_places_is_refused() {
    let mut choices = Choices::new();
    choices.site("net.loss@c1->r1");
    let unknown = "net.loss@c9->r1#2 = 1".parse().expect("well formed");
    assert!(choices.begin(Source::Benign, &[unknown]).is_err());
    let twice: Deviation = "net.loss@c1->r1#2 = 1".parse().expect("well formed");
    assert!(choices.begin(Source::Benign, &[twice.clone(), twice]).is_err());
}

#[test]
fn dense_bytes_end_benign() {
    let mut choices = Choices::new();
    let site = choices.site("order.tie@c1");
    choices.begin(Source::Dense(vec![0, 255, 1]), &[]).expect("no plan");
    let picks: Vec<u32> = (0..5).map(|_| choices.pick(site, 4)).collect();
    assert_eq!(picks, [0, 3, 0, 0, 0]);
}

/// The least length with at least this many of 1,000 evenly spread draws at or below it.
fn quantile(distribution: &Distribution, per_mille: usize) -> u64 {
    let step = u64::MAX / 100_000;
    let mut draws: Vec<u64> =
        (0..100_000).map(|i| distribution.sample(i * step + step / 2).as_nanos()).collect();
    draws.sort_unstable();
    draws[per_mille * 100 - 1]
}

#[test]
fn distributions_have_their_quantiles() {
    let near = |value: u64, expected: u64| {
        assert!(value.abs_diff(expected) <= expected / 200, "{value} is not {expected}");
    };
    let exponential = Distribution::Exponential { mean: Duration::from_secs(1) };
    near(quantile(&exponential, 500), 693_147_181);
    near(quantile(&exponential, 990), 4_605_170_186);
    let log_normal =
        Distribution::LogNormal { p50: Duration::from_millis(80), p999: Duration::from_secs(4) };
    near(quantile(&log_normal, 500), 80_000_000);
    near(quantile(&log_normal, 999), 4_000_000_000);
    near(quantile(&log_normal, 900), 405_000_000);
    near(quantile(&log_normal, 100), 15_800_000);
    let uniform =
        Distribution::Uniform { min: Duration::from_millis(1), max: Duration::from_millis(3) };
    near(quantile(&uniform, 250), 1_500_000);
    let measured = Distribution::Empirical([10, 20, 40].map(Duration::from_nanos).to_vec());
    assert_eq!(quantile(&measured, 500), 19);
    assert_eq!(measured.sample(u64::MAX).as_nanos(), 39);
}

#[test]
fn steps_are_drawn_alike_and_nothing_between_them() {
    let ticks = Distribution::Steps { step: Duration::from_millis(20), min: 1, max: 3 };
    assert_eq!(ticks.nominal(), Duration::from_millis(20));
    assert_eq!(ticks.sample(0), Duration::from_millis(20));
    assert_eq!(ticks.sample(u64::MAX), Duration::from_millis(60));
    let third = u64::MAX / 3;
    for (count, random) in [(1, third - 1), (2, third + 1), (2, 2 * third - 1), (3, 2 * third + 1)]
    {
        assert_eq!(ticks.sample(random), Duration::from_millis(20 * count));
    }
}

proptest! {
    #[test]
    fn a_tabulated_draw_is_close_to_the_distribution_s_own(random: u64) {
        for distribution in [
            Distribution::LogNormal {
                p50: Duration::from_micros(500),
                p999: Duration::from_millis(5),
            },
            Distribution::Exponential { mean: Duration::from_secs(2) },
        ] {
            let exact = distribution.sample(random).as_nanos();
            let tabulated = Sampler::new(&distribution).sample(random).as_nanos();
            prop_assert!(tabulated.abs_diff(exact) <= exact / 100 + 2_000_000);
        }
    }

    #[test]
    fn every_deviation_survives_its_text(nth in 1_u32.., nanos in 0..u64::MAX, by: i64) {
        let by = by.max(-i64::MAX);
        let length = Value::Length(Duration::from_nanos(nanos));
        for (anchor, value) in [
            (Anchor::Nth(nth), Value::Pick(nth)),
            (Anchor::Nth(nth), length),
            (Anchor::At(fencepost_history::Instant::from_nanos(nanos)), Value::Step(by)),
        ] {
            let deviation = Deviation { site: "client.pause@c1".to_owned(), anchor, value };
            let back: Deviation = deviation.to_string().parse().expect("it printed itself");
            prop_assert_eq!(back, deviation);
        }
    }

    #[test]
    fn the_log_of_a_run_repeats_it(seed: u64, menu in 2_u32..6) {
        let mut choices = Choices::new();
        let sites = [choices.site("a@x"), choices.site("b@x")];
        choices.keep_log(true);
        let ask = |choices: &mut Choices| -> Vec<u64> {
            (0..12)
                .flat_map(|i| {
                    let pick = u64::from(choices.pick(sites[i % 2], menu));
                    [pick, choices.draw(sites[(i / 2) % 2], 7, |random| random % 1000)]
                })
                .collect()
        };
        choices.begin(Source::Seeded(RunKey::new(seed, 0)), &[]).expect("no plan");
        let first = ask(&mut choices);
        let log: Vec<Deviation> = choices.log().collect();
        choices.begin(Source::Benign, &log).expect("the log names sites of this run");
        prop_assert_eq!(ask(&mut choices), first);
        prop_assert_eq!(choices.unreached().count(), 0);
    }

    #[test]
    fn no_text_makes_the_reader_panic(text: String) {
        let _ = text.parse::<Deviation>();
    }
}
