//! The violation block: what a terminal shows of one run.

use std::fmt;

use fencepost_history::History;
use unicode_width::UnicodeWidthStr;

use crate::sentences::{finding_sentence, summary};
use crate::words::clock;
use crate::{Expected, Step, Story, Verdict, steps};

/// The most exchanges that the block shows under one step.
const EXCHANGES: usize = 3;

/// The least columns that a sentence gets beside its number, time and name.
const ROOM: usize = 24;
/// What stands before a sentence that has no room there.
const BELOW: &str = "       ";

/// How the block is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// The terminal's width in columns; lines are wrapped to it, but names and commands stay whole.
    pub width: usize,
    /// Whether only ASCII symbols may be used.
    pub ascii: bool,
}

impl Default for Look {
    fn default() -> Self {
        Self { width: 100, ascii: false }
    }
}

/// What a piece of text is, so that a terminal can colour it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Running text.
    Plain,
    /// The verdict's symbol and words.
    Verdict(Verdict),
    /// A kind of violation, or the word that marks one.
    Finding,
    /// What stands out: names in headings.
    Strong,
    /// What steps back: numbers, labels.
    Muted,
    /// A fault's label.
    Fault,
    /// A command to copy, or one that was exchanged.
    Command,
}

/// A piece of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The text.
    pub text: String,
    /// What it is.
    pub tone: Tone,
}

/// A line of the block; as text it has no colours.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line(pub Vec<Span>);

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|span| f.write_str(&span.text))
    }
}

/// Tells a run: verdict, findings, faults, steps, and how to see it again.
#[must_use]
pub fn block(story: &Story, history: &History, look: Look) -> Vec<Line> {
    let mut block = Block { look, lines: Vec::new() };
    block.head(story);
    block.findings(story);
    block.faults(story);
    block.steps(&steps(story, history), history);
    block.foot(story);
    block.lines
}

struct Block {
    look: Look,
    lines: Vec<Line>,
}

impl Block {
    /// Adds text that starts with fixed pieces and is wrapped, with a hanging indent, after them.
    fn put(&mut self, lead: &[(&str, Tone)], text: &str, tone: Tone) {
        let ascii = self.look.ascii;
        let lead: Vec<_> = lead.iter().map(|(text, tone)| (plain(text, ascii), *tone)).collect();
        let indent: usize = lead.iter().map(|(text, _)| text.width()).sum();
        let text = plain(text, ascii);
        for (index, row) in wrap(&text, self.look.width.saturating_sub(indent)).iter().enumerate() {
            let mut line = Line::default();
            if index == 0 {
                for (text, tone) in &lead {
                    line.0.push(Span { text: text.clone(), tone: *tone });
                }
            } else {
                line.0.push(Span { text: " ".repeat(indent), tone: Tone::Plain });
            }
            line.0.push(Span { text: row.clone(), tone });
            trim(&mut line);
            self.lines.push(line);
        }
    }

    fn gap(&mut self) {
        self.lines.push(Line::default());
    }

    fn head(&mut self, story: &Story) {
        let verdict = story.verdict;
        let words = format!("{} {}  ", verdict.symbol(self.look.ascii), verdict.words());
        let kinds = story.kinds().join(", ");
        let lead = [(words.as_str(), Tone::Verdict(verdict))];
        if kinds.is_empty() {
            self.put(&lead, &story.title, Tone::Strong);
        } else {
            self.put(&lead, &kinds, Tone::Finding);
            if !story.title.is_empty() {
                self.put(&[("  ", Tone::Plain)], &story.title, Tone::Strong);
            }
        }
        let mut source = story.scenario_name.clone();
        if !story.strategy.is_empty() {
            source += &format!(", strategy {}", story.strategy);
        }
        if story.expected == Expected::Met {
            source += "; as expected by [expect]";
        }
        if !source.is_empty() {
            self.put(&[("  ", Tone::Plain)], &source, Tone::Muted);
        }
        if let Expected::Missed(differences) = &story.expected {
            for difference in differences {
                self.put(&[("  not as expected: ", Tone::Finding)], difference, Tone::Plain);
            }
        }
    }

    fn findings(&mut self, story: &Story) {
        self.gap();
        let told = story.told();
        if told.is_empty() {
            self.put(&[("  ", Tone::Plain)], &summary(story), Tone::Plain);
        }
        for finding in told {
            self.put(&[("  ", Tone::Plain)], &finding_sentence(finding), Tone::Plain);
        }
        for note in &story.notes {
            self.put(&[("  note: ", Tone::Muted)], note, Tone::Plain);
        }
    }

    fn faults(&mut self, story: &Story) {
        self.gap();
        // A violation that some fault can be left out of does not need them all.
        let claims_less =
            story.faults_claim.as_ref().is_some_and(|claim| claim.starts_with("even"));
        let is_needed = story.verdict == Verdict::Violated && !claims_less;
        let needs = if is_needed { "needs" } else { "with" };
        let claim = story.faults_claim.as_ref().map(|claim| format!(" ({claim})"));
        let heading = match story.faults.len() {
            0 => format!("{needs} no fault"),
            1 => format!("{needs} 1 fault"),
            many => format!("{needs} {many} faults"),
        };
        let colon = if story.faults.is_empty() { "" } else { ":" };
        let heading = heading + &claim.unwrap_or_default() + colon;
        self.put(&[("  ", Tone::Plain)], &heading, Tone::Strong);
        for fault in &story.faults {
            let label = format!("    {:<4} ", fault.label);
            let at = format!("{:>9}  ", clock(fault.at));
            self.put(&[(&label, Tone::Fault), (&at, Tone::Muted)], &fault.text, Tone::Plain);
        }
    }

    fn steps(&mut self, steps: &[Step], history: &History) {
        let shown: Vec<_> = steps.iter().filter(|step| step.number.is_some()).collect();
        let Some(who) = shown.iter().map(|step| step.who.width()).max() else { return };
        let when = shown.iter().map(|step| clock(step.at).width()).max().unwrap_or(0);
        self.gap();
        let last = shown.iter().rposition(|step| !step.kinds.is_empty());
        for (index, step) in shown.iter().enumerate() {
            let number = format!("  {:>3}  ", step.number.unwrap_or(0));
            let at = format!("{:>when$}  ", clock(step.at));
            let pad = " ".repeat(who - step.who.width());
            let name = format!("{}{pad}  ", step.who);
            let lead = [(number.as_str(), Tone::Muted), (&at, Tone::Muted), (&name, Tone::Strong)];
            let columns = number.width() + at.width() + name.width();
            let is_narrow = self.look.width < columns + ROOM;
            let fault = step.fault.as_ref().map(|label| format!("{label}: "));
            let mut lead = lead.to_vec();
            if is_narrow {
                // The sentence stands below, where it has the whole width.
                self.put(&lead, "", Tone::Plain);
                lead = vec![(BELOW, Tone::Plain)];
            }
            lead.extend(fault.as_deref().map(|label| (label, Tone::Fault)));
            self.put(&lead, &step.text, Tone::Plain);
            if !step.kinds.is_empty() {
                let kinds = if last == Some(index) && step.kinds.len() > 3 {
                    "violation".to_owned()
                } else {
                    step.kinds.join(", ")
                };
                let indent: usize = lead.iter().map(|(text, _)| text.width()).sum();
                self.arrow(&kinds, indent);
            }
            self.exchanges(step, history, if is_narrow { BELOW.len() } else { columns });
        }
        let folded = steps.len() - shown.len();
        if folded > 0 {
            let text = format!("and {folded} more, in the timeline");
            self.put(&[(BELOW, Tone::Plain)], &text, Tone::Muted);
        }
    }

    /// Points at the line before, or below it where there is no room.
    fn arrow(&mut self, kinds: &str, indent: usize) {
        let text = format!("   <- {kinds}");
        match self.lines.last_mut() {
            Some(line) if line.to_string().width() + text.width() <= self.look.width => {
                line.0.push(Span { text, tone: Tone::Finding });
            }
            _ => {
                let pad = " ".repeat(indent);
                self.put(&[(&pad, Tone::Plain), ("<- ", Tone::Finding)], kinds, Tone::Finding);
            }
        }
    }

    fn exchanges(&mut self, step: &Step, history: &History, indent: usize) {
        let resources = &history.names.resources;
        let stores = step.exchanges.iter().filter(|one| !resources.contains(&one.server));
        for exchange in stores.take(EXCHANGES) {
            let pad = " ".repeat(indent);
            let prompt = format!("{}> ", exchange.server);
            let lead = [(pad.as_str(), Tone::Plain), (prompt.as_str(), Tone::Muted)];
            self.put(&lead, &exchange.command, Tone::Command);
            for reply in exchange.reply.lines() {
                self.put(&[(&pad, Tone::Plain)], reply, Tone::Muted);
            }
        }
    }

    fn foot(&mut self, story: &Story) {
        self.gap();
        if let Some(seed) = &story.seed {
            self.put(&[("  seed      ", Tone::Muted)], seed, Tone::Plain);
        }
        self.put(&[("  hash      ", Tone::Muted)], &format!("{:#018x}", story.hash), Tone::Plain);
        if !story.command.is_empty() {
            // A command that is to be copied stays in one line, however narrow the terminal is.
            let command = plain(&story.command, self.look.ascii);
            let label = Span { text: "  replay    ".to_owned(), tone: Tone::Muted };
            self.lines.push(Line(vec![label, Span { text: command, tone: Tone::Command }]));
        }
        if let Some(page) = &story.page {
            self.put(&[("  timeline  ", Tone::Muted)], page, Tone::Plain);
        }
        for (index, assumed) in story.assumed.iter().enumerate() {
            let label = if index == 0 { "  assumed   " } else { "            " };
            self.put(&[(label, Tone::Muted)], assumed, Tone::Plain);
        }
    }
}

/// Removes blanks at the end of a line.
fn trim(line: &mut Line) {
    while let Some(last) = line.0.last_mut() {
        last.text.truncate(last.text.trim_end().len());
        if !last.text.is_empty() {
            break;
        }
        line.0.pop();
    }
}

/// Replaces control characters, which could drive a terminal, and on request all but ASCII.
fn plain(text: &str, ascii: bool) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            c if c.is_control() => out.push('?'),
            c if !ascii || c.is_ascii() => out.push(c),
            '…' => out.push_str("..."),
            'µ' => out.push('u'),
            '→' => out.push_str("->"),
            '–' | '−' => out.push('-'),
            '≥' => out.push_str(">="),
            '≤' => out.push_str("<="),
            '×' | '✕' => out.push('x'),
            '’' | '‘' => out.push('\''),
            '“' | '”' => out.push('"'),
            _ => out.push('?'),
        }
    }
    out
}

/// Breaks a text at blanks so that rows fit; a longer word has a row of its own.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(20);
    let mut rows: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match rows.last_mut() {
            Some(row) if row.width() + 1 + word.width() <= width => {
                row.push(' ');
                row.push_str(word);
            }
            _ => rows.push(word.to_owned()),
        }
    }
    rows
}
