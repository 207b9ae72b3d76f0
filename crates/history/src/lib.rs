//! What happened in a run, as plain data.
//!
//! The one vocabulary that simulator, checkers and reports share: small integer ids, virtual
//! time, and [`Event`]s in the order in which they happened. Checkers compare *positions* in that
//! order, never timestamps, but for the two ties that the verdicts name.
//!
//! This crate deliberately knows no simulator, no lock service and no file format.

mod access;
mod event;
mod hash;
mod ids;
mod moment;
mod names;
mod record;
mod time;

#[cfg(test)]
mod tests;

pub use access::{Access, AccessOutcome};
pub use event::{Event, How, Leg, What};
pub use hash::RollingHash;
pub use ids::{CallId, GrantId, JobId, LockId, ProcessId, ResourceId, ServerId, ThreadId, Token};
pub use moment::Moment;
pub use names::{LockRules, Names, ThreadName};
pub use record::{Detail, History};
pub use time::{Duration, Instant, LocalTime, WallTime};
