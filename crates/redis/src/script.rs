//! Scripts: what they may use up, and the interpreter they run in.
//!
//! With the cargo feature `lua` scripts are run by Lua 5.1 as the server embeds it. Without it
//! there is no EVAL, and only the plain data is left.

#![cfg_attr(
    feature = "lua",
    expect(
        clippy::wildcard_enum_match_arm,
        reason = "values and errors of Lua are of many kinds, and most places mean a few of them"
    )
)]

#[cfg(feature = "lua")]
mod bits;
#[cfg(feature = "lua")]
mod cjson;
#[cfg(feature = "lua")]
mod convert;
#[cfg(feature = "lua")]
mod door;
#[cfg(feature = "lua")]
mod environment;
#[cfg(feature = "lua")]
mod fault;
#[cfg(feature = "lua")]
mod host;
#[cfg(feature = "lua")]
mod interpreter;
#[cfg(feature = "lua")]
mod json;
#[cfg(feature = "lua")]
mod library;
#[cfg(feature = "lua")]
mod meter;
#[cfg(feature = "lua")]
mod msgpack;
#[cfg(feature = "lua")]
mod pattern;
#[cfg(feature = "lua")]
mod random;
#[cfg(feature = "lua")]
mod strings;
#[cfg(feature = "lua")]
mod structs;

#[cfg(all(test, feature = "lua"))]
mod tests;

#[cfg(feature = "lua")]
pub use door::{Script, ScriptChange, ScriptOutcome};
#[cfg(feature = "lua")]
pub(crate) use host::Tracked;
#[cfg(feature = "lua")]
pub(crate) use interpreter::Call;
#[cfg(feature = "lua")]
pub use interpreter::{Interpreter, digest};

/// What a script may use up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScriptLimits {
    /// How many instructions it may run.
    pub instructions: u64,
    /// How many bytes it may allocate.
    pub memory: usize,
    /// Whether a script that runs too long is an error, not a server that is busy for ever.
    pub is_error: bool,
}

impl ScriptLimits {
    /// A server's: a script that has run 20 million instructions is taken to never end.
    pub const SERVER: Self = Self { instructions: 20_000_000, memory: 16 << 20, is_error: false };
    /// A simulation's: 1 million instructions and 16 MiB.
    pub const SCENARIO: Self = Self { instructions: 1_000_000, memory: 16 << 20, is_error: true };
}

/// The state of `math.random` at the start of a server (`src/rand.c`): 48 bits.
pub(crate) const SEED: u64 = 0x1234_ABCD_330E;
