//! Numbers that files write as texts, and counts with a limit.

use std::fmt;

use fencepost_history::Duration;
use toml::Value as Toml;
use toml::de::DeValue;

use super::error::{Code, ScenarioError};
use super::reader::Reader;
use super::shape::Shape;
use super::value::{Input, Value};
use super::{limits, units};

/// What a length of time with a sign looks like, for editors.
const SHIFT: &str = r"^\s*[+-]?([0-9]+(\.[0-9]+)?\s*(ns|us|µs|ms|s|m|min|h)\s*)+$";

/// A length of time with a sign.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shift(i64);

impl Shift {
    /// No difference.
    pub const ZERO: Self = Self(0);

    /// Makes a shift of nanoseconds, forward or back.
    #[must_use]
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(nanos)
    }

    /// Returns it in nanoseconds.
    #[must_use]
    pub const fn as_nanos(self) -> i64 {
        self.0
    }
}

impl fmt::Display for Shift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { '-' } else { '+' };
        write!(f, "{sign}{}", Duration::from_nanos(self.0.unsigned_abs()))
    }
}

impl Value for Shift {
    fn read(input: &Input<'_>, reader: &mut Reader) -> Option<Self> {
        reader.length(input, units::shift).map(Self)
    }

    fn write(&self) -> Option<Toml> {
        Some(Toml::String(self.to_string()))
    }

    fn shape() -> Shape {
        Shape::Text { what: "a length of time with a sign", pattern: SHIFT }
    }
}

/// How often something random happens on average.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// So many times,
    pub events: u32,
    /// in so long.
    pub per: Duration,
}

impl Default for Rate {
    fn default() -> Self {
        Self { events: 1, per: Duration::from_secs(3600) }
    }
}

impl Rate {
    /// Returns the mean gap from one to the next.
    #[must_use]
    pub fn mean_gap(self) -> Duration {
        Duration::from_nanos(self.per.as_nanos() / u64::from(self.events.max(1)))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let per = self.per.to_string();
        let unit = per.strip_prefix('1').filter(|unit| unit.starts_with(char::is_alphabetic));
        write!(f, "{}/{}", self.events, unit.unwrap_or(&per))
    }
}

impl Value for Rate {
    fn read(input: &Input<'_>, reader: &mut Reader) -> Option<Self> {
        let text = reader.text(input, "a rate such as \"1/h\"")?;
        let parsed = text.split_once('/').and_then(|(events, per)| {
            let events = events.trim().parse().ok().filter(|events| *events > 0)?;
            let per = per.trim();
            let one = if per.starts_with(char::is_alphabetic) { "1" } else { "" };
            let per = units::length(&format!("{one}{per}")).ok()?;
            (per > Duration::ZERO).then_some(Self { events, per })
        });
        if parsed.is_none() {
            reader.report(
                ScenarioError::new(Code::BadValue, input.span(), "this is not a rate")
                    .label("so many times in so long")
                    .help("write it like \"1/h\" or \"3/10m\""),
            );
        }
        parsed
    }

    fn write(&self) -> Option<Toml> {
        Some(Toml::String(self.to_string()))
    }

    fn shape() -> Shape {
        Shape::Text { what: "a rate such as `1/h`", pattern: r"^\s*[0-9]+\s*/\s*.+$" }
    }
}

/// A probability, as a fraction of whole numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Odds {
    /// So many times
    pub hits: u64,
    /// of so many.
    pub of: u64,
}

impl fmt::Display for Odds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.hits, self.of)
    }
}

impl Odds {
    /// Reads `1/64`, `5%`, `0.05`.
    fn from_text(text: &str) -> Option<Self> {
        let text = text.trim();
        let odds = if let Some((hits, of)) = text.split_once('/') {
            Self { hits: hits.trim().parse().ok()?, of: of.trim().parse().ok()? }
        } else if let Some(percent) = text.strip_suffix('%') {
            let Self { hits, of } = Self::from_decimal(percent.trim_end())?;
            Self { hits, of: of * 100 }
        } else {
            Self::from_decimal(text)?
        };
        (odds.of > 0 && odds.hits <= odds.of).then_some(odds)
    }

    fn from_decimal(text: &str) -> Option<Self> {
        let (whole, digits) = text.split_once('.').unwrap_or((text, ""));
        let is_plain =
            |digits: &str| digits.len() <= 9 && digits.bytes().all(|c| c.is_ascii_digit());
        if whole.is_empty() || !is_plain(whole) || !is_plain(digits) {
            return None;
        }
        let places = u32::try_from(digits.len()).ok()?;
        let hits = format!("{whole}{digits}").parse().ok()?;
        Some(Self { hits, of: 10_u64.pow(places) })
    }
}

impl Value for Odds {
    fn read(input: &Input<'_>, reader: &mut Reader) -> Option<Self> {
        let text = match input.get_ref() {
            DeValue::String(text) => text.as_ref(),
            DeValue::Float(number) => number.as_str(),
            DeValue::Integer(number) if number.radix() == 10 => number.as_str(),
            DeValue::Integer(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_)
            | DeValue::Array(_)
            | DeValue::Table(_) => return reader.wrong_type(input, "a probability"),
        };
        let odds = Self::from_text(text);
        if odds.is_none() {
            reader.report(
                ScenarioError::new(Code::BadValue, input.span(), "this is not a probability")
                    .label("between 0 and 1")
                    .help("write it like \"1/64\", \"5%\" or 0.05"),
            );
        }
        odds
    }

    fn write(&self) -> Option<Toml> {
        Some(Toml::String(self.to_string()))
    }

    fn shape() -> Shape {
        let text = Shape::Text {
            what: "a probability such as `1/64` or `5%`",
            pattern: r"^\s*([0-9]+\s*/\s*[0-9]+|[0-9]+(\.[0-9]+)?\s*%?)\s*$",
        };
        Shape::Either(vec![text, Shape::Fraction])
    }
}

/// A number that people write in hexadecimal: a seed, a hash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hex(pub u64);

impl fmt::Display for Hex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#018x}", self.0)
    }
}

impl Value for Hex {
    fn read(input: &Input<'_>, reader: &mut Reader) -> Option<Self> {
        let text = reader.text(input, "a hexadecimal number such as \"0x5eed\"")?;
        let number =
            text.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok());
        if number.is_none() {
            reader.report(
                ScenarioError::new(
                    Code::BadValue,
                    input.span(),
                    "this is not a hexadecimal number",
                )
                .help("write it like \"0x5eed\", with at most 16 digits"),
            );
        }
        number.map(Self)
    }

    fn write(&self) -> Option<Toml> {
        Some(Toml::String(self.to_string()))
    }

    fn shape() -> Shape {
        Shape::Text { what: "a hexadecimal number", pattern: "^0x[0-9a-fA-F]{1,16}$" }
    }
}

macro_rules! count_value {
    ($(#[doc = $doc:literal])+ $vis:vis $name:ident, $what:literal, $max:expr) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        $vis struct $name(pub u32);

        impl Value for $name {
            fn read(input: &Input<'_>, reader: &mut Reader) -> Option<Self> {
                let count = reader.integer(input, 1, i64::MAX)?;
                if count > i64::from($max) {
                    reader.report(
                        ScenarioError::new(
                            Code::OutOfLimits,
                            input.span(),
                            format!("{count} {} are more than the limit of {}", $what, $max),
                        )
                        .label("too many"),
                    );
                    return None;
                }
                u32::try_from(count).ok().map(Self)
            }

            fn write(&self) -> Option<Toml> {
                Some(Toml::Integer(self.0.into()))
            }

            fn shape() -> Shape {
                Shape::Integer { min: 1, max: $max.into() }
            }
        }
    };
}

count_value! {
    /// A number of clients.
    pub(super) ClientCount, "clients", limits::CLIENTS
}
count_value! {
    /// A number of servers of the store.
    pub NodeCount, "servers", limits::NODES
}
