//! Ctrl-C: the first asks to stop and to say what is known, the second ends the process at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::{flag, low_level};

/// Whether somebody asked to stop.
#[derive(Clone, Debug)]
pub(crate) struct Interrupt {
    asked: Arc<AtomicBool>,
    by: Arc<AtomicUsize>,
}

impl Interrupt {
    /// Listens from now on.
    pub(crate) fn listen() -> io::Result<Self> {
        let interrupt =
            Self { asked: Arc::new(AtomicBool::new(false)), by: Arc::new(AtomicUsize::new(0)) };
        for signal in [SIGINT, SIGTERM] {
            // In this order the first signal finds the flag down and raises it; the second finds
            // it raised and does what it does to programs that do not listen.
            flag::register_conditional_default(signal, Arc::clone(&interrupt.asked))?;
            let number = usize::try_from(signal).unwrap_or_default();
            flag::register_usize(signal, Arc::clone(&interrupt.by), number)?;
            flag::register(signal, Arc::clone(&interrupt.asked))?;
        }
        Ok(interrupt)
    }

    /// Returns whether somebody asked to stop.
    pub(crate) fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// Ends the process by the signal that asked, so that a shell sees it (130 or 143).
    ///
    /// Returns only where the system has no such thing.
    pub(crate) fn end(&self) -> u8 {
        let signal = i32::try_from(self.by.load(Ordering::Relaxed)).unwrap_or(SIGINT);
        let _ = low_level::emulate_default_handler(signal);
        u8::try_from(128 + signal).unwrap_or(130)
    }
}
