//! Where words find room: they never lie on each other.

use super::frame::Frame;
use crate::canvas::{Anchor, Font, Point, Px, Rect, Shape, px};
use crate::palette::Paint;
use crate::text::width;

/// The places that are taken.
pub(super) struct Labels {
    taken: Vec<Rect>,
    right: Px,
}

impl Labels {
    pub(super) fn new(frame: &Frame) -> Self {
        Self { taken: Vec::new(), right: frame.width() }
    }

    /// Keeps words off a place.
    pub(super) fn take(&mut self, rect: Rect) {
        self.taken.push(rect);
    }

    pub(super) fn is_free(&self, rect: &Rect) -> bool {
        rect.x >= 0
            && rect.x + rect.width <= self.right
            && self.taken.iter().all(|taken| !taken.overlaps(rect))
    }

    /// Sets the first of the texts that fits at one of the places, or none of them.
    pub(super) fn place(
        &mut self,
        texts: &[String],
        places: &[(Point, Anchor)],
        font: Font,
    ) -> Option<Shape> {
        for text in texts.iter().filter(|text| !text.is_empty()) {
            for &(at, anchor) in places {
                let shape = Shape::Text { at, text: text.clone(), font: Font { anchor, ..font } };
                let rect = shape.text_box()?;
                if self.is_free(&rect) {
                    self.take(rect);
                    return Some(shape);
                }
            }
        }
        None
    }

    /// Sets the first of the texts that fits into a bar, from its beginning on.
    pub(super) fn inside(&mut self, texts: &[String], bar: Rect, font: Font) -> Option<Shape> {
        let room = bar.width - px(12);
        let fitting: Vec<String> =
            texts.iter().filter(|text| width(text, font.size) <= room).cloned().collect();
        let y = bar.y + bar.height / 2 + px(font.size) * 36 / 100;
        let mut places = vec![(Point { x: bar.x + px(6), y }, Anchor::Start)];
        places.push((Point { x: bar.x + bar.width / 2, y }, Anchor::Middle));
        self.place(&fitting, &places, font)
    }
}

/// A font for words in the drawing.
pub(super) const fn words(paint: Paint) -> Font {
    Font { size: 12, paint, anchor: Anchor::Start, halo: None }
}

/// A font for words that lie over lines.
pub(super) const fn over(paint: Paint) -> Font {
    Font { size: 12, paint, anchor: Anchor::Start, halo: Some(Paint::Background) }
}
