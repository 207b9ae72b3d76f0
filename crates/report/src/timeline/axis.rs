//! Lanes with their names, and the time axis.

use fencepost_history::{Duration, Instant};

use super::frame::{Kind, Lane};
use super::labels::{over, words};
use super::{Layer, Orientation, Painter};
use crate::canvas::{Anchor, Font, Point, Px, Rect, Shape, Stroke, px};
use crate::palette::Paint;
use crate::reading::StopKind;
use crate::text::width;
use crate::words::{clock, cut, rough};

/// How far apart the axis's words are at least.
const APART: Px = px(58);

impl Painter<'_> {
    pub(super) fn lanes(&mut self) {
        let frame = self.frame;
        let (first, last) = match frame.orientation {
            Orientation::Wide => (0, frame.width()),
            Orientation::Tall => (px(20), frame.end()),
        };
        for lane in &frame.lanes {
            let role = match lane.kind {
                Kind::Quorum => "lock (quorum)",
                Kind::Client => "client",
                Kind::Server => self.reading.role(lane.actor),
                Kind::Resource => "resource",
            };
            let edge = Stroke::solid(Paint::Grid, 10);
            let mut shapes = vec![Shape::Line {
                from: frame.point(first, lane.start),
                to: frame.point(last, lane.start),
                stroke: edge,
            }];
            for (from, to) in self.alive(lane) {
                shapes.push(Shape::Line {
                    from: frame.point(from, lane.line()),
                    to: frame.point(to, lane.line()),
                    stroke: Stroke::solid(Paint::Grid, 15),
                });
            }
            match frame.orientation {
                Orientation::Wide => {
                    let y = lane.start + px(30);
                    let name = fit(&lane.name, px(106), 13);
                    let font = Font { size: 13, ..words(Paint::Ink) };
                    shapes.push(Shape::Text { at: Point { x: px(8), y }, text: name, font });
                    let font = Font { size: 11, ..words(Paint::Muted) };
                    let at = Point { x: px(8), y: y + px(15) };
                    shapes.push(Shape::Text { at, text: role.to_owned(), font });
                }
                Orientation::Tall => {
                    let at = Point { x: lane.start + lane.size / 2, y: px(14) };
                    let name = fit(&lane.name, lane.size - px(4), 12);
                    let font = Font { anchor: Anchor::Middle, ..words(Paint::Ink) };
                    shapes.push(Shape::Text { at, text: name, font });
                }
            }
            for shape in &shapes {
                if let Some(rect) = shape.text_box() {
                    self.labels.take(rect);
                }
            }
            self.add(Layer::Lane, format!("{} ({role})", lane.name), shapes);
        }
        let from = frame.point(first, frame.tail);
        let to = frame.point(last, frame.tail);
        let stroke = Stroke::solid(Paint::Grid, 10);
        self.add(Layer::Lane, String::new(), vec![Shape::Line { from, to, stroke }]);
    }

    /// Returns the stretches in which a lane's line is drawn: a dead process has none.
    fn alive(&self, lane: &Lane) -> Vec<(Px, Px)> {
        let mut stretches = Vec::new();
        let mut from = self.frame.origin;
        for stop in &self.reading.stops {
            let dead = stop.kind == StopKind::Crash && stop.actor == lane.actor;
            if dead && stop.from.at <= self.selection.end {
                stretches.push((from, self.frame.along(stop.from.at)));
                from = self.frame.end();
                if stop.ends && stop.to <= self.selection.end {
                    from = self.frame.along(stop.to);
                }
            }
        }
        stretches.push((from, self.frame.end()));
        stretches.retain(|(from, to)| from < to);
        stretches
    }

    pub(super) fn axis(&mut self) {
        let mut times: Vec<Instant> = Vec::new();
        times.extend(self.steps.iter().filter(|step| !step.kinds.is_empty()).map(|step| step.at));
        let numbered = self.steps.iter().filter(|step| step.number.is_some());
        times.extend(numbered.map(|step| step.at));
        times.extend(self.frame.scale.instants().map(|(at, _)| at));
        let mut set: Vec<(Px, Px, String)> = Vec::new();
        for at in times.into_iter().filter(|&at| at <= self.selection.end) {
            let along = self.frame.along(at);
            let apart = match self.frame.orientation {
                Orientation::Wide => APART.max(width(&clock(at), 12) + px(6)),
                Orientation::Tall => px(16),
            };
            let near_end = self.frame.width() - width(&clock(at), 12) / 2 - px(3);
            let center = match self.frame.orientation {
                Orientation::Wide => along.min(near_end),
                Orientation::Tall => along,
            };
            let text = clock(at);
            let fits = |(other, _, known): &(Px, Px, String)| {
                (other - center).abs() >= apart && *known != text
            };
            if set.iter().all(fits) {
                set.push((center, along, text));
            }
        }
        set.sort_unstable();
        let mut shapes = Vec::new();
        for (center, along, text) in set {
            let (text_at, anchor, tick) = match self.frame.orientation {
                Orientation::Wide => {
                    let at = Point { x: center, y: px(12) };
                    (
                        at,
                        Anchor::Middle,
                        [Point { x: along, y: px(17) }, Point { x: along, y: px(25) }],
                    )
                }
                Orientation::Tall => {
                    let at = Point { x: px(53), y: along + px(4) };
                    (
                        at,
                        Anchor::End,
                        [Point { x: px(56), y: along }, Point { x: px(61), y: along }],
                    )
                }
            };
            let size = if self.frame.orientation == Orientation::Wide { 12 } else { 11 };
            let font = Font { size, anchor, ..words(Paint::Ink) };
            let shape = Shape::Text { at: text_at, text, font };
            let inside = shape.text_box().is_some_and(|rect| self.labels.is_free(&rect));
            let stroke = Stroke::solid(Paint::Muted, 10);
            shapes.push(Shape::Line { from: tick[0], to: tick[1], stroke });
            if inside {
                self.labels.take(shape.text_box().unwrap_or(Rect {
                    x: 0,
                    y: 0,
                    width: 0,
                    height: 0,
                }));
                shapes.push(shape);
            }
        }
        self.add(Layer::Lane, String::new(), shapes);
        self.gaps();
    }

    /// Says how long the compressed gaps are.
    fn gaps(&mut self) {
        for gap in self.frame.scale.gaps() {
            if gap.length <= Duration::from_secs(1) {
                continue;
            }
            self.legend.gaps = true;
            let middle = self.frame.origin + i32::midpoint(gap.from, gap.to);
            let text = rough(gap.length);
            let room = match self.frame.orientation {
                Orientation::Wide => gap.to - gap.from - px(22),
                Orientation::Tall => px(42),
            };
            let long = width(&text, 11);
            let font = Font { size: 11, ..over(Paint::Muted) };
            let place = match self.frame.orientation {
                Orientation::Wide => Point { x: middle - long / 2 + px(6), y: px(36) },
                Orientation::Tall => Point { x: px(53) - long, y: middle + px(4) },
            };
            let mut shapes = Vec::new();
            let slashes = match self.frame.orientation {
                Orientation::Wide => Point { x: place.x - px(11), y: px(36) },
                Orientation::Tall => Point { x: place.x - px(10), y: middle + px(4) },
            };
            for offset in [0, px(4)] {
                shapes.push(Shape::Line {
                    from: Point { x: slashes.x + offset, y: slashes.y + px(1) },
                    to: Point { x: slashes.x + offset + px(4), y: slashes.y - px(9) },
                    stroke: Stroke::solid(Paint::Muted, 11),
                });
            }
            if long <= room
                && let Some(text) = self.labels.place(&[text], &[(place, Anchor::Start)], font)
            {
                shapes.push(text);
                self.add(Layer::Lane, format!("{} left out here", rough(gap.length)), shapes);
            }
        }
    }
}

/// Shortens a name until it fits.
fn fit(name: &str, room: Px, size: i32) -> String {
    let mut characters = name.chars().count();
    while characters > 1 && width(&cut(name, characters), size) > room {
        characters -= 1;
    }
    cut(name, characters)
}
