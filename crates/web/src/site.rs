//! The state that all handlers share.

use crate::failure::Failure;
use crate::guard::Guard;
use crate::launch::Launcher;
use crate::live_runs::LiveRuns;
use archive::{Archive, ArchiveError};
use judge::Inspection;
use record::Facts;
use std::sync::Arc;
use tokio::sync::watch;

/// Inspects a path as `fathom inspect` does, or says what is wrong with the path.
pub type Inspect = Box<dyn Fn(&str) -> Result<(Inspection, Facts), String> + Send + Sync>;

/// Opens the archive for one request.
pub type Open = Box<dyn Fn() -> Result<Archive, ArchiveError> + Send + Sync>;

/// The state that all handlers share.
#[derive(Clone)]
pub struct Site(Arc<Inner>);

struct Inner {
    guard: Guard,
    open: Open,
    inspect: Inspect,
    launcher: Option<Box<dyn Launcher>>,
    live_runs: LiveRuns,
    closing: watch::Sender<bool>,
}

impl Site {
    /// The state of a server.
    pub fn new(
        guard: Guard,
        open: Open,
        inspect: Inspect,
        launcher: Option<Box<dyn Launcher>>,
        closing: watch::Sender<bool>,
    ) -> Site {
        let live_runs = LiveRuns::new();
        Site(Arc::new(Inner { guard, open, inspect, launcher, live_runs, closing }))
    }

    /// Access control.
    pub fn guard(&self) -> &Guard {
        &self.0.guard
    }

    /// Starts runs, if that is allowed.
    pub fn launcher(&self) -> Option<&dyn Launcher> {
        self.0.launcher.as_deref()
    }

    /// Runs under way.
    pub fn live_runs(&self) -> &LiveRuns {
        &self.0.live_runs
    }

    /// Becomes true when the server stops.
    pub fn closing(&self) -> watch::Receiver<bool> {
        self.0.closing.subscribe()
    }

    /// Inspects a path.
    pub fn inspect(&self, path: &str) -> Result<(Inspection, Facts), Failure> {
        (self.0.inspect)(path).map_err(Failure::bad_request)
    }

    /// Runs slow `work` on a thread for blocking work.
    pub async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Site) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let site = self.clone();
        let done = tokio::task::spawn_blocking(move || work(&site)).await;
        done.unwrap_or_else(|_| {
            Err(Failure::internal(
                "A defect of fathom: please report it, with the address you asked for.",
            ))
        })
    }

    /// Runs `work` with the archive.
    ///
    /// # Errors
    /// The archive cannot be opened, or the work fails.
    pub async fn archived<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Site, &mut Archive) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        self.work(move |site| {
            let mut archive = (site.0.open)()?;
            work(site, &mut archive)
        })
        .await
    }
}
