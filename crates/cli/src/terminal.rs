//! What the terminal can show: colours, symbols, columns.

use std::io::{self, IsTerminal};

use clap::ValueEnum;

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colour {
    /// On a terminal, unless NO_COLOR or TERM=dumb asks for none.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What the environment says about colours.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wishes {
    /// `FENCEPOST_COLOR`.
    pub(crate) own: Option<String>,
    /// `NO_COLOR`.
    pub(crate) no_color: Option<String>,
    /// `FORCE_COLOR` or `CLICOLOR_FORCE`.
    pub(crate) force: Option<String>,
    /// `TERM`.
    pub(crate) term: Option<String>,
}

impl Wishes {
    /// Reads the environment.
    pub(crate) fn of_environment() -> Self {
        Self {
            own: variable("FENCEPOST_COLOR"),
            no_color: variable("NO_COLOR"),
            force: variable("FORCE_COLOR").or_else(|| variable("CLICOLOR_FORCE")),
            term: variable("TERM"),
        }
    }

    /// Decides on colours: the command line before our own variable before the general ones
    /// before what the stream is.
    pub(crate) fn decide(&self, asked: Colour, is_terminal: bool) -> bool {
        let own = self.own.as_deref().and_then(|own| Colour::from_str(own, true).ok());
        let asked = if asked == Colour::Auto { own.unwrap_or_default() } else { asked };
        match asked {
            Colour::Always => true,
            Colour::Never => false,
            Colour::Auto if self.no_color.as_deref().is_some_and(|value| !value.is_empty()) => {
                false
            }
            Colour::Auto
                if self.force.as_deref().is_some_and(|value| !matches!(value, "" | "0")) =>
            {
                true
            }
            Colour::Auto => is_terminal && self.term.as_deref() != Some("dumb"),
        }
    }
}

/// Reads a variable of the environment.
#[expect(clippy::disallowed_methods, reason = "the command line may read the environment")]
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The columns where the width is unknown, and the most that text is spread over.
const WIDEST: usize = 100;
/// The fewest columns that are set text for.
const NARROWEST: usize = 20;

/// Returns how many columns text may take.
pub(crate) fn columns() -> usize {
    let said = variable("COLUMNS").and_then(|text| text.parse::<usize>().ok());
    let seen = || {
        let (width, _) = terminal_size::terminal_size_of(io::stdout())?;
        Some(usize::from(width.0))
    };
    said.or_else(seen).filter(|&columns| columns > 0).unwrap_or(WIDEST).clamp(NARROWEST, WIDEST)
}

/// Returns whether standard output and standard error are terminals.
pub(crate) fn streams() -> [bool; 2] {
    [io::stdout().is_terminal(), io::stderr().is_terminal()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wishes(own: &str, no_color: &str, force: &str, term: &str) -> Wishes {
        let set = |value: &str| (value != "-").then(|| value.to_owned());
        Wishes { own: set(own), no_color: set(no_color), force: set(force), term: set(term) }
    }

    #[test]
    fn the_nearest_wish_wins() {
        let table = [
            // own, NO_COLOR, FORCE_COLOR, TERM, command line, terminal: colours
            ("-", "-", "-", "xterm", Colour::Auto, true, true),
            ("-", "-", "-", "xterm", Colour::Auto, false, false),
            ("-", "-", "-", "dumb", Colour::Auto, true, false),
            ("-", "1", "-", "xterm", Colour::Auto, true, false),
            ("-", "", "-", "xterm", Colour::Auto, true, true),
            ("-", "-", "1", "dumb", Colour::Auto, false, true),
            ("-", "-", "0", "xterm", Colour::Auto, false, false),
            ("-", "1", "1", "xterm", Colour::Auto, true, false),
            ("always", "1", "-", "dumb", Colour::Auto, false, true),
            ("never", "-", "1", "xterm", Colour::Auto, true, false),
            ("pink", "-", "-", "xterm", Colour::Auto, true, true),
            ("never", "1", "-", "dumb", Colour::Always, false, true),
            ("always", "-", "1", "xterm", Colour::Never, true, false),
        ];
        for (own, no_color, force, term, asked, is_terminal, expected) in table {
            let wishes = wishes(own, no_color, force, term);
            assert_eq!(wishes.decide(asked, is_terminal), expected, "{wishes:?} {asked:?}");
        }
    }
}
