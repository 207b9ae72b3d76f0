//! The links between a process and a server, one way each.

use fencepost_choice::{Distribution, Sampler, SiteId, site_hash};
use fencepost_history::Instant;

/// One direction of a link.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    /// Messages sent so far.
    pub(crate) sent: u32,
    /// The message at which the next planned deviation takes place; `u32::MAX` if none does.
    pub(crate) next_fault: u32,
    /// Until when nothing gets through.
    pub(crate) cut_until: Instant,
    /// The latency of runs that draw none.
    pub(crate) fixed: u64,
    /// The odds of a loss in seeded runs, of 2^64.
    pub(crate) loss_odds: u64,
    /// What one draw is keyed by that decides latency and loss.
    pub(crate) hash: u64,
    pub(crate) latency: Sampler,
    pub(crate) sites: LinkSites,
}

/// The sites that a seed answers; a plan answers the link's other ones.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkSites {
    pub(crate) latency: SiteId,
    pub(crate) loss: SiteId,
}

impl Link {
    pub(crate) fn new(
        latency: &Distribution,
        sampler: Sampler,
        loss_odds: u64,
        scope: &str,
        sites: LinkSites,
    ) -> Self {
        Self {
            sent: 0,
            next_fault: u32::MAX,
            cut_until: Instant::ZERO,
            fixed: latency.nominal().as_nanos(),
            loss_odds,
            hash: site_hash(&format!("net.latency@{scope}")),
            latency: sampler,
            sites,
        }
    }

    /// Returns whether a message is lost whose latency the same draw decides: its upper bits are
    /// the latency's, its lower ones the loss's.
    #[inline(always)]
    pub(crate) const fn loses(&self, random: u64) -> bool {
        random << 32 < self.loss_odds
    }

    pub(crate) const fn reset(&mut self) {
        self.sent = 0;
        self.next_fault = u32::MAX;
        self.cut_until = Instant::ZERO;
    }
}
