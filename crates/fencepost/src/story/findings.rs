//! Findings, with names in the place of ids.

use fencepost_check::{Finding, Kind};
use fencepost_history::{GrantId, History, ThreadId, What};
use fencepost_report::FindingView;

/// Names the violations among the findings.
pub(super) fn views(findings: &[Finding], history: &History) -> Vec<FindingView> {
    let violations = findings.iter().filter(|finding| !finding.note);
    violations.map(|finding| view(finding, history)).collect()
}

/// Names the threads of a finding; nothing where there is none.
pub(super) fn who(finding: &Finding, history: &History) -> [String; 2] {
    [0, 1].map(|place| {
        let thread = finding.threads[place].or_else(|| asker(finding.grants[place], history));
        thread.map(|thread| history.names.thread(thread)).unwrap_or_default()
    })
}

/// Finds who made an attempt of which the checkers did not know that yet.
fn asker(attempt: GrantId, history: &History) -> Option<ThreadId> {
    if attempt == GrantId::NONE {
        return None;
    }
    history.events.iter().find_map(|event| {
        if let What::Acquired { thread, grant, .. }
        | What::Refused { thread, grant, .. }
        | What::AcquireUnknown { thread, grant, .. } = event.what
            && grant == attempt
        {
            Some(thread)
        } else {
            None
        }
    })
}

fn view(finding: &Finding, history: &History) -> FindingView {
    let names = &history.names;
    let [mut older, mut newer] = who(finding, history);
    if finding.kind == Kind::UnboundedWait {
        // Of a wait, the one who waits is the one to tell of.
        std::mem::swap(&mut older, &mut newer);
    }
    let lock = finding.lock.map(|lock| names.lock(lock).to_owned()).unwrap_or_default();
    let resource = finding.resource.map(|resource| names.resource(resource).to_owned());
    FindingView {
        kind: finding.name().to_owned(),
        severity: finding.kind as u8,
        sentence: sentence(finding, [&older, &newer], &lock, resource.as_deref()),
        lock,
        older,
        newer,
        grants: finding.grants,
        tokens: finding.tokens.map(fencepost_history::Token::number),
        from: finding.from,
        to: finding.to,
        resource,
        event: usize::try_from(finding.event).ok(),
    }
}

/// Says in its own words what the report has no sentence for.
fn sentence(
    finding: &Finding,
    [older, newer]: [&str; 2],
    lock: &str,
    resource: Option<&str>,
) -> Option<String> {
    if finding.kind == Kind::Own {
        let who: Vec<&str> = [older, newer].into_iter().filter(|who| !who.is_empty()).collect();
        let of = if who.is_empty() { String::new() } else { format!(": {}", who.join(" and ")) };
        return Some(format!("{}{of}, at {} s of virtual time.", finding.name(), finding.from));
    }
    let is_same = finding.kind == Kind::DuplicateEffect && older == newer;
    if is_same && let Some(resource) = resource {
        return Some(format!(
            "{resource} accepted the effect of one job from {older} twice, the second time at {} s \
             of virtual time.",
            finding.to
        ));
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
