//! Arrows from send to arrival.

use fencepost_history::{Access, Instant, ServerId, What};

use super::frame::Lane;
use super::labels::over;
use super::{Layer, Painter};
use crate::canvas::{Anchor, Point, Px, Shape, Stroke, px};
use crate::palette::Paint;
use crate::reading::{Actor, Call};
use crate::words::rough;

/// One way of a message.
struct Leg<'l> {
    from: (&'l Lane, Instant),
    to: (&'l Lane, Instant),
    lost: bool,
    /// Room to leave at either end for the mark there.
    trim: (Px, Px),
    violates: bool,
    title: String,
}

impl Painter<'_> {
    pub(super) fn messages(&mut self) {
        let selection = self.selection;
        for &index in &selection.calls {
            let reading = self.reading;
            let call = &reading.calls[index];
            let client = Actor::Process(reading.history.names.process_of(call.thread));
            let lanes = (self.frame.lane(client), self.frame.lane(Actor::Server(call.server)));
            let (Some(client), Some(server)) = lanes else { continue };
            let command = call.command.unwrap_or("request");
            let trim = self.trim(call);
            let violates = call.effects.iter().any(|&event| self.is_finding(event));
            self.leg(&Leg {
                from: (client, call.sent.at),
                to: (server, call.applied.map_or(call.arrives, |mark| mark.at)),
                lost: call.request_lost(),
                trim: (0, trim),
                violates,
                title: format!("{} to {}: {command}", client.name, server.name),
            });
            let Some(replied) = call.replied else { continue };
            let reply = call.reply.unwrap_or("reply");
            self.leg(&Leg {
                from: (server, replied.at),
                to: (client, call.reply_arrives),
                lost: call.reply_lost(),
                trim: (trim, 0),
                violates: false,
                title: format!("{} to {}: {reply}", server.name, client.name),
            });
        }
        self.between_servers();
    }

    fn is_finding(&self, event: usize) -> bool {
        self.story.firsts().iter().any(|finding| finding.event == Some(event))
    }

    /// Returns the radius of the mark that a request makes at a resource.
    fn trim(&self, call: &Call<'_>) -> Px {
        let radius = call.effects.iter().filter_map(|&event| {
            match self.reading.history.events[event].what {
                What::Accessed { access: Access::Read, .. } => Some(px(7)),
                What::Accessed { access: Access::Write, .. } if self.is_finding(event) => {
                    Some(px(16))
                }
                What::Accessed { access: Access::Write, .. } => Some(px(12)),
                _ => None,
            }
        });
        radius.max().unwrap_or(0)
    }

    fn leg(&mut self, leg: &Leg<'_>) {
        let frame = self.frame;
        let (sent, arrives) = (leg.from.1, leg.to.1);
        if sent > self.selection.end {
            return;
        }
        let start = frame.point(frame.along(sent), leg.from.0.port(leg.to.0));
        let cut = arrives > self.selection.end;
        let arrival = if leg.lost {
            frame.along(sent) + px(24)
        } else if cut {
            frame.end()
        } else {
            frame.along(arrives)
        };
        let end = frame.point(arrival, leg.to.0.port(leg.from.0));
        let late = !leg.lost && self.reading.is_late(sent, arrives);
        let (shapes, to, title);
        if leg.lost {
            let end = Point { x: i32::midpoint(start.x, end.x), y: i32::midpoint(start.y, end.y) };
            let stroke = Stroke::dashed(Paint::Lost, 16, px(4), px(4));
            shapes = [vec![Shape::Line { from: start, to: end, stroke }], cross(end)].concat();
            self.legend.lost = true;
            title = format!("{} (lost)", leg.title);
            to = sent;
        } else {
            let (paint, width) =
                if leg.violates { (Paint::Violation, 24) } else { (Paint::Ink, 14) };
            let (start, end) = shortened(start, end, leg.trim);
            shapes = arrow(start, end, Stroke::solid(paint, width), !cut);
            title = leg.title.clone();
            to = arrives.min(self.selection.end);
        }
        self.span(Layer::Message, (sent, to), &title, shapes);
        if late {
            self.late(start, end, &rough(arrives.since(sent)));
        }
    }

    fn late(&mut self, start: Point, end: Point, delay: &str) {
        let place = |part: i32| {
            let along = |a: Px, b: Px| a + (b - a) / 10 * part;
            let at = Point { x: along(start.x, end.x), y: along(start.y, end.y) - px(4) };
            (at, Anchor::Middle)
        };
        let places = [place(5), place(4), place(6), place(3), place(7)];
        let texts = [format!("takes {delay}"), delay.to_owned()];
        let text = self.labels.place(&texts, &places, over(Paint::Ink));
        self.label(text);
    }

    fn between_servers(&mut self) {
        let reading = self.reading;
        for entry in &reading.history.events {
            let What::PeerSent { from, to, arrives } = entry.what else { continue };
            let lane = |server: ServerId| self.frame.lane(Actor::Server(server));
            let (Some(sender), Some(receiver)) = (lane(from), lane(to)) else { continue };
            self.leg(&Leg {
                from: (sender, entry.at),
                to: (receiver, arrives),
                lost: arrives == Instant::NEVER,
                trim: (0, 0),
                violates: false,
                title: format!("{} to {}", sender.name, receiver.name),
            });
        }
    }
}

/// A small cross where a message is lost.
pub(super) fn cross(at: Point) -> Vec<Shape> {
    let arm = px(4);
    let stroke = Stroke::solid(Paint::Lost, 22);
    let corner = |dx: Px, dy: Px| Point { x: at.x + dx, y: at.y + dy };
    vec![
        Shape::Line { from: corner(-arm, -arm), to: corner(arm, arm), stroke },
        Shape::Line { from: corner(-arm, arm), to: corner(arm, -arm), stroke },
    ]
}

/// Returns the length of a line, at least one.
fn distance(from: Point, to: Point) -> i64 {
    let (dx, dy) = (i64::from(to.x - from.x), i64::from(to.y - from.y));
    (dx * dx + dy * dy).isqrt().max(1)
}

/// Returns the place so far from one end on the way to the other, and so far beside the way.
fn on_the_way(from: Point, to: Point, along: Px, beside: Px) -> Point {
    let (dx, dy) = (i64::from(to.x - from.x), i64::from(to.y - from.y));
    let length = distance(from, to);
    let (along, beside) = (i64::from(along), i64::from(beside));
    let move_by = |start: Px, by: i64| start + Px::try_from(by / length).unwrap_or(0);
    Point {
        x: move_by(from.x, dx * along - dy * beside),
        y: move_by(from.y, dy * along + dx * beside),
    }
}

fn shortened(start: Point, end: Point, trim: (Px, Px)) -> (Point, Point) {
    if distance(start, end) < i64::from(trim.0 + trim.1 + px(6)) {
        return (start, end);
    }
    (on_the_way(start, end, trim.0, 0), on_the_way(end, start, trim.1, 0))
}

/// A line with a head at its end, unless it goes on beyond the drawing.
pub(super) fn arrow(start: Point, end: Point, stroke: Stroke, head: bool) -> Vec<Shape> {
    if !head {
        return vec![Shape::Line { from: start, to: end, stroke }];
    }
    let (length, half) = (px(9), 34 + stroke.width / 3);
    let neck = on_the_way(end, start, length - px(1), 0);
    let left = on_the_way(end, start, length, half);
    let right = on_the_way(end, start, length, -half);
    vec![
        Shape::Line { from: start, to: neck, stroke },
        Shape::Polyline { points: vec![left, end, right], fill: Some(stroke.paint), stroke: None },
    ]
}
