//! Deviations by name: `client.pause@c1#6 = 1.5s`.

use std::fmt;
use std::str::FromStr;

use fencepost_history::{Duration, Instant};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// One answer that is not the benign one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Deviation {
    /// The site's label, such as `client.pause@c1`.
    pub site: String,
    /// At which question, or when.
    pub anchor: Anchor,
    /// The answer.
    pub value: Value,
}

/// Where in a run a deviation takes place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Anchor {
    /// At the site's n-th question, counted from 1: written `#6`. For faults of a process or a
    /// server that is after its n-th own event.
    Nth(u32),
    /// At an instant: written `@12s`.
    At(Instant),
}

/// The answer of a deviation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value {
    /// An entry of a menu: written `1`.
    Pick(u32),
    /// A length of time: written `1.5s`, or `never` for one without end.
    Length(Duration),
    /// A step forward or back in nanoseconds: written `+1.5s`, `-3s`.
    Step(i64),
}

impl Value {
    /// Returns the answer as the bare number that a site works with.
    #[must_use]
    pub const fn number(self) -> u64 {
        match self {
            Self::Pick(entry) => entry as u64,
            Self::Length(length) => length.as_nanos(),
            Self::Step(by) => by.cast_unsigned(),
        }
    }
}

/// A text that is no deviation.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{text}` is no deviation: {problem}, write it like `client.pause@c1#6 = 1.5s`")]
pub struct ParseDeviationError {
    text: String,
    problem: &'static str,
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Pick(entry) => entry.fmt(f),
            Self::Length(Duration::MAX) => f.write_str("never"),
            Self::Length(length) => length.fmt(f),
            Self::Step(by) => {
                let sign = if by < 0 { '-' } else { '+' };
                write!(f, "{sign}{}", Duration::from_nanos(by.unsigned_abs()))
            }
        }
    }
}

impl fmt::Display for Deviation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.anchor {
            Anchor::Nth(nth) => write!(f, "{}#{nth} = {}", self.site, self.value),
            Anchor::At(at) => {
                write!(f, "{}@{} = {}", self.site, Duration::from_nanos(at.as_nanos()), self.value)
            }
        }
    }
}

/// Reads an exact length: digits, perhaps decimals, and one of the units that lengths print with.
fn parse_length(text: &str) -> Option<Duration> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = text.split_at(digits);
    let unit: u64 = match unit {
        "h" => 3_600_000_000_000,
        "min" => 60_000_000_000,
        "s" => 1_000_000_000,
        "ms" => 1_000_000,
        "us" => 1_000,
        "ns" => 1,
        _ => return None,
    };
    let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
    let mut nanos = whole.parse::<u64>().ok()?.checked_mul(unit)?;
    let mut place = unit;
    for digit in decimals.bytes() {
        if !place.is_multiple_of(10) {
            return None;
        }
        place /= 10;
        nanos = nanos.checked_add(u64::from(digit.checked_sub(b'0')?) * place)?;
    }
    Some(Duration::from_nanos(nanos))
}

fn parse_value(text: &str) -> Option<Value> {
    if text == "never" {
        return Some(Value::Length(Duration::MAX));
    }
    let signed = |text: &str| i64::try_from(parse_length(text)?.as_nanos()).ok();
    match text.as_bytes().first()? {
        b'+' => Some(Value::Step(signed(&text[1..])?)),
        b'-' => Some(Value::Step(-signed(&text[1..])?)),
        _ => match text.parse() {
            Ok(entry) => Some(Value::Pick(entry)),
            Err(_) => Some(Value::Length(parse_length(text)?)),
        },
    }
}

impl FromStr for Deviation {
    type Err = ParseDeviationError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fail = |problem| ParseDeviationError { text: text.to_owned(), problem };
        let (place, value) = text.split_once('=').ok_or(fail("there is no `=`"))?;
        let value = parse_value(value.trim()).ok_or(fail("its value cannot be read"))?;
        let place = place.trim();
        let (site, anchor) = if let Some((site, nth)) = place.split_once('#') {
            let nth = nth.parse().ok().filter(|&nth| nth > 0);
            (site, Anchor::Nth(nth.ok_or(fail("`#` wants a number from 1"))?))
        } else {
            let (site, at) = place.rsplit_once('@').ok_or(fail("there is no `#` and no `@`"))?;
            let at = parse_length(at).ok_or(fail("the time after `@` cannot be read"))?;
            (site, Anchor::At(Instant::from_nanos(at.as_nanos())))
        };
        if site.is_empty() || site.contains(char::is_whitespace) {
            return Err(fail("its site cannot be read"));
        }
        Ok(Self { site: site.to_owned(), anchor, value })
    }
}

impl TryFrom<String> for Deviation {
    type Error = ParseDeviationError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Deviation> for String {
    fn from(deviation: Deviation) -> Self {
        deviation.to_string()
    }
}
