//! A drawing as an SVG element, inside a page or by itself.

use crate::Story;
use crate::canvas::px;
use crate::canvas::svg::{Svg, escape, pixels, rules};
use crate::palette::{Paint, Theme, variables};
use crate::sentences::summary;
use crate::timeline::Drawing;

/// The fonts of the drawing.
const FONTS: &str = "system-ui, \"DejaVu Sans\", sans-serif";

/// Returns an `svg` element for a page that has the rules and colours already.
pub(super) fn inline(drawing: &Drawing, class: &str, label: &str, list: &str) -> String {
    let mut svg = Svg { links: true, ..Svg::default() };
    drawing.draw(&mut svg);
    let (width, height) = (pixels(drawing.width), pixels(drawing.height));
    // A long drawing scrolls inside its figure before its words get too small.
    let least = if drawing.width > px(1_000) { drawing.width / 100 * 85 } else { px(660) };
    let least = pixels(least);
    format!(
        "<svg style=\"--least:{least}px\" class=\"{class}\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" role=\"img\" aria-labelledby=\"{label}\" \
         aria-describedby=\"{list}\" \
         font-size=\"12\">\n{}</svg>",
        svg.body
    )
}

/// Returns a whole SVG file.
pub(crate) fn standalone(story: &Story, drawing: &Drawing) -> String {
    let mut svg = Svg::default();
    drawing.draw(&mut svg);
    let (width, height) = (pixels(drawing.width), pixels(drawing.height + drawing.heading));
    let top = pixels(-drawing.heading);
    let background = Paint::Background.rgb(Theme::Light).hex();
    let fonts = FONTS.replace('"', "'");
    let style = format!(
        "svg{{{}}}@media(prefers-color-scheme:dark){{svg{{{}}}}}{}",
        variables(Theme::Light),
        variables(Theme::Dark),
        rules()
    );
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 {top} {width} {height}\" \
         width=\"{width}\" height=\"{height}\" role=\"img\" font-family=\"{fonts}\" \
         font-size=\"12\">\n<title>{}</title>\n<desc>{}</desc>\n<style>{style}</style>\n\
         <rect x=\"0\" y=\"{top}\" width=\"{width}\" height=\"{height}\" fill=\"{background}\" \
         class=\"f-background\"/>\n{}</svg>\n",
        escape(&story.title),
        escape(&summary(story)),
        svg.body
    )
}
