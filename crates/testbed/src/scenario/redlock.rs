//! `[lock.redlock]`: how many servers decide, and where the libraries of Redlock differ.

use fencepost_history::Duration;

use super::section::{section, words};

section! {
    /// How many servers decide, and where the libraries of Redlock differ.
    pub struct Redlock {
        /// How many servers must grant the lock. Defaults to a majority: half of them, and one
        /// more.
        quorum: Option<u32> = None,
        /// In which order a client asks the servers.
        contact: Contact = Contact::Parallel,
        /// What a client takes off the time that it believes to have, for clocks that run at
        /// different rates. Defaults to a hundredth of the TTL and 2 ms.
        drift: Option<Duration> = None,
        /// How much of the lock's life must be left for a client to take it, the drift not counted;
        /// `"none"` if it does not look at its clock.
        min_validity: Option<Duration> = Some(Duration::ZERO),
        /// Whether a client takes its key away everywhere when too few servers granted the lock.
        undo_failed: bool = true,
        /// Whether a client goes on as soon as enough servers have answered; the other requests
        /// stay under way.
        return_early: bool = false,
        /// What a renewal does at a server that no longer has the key.
        renew_missing: Missing = Missing::Leave,
    }
}

words! {
    /// In which order a client asks the servers.
    pub enum Contact {
        /// All at once.
        #[default]
        Parallel = "parallel",
        /// Each when the one before it has answered or timed out.
        Sequential = "sequential",
    }
}

words! {
    /// What a renewal does at a server that no longer has the key.
    pub enum Missing {
        /// Nothing: the server does not count.
        #[default]
        Leave = "leave",
        /// It sets the key there again, once enough other servers still had it.
        Refill = "refill",
        /// It sets the key there again, and counts the server as renewed.
        Create = "create",
    }
}
