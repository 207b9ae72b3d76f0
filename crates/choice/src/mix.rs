//! The random scheme `rng-1`: ChaCha8 makes a run's key, a keyed mix makes each draw.
//!
//! A draw depends on (run key, site label, how many draws that site has made) and on nothing else,
//! so a new draw at one site shifts no other.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// The scheme's version, part of every result format.
pub const RNG_SCHEME: &str = "rng-1";

/// What all draws of one run are keyed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunKey(u64);

impl RunKey {
    /// Makes the key of run number `run` under a base seed.
    #[must_use]
    pub fn new(seed: u64, run: u64) -> Self {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        generator.set_stream(run);
        Self(generator.next_u64())
    }

    /// Draws 64 random bits for the `nth` question at a site.
    #[must_use]
    #[inline(always)]
    pub const fn draw(self, site: u64, nth: u32) -> u64 {
        mix64(self.0 ^ site.wrapping_add((nth as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)))
    }
}

/// Spreads the bits of a word (the finalizer of SplitMix64, Steele, Lea and Flood 2014).
#[inline(always)]
const fn mix64(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Makes a site's id from its label (FNV-1a, then spread), so that the order in which sites are
/// registered does not matter.
#[must_use]
pub const fn site_hash(label: &str) -> u64 {
    let bytes = label.as_bytes();
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut index = 0;
    while index < bytes.len() {
        hash = (hash ^ bytes[index] as u64).wrapping_mul(0x0000_0100_0000_01b3);
        index += 1;
    }
    mix64(hash)
}
