//! The trace as JSON Lines.

use fencepost_history::History;

use super::{Format, trace};
use crate::Story;

pub(super) const FORMAT: Format =
    Format { file: "trace.jsonl", about: "every event as a line of JSON", write };

fn write(story: &Story, history: &History) -> Vec<u8> {
    let mut out = Vec::new();
    for row in trace::rows(story, history) {
        serde_json::to_writer(&mut out, &row).expect("plain data serializes");
        out.push(b'\n');
    }
    out
}
