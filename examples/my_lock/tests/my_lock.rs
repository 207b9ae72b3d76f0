//! The lock breaks when its holder is paused, and the checker sees a run without a holder.

use fencepost::{Kind, Run, Scenario, Testbed, run_on};
use my_lock::{MyLock, NobodyServed};

fn run(fault: &str) -> Run {
    let text = format!("[lock]\nstrategy = \"set-nx-px\"\n[[fault]]\n{fault}");
    let scenario = Scenario::parse(&text).expect("the scenario is well formed");
    let mut testbed = Testbed::with_strategy(&scenario, MyLock).expect("the fault has a place");
    testbed.add_checker(Box::<NobodyServed>::default());
    run_on(&mut testbed, &scenario).expect("the scenario runs")
}

#[test]
fn a_late_release_deletes_the_successors_key() {
    let run = run("pause = { process = \"c1\", when = \"before-release\", for = \"26s\" }");
    assert!(run.recorded.brief.violated.contains(Kind::ForeignRelease));
    assert!(run.is_minimal());
}

#[test]
fn nobody_is_served_by_a_node_that_is_down() {
    let run = run("server-restart = { server = \"r1\", at = \"0s\", for = \"2h\" }");
    assert_eq!(run.recorded.findings[0].name(), "nobody-served");
}

#[test]
fn a_run_without_such_a_fault_is_quiet() {
    let run = run("pause = { process = \"c1\", when = \"before-release\", for = \"1s\" }");
    assert!(run.recorded.brief.violated.is_empty());
}
