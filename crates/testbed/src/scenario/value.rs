//! The types that stand on the right of a key.

use std::fmt;

use fencepost_history::{Duration, Instant, Moment};
use toml::de::DeValue;
use toml::{Spanned, Value as Toml};

use super::anchor::Whose;
use super::error::{Code, ScenarioError};
use super::read::Reader;
use super::shape::Shape;
use super::units;

/// A value of a file, with its place.
pub(super) type Input<'i> = Spanned<DeValue<'i>>;

/// A type that stands on the right of a key.
pub(super) trait Value: Sized {
    /// Reads it; `None` means that an error was reported.
    fn read(input: &Input<'_>, reader: &mut Reader) -> Option<Self>;

    /// Writes it, so that it reads back the same; `None` means that the key is left out.
    fn write(&self) -> Option<Toml>;

    /// Says what it may look like.
    fn shape() -> Shape;
}

/// Makes a section the value of a key.
macro_rules! table_value {
    ($name:ident) => {
        impl $crate::scenario::value::Value for $name {
            fn read(
                input: &$crate::scenario::value::Input<'_>,
                reader: &mut $crate::scenario::read::Reader,
            ) -> Option<Self> {
                let mut value = Self::default();
                reader.table(input, &mut value)?;
                Some(value)
            }

            fn write(&self) -> Option<toml::Value> {
                Some(toml::Value::Table($crate::scenario::write::table(self)))
            }

            fn shape() -> $crate::scenario::shape::Shape {
                $crate::scenario::shape::table_shape::<Self>()
            }
        }
    };
}

/// Makes an enum of words the value of a key.
macro_rules! word_value {
    ($name:ident) => {
        impl $crate::scenario::value::Value for $name {
            fn read(
                input: &$crate::scenario::value::Input<'_>,
                reader: &mut $crate::scenario::read::Reader,
            ) -> Option<Self> {
                reader.word(input, Self::ALL, Self::name)
            }

            fn write(&self) -> Option<toml::Value> {
                Some(toml::Value::String(self.name().to_owned()))
            }

            fn shape() -> $crate::scenario::shape::Shape {
                $crate::scenario::shape::Shape::Words(
                    Self::ALL.iter().map(|word| (word.name(), word.describe())).collect(),
                )
            }
        }
    };
}

pub(super) use {table_value, word_value};

word_value!(Moment);

impl Value for fencepost_check::Kind {
    fn read(input: &Input<'_>, reader: &mut Reader) -> Option<Self> {
        reader.word(input, Self::ALL, Self::name)
    }

    fn write(&self) -> Option<Toml> {
        Some(Toml::String(self.name().to_owned()))
    }

    fn shape() -> Shape {
        Shape::Words(Self::ALL.iter().map(|kind| (kind.name(), "")).collect())
    }
}

impl Value for String {
    fn read(input: &Input<'_>, reader: &mut Reader) -> Option<Self> {
        reader.text(input, "a text").map(ToOwned::to_owned)
    }

    fn write(&self) -> Option<Toml> {
        Some(Toml::String(self.clone()))
    }

    fn shape() -> Shape {
        Shape::Text { what: "a text", pattern: "" }
    }
}

impl Value for bool {
    fn read(input: &Input<'_>, reader: &mut Reader) -> Option<Self> {
        match input.get_ref().as_bool() {
            Some(value) => Some(value),
            None => reader.wrong_type(input, "`true` or `false`"),
        }
    }

    fn write(&self) -> Option<Toml> {
        Some(Toml::Boolean(*self))
    }

    fn shape() -> Shape {
        Shape::Boolean
    }
}

macro_rules! integer_value {
    ($name:ident, $min:expr, $max:expr) => {
        impl Value for $name {
            fn read(input: &Input<'_>, reader: &mut Reader) -> Option<Self> {
                reader.integer(input, $min, $max).and_then(|number| Self::try_from(number).ok())
            }

            fn write(&self) -> Option<Toml> {
                Some(Toml::Integer(i64::try_from(*self).unwrap_or(i64::MAX)))
            }

            fn shape() -> Shape {
                Shape::Integer { min: $min, max: $max }
            }
        }
    };
}

integer_value!(u32, 0, u32::MAX as i64);
integer_value!(u64, 0, i64::MAX);
integer_value!(i64, -1_000_000, 1_000_000);

impl Value for Duration {
    fn read(input: &Input<'_>, reader: &mut Reader) -> Option<Self> {
        reader.length(input, units::length)
    }

    fn write(&self) -> Option<Toml> {
        Some(Toml::String(self.to_string()))
    }

    fn shape() -> Shape {
        Shape::Text { what: "a length of time", pattern: LENGTH }
    }
}

/// What a length of time looks like, for editors.
const LENGTH: &str = r"^\s*([0-9]+(\.[0-9]+)?\s*(ns|us|µs|ms|s|m|min|h)\s*)+$";
/// The same with a sign.
const SHIFT: &str = r"^\s*[+-]?([0-9]+(\.[0-9]+)?\s*(ns|us|µs|ms|s|m|min|h)\s*)+$";

impl Value for Instant {
    fn read(input: &Input<'_>, reader: &mut Reader) -> Option<Self> {
        Duration::read(input, reader).map(|length| Self::ZERO + length)
    }

    fn write(&self) -> Option<Toml> {
        self.since(Self::ZERO).write()
    }

    fn shape() -> Shape {
        Duration::shape()
    }
}

macro_rules! or_none {
    ($name:ident) => {
        impl Value for Option<$name> {
            fn read(input: &Input<'_>, reader: &mut Reader) -> Option<Self> {
                if input.get_ref().as_str() == Some("none") {
                    return Some(None);
                }
                $name::read(input, reader).map(Some)
            }

            fn write(&self) -> Option<Toml> {
                match self {
                    Some(value) => value.write(),
                    None => Some(Toml::String("none".to_owned())),
                }
            }

            fn shape() -> Shape {
                Shape::Either(vec![$name::shape(), Shape::Words(vec![("none", "")])])
            }
        }
    };
}

or_none!(Duration);
or_none!(u32);

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

impl Value for Whose {
    fn read(input: &Input<'_>, reader: &mut Reader) -> Option<Self> {
        let text = reader.text(input, "a moment such as \"acquired\" or \"c1 acquired\"")?;
        let (who, word) = match text.trim().rsplit_once(char::is_whitespace) {
            Some((who, word)) => (Some(who.trim().to_owned()), word),
            None => (None, text.trim()),
        };
        let moment = reader.find_word(input.span(), word, Moment::ALL, Moment::name)?;
        Some(Self { who, moment })
    }

    fn write(&self) -> Option<Toml> {
        Some(Toml::String(self.to_string()))
    }

    fn shape() -> Shape {
        Shape::Text { what: "a moment, with or without whose it is", pattern: "" }
    }
}

impl fmt::Display for Whose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(who) = &self.who {
            write!(f, "{who} ")?;
        }
        f.write_str(self.moment.name())
    }
}

impl<T: Value> Value for Vec<T> {
    fn read(input: &Input<'_>, reader: &mut Reader) -> Option<Self> {
        let Some(list) = input.get_ref().as_array() else {
            return reader.wrong_type(input, "a list");
        };
        let mut values = Self::new();
        for (index, item) in list.iter().enumerate() {
            reader.enter(&(index + 1).to_string(), item.span(), item.span());
            values.extend(T::read(item, reader));
            reader.leave();
        }
        Some(values)
    }

    fn write(&self) -> Option<Toml> {
        if self.is_empty() {
            return None;
        }
        Some(Toml::Array(self.iter().filter_map(Value::write).collect()))
    }

    fn shape() -> Shape {
        Shape::List(Box::new(T::shape()), 0, usize::MAX)
    }
}

impl<T: Value> Value for (T, T) {
    fn read(input: &Input<'_>, reader: &mut Reader) -> Option<Self> {
        let list = Vec::<T>::read(input, reader)?;
        match <[T; 2]>::try_from(list) {
            Ok([first, second]) => Some((first, second)),
            Err(list) => {
                reader.report(
                    ScenarioError::new(
                        Code::WrongType,
                        input.span(),
                        format!("two values belong here, not {}", list.len()),
                    )
                    .label("a list of two"),
                );
                None
            }
        }
    }

    fn write(&self) -> Option<Toml> {
        Some(Toml::Array([self.0.write(), self.1.write()].into_iter().flatten().collect()))
    }

    fn shape() -> Shape {
        Shape::List(Box::new(T::shape()), 2, 2)
    }
}
