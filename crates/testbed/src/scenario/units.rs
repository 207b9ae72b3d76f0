//! Lengths of time as texts.

use std::fmt;

use fencepost_history::Duration;
use humantime::DurationError as Unread;

use super::limits;

/// Why a text is no length of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BadLength {
    /// A number without a unit.
    NoUnit(String),
    /// A unit that is none of ours.
    Unit(String),
    /// A sign where none can be.
    Sign,
    /// More than the limit.
    TooLong,
    /// A fraction of a nanosecond.
    TooFine,
    /// Anything else.
    Form,
}

const UNITS: &[&str] = &["ns", "us", "µs", "ms", "s", "m", "min", "h"];

impl fmt::Display for BadLength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoUnit(_) => f.write_str("a length of time needs a unit"),
            Self::Unit(unit) => write!(f, "`{unit}` is not a unit of time here"),
            Self::Sign => f.write_str("this length of time has no sign"),
            Self::TooLong => write!(f, "the length is above the limit of {}", limits::LENGTH),
            Self::TooFine => f.write_str("the length is no whole number of nanoseconds"),
            Self::Form => f.write_str("this is not a length of time"),
        }
    }
}

/// Reads a length such as `30s`, `1m 30s` or `1.5ms`.
///
/// The guard comes first: the library behind it also knows days and months, and reads `1M` as a
/// month.
pub(super) fn length(text: &str) -> Result<Duration, BadLength> {
    let text = text.trim();
    let mut rest = text;
    if rest.is_empty() {
        return Err(BadLength::Form);
    }
    if rest.starts_with(['+', '-']) {
        return Err(BadLength::Sign);
    }
    while !rest.is_empty() {
        let number = prefix(rest, |c| c.is_ascii_digit() || c == '.');
        let is_number = number.starts_with(|c: char| c.is_ascii_digit())
            && number.ends_with(|c: char| c.is_ascii_digit())
            && number.matches('.').count() <= 1;
        if !is_number {
            return Err(BadLength::Form);
        }
        rest = rest[number.len()..].trim_start();
        let unit = prefix(rest, |c| !c.is_ascii_digit() && !c.is_whitespace());
        if unit.is_empty() {
            return Err(BadLength::NoUnit(number.to_owned()));
        }
        if !UNITS.contains(&unit) {
            return Err(BadLength::Unit(unit.to_owned()));
        }
        rest = rest[unit.len()..].trim_start();
    }
    let length = humantime::parse_duration(text).map_err(|error| match error {
        Unread::NumberOverflow if text.contains('.') => BadLength::TooFine,
        Unread::NumberOverflow => BadLength::TooLong,
        Unread::InvalidCharacter(_)
        | Unread::NumberExpected(_)
        | Unread::UnknownUnit { .. }
        | Unread::Empty => BadLength::Form,
    })?;
    match u64::try_from(length.as_nanos()) {
        Ok(nanos) if nanos <= limits::LENGTH.as_nanos() => Ok(Duration::from_nanos(nanos)),
        _ => Err(BadLength::TooLong),
    }
}

fn prefix(text: &str, belongs: impl Fn(char) -> bool) -> &str {
    let end = text.find(|c| !belongs(c)).unwrap_or(text.len());
    &text[..end]
}

/// Reads a length with a sign, as nanoseconds: `+15s`, `-3s`, `50ms`.
pub(super) fn shift(text: &str) -> Result<i64, BadLength> {
    let text = text.trim();
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let nanos = i64::try_from(length(rest)?.as_nanos()).map_err(|_| BadLength::TooLong)?;
    Ok(sign * nanos)
}

/// Says how to write it properly, if that can be guessed.
pub(super) fn remedy(text: &str, error: &BadLength) -> String {
    match error {
        BadLength::NoUnit(number) if number == text.trim() => format!("write \"{number}s\""),
        BadLength::Unit(unit) => match guess(unit) {
            Some(right) => format!("write \"{}\"", text.replacen(unit.as_str(), right, 1)),
            None => "the units are ns, us, ms, s, m and h".to_owned(),
        },
        BadLength::Sign => "only clock steps and offsets have a sign".to_owned(),
        BadLength::NoUnit(_) | BadLength::TooLong | BadLength::TooFine | BadLength::Form => {
            "write it like \"30s\", \"250ms\" or \"1m 30s\"".to_owned()
        }
    }
}

/// Returns our spelling of somebody else's unit.
fn guess(unit: &str) -> Option<&'static str> {
    match unit {
        "M" | "mins" | "minute" | "minutes" => Some("m"),
        "S" | "sec" | "secs" | "second" | "seconds" => Some("s"),
        "H" | "hr" | "hrs" | "hour" | "hours" => Some("h"),
        "msec" | "millis" | "milliseconds" | "MS" => Some("ms"),
        "usec" | "micros" | "microseconds" | "μs" => Some("us"),
        "nsec" | "nanos" | "nanoseconds" => Some("ns"),
        _ => None,
    }
}
