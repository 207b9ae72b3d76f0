//! What a strategy is.

use fencepost_services::Client;

use crate::{AcquireError, Attempt, Grant, Renewal};

/// A way to take, keep and give back a lock.
///
/// Each operation of the client that is awaited passes a step, so a pause or a crash fits between
/// any two of them.
#[expect(async_fn_in_trait, reason = "a run is single-threaded, so futures need not be Send")]
pub trait LockStrategy: 'static {
    /// Asks for the lock once.
    ///
    /// # Errors
    ///
    /// [`AcquireError::Refused`] if somebody else has it, [`AcquireError::Unknown`] if nobody knows
    /// whether the attempt took effect.
    async fn acquire(&self, client: &Client, attempt: Attempt) -> Result<Grant, AcquireError>;

    /// Gives the lock back; the caller no longer believes that it holds it.
    async fn release(&self, client: &Client, grant: &Grant);

    /// Makes the lock's life longer; a strategy that cannot do so says that the lock is lost.
    async fn renew(&self, _client: &Client, _grant: &Grant) -> Renewal {
        Renewal::Lost
    }

    /// Fetches a fencing token without a new grant, as clients do that take a refusal for an
    /// error to be retried; a strategy without tokens has none to give.
    async fn fresh_token(&self, _client: &Client, _grant: &Grant) -> Option<Grant> {
        None
    }
}
