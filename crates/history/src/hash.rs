//! The rolling hash of a run, equal in silent and recorded mode.

/// Hashes a run's events as they come: order matters, and nothing is stored.
///
/// Each word is mixed by rotate, xor and multiply; [`RollingHash::finish`] spreads the bits. It is
/// made to notice two runs that differ, not to resist somebody who looks for collisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RollingHash(u64);

impl RollingHash {
    /// The hash of the empty run.
    #[must_use]
    pub const fn new() -> Self {
        Self(0x6a09_e667_f3bc_c908)
    }

    /// Adds one word.
    #[inline(always)]
    pub fn word(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    /// Returns the hash of all words so far.
    #[must_use]
    pub const fn finish(self) -> u64 {
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }
}

impl Default for RollingHash {
    fn default() -> Self {
        Self::new()
    }
}
