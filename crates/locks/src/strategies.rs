//! The list of strategies.

mod redlock;
mod script;
mod set_nx_px;
mod setnx;
mod setnx_expire;

pub use redlock::{Contact, Missing, Quorum, Redlock};
pub use script::{Calling, Granted, UserScript};
pub use set_nx_px::SetNxPx;
pub use setnx::SetNx;
pub use setnx_expire::SetNxExpire;

/// What people are told of a strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name in scenario files.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub summary: &'static str,
    /// Where it is described or used.
    pub source: &'static str,
}

/// All strategies, in the order in which people met them.
pub const LIST: &[Entry] =
    &[setnx::ENTRY, setnx_expire::ENTRY, set_nx_px::ENTRY, redlock::ENTRY, script::ENTRY];
