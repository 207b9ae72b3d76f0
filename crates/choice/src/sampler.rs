//! A distribution made ready for many draws.

use std::rc::Rc;

use fencepost_history::Duration;

use crate::Distribution;

/// How many cells the middle of a table has.
const CELLS: usize = 1024;

/// A distribution made ready for many draws; clones share its table.
///
/// Distributions whose draws are costly are tabulated by 1,024 equal steps of probability, and
/// a draw lies between two neighbours. The outermost steps, where the tails are, are drawn from the
/// distribution itself.
#[derive(Clone, Debug)]
pub struct Sampler {
    distribution: Distribution,
    /// The quantiles at the edges of the cells, or nothing.
    quantiles: Option<Rc<[u64; CELLS + 1]>>,
}

impl Sampler {
    /// Makes a distribution ready.
    #[must_use]
    pub fn new(distribution: &Distribution) -> Self {
        let is_costly = matches!(
            distribution,
            Distribution::LogNormal { .. } | Distribution::Exponential { .. }
        );
        let edge = |cell: usize| distribution.sample((cell as u64).wrapping_shl(54)).as_nanos();
        // The outer edges of the tails are never read.
        let is_read = |cell: usize| cell > 0 && cell < CELLS;
        let table = || std::array::from_fn(|cell| if is_read(cell) { edge(cell) } else { 0 });
        let quantiles = is_costly.then(|| Rc::new(table()));
        // Between neighbours a draw counts with a sign; whoever waits for centuries draws exactly.
        let quantiles = quantiles.filter(|table| table.iter().all(|&edge| edge >> 63 == 0));
        Self { distribution: distribution.clone(), quantiles }
    }

    /// Turns 64 random bits into a length.
    #[must_use]
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "a cell has 10 bits, its part 32")]
    pub fn sample(&self, random: u64) -> Duration {
        let Some(quantiles) = &self.quantiles else {
            return self.distribution.sample(random);
        };
        let cell = (random >> 54) as usize;
        if cell == 0 || cell == CELLS - 1 {
            return self.tail(random);
        }
        let (low, high) = (quantiles[cell], quantiles[cell + 1]);
        let part = (random >> 22) as u32;
        let step = i128::from(high.wrapping_sub(low).cast_signed()) * i128::from(part);
        Duration::from_nanos(low.wrapping_add_signed((step >> 32) as i64))
    }

    #[cold]
    fn tail(&self, random: u64) -> Duration {
        self.distribution.sample(random)
    }
}
