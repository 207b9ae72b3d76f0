//! Remarks on a run that are no violations, and what the run takes for granted.

use fencepost_check::Kind;
use fencepost_history::Duration;
use fencepost_testbed::scenario::{Purpose, Scenario, Strategy};

use super::findings::who;
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
    ghosts(scenario, run, &mut notes);
    notes.extend(no_majority(scenario));
    if tally.unknown > 0 {
        let attempts = count(tally.unknown, "attempt", "attempts");
        notes.push(if scenario.lock.strategy == Strategy::Redlock {
            format!("{attempts} got too few answers to know whether there was a majority")
        } else {
            format!(
                "{attempts} ended without an answer, so that the client could not know whether it \
                 had the lock"
            )
        });
    }
    notes
}

/// Tells of keys that nobody believed in, and of who stood in his own way.
fn ghosts(scenario: &Scenario, run: &Run, notes: &mut Vec<String>) {
    let recorded = &run.recorded;
    let of = |kind: Kind| {
        let noted = recorded.findings.iter().filter(move |one| one.note && one.kind == kind);
        noted.map(|finding| (finding, who(finding, &recorded.history)))
    };
    // A key that is on its way to its owner, or back, is a ghost for the time of a message.
    let worth_telling = scenario.network.latency.nominal().saturating_mul(4);
    for (ghost, [owner, _]) in of(Kind::GhostHold) {
        let lasted = ghost.to.since(ghost.from);
        if lasted > worth_telling {
            let note = format!(
                "ghost hold: the key of {owner} lived on for {}, to {} s, though nobody believed \
                 in it",
                length(lasted),
                ghost.to
            );
            // Several servers may have it for as long.
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    if let Some((_, [client, _])) = of(Kind::SelfBlock).next() {
        let how = if scenario.lock.strategy == Strategy::Redlock {
            "in an attempt that failed"
        } else {
            "without knowing"
        };
        notes.push(format!(
            "self-block: {client} was refused because of a key that it had set itself {how}"
        ));
    }
    if let Some((_, [older, newer])) = of(Kind::StaleRead).next() {
        notes.push(format!(
            "stale read: {older} read after {newer}, who came later, had used the resource"
        ));
    }
}

/// Warns of a quorum that two clients can have at once.
fn no_majority(scenario: &Scenario) -> Option<String> {
    let quorum = scenario.lock.redlock.as_ref()?.quorum?;
    let servers = scenario.store.server_names().len();
    let is_majority = usize::try_from(quorum).ok()? > servers / 2;
    (!is_majority).then(|| {
        format!("{quorum} of {servers} servers is no majority: two clients can have as many each")
    })
}

/// Says how much it takes to have a lock on several servers, and for how long one has it.
fn validity(scenario: &Scenario) -> Option<String> {
    let rules = scenario.lock.redlock.as_ref()?;
    let servers = scenario.store.server_names().len();
    let (ttl, drift) = (scenario.lock.ttl?, rules.drift.unwrap_or_default());
    let looks = match rules.min_validity {
        Some(_) => "what is left when a client has asked is the validity of its lock",
        None => "clients do not look at how much is left",
    };
    Some(format!(
        "{} of {servers} servers have to grant the lock; it is for {} less {} for clocks that \
         drift; {looks}",
        rules.quorum?,
        length(ttl),
        length(drift)
    ))
}

/// Says what a run takes for granted.
pub(super) fn assumed(scenario: &Scenario) -> Vec<String> {
    let latency = length(scenario.network.latency.nominal());
    let mut assumed = vec![format!("a message takes {latency} one way where no fault says else")];
    if scenario.clock.is_empty() {
        assumed.push("all clocks are right until a fault changes them".to_owned());
    }
    assumed.extend(validity(scenario));
    for clock in &scenario.clock {
        let host = &clock.host;
        if clock.offset.as_nanos() != 0 {
            let way = if clock.offset.as_nanos() > 0 { "ahead" } else { "behind" };
            let by = Duration::from_nanos(clock.offset.as_nanos().unsigned_abs());
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
