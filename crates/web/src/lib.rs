//! The archive of runs as web pages, and as an API for programs: `fathom serve`.
//!
//! Pages are made here, whole, with their pictures: a browser needs no script but to follow a run
//! that goes on. Whoever asks has to hold the token ([`guard`]); what a page shows is judged anew from
//! the record by the rules of this program, as the report of `fathom runs show` is.

mod access;
mod api;
mod failure;
mod format;
pub mod guard;
mod launch;
mod layout;
mod live_runs;
mod metrics;
pub mod metrics_server;
mod pages;
mod queries;
mod routes;
mod server;
mod site;

pub use launch::{LaunchedRun, Launcher};
pub use site::{Inspect, Open};

use crate::guard::Guard;
use crate::site::Site;
use std::io;
use std::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

/// Threads for what takes a while: the archive, judging, pictures.
const WORKERS: usize = 4;

/// What is served, and to whom.
pub struct Config {
    /// Where it is asked for.
    pub listener: TcpListener,
    /// Who may see it.
    pub guard: Guard,
    /// Opens the archive, once for each request.
    pub open: Open,
    /// What the machine page shows.
    pub inspect: Inspect,
    /// Starts runs from a page, where that is allowed.
    pub launcher: Option<Box<dyn Launcher>>,
}

/// Serves until SIGINT, SIGTERM or SIGHUP comes, and says which.
///
/// # Errors
/// Neither threads nor handlers of signals can be had, or the listener cannot be used.
pub fn serve(config: Config) -> io::Result<i32> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(WORKERS)
        .build()?;
    let came = runtime.block_on(async {
        config.listener.set_nonblocking(true)?;
        let listener = tokio::net::TcpListener::from_std(config.listener)?;
        let (closing, _) = watch::channel(false);
        let site =
            Site::new(config.guard, config.open, config.inspect, config.launcher, closing.clone());
        let (mut int, mut term, mut hang_up) = (
            signal(SignalKind::interrupt())?,
            signal(SignalKind::terminate())?,
            signal(SignalKind::hangup())?,
        );
        let mut came = 0;
        let stop = async {
            let kind = tokio::select! {
                _ = int.recv() => SignalKind::interrupt(),
                _ = term.recv() => SignalKind::terminate(),
                _ = hang_up.recv() => SignalKind::hangup(),
            };
            came = kind.as_raw_value();
        };
        server::serve(listener, routes::router(site), closing, stop).await;
        io::Result::Ok(came)
    });
    // A worker may be busy with a page that nobody waits for any more.
    runtime.shutdown_background();
    came
}
