//! Property tests break a lock that should break, and leave alone one that should hold.

use std::cell::Cell;
use std::fs;
use std::io::{Write as _, stdout};
use std::path::Path;

use fencepost::proptest::{Plan, Trial, plans};
use fencepost::{Kind, Scenario, assert_safe, replay};
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};

type Outcome = Result<(), TestError<Plan>>;

fn scenario(lock: &str, fencing: &str) -> Scenario {
    let text = format!(
        r#"
        [lock]
        strategy = "set-nx-px"
        ttl = "30s"
        {lock}
        [workload]
        clients = 2
        work = "5s"
        retry_every = "1s"
        horizon = "10m"
        [workload.resource]
        fencing = "{fencing}"
        "#
    );
    Scenario::parse(&text).expect("the scenario is well formed")
}

/// Tries `cases` plans, always the same ones; tells how many it took until one failed.
fn try_plans(scenario: &Scenario, trial: &Trial, cases: u32) -> (u32, Outcome) {
    let (tried, is_failing) = (Cell::new(0), Cell::new(false));
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let seed = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let outcome = TestRunner::new_with_rng(config, seed).run(&plans(scenario), |plan| {
        if !is_failing.get() {
            tried.set(tried.get() + 1);
        }
        is_failing.set(true);
        assert_safe!(plan, trial);
        is_failing.set(false);
        Ok(())
    });
    (tried.get(), outcome)
}

#[test]
fn get_then_del_breaks_and_leaves_one_file_that_replays() {
    let scenario = scenario("release = \"get-then-del\"", "off");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("get-then-del");
    let _ = fs::remove_dir_all(&folder);
    let trial = Trial::new(&scenario, "get-then-del").of(&[Kind::ForeignRelease]);
    let (tried, failure) = try_plans(&scenario, &trial.writing(&folder), 4_000);
    let Err(TestError::Fail(reason, plan)) = failure else {
        panic!("GET and DEL are two steps, and no plan came between them: {failure:?}");
    };
    let block = reason.message();
    assert_eq!(block.matches("VIOLATED").count(), 1);
    let told = writeln!(stdout(), "after {tried} plans; the smallest: {plan}\n\n{block}");
    told.expect("standard output is open");
    let files: Vec<_> = fs::read_dir(&folder).expect("a file was written").collect();
    let [Ok(file)] = files.as_slice() else { panic!("there is one file, not {files:?}") };
    let text = fs::read_to_string(file.path()).expect("the file can be read");
    let again = Scenario::parse(&text).expect("the file is a scenario");
    let run = replay(&again).expect("the file replays");
    assert!(run.recorded.brief.violated.contains(Kind::ForeignRelease));
    assert!(run.judgement.is_met(), "{}", run.judgement);
    assert!(block.contains(&format!("{:#018x}", run.recorded.brief.hash)));
}

const LATE: [Kind; 3] = [Kind::StaleWrite, Kind::LostUpdate, Kind::ForeignRelease];

#[test]
fn the_fenced_lock_holds_for_ten_thousand_plans() {
    let scenario = scenario("fencing_token = \"in-acquire-script\"", "reads-and-writes");
    let trial = Trial::new(&scenario, "fenced").of(&LATE);
    let (tried, outcome) = try_plans(&scenario, &trial, 10_000);
    outcome.expect("the fence refuses what comes too late");
    assert_eq!(tried, 10_000);
}

/// Plans that could not hurt the lock without its fence would say nothing about the fence.
#[test]
fn the_same_plans_break_the_lock_without_its_fence() {
    let scenario = scenario("fencing_token = \"in-acquire-script\"", "off");
    let trial = Trial::new(&scenario, "unfenced").of(&LATE);
    let (tried, outcome) = try_plans(&scenario, &trial, 1_000);
    assert!(outcome.is_err(), "{tried} plans did not hurt a lock without a fence");
}
