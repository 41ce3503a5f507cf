//! Signals: which end a run, and which ask how far it is.

use anyhow::{Context, Result};
use signal_hook::consts::{SIGINT, SIGTERM, SIGUSR1, SIGXFSZ};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A signal that comes so soon after another is the same one: a terminal sends it to a program and
/// to what started it, which passes it on. It must not cost what was measured.
const SAME: Duration = Duration::from_millis(500);

/// The signals that came.
pub struct Signals {
    caught: Arc<AtomicUsize>,
    asked: Arc<AtomicU64>,
}

impl Signals {
    /// From now on SIGINT and SIGTERM are noted, and a second one ends the program at once; each
    /// SIGUSR1 is counted.
    ///
    /// # Errors
    /// When a handler, or the thread that waits for signals, cannot be had.
    pub fn catch() -> Result<Signals> {
        // A limit on file sizes is met as an error of the write, not by ending the program.
        signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)))?;
        let mut incoming = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGUSR1])?;
        let signals = Signals { caught: Arc::default(), asked: Arc::default() };
        let (caught, asked) = (Arc::clone(&signals.caught), Arc::clone(&signals.asked));
        let wait = move || {
            let mut first = None;
            for signal in incoming.forever() {
                match (signal, first) {
                    (SIGUSR1, _) => {
                        asked.fetch_add(1, Ordering::Relaxed);
                    }
                    (signal, None) => {
                        caught.store(signal as usize, Ordering::Relaxed);
                        first = Some(Instant::now());
                    }
                    (signal, Some(at)) if at.elapsed() > SAME => {
                        signal_hook::low_level::exit(128 + signal);
                    }
                    _ => {}
                }
            }
        };
        let thread = std::thread::Builder::new().name("signals".into());
        thread.spawn(wait).context("cannot start the thread that waits for signals")?;
        Ok(signals)
    }

    /// The signal that came to end what is under way.
    pub fn caught(&self) -> Option<i32> {
        match self.caught.load(Ordering::Relaxed) {
            0 => None,
            signal => Some(signal as i32),
        }
    }

    /// How often it was asked what runs have measured so far.
    pub fn asked(&self) -> u64 {
        self.asked.load(Ordering::Relaxed)
    }
}
