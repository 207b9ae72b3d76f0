//! What happens at one instant: accesses, faults, step numbers.

use fencepost_history::{Access, AccessOutcome};

use super::bars::client;
use super::labels::over;
use super::{Layer, Mark, Orientation, Painter};
use crate::canvas::{Anchor, Font, Point, Px, Rect, Shape, Stroke, px};
use crate::palette::Paint;
use crate::reading::{AccessMark, Actor};
use crate::steps::access_noun;
use crate::text::width;
use crate::words::clock;

/// The radius of a write's circle.
const WRITE: Px = px(11);
/// The radius of a step number's circle.
const NUMBER: Px = 75;

fn around(center: Point, radius: Px) -> Rect {
    let (x, y) = (center.x - radius, center.y - radius);
    Rect { x, y, width: 2 * radius, height: 2 * radius }
}

impl Painter<'_> {
    pub(super) fn numbers(&mut self) {
        let steps = self.steps;
        for step in steps {
            let Some(number) = step.number else { continue };
            let Some(lane) = self.frame.lane(step.actor) else { continue };
            let across = lane.number(self.frame.orientation);
            let start = self.frame.along(step.at);
            let at = |offset: Px| self.frame.point(start + offset, across);
            let spots = [0, 17, 34, 51].map(px);
            let free = spots.into_iter().find(|&offset| {
                let center = at(offset);
                self.labels.is_free(&around(center, NUMBER - 2))
            });
            let center = at(free.unwrap_or(0));
            self.labels.take(around(center, NUMBER));
            let violates = !step.kinds.is_empty();
            let (fill, ink) = match violates {
                true => (Paint::Violation, Paint::OnViolation),
                false => (Paint::Background, Paint::Ink),
            };
            let rim = if violates { Paint::Violation } else { Paint::Ink };
            let stroke = Some(Stroke::solid(rim, 11));
            let size = if number > 9 { 9 } else { 10 };
            let text = Shape::Text {
                at: Point { x: center.x, y: center.y + 36 },
                text: number.to_string(),
                font: Font { size, paint: ink, anchor: Anchor::Middle, halo: None },
            };
            let circle = Shape::Circle { center, radius: NUMBER, fill: Some(fill), stroke };
            self.marks.push(Mark {
                layer: Layer::Number,
                title: format!("{number}. {} {} {}", clock(step.at), step.who, step.text),
                from: Some(step.at),
                to: None,
                step: Some(number),
                shapes: vec![circle, text],
            });
        }
    }

    pub(super) fn points(&mut self) {
        let reading = self.reading;
        for access in reading.accesses.iter().filter(|one| one.mark.at <= self.selection.end) {
            self.access(access);
        }
        self.faults();
    }

    fn access(&mut self, access: &AccessMark) {
        let reading = self.reading;
        let actor = Actor::Server(reading.resource_server(access.resource));
        let Some(lane) = self.frame.lane(actor) else { return };
        let center = self.frame.point(self.frame.along(access.mark.at), lane.line());
        let color = client(reading, access.grant).map_or(Paint::Muted, Paint::Client);
        let name = reading.client(access.grant);
        let noun = access_noun(access.access);
        let found = self.story.firsts().iter().any(|found| found.event == Some(access.mark.event));
        let (fill, ink, rim) = match found {
            true => (Paint::Violation, Paint::OnViolation, Paint::Violation),
            false => (Paint::Background, Paint::Ink, color),
        };
        let background = Some(Paint::Background);
        let ring = Stroke::solid(rim, 25);
        let mut shapes = Vec::new();
        let radius = match access.access {
            Access::Write => WRITE,
            Access::Read => px(6),
        };
        if found {
            let stroke = Some(Stroke::solid(Paint::Violation, 15));
            shapes.push(Shape::Circle { center, radius: px(15), fill: background, stroke });
        }
        let outcome = match access.outcome {
            AccessOutcome::Accepted => {
                shapes.push(Shape::Circle { center, radius, fill: Some(fill), stroke: Some(ring) });
                "accepts"
            }
            AccessOutcome::Refused => {
                self.legend.refused = true;
                let rect = around(center, radius);
                let stroke = Some(ring);
                shapes.push(Shape::Rectangle { rect, radius: px(1), fill: background, stroke });
                "refuses"
            }
            AccessOutcome::Deduplicated => {
                let stroke = Some(Stroke::dashed(rim, 25, px(4), px(3)));
                shapes.push(Shape::Circle { center, radius, fill: background, stroke });
                "already knows"
            }
        };
        self.labels.take(around(center, if found { px(16) } else { radius + px(1) }));
        if access.access == Access::Write {
            self.legend.write = true;
            self.legend.stale |= found;
            let token = access.token.number().map_or_else(|| "w".to_owned(), |it| it.to_string());
            let size = if width(&token, 11) <= px(17) { 11 } else { 8 };
            if width(&token, size) <= px(21) {
                let at = Point { x: center.x, y: center.y + px(size) * 36 / 100 };
                let font = Font { size, paint: ink, anchor: Anchor::Middle, halo: None };
                shapes.push(Shape::Text { at, text: token, font });
            }
        } else {
            self.legend.read = true;
        }
        if access.outcome == AccessOutcome::Refused {
            let arm = radius;
            let from = Point { x: center.x - arm, y: center.y + arm };
            let to = Point { x: center.x + arm, y: center.y - arm };
            shapes.push(Shape::Line { from, to, stroke: Stroke::solid(Paint::Ink, 16) });
        }
        let token = access.token.number().map(|token| format!(" (token {token})"));
        let token = token.unwrap_or_default();
        let title = format!("{} {outcome} the {noun} of {name}{token}", lane.name);
        self.span(Layer::Point, (access.mark.at, access.mark.at), &title, shapes);
    }

    fn faults(&mut self) {
        let story = self.story;
        for fault in story.faults.iter().filter(|fault| fault.at <= self.selection.end) {
            let actor = fault.event.and_then(|event| self.reading.actor(event));
            let Some(lane) = actor.and_then(|actor| self.frame.lane(actor)) else { continue };
            let along = self.frame.along(fault.at);
            let tip = match self.frame.orientation {
                Orientation::Wide => self.frame.point(along, lane.foot() + px(3)),
                Orientation::Tall => self.frame.point(along + px(3), lane.foot() + px(1)),
            };
            let corner = |dx: Px, dy: Px| Point { x: tip.x + dx, y: tip.y + dy };
            let points = vec![tip, corner(px(6), px(10)), corner(px(-6), px(10)), tip];
            let rect = Rect { x: tip.x - px(6), y: tip.y, width: px(12), height: px(11) };
            self.labels.take(rect);
            let stroke = Some(Stroke::solid(Paint::Ink, 16));
            let fill = Some(Paint::Background);
            let title = format!("{}: {}", fault.label, fault.text);
            let shapes = vec![Shape::Polyline { points, fill, stroke }];
            self.legend.fault = true;
            self.span(Layer::Point, (fault.at, fault.at), &title, shapes);
            let places = match self.frame.orientation {
                Orientation::Wide => {
                    [(corner(px(9), px(10)), Anchor::Start), (corner(px(-9), px(10)), Anchor::End)]
                }
                Orientation::Tall => {
                    [(corner(0, px(23)), Anchor::Middle), (corner(px(-8), px(10)), Anchor::End)]
                }
            };
            let texts = [fault.label.clone()];
            let text = self.labels.place(&texts, &places, over(Paint::Ink));
            self.label(text);
        }
    }
}
