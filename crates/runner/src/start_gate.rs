//! Where a run waits for others that are to start with it.

use std::sync::Arc;
use std::time::{Duration, Instant};

/// Sleeping ends late by up to this; the rest is waited for without sleeping.
const SLEEP_ERROR: Duration = Duration::from_micros(300);

/// Makes a run wait for others. Both functions are called by the thread that starts the workers.
pub trait StartGate: Send + Sync {
    /// The files are laid out. Returns when the workers may be set up.
    fn laid_out(&self);

    /// Workers of a phase (its number, from 0) are set up. Returns the moment at which to start; `None`: at
    /// once.
    fn set_up(&self, phase: u32) -> Option<Instant>;
}

/// Others that make a run at the same time as parts of one measurement.
#[derive(Clone, Default)]
pub struct Together {
    /// Where the run waits for them.
    pub gate: Option<Arc<dyn StartGate>>,
    /// Their processes on this machine: their I/O is not that of neighbours.
    pub processes: Vec<u32>,
}

/// Waits until a moment, to a few microseconds.
pub(crate) fn wait_until(at: Instant) {
    if let Some(rest) = at.checked_duration_since(Instant::now() + SLEEP_ERROR) {
        std::thread::sleep(rest);
    }
    while Instant::now() < at {
        std::hint::spin_loop();
    }
}
