//! What a picture by itself says above the timeline.

use super::labels::words;
use super::{Drawing, Layer, Mark};
use crate::canvas::{Font, Point, Rect, Shape, px};
use crate::palette::Paint;
use crate::sentences::summary;
use crate::text::{width, wrap};
use crate::{Story, Verdict};

impl Drawing {
    /// Adds a heading: verdict, kinds, title and what was found.
    #[must_use]
    pub fn with_heading(mut self, story: &Story) -> Self {
        let rows = wrap(&summary(story), self.width - px(20), 13);
        let height = px(62) + px(18) * i32::try_from(rows.len()).unwrap_or(1);
        let top = -height;
        let badge = format!("{} {}", story.verdict.symbol(false), story.verdict.words());
        let font = Font { size: 13, ..words(Paint::OnViolation) };
        let violated = story.verdict == Verdict::Violated;
        let rect =
            Rect { x: px(8), y: top + px(10), width: width(&badge, 13) + px(18), height: px(22) };
        let (fill, ink) = match violated {
            true => (Paint::Violation, Paint::OnViolation),
            false => (Paint::Surface, Paint::Ink),
        };
        let text = |x, y, text: String, font: Font| Shape::Text { at: Point { x, y }, text, font };
        let mut shapes = vec![
            Shape::Rectangle { rect, radius: px(4), fill: Some(fill), stroke: None },
            text(rect.x + px(9), top + px(26), badge, Font { paint: ink, ..font }),
        ];
        let beside = rect.x + rect.width + px(10);
        let kinds = story.kinds().join(", ");
        let big = Font { size: 15, ..words(Paint::Ink) };
        let room = self.width - beside - px(8);
        let mut kinds = if kinds.is_empty() { story.scenario_name.clone() } else { kinds };
        while width(&kinds, 15) > room && kinds.contains(", ") {
            let shorter =
                kinds.rsplit_once(", ").map_or(String::new(), |(left, _)| left.to_owned());
            kinds = shorter;
        }
        shapes.push(text(beside, top + px(26), kinds, big));
        let mut y = top + px(52);
        let title = wrap(&story.title, self.width - px(20), 15).into_iter().next();
        shapes.push(text(px(8), y, title.unwrap_or_default(), big));
        for row in rows {
            y += px(18);
            shapes.push(text(px(8), y, row, Font { size: 13, ..words(Paint::Muted) }));
        }
        self.marks.push(Mark {
            layer: Layer::Label,
            title: String::new(),
            from: None,
            to: None,
            step: None,
            shapes,
        });
        self.heading = height;
        self
    }
}
