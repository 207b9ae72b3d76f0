//! Simulated servers: Redis nodes, their replication and sentinels, and the protected resource.
//!
//! [`Servers`] is the one plain-data value that answers all requests of a simulation. It keeps what
//! the engines must not know: which grant's command made a key, so that checkers never compare
//! values, which may coincide.
//!
//! The typed commands of the Redis engine are re-exported, so that a strategy needs this crate
//! alone. This crate deliberately knows no strategy, no scenario file and no verdict.

mod node;
mod operate;
mod operation;
mod replication;
mod resource;
mod script;
mod sentinel;
mod servers;
mod storage;

#[cfg(test)]
mod tests;

#[cfg(feature = "lua")]
pub use fencepost_redis::Interpreter;
pub use fencepost_redis::{
    Command, ErrorCode, ExpireCondition, ExpireUnit, Expiry, KeyId, Names as KeyNames,
    Reply as RedisReply, SetCondition, Value, Version,
};
pub use node::{LockKey, NodeSetup, RedisNode};
pub use operation::Operation;
pub use replication::{Message, ReplicaSetup, ReplicationSetup, Wait};
pub use resource::{Accept, AccessRequest, Fencing, Path, Resource, ResourceSetup};
pub use script::{ScriptCall, ScriptReply, ScriptRequest, Verdict as ScriptVerdict};
pub use sentinel::SentinelSetup;
pub use servers::{RedisRequest, Reply, Request, Servers, ServersSetup};
pub use storage::{Policy, StorageSetup};

/// What strategies and workloads hold: a thread's access to a simulation of these servers.
pub type Client = fencepost_sim::Client<Servers>;
