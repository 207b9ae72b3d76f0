//! What outsiders and operators do to servers.

use fencepost_redis::Command;

/// Something done to a server by nobody's client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// An outsider's command at a Redis node.
    Command(Command),
    /// A resource forgets the highest token it has seen.
    ForgetTokens,
}
