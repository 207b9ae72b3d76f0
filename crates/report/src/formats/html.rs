//! The page.

use super::Format;

pub(super) const FORMAT: Format = Format {
    file: "index.html",
    about: "the timeline page, one file without requests",
    write: |story, history| crate::page::html(story, history).into_bytes(),
};
