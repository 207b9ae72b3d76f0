//! Findings, with names in the place of ids.

use fencepost_check::{Finding, Kind};
use fencepost_history::{Names, ThreadId};
use fencepost_report::FindingView;

/// Names the violations among the findings.
pub(super) fn views(findings: &[Finding], names: &Names) -> Vec<FindingView> {
    let violations = findings.iter().filter(|finding| !finding.note);
    violations.map(|finding| view(finding, names)).collect()
}

fn view(finding: &Finding, names: &Names) -> FindingView {
    let name =
        |thread: Option<ThreadId>| thread.map(|thread| names.thread(thread)).unwrap_or_default();
    let [first, second] = finding.threads;
    // Of a wait, the one who waits is the one to tell of.
    let [older, newer] = if finding.kind == Kind::UnboundedWait {
        [name(second), name(first)]
    } else {
        [name(first), name(second)]
    };
    let lock = finding.lock.map(|lock| names.lock(lock).to_owned()).unwrap_or_default();
    FindingView {
        kind: finding.name().to_owned(),
        severity: finding.kind as u8,
        sentence: sentence(finding, &older, &newer, &lock),
        lock,
        older,
        newer,
        grants: finding.grants,
        tokens: finding.tokens.map(fencepost_history::Token::number),
        from: finding.from,
        to: finding.to,
        resource: finding.resource.map(|resource| names.resource(resource).to_owned()),
        event: usize::try_from(finding.event).ok(),
    }
}

/// Says in its own words what the report has no sentence for.
fn sentence(finding: &Finding, older: &str, newer: &str, lock: &str) -> Option<String> {
    if finding.kind == Kind::Own {
        let who: Vec<&str> = [older, newer].into_iter().filter(|who| !who.is_empty()).collect();
        let of = if who.is_empty() { String::new() } else { format!(": {}", who.join(" and ")) };
        return Some(format!("{}{of}, at {} s of virtual time.", finding.name(), finding.from));
    }
    let is_hidden = finding.kind == Kind::UnboundedWait && !newer.is_empty() && newer != older;
    is_hidden.then(|| {
        let lasts = super::length(finding.to.since(finding.from));
        format!(
            "{older} asked for lock \"{lock}\" for {lasts} after all faults were over and never \
             got it; the key that {newer} had set was in the way."
        )
    })
}
