//! Virtual time, processes, clocks, messages and faults.
//!
//! [`Sim`] is a single-threaded discrete-event simulator. Client code is `async`: it holds a
//! [`Client`] and awaits its operations, each of which first passes a numbered *step*, so that a
//! pause fits between any two effects. Servers are plain data behind the [`Services`] trait. All
//! that the outside world decides goes through [`fencepost_choice`]; all that happens comes out as
//! [`fencepost_history`] events, hashed as they come.
//!
//! This crate deliberately knows nothing of locks, stores, scenario files or verdicts.

mod build;
mod call;
mod client;
mod clock;
mod faults;
mod gather;
mod hazard;
mod join;
mod life;
mod link;
mod ops;
mod process;
mod queue;
mod run;
mod send;
mod server;
mod setup;
mod task;
mod ties;
mod timers;
mod turn;
mod world;

#[cfg(test)]
mod tests;

use client::Held;

/// What [`Sim::begin`] is told: who answers, and where a run deviates.
pub use fencepost_choice::{Deviation, Source};

pub use call::{Call, Tale, TimedOut, Untold, WithinCall};
pub use client::{Client, Sleep};
pub use faults::{Fault, FaultKind};
pub use gather::{Gather, Round, Votes};
pub use hazard::{Hazard, HazardAt};
pub use join::{join, race};
pub use run::{Observer, Sim, Stop};
pub use server::{CallRef, ServerContext, Services};
pub use setup::{HostClock, LinkModel, ProcessSetup, ServerSetup, Setup};
pub use task::{Slot, Task};
