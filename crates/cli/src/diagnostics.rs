//! Mistakes in a scenario file, drawn as compilers draw them: all of them, each at its place.

use std::ops::Range;
use std::path::Path;

use annotate_snippets::{AnnotationKind, Group, Level, Patch, Renderer, Snippet};
use fencepost::scenario::{Replacement, ScenarioError, Source};
use serde::Serialize;

use crate::exit::{Exit, Failure, shown};
use crate::output::{Output, complain};

/// What the places of mistakes point into.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Texts<'a> {
    /// The file's name.
    pub(crate) path: &'a Path,
    /// What the file says.
    pub(crate) file: &'a str,
    /// The settings of the command line.
    pub(crate) settings: &'a [String],
}

/// Tells all mistakes of a file: to people on standard error, to programs on standard output.
pub(crate) fn tell(
    output: &mut Output,
    texts: Texts<'_>,
    errors: &[ScenarioError],
) -> Result<Failure, Failure> {
    if !output.is_human() {
        let errors = errors.iter().map(|error| Mistake::new(texts, error)).collect();
        let path = texts.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        output.data(&Mistakes { r#type: "error", file: path, errors })?;
        return Ok(Failure::Told(Exit::Usage));
    }
    let styled = if output.colours_errors() { Renderer::styled() } else { Renderer::plain() };
    let renderer = styled.term_width(output.look.width);
    for error in errors {
        let groups = drawn(texts, error, output.look.width);
        complain(&format!("{}\n\n", renderer.render(&groups)));
    }
    let count = match errors.len() {
        1 => "1 error".to_owned(),
        many => format!("{many} errors"),
    };
    output.error(&format!("{count} in {}; nothing was run", shown(texts.path)));
    Ok(Failure::Told(Exit::Usage))
}

/// Draws one mistake.
fn drawn<'a>(texts: Texts<'a>, error: &'a ScenarioError, width: usize) -> Vec<Group<'a>> {
    let (text, name, is_file) = place(texts, error.source);
    let span = within(text, &error.span);
    let mut snippet = Snippet::source(text).path(name.clone()).line_numbering(is_file);
    if error.source == Source::File && text.is_empty() {
        snippet = snippet.line_numbering(false);
    }
    let primary = AnnotationKind::Primary.span(span);
    snippet = snippet.annotation(primary.label(label(&error.label)));
    if let Some((context, label)) = &error.context {
        let context = first_line(text, within(text, context));
        snippet = snippet.annotation(AnnotationKind::Context.span(context).label(label.as_str()));
    }
    let mut group =
        Level::ERROR.primary_title(error.message.as_str()).id(error.code.number()).element(snippet);
    let change = error.replacement.as_ref();
    if change.is_none()
        && let Some(help) = &error.help
    {
        group = group.element(Level::HELP.message(wrapped(help, width)));
    }
    for note in &error.notes {
        group = group.element(Level::NOTE.message(wrapped(note, width)));
    }
    let mut groups = vec![group];
    if let Some(Replacement { span, text: instead }) = change {
        let patch = Patch::new(within(text, span), instead.as_str());
        let help = error.help.as_deref().unwrap_or("write this instead");
        let snippet = Snippet::source(text).path(name).line_numbering(is_file).patch(patch);
        groups.push(Level::HELP.secondary_title(help).element(snippet));
    }
    groups
}

fn label(label: &str) -> Option<&str> {
    (!label.is_empty()).then_some(label)
}

/// Returns the text that a place points into, what it is called, and whether it is the file.
fn place<'a>(texts: Texts<'a>, source: Source) -> (&'a str, String, bool) {
    match source {
        Source::File => (texts.file, shown(texts.path), true),
        Source::Set(index) => {
            let setting = texts.settings.get(index).map_or("", String::as_str);
            (setting, "--set".to_owned(), false)
        }
    }
}

/// Keeps a place inside its text, and off the middle of a letter.
fn within(text: &str, span: &Range<usize>) -> Range<usize> {
    let floor = |place: usize| {
        let place = place.min(text.len());
        (0..=place).rev().find(|&place| text.is_char_boundary(place)).unwrap_or(0)
    };
    let start = floor(span.start);
    start..floor(span.end).max(start)
}

/// Cuts a place at the end of its first line: what follows a table's heading helps nobody.
fn first_line(text: &str, span: Range<usize>) -> Range<usize> {
    let end = text[span.clone()].find('\n').map_or(span.end, |end| span.start + end);
    span.start..end
}

/// The columns that the drawing takes before a remark.
const MARGIN: usize = 12;

/// Breaks a remark into lines.
fn wrapped(text: &str, width: usize) -> String {
    let width = width.saturating_sub(MARGIN).max(20);
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join("\n")
}

/// All mistakes of a file, for programs.
#[derive(Debug, Serialize)]
struct Mistakes {
    r#type: &'static str,
    file: String,
    errors: Vec<Mistake>,
}

/// A mistake, for programs.
#[derive(Debug, Serialize)]
struct Mistake {
    code: &'static str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    set: Option<String>,
    line: usize,
    column: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<String>,
}

impl Mistake {
    fn new(texts: Texts<'_>, error: &ScenarioError) -> Self {
        let (text, _, is_file) = place(texts, error.source);
        let before = &text[..within(text, &error.span).start];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self {
            code: error.code.number(),
            message: error.message.clone(),
            set: (!is_file).then(|| text.to_owned()),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            help: error.help.clone(),
        }
    }
}
