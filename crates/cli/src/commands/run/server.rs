//! `--server`: runs jobs for clients.

mod daemon;
mod session;

pub use session::own_hello;

use crate::commands::run::connection::{Listener, Stream};
use crate::commands::run::request::program;
use crate::exit;
use crate::output::{Output, say};
use anyhow::{Context, Result};
use job::{Dialect, Invocation};
use remote::Address;
use runner::Runner;
use runner::Signals;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// How often signals are looked at while nothing happens.
const GLANCE: Duration = Duration::from_millis(100);

/// Clients served at a time; another is turned away.
const CLIENTS_MAX: usize = 64;

/// What all connections share.
pub struct Server<'a> {
    /// What runs the jobs.
    pub runner: &'a Runner,
    /// What the server's own command line allows.
    pub own: &'a Invocation,
    /// The server is to end.
    pub ending: AtomicBool,
    clients: AtomicUsize,
}

/// Serves until a signal comes.
///
/// # Errors
/// The address is in use or not ours; standard output cannot be written.
pub fn main(dialect: Dialect, runner: &Runner, own: &Invocation, mut output: Output) -> Result<u8> {
    let typed = own.server.as_deref().unwrap_or_default();
    let address = Address::parse(typed).context("--server")?;
    check(own)?;
    if let (Some(file), false) = (&own.daemonize, daemon::is_one()) {
        return daemon::start(file);
    }
    let listening = || format!("cannot listen on {address}");
    let listener = Listener::bind(&address).with_context(listening)?;
    let log = Log::new(dialect);
    if listener.is_open() {
        log.say(&format!(
            "warning: listening on {address}, which other hosts may reach: whoever reaches it can \
             read, write and run commands here as this user, without a password; use \
             127.0.0.1 or sock:PATH, and a tunnel"
        ));
    }
    daemon::ready(own.daemonize.as_deref())?;
    output.write(&format!("{}: server listening on {address}\n", program(dialect)))?;
    let signals = runner.signals()?;
    let server =
        Server { runner, own, ending: AtomicBool::new(false), clients: AtomicUsize::new(0) };
    let signal = accept(listener, &server, signals, &log);
    let socket = match &address {
        Address::Socket(path) => Some(path.as_path()),
        Address::Tcp { .. } => None,
    };
    for left in [own.daemonize.as_deref(), socket].into_iter().flatten() {
        // Somebody else's removal is as good as ours.
        let _ = std::fs::remove_file(left);
    }
    log.say(&format!("terminating on signal {signal}"));
    Ok(exit::interrupted(signal, dialect == Dialect::Fio))
}

/// Options that mean nothing to a server are mistakes: most likely they were meant for its clients.
fn check(own: &Invocation) -> Result<()> {
    let useless = [
        ("--client", !own.clients.is_empty()),
        ("a job file", !own.job_files.is_empty()),
        ("--record", own.record.is_some()),
        ("--accept", !own.accept.is_empty()),
        ("--repeat", own.repeat.is_some()),
        ("--live", own.live == Some(true)),
        ("--metrics", own.metrics.is_some()),
    ];
    match useless.iter().find(|(_, given)| *given) {
        Some((what, _)) => {
            anyhow::bail!(
                "--server: takes its jobs from clients, but {what} is given; leave it out"
            )
        }
        None => Ok(()),
    }
}

/// Takes clients in until a signal comes; all runs have ended then. Returns the signal.
fn accept(listener: Listener, server: &Server, signals: &Signals, log: &Log) -> i32 {
    let clients = incoming(listener);
    std::thread::scope(|scope| {
        loop {
            if let Some(signal) = signals.caught() {
                server.ending.store(true, Ordering::Relaxed);
                return signal;
            }
            let stream = match clients.recv_timeout(GLANCE) {
                Ok(Ok(stream)) => stream,
                Ok(Err(error)) => {
                    log.say(&format!("warning: a client could not be taken in: {error}"));
                    continue;
                }
                Err(RecvTimeoutError::Timeout) => continue,
                // The accepting thread never ends before us; if it did, signals still count.
                Err(RecvTimeoutError::Disconnected) => {
                    std::thread::sleep(GLANCE);
                    continue;
                }
            };
            scope.spawn(move || {
                let before = server.clients.fetch_add(1, Ordering::Relaxed);
                session::serve(stream, server, before >= CLIENTS_MAX, log);
                server.clients.fetch_sub(1, Ordering::Relaxed);
            });
        }
    })
}

/// Connections as they come. The thread that waits for them wakes for nothing else: a server that
/// runs jobs must not disturb them.
fn incoming(listener: Listener) -> Receiver<std::io::Result<Stream>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        loop {
            let client = listener.accept();
            // Out of descriptors, most likely: the next try would fail at once as well.
            let failed = client.is_err();
            if sender.send(client).is_err() {
                break;
            }
            if failed {
                std::thread::sleep(GLANCE);
            }
        }
    });
    receiver
}

/// Where a server says what its clients do not need to know.
pub struct Log {
    program: &'static str,
}

impl Log {
    fn new(dialect: Dialect) -> Log {
        Log { program: program(dialect) }
    }

    /// Says a line: to standard error or, in the background, to the system's log.
    pub fn say(&self, line: &str) {
        match daemon::is_one() {
            true => daemon::log(self.program, line),
            false => say(&format!("{}: {line}\n", self.program)),
        }
    }
}
