//! An in-memory Redis as a pure state machine.
//!
//! An [`Engine`] is the state of one server: plain data that can be cloned, compared and hashed. It
//! reads no clock, sends nothing, and knows no simulator: whoever drives it says what time it is.
//! Typed commands ([`Command`], [`Engine::execute`]) are the hot path of a simulation.
//!
//! What a command does, and which error it gives, follows Redis 7.0.

mod command;
mod engine;
mod keyspace;
mod names;
mod object;
mod propagate;
mod reply;
mod text;
mod typed;
mod value;

#[cfg(test)]
mod tests;

pub use command::{Command, ExpireCondition, ExpireUnit, Expiry, SetCondition};
pub use engine::{Engine, Entry, Role};
pub use names::{KeyId, Names};
pub use reply::{Change, ErrorCode, ExpiringCommand, Outcome, Reply};
pub use value::{Value, parse_integer};
