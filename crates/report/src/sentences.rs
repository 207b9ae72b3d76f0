//! What each kind of finding says, in one sentence.

use crate::words::{exact, length};
use crate::{FindingView, Story, Verdict};

/// Says what was found, or what it means that nothing was.
pub(crate) fn summary(story: &Story) -> String {
    match (story.told().first(), story.verdict) {
        (Some(finding), _) => finding_sentence(finding),
        (None, Verdict::Violated) => "A violation was found.".to_owned(),
        (None, Verdict::Clean) => {
            "This one schedule broke nothing; that says nothing about others.".to_owned()
        }
        (None, Verdict::NoneFound) => "No sampled schedule broke anything.".to_owned(),
        (None, Verdict::Exhausted) => "No schedule inside the bound broke anything.".to_owned(),
        (None, Verdict::Inconclusive) => "The run stopped early.".to_owned(),
    }
}

/// Says what a finding is: who, what, when.
pub(crate) fn finding_sentence(finding: &FindingView) -> String {
    if let Some(sentence) = &finding.sentence {
        return sentence.clone();
    }
    let (older, newer) = (finding.older.as_str(), finding.newer.as_str());
    let lock = format!("lock \"{}\"", finding.lock);
    let resource = finding.resource.as_deref().unwrap_or("the resource");
    let token = |index: usize| match finding.tokens[index] {
        Some(token) => format!(" (token {token})"),
        None => String::new(),
    };
    let (older_token, newer_token) = (token(0), token(1));
    let when = when(finding);
    match finding.kind.as_str() {
        "double-holder" => format!("{older} and {newer} both acted as holder of {lock} {when}."),
        "double-run" => {
            format!("{older} went on working under {lock} while {newer} had it, {when}.")
        }
        "late-write" => format!(
            "{resource} accepted a write of {older}{older_token} after {newer}{newer_token} \
             had got {lock}, {when}."
        ),
        "stale-write" => format!(
            "{resource} accepted a write of {older}{older_token} after {newer}{newer_token}, \
             who came later, had used it, {when}."
        ),
        "lost-update" => format!(
            "{older} wrote over a change of {newer} at {resource} that it had not read, \
             {when}."
        ),
        "foreign-release" => {
            format!("{older} deleted the key of {lock} that {}, {when}.", whose(finding))
        }
        "foreign-renew" => {
            format!("{older} prolonged the key of {lock} that {}, {when}.", whose(finding))
        }
        "orphan-no-ttl" => {
            let set_for = format!(", set for {older},");
            let owner = if older.is_empty() { "" } else { set_for.as_str() };
            format!("The key of {lock}{owner} has no expiry and nobody left to delete it, {when}.")
        }
        "ghost-hold" => {
            let owner = if older.is_empty() { newer } else { older };
            format!("The key of {lock} was there for {owner}, who did not use it, {when}.")
        }
        "token-regression" => format!(
            "{newer} got a token of {lock}{newer_token} that is not above \
             {older}'s{older_token}, {when}."
        ),
        "fence-regression" => format!(
            "{resource} accepted a token of {older}{older_token} below one it had seen, \
             {when}."
        ),
        "duplicate-effect" => format!(
            "{resource} accepted the effect of one job from {older} and from {newer}, \
             {when}."
        ),
        "unbounded-wait" => {
            let who = if newer.is_empty() { older } else { newer };
            format!("{who} asked for {lock} and did not get it in time, {when}.")
        }
        "deadlock" => format!("{older} and {newer} wait for each other for ever, {when}."),
        kind => {
            let named = [older, newer].into_iter().filter(|name| !name.is_empty());
            let who: Vec<&str> = named.collect();
            format!("{kind} of {lock} by {}, {when}.", who.join(" and "))
        }
    }
    .replace(" ,", ",")
}

/// Says whose key it was; tasks of one client may share a name.
fn whose(finding: &FindingView) -> String {
    if finding.older == finding.newer {
        "a later grant of the same client had set".to_owned()
    } else {
        format!("was {}'s", finding.newer)
    }
}

fn when(finding: &FindingView) -> String {
    let (from, to) = (finding.begin(), finding.to);
    if to <= from {
        return format!("at {} of virtual time", exact(to));
    }
    format!("for {}, from {} to {} of virtual time", length(to.since(from)), exact(from), exact(to))
}
