//! The archive of runs as web pages, and as an API for programs: `fathom serve`.
//!
//! Pages are rendered here with their pictures. A browser needs a script only to follow a run under
//! way. Every request needs the token ([`guard`]). Runs are judged by the rules of this fathom, as
//! in `fathom runs show`.

mod access;
mod api;
mod error_page;
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

/// Threads for slow work: the archive, judging, pictures.
const WORKERS: usize = 4;

/// The settings of the server.
pub struct Config {
    /// The socket.
    pub listener: TcpListener,
    /// Access control.
    pub guard: Guard,
    /// Opens the archive, once for each request.
    pub open: Open,
    /// Inspects a path for the machine page.
    pub inspect: Inspect,
    /// Starts runs from a page, if that is allowed.
    pub launcher: Option<Box<dyn Launcher>>,
}

/// Serves until SIGINT, SIGTERM or SIGHUP. Returns the signal.
///
/// # Errors
/// Threads or signal handlers cannot be set up, or the listener cannot be used.
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
    // A worker may still be busy with a page.
    runtime.shutdown_background();
    came
}
