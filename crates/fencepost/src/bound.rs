//! How likely a violation can be that never came up.

use std::fmt;

/// The exact one-sided 95 % upper bound of a chance after runs without a hit: `1 - 0.05^(1/n)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UpperBound {
    billionths: u64,
}

impl UpperBound {
    /// Returns the bound after so many independent runs, none of which was violated.
    ///
    /// ```
    /// use fencepost::UpperBound;
    ///
    /// assert_eq!(UpperBound::after(10_000).to_string(), "0.03 %");
    /// assert_eq!(UpperBound::after(30).to_string(), "9.51 %");
    /// ```
    #[must_use]
    #[expect(
        clippy::float_arithmetic,
        clippy::cast_possible_truncation,
        reason = "libm gives the same bits everywhere, and the result is rounded up to billionths"
    )]
    pub fn after(runs: u64) -> Self {
        if runs == 0 {
            return Self { billionths: 1_000_000_000 };
        }
        let chance = -libm::expm1(libm::log(0.05) / runs as f64);
        Self { billionths: libm::ceil(chance * 1e9) as u64 }
    }

    /// Returns the bound in parts per billion, rounded up.
    #[must_use]
    pub const fn billionths(self) -> u64 {
        self.billionths
    }
}

/// Writes it in per cent with three digits, rounded up: `0.03 %`, `9.51 %`.
impl fmt::Display for UpperBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.billionths.max(1).ilog10();
        let step = 10_u64.pow(digits.saturating_sub(2));
        let rounded = self.billionths.div_ceil(step) * step;
        // A per cent is ten million billionths.
        let (whole, rest) = (rounded / 10_000_000, rounded % 10_000_000);
        let decimals = format!("{rest:07}");
        let decimals = decimals.trim_end_matches('0');
        let point = if decimals.is_empty() { "" } else { "." };
        write!(f, "{whole}{point}{decimals} %")
    }
}
