//! What lasts: beliefs, keys, stops, refused attempts, cut links, clock offsets.

use fencepost_history::{GrantId, Instant, What};

use super::frame::{Frame, Lane};
use super::labels::{over, words};
use super::select::Alike;
use super::{Layer, Orientation, Painter};
use crate::canvas::{Anchor, Font, Lean, Point, Px, Rect, Shape, Stroke, px};
use crate::palette::Paint;
use crate::reading::{Actor, Ending, Hold, KeyEnd, KeySpan, Reading, Stop, StopKind};
use crate::words::{list, rate, rough, signed};

/// Returns the colour number of a grant's client; outsiders have none.
pub(super) fn client(reading: &Reading<'_>, grant: GrantId) -> Option<usize> {
    reading.process(grant).map(fencepost_history::ProcessId::index)
}

impl Painter<'_> {
    pub(super) fn bars(&mut self) {
        let frame = self.frame;
        for lane in &frame.lanes {
            for (row, holds) in lane.holds.iter().enumerate() {
                for &hold in holds {
                    self.belief(lane, row, &self.reading.holds[hold]);
                }
            }
            for key in &self.reading.keys {
                let row = lane.locks.iter().position(|&lock| lock == key.lock);
                if let Some(row) = row.filter(|_| Actor::Server(key.server) == lane.actor) {
                    self.key(lane, row, key);
                }
            }
            for stop in self.reading.stops.iter().filter(|stop| stop.actor == lane.actor) {
                self.stop(lane, stop);
            }
        }
        self.refused();
        self.cuts_and_clocks();
    }

    /// Returns the ends of a bar along time, nothing for what lies beyond the drawing.
    fn ends(&self, from: Instant, to: Instant, open: bool) -> Option<(Px, Px)> {
        if from > self.selection.end {
            return None;
        }
        let start = self.frame.along(from);
        let end =
            if open || to > self.selection.end { self.frame.end() } else { self.frame.along(to) };
        Some((start, end.max(start + px(2))))
    }

    fn bar_label(&mut self, texts: &[String], bar: Rect, font: Font) {
        if self.frame.orientation == Orientation::Wide {
            let text = self.labels.inside(texts, bar, font);
            self.label(text);
        }
    }

    fn belief(&mut self, lane: &Lane, row: usize, hold: &Hold) {
        let reading = self.reading;
        let name = reading.client(hold.grant);
        let open = hold.ending == Ending::Open;
        let Some(ends) = self.ends(hold.from.at, hold.to.at, open) else { return };
        let color = client(reading, hold.grant).unwrap_or(0);
        let token = hold.token.number().map(|token| format!(" (token {token})"));
        let token = token.unwrap_or_default();
        let inset = (lane.row(row).0 + px(1), lane.row(row).1 - px(1));
        let rect = self.frame.rect(ends, inset);
        let shape = Shape::Rectangle {
            rect,
            radius: px(4),
            fill: Some(Paint::Tint(color)),
            stroke: Some(Stroke::dashed(Paint::Client(color), px(2), px(5), px(3))),
        };
        let title = format!("{name} believes it holds the lock{token}");
        self.legend.belief = true;
        self.span(Layer::Bar, (hold.from.at, hold.to.at), &title, vec![shape]);
        let several = reading.history.names.locks.len() > 1;
        let lock = if several { reading.history.names.lock(hold.lock) } else { "" };
        let texts = [
            format!("{name} believes it holds {lock}{token}").replace("holds  ", "holds "),
            format!("{name} believes it holds{token}"),
            format!("{name}{token}"),
            name,
        ];
        let skip = usize::from(!several);
        let font = Font { halo: Some(Paint::Tint(color)), ..words(Paint::Ink) };
        self.bar_label(&texts[skip..], rect, font);
    }

    fn key(&mut self, lane: &Lane, row: usize, key: &KeySpan) {
        let reading = self.reading;
        let Some(ends) = self.ends(key.from.at, key.to.at, key.end == KeyEnd::Open) else {
            return;
        };
        let owner = reading.client(key.owner);
        let paint = client(reading, key.owner).map_or(Paint::Muted, Paint::Client);
        let across = lane.row(row);
        let rect = self.frame.rect(ends, across);
        let mut shapes =
            vec![Shape::Rectangle { rect, radius: 0, fill: Some(paint), stroke: None }];
        let seen = key.to.at <= self.selection.end;
        let word = match key.end {
            KeyEnd::Expired => "expires",
            KeyEnd::Deleted(_) => "released",
            KeyEnd::Lost => "lost",
            KeyEnd::Replaced(_) | KeyEnd::Open => "",
        };
        let word = match key.end {
            KeyEnd::Deleted(GrantId::NONE)
                if reading.is_copy(key.server, key.lock, key.to.event) =>
            {
                "deleted".to_owned()
            }
            KeyEnd::Deleted(by) if by != key.owner => {
                format!("deleted by {}", reading.client(by))
            }
            _ => word.to_owned(),
        };
        if key.end == KeyEnd::Lost && seen {
            shapes.push(ragged(self.frame, ends.1, across));
        } else if !word.is_empty() && seen {
            let from = self.frame.point(ends.1, across.0 - px(1));
            let to = self.frame.point(ends.1, across.1 + px(5));
            shapes.push(Shape::Line { from, to, stroke: Stroke::solid(Paint::Ink, 25) });
        }
        let rest = if word.is_empty() { String::new() } else { format!(", then {word}") };
        let name = self.reading.history.names.lock(key.lock);
        let title = format!("{}: the key of {name} belongs to {owner}{rest}", lane.name);
        self.legend.key = true;
        self.span(Layer::Bar, (key.from.at, key.to.at), &title, shapes);
        let several = lane.locks.len() > 1;
        let long = if several { format!("{name} = {owner}") } else { format!("key = {owner}") };
        let font = Font { halo: Some(paint), ..words(paint.text()) };
        self.bar_label(&[long, owner], rect, font);
        if !word.is_empty() && seen {
            let at = self.frame.point(ends.1, across.1);
            let short = word.split(' ').next().unwrap_or("").to_owned();
            self.end_word(at, &[word, short]);
        }
    }

    /// Sets a word beside the tick at the end of a key's bar.
    fn end_word(&mut self, at: Point, texts: &[String]) {
        let places = match self.frame.orientation {
            Orientation::Wide => [
                (Point { x: at.x + px(5), y: at.y + px(13) }, Anchor::Start),
                (Point { x: at.x - px(5), y: at.y + px(13) }, Anchor::End),
                (Point { x: at.x, y: at.y + px(16) }, Anchor::Middle),
            ],
            Orientation::Tall => [
                (Point { x: at.x - px(11), y: at.y + px(13) }, Anchor::Middle),
                (Point { x: at.x - px(20), y: at.y + px(13) }, Anchor::Start),
                (Point { x: at.x + px(24), y: at.y + px(13) }, Anchor::End),
            ],
        };
        let text = self.labels.place(texts, &places, over(Paint::Ink));
        self.label(text);
    }

    fn stop(&mut self, lane: &Lane, stop: &Stop) {
        let Some(ends) = self.ends(stop.from.at, stop.to, !stop.ends) else { return };
        let across = lane.strip();
        let lasts = rough(stop.to.since(stop.from.at));
        let (word, title) = match stop.kind {
            StopKind::Pause => ("paused".to_owned(), "does not run".to_owned()),
            StopKind::Stall(thread) => {
                let role = &self.reading.history.names.threads[thread.index()].role;
                (format!("{role} stalled"), format!("the thread {role} does not run"))
            }
            StopKind::Crash => ("crashed".to_owned(), "is dead".to_owned()),
            StopKind::Down => ("down".to_owned(), "is down".to_owned()),
            StopKind::Busy => ("busy".to_owned(), "executes nothing".to_owned()),
        };
        let rect = self.frame.rect(ends, across);
        let shapes = if stop.kind == StopKind::Crash {
            self.legend.crash = true;
            crash(self.frame, lane, ends, stop.ends)
        } else {
            self.legend.pause = true;
            let stroke = Stroke::solid(Paint::Hatch, px(1));
            let rules = Stroke::solid(Paint::Hatch, 18);
            let background = Some(Paint::Background);
            vec![
                Shape::Rectangle { rect, radius: 0, fill: background, stroke: None },
                Shape::Hatch { rect, lean: Lean::Rising, pitch: px(7), stroke: rules },
                Shape::Rectangle { rect, radius: 0, fill: None, stroke: Some(stroke) },
            ]
        };
        let title = format!("{} {title}", lane.name);
        self.span(Layer::Bar, (stop.from.at, stop.to), &title, shapes);
        let timed = if stop.ends { format!("{word} {lasts}") } else { word.clone() };
        if self.frame.orientation == Orientation::Wide {
            let inner = match stop.kind {
                StopKind::Crash => Rect { x: rect.x + px(8), ..rect },
                _ => rect,
            };
            let text = self.labels.inside(&[timed, word], inner, words(Paint::Ink));
            self.patched(text);
        }
    }

    /// Adds words on a patch of the background, so that no hatch or dots run through them.
    fn patched(&mut self, text: Option<Shape>) {
        let Some(text) = text else { return };
        let mut shapes = Vec::new();
        if let Some(patch) = text.text_box() {
            let (x, width) = (patch.x - px(3), patch.width + px(6));
            let rect = Rect { x, y: patch.y - px(2), width, height: patch.height + px(3) };
            let fill = Some(Paint::Background);
            shapes.push(Shape::Rectangle { rect, radius: px(2), fill, stroke: None });
        }
        shapes.push(text);
        self.add(Layer::Label, String::new(), shapes);
    }

    fn refused(&mut self) {
        let selection = self.selection;
        for retries in &selection.retries {
            let Some(lane) = self.frame.lane(Actor::Process(retries.process)) else { continue };
            let Some(ends) = self.ends(retries.from, retries.to, false) else { continue };
            let stopped = self.reading.stops.iter().any(|stop| {
                stop.actor == lane.actor && stop.from.at < retries.to && retries.from < stop.to
            });
            if stopped && retries.what == Alike::Renewals {
                // The strip is hatched there; the list of steps has the renewals.
                continue;
            }
            let (top, bottom) = lane.strip();
            let middle = i32::midpoint(top, bottom);
            let count = retries.count;
            let s = if count == 1 { "" } else { "s" };
            let (long, short) = match retries.what {
                Alike::Refused => {
                    (format!("{count} more attempt{s}, all refused"), format!("{count} refused"))
                }
                Alike::Renewals => {
                    (format!("{count} more renewal{s}"), format!("{count} renewal{s}"))
                }
            };
            let title = format!("{}: {long}", lane.name);
            let mut text = None;
            if self.frame.orientation == Orientation::Wide {
                let bar = self.frame.rect(ends, (top, bottom));
                let bar = Rect { x: bar.x + px(12), width: bar.width - px(12), ..bar };
                let texts = [long, short, count.to_string()];
                text = self.labels.inside(&texts, bar, over(Paint::Muted));
            }
            // The dots leave room for the words.
            let taken = text.as_ref().and_then(Shape::text_box);
            let gap = taken
                .map_or((ends.1, ends.1), |taken| (taken.x - px(4), taken.x + taken.width + px(5)));
            let stroke = Stroke::dashed(Paint::Muted, 25, px(2), px(5));
            let mut shapes = Vec::new();
            for (from, to) in [(ends.0, gap.0), (gap.1, ends.1)] {
                if from < to {
                    let (from, to) = (self.frame.point(from, middle), self.frame.point(to, middle));
                    shapes.push(Shape::Line { from, to, stroke });
                }
            }
            self.legend.retries = true;
            self.span(Layer::Bar, (retries.from, retries.to), &title, shapes);
            self.label(text);
        }
    }

    fn cuts_and_clocks(&mut self) {
        let reading = self.reading;
        for (event, entry) in reading.history.events.iter().enumerate() {
            let (actor, until, long, short) = match entry.what {
                What::LinkCut { until, .. } | What::PeersCut { until, .. } => {
                    let Some((actor, others)) = reading.cut_off(event) else { continue };
                    (actor, until, format!("cut off from {}", list(&others)), "cut off".to_owned())
                }
                What::StreamStalled { server, peer, until } => {
                    let long = format!("no change gets to {}", reading.server_name(peer));
                    (Actor::Server(server), until, long, "stalled".to_owned())
                }
                What::Refusing { server, until } => {
                    (Actor::Server(server), until, "answers errors".to_owned(), "errors".to_owned())
                }
                What::Promoted { server } => {
                    let until = reading.demoted(server, event);
                    let long = "master from here on".to_owned();
                    (Actor::Server(server), until, long, "master".to_owned())
                }
                What::ServerClock { server, by } => {
                    let step = signed(by);
                    (Actor::Server(server), Instant::NEVER, format!("clock {step}"), step)
                }
                What::ProcessClock { process, by } => {
                    let step = signed(by);
                    (Actor::Process(process), Instant::NEVER, format!("clock {step}"), step)
                }
                What::ServerRate { server, rate: by } => {
                    let step = rate(by);
                    (Actor::Server(server), Instant::NEVER, format!("clock {step}"), step)
                }
                What::ProcessRate { process, rate: by } => {
                    let step = rate(by);
                    (Actor::Process(process), Instant::NEVER, format!("clock {step}"), step)
                }
                _ => continue,
            };
            let Some(lane) = self.frame.lane(actor) else { continue };
            let never = until == Instant::NEVER;
            let Some(ends) = self.ends(entry.at, until, never) else { continue };
            let is_thin = matches!(
                reading.history.events[event].what,
                What::Promoted { .. }
                    | What::ServerClock { .. }
                    | What::ProcessClock { .. }
                    | What::ServerRate { .. }
                    | What::ProcessRate { .. }
            );
            let across = if is_thin { lane.foot() + px(3) } else { lane.strip().1 - px(4) };
            let (from, to) = (self.frame.point(ends.0, across), self.frame.point(ends.1, across));
            let stroke = if is_thin {
                Stroke::solid(Paint::Muted, 12)
            } else {
                self.legend.cut = true;
                Stroke::dashed(Paint::Lost, 30, px(8), px(4))
            };
            let title = format!("{}: {long}", lane.name);
            let shapes = vec![Shape::Line { from, to, stroke }];
            self.span(Layer::Bar, (entry.at, until.min(self.selection.end)), &title, shapes);
            let y = if is_thin { px(11) } else { px(-4) };
            let at = Point { x: from.x + px(18), y: from.y + y };
            if self.frame.orientation == Orientation::Wide {
                let places = [(at, Anchor::Start)];
                let text = self.labels.place(&[long, short], &places, over(Paint::Ink));
                self.label(text);
            }
        }
    }
}

/// An end that looks torn off.
fn ragged(frame: &Frame, along: Px, across: (Px, Px)) -> Shape {
    let teeth = 4;
    let step = (across.1 - across.0) / teeth;
    let mut points = vec![frame.point(along + px(1), across.0)];
    for tooth in 0..teeth {
        let start = across.0 + step * tooth;
        points.push(frame.point(along - px(5), start + step / 2));
        points.push(frame.point(along + px(1), start + step));
    }
    Shape::Polyline { points, fill: Some(Paint::Background), stroke: None }
}

/// A cross, no lane until the restart, and an arrow in a circle there.
fn crash(frame: &Frame, lane: &Lane, ends: (Px, Px), restarts: bool) -> Vec<Shape> {
    let line = lane.line();
    let stroke = Stroke::solid(Paint::Violation, 26);
    let (a, b) = (ends.0 - px(6), ends.0 + px(6));
    let mut shapes = vec![
        Shape::Line {
            from: frame.point(a, line - px(6)),
            to: frame.point(b, line + px(6)),
            stroke,
        },
        Shape::Line {
            from: frame.point(a, line + px(6)),
            to: frame.point(b, line - px(6)),
            stroke,
        },
    ];
    if restarts {
        let center = frame.point(ends.1, line);
        let ring = Stroke::dashed(Paint::Ink, 18, px(24), px(8));
        let fill = Some(Paint::Background);
        shapes.push(Shape::Circle { center, radius: px(5), fill, stroke: Some(ring) });
        let tip = Point { x: center.x + px(5), y: center.y + px(1) };
        let points = vec![
            Point { x: tip.x - px(3), y: tip.y - px(4) },
            tip,
            Point { x: tip.x + px(4), y: tip.y - px(3) },
        ];
        let stroke = Some(Stroke::solid(Paint::Ink, 18));
        shapes.push(Shape::Polyline { points, fill: None, stroke });
    }
    shapes
}
