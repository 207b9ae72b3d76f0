//! Tests of the front door as one.

use std::ops::ControlFlow;

use fencepost_report::{Expected, Look, Verdict, block};

use crate::{
    Error, Kind, Needed, Origin, Run, Sample, Scenario, Telling, Testbed, UpperBound,
    counterexample, replay, run, sample, sample_on, story,
};

const ZOMBIE: &str = r#"
title = "A paused holder writes after its lease has moved on"

[lock]
strategy = "set-nx-px"
ttl = "30s"

[[fault]]
pause = { process = "c1", when = "acquired", for = "31s" }

[[fault]]
pause = { process = "c2", when = "acquired", for = "1ms" }

[expect]
violations = ["double-holder", "stale-write"]
sometimes = ["c2 acquired"]
"#;

const HAZARD: &str = r#"
[lock]
strategy = "set-nx-px"
ttl = "30s"

[hazard]
pause = { when = "before-write", odds = "1/16", for = "31s" }
"#;

fn scenario(text: &str) -> Scenario {
    Scenario::parse(text).expect("the scenario is well formed")
}

fn seeded(text: &str, runs: u64) -> Sample {
    sample(&scenario(text), 7, runs, |_, _| ControlFlow::Continue(())).expect("it runs")
}

fn told(scenario: &Scenario, run: &Run) -> String {
    let telling = Telling {
        scenario_name: "here".to_owned(),
        command: "fencepost replay here.toml".to_owned(),
        page: None,
    };
    let lines = block(&story(scenario, run, &telling), &run.recorded.history, Look::default());
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_superfluous_fault_is_noticed() {
    let run = run(&scenario(ZOMBIE)).expect("it runs");
    assert_eq!(run.verdict, Verdict::Violated);
    assert!(run.judgement.is_met(), "{}", run.judgement);
    assert_eq!(run.faults().len(), 2);
    assert_eq!(run.needed, Needed::NotAll(vec![1]));
    assert_eq!(run.faults_claim().as_deref(), Some("even without F2 there is lost-update"));
}

#[test]
fn a_story_has_names_and_words() {
    let scenario = scenario(ZOMBIE);
    let run = run(&scenario).expect("it runs");
    let story = story(&scenario, &run, &Telling::default());
    assert_eq!(story.expected, Expected::Met);
    assert_eq!(story.faults[0].text, "pause c1 for 31 s");
    assert!(story.faults.iter().all(|fault| fault.event.is_some()));
    for finding in &story.findings {
        assert_ne!(finding.older, finding.newer, "{}", finding.kind);
        assert!(finding.from <= finding.to);
    }
    assert!(told(&scenario, &run).contains("as expected by [expect]"));
}

#[test]
fn a_sample_finds_leaves_out_and_replays() {
    let scenario = scenario(HAZARD);
    let sample = seeded(HAZARD, 1_000);
    assert_eq!(sample.verdict(), Verdict::Violated);
    assert_eq!(sample.bound(), None);
    let found = sample.found.expect("the verdict says so");
    assert!(matches!(found.origin, Origin::Sampled { seed: 7, .. }));
    assert!(found.is_minimal());
    assert_eq!(found.faults().len(), 1);
    assert_eq!(found.recorded.deviations.len(), 1, "latencies do not matter here");

    let file = counterexample(&scenario, &found, "here").expect("it is violated");
    let again = Scenario::parse(&file.text).expect("it is well formed");
    let replayed = replay(&again).expect("it is the same run");
    assert_eq!(replayed.recorded.brief, found.recorded.brief);
    assert!(replayed.judgement.is_met(), "{}", replayed.judgement);
    assert_eq!(replayed.origin.seed(), found.origin.seed());
    let block = told(&again, &replayed);
    assert_eq!(block, told(&again, &Run { judgement: replayed.judgement, ..found }));
}

#[test]
fn a_sampled_run_is_repeated_by_its_deviations_alone() {
    let scenario = scenario(HAZARD);
    let mut testbed = Testbed::new(&scenario).expect("it has no faults to place");
    let key = crate::RunKey::new(3, 5);
    let seeded = testbed.record(crate::Source::Seeded(key), &[]).expect("it runs");
    assert!(seeded.deviations.len() > 10, "latencies deviate");
    testbed.set_pinned(seeded.deviations.clone());
    let again = testbed.record(crate::Source::Benign, &[]).expect("it runs");
    assert_eq!(again.brief, seeded.brief);
    assert_eq!(again.unreached, []);
}

#[test]
fn the_same_finding_has_the_same_name() {
    let name = || {
        let found = seeded(HAZARD, 1_000).found.expect("a run is violated");
        counterexample(&scenario(HAZARD), &found, "here").expect("it is violated").name
    };
    assert_eq!(name(), name());
    assert!(name().starts_with("lost-update-"), "{}", name());
}

#[test]
fn a_quiet_sample_is_qualified() {
    let quiet = "[lock]\nstrategy = \"set-nx-px\"";
    let sample = seeded(quiet, 30);
    assert_eq!(sample.verdict(), Verdict::NoneFound);
    assert_eq!(sample.bound().map(|bound| bound.to_string()), Some("9.51 %".to_owned()));
    let few = crate::sample(&scenario(quiet), 7, 29, |_, _| ControlFlow::Continue(()));
    assert_eq!(few.expect_err("29 runs say nothing"), Error::TooFewRuns(29));
}

#[test]
fn a_sample_can_be_stopped() {
    let scenario = scenario("[lock]\nstrategy = \"set-nx-px\"");
    let mut testbed = Testbed::new(&scenario).expect("it has no faults to place");
    let stop =
        |done, _| if done == 40 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let sample = sample_on(&mut testbed, &scenario, 7, 1_000, stop).expect("it runs");
    assert_eq!((sample.done, sample.verdict()), (40, Verdict::Inconclusive));
    assert!(sample.bound().is_some());
}

#[test]
fn a_replay_insists_on_its_file() {
    let scenario = scenario(ZOMBIE);
    let run = run(&scenario).expect("it runs");
    let file = counterexample(&scenario, &run, "here").expect("it is violated");
    assert!(file.text.lines().next().is_some_and(|line| line.starts_with("# ")));

    let changed = |change: fn(&mut crate::scenario::Replay)| {
        let mut scenario = file.scenario.clone();
        change(scenario.replay.as_mut().expect("it is a counterexample"));
        replay(&scenario).expect_err("the file was changed")
    };
    let other_hash = changed(|replay| replay.hash.0 ^= 1);
    assert!(other_hash.is_difference() && other_hash.to_string().contains("hash"));
    let unreached = changed(|replay| replay.deviations.push("client.pause@c1#999 = 1s".to_owned()));
    assert!(unreached.to_string().contains("`client.pause@c1#999 = 1s`"), "{unreached}");
    let unfitting = changed(|replay| replay.deviations.push("net.loss@c1->r1@1s = 1".to_owned()));
    assert!(unfitting.is_difference(), "{unfitting}");
    let unknown = changed(|replay| replay.deviations.push("client.pause@c9#1 = 1s".to_owned()));
    assert!(unknown.to_string().contains("c9"), "{unknown}");
    let torn = changed(|replay| replay.deviations.push("client.pause".to_owned()));
    assert!(matches!(torn, Error::Deviation(_)));
}

#[test]
fn bounds_are_rounded_up() {
    let after = |runs: u64| UpperBound::after(runs).to_string();
    assert_eq!(after(0), "100 %");
    assert_eq!(after(1), "95 %");
    assert_eq!(after(100), "2.96 %");
    assert_eq!(after(10_000), "0.03 %");
    assert_eq!(after(1_000_000), "0.0003 %");
    assert!(UpperBound::after(100) > UpperBound::after(101));
}

#[test]
fn a_restarted_client_is_not_two() {
    let text = "[lock]\nstrategy = \"set-nx-px\"\n[[fault]]\n\
                crash = { process = \"c1\", when = \"write-done\", restart_after = \"40s\" }";
    let scenario = scenario(text);
    let run = run(&scenario).expect("it runs");
    let told = told(&scenario, &run);
    assert!(told.contains("the effect of one job from c1 twice"), "{told}");
}

#[test]
fn violations_without_faults_claim_nothing() {
    let text = "[lock]\nstrategy = \"set-nx-px\"\nttl = \"1s\"\n[workload]\nwork = \"3s\"";
    let run = run(&scenario(text)).expect("it runs");
    assert!(run.recorded.brief.violated.contains(Kind::DoubleHolder));
    assert_eq!(run.faults_claim(), None);
}
