use fencepost_history::Duration;
use proptest::prelude::*;
use proptest::sample::Index;

use super::shipped::shipped;
use super::{FULL, shown};
use crate::scenario::{Scenario, fuzz};

/// The words and values that stand in the whole scenario, to be put where others stand.
fn tokens() -> Vec<String> {
    FULL.split(|c: char| c.is_whitespace() || "[]{}=,".contains(c))
        .filter(|token| !token.is_empty())
        .map(ToOwned::to_owned)
        .chain(["0", "-1", "\"\"", "1e9", "[]", "{}", "\n", "[[fault]]", "\"0s\""].map(Into::into))
        .collect()
}

fn read(text: &str) -> Scenario {
    Scenario::parse(text).unwrap_or_else(|errors| panic!("{}", shown(text, &errors)))
}

#[test]
fn a_whole_scenario_reads_back_the_same() {
    let scenario = read(FULL);
    let written = scenario.to_toml();
    assert_eq!(read(&written), scenario, "{written}");
    insta::assert_snapshot!(written);
}

#[test]
fn a_quorum_reads_back_the_same_and_has_the_defaults_of_its_servers() {
    let scenario = read(include_str!("quorum.toml"));
    let written = scenario.to_toml();
    assert_eq!(read(&written), scenario, "{written}");
    let plain = "[lock]\nstrategy = \"redlock\"\nttl = \"20s\"\n\
                 [store]\nredis = { topology = \"independent\", nodes = 5 }\n\
                 [[workload.client]]\nname = \"a\"\n\
                 [[workload.client]]\nname = \"b\"\nrequest_timeout = \"1s\"\n";
    let scenario = read(plain);
    let rules = scenario.lock.redlock.clone().expect("Redlock has its settings");
    assert_eq!((rules.quorum, rules.drift), (Some(3), Some(Duration::from_millis(202))));
    let timeouts = scenario.workload.clients.iter().map(|c| c.behaviour.request_timeout);
    let millis: Vec<u64> = timeouts.flatten().map(Duration::as_millis).collect();
    assert_eq!(millis, [50, 1_000], "the documentation asks for much less than the TTL");
    assert_eq!(read(&scenario.to_toml()), scenario);
}

#[test]
fn the_smallest_scenario_has_every_default() {
    let scenario = read("[lock]\nstrategy = \"set-nx-px\"\n");
    let written = scenario.to_toml();
    assert_eq!(read(&written), scenario);
    insta::assert_snapshot!(written);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_panics(text in "[\\PC\\n]{0,200}") {
        fuzz(text.as_bytes());
    }

    #[test]
    fn no_text_of_our_words_panics(
        picks in proptest::collection::vec((any::<Index>(), "[ \n=,.]{0,2}"), 0..40),
    ) {
        let tokens = tokens();
        let text: String =
            picks.iter().map(|(pick, gap)| format!("{}{gap}", pick.get(&tokens))).collect();
        fuzz(text.as_bytes());
    }

    #[test]
    fn a_changed_scenario_is_refused_or_reads_back_the_same(
        changes in proptest::collection::vec((any::<Index>(), any::<Index>()), 1..4),
    ) {
        let tokens = tokens();
        let mut text = FULL.to_owned();
        for (from, to) in changes {
            let (from, to) = (from.index(tokens.len()), to.index(tokens.len()));
            text = text.replacen(&tokens[from], &tokens[to], 1);
        }
        fuzz(text.as_bytes());
    }

    #[test]
    fn changed_bytes_of_a_shipped_scenario_are_refused_or_read_back_the_same(
        file in any::<Index>(),
        changes in proptest::collection::vec((any::<Index>(), any::<u8>(), 0_u8..3), 0..6),
    ) {
        let shipped = shipped();
        let mut bytes = file.get(&shipped).1.clone().into_bytes();
        for (place, byte, kind) in changes {
            let place = place.index(bytes.len());
            match kind {
                0 => bytes[place] = byte,
                1 => bytes.insert(place, byte & 0x7f),
                _ => drop(bytes.remove(place)),
            }
        }
        fuzz(&bytes);
    }

    #[test]
    fn a_cut_scenario_does_not_panic(at in any::<Index>()) {
        let mut end = at.index(FULL.len());
        while !FULL.is_char_boundary(end) {
            end -= 1;
        }
        fuzz(&FULL.as_bytes()[..end]);
    }

    #[test]
    fn a_setting_does_not_panic(key in "[a-z.0-9_=\"]{0,30}", value in "\\PC{0,20}") {
        let _ = Scenario::parse_with(FULL, &[format!("{key}={value}")]);
    }
}
