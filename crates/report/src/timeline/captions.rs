//! The time of the violations, and what they are called below it.

use fencepost_history::Instant;

use super::labels::words;
use super::{Layer, Orientation, Painter};
use crate::FindingView;
use crate::canvas::{Anchor, Font, Lean, Point, Px, Shape, Stroke, px};
use crate::palette::Paint;
use crate::text::width;
use crate::words::{clock, short};

/// The height of a row of captions.
const ROW: Px = px(19);

impl Painter<'_> {
    /// Draws bands and captions; returns where the captions end.
    pub(super) fn bands(&mut self) -> Px {
        let frame = self.frame;
        let found: Vec<&FindingView> = self.story.told();
        let found: Vec<_> =
            found.into_iter().filter(|found| found.begin() <= self.selection.end).collect();
        for (from, to) in merged(&found) {
            let ends = (frame.along(from), frame.along(to.min(self.selection.end)));
            let rect = frame.rect(ends, (frame.head, frame.tail));
            let lines = Stroke::solid(Paint::BandHatch, 8);
            let shapes = vec![
                Shape::Rectangle { rect, radius: 0, fill: Some(Paint::Band), stroke: None },
                Shape::Hatch { rect, lean: Lean::Falling, pitch: px(9), stroke: lines },
            ];
            self.legend.band = true;
            self.span(Layer::Band, (from, to), "Violation", shapes);
        }
        let mut rows: Vec<Vec<(Px, Px)>> = Vec::new();
        for finding in found {
            self.edges(finding);
            self.caption(finding, &mut rows);
        }
        frame.bottom() + ROW * Px::try_from(rows.len()).unwrap_or(0) + px(6)
    }

    fn edges(&mut self, finding: &FindingView) {
        let frame = self.frame;
        let mut shapes = Vec::new();
        let stroke = Stroke::solid(Paint::Violation, 15);
        for at in [finding.begin(), finding.to] {
            if at <= self.selection.end {
                let along = frame.along(at);
                let (from, to) = (frame.point(along, frame.head), frame.point(along, frame.tail));
                shapes.push(Shape::Line { from, to, stroke });
            }
        }
        if finding.begin() == finding.to {
            shapes.truncate(1);
        }
        self.span(Layer::Band, (finding.begin(), finding.to), &finding.kind, shapes);
    }

    fn caption(&mut self, finding: &FindingView, rows: &mut Vec<Vec<(Px, Px)>>) {
        let frame = self.frame;
        let (from, to) =
            (frame.along(finding.begin()), frame.along(finding.to.min(self.selection.end)));
        let text = text(finding);
        let long = width(&text, 12);
        let middle = match frame.orientation {
            Orientation::Wide => i32::midpoint(from, to),
            Orientation::Tall => i32::midpoint(frame.head, frame.tail),
        };
        let most = (frame.width() - px(4) - long).max(px(4));
        let x = (middle - long / 2).clamp(px(4), most);
        let span = (x - px(8), x + long + px(8));
        let free =
            |row: &Vec<(Px, Px)>| row.iter().all(|other| span.1 <= other.0 || other.1 <= span.0);
        let row = match rows.iter().position(free) {
            Some(row) => row,
            None => {
                rows.push(Vec::new());
                rows.len() - 1
            }
        };
        rows[row].push(span);
        let y = frame.bottom() + ROW * Px::try_from(row + 1).unwrap_or(1) - px(4);
        let font = Font { anchor: Anchor::Start, ..words(Paint::Ink) };
        let shape = Shape::Text { at: Point { x, y }, text, font };
        let mut shapes = Vec::new();
        if let Some(rect) = shape.text_box() {
            self.labels.take(rect);
        }
        if frame.orientation == Orientation::Wide {
            // A thin line ties the caption to what it names.
            let stroke = Stroke::solid(Paint::Violation, 15);
            let rail = frame.bottom() + ROW * Px::try_from(row).unwrap_or(0) + px(3);
            let ends = (from.min(x + long / 2), to.max(from));
            let start = Point { x: ends.0.max(from), y: rail };
            let end = Point { x: ends.1, y: rail };
            if row == 0 || from != to {
                shapes.push(Shape::Line { from: start, to: end, stroke });
            }
        }
        shapes.push(shape);
        self.add(Layer::Label, finding.kind.clone(), shapes);
    }
}

/// Returns what a finding is called in the drawing.
fn text(finding: &FindingView) -> String {
    let kind = match finding.kind.as_str() {
        "double-holder" => "two holders".to_owned(),
        "double-run" => "both at work".to_owned(),
        kind => kind.replace('-', " "),
    };
    if finding.to > finding.begin() {
        format!("{kind} {}", short(finding.to.since(finding.begin())))
    } else {
        format!("{kind} at {}", clock(finding.to))
    }
}

/// Merges intervals that overlap, so that no hatch lies on another.
fn merged(found: &[&FindingView]) -> Vec<(Instant, Instant)> {
    let mut spans: Vec<(Instant, Instant)> = found
        .iter()
        .filter(|finding| finding.begin() < finding.to)
        .map(|finding| (finding.begin(), finding.to))
        .collect();
    spans.sort_unstable();
    let mut merged: Vec<(Instant, Instant)> = Vec::new();
    for (from, to) in spans {
        match merged.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => merged.push((from, to)),
        }
    }
    merged
}
