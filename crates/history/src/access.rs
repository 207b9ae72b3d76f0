//! Accesses to a protected resource.

use serde::{Deserialize, Serialize};

/// The two kinds of access to a protected resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// A read.
    Read,
    /// A write.
    Write,
}

/// What a protected resource did with an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AccessOutcome {
    /// It took effect.
    Accepted,
    /// The fence refused it.
    Refused,
    /// Its idempotency key was known, so it had no effect.
    Deduplicated,
}
