//! What the forms mean: only those that the drawing shows.

use super::labels::words;
use super::messages::cross;
use super::{Layer, Orientation, Painter};
use crate::canvas::{Anchor, Font, Lean, Point, Px, Rect, Shape, Stroke, px};
use crate::palette::Paint;
use crate::text::width;

/// Which forms are drawn.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "one for each entry of the legend")]
pub(super) struct Used {
    pub(super) belief: bool,
    pub(super) key: bool,
    pub(super) pause: bool,
    pub(super) crash: bool,
    pub(super) retries: bool,
    pub(super) cut: bool,
    pub(super) lost: bool,
    pub(super) read: bool,
    pub(super) write: bool,
    pub(super) stale: bool,
    pub(super) refused: bool,
    pub(super) fault: bool,
    pub(super) band: bool,
    pub(super) gaps: bool,
}

/// Draws a form into a box.
type Icon = fn(Rect) -> Vec<Shape>;

/// The height of a row.
const ROW: Px = px(21);

impl Painter<'_> {
    /// Draws the legend from a height on; returns where it ends.
    pub(super) fn legend(&mut self, top: Px) -> Px {
        let used = self.legend;
        let entries: [(bool, &str, Icon); 12] = [
            (used.belief, "client believes it holds the lock", belief),
            (used.key, "server says so (truth)", key),
            (used.pause, "does not run", hatch),
            (used.crash, "crash", crash),
            (used.retries, "more of the same", dots),
            (used.cut, "cut off", cut),
            (used.lost, "message lost", lost),
            (used.read, "read", read),
            (used.write, "write, with its token", write),
            (used.stale, "write that breaks a rule", stale),
            (used.refused, "refused by the fence", refused),
            (used.fault, "fault", fault),
        ];
        let right = self.frame.width() - px(6);
        let left = px(8);
        let (mut x, mut y) = (left, top + ROW);
        let mut shapes = Vec::new();
        let mut put = |icon: Option<Icon>, text: &str| {
            let long = width(text, 12) + if icon.is_some() { px(30) } else { 0 };
            if x > left && x + long > right {
                (x, y) = (left, y + ROW);
            }
            let mut start = x;
            if let Some(icon) = icon {
                let rect = Rect { x, y: y - px(10), width: px(22), height: px(12) };
                shapes.extend(icon(rect));
                start += px(29);
            }
            let font = Font { anchor: Anchor::Start, ..words(Paint::Muted) };
            shapes.push(Shape::Text { at: Point { x: start, y }, text: text.to_owned(), font });
            x += long + px(16);
        };
        for (_, text, icon) in entries.into_iter().filter(|(used, _, _)| *used) {
            put(Some(icon), text);
        }
        if used.band {
            put(Some(band), "violation");
        }
        let note = match (used.gaps, self.frame.orientation) {
            (true, Orientation::Wide) => "Time is not to scale: longer gaps are compressed.",
            (true, Orientation::Tall) => "Time is not to scale.",
            (false, _) => "",
        };
        if !note.is_empty() {
            put(None, note);
        }
        if self.selection.omitted > 0 {
            let omitted = self.selection.omitted;
            put(None, &format!("{omitted} calls are not drawn; trace.jsonl has them."));
        }
        self.add(Layer::Label, String::new(), shapes);
        y + px(10)
    }
}

fn middle(rect: Rect) -> Point {
    Point { x: rect.x + rect.width / 2, y: rect.y + rect.height / 2 }
}

fn belief(rect: Rect) -> Vec<Shape> {
    let stroke = Some(Stroke::dashed(Paint::Client(0), px(2), px(4), px(2)));
    vec![Shape::Rectangle { rect, radius: px(3), fill: Some(Paint::Tint(0)), stroke }]
}

fn key(rect: Rect) -> Vec<Shape> {
    vec![Shape::Rectangle { rect, radius: 0, fill: Some(Paint::Client(0)), stroke: None }]
}

fn hatch(rect: Rect) -> Vec<Shape> {
    let stroke = Stroke::solid(Paint::Hatch, 18);
    let rim = Some(Stroke::solid(Paint::Hatch, 10));
    vec![
        Shape::Hatch { rect, lean: Lean::Rising, pitch: px(5), stroke },
        Shape::Rectangle { rect, radius: 0, fill: None, stroke: rim },
    ]
}

fn band(rect: Rect) -> Vec<Shape> {
    let stroke = Stroke::solid(Paint::BandHatch, 8);
    let rim = Some(Stroke::solid(Paint::Violation, 15));
    vec![
        Shape::Rectangle { rect, radius: 0, fill: Some(Paint::Band), stroke: None },
        Shape::Hatch { rect, lean: Lean::Falling, pitch: px(5), stroke },
        Shape::Rectangle { rect, radius: 0, fill: None, stroke: rim },
    ]
}

fn across(rect: Rect, stroke: Stroke) -> Shape {
    let y = rect.y + rect.height / 2;
    Shape::Line { from: Point { x: rect.x, y }, to: Point { x: rect.x + rect.width, y }, stroke }
}

fn dots(rect: Rect) -> Vec<Shape> {
    vec![across(rect, Stroke::dashed(Paint::Muted, 25, px(2), px(5)))]
}

fn cut(rect: Rect) -> Vec<Shape> {
    vec![across(rect, Stroke::dashed(Paint::Lost, 30, px(8), px(4)))]
}

fn lost(rect: Rect) -> Vec<Shape> {
    let half = Rect { width: rect.width * 3 / 4, ..rect };
    let line = across(half, Stroke::dashed(Paint::Lost, 16, px(4), px(4)));
    let end = Point { x: half.x + half.width, y: middle(rect).y };
    [vec![line], cross(end)].concat()
}

fn crash(rect: Rect) -> Vec<Shape> {
    let (center, arm) = (middle(rect), px(5));
    let stroke = Stroke::solid(Paint::Violation, 26);
    let corner = |dx: Px, dy: Px| Point { x: center.x + dx, y: center.y + dy };
    vec![
        Shape::Line { from: corner(-arm, -arm), to: corner(arm, arm), stroke },
        Shape::Line { from: corner(-arm, arm), to: corner(arm, -arm), stroke },
    ]
}

fn read(rect: Rect) -> Vec<Shape> {
    let stroke = Some(Stroke::solid(Paint::Client(0), 25));
    vec![Shape::Circle { center: middle(rect), radius: px(5), fill: None, stroke }]
}

fn write(rect: Rect) -> Vec<Shape> {
    let center = middle(rect);
    let stroke = Some(Stroke::solid(Paint::Client(0), 25));
    let font = Font { size: 9, paint: Paint::Ink, anchor: Anchor::Middle, halo: None };
    let at = Point { x: center.x, y: center.y + px(3) };
    vec![
        Shape::Circle { center, radius: px(8), fill: Some(Paint::Background), stroke },
        Shape::Text { at, text: "1".to_owned(), font },
    ]
}

fn stale(rect: Rect) -> Vec<Shape> {
    let center = middle(rect);
    let stroke = Some(Stroke::solid(Paint::Violation, 12));
    vec![
        Shape::Circle { center, radius: px(9), fill: Some(Paint::Background), stroke },
        Shape::Circle { center, radius: px(6), fill: Some(Paint::Violation), stroke: None },
    ]
}

fn refused(rect: Rect) -> Vec<Shape> {
    let center = middle(rect);
    let arm = px(6);
    let square = Rect { x: center.x - arm, y: center.y - arm, width: 2 * arm, height: 2 * arm };
    let stroke = Some(Stroke::solid(Paint::Client(0), 25));
    let from = Point { x: center.x - arm, y: center.y + arm };
    let to = Point { x: center.x + arm, y: center.y - arm };
    vec![
        Shape::Rectangle { rect: square, radius: px(1), fill: None, stroke },
        Shape::Line { from, to, stroke: Stroke::solid(Paint::Ink, 16) },
    ]
}

fn fault(rect: Rect) -> Vec<Shape> {
    let center = middle(rect);
    let tip = Point { x: center.x, y: center.y - px(5) };
    let corner = |dx: Px| Point { x: center.x + dx, y: center.y + px(5) };
    let points = vec![tip, corner(px(6)), corner(px(-6)), tip];
    vec![Shape::Polyline { points, fill: None, stroke: Some(Stroke::solid(Paint::Ink, 16)) }]
}
