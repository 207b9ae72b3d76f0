//! Virtual time: three clocks that do not compare, and the lengths between their readings.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

use serde::{Deserialize, Serialize};

/// A length of time in whole nanoseconds.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Duration(u64);

impl Duration {
    /// The empty length.
    pub const ZERO: Self = Self(0);
    /// The longest length, about 584 years.
    pub const MAX: Self = Self(u64::MAX);

    /// Makes a length of nanoseconds.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Makes a length of microseconds.
    #[must_use]
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros * 1_000)
    }

    /// Makes a length of milliseconds.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis * 1_000_000)
    }

    /// Makes a length of seconds.
    #[must_use]
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs * 1_000_000_000)
    }

    /// Returns the length in nanoseconds.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Returns the length in whole milliseconds, rounded down.
    #[must_use]
    pub const fn as_millis(self) -> u64 {
        self.0 / 1_000_000
    }

    /// Adds, stopping at the longest length.
    #[must_use]
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// Subtracts, stopping at zero.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// Multiplies, stopping at the longest length.
    #[must_use]
    pub const fn saturating_mul(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }
}

impl Add for Duration {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Duration {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Duration {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

/// Writes the length exactly, in the largest unit that needs at most nine decimals: `1.5s`,
/// `250ms`, `20us`, `7ns`, `10min`, `1h`.
impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.0;
        let (unit, name) = match nanos {
            0 => return f.write_str("0s"),
            n if n % 3_600_000_000_000 == 0 => (3_600_000_000_000, "h"),
            n if n >= 600_000_000_000 && n % 60_000_000_000 == 0 => (60_000_000_000, "min"),
            n if n >= 1_000_000_000 => (1_000_000_000, "s"),
            n if n >= 1_000_000 => (1_000_000, "ms"),
            n if n >= 1_000 => (1_000, "us"),
            _ => (1, "ns"),
        };
        let (whole, rest) = (nanos / unit, nanos % unit);
        if rest == 0 {
            return write!(f, "{whole}{name}");
        }
        let digits = match unit {
            1_000_000_000 => format!("{rest:09}"),
            1_000_000 => format!("{rest:06}"),
            _ => format!("{rest:03}"),
        };
        write!(f, "{whole}.{}{name}", digits.trim_end_matches('0'))
    }
}

macro_rules! clock {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize,
            Deserialize,
        )]
        #[serde(transparent)]
        pub struct $name(u64);

        impl $name {
            /// The first reading of this clock.
            pub const ZERO: Self = Self(0);
            /// A reading that never comes.
            pub const NEVER: Self = Self(u64::MAX);

            /// Makes a reading of nanoseconds since this clock's zero.
            #[must_use]
            pub const fn from_nanos(nanos: u64) -> Self {
                Self(nanos)
            }

            /// Returns the nanoseconds since this clock's zero.
            #[must_use]
            pub const fn as_nanos(self) -> u64 {
                self.0
            }

            /// Returns the length since `earlier`, or zero if that is later.
            #[must_use]
            pub const fn since(self, earlier: Self) -> Duration {
                Duration(self.0.saturating_sub(earlier.0))
            }
        }

        impl Add<Duration> for $name {
            type Output = Self;

            fn add(self, length: Duration) -> Self {
                Self(self.0.saturating_add(length.0))
            }
        }

        impl Sub<Duration> for $name {
            type Output = Self;

            fn sub(self, length: Duration) -> Self {
                Self(self.0.saturating_sub(length.0))
            }
        }
    };
}

clock! {
    /// Virtual time since the start of a run, known to nobody inside the run.
    Instant
}
clock! {
    /// A reading of a host's monotonic clock, which may run fast or slow but never jumps.
    LocalTime
}
clock! {
    /// A reading of a host's wall clock in nanoseconds since the Unix epoch; it may be wrong.
    WallTime
}

/// Writes seconds with the decimals that are there, at least three: `30.000`, `0.002500`.
impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (secs, nanos) = (self.0 / 1_000_000_000, self.0 % 1_000_000_000);
        if nanos % 1_000_000 == 0 {
            write!(f, "{secs}.{:03}", nanos / 1_000_000)
        } else if nanos % 1_000 == 0 {
            write!(f, "{secs}.{:06}", nanos / 1_000)
        } else {
            write!(f, "{secs}.{nanos:09}")
        }
    }
}
