//! A host's clocks.

use fencepost_history::{Duration, Instant, LocalTime, WallTime};

use crate::HostClock;

/// The wall clock's reading at the start of a run: 2024-01-01T00:00:00Z.
pub(crate) const EPOCH: u64 = 1_704_067_200_000_000_000;

/// A host's monotonic and wall clock at present.
///
/// The monotonic clock runs at a rate; the wall clock adds steps to it. A change of rate or a step
/// keeps all earlier readings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    /// Where the present rate began, in true time.
    since: u64,
    /// The monotonic reading there.
    base: u64,
    /// How much faster than true time, in parts per billion.
    rate: i64,
    /// Wall reading less monotonic reading.
    offset: i64,
    /// At which rate corrections are made, in parts per billion.
    slew: u32,
}

/// The rate at which ntpd corrects a clock: 500 ppm (ntpd(8)).
const SLEW: u32 = 500_000;

impl Clock {
    pub(crate) const fn new(host: HostClock) -> Self {
        let offset = host.offset.wrapping_add(EPOCH.cast_signed());
        let slew = if host.slew == 0 { SLEW } else { host.slew };
        Self { since: 0, base: 0, rate: host.rate, offset, slew }
    }

    pub(crate) const fn rate(&self) -> i64 {
        self.rate
    }

    /// Returns the rate of a clock that is being corrected, and for how long it is.
    pub(crate) fn slewed(&self, by: i64) -> (i64, Duration) {
        let slew = i64::from(self.slew);
        let rate = self.rate + if by < 0 { -slew } else { slew };
        let nanos = u128::from(by.unsigned_abs()) * 1_000_000_000 / u128::from(self.slew);
        (rate, Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)))
    }

    #[inline(always)]
    const fn monotonic(&self, now: Instant) -> u64 {
        let gone = now.as_nanos() - self.since;
        if self.rate == 0 { self.base + gone } else { self.base + self.scaled(gone) }
    }

    #[expect(clippy::cast_possible_truncation, reason = "a clock's error is far below its reading")]
    const fn scaled(&self, gone: u64) -> u64 {
        let ahead = (gone as i128 * self.rate as i128).div_euclid(1_000_000_000);
        gone.wrapping_add_signed(ahead as i64)
    }

    #[inline(always)]
    pub(crate) const fn local(&self, now: Instant) -> LocalTime {
        LocalTime::from_nanos(self.monotonic(now))
    }

    #[inline(always)]
    pub(crate) const fn wall(&self, now: Instant) -> WallTime {
        WallTime::from_nanos(self.monotonic(now).saturating_add_signed(self.offset))
    }

    pub(crate) const fn step(&mut self, by: i64) {
        self.offset = self.offset.saturating_add(by);
    }

    /// Changes the rate from now on; both readings go on from where they are.
    pub(crate) const fn set_rate(&mut self, now: Instant, rate: i64) {
        self.base = self.monotonic(now);
        self.since = now.as_nanos();
        self.rate = rate;
    }

    /// Returns when the wall clock will show a reading, if nothing steps it before.
    pub(crate) fn instant_of(&self, wall: WallTime) -> Instant {
        if wall == WallTime::NEVER {
            return Instant::NEVER;
        }
        if self.rate == 0 {
            let reading = wall.as_nanos().saturating_add_signed(self.offset.saturating_neg());
            return Instant::from_nanos((self.since + reading).saturating_sub(self.base));
        }
        let target = i128::from(wall.as_nanos()) - i128::from(self.offset) - i128::from(self.base);
        // Rounded up: a nanosecond before, the clock does not show the reading.
        let rate = (1_000_000_000 + i128::from(self.rate)).max(1);
        let gone = -(-target * 1_000_000_000).div_euclid(rate);
        let at = (i128::from(self.since) + gone).max(0);
        Instant::from_nanos(u64::try_from(at).unwrap_or(u64::MAX))
    }

    /// Returns how long true time runs until the monotonic clock has run `length`.
    #[inline(always)]
    pub(crate) fn true_length(&self, length: u64) -> u64 {
        if self.rate == 0 {
            return length;
        }
        let rate = u128::from(1_000_000_000_u64.saturating_add_signed(self.rate).max(1));
        let scaled = (u128::from(length) * 1_000_000_000).div_ceil(rate);
        u64::try_from(scaled).unwrap_or(u64::MAX)
    }
}
