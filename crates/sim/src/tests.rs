//! Tests of the simulator, on servers of their own that echo and count.

#![expect(clippy::wildcard_enum_match_arm, reason = "a test picks the events it looks at")]

mod clocks;
mod gather;
mod lab;
mod messages;
mod pauses;
mod replay;
mod servers;
mod tasks;
mod ties;
