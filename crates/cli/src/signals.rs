//! Signals: which end a run, and which ask how far it is.

use crate::several;
use anyhow::{Context, Result};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGTSTP, SIGUSR1, SIGXFSZ};
use signal_hook::iterator::Handle;
use signal_hook::{flag, low_level};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// A signal that comes so soon after another is the same one: a terminal sends it to a program and
/// to what started it, which passes it on. It must not cost what was measured.
const SAME: Duration = Duration::from_millis(500);

/// The signals that came.
pub struct Signals {
    caught: Arc<AtomicUsize>,
    asked: Arc<AtomicU64>,
    incoming: Handle,
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
        let incoming_too = incoming.handle();
        let signals =
            Signals { caught: Arc::default(), asked: Arc::default(), incoming: incoming_too };
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
                        live::Terminal::put_back();
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

    /// From now on SIGHUP is noted as well, unless somebody (nohup) wants it ignored: the terminal
    /// that was taken is to be given back before the end.
    ///
    /// # Errors
    /// When a handler cannot be had.
    pub fn heed_hang_up(&self) -> Result<()> {
        match several::is_ignored(SIGHUP) {
            true => Ok(()),
            false => self.incoming.add_signal(SIGHUP).context("cannot wait for hang-ups"),
        }
    }

    /// The signal that came to end what is under way.
    pub fn caught(&self) -> Option<i32> {
        match self.caught.load(Ordering::Relaxed) {
            0 => None,
            signal => Some(signal as i32),
        }
    }

    /// Whether a signal came, for what outlives this reference.
    pub fn watch(&self) -> impl Fn() -> bool + use<> {
        let caught = Arc::clone(&self.caught);
        move || caught.load(Ordering::Relaxed) != 0
    }

    /// How often it was asked what runs have measured so far.
    pub fn asked(&self) -> u64 {
        self.asked.load(Ordering::Relaxed)
    }
}

/// The signals that stop and continue the program, while it has taken the terminal. Afterwards they
/// do what they do to every program.
pub struct Pauses(&'static Noted);

#[derive(Default)]
struct Noted {
    /// Nobody has taken the terminal.
    default: Arc<AtomicBool>,
    stopped: Arc<AtomicBool>,
    continued: Arc<AtomicBool>,
}

impl Noted {
    /// Handlers stay for as long as the program lives, so they are made once.
    fn register() -> io::Result<Noted> {
        let noted = Noted::default();
        flag::register_conditional_default(SIGTSTP, Arc::clone(&noted.default))?;
        flag::register(SIGTSTP, Arc::clone(&noted.stopped))?;
        flag::register(SIGCONT, Arc::clone(&noted.continued))?;
        Ok(noted)
    }
}

impl Pauses {
    /// From now on they are noted.
    ///
    /// # Errors
    /// When a handler cannot be had.
    pub fn catch() -> Result<Pauses> {
        static NOTED: OnceLock<Noted> = OnceLock::new();
        let noted = match NOTED.get() {
            Some(noted) => noted,
            None => {
                let noted = Noted::register().context("cannot wait for signals")?;
                NOTED.get_or_init(|| noted)
            }
        };
        noted.default.store(false, Ordering::Relaxed);
        noted.stopped.store(false, Ordering::Relaxed);
        noted.continued.store(false, Ordering::Relaxed);
        Ok(Pauses(noted))
    }

    /// Whether it was asked to stop for a while since this was last looked at.
    pub fn is_to_stop(&self) -> bool {
        self.0.stopped.swap(false, Ordering::Relaxed)
    }

    /// Whether it was continued since this was last looked at.
    pub fn was_continued(&self) -> bool {
        self.0.continued.swap(false, Ordering::Relaxed)
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

impl Drop for Pauses {
    fn drop(&mut self) {
        self.0.default.store(true, Ordering::Relaxed);
    }
}
