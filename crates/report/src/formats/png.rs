//! The wide timeline as pixels, light and opaque.

use super::Format;
use crate::canvas::bitmap;
use crate::timeline::{Orientation, layout};

pub(super) const FORMAT: Format = Format {
    file: "timeline.png",
    about: "the timeline as a picture of pixels",
    write: |story, history| {
        bitmap::png(&layout(story, history, Orientation::Wide).with_heading(story))
    },
};
