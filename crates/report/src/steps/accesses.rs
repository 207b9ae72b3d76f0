//! What happens at protected resources.

use fencepost_history::{Access, AccessOutcome};

use super::tell::{DETAIL, EFFECT, PLAIN, TURN, Teller, USUAL};
use crate::reading::{AccessMark, Actor, Reading};

/// Says how a resource answers an access.
pub(super) fn tell(teller: &mut Teller<'_>, event: usize) {
    let reading = teller.reading;
    let place = reading.accesses.binary_search_by_key(&event, |access| access.mark.event);
    let Ok(access) = place.map(|place| &reading.accesses[place]) else { return };
    let actor = Actor::Server(reading.resource_server(access.resource));
    let client = with_token(reading, access);
    let (weight, text) = match (access.access, access.outcome) {
        (Access::Write, AccessOutcome::Accepted) => {
            let after = last_of_others(reading, access);
            let stale = after.filter(|other| is_older(reading, access, other));
            let text = match stale {
                Some(other) => format!(
                    "accepts the write of {client} after the {} of {}, who came later",
                    noun(other.access),
                    with_token(reading, other)
                ),
                None => format!("accepts the write of {client}"),
            };
            (if stale.is_some() { TURN } else { EFFECT }, text)
        }
        (Access::Read, AccessOutcome::Accepted) => {
            let weight = if teller.matters(access.grant) { USUAL - 1 } else { DETAIL };
            (weight, format!("answers the read of {client}"))
        }
        (kind, AccessOutcome::Refused) => {
            let reason = match highest_before(reading, access) {
                Some(seen) if access.token.number() == Some(seen) => {
                    "it wants a larger token each time".to_owned()
                }
                Some(seen) => format!("it has seen token {seen}"),
                None => "its token is too small".to_owned(),
            };
            (TURN, format!("refuses the {} of {client}: {reason}", noun(kind)))
        }
        (kind, AccessOutcome::Deduplicated) => {
            let text = format!("knows the {} of {client} already; it has no effect", noun(kind));
            (TURN, text)
        }
    };
    let weight = if teller.matters(access.grant) { weight } else { weight.min(PLAIN) };
    teller.say(access.mark, actor, weight, text);
    let call = reading.causes.get(&event).map(|&index| &reading.calls[index]);
    teller.unfold(call);
}

pub(crate) fn noun(access: Access) -> &'static str {
    match access {
        Access::Read => "read",
        Access::Write => "write",
    }
}

fn with_token(reading: &Reading<'_>, access: &AccessMark) -> String {
    let client = reading.client(access.grant);
    match access.token.number() {
        Some(token) => format!("{client} (token {token})"),
        None => client,
    }
}

/// Returns the highest token that the resource has accepted so far.
fn highest_before(reading: &Reading<'_>, access: &AccessMark) -> Option<u64> {
    let before = reading.accesses.iter().filter(|other| {
        other.mark.event < access.mark.event
            && other.resource == access.resource
            && other.outcome == AccessOutcome::Accepted
    });
    before.filter_map(|other| other.token.number()).max()
}

fn last_of_others<'r>(reading: &'r Reading<'_>, access: &AccessMark) -> Option<&'r AccessMark> {
    reading.accesses.iter().rev().find(|other| {
        other.mark.event < access.mark.event
            && other.resource == access.resource
            && other.grant != access.grant
            && other.outcome == AccessOutcome::Accepted
    })
}

/// Returns whether an access's grant is older than that of an earlier access.
fn is_older(reading: &Reading<'_>, access: &AccessMark, other: &AccessMark) -> bool {
    let since = |grant| reading.hold(grant).map(|hold| hold.from.event);
    matches!((since(access.grant), since(other.grant)), (Some(mine), Some(theirs)) if mine < theirs)
}
