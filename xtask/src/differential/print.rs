//! A difference as a case of the corpus, with the real server's replies.

use super::compare;
use super::sequence::{Event, Messages, name};
use crate::conformance::replies;

/// Writes the case; what the engine gave instead stands in comments.
pub(super) fn case(title: &str, events: &[Event]) -> String {
    let mut out = vec![format!("== {title}")];
    let quiet = |events: &[Event]| events.is_empty();
    for event in events {
        let own = event.messages.iter().find(|got| Some(got.connection) == event.connection);
        match event.connection {
            None if event.text.is_empty() => out.push(format!("sleep {}", super::commands::WAIT)),
            None => out.push(event.text.clone()),
            Some(by) => command(by, &event.text, own, &mut out),
        }
        for got in &event.messages {
            let skipped = usize::from(Some(got.connection) == event.connection);
            for real in got.real.iter().skip(skipped) {
                received(&format!("{}<", name(got.connection)), real, &mut out);
            }
            if got.real != got.model {
                engine(got, &mut out);
            }
        }
    }
    debug_assert!(!quiet(events), "a difference has happened somewhere");
    out.join("\n") + "\n"
}

fn command(by: usize, text: &str, own: Option<&Messages>, out: &mut Vec<String>) {
    for other in super::commands::CONNECTIONS {
        if text.contains(&format!("{{id:{other}}}")) {
            out.push(format!("@id {other}"));
        }
    }
    match own.and_then(|got| got.real.first()) {
        Some(first) => received(&format!("{}> {text}", name(by)), first, out),
        None => out.push(format!("{}!> {text}", name(by))),
    }
}

fn received(line: &str, reply: &[String], out: &mut Vec<String>) {
    if reply.iter().any(|line| compare::depends_on_time(line) || line.contains("{id:")) {
        out.push("@match any".to_owned());
    }
    out.push(line.to_owned());
    out.extend(reply.iter().map(|line| format!("  {line}")));
}

fn engine(got: &Messages, out: &mut Vec<String>) {
    let shown: Vec<_> = got.model.iter().map(|lines| lines.join(" | ")).collect();
    let shown = if shown.is_empty() { "nothing".to_owned() } else { shown.join(" || ") };
    out.push(format!("# the engine: {}", replies::quote(shown.as_bytes()).replace("\\\"", "\"")));
}
