use super::{Scenario, ScenarioError};

mod mistakes;
mod round_trip;
mod schema;
mod shipped;
mod values;

/// A scenario that uses most of what there is.
const FULL: &str = include_str!("tests/full.toml");

/// Writes errors as a reader sees them: number, line and column, the text at the place.
fn shown(text: &str, errors: &[ScenarioError]) -> String {
    let mut shown = String::new();
    for error in errors {
        let start = error.span.start.min(text.len());
        let line = text[..start].matches('\n').count() + 1;
        let column = start - text[..start].rfind('\n').map_or(0, |end| end + 1) + 1;
        let at = text.get(error.span.clone()).unwrap_or("");
        let at = at.lines().next().unwrap_or("");
        shown += &format!("{}:{line}:{column} {at:?}: {}", error.code.number(), error.message);
        if !error.label.is_empty() {
            shown += &format!(" [{}]", error.label);
        }
        if let Some(help) = &error.help {
            shown += &format!(" => {help}");
        }
        shown.push('\n');
    }
    shown
}

fn mistakes(text: &str) -> String {
    match Scenario::parse(text) {
        Ok(_) => "no mistake\n".to_owned(),
        Err(errors) => shown(text, &errors),
    }
}
