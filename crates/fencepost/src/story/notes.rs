//! Remarks on a run that are no violations, and what the run takes for granted.

use fencepost_check::{Finding, Kind};
use fencepost_history::ThreadId;
use fencepost_testbed::scenario::{Purpose, Scenario};

use super::length;
use crate::Run;

/// Writes a number of things: `1 access`, `2 accesses`.
fn count(number: u32, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// Collects the remarks on a run.
pub(super) fn notes(scenario: &Scenario, run: &Run) -> Vec<String> {
    let (recorded, tally) = (&run.recorded, &run.recorded.tally);
    let resource = &scenario.workload.resource.name;
    let mut notes = Vec::new();
    for deviation in &recorded.unreached {
        notes.push(format!("the fault `{deviation}` never took effect"));
    }
    if tally.saves > 0 {
        let refused = count(tally.saves, "access", "accesses");
        notes.push(format!(
            "the fence of {resource} saved the day: it refused {refused} of a superseded holder"
        ));
    }
    if tally.false_refusals > 0 {
        let refused = count(tally.false_refusals, "access", "accesses");
        notes.push(format!(
            "false refusal: the fence of {resource} refused {refused} of the rightful holder"
        ));
    }
    if tally.deduplicated > 0 {
        let writes = count(tally.deduplicated, "write", "writes");
        notes.push(format!("{writes} had no effect because the job had been done already"));
    }
    if scenario.lock.purpose == Purpose::Efficiency && tally.double_runs > 0 {
        let runs = count(tally.double_runs, "double run", "double runs");
        notes.push(format!("{runs}, counted as cost: the lock is there for efficiency"));
    }
    if tally.takeovers.count > 0 {
        let (min, max) = (tally.takeovers.min, tally.takeovers.max);
        let took =
            if min == max { length(max) } else { format!("{} to {}", length(min), length(max)) };
        notes.push(format!("takeover: the next holder came {took} after the death of the last"));
    }
    ghosts(run, &mut notes);
    if tally.unknown > 0 {
        let attempts = count(tally.unknown, "attempt", "attempts");
        notes.push(format!(
            "{attempts} ended without an answer, so that the client could not know whether it had \
             the lock"
        ));
    }
    notes
}

/// Tells of keys that nobody believed in, and of who stood in his own way.
fn ghosts(run: &Run, notes: &mut Vec<String>) {
    let recorded = &run.recorded;
    let name = |thread: Option<ThreadId>| match thread {
        Some(thread) => recorded.history.names.thread(thread),
        None => "nobody".to_owned(),
    };
    let of = |kind: Kind| {
        let noted = move |finding: &&Finding| finding.note && finding.kind == kind;
        recorded.findings.iter().filter(noted)
    };
    for ghost in of(Kind::GhostHold) {
        notes.push(format!(
            "ghost hold: the key of {} lived on for {}, to {} s, though nobody believed in it",
            name(ghost.threads[0]),
            length(ghost.to.since(ghost.from)),
            ghost.to
        ));
    }
    if let Some(first) = of(Kind::SelfBlock).next() {
        notes.push(format!(
            "self-block: {} was refused because of a key that it had set itself without knowing",
            name(first.threads[0])
        ));
    }
    if let Some(first) = of(Kind::StaleRead).next() {
        notes.push(format!(
            "stale read: {} read after {}, who came later, had used the resource",
            name(first.threads[0]),
            name(first.threads[1])
        ));
    }
}

/// Says what a run takes for granted.
pub(super) fn assumed(scenario: &Scenario) -> Vec<String> {
    let latency = length(scenario.network.latency.nominal());
    let mut assumed = vec![format!("a message takes {latency} one way where no fault says else")];
    if scenario.clock.is_empty() {
        assumed.push("all clocks are right until a fault changes them".to_owned());
    }
    for clock in &scenario.clock {
        let host = &clock.host;
        if clock.offset.as_nanos() != 0 {
            let way = if clock.offset.as_nanos() > 0 { "ahead" } else { "behind" };
            let by =
                fencepost_history::Duration::from_nanos(clock.offset.as_nanos().unsigned_abs());
            assumed.push(format!("the wall clock of {host} is {} {way}", length(by)));
        }
        if clock.rate_ppm != 0 {
            let way = if clock.rate_ppm > 0 { "fast" } else { "slow" };
            let ppm = clock.rate_ppm.unsigned_abs();
            assumed.push(format!("the clocks of {host} run {ppm} ppm too {way}"));
        }
    }
    assumed
}
