//! The lock strategies.
//!
//! A strategy says how a client takes, keeps and gives back a lock, as three `async fn`s over a
//! [`Client`]. It reads like the library or the paper that it models and says which one that is. It
//! keeps no state outside its futures: what must survive a crash lives in a server.
//!
//! What a client *does* while it holds the lock, and how often it asks, is the workload's business.

mod grant;
mod key;
mod strategies;
mod strategy;

#[cfg(test)]
mod tests;

pub use grant::{AcquireError, Attempt, Grant, Identity, Renewal};
pub use key::{Copying, KeyLock, LeaseClock, Release, Route, TokenSource, ValueSource, WaitSent};
pub use strategies::{
    Calling, Contact, Entry, Granted, LIST, Missing, Quorum, Redlock, SetNx, SetNxExpire, SetNxPx,
    UserScript,
};
pub use strategy::LockStrategy;

pub use fencepost_services::{Client, Wait};
