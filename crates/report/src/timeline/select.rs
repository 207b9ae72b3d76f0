//! What of a run is drawn: the time around the findings, and the calls that a reader needs.

use std::collections::{BTreeMap, BTreeSet};

use fencepost_history::{Duration, GrantId, How, Instant, ProcessId, ServerId, ThreadId, What};

use crate::Story;
use crate::reading::{Call, Ending, KeyEnd, Reading};
use crate::steps::Step;

/// The most calls that are drawn.
const CALLS: usize = 300;

/// Calls that are drawn as one thing.
#[derive(Clone, Debug)]
pub(super) struct Retries {
    pub(super) what: Alike,
    pub(super) process: ProcessId,
    pub(super) from: Instant,
    pub(super) to: Instant,
    pub(super) count: usize,
}

/// What calls have in common that are drawn as one thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alike {
    /// They asked for the lock in vain.
    Refused,
    /// They renewed the same key.
    Renewals,
}

/// What is drawn.
#[derive(Clone, Debug)]
pub(super) struct Selection {
    /// When the drawing ends.
    pub(super) end: Instant,
    /// Indices of the calls.
    pub(super) calls: Vec<usize>,
    /// What is drawn of the other calls.
    pub(super) retries: Vec<Retries>,
    /// How many calls are not drawn at all.
    pub(super) omitted: usize,
}

impl Selection {
    pub(super) fn new(story: &Story, reading: &Reading<'_>, steps: &[Step]) -> Self {
        let (mut repeated, mut retries) = repeated(reading);
        renewals(reading, &mut repeated, &mut retries);
        let late = latest(story, reading);
        let drawn = |index: &usize| {
            let call = &reading.calls[*index];
            call.sent.at <= late && !repeated.contains(index)
        };
        let mut calls: Vec<usize> = (0..reading.calls.len()).filter(drawn).collect();
        let all = calls.len();
        if calls.len() > CALLS {
            calls.retain(|&index| {
                let call = &reading.calls[index];
                !call.effects.is_empty() || call.request_lost() || call.reply_lost()
            });
            calls.truncate(CALLS);
        }
        let omitted = all - calls.len();
        let mut selection = Self { end: late, calls, retries, omitted };
        selection.retries.retain(|retries| retries.from <= late);
        selection.end = selection.times(story, reading, steps).last().copied().unwrap_or(late);
        for retries in &mut selection.retries {
            retries.to = retries.to.min(selection.end);
        }
        selection
    }

    /// Returns the instants that have a place of their own.
    pub(super) fn times(
        &self,
        story: &Story,
        reading: &Reading<'_>,
        steps: &[Step],
    ) -> BTreeSet<Instant> {
        let mut times: BTreeSet<Instant> = BTreeSet::from([Instant::ZERO]);
        for &index in &self.calls {
            let call = &reading.calls[index];
            times.extend([call.sent.at, call.arrives, call.reply_arrives]);
            times.extend(call.applied.map(|mark| mark.at));
            times.extend(call.replied.map(|mark| mark.at));
        }
        for hold in &reading.holds {
            times.insert(hold.from.at);
            times.extend((hold.ending != Ending::Open).then_some(hold.to.at));
        }
        for key in &reading.keys {
            times.insert(key.from.at);
            times.extend((key.end != KeyEnd::Open).then_some(key.to.at));
        }
        for stop in &reading.stops {
            times.insert(stop.from.at);
            times.extend(stop.ends.then_some(stop.to));
        }
        times.extend(reading.accesses.iter().map(|access| access.mark.at));
        times.extend(steps.iter().filter(|step| step.number.is_some()).map(|step| step.at));
        times.extend(self.retries.iter().flat_map(|retries| [retries.from, retries.to]));
        for finding in story.told() {
            times.extend([finding.begin(), finding.to]);
        }
        times.retain(|&at| at <= self.end);
        times
    }
}

/// Returns until when things are drawn at most: one lease after the last finding.
fn latest(story: &Story, reading: &Reading<'_>) -> Instant {
    let history = reading.history;
    let lease = history.names.rules.iter().map(|rules| rules.ttl).max().unwrap_or(Duration::ZERO);
    let found = story.findings.iter().map(|finding| {
        let event = finding.event.and_then(|event| history.events.get(event));
        event.map_or(finding.to, |event| event.at.max(finding.to))
    });
    found.max().map_or(history.end, |last| (last + lease).min(history.end))
}

/// Finds the calls of refused attempts after the first one, thread by thread.
fn repeated(reading: &Reading<'_>) -> (BTreeSet<usize>, Vec<Retries>) {
    let mut calls = BTreeSet::new();
    let mut folded: Vec<Retries> = Vec::new();
    let threads = reading.history.names.threads.len();
    for thread in (0..threads).filter_map(|index| u16::try_from(index).ok()).map(ThreadId) {
        let mut start = 0;
        let mut refused = 0;
        for (event, entry) in reading.history.events.iter().enumerate() {
            match entry.what {
                What::AcquireInvoked { thread: by, .. } if by == thread => {
                    (start, refused) = (event, 0);
                }
                What::Refused { thread: by, .. } if by == thread => {
                    refused += 1;
                    let mine = attempt(reading, thread, start, event);
                    start = event;
                    if refused == 1 || mine.is_empty() {
                        continue;
                    }
                    let process = reading.history.names.process_of(thread);
                    let from = reading.calls[mine[0]].sent.at;
                    match folded.last_mut() {
                        Some(last) if refused > 2 && last.process == process => {
                            last.to = entry.at;
                            last.count += 1;
                        }
                        _ => folded.push(Retries {
                            what: Alike::Refused,
                            process,
                            from,
                            to: entry.at,
                            count: 1,
                        }),
                    }
                    calls.extend(mine);
                }
                What::AcquireUnknown { thread: by, .. } | What::Acquired { thread: by, .. }
                    if by == thread =>
                {
                    start = event;
                }
                _ => {}
            }
        }
    }
    (calls, folded)
}

/// Finds the renewals of each key between the first and the last one.
fn renewals(reading: &Reading<'_>, calls: &mut BTreeSet<usize>, folded: &mut Vec<Retries>) {
    let mut of: BTreeMap<(GrantId, ServerId), Vec<usize>> = BTreeMap::new();
    for (index, call) in reading.calls.iter().enumerate() {
        let [effect] = call.effects[..] else { continue };
        let What::KeySet { by, owner, how: How::Extend, server, .. } =
            reading.history.events[effect].what
        else {
            continue;
        };
        if by == owner && !is_odd(reading, call) {
            of.entry((by, server)).or_default().push(index);
        }
    }
    for (_, renewals) in of.into_iter().filter(|(_, renewals)| renewals.len() > 4) {
        let middle = &renewals[1..renewals.len() - 1];
        let (first, last) = (&reading.calls[middle[0]], &reading.calls[middle[middle.len() - 1]]);
        folded.push(Retries {
            what: Alike::Renewals,
            process: reading.history.names.process_of(first.thread),
            from: first.sent.at,
            to: last.seen.map_or(last.sent.at, |mark| mark.at),
            count: middle.len(),
        });
        calls.extend(middle);
    }
}

/// Returns whether something befell a call that is worth seeing.
fn is_odd(reading: &Reading<'_>, call: &Call<'_>) -> bool {
    call.request_lost()
        || call.reply_lost()
        || reading.is_late(call.sent.at, call.arrives)
        || call.replied.is_some_and(|sent| reading.is_late(sent.at, call.reply_arrives))
}

/// Returns the calls of an attempt, none if one of them is worth drawing by itself.
fn attempt(reading: &Reading<'_>, thread: ThreadId, start: usize, end: usize) -> Vec<usize> {
    let calls = reading.calls_between(start, end);
    let mine: Vec<usize> = calls.filter(|&index| reading.calls[index].thread == thread).collect();
    let odd = mine.iter().any(|&index| {
        let call = &reading.calls[index];
        !call.effects.is_empty() || is_odd(reading, call)
    });
    if odd { Vec::new() } else { mine }
}
