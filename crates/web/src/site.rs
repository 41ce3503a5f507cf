//! What all pages share.

use crate::failure::Failure;
use crate::guard::Guard;
use crate::launch::Launcher;
use crate::live_runs::LiveRuns;
use archive::{Archive, ArchiveError};
use judge::Inspection;
use record::Facts;
use std::sync::Arc;
use tokio::sync::watch;

/// Looks at a path as `fathom inspect` does; what is wrong with the path otherwise.
pub type Inspect = Box<dyn Fn(&str) -> Result<(Inspection, Facts), String> + Send + Sync>;

/// Opens the archive for one request; why it cannot be had otherwise.
pub type Open = Box<dyn Fn() -> Result<Archive, ArchiveError> + Send + Sync>;

/// What all pages share.
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
    /// The site over an archive.
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

    /// Who may see what.
    pub fn guard(&self) -> &Guard {
        &self.0.guard
    }

    /// What starts runs, where that was allowed.
    pub fn launcher(&self) -> Option<&dyn Launcher> {
        self.0.launcher.as_deref()
    }

    /// The runs under way.
    pub fn live_runs(&self) -> &LiveRuns {
        &self.0.live_runs
    }

    /// Becomes true when the program ends.
    pub fn closing(&self) -> watch::Receiver<bool> {
        self.0.closing.subscribe()
    }

    /// What is under a path.
    ///
    /// # Errors
    /// What is wrong with the path.
    pub fn inspect(&self, path: &str) -> Result<(Inspection, Facts), Failure> {
        (self.0.inspect)(path).map_err(Failure::bad_request)
    }

    /// Does `work`, which may take a while, where it keeps nobody else waiting.
    ///
    /// # Errors
    /// Those of the work.
    pub async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Site) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let site = self.clone();
        let done = tokio::task::spawn_blocking(move || work(&site)).await;
        done.unwrap_or_else(|_| {
            Err(Failure::internal("A defect of fathom: please report it, with what was asked for."))
        })
    }

    /// Does `work` with the archive.
    ///
    /// # Errors
    /// The archive cannot be had; those of the work.
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
