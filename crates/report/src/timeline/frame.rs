//! Lanes, and how time and lanes become places on paper.

use fencepost_history::{Instant, LockId};

use super::Orientation;
use super::scale::{Need, Scale};
use super::select::Selection;
use crate::Story;
use crate::canvas::{Point, Px, Rect, px};
use crate::reading::{Actor, Reading};
use crate::steps::Step;

/// The height of a bar.
pub(super) const BAR: Px = px(22);
/// From one bar to the next in a lane with several.
const ROW: Px = px(24);
/// The length of the time axis, before anything needs more.
const WIDE: Px = px(762);
/// The room below a lane's bars for fault marks and words.
const FOOT: Px = px(18);

/// What a lane shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Quorum,
    Client,
    Server,
    Resource,
}

/// A client, a server or a resource; offsets are measured across the time axis.
#[derive(Clone, Debug)]
pub(super) struct Lane {
    pub(super) actor: Actor,
    pub(super) kind: Kind,
    pub(super) name: String,
    pub(super) start: Px,
    pub(super) size: Px,
    /// The holds in rows: indices of holds that do not overlap.
    pub(super) holds: Vec<Vec<usize>>,
    /// The locks whose keys the server holds, a row each.
    pub(super) locks: Vec<LockId>,
    /// Where the bars begin.
    bars: Px,
}

impl Lane {
    fn rows(&self) -> Px {
        let rows = match self.kind {
            Kind::Client => self.holds.len(),
            Kind::Server => self.locks.len(),
            Kind::Quorum | Kind::Resource => 1,
        };
        Px::try_from(rows.max(1)).unwrap_or(1)
    }

    /// Returns where step numbers have their centre.
    pub(super) fn number(&self, orientation: Orientation) -> Px {
        match (orientation, self.kind) {
            // Messages come from the other side.
            (_, Kind::Resource) => self.line() + px(24),
            (Orientation::Wide, _) => self.start + px(9),
            (Orientation::Tall, _) => self.start + px(8),
        }
    }

    /// Returns both edges of a row of bars.
    pub(super) fn row(&self, row: usize) -> (Px, Px) {
        let top = self.bars + ROW * Px::try_from(row).unwrap_or(0);
        (top, top + BAR)
    }

    /// Returns where the lane's line is.
    pub(super) fn line(&self) -> Px {
        match self.kind {
            Kind::Client => self.bars + ROW * self.rows() - px(1),
            Kind::Quorum | Kind::Server => self.bars + BAR / 2,
            Kind::Resource => self.bars + px(16),
        }
    }

    /// Returns both edges of the strip that shows whether the process runs.
    pub(super) fn strip(&self) -> (Px, Px) {
        match self.kind {
            Kind::Client => (self.line() + px(1), self.line() + px(1) + BAR),
            Kind::Quorum | Kind::Server | Kind::Resource => self.row(0),
        }
    }

    /// Returns where the bars end and the lane's foot begins.
    pub(super) fn foot(&self) -> Px {
        match self.kind {
            Kind::Client => self.strip().1,
            Kind::Quorum | Kind::Server => self.bars + ROW * self.rows() - px(2),
            Kind::Resource => self.bars + px(48),
        }
    }

    /// Returns where messages leave and arrive, seen from another lane.
    pub(super) fn port(&self, other: &Self) -> Px {
        match self.kind {
            Kind::Quorum | Kind::Client | Kind::Resource => self.line(),
            Kind::Server if other.start < self.start => self.bars,
            Kind::Server => self.bars + ROW * self.rows() - px(2),
        }
    }
}

/// The paper.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub(super) orientation: Orientation,
    pub(super) scale: Scale,
    pub(super) lanes: Vec<Lane>,
    /// Where time begins.
    pub(super) origin: Px,
    /// Where lanes begin, across.
    pub(super) head: Px,
    /// Where lanes end, across.
    pub(super) tail: Px,
}

impl Frame {
    pub(super) fn new(
        story: &Story,
        reading: &Reading<'_>,
        steps: &[Step],
        selection: &Selection,
        orientation: Orientation,
    ) -> Self {
        let (origin, head) = match orientation {
            Orientation::Wide => (px(128), px(44)),
            Orientation::Tall => (px(46), px(62)),
        };
        let mut lanes = lanes(story, reading, steps, selection);
        let spare = match orientation {
            Orientation::Wide => 0,
            // Five columns fill a phone; fewer are wider.
            Orientation::Tall => {
                let least = px(64) * Px::try_from(lanes.len()).unwrap_or(1);
                (px(355) - head - least).max(0) / Px::try_from(lanes.len().max(1)).unwrap_or(1)
            }
        };
        let mut start = head;
        for lane in &mut lanes {
            lane.start = start;
            lane.bars = match orientation {
                // Arrows end at the bars of servers, so their heads need room below the numbers.
                Orientation::Wide if lane.kind == Kind::Server => start + px(26),
                Orientation::Wide if lane.kind == Kind::Resource => start + px(6),
                Orientation::Wide if lane.kind == Kind::Quorum => start + px(11),
                Orientation::Wide => start + px(19),
                Orientation::Tall => start + px(9) + spare / 2,
            };
            if lane.kind == Kind::Resource && orientation == Orientation::Tall {
                lane.bars += px(6);
            }
            let foot = lane.foot() - start;
            lane.size = match orientation {
                Orientation::Wide if lane.kind == Kind::Resource => foot,
                Orientation::Wide if lane.kind == Kind::Quorum => foot + px(11),
                Orientation::Wide => foot + FOOT,
                Orientation::Tall => (foot + px(8) + spare / 2).max(px(64) + spare),
            };
            start += lane.size;
        }
        let times = selection.times(story, reading, steps);
        let needs = needs(reading, steps, &lanes);
        let scale = match orientation {
            Orientation::Wide => Scale::new(&times, &needs, WIDE),
            Orientation::Tall => {
                let count = Px::try_from(times.len()).unwrap_or(1);
                Scale::new(&times, &needs, (px(26) * count).max(px(400)))
            }
        };
        Self { orientation, scale, lanes, origin, head, tail: start }
    }

    /// Returns where an instant lies along the time axis.
    pub(super) fn along(&self, at: Instant) -> Px {
        self.origin + self.scale.at(at)
    }

    /// Returns where time ends.
    pub(super) fn end(&self) -> Px {
        self.origin + self.scale.length() + px(10)
    }

    /// Returns the lane of an actor.
    pub(super) fn lane(&self, actor: Actor) -> Option<&Lane> {
        self.lanes.iter().find(|lane| lane.actor == actor)
    }

    /// Makes a place from a place along time and one across it.
    pub(super) fn point(&self, along: Px, across: Px) -> Point {
        match self.orientation {
            Orientation::Wide => Point { x: along, y: across },
            Orientation::Tall => Point { x: across, y: along },
        }
    }

    /// Makes a rectangle from edges along time and across it.
    pub(super) fn rect(&self, along: (Px, Px), across: (Px, Px)) -> Rect {
        let from = self.point(along.0, across.0);
        let to = self.point(along.1, across.1);
        Rect { x: from.x, y: from.y, width: to.x - from.x, height: to.y - from.y }
    }

    /// Returns the width of the drawing.
    pub(super) fn width(&self) -> Px {
        match self.orientation {
            Orientation::Wide => self.end() + px(6),
            Orientation::Tall => self.tail,
        }
    }

    /// Returns where the lanes end, from the top.
    pub(super) fn bottom(&self) -> Px {
        match self.orientation {
            Orientation::Wide => self.tail,
            Orientation::Tall => self.end(),
        }
    }
}

/// Returns the lanes that have something to show: clients, then servers, then resources.
fn lanes(story: &Story, reading: &Reading<'_>, steps: &[Step], selection: &Selection) -> Vec<Lane> {
    let names = &reading.history.names;
    let ids = |count: usize| (0..count).filter_map(|index| u16::try_from(index).ok());
    let clients = ids(names.processes.len())
        .map(|id| (Actor::Process(fencepost_history::ProcessId(id)), Kind::Client));
    let servers = ids(names.servers.len()).map(|id| {
        let server = fencepost_history::ServerId(id);
        let kind = match names.resource_servers.contains(&server) {
            true => Kind::Resource,
            false => Kind::Server,
        };
        (Actor::Server(server), kind)
    });
    let shared = ids(names.rules.len()).map(LockId).filter(|&lock| super::quorum::has(names, lock));
    let shared = shared.map(|lock| (Actor::Lock(lock), Kind::Quorum));
    let mut all: Vec<(Actor, Kind)> = shared.chain(clients).chain(servers).collect();
    all.sort_by_key(|(_, kind)| *kind == Kind::Resource);
    let mut lanes = Vec::new();
    for (actor, kind) in all {
        let name = reading.name(actor);
        let holds = hold_rows(reading, actor, selection.end);
        let locks = locks(reading, actor);
        let shown = kind == Kind::Quorum
            || !holds.is_empty()
            || !locks.is_empty()
            || steps.iter().any(|step| step.number.is_some() && step.actor == actor)
            || reading.stops.iter().any(|stop| stop.actor == actor)
            || story.findings.iter().any(|found| found.older == name || found.newer == name)
            || selection.calls.iter().any(|&index| {
                let call = &reading.calls[index];
                Actor::Server(call.server) == actor
                    || Actor::Process(names.process_of(call.thread)) == actor
            });
        if shown {
            lanes.push(Lane { actor, kind, name, start: 0, size: 0, holds, locks, bars: 0 });
        }
    }
    lanes
}

fn hold_rows(reading: &Reading<'_>, actor: Actor, end: Instant) -> Vec<Vec<usize>> {
    let mut rows: Vec<Vec<usize>> = Vec::new();
    for (index, hold) in reading.holds.iter().enumerate() {
        let here = Actor::Process(reading.history.names.process_of(hold.thread)) == actor;
        if !here || hold.from.at > end {
            continue;
        }
        let free = rows.iter_mut().find(|row| {
            row.last().is_none_or(|&last: &usize| reading.holds[last].to.at <= hold.from.at)
        });
        match free {
            Some(row) => row.push(index),
            None => rows.push(vec![index]),
        }
    }
    rows
}

fn locks(reading: &Reading<'_>, actor: Actor) -> Vec<LockId> {
    let here = reading.keys.iter().filter(|key| Actor::Server(key.server) == actor);
    let mut locks: Vec<LockId> = here.map(|key| key.lock).collect();
    locks.sort_unstable();
    locks.dedup();
    locks
}

fn needs(reading: &Reading<'_>, steps: &[Step], lanes: &[Lane]) -> Vec<Need> {
    let lane = |actor| lanes.iter().position(|lane| lane.actor == actor);
    let mut needs = Vec::new();
    for step in steps.iter().filter(|step| step.number.is_some()) {
        if let Some(lane) = lane(step.actor) {
            needs.push(Need { lane, at: step.at, half: px(9) });
        }
    }
    for access in &reading.accesses {
        if let Some(found) = lane(Actor::Server(reading.resource_server(access.resource))) {
            // Numbers and circles of one lane lie in different rows.
            let half = match access.access {
                fencepost_history::Access::Read => px(8),
                fencepost_history::Access::Write => px(14),
            };
            needs.push(Need { lane: lanes.len() + found, at: access.mark.at, half });
        }
    }
    needs
}
