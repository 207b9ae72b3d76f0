//! The SVG back end.
//!
//! Colours are attributes, so that every program shows the light theme; the classes beside them
//! let a style sheet put another theme over it.

use std::fmt::Write as _;

use maud::Escaper;

use super::{Anchor, Canvas, Font, Lean, Point, Px, Rect, Stroke, hatch_lines};
use crate::palette::{Paint, Theme};
use crate::timeline::Mark;

/// Collects SVG elements.
#[derive(Default)]
pub(crate) struct Svg {
    pub(crate) body: String,
    /// Whether step numbers link to the list of a page.
    pub(crate) links: bool,
    pub(crate) open: Option<&'static str>,
}

/// Writes tenths of a pixel as pixels.
pub(crate) fn pixels(length: Px) -> String {
    let sign = if length < 0 { "-" } else { "" };
    let (whole, tenth) = (length.abs() / 10, length.abs() % 10);
    if tenth == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{tenth}") }
}

pub(crate) fn escape(text: &str) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write!(Escaper::new(&mut out), "{text}");
    out
}

/// Writes the rules that let variables override the light theme's attributes.
pub(crate) fn rules() -> String {
    let rule = |paint: Paint| {
        let name = paint.name();
        format!(".f-{name}{{fill:var(--{name})}}.s-{name}{{stroke:var(--{name})}}")
    };
    Paint::all().into_iter().map(rule).collect()
}

impl Svg {
    fn add(&mut self, text: &str) {
        self.body.push_str(text);
    }

    fn finish(&mut self, fill: Option<Paint>, stroke: Option<Stroke>) {
        let mut classes = Vec::new();
        match fill {
            Some(paint) => {
                classes.push(format!("f-{}", paint.name()));
                self.add(&format!(" fill=\"{}\"", paint.rgb(Theme::Light).hex()));
            }
            None => self.add(" fill=\"none\""),
        }
        if let Some(stroke) = stroke {
            classes.push(format!("s-{}", stroke.paint.name()));
            let color = stroke.paint.rgb(Theme::Light).hex();
            let width = pixels(stroke.width);
            self.add(&format!(" stroke=\"{color}\" stroke-width=\"{width}\""));
            if let Some((dash, gap)) = stroke.dash {
                let (dash, gap) = (pixels(dash), pixels(gap));
                self.add(&format!(" stroke-dasharray=\"{dash} {gap}\""));
            }
        }
        if !classes.is_empty() {
            self.add(&format!(" class=\"{}\"", classes.join(" ")));
        }
        self.add("/>\n");
    }
}

impl Canvas for Svg {
    fn begin(&mut self, mark: &Mark) {
        let link = mark.step.filter(|_| self.links);
        match link {
            Some(step) => self.add(&format!("<a href=\"#step-{step}\"")),
            None => self.add("<g"),
        }
        self.open = Some(if link.is_some() { "</a>\n" } else { "</g>\n" });
        if let Some(from) = mark.from {
            self.add(&format!(" data-t=\"{}\"", from.as_nanos()));
        }
        if let Some(to) = mark.to {
            self.add(&format!(" data-u=\"{}\"", to.as_nanos()));
        }
        if let Some(step) = mark.step {
            self.add(&format!(" data-step=\"{step}\""));
        }
        self.add(">");
        if !mark.title.is_empty() {
            self.add(&format!("<title>{}</title>", escape(&mark.title)));
        }
        self.add("\n");
    }

    fn end(&mut self) {
        let end = self.open.take().unwrap_or_default();
        self.add(end);
    }

    fn rectangle(&mut self, rect: Rect, radius: Px, fill: Option<Paint>, stroke: Option<Stroke>) {
        let (x, y) = (pixels(rect.x), pixels(rect.y));
        let (width, height) = (pixels(rect.width), pixels(rect.height));
        self.add(&format!("<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\""));
        if radius > 0 {
            self.add(&format!(" rx=\"{}\"", pixels(radius)));
        }
        self.finish(fill, stroke);
    }

    fn line(&mut self, from: Point, to: Point, stroke: Stroke) {
        let (x1, y1, x2, y2) = (pixels(from.x), pixels(from.y), pixels(to.x), pixels(to.y));
        self.add(&format!("<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\""));
        self.finish(None, Some(stroke));
    }

    fn polyline(&mut self, points: &[Point], fill: Option<Paint>, stroke: Option<Stroke>) {
        let place = |point: &Point| format!("{},{}", pixels(point.x), pixels(point.y));
        let points: Vec<String> = points.iter().map(place).collect();
        self.add(&format!("<polyline points=\"{}\"", points.join(" ")));
        self.finish(fill, stroke);
    }

    fn hatch(&mut self, rect: Rect, lean: Lean, pitch: Px, stroke: Stroke) {
        let mut path = String::new();
        for (from, to) in hatch_lines(rect, lean, pitch) {
            let (x1, y1, x2, y2) = (pixels(from.x), pixels(from.y), pixels(to.x), pixels(to.y));
            path.push_str(&format!("M{x1} {y1}L{x2} {y2}"));
        }
        self.add(&format!("<path d=\"{path}\""));
        self.finish(None, Some(stroke));
    }

    fn circle(&mut self, center: Point, radius: Px, fill: Option<Paint>, stroke: Option<Stroke>) {
        let (x, y, r) = (pixels(center.x), pixels(center.y), pixels(radius));
        self.add(&format!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{r}\""));
        self.finish(fill, stroke);
    }

    fn text(&mut self, at: Point, text: &str, font: Font) {
        let (x, y) = (pixels(at.x), pixels(at.y));
        let anchor = match font.anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let size =
            if font.size == 12 { String::new() } else { format!(" font-size=\"{}\"", font.size) };
        let name = font.paint.name();
        let color = font.paint.rgb(Theme::Light).hex();
        let mut class = format!("f-{name}");
        let mut rim = String::new();
        if let Some(halo) = font.halo {
            class.push_str(&format!(" s-{}", halo.name()));
            let background = halo.rgb(Theme::Light).hex();
            rim = format!(
                " stroke=\"{background}\" stroke-width=\"3\" stroke-linejoin=\"round\" \
                 paint-order=\"stroke\""
            );
        }
        let text = escape(text);
        self.add(&format!(
            "<text x=\"{x}\" y=\"{y}\"{anchor}{size} fill=\"{color}\"{rim} class=\"{class}\">\
             {text}</text>\n"
        ));
    }
}
