//! Signals: those that end a run (SIGINT, SIGTERM, SIGHUP) and the one that asks for interim results
//! (SIGUSR1).

use anyhow::{Context, Result};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGTSTP, SIGUSR1, SIGXFSZ};
use signal_hook::iterator::Handle;
use signal_hook::{flag, low_level};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// A second signal within this time counts as the first: a terminal sends it to the program and to its
/// parent, which may forward it. That must not end the program before the results are shown.
const REPEAT_WINDOW: Duration = Duration::from_millis(500);

/// The signals caught so far.
pub struct Signals {
    caught: Arc<AtomicUsize>,
    requests: Arc<AtomicU64>,
    incoming: Handle,
}

impl Signals {
    /// Catches SIGINT and SIGTERM, of which a second one ends the program at once, and counts SIGUSR1.
    ///
    /// # Errors
    /// When a handler cannot be installed, or the thread that waits for signals cannot be started.
    pub fn catch() -> Result<Signals> {
        // With a handler, a write beyond the file size limit returns an error instead of ending the
        // program.
        signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)))?;
        let mut incoming = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGUSR1])?;
        let incoming_too = incoming.handle();
        let signals =
            Signals { caught: Arc::default(), requests: Arc::default(), incoming: incoming_too };
        let (caught, requests) = (Arc::clone(&signals.caught), Arc::clone(&signals.requests));
        let wait = move || {
            let mut first = None;
            for signal in incoming.forever() {
                match (signal, first) {
                    (SIGUSR1, _) => {
                        requests.fetch_add(1, Ordering::Relaxed);
                    }
                    (signal, None) => {
                        caught.store(signal as usize, Ordering::Relaxed);
                        first = Some(Instant::now());
                    }
                    (signal, Some(at)) if at.elapsed() > REPEAT_WINDOW => {
                        live::Terminal::restore();
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

    /// Catches SIGHUP (the terminal is gone) like SIGINT, unless this process was started with it ignored
    /// (nohup).
    pub fn catch_hang_up(&self) -> Result<()> {
        match is_ignored(SIGHUP) {
            true => Ok(()),
            false => self.incoming.add_signal(SIGHUP).context("cannot wait for hang-ups"),
        }
    }

    /// The signal that asked to end the run, if one did.
    pub fn caught(&self) -> Option<i32> {
        match self.caught.load(Ordering::Relaxed) {
            0 => None,
            signal => Some(signal as i32),
        }
    }

    /// A function that returns whether a signal was caught, for code that outlives this reference.
    pub fn watch(&self) -> impl Fn() -> bool + use<> {
        let caught = Arc::clone(&self.caught);
        move || caught.load(Ordering::Relaxed) != 0
    }

    /// How many times SIGUSR1 asked for interim results.
    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }
}

/// Whether this process was started with a signal ignored (proc_pid_status(5), SigIgn).
pub fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Catches the signals that stop and continue the program (SIGTSTP, SIGCONT) while it owns the terminal.
/// When this is dropped, they have their default effect again.
pub struct Pauses(&'static PauseFlags);

#[derive(Default)]
struct PauseFlags {
    /// The default effect is in force.
    default: Arc<AtomicBool>,
    stopped: Arc<AtomicBool>,
    continued: Arc<AtomicBool>,
}

impl PauseFlags {
    /// Installs the handlers. They cannot be removed, so this is called once.
    fn register() -> io::Result<PauseFlags> {
        let noted = PauseFlags::default();
        flag::register_conditional_default(SIGTSTP, Arc::clone(&noted.default))?;
        flag::register(SIGTSTP, Arc::clone(&noted.stopped))?;
        flag::register(SIGCONT, Arc::clone(&noted.continued))?;
        Ok(noted)
    }
}

impl Pauses {
    /// Catches the signals from now on.
    pub fn catch() -> Result<Pauses> {
        static NOTED: OnceLock<PauseFlags> = OnceLock::new();
        let noted = match NOTED.get() {
            Some(noted) => noted,
            None => {
                let noted = PauseFlags::register().context("cannot wait for signals")?;
                NOTED.get_or_init(|| noted)
            }
        };
        noted.default.store(false, Ordering::Relaxed);
        noted.stopped.store(false, Ordering::Relaxed);
        noted.continued.store(false, Ordering::Relaxed);
        Ok(Pauses(noted))
    }

    /// Whether SIGTSTP was caught since the last call.
    pub fn is_to_stop(&self) -> bool {
        self.0.stopped.swap(false, Ordering::Relaxed)
    }

    /// Whether SIGCONT was caught since the last call.
    pub fn was_continued(&self) -> bool {
        self.0.continued.swap(false, Ordering::Relaxed)
    }

    /// Stops this process; returns when it is continued.
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
