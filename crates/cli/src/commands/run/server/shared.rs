//! What all connections of a server share.

use super::daemon;
use crate::commands::run::access::ServerAccess;
use crate::commands::run::request::program;
use crate::output::write_stderr;
use job::{Dialect, Invocation};
use runner::Runner;
use std::sync::atomic::{AtomicBool, AtomicUsize};

/// What all connections share.
pub struct Server<'a> {
    /// Runs the jobs.
    pub runner: &'a Runner,
    /// The command line of the server.
    pub own: &'a Invocation,
    /// What it asks of its clients.
    pub access: ServerAccess,
    /// Whether the server is shutting down.
    pub ending: AtomicBool,
    /// Number of clients connected now.
    pub clients: AtomicUsize,
}

/// The log of a server.
pub struct Log {
    program: &'static str,
}

impl Log {
    /// A log under the name of the program.
    pub fn new(dialect: Dialect) -> Log {
        Log { program: program(dialect) }
    }

    /// Writes a line: to standard error or, in the background, to the system's log.
    pub fn write_line(&self, line: &str) {
        match daemon::is_daemon() {
            true => daemon::log(self.program, line),
            false => write_stderr(&format!("{}: {line}\n", self.program)),
        }
    }
}
