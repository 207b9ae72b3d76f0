//! What every back end can draw: few primitives, in tenths of a pixel.

#[cfg(feature = "plotters")]
pub(crate) mod bitmap;
pub(crate) mod svg;

use crate::palette::Paint;

/// A length in tenths of a pixel.
pub type Px = i32;

/// Makes a length of whole pixels.
pub(crate) const fn px(pixels: i32) -> Px {
    pixels * 10
}

/// A place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// From the left.
    pub x: Px,
    /// From the top.
    pub y: Px,
}

/// An upright rectangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rect {
    /// Its left edge.
    pub x: Px,
    /// Its top edge.
    pub y: Px,
    /// Its width.
    pub width: Px,
    /// Its height.
    pub height: Px,
}

impl Rect {
    /// Returns whether two rectangles share more than an edge.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.x < other.x + other.width
            && other.x < self.x + self.width
            && self.y < other.y + other.height
            && other.y < self.y + self.height
    }
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stroke {
    /// Its colour.
    pub paint: Paint,
    /// Its width.
    pub width: Px,
    /// The lengths of a dash and of the gap after it.
    pub dash: Option<(Px, Px)>,
}

impl Stroke {
    pub(crate) const fn solid(paint: Paint, width: Px) -> Self {
        Self { paint, width, dash: None }
    }

    pub(crate) const fn dashed(paint: Paint, width: Px, dash: Px, gap: Px) -> Self {
        Self { paint, width, dash: Some((dash, gap)) }
    }
}

/// Where a text's place lies in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// At its beginning.
    Start,
    /// In its middle.
    Middle,
    /// At its end.
    End,
}

/// How a text is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Font {
    /// The size in whole pixels.
    pub size: i32,
    /// The colour.
    pub paint: Paint,
    /// Where its place lies.
    pub anchor: Anchor,
    /// The colour of a rim that keeps lines off, usually that of the background.
    pub halo: Option<Paint>,
}

/// The direction of a hatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lean {
    /// Rising to the right.
    Rising,
    /// Falling to the right.
    Falling,
}

/// Something to draw.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields of primitives say it themselves")]
pub enum Shape {
    /// A rectangle with round corners.
    Rectangle { rect: Rect, radius: Px, fill: Option<Paint>, stroke: Option<Stroke> },
    /// A straight line.
    Line { from: Point, to: Point, stroke: Stroke },
    /// Connected lines, filled if they shall be.
    Polyline { points: Vec<Point>, fill: Option<Paint>, stroke: Option<Stroke> },
    /// Parallel lines at 45 degrees in a rectangle.
    Hatch { rect: Rect, lean: Lean, pitch: Px, stroke: Stroke },
    /// A circle.
    Circle { center: Point, radius: Px, fill: Option<Paint>, stroke: Option<Stroke> },
    /// A text on its base line.
    Text { at: Point, text: String, font: Font },
}

/// A back end.
pub trait Canvas {
    /// Begins a group of shapes that are one thing to the reader.
    fn begin(&mut self, mark: &crate::timeline::Mark);
    /// Ends the group.
    fn end(&mut self);
    /// Draws a rectangle.
    fn rectangle(&mut self, rect: Rect, radius: Px, fill: Option<Paint>, stroke: Option<Stroke>);
    /// Draws a line.
    fn line(&mut self, from: Point, to: Point, stroke: Stroke);
    /// Draws connected lines.
    fn polyline(&mut self, points: &[Point], fill: Option<Paint>, stroke: Option<Stroke>);
    /// Draws parallel lines at 45 degrees.
    fn hatch(&mut self, rect: Rect, lean: Lean, pitch: Px, stroke: Stroke) {
        for (from, to) in hatch_lines(rect, lean, pitch) {
            self.line(from, to, stroke);
        }
    }
    /// Draws a circle.
    fn circle(&mut self, center: Point, radius: Px, fill: Option<Paint>, stroke: Option<Stroke>);
    /// Draws a text.
    fn text(&mut self, at: Point, text: &str, font: Font);
}

impl Shape {
    /// Draws the shape.
    pub fn draw(&self, canvas: &mut dyn Canvas) {
        match self {
            Self::Rectangle { rect, radius, fill, stroke } => {
                canvas.rectangle(*rect, *radius, *fill, *stroke);
            }
            Self::Line { from, to, stroke } => canvas.line(*from, *to, *stroke),
            Self::Polyline { points, fill, stroke } => canvas.polyline(points, *fill, *stroke),
            Self::Hatch { rect, lean, pitch, stroke } => {
                canvas.hatch(*rect, *lean, *pitch, *stroke);
            }
            Self::Circle { center, radius, fill, stroke } => {
                canvas.circle(*center, *radius, *fill, *stroke);
            }
            Self::Text { at, text, font } => canvas.text(*at, text, *font),
        }
    }

    /// Returns the box of a text, nothing for other shapes.
    #[must_use]
    pub fn text_box(&self) -> Option<Rect> {
        let Self::Text { at, text, font } = self else { return None };
        let width = crate::text::width(text, font.size);
        let x = match font.anchor {
            Anchor::Start => at.x,
            Anchor::Middle => at.x - width / 2,
            Anchor::End => at.x - width,
        };
        let rise = px(font.size) * 3 / 4;
        Some(Rect { x, y: at.y - rise, width, height: px(font.size) })
    }
}

/// Returns the lines of a hatch, clipped to its rectangle; `pitch` is measured across them.
pub(crate) fn hatch_lines(rect: Rect, lean: Lean, pitch: Px) -> Vec<(Point, Point)> {
    // Along an edge, lines at 45 degrees are farther apart by the root of two.
    let step = (pitch * 1_414 / 1_000).max(1);
    let mut lines = Vec::new();
    let mut offset = step / 2;
    while offset < rect.width + rect.height {
        // The line x + y = offset, in coordinates of the rectangle.
        let (x0, y0) = (offset.min(rect.width), offset - offset.min(rect.width));
        let (x1, y1) = (offset - offset.min(rect.height), offset.min(rect.height));
        let place = |x: Px, y: Px| match lean {
            Lean::Rising => Point { x: rect.x + x, y: rect.y + y },
            Lean::Falling => Point { x: rect.x + rect.width - x, y: rect.y + y },
        };
        lines.push((place(x0, y0), place(x1, y1)));
        offset += step;
    }
    lines
}
