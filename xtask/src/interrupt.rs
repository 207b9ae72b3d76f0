//! Ctrl-C asks a chore that started servers to end them before it ends itself.

use anyhow::{Result, ensure};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether somebody asked to stop.
#[derive(Clone)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Listens from now on; a second signal ends the program at once.
    pub(crate) fn listen() -> Result<Self> {
        let asked = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            flag::register_conditional_default(signal, Arc::clone(&asked))?;
            flag::register(signal, Arc::clone(&asked))?;
        }
        Ok(Self(asked))
    }

    /// Fails if somebody asked to stop, so that everything started is ended on the way out.
    pub(crate) fn check(&self) -> Result<()> {
        ensure!(!self.0.load(Ordering::Relaxed), "stopped by a signal");
        Ok(())
    }
}
