//! `--server`: runs jobs for clients.

mod daemon;
mod session;
mod shared;

pub use session::own_hello;

use crate::commands::run::access::ServerAccess;
use crate::commands::run::connection::{Listener, Stream};
use crate::commands::run::request::program;
use crate::exit;
use crate::output::Output;
use anyhow::{Context, Result};
use job::{Dialect, Invocation};
use remote::Address;
use runner::{Runner, Signals};
use shared::{Log, Server};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// Time between two polls of signals.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Most clients at a time; further ones are refused.
const CLIENTS_MAX: usize = 64;

/// Serves until a signal comes.
///
/// # Errors
/// When the address cannot be used or standard output cannot be written.
pub fn main(dialect: Dialect, runner: &Runner, own: &Invocation, mut output: Output) -> Result<u8> {
    let typed = own.server.as_deref().unwrap_or_default();
    let address = Address::parse(typed).context("--server")?;
    check(own)?;
    let access = ServerAccess::new(own)?;
    if let (Some(file), false) = (&own.daemonize, daemon::is_daemon()) {
        return daemon::start(file);
    }
    let listening = || format!("cannot listen on {address}");
    let listener = Listener::bind(&address).with_context(listening)?;
    let log = Log::new(dialect);
    if listener.is_open() {
        access.warning(&address.to_string()).iter().for_each(|text| log.write_line(text));
    }
    daemon::ready(own.daemonize.as_deref())?;
    output.write(&format!("{}: server listening on {address}\n", program(dialect)))?;
    let signals = runner.signals()?;
    let server = Server {
        runner,
        own,
        access,
        ending: AtomicBool::new(false),
        clients: AtomicUsize::new(0),
    };
    let signal = accept(listener, &server, signals, &log);
    let socket = match &address {
        Address::Socket(path) => Some(path.as_path()),
        Address::Tcp { .. } => None,
    };
    for left in [own.daemonize.as_deref(), socket].into_iter().flatten() {
        // Another process may have removed it already.
        let _ = std::fs::remove_file(left);
    }
    log.write_line(&format!("terminating on signal {signal}"));
    Ok(exit::interrupted(signal, dialect == Dialect::Fio))
}

/// Refuses options that have no effect on a server: they were probably meant for its clients.
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

/// Accepts clients until a signal comes, and waits for the end of their runs. Returns the signal.
fn accept(listener: Listener, server: &Server, signals: &Signals, log: &Log) -> i32 {
    let clients = incoming(listener);
    std::thread::scope(|scope| {
        loop {
            if let Some(signal) = signals.caught() {
                server.ending.store(true, Ordering::Relaxed);
                return signal;
            }
            let stream = match clients.recv_timeout(POLL_INTERVAL) {
                Ok(Ok(stream)) => stream,
                Ok(Err(error)) => {
                    log.write_line(&format!("warning: a client could not be accepted: {error}"));
                    continue;
                }
                Err(RecvTimeoutError::Timeout) => continue,
                // The accepting thread does not end first; if it did, signals still end the server.
                Err(RecvTimeoutError::Disconnected) => {
                    std::thread::sleep(POLL_INTERVAL);
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

/// New connections, accepted by a thread that does nothing else: polling would disturb the runs.
fn incoming(listener: Listener) -> Receiver<std::io::Result<Stream>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        loop {
            let client = listener.accept();
            // Probably out of file descriptors: the next call would fail at once as well.
            let failed = client.is_err();
            if sender.send(client).is_err() {
                break;
            }
            if failed {
                std::thread::sleep(POLL_INTERVAL);
            }
        }
    });
    receiver
}
