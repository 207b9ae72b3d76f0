//! Tests of the Redis nodes and the protected resource, each in a small simulation.

#![expect(clippy::wildcard_enum_match_arm, reason = "a test picks the events it looks at")]

mod lab;
mod node;
mod operation;
mod replicas;
mod replication;
mod resource;
mod sentinel;
mod storage;
