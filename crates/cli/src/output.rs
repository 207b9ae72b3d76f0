//! The two streams: results on standard output, everything else on standard error.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use fencepost_report::{Line, Look, Tone, Verdict};
use serde::Serialize;

use crate::arguments::{Format, Presentation};
use crate::exit::{Exit, Failure};
use crate::terminal::{self, Wishes};

/// Where results and remarks go, and how they are set.
#[derive(Debug)]
pub(crate) struct Output {
    /// What results look like.
    pub(crate) format: Format,
    /// How wide text may be, and whether it is ASCII.
    pub(crate) look: Look,
    is_quiet: bool,
    is_closed: bool,
    colours: [bool; 2],
}

impl Output {
    /// Decides how output is set.
    pub(crate) fn new(asked: &Presentation) -> Self {
        let wishes = Wishes::of_environment();
        Self {
            format: asked.format,
            look: Look { width: terminal::columns(), ascii: asked.ascii },
            is_quiet: asked.quiet,
            is_closed: false,
            colours: terminal::streams().map(|is| wishes.decide(asked.color, is)),
        }
    }

    /// Returns whether people read the results.
    pub(crate) fn is_human(&self) -> bool {
        self.format == Format::Human
    }

    /// Returns whether a result that ends this way is to be kept quiet.
    pub(crate) fn hushes(&self, exit: Exit) -> bool {
        self.is_quiet && exit == Exit::Fine
    }

    /// Returns whether standard error takes colours.
    pub(crate) fn colours_errors(&self) -> bool {
        self.colours[1]
    }

    /// Writes lines for people to standard output.
    pub(crate) fn lines(&mut self, lines: &[Line]) -> Result<(), Failure> {
        let mut text = String::new();
        for line in lines {
            for span in &line.0 {
                let style = if self.colours[0] { style(span.tone) } else { Style::new() };
                text.push_str(&format!("{style}{}{style:#}", span.text));
            }
            text.push('\n');
        }
        self.text(&text)
    }

    /// Writes text to standard output.
    pub(crate) fn text(&mut self, text: &str) -> Result<(), Failure> {
        if self.is_closed {
            return Ok(());
        }
        let mut out = io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            // Whoever reads has seen enough; the work goes on, and so does its exit code.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.is_closed = true;
                Ok(())
            }
            Err(error) => Err(Failure::writing("standard output".as_ref(), &error)),
            Ok(()) => Ok(()),
        }
    }

    /// Writes a result for programs to standard output: a whole document, or a line of one.
    pub(crate) fn data(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        let text = match self.format {
            Format::Jsonl => serde_json::to_string(value),
            Format::Human | Format::Json => serde_json::to_string_pretty(value),
        };
        let mut text = text.expect("results have plain keys");
        text.push('\n');
        self.text(&text)
    }

    /// Writes an error to standard error.
    pub(crate) fn error(&self, text: &str) {
        let red = AnsiColor::Red.on_default().bold();
        self.remark("error", red, text);
    }

    /// Writes a remark to standard error.
    pub(crate) fn note(&self, text: &str) {
        if !self.is_quiet {
            self.remark("note", AnsiColor::Cyan.on_default().bold(), text);
        }
    }

    fn remark(&self, word: &str, style: Style, text: &str) {
        let style = if self.colours[1] { style } else { Style::new() };
        complain(&format!("{style}{word}{style:#}: {text}\n"));
    }
}

/// Writes to standard error; when even that fails there is nobody left to tell.
pub(crate) fn complain(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Returns the colours of a piece of text.
fn style(tone: Tone) -> Style {
    let colour = |colour: AnsiColor| colour.on_default();
    match tone {
        Tone::Plain => Style::new(),
        Tone::Verdict(Verdict::Violated) => colour(AnsiColor::Red).bold(),
        Tone::Verdict(Verdict::Exhausted | Verdict::Clean) => colour(AnsiColor::Green).bold(),
        Tone::Verdict(Verdict::NoneFound) => colour(AnsiColor::Cyan).bold(),
        Tone::Verdict(Verdict::Inconclusive) => colour(AnsiColor::Yellow).bold(),
        Tone::Finding => colour(AnsiColor::Red),
        Tone::Strong => Style::new().bold(),
        Tone::Muted => Style::new().dimmed(),
        Tone::Fault => colour(AnsiColor::Magenta),
        Tone::Command => colour(AnsiColor::Blue),
    }
}
