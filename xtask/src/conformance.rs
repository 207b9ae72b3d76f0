//! The conformance corpus of `crates/redis`, read and judged by the code of its own test.

#[expect(clippy::unwrap_used, reason = "a corpus file that cannot be read ends the chore")]
#[path = "../../crates/redis/tests/it/corpus.rs"]
pub(crate) mod corpus;
#[expect(clippy::unwrap_used, reason = "a reply that is no RESP ends the chore")]
#[path = "../../crates/redis/tests/it/replies.rs"]
pub(crate) mod replies;
#[path = "../../crates/redis/tests/it/run.rs"]
pub(crate) mod run;
