//! What happens to keys at lock servers.

use std::slice::SliceIndex;

use fencepost_history::{Event, GrantId, How, Instant, LockId, ServerId, What};

use super::tell::{DETAIL, EFFECT, PLAIN, TURN, Teller, USUAL};
use crate::reading::{Actor, KeyEnd, KeySpan, Mark, Reading};
use crate::words::clock;

/// Says what an event does to a key, if the step of its client does not say it already.
pub(super) fn tell(teller: &mut Teller<'_>, event: usize) {
    let entry = &teller.reading.history.events[event];
    let mark = Mark { event, at: entry.at };
    match entry.what {
        What::KeySet { server, lock, by, owner, deadline, how, .. } => {
            set(teller, mark, &Set { server, lock, by, owner, deadline, how });
        }
        What::KeyGone { server, lock, by: GrantId::NONE, owner, how: How::Delete }
            if teller.reading.is_copy(server, lock, event) =>
        {
            let text = format!("deletes its copy of the key of {}", teller.reading.client(owner));
            teller.say(mark, Actor::Server(server), DETAIL, text);
        }
        What::KeyGone { server, by, owner, how, .. } => gone(teller, mark, server, by, owner, how),
        _ => {}
    }
}

struct Set {
    server: ServerId,
    lock: LockId,
    by: GrantId,
    owner: GrantId,
    deadline: Instant,
    how: How,
}

fn set(teller: &mut Teller<'_>, mark: Mark, set: &Set) {
    let reading = teller.reading;
    let client = reading.client(set.by);
    let owner = reading.client(set.owner);
    let until = match set.deadline {
        Instant::NEVER => "without expiry".to_owned(),
        deadline => format!("until {}", clock(deadline)),
    };
    let foreign = set.owner != GrantId::NONE && set.owner != set.by;
    let (weight, text) = match set.how {
        How::Extend if foreign => {
            let weight = if renewals(reading, ..mark.event, set) > 0 { DETAIL } else { EFFECT };
            (weight, format!("prolongs the key of {owner} {until}, as {client} asked"))
        }
        How::Extend => {
            let before = renewals(reading, ..mark.event, set);
            let last = renewals(reading, mark.event + 1.., set) == 0;
            let weight = if last { USUAL } else { DETAIL };
            (weight, format!("prolongs the key of {client} {until} (renewal {})", before + 1))
        }
        How::Overwrite if foreign => {
            (EFFECT, format!("gives the key of {owner} to {client} {until}"))
        }
        How::Create if reading.hold(set.by).is_none() && reading.is_on_several(set.lock) => {
            (DETAIL, format!("grants its key to {client} {until}, who gets no majority"))
        }
        How::Create | How::Overwrite
            if reading.hold(set.by).is_none() && !is_seen(reading, mark) =>
        {
            (TURN, format!("sets the key for {client} {until}, but {client} never learns of it"))
        }
        How::Create if set.deadline == Instant::NEVER => {
            (USUAL, format!("sets the key for {client} without expiry"))
        }
        How::Restore if reading.is_copy(set.server, set.lock, mark.event) => {
            (DETAIL, format!("copies the key of {client} {until}"))
        }
        How::Restore => (TURN, format!("has the key of {owner} back {until}")),
        How::Create | How::Overwrite => (DETAIL, format!("sets the key for {client} {until}")),
        How::Delete | How::Expire | How::Lose => return,
    };
    teller.say(mark, Actor::Server(set.server), weight, text);
    unfold(teller, mark.event);
}

/// Returns whether the client saw the reply to the command that brought an event about.
fn is_seen(reading: &Reading<'_>, mark: Mark) -> bool {
    let call = reading.causes.get(&mark.event).map(|&index| &reading.calls[index]);
    call.is_some_and(|call| call.seen.is_some())
}

fn gone(
    teller: &mut Teller<'_>,
    mark: Mark,
    server: ServerId,
    by: GrantId,
    owner: GrantId,
    how: How,
) {
    let reading = teller.reading;
    let (client, victim) = (reading.client(by), reading.client(owner));
    let (weight, text) = match how {
        // The step of the client's release shows the same command.
        How::Delete if by == owner && reading.hold(by).is_some() => {
            (DETAIL, format!("deletes the key of {client}: released"))
        }
        How::Delete if by == owner => (PLAIN, format!("deletes the key of {client}")),
        How::Delete if client == victim => (
            EFFECT,
            format!("deletes the key that {victim} has got anew, as {client} asked before"),
        ),
        How::Delete => (EFFECT, format!("deletes the key of {victim}, as {client} asked")),
        How::Lose => (TURN, format!("loses the key of {victim} with other data")),
        How::Expire => return,
        How::Create | How::Overwrite | How::Extend | How::Restore => {
            (EFFECT, format!("no longer has the key of {victim}"))
        }
    };
    teller.say(mark, Actor::Server(server), weight, text);
    unfold(teller, mark.event);
}

fn unfold(teller: &mut Teller<'_>, event: usize) {
    let reading = teller.reading;
    let call = reading.causes.get(&event).map(|&index| &reading.calls[index]);
    teller.unfold(call);
}

/// Tells expiries at the deadline, not at the later moment when somebody looks.
pub(super) fn expiries(teller: &mut Teller<'_>) {
    let reading = teller.reading;
    for key in reading.keys.iter().filter(|key| key.end == KeyEnd::Expired) {
        let owner = reading.client(key.owner);
        let believed = reading
            .hold(key.owner)
            .is_some_and(|hold| hold.from.at <= key.to.at && key.to.at < hold.to.at);
        let (weight, rest) = match believed {
            true if teller.matters(key.owner) => (TURN, format!("; nobody tells {owner}")),
            true => (USUAL, format!("; nobody tells {owner}")),
            false => (PLAIN, String::new()),
        };
        let text = format!("lets the key of {owner} expire{rest}");
        // The last event until then is what the step has in its causal past.
        let events = &reading.history.events;
        let before = events.partition_point(|event| event.at <= key.to.at);
        let told = if key.told { key.to.event } else { before.saturating_sub(1) };
        let mark = Mark { event: told, at: key.to.at };
        teller.say(mark, Actor::Server(key.server), weight, text);
    }
}

/// Returns the deadline that a key had when it was first given one.
pub(super) fn first_deadline(reading: &Reading<'_>, key: &KeySpan) -> Option<Instant> {
    let events = &reading.history.events;
    events[key.from.event..].iter().find_map(|event| match event.what {
        What::KeySet { server, lock, by, deadline, .. }
            if (server, lock, by) == (key.server, key.lock, key.owner) =>
        {
            (deadline != Instant::NEVER).then_some(deadline)
        }
        _ => None,
    })
}

/// Counts the renewals of the same key for the same client among some events.
fn renewals(
    reading: &Reading<'_>,
    events: impl SliceIndex<[Event], Output = [Event]>,
    set: &Set,
) -> usize {
    let alike = |event: &&Event| {
        matches!(
            event.what,
            What::KeySet { server, lock, by, owner, how: How::Extend, .. }
                if (server, lock, by, owner) == (set.server, set.lock, set.by, set.owner)
        )
    };
    reading.history.events[events].iter().filter(alike).count()
}
