//! The trace as a table.

use fencepost_history::History;

use super::{Format, trace};
use crate::Story;

pub(super) const FORMAT: Format =
    Format { file: "trace.csv", about: "every event as a row of a table", write };

fn write(story: &Story, history: &History) -> Vec<u8> {
    let mut table = csv::Writer::from_writer(Vec::new());
    let head = ["id", "t_ns", "ev", "lane", "peer", "cause", "token", "text"];
    table.write_record(head).expect("a vector takes every row");
    for row in trace::rows(story, history) {
        let causes: Vec<String> = row.cause.iter().map(ToString::to_string).collect();
        let record = [
            row.id.to_string(),
            row.t_ns.to_string(),
            row.ev.to_owned(),
            row.lane,
            row.peer,
            causes.join(" "),
            row.token.map_or_else(String::new, |token| token.to_string()),
            row.text,
        ];
        table.write_record(record).expect("a vector takes every row");
    }
    table.into_inner().expect("a vector is flushed at once")
}
