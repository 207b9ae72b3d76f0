//! Floating-point numbers as the server reads and prints them.

#![expect(clippy::float_arithmetic, reason = "Redis has floating-point types")]

use std::cmp::Ordering;

/// A score of a sorted set: a number with a total order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Score(pub(crate) f64);

impl Score {
    /// Makes a score; the negative zero is stored as the positive one, as small sorted sets do.
    pub(crate) fn new(number: f64) -> Self {
        Self(number + 0.0)
    }
}

impl PartialEq for Score {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Score {}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Score {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl std::hash::Hash for Score {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

/// Reads a number as `strtod` on the whole text does; not-a-number is refused.
pub(crate) fn parse_double(text: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(text).ok()?;
    text.parse::<f64>().ok().filter(|number| !number.is_nan())
}

/// Prints a number with 17 significant digits (C's `%.17g`), or as the shortest text that reads
/// back as the same number.
pub(crate) fn format_double(number: f64, shortest: bool) -> String {
    if number.is_infinite() {
        return if number > 0.0 { "inf".into() } else { "-inf".into() };
    }
    if number == 0.0 {
        return if number.is_sign_negative() { "-0".into() } else { "0".into() };
    }
    let scientific = if shortest { format!("{number:e}") } else { format!("{number:.16e}") };
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if !(-4..17).contains(&exponent) {
        let digits = trim_zeros(digits);
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{digits}e{sign}{:02}", exponent.abs());
    }
    if shortest {
        return format!("{number}");
    }
    let decimals = usize::try_from(16 - exponent).unwrap_or(0);
    trim_zeros(&format!("{number:.decimals$}")).into()
}

/// Prints the result of INCRBYFLOAT and HINCRBYFLOAT: never an exponent, no trailing zeros.
pub(crate) fn format_human(number: f64) -> String {
    if number == 0.0 {
        "0".into()
    } else if number.abs() >= 9_007_199_254_740_992.0 {
        format!("{number:.0}")
    } else {
        format!("{number}")
    }
}

fn trim_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}
