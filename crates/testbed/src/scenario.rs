//! What a scenario file says, with every default filled in.
//!
//! A [`Scenario`] is plain data. [`Scenario::parse`] reads it and reports every mistake of a file
//! at once, each with its place; [`Scenario::to_toml`] writes it out whole, so that it reads back
//! the same. The keys of each section are declared once, beside its type; the reader, the
//! suggestions for misspelt keys, the writer and the schema walk the same lists.
//!
//! This module deliberately knows no simulator: it says what is asked for, not how it comes about.

mod anchor;
mod check;
#[expect(unreachable_pub, reason = "its tables are the file's form of the choice crate's type")]
mod distribution;
mod error;
mod expect;
mod fault;
mod fuzz;
mod hazard;
mod limits;
mod lock;
mod names;
mod network;
mod numbers;
mod read;
mod reader;
mod redlock;
mod schema;
mod script;
mod section;
mod set;
mod shape;
mod store;
mod units;
mod value;
mod walk;
mod workload;
mod write;

#[cfg(test)]
mod tests;

pub use anchor::{Anchor, MessageAnchor, Whose};
pub use error::{Code, Replacement, ScenarioError, Source};
pub use expect::{Expect, Range, Replay};
pub use fault::{
    ClockRate, ClockSlew, ClockStep, Crash, Delay, Evict, Failover, Fault, ForgetTokens, Lose,
    Outsider, Partition, Pause, ServerError, ServerErrors, ServerRestart, ServerStall, Split,
    Stall, StreamFault,
};
pub use fuzz::fuzz;
pub use hazard::{
    Direction, Hazard, RandomClockStep, RandomCrash, RandomDelay, RandomLoss, RandomOutage,
    RandomPartition, RandomPause, RandomStall, Trigger,
};
pub use lock::{
    DeadlineCheck, Effect, FencingToken, LeaseClock, Lock, OnLoss, OnTooFew, Purpose, Release,
    Renew, Strategy, TokenSource, WaitSent,
};
pub use names::Role;
pub use network::{Clock, Link, Network};
pub use numbers::{Hex, NodeCount, Odds, Rate, Shift};
pub use read::{Parsed, Place, Places};
pub use redlock::{Contact, Missing, Redlock};
pub use schema::json_schema;
pub use script::{Call, Granted, Script};
pub use store::{Discovery, Persistence, Redis, Replica, SavePoint, Store, Topology, Version};
pub use workload::{
    Accept, Behaviour, Client, Fencing, Occurrence, OnRefusal, Resource, WorkKind, Workload,
};

use section::section;

section! {
    /// A scenario: who does what with which lock, what goes wrong, and what should come of it.
    pub struct Scenario {
        /// What happens, as a headline.
        title: String = String::new(),
        /// What happens, as one would tell it.
        story: String = String::new(),
        /// The service that keeps the lock.
        store: Store = Store::default(),
        /// The protocol by which clients take, keep and give back the lock.
        lock: Lock,
        /// What clients do with the lock, and what the lock protects.
        workload: Workload = Workload::default(),
        /// How long messages take.
        network: Network = Network::default(),
        /// The machines whose clocks are wrong from the start.
        clock: Vec<Clock> = Vec::new(),
        /// What goes wrong in this run, and when.
        fault: Vec<Fault> = Vec::new(),
        /// What may go wrong at random; each run draws anew.
        hazard?: Hazard,
        /// What should come of a run; this makes the scenario a test.
        expect?: Expect,
        /// What a search recorded of the run that this file repeats.
        replay?: Replay,
    }
}
