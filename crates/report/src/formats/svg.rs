//! The wide timeline as a picture by itself, with a heading.

use fencepost_history::History;

use super::Format;
use crate::Story;
use crate::timeline::{Orientation, layout};

pub(super) const FORMAT: Format = Format {
    file: "timeline.svg",
    about: "the timeline as a vector picture",
    write: |story, history| svg(story, history).into_bytes(),
};

fn svg(story: &Story, history: &History) -> String {
    let drawing = layout(story, history, Orientation::Wide).with_heading(story);
    crate::page::picture::standalone(story, &drawing)
}
