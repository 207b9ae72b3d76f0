//! What can be wrong with a scenario file, as plain data.

use std::fmt;
use std::ops::Range;

/// A mistake in a scenario file or in a setting of the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    /// The kind of the mistake.
    pub code: Code,
    /// What is wrong, in one line.
    pub message: String,
    /// Which text the places point into.
    pub source: Source,
    /// Where, in bytes.
    pub span: Range<usize>,
    /// What to write at that place.
    pub label: String,
    /// A second place that helps to understand, and what to write there.
    pub context: Option<(Range<usize>, String)>,
    /// What the writer probably meant.
    pub help: Option<String>,
    /// The same as a change of the text.
    pub replacement: Option<Replacement>,
    /// Further remarks.
    pub notes: Vec<String>,
}

/// A change of the text that would mend a mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// What to replace, in bytes.
    pub span: Range<usize>,
    /// What to write instead.
    pub text: String,
}

/// A text that a place can point into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// The scenario file.
    File,
    /// The setting of the command line at this index.
    Set(usize),
}

macro_rules! codes {
    ($($name:ident = $code:literal, $explanation:literal;)*) => {
        /// The kinds of mistakes, each with a number that stays.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Code {
            $(#[doc = $explanation] $name,)*
        }

        impl Code {
            /// All kinds.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// Returns the number, such as `E0103`.
            #[must_use]
            pub const fn number(self) -> &'static str {
                match self {
                    $(Self::$name => $code,)*
                }
            }

            /// Explains the mistake in some sentences.
            #[must_use]
            pub const fn explain(self) -> &'static str {
                match self {
                    $(Self::$name => $explanation,)*
                }
            }
        }
    };
}

codes! {
    Syntax = "E0101", "The file is not TOML. The parser's own words say what it expected.";
    WrongType = "E0102", "The value has the wrong type, such as a number where a text belongs.";
    UnknownKey = "E0103", "The table has no such key. Keys are never ignored, because a misspelt \
        one would silently leave its default in force.";
    MissingKey = "E0104", "The table lacks a key that has no default.";
    BadLength = "E0105", "A length of time is a text with a unit, such as \"30s\" or \"1m 30s\". \
        The units are ns, us, ms, s, m (or min) and h.";
    UnknownWord = "E0106", "The value is not one of the words that this key knows.";
    BadValue = "E0107", "The value has the right type but cannot be used here, such as a \
        probability above one or a range whose end comes before its start.";
    OutOfLimits = "E0108", "The scenario is larger than the program allows: a file of 1 MiB, 1000 \
        clients, 1000 servers, and lengths of eleven years are the limits.";
    KeysConflict = "E0109", "Of some keys exactly one must be given, or all of them together.";
    UnknownName = "E0201", "No client, thread, server or resource has that name.";
    NotAvailable = "E0202", "The setting is known, but this version of the program cannot \
        simulate it.";
    Contradiction = "E0203", "Two settings contradict each other, so that one of them would have \
        no effect.";
    NeverHappens = "E0204", "What is asked for cannot happen with the other settings, such as the \
        moment of a strategy that is not used.";
    BadScript = "E0208", "A script of [lock.script] does not compile. The message is that of Lua \
        5.1, and its line is counted in the script.";
    RenewsTooLate = "E0207", "The background thread renews the lock only when the key has already \
        expired. A third of the TTL is usual.";
}

impl ScenarioError {
    /// Makes an error with a place and nothing more.
    pub(super) fn new(code: Code, span: Range<usize>, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            source: Source::File,
            span,
            label: String::new(),
            context: None,
            help: None,
            replacement: None,
            notes: Vec::new(),
        }
    }

    /// Adds what to write at the place.
    pub(super) fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Adds what the writer probably meant.
    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds a second place.
    pub(super) fn context(mut self, span: Range<usize>, label: impl Into<String>) -> Self {
        self.context = Some((span, label.into()));
        self
    }

    /// Adds a change that would mend it.
    pub(super) fn replace(mut self, span: Range<usize>, text: impl Into<String>) -> Self {
        self.replacement = Some(Replacement { span, text: text.into() });
        self
    }

    /// Adds a remark.
    pub(super) fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error[{}]: {}", self.code.number(), self.message)?;
        match &self.help {
            Some(help) => write!(f, " ({help})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ScenarioError {}
