//! How large a scenario may be.

use fencepost_history::Duration;

/// The largest file, in bytes.
pub(super) const FILE: usize = 1 << 20;
/// The most clients.
pub(super) const CLIENTS: u32 = 1_000;
/// The most servers of the store.
pub(super) const NODES: u32 = 1_000;
/// The most servers that one lock is kept on: they all are asked at once.
pub(super) const INDEPENDENT: u32 = 9;
/// The most threads of all clients together.
pub(super) const THREADS: u64 = 10_000;
/// The most faults.
pub(super) const FAULTS: usize = 10_000;
/// The longest length of time, about eleven years: sums of several must not overflow.
pub(super) const LENGTH: Duration = Duration::from_secs(100_000 * 3600);
/// The most mistakes that are reported at once.
pub(super) const MISTAKES: usize = 100;
