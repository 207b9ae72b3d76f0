//! Tests of the plans that are drawn.

use std::panic::{AssertUnwindSafe, catch_unwind};

use ::proptest::prelude::*;
use ::proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};

use super::{Bound, Plan, Trial, plans, plans_on, plans_within};
use crate::{
    AcquireError, Attempt, Client, FaultKind, Grant, KeyLock, Kind, KindSet, LockStrategy,
    Scenario, Source, Testbed, Token,
};

const PLAIN: &str = r#"
[lock]
strategy = "set-nx-px"
release = "del"
renew = "watchdog"
[workload]
retry_every = "1s"
horizon = "10m"
"#;

fn scenario() -> Scenario {
    Scenario::parse(PLAIN).expect("the scenario is well formed")
}

fn runner(cases: u32) -> TestRunner {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let seed = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    TestRunner::new_with_rng(config, seed)
}

#[test]
fn plans_of_one_fault_of_any_kind_are_reached() {
    let scenario = scenario();
    let testbed = std::cell::RefCell::new(Testbed::new(&scenario).expect("it has no faults"));
    for kind in FaultKind::ALL.iter().filter(|kind| **kind != FaultKind::Operation) {
        let bound = Bound { faults: 1, kinds: vec![*kind], ..Bound::of(&scenario) };
        let seen = std::cell::Cell::new(0);
        runner(64)
            .run(&plans_within(&scenario, bound), |plan| {
                let recorded = testbed.borrow_mut().record(Source::Benign, &plan.deviations);
                let recorded = recorded.expect("the plan fits the scenario");
                prop_assert_eq!(&recorded.unreached, &[]);
                prop_assert!(plan.deviations.iter().all(|d| d.site.starts_with(kind.label())));
                seen.set(seen.get() + plan.deviations.len());
                Ok(())
            })
            .unwrap_or_else(|error| panic!("{kind:?}: {error}"));
        assert!(seen.get() > 0, "{kind:?}");
    }
}

#[test]
fn plans_find_many_kinds_of_trouble() {
    let scenario = scenario();
    let testbed = std::cell::RefCell::new(Testbed::new(&scenario).expect("it has no faults"));
    let found = std::cell::Cell::new(KindSet::EMPTY);
    runner(500)
        .run(&plans(&scenario), |plan| {
            let brief = testbed.borrow_mut().run(Source::Benign, &plan.deviations);
            let violated = brief.expect("the plan fits the scenario").violated;
            found.set(found.get().union(violated));
            Ok(())
        })
        .expect("nothing is asserted");
    for kind in [Kind::DoubleHolder, Kind::StaleWrite, Kind::ForeignRelease, Kind::LostUpdate] {
        assert!(found.get().contains(kind), "{kind} was never found, only {}", found.get());
    }
}

/// A lock whose clients do not look at what the others do.
struct NoLock(KeyLock);

impl LockStrategy for NoLock {
    async fn acquire(&self, client: &Client, attempt: Attempt) -> Result<Grant, AcquireError> {
        let started = self.0.now(client).await;
        Ok(self.0.grant(&attempt, started, Token::NONE))
    }

    async fn release(&self, _: &Client, _: &Grant) {}
}

#[test]
fn a_strategy_of_ones_own_has_its_own_plans() {
    let text = PLAIN.replace("\"watchdog\"", "\"off\"");
    let scenario = Scenario::parse(&text).expect("the scenario is well formed");
    let testbed = || Testbed::with_strategy(&scenario, NoLock).expect("it has no faults");
    let bound = Bound { faults: 1, kinds: vec![FaultKind::Pause], ..Bound::of(&scenario) };
    let trial = Trial::new(&scenario, "no-lock").on(testbed());
    let failure = runner(10).run(&plans_on(testbed(), &scenario, bound), |plan| {
        crate::assert_safe!(plan, trial);
        Ok(())
    });
    let Err(TestError::Fail(_, smallest)) = failure else { panic!("no lock holds nothing") };
    assert_eq!(smallest, Plan::default());
}

#[test]
fn the_macro_of_proptest_prints_one_block() {
    let scenario = scenario();
    let trial = Trial::new(&scenario, "watchdog").of(&[Kind::StaleWrite]);
    let failed = catch_unwind(AssertUnwindSafe(|| {
        let config = Config { cases: 2_000, failure_persistence: None, ..Config::default() };
        proptest!(config, |(plan in plans(&scenario))| {
            crate::assert_safe!(plan, trial);
        });
    }));
    let text = failed.expect_err("a watchdog freezes with its process");
    let text = text.downcast_ref::<String>().expect("proptest panics with a text");
    assert_eq!(text.matches("VIOLATED").count(), 1, "{text}");
    assert!(text.contains("minimal failing input: plan = "), "{text}");
}

#[test]
fn a_plan_is_written_by_name() {
    assert_eq!(Plan::default().to_string(), "no fault");
    let deviation = "client.pause@c1#6 = 1.5s".parse().expect("it is one");
    let other = "net.loss@c1->r1#2 = 1".parse().expect("it is one");
    let plan = Plan { deviations: vec![deviation, other] };
    assert_eq!(format!("{plan:?}"), "client.pause@c1#6 = 1.5s, net.loss@c1->r1#2 = 1");
}
