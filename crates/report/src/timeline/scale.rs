//! The time scale "events": what happens in between is compressed.
//!
//! A lock mixes messages of milliseconds with leases of seconds, so a true scale would hide the
//! messages. Neighbouring instants lie `10 + 22 log10(1 + gap/1ms)` pixels apart, scaled to fit.

use std::collections::BTreeSet;

use fencepost_history::{Duration, Instant};

use crate::canvas::{Px, px};

/// Instants closer than this share a place.
const TOGETHER: Duration = Duration::from_micros(50);

/// Something in a lane that needs room to both sides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Need {
    pub(super) lane: usize,
    pub(super) at: Instant,
    pub(super) half: Px,
}

/// The stretch between two neighbouring places.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gap {
    pub(super) length: Duration,
    pub(super) from: Px,
    pub(super) to: Px,
}

/// Where each instant lies.
#[derive(Clone, Debug)]
pub(super) struct Scale {
    places: Vec<(Instant, Px)>,
}

impl Scale {
    /// Places the instants over about the length that is asked for; more, where they need it.
    pub(super) fn new(times: &BTreeSet<Instant>, needs: &[Need], asked: Px) -> Self {
        let mut target = asked;
        let mut scale = Self::scaled(times, target);
        for _ in 0..3 {
            scale.make_room(needs);
            let over = scale.length() - asked;
            if over <= 0 {
                break;
            }
            target = (target - over).max(asked / 2);
            scale = Self::scaled(times, target);
        }
        scale.make_room(needs);
        scale
    }

    fn scaled(times: &BTreeSet<Instant>, target: Px) -> Self {
        let times: Vec<Instant> = times.iter().copied().collect();
        let natural: Vec<i64> =
            times.windows(2).map(|pair| i64::from(natural(pair[1].since(pair[0])))).collect();
        let total: i64 = natural.iter().sum::<i64>().max(1);
        // Below six tenths of their natural length, gaps are hard to see.
        let target = i64::from(target).max(total * 6 / 10);
        let mut sum = 0;
        let mut places = Vec::new();
        for (index, &at) in times.iter().enumerate() {
            if index > 0 {
                sum += natural[index - 1];
            }
            places.push((at, Px::try_from(sum * target / total).unwrap_or(Px::MAX / 4)));
        }
        Self { places }
    }

    /// Moves everything from an instant on, where neighbours in a lane would touch.
    fn make_room(&mut self, needs: &[Need]) {
        let mut needs = needs.to_vec();
        needs.sort_by_key(|need| (need.at, need.lane));
        for index in 0..needs.len() {
            let need = needs[index];
            let before = needs[..index].iter().rev().find(|other| other.lane == need.lane);
            let Some(before) = before else { continue };
            let apart = self.at(need.at) - self.at(before.at);
            let missing = before.half + need.half - apart;
            if missing > 0 && apart > 0 {
                for (at, place) in &mut self.places {
                    if *at >= need.at {
                        *place += missing;
                    }
                }
            }
        }
    }

    /// Returns the place of an instant; in between, places are interpolated.
    pub(super) fn at(&self, at: Instant) -> Px {
        let after = self.places.partition_point(|(known, _)| *known < at);
        match (after.checked_sub(1).map(|index| self.places[index]), self.places.get(after)) {
            (_, Some(&(known, place))) if known == at => place,
            (Some((t0, p0)), Some(&(t1, p1))) => {
                let whole = u128::from(t1.since(t0).as_nanos()).max(1);
                let part = u128::from(at.since(t0).as_nanos());
                let way = u128::try_from(p1 - p0).unwrap_or(0) * part / whole;
                p0 + Px::try_from(way).unwrap_or(0)
            }
            (Some((_, place)), None) | (None, Some(&(_, place))) => place,
            (None, None) => 0,
        }
    }

    /// Returns the whole length.
    pub(super) fn length(&self) -> Px {
        self.places.last().map_or(0, |(_, place)| *place)
    }

    /// Returns the instants with places.
    pub(super) fn instants(&self) -> impl Iterator<Item = (Instant, Px)> + '_ {
        self.places.iter().copied()
    }

    /// Returns the stretches between neighbours.
    pub(super) fn gaps(&self) -> Vec<Gap> {
        let gap = |pair: &[(Instant, Px)]| Gap {
            length: pair[1].0.since(pair[0].0),
            from: pair[0].1,
            to: pair[1].1,
        };
        self.places.windows(2).map(gap).collect()
    }
}

/// Returns the natural length of a gap.
#[expect(
    clippy::float_arithmetic,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "a picture needs a logarithm; it is the pure-Rust one and rounded, so equal everywhere"
)]
fn natural(gap: Duration) -> Px {
    if gap < TOGETHER {
        return 0;
    }
    let millis = gap.as_nanos() as f64 / 1e6;
    px(10) + libm::round(220.0 * libm::log10(1.0 + millis)) as Px
}
