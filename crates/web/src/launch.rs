//! Starting runs from a page.

/// The state of a run that was started from a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchedRun {
    /// Its exit code; `None` while it is running.
    pub ended: Option<i32>,
    /// Its output: the report, then the messages.
    pub output: String,
}

/// Starts runs. Everybody with access to the pages may use it, so it keeps the safety checks of
/// `fathom run` and grants none of the permissions that a command line can give.
pub trait Launcher: Send + Sync {
    /// Starts a run of a job in or on `target`. Returns its process id.
    fn start(&self, job: &str, target: &str) -> Result<u32, String>;

    /// The state of a run that was started from a page.
    fn status(&self, pid: u32) -> Option<LaunchedRun>;
}
