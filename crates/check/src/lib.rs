//! Checkers: events in, findings out.
//!
//! [`Checkers`] judges a run while it happens. It is fed the events that are not detail, in order,
//! each with its index in that order, and keeps one table of facts that all rules read; every kind
//! of finding has its rule in a file of its own below `checkers`. [`naive`] judges a whole recorded
//! run by the definitions, slowly; the two agree, which a property test asserts.
//!
//! The checkers compare positions in the order of events, never timestamps, with two exceptions at
//! ties: a double-holder needs an overlap of positive length, and double-run and late-write count
//! what happens at the very instant of the successor's grant.
//!
//! This crate deliberately knows no simulator, no strategy and no report. It never compares the
//! values of keys, which may coincide, but the grants that made them.

mod checkers;
mod dispatch;
mod facts;
mod finding;
mod kind;
pub mod naive;
mod order;
mod rules;
mod takeover;
mod tally;

#[cfg(test)]
mod tests;

pub use checkers::{Checker, Entry, LIST, entry};
pub use dispatch::Checkers;
pub use finding::{Finding, Findings};
pub use kind::{Kind, KindSet};
pub use rules::{Purpose, Rules};
pub use tally::{Spans, Tally};
