//! A distribution made ready for many draws.

use fencepost_history::Duration;

use crate::Distribution;

/// How many cells the middle of a table has.
const CELLS: usize = 1024;

/// A distribution made ready for many draws.
///
/// Distributions whose draws are costly are tabulated by 1,024 equal steps of probability, and
/// a draw lies between two neighbours. The outermost steps, where the tails are, are drawn from the
/// distribution itself.
#[derive(Clone, Debug)]
pub struct Sampler {
    distribution: Distribution,
    /// The quantiles at the edges of the cells, or nothing.
    quantiles: Vec<u64>,
}

impl Sampler {
    /// Makes a distribution ready.
    #[must_use]
    pub fn new(distribution: &Distribution) -> Self {
        let is_costly = matches!(
            distribution,
            Distribution::LogNormal { .. } | Distribution::Exponential { .. }
        );
        let edge = |cell: usize| {
            let random = (cell as u64).wrapping_shl(54).wrapping_sub(u64::from(cell == CELLS));
            distribution.sample(random).as_nanos()
        };
        let mut quantiles: Vec<u64> =
            if is_costly { (0..=CELLS).map(edge).collect() } else { Vec::new() };
        // An exponential draw falls as its random bits grow; a table must rise or fall throughout,
        // and the ends of the tails are never read.
        if let [.., before, last] = quantiles.as_mut_slice() {
            *last = *before;
        }
        Self { distribution: distribution.clone(), quantiles }
    }

    /// Turns 64 random bits into a length.
    #[must_use]
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "a cell has 10 bits")]
    pub fn sample(&self, random: u64) -> Duration {
        let cell = (random >> 54) as usize;
        let (Some(&low), Some(&high)) = (self.quantiles.get(cell), self.quantiles.get(cell + 1))
        else {
            return self.distribution.sample(random);
        };
        if cell == 0 || cell == CELLS - 1 {
            return self.tail(random);
        }
        let part = (random >> 22) & u64::from(u32::MAX);
        let step = (i128::from(high) - i128::from(low)) * i128::from(part);
        Duration::from_nanos(low.wrapping_add_signed((step >> 32) as i64))
    }

    #[cold]
    fn tail(&self, random: u64) -> Duration {
        self.distribution.sample(random)
    }
}
