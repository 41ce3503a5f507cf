//! Runs that are started from a page.

/// What a run that was started here has come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchedRun {
    /// Its exit code; `None` while it goes on.
    pub ended: Option<i32>,
    /// What it said: its report, then its messages.
    pub output: String,
}

/// Starts runs. Who may use the pages may use it, so it keeps the guards of `fathom run` and allows
/// nothing that a command line would have to allow.
pub trait Launcher: Send + Sync {
    /// Starts a run of job text in or on `target`; the number of its process.
    ///
    /// # Errors
    /// Why not, in a sentence.
    fn start(&self, job: &str, target: &str) -> Result<u32, String>;

    /// What has become of one that was started here.
    fn status(&self, pid: u32) -> Option<LaunchedRun>;
}
