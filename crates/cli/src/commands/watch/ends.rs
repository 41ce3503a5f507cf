//! Signals: which end the watching, and which give the terminal to another for a while.

use crate::exit;
use anyhow::{Context, Result};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGTSTP, SIGXFSZ};
use signal_hook::{flag, low_level};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The signals that came.
pub struct Ends {
    caught: Arc<AtomicUsize>,
    stopped: Arc<AtomicBool>,
    continued: Arc<AtomicBool>,
}

impl Ends {
    /// From now on SIGINT, SIGTERM and SIGHUP are noted. Without a picture a second one of a kind
    /// ends the program at once: it may hang in a pipe that nobody reads. With one, those that stop
    /// and continue the program are noted too.
    ///
    /// # Errors
    /// When a handler cannot be had.
    pub fn catch(on_screen: bool) -> Result<Ends> {
        let ends =
            Ends { caught: Arc::default(), stopped: Arc::default(), continued: Arc::default() };
        ends.register(on_screen).context("cannot wait for signals")?;
        Ok(ends)
    }

    fn register(&self, on_screen: bool) -> io::Result<()> {
        // A limit on file sizes is met as an error of the write, not by ending the program.
        flag::register(SIGXFSZ, Arc::default())?;
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            if signal == SIGHUP && runner::is_ignored(signal) {
                continue;
            }
            if !on_screen {
                let before: Arc<AtomicBool> = Arc::default();
                let code = i32::from(exit::interrupted(signal, false));
                flag::register_conditional_shutdown(signal, code, Arc::clone(&before))?;
                flag::register(signal, before)?;
            }
            flag::register_usize(signal, Arc::clone(&self.caught), signal as usize)?;
        }
        if on_screen {
            flag::register(SIGTSTP, Arc::clone(&self.stopped))?;
            flag::register(SIGCONT, Arc::clone(&self.continued))?;
        }
        Ok(())
    }

    /// Whether a signal came that ends it.
    pub fn came(&self) -> bool {
        self.caught.load(Ordering::Relaxed) != 0
    }

    /// 0, or that of the signal that came.
    pub fn exit_code(&self) -> u8 {
        match self.caught.load(Ordering::Relaxed) {
            0 => 0,
            signal => exit::interrupted(signal as i32, false),
        }
    }

    /// Whether it was asked to stop for a while since this was last looked at.
    pub fn is_to_stop(&self) -> bool {
        self.stopped.swap(false, Ordering::Relaxed)
    }

    /// Whether it was continued since this was last looked at.
    pub fn was_continued(&self) -> bool {
        self.continued.swap(false, Ordering::Relaxed)
    }

    /// Stops this process, and returns when it is continued.
    ///
    /// # Errors
    /// Those of sending the signal.
    pub fn stop(&self) -> io::Result<()> {
        low_level::emulate_default_handler(SIGTSTP)?;
        self.was_continued();
        Ok(())
    }
}
