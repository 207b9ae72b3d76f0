//! An in-memory Redis as a pure state machine.
//!
//! An [`Engine`] is the state of one server: plain data that can be cloned, compared and hashed. It
//! reads no clock, sends nothing, and knows no simulator: whoever drives it says what time it is.
//! Typed commands ([`Command`], [`Engine::execute`]) are the hot path of a simulation. Requests in
//! bytes, several connections, and everything that waits or is pushed go through
//! [`Engine::step`]. Both work on the same keys.
//!
//! What a command does, and which error it gives, follows Redis 7.0.15; [`Version`] chooses another
//! server where they differ.

mod command;
mod commands;
mod deadlines;
mod effects;
mod engine;
mod frame;
pub mod fuzz;
mod glob;
mod keyspace;
mod names;
mod numbers;
mod object;
pub mod persistence;
mod propagate;
pub mod replication;
mod reply;
mod request;
mod script;
mod server;
mod text;
mod typed;
mod value;
mod version;

#[cfg(test)]
mod tests;

pub use command::{Command, ExpireCondition, ExpireUnit, Expiry, SetCondition};
pub use effects::{
    Clock, ConnectionId, Effect, Effects, FromMaster, FromReplica, Input, Operation, StandingClock,
};
pub use engine::{Engine, Entry, Role};
pub use frame::{Frame, Protocol};
pub use names::{KeyId, Names};
pub use persistence::{Dataset, Disk, Flush, Fsync, Loaded, Persistence, Redo, SavePoint, Saving};
pub use replication::{
    Cron, FailoverError, LinkId, MasterLink, Peer, Position, ReplicaLink, Replication,
    ReplicationId, ReplicationSettings, StreamContent, StreamItem, Streamed, SyncAnswer,
    SyncCounts, SyncRequest,
};
pub use reply::{Change, ErrorCode, ExpiringCommand, Outcome, Reply};
pub use request::{ProtocolError, RequestParser, split_inline};
pub use script::ScriptLimits;
#[cfg(feature = "lua")]
pub use script::{Interpreter, Script, ScriptChange, ScriptOutcome, digest};
pub use server::{Config, ConfigError, Health};
pub use value::{Value, parse_integer};
pub use version::Version;
