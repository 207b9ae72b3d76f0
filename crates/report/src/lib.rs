//! A history drawn once, written in several formats.
//!
//! The [violation block](block()) for terminals, the numbered [`steps()`], the timeline as page,
//! SVG, PNG, CSV and JSON Lines. Input is a [`History`](fencepost_history::History) and a
//! [`Story`] that says what the history does not: names, verdict, findings, faults.
//!
//! This crate deliberately knows no simulator, no checker and no file system: it turns plain data
//! into text and bytes.

mod block;
pub mod canvas;
pub mod formats;
pub mod page;
pub mod palette;
mod reading;
mod sentences;
mod steps;
mod story;
mod text;
pub mod timeline;
mod words;

#[cfg(test)]
mod tests;

pub use block::{Line, Look, Span, Tone, block};
pub use steps::{Exchange, Step, steps};
pub use story::{Expected, FaultView, FindingView, Story, Verdict};
