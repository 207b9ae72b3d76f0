//! The formats of a report, in one list.

mod csv;
mod html;
mod jsonl;
#[cfg(feature = "plotters")]
mod png;
mod svg;
mod trace;

use fencepost_history::History;

use crate::Story;

/// A file that a report consists of.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// The file's name.
    pub file: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// Writes it; the same input gives the same bytes.
    pub write: fn(&Story, &History) -> Vec<u8>,
}

/// All formats.
pub const ALL: &[Format] = &[
    html::FORMAT,
    svg::FORMAT,
    #[cfg(feature = "plotters")]
    png::FORMAT,
    csv::FORMAT,
    jsonl::FORMAT,
];

/// Returns the format of a file name.
#[must_use]
pub fn named(file: &str) -> Option<&'static Format> {
    ALL.iter().find(|format| format.file == file)
}
