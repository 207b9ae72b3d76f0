//! The back end for pixels, through plotters.
//!
//! It draws four times as large and halves the picture, which smooths every edge.

use plotters::backend::{BitMapBackend, DrawingBackend};
use plotters::style::{
    Color as _, FontDesc, FontFamily, FontStyle, RGBColor, ShapeStyle, TextStyle, register_font,
};

use super::{Anchor, Canvas, Font, Point, Px, Rect, Stroke};
use crate::palette::{Paint, Theme};
use crate::text::width;
use crate::timeline::{Drawing, Mark};

/// A subset of DejaVu Sans; its licence lies beside it.
const FONT: &[u8] = include_bytes!("../../fonts/DejaVuSans-subset.ttf");
/// The name under which plotters knows it.
const FAMILY: &str = "fencepost";
/// How many dots a pixel of the drawing has to either side while it is drawn.
const DOTS: i32 = 4;
/// How many of these make a pixel of the picture.
const HALVED: u32 = 2;
/// The height of a line of the font, in thousandths of its size.
const LINE: i32 = 1_164;

/// Draws the light theme on an opaque background and writes a PNG file.
pub(crate) fn png(drawing: &Drawing) -> Vec<u8> {
    let size = |length: Px| {
        u32::try_from(dots(length)).expect("a drawing has a size").next_multiple_of(HALVED)
    };
    let (wide, high) = (size(drawing.width), size(drawing.height + drawing.heading));
    let mut large = vec![0xFF; 3 * wide as usize * high as usize];
    // The font is the same each time, so that it does not matter who registers it first.
    assert!(register_font(FAMILY, FontStyle::Normal, FONT).is_ok(), "the built-in font is sound");
    {
        let backend = BitMapBackend::with_buffer(&mut large, (wide, high));
        let mut canvas = Bitmap { backend, top: drawing.heading };
        drawing.draw(&mut canvas);
        canvas.backend.present().expect("a buffer needs no presenting");
    }
    encode(&halve(&large, wide as usize), wide / HALVED, high / HALVED)
}

fn encode(pixels: &[u8], wide: u32, high: u32) -> Vec<u8> {
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, wide, high);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Best);
    encoder.set_adaptive_filter(png::AdaptiveFilterType::Adaptive);
    let mut writer = encoder.write_header().expect("a vector takes every header");
    writer.write_image_data(pixels).expect("the picture has the size that it says");
    writer.finish().expect("a vector takes every end");
    out
}

/// Takes the mean of each square of four dots.
fn halve(large: &[u8], wide: usize) -> Vec<u8> {
    let row = 3 * wide;
    let mut small = Vec::with_capacity(large.len() / 4);
    for rows in large.chunks_exact(2 * row) {
        let (upper, lower) = rows.split_at(row);
        for (above, below) in upper.chunks_exact(6).zip(lower.chunks_exact(6)) {
            for channel in 0..3 {
                let dots = [above[channel], above[channel + 3], below[channel], below[channel + 3]];
                let sum: u16 = dots.into_iter().map(u16::from).sum();
                small.push(u8::try_from((sum + 2) / 4).expect("a mean of bytes is a byte"));
            }
        }
    }
    small
}

/// Returns tenths of a pixel as dots.
fn dots(length: Px) -> i32 {
    (length * DOTS + 5).div_euclid(10)
}

fn color(paint: Paint) -> RGBColor {
    let rgb = paint.rgb(Theme::Light);
    RGBColor(rgb.0, rgb.1, rgb.2)
}

struct Bitmap<'b> {
    backend: BitMapBackend<'b>,
    /// What lies above the origin.
    top: Px,
}

impl Bitmap<'_> {
    fn place(&self, point: Point) -> (i32, i32) {
        (dots(point.x), dots(point.y + self.top))
    }

    fn fill(&mut self, points: &[Point], paint: Paint) {
        let points: Vec<_> = points.iter().map(|&point| self.place(point)).collect();
        let style = color(paint).filled();
        self.backend.fill_polygon(points, &style).expect("a buffer takes every dot");
    }

    fn segment(&mut self, from: Point, to: Point, stroke: Stroke) {
        let stroke_width = u32::try_from(dots(stroke.width)).unwrap_or(1).max(1);
        let style = ShapeStyle { color: color(stroke.paint).to_rgba(), filled: true, stroke_width };
        let (from, to) = (self.place(from), self.place(to));
        self.backend.draw_line(from, to, &style).expect("a buffer takes every dot");
    }

    /// Draws connected lines, with dashes that go on round the corners.
    fn trace(&mut self, points: &[Point], stroke: Stroke) {
        let Some((dash, gap)) = stroke.dash else {
            for pair in points.windows(2) {
                self.segment(pair[0], pair[1], stroke);
            }
            return;
        };
        let (mut drawing, mut left) = (true, dash);
        for pair in points.windows(2) {
            let (dx, dy) = (i64::from(pair[1].x - pair[0].x), i64::from(pair[1].y - pair[0].y));
            let length = Px::try_from((dx * dx + dy * dy).isqrt()).unwrap_or(Px::MAX);
            let at = |way: Px| {
                let part = |by: i64| by * i64::from(way) / i64::from(length.max(1));
                let (x, y) = (part(dx), part(dy));
                let moved = |start: Px, by: i64| start + Px::try_from(by).unwrap_or(0);
                Point { x: moved(pair[0].x, x), y: moved(pair[0].y, y) }
            };
            let mut way = 0;
            while way < length {
                let next = (way + left).min(length);
                if drawing {
                    self.segment(at(way), at(next), stroke);
                }
                left -= next - way;
                way = next;
                if left == 0 {
                    drawing = !drawing;
                    left = if drawing { dash } else { gap };
                }
            }
        }
    }

    fn disc(&mut self, center: Point, radius: Px, paint: Paint) {
        let radius = u32::try_from(dots(radius)).unwrap_or(0);
        let (center, style) = (self.place(center), color(paint).filled());
        self.backend.draw_circle(center, radius, &style, true).expect("a buffer takes every dot");
    }

    fn letters(&mut self, at: (i32, i32), text: &str, size: i32, paint: Paint) {
        let line = scaled(f64::from(size * DOTS * LINE));
        let font = FontDesc::new(FontFamily::Name(FAMILY), line, FontStyle::Normal);
        let paint = color(paint);
        let style = TextStyle::from(font).color(&paint);
        // Plotters puts the base line half a line below the place.
        let half = size * DOTS * LINE / 2_000;
        let place = (at.0, at.1 - half);
        self.backend.draw_text(text, &style, place).expect("a buffer takes every dot");
    }
}

/// Turns thousandths into ones.
#[expect(clippy::float_arithmetic, reason = "plotters takes font sizes as floats")]
fn scaled(thousandths: f64) -> f64 {
    thousandths / 1_000.0
}

/// The outline of a rectangle with round corners.
fn outline(rect: Rect, radius: Px) -> Vec<Point> {
    let (left, top) = (rect.x, rect.y);
    let (right, bottom) = (rect.x + rect.width, rect.y + rect.height);
    let radius = radius.min(rect.width / 2).min(rect.height / 2);
    // The points of a quarter circle: 1 - cos and 1 - sin of 0, 22.5, ... 90 degrees.
    let arc = [(0, 1_000), (76, 617), (293, 293), (617, 76), (1_000, 0)];
    let corner = |x: Px, y: Px, sx: Px, sy: Px, turned: bool| {
        let mut points: Vec<Point> = arc
            .iter()
            .map(|(a, b)| Point { x: x + sx * radius * a / 1_000, y: y + sy * radius * b / 1_000 })
            .collect();
        if turned {
            points.reverse();
        }
        points
    };
    let mut points = corner(left, top, 1, 1, false);
    points.extend(corner(right, top, -1, 1, true));
    points.extend(corner(right, bottom, -1, -1, false));
    points.extend(corner(left, bottom, 1, -1, true));
    points.push(points[0]);
    points
}

impl Canvas for Bitmap<'_> {
    fn begin(&mut self, _mark: &Mark) {}

    fn end(&mut self) {}

    fn rectangle(&mut self, rect: Rect, radius: Px, fill: Option<Paint>, stroke: Option<Stroke>) {
        let points = outline(rect, radius);
        if let Some(paint) = fill {
            self.fill(&points, paint);
        }
        if let Some(stroke) = stroke {
            self.trace(&points, stroke);
        }
    }

    fn line(&mut self, from: Point, to: Point, stroke: Stroke) {
        self.trace(&[from, to], stroke);
    }

    fn polyline(&mut self, points: &[Point], fill: Option<Paint>, stroke: Option<Stroke>) {
        if let Some(paint) = fill {
            self.fill(points, paint);
        }
        if let Some(stroke) = stroke {
            self.trace(points, stroke);
        }
    }

    fn circle(&mut self, center: Point, radius: Px, fill: Option<Paint>, stroke: Option<Stroke>) {
        let inner = fill.unwrap_or(Paint::Background);
        match stroke {
            Some(Stroke { paint, width, dash: None }) => {
                self.disc(center, radius + width / 2, paint);
                self.disc(center, radius - width / 2, inner);
            }
            Some(stroke) => {
                let side = 2 * radius;
                let (x, y) = (center.x - radius, center.y - radius);
                self.disc(center, radius, inner);
                self.trace(&outline(Rect { x, y, width: side, height: side }, radius), stroke);
            }
            None => self.disc(center, radius, inner),
        }
    }

    fn text(&mut self, at: Point, text: &str, font: Font) {
        let long = width(text, font.size);
        let x = match font.anchor {
            Anchor::Start => at.x,
            Anchor::Middle => at.x - long / 2,
            Anchor::End => at.x - long,
        };
        let (x, y) = self.place(Point { x, y: at.y });
        if let Some(halo) = font.halo {
            let rim = DOTS * 3 / 2;
            let slant = rim * 7 / 10;
            for (dx, dy) in [(rim, 0), (0, rim), (slant, slant), (slant, -slant)] {
                self.letters((x + dx, y + dy), text, font.size, halo);
                self.letters((x - dx, y - dy), text, font.size, halo);
            }
        }
        self.letters((x, y), text, font.size, font.paint);
    }
}
