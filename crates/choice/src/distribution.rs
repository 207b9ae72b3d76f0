//! Distributions of lengths, drawn with integers alone.

use fencepost_history::Duration;

mod tables;

use tables::{LOG2, NORMAL};

/// A distribution of lengths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// Always the same length.
    Fixed(Duration),
    /// Every length of a range alike, both ends included.
    Uniform {
        /// The shortest.
        min: Duration,
        /// The longest.
        max: Duration,
    },
    /// Every multiple of a step in a range alike: how long things take in a world of ticks.
    Steps {
        /// The step.
        step: Duration,
        /// How many steps at least.
        min: u32,
        /// How many steps at most.
        max: u32,
    },
    /// Exponential: the gap to the next of events that come at a constant rate.
    Exponential {
        /// The mean.
        mean: Duration,
    },
    /// Lognormal, given by two quantiles.
    LogNormal {
        /// The median.
        p50: Duration,
        /// The length that one draw in a thousand exceeds.
        p999: Duration,
    },
    /// Measured lengths in ascending order; draws lie between neighbours.
    Empirical(Vec<Duration>),
}

/// 32 binary places of one.
const ONE: u64 = 1 << 32;
/// `ln 2` in 32 binary places.
const LN_2: u128 = 2_977_044_472;
/// The standard normal deviate that one draw in a thousand exceeds, in 24 binary places.
const Z_999: i128 = 51_845_495;

impl Distribution {
    /// Returns the nominal length: what a run without deviations gets.
    #[must_use]
    pub fn nominal(&self) -> Duration {
        match self {
            Self::Fixed(length) => *length,
            Self::Uniform { min, max } => {
                Duration::from_nanos(min.as_nanos() + (max.as_nanos() - min.as_nanos()) / 2)
            }
            Self::Steps { step, min, .. } => step.saturating_mul(u64::from(*min)),
            Self::Exponential { mean } => *mean,
            Self::LogNormal { p50, .. } => *p50,
            Self::Empirical(lengths) => {
                lengths.get(lengths.len() / 2).copied().unwrap_or(Duration::ZERO)
            }
        }
    }

    /// Turns 64 random bits into a length.
    #[must_use]
    #[inline]
    pub fn sample(&self, random: u64) -> Duration {
        match self {
            Self::Fixed(length) => *length,
            Self::Uniform { min, max } => {
                let span = u128::from(max.as_nanos() - min.as_nanos()) + 1;
                Duration::from_nanos(min.as_nanos() + high(span * u128::from(random)))
            }
            Self::Steps { step, min, max } => {
                let count = u64::from(max.saturating_sub(*min)) + 1;
                let more = high(u128::from(count) * u128::from(random));
                step.saturating_mul(u64::from(*min) + more)
            }
            Self::Exponential { mean } => {
                let nats = (u128::from(bits_of_surprise(random)) * LN_2) >> 32;
                clamp((u128::from(mean.as_nanos()) * nats) >> 32)
            }
            Self::LogNormal { p50, p999 } => log_normal(*p50, *p999, random),
            Self::Empirical(lengths) => empirical(lengths, random),
        }
    }
}

fn clamp(nanos: u128) -> Duration {
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

/// Returns the high word of a product of two words.
const fn high(product: u128) -> u64 {
    (product >> 64) as u64
}

/// Returns `log2(x)` in 32 binary places, for `x >= 1`.
fn log2(x: u64) -> u64 {
    let whole = 63 - x.leading_zeros();
    let mantissa = x << (63 - whole) << 1;
    let (cell, rest) = ((mantissa >> 56) as usize, (mantissa << 8) >> 32);
    let (low, next) = (LOG2[cell], LOG2[cell + 1]);
    u64::from(whole) * ONE + low + (((next - low) * rest) >> 32)
}

/// Returns `-log2(u)` in 32 binary places for the probability that `random` stands for.
fn bits_of_surprise(random: u64) -> u64 {
    64 * ONE - log2(random.max(1))
}

/// Returns `2^x` times a length, `x` in 32 binary places, by finding it in the table of logarithms.
fn times_power_of_two(length: u64, x: i128) -> u128 {
    let whole = x >> 32;
    let fraction = u64::try_from(x & i128::from(ONE - 1)).unwrap_or(0);
    let cell = LOG2.partition_point(|&entry| entry <= fraction).saturating_sub(1).min(255);
    let (low, next) = (LOG2[cell], LOG2[cell + 1]);
    let rest = ((fraction - low) << 24) / (next - low);
    let mantissa = (1_u128 << 32) + ((cell as u128) << 24) + u128::from(rest);
    let product = u128::from(length) * mantissa;
    match u32::try_from(whole) {
        Ok(up) if up >= 60 => u128::MAX,
        Ok(up) => (product >> 32).checked_shl(up).unwrap_or(u128::MAX),
        Err(_) => product >> (32 - whole.max(-90)),
    }
}

fn log_normal(p50: Duration, p999: Duration, random: u64) -> Duration {
    let is_low = random >> 63 == 0;
    let tail = ((if is_low { random } else { !random }) << 1) | 1;
    // `tail / 2^64` is twice the tail's probability, so its surprise starts at 0.
    let surprise = bits_of_surprise(tail);
    let cell = ((surprise >> 29) as usize).min(NORMAL.len() - 2);
    let rest = surprise - ((cell as u64) << 29);
    let (low, next) = (NORMAL[cell], NORMAL[cell + 1]);
    let z = i128::from(low + (((next - low) * rest) >> 29));
    let z = if is_low { -z } else { z };
    let spread = i128::from(log2(p999.as_nanos().max(1))) - i128::from(log2(p50.as_nanos().max(1)));
    clamp(times_power_of_two(p50.as_nanos(), spread * z / Z_999))
}

fn empirical(lengths: &[Duration], random: u64) -> Duration {
    let [first, .., last] = lengths else {
        return lengths.first().copied().unwrap_or(Duration::ZERO);
    };
    let place = u128::from(random) * (lengths.len() as u128 - 1);
    let cell = usize::try_from(high(place)).unwrap_or(usize::MAX);
    if cell + 1 >= lengths.len() {
        return *last;
    }
    let (low, next) = (lengths[cell].max(*first), lengths[cell + 1]);
    let rest = (place >> 32) & u128::from(u32::MAX);
    Duration::from_nanos(low.as_nanos() + high(u128::from((next - low).as_nanos()) * (rest << 32)))
}
