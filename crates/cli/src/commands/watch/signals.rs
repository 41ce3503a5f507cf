//! Signals that end `fathom watch`, and those that stop and continue it while it owns the terminal.

use crate::exit;
use anyhow::{Context, Result};
use runner::Pauses;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The signals caught so far.
pub struct WatchSignals {
    caught: Arc<AtomicUsize>,
    /// Only on a screen.
    pauses: Option<Pauses>,
}

impl WatchSignals {
    /// Catches SIGINT, SIGTERM and SIGHUP. Without a screen, a second signal of the same kind ends the
    /// program at once, because it may block on a pipe that nobody reads. With a screen, SIGTSTP and
    /// SIGCONT are caught too.
    pub fn catch(on_screen: bool) -> Result<WatchSignals> {
        let pauses = if on_screen { Some(Pauses::catch()?) } else { None };
        let signals = WatchSignals { caught: Arc::default(), pauses };
        signals.register(on_screen).context("cannot wait for signals")?;
        Ok(signals)
    }

    fn register(&self, on_screen: bool) -> io::Result<()> {
        // With a handler, a write beyond the file size limit returns an error instead of ending the
        // program.
        flag::register(SIGXFSZ, Arc::default())?;
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            if signal == SIGHUP && runner::is_ignored(signal) {
                continue;
            }
            if !on_screen {
                let is_second: Arc<AtomicBool> = Arc::default();
                let code = i32::from(exit::interrupted(signal, false));
                flag::register_conditional_shutdown(signal, code, Arc::clone(&is_second))?;
                flag::register(signal, is_second)?;
            }
            flag::register_usize(signal, Arc::clone(&self.caught), signal as usize)?;
        }
        Ok(())
    }

    /// Whether a signal asked to end.
    pub fn must_end(&self) -> bool {
        self.caught.load(Ordering::Relaxed) != 0
    }

    /// 128 + the signal that was caught, or 0.
    pub fn exit_code(&self) -> u8 {
        match self.caught.load(Ordering::Relaxed) {
            0 => 0,
            signal => exit::interrupted(signal as i32, false),
        }
    }

    /// Whether SIGTSTP was caught since the last call.
    pub fn is_to_stop(&self) -> bool {
        self.pauses.as_ref().is_some_and(Pauses::is_to_stop)
    }

    /// Whether SIGCONT was caught since the last call.
    pub fn was_continued(&self) -> bool {
        self.pauses.as_ref().is_some_and(Pauses::was_continued)
    }

    /// Stops this process; returns when it is continued.
    pub fn stop(&self) -> io::Result<()> {
        self.pauses.as_ref().map_or(Ok(()), Pauses::stop)
    }
}
