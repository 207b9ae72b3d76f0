//! Labelled, bounded choices, and everything that decides them.
//!
//! All nondeterminism of a run goes through [`Choices`]: a *site* is a labelled place where the
//! outside world decides ([`Choices::pick`] from a finite menu, [`Choices::draw`] a magnitude), and
//! a [`Source`] is who answers: nobody ([`Source::Benign`]), a seed, recorded deviations, or dense
//! bytes. The code that asks is the same for all of them, so choosing and replaying cannot drift
//! apart. A run is its scenario plus sparse named [`Deviation`]s from the benign answers.
//!
//! This crate deliberately does not know what the sites mean, nor how likely a fault should be.

mod choices;
mod deviation;
mod distribution;
mod mix;
mod sampler;

#[cfg(test)]
mod tests;

pub use choices::{Choices, PlanError, Planned, SiteId, Source};
pub use deviation::{Anchor, Deviation, ParseDeviationError, Value};
pub use distribution::Distribution;
pub use mix::{RNG_SCHEME, RunKey, site_hash};
pub use sampler::Sampler;
