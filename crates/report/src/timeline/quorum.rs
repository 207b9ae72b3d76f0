//! The combined truth where several servers hold a lock together.

use std::collections::BTreeMap;

use fencepost_history::{GrantId, Instant, LockId, Names};

use super::bars::client;
use super::labels::words;
use super::{Layer, Orientation, Painter};
use crate::canvas::{Font, Shape, Stroke, px};
use crate::palette::Paint;
use crate::reading::{Actor, KeySpan, Reading};

/// Returns whether a lock is held by a majority of servers with a copy of their own.
pub(super) fn has(names: &Names, lock: LockId) -> bool {
    names.rules.get(lock.index()).is_some_and(|rules| rules.independent && rules.quorum > 1)
}

/// A time in which the same owner has a quorum, or nobody but there are keys.
struct Stretch {
    from: Instant,
    to: Instant,
    owner: Option<GrantId>,
}

/// Sweeps over the lives of a lock's keys.
fn stretches(reading: &Reading<'_>, lock: LockId) -> Vec<Stretch> {
    let quorum = reading.history.names.rules[lock.index()].quorum;
    let keys: Vec<&KeySpan> = reading.keys.iter().filter(|key| key.lock == lock).collect();
    let mut times: Vec<Instant> = keys.iter().flat_map(|key| [key.from.at, key.to.at]).collect();
    times.sort_unstable();
    times.dedup();
    let mut stretches: Vec<Stretch> = Vec::new();
    for pair in times.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        let mut votes: BTreeMap<GrantId, u16> = BTreeMap::new();
        for key in keys.iter().filter(|key| key.from.at <= from && to <= key.to.at) {
            *votes.entry(key.owner).or_default() += 1;
        }
        if votes.is_empty() {
            continue;
        }
        let owner = votes.into_iter().find(|(_, votes)| *votes >= quorum).map(|(owner, _)| owner);
        match stretches.last_mut() {
            Some(last) if last.to == from && last.owner == owner => last.to = to,
            _ => stretches.push(Stretch { from, to, owner }),
        }
    }
    stretches
}

impl Painter<'_> {
    /// Draws solid bars where a quorum agrees on an owner, and outlines where none does.
    pub(super) fn quorums(&mut self) {
        let (frame, reading) = (self.frame, self.reading);
        for lane in &frame.lanes {
            let Actor::Lock(lock) = lane.actor else { continue };
            for stretch in stretches(reading, lock) {
                if stretch.from > self.selection.end {
                    continue;
                }
                let to = stretch.to.min(self.selection.end);
                let ends = (frame.along(stretch.from), frame.along(to));
                let rect = frame.rect(ends, lane.row(0));
                let (fill, stroke, title, label) = match stretch.owner {
                    Some(owner) => {
                        let name = reading.client(owner);
                        let paint = client(reading, owner).map_or(Paint::Muted, Paint::Client);
                        let title = format!("a quorum agrees on {name}");
                        (Some(paint), None, title, [format!("held by {name}"), name])
                    }
                    None => {
                        let stroke = Some(Stroke::solid(Paint::Muted, 15));
                        let title = "no quorum agrees".to_owned();
                        (None, stroke, title, ["no quorum".to_owned(), String::new()])
                    }
                };
                self.legend.key |= fill.is_some();
                let shapes = vec![Shape::Rectangle { rect, radius: px(0), fill, stroke }];
                self.span(Layer::Bar, (stretch.from, to), &title, shapes);
                if frame.orientation == Orientation::Wide {
                    let paint = fill.map_or(Paint::Muted, Paint::text);
                    let font = Font { halo: fill, ..words(paint) };
                    let text = self.labels.inside(&label, rect, font);
                    self.label(text);
                }
            }
        }
    }
}
