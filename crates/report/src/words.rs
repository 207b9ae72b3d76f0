//! How times and lengths are written for people.

use fencepost_history::{Duration, Instant};

/// Writes an instant as seconds with three decimals, rounded down: `30.004 s`.
pub(crate) fn clock(at: Instant) -> String {
    let millis = at.as_nanos() / 1_000_000;
    format!("{}.{:03} s", millis / 1_000, millis % 1_000)
}

/// Writes an instant exactly: `30.004 s`, `0.002500 s`.
pub(crate) fn exact(at: Instant) -> String {
    format!("{at} s")
}

/// Writes a length exactly: `3.497 s`, `250 ms`, `20 µs`, `10 min`.
pub(crate) fn length(length: Duration) -> String {
    let text = length.to_string();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = &text[digits.len()..];
    let unit = if unit == "us" { "µs" } else { unit };
    format!("{digits} {unit}")
}

/// Writes a length with at most three digits after the point: `3.497 s`, `1.5 ms`.
pub(crate) fn short(length: Duration) -> String {
    let nanos = length.as_nanos();
    let step = match nanos {
        n if n >= 1_000_000_000 => 1_000_000,
        n if n >= 1_000_000 => 1_000,
        _ => 1,
    };
    self::length(Duration::from_nanos(nanos / step * step))
}

/// Writes a length with one digit after the point at most: `3.2 s`, `31 s`.
pub(crate) fn rough(length: Duration) -> String {
    let nanos = length.as_nanos();
    let step = match nanos {
        n if n >= 1_000_000_000 => 100_000_000,
        n if n >= 1_000_000 => 1_000_000,
        _ => 1,
    };
    let rounded = (nanos + step / 2) / step * step;
    self::length(Duration::from_nanos(rounded))
}

/// Writes a clock step with its sign: `+5 s`, `-50 ms`.
pub(crate) fn signed(nanos: i64) -> String {
    let sign = if nanos < 0 { '-' } else { '+' };
    format!("{sign}{}", length(Duration::from_nanos(nanos.unsigned_abs())))
}

/// Writes how a clock errs, given in parts per billion: `200 ppm too fast`.
pub(crate) fn rate(billionths: i64) -> String {
    if billionths == 0 {
        return "at the right rate".to_owned();
    }
    let (size, thousandths) =
        (billionths.unsigned_abs() / 1_000, billionths.unsigned_abs() % 1_000);
    let word = if billionths < 0 { "slow" } else { "fast" };
    match thousandths {
        0 if size % 10_000 == 0 => format!("{} % too {word}", size / 10_000),
        0 => format!("{size} ppm too {word}"),
        rest => format!("{size}.{rest:03} ppm too {word}"),
    }
}

/// Joins names as a person would: `a`, `a and b`, `a, b and c`.
pub(crate) fn list(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [only] => only.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

/// Cuts a text to a number of characters, with an ellipsis if something is missing.
pub(crate) fn cut(text: &str, characters: usize) -> String {
    if text.chars().count() <= characters {
        return text.to_owned();
    }
    let kept: String = text.chars().take(characters.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}
