//! Runs under way. Each feed is read once, however many pages follow it.

use live::feed::{self, FeedProcess, FeedReader, Line};
use live::run::{Moment, Quantity, RunEnd, RunHistory, RunInfo, SavedTo};
use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// How often a reader checks whether anybody still follows it.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Most runs that are read at a time.
const RUNS_MAX: usize = 64;
/// Number of moments in a curve.
pub const CURVE: usize = 120;

/// The state of a run.
#[derive(Clone, Debug, Default)]
pub struct RunState {
    /// The run; `None` before it sent this.
    pub head: Option<RunInfo>,
    /// Its latest moment.
    pub moment: Option<Moment>,
    /// I/Os a second of the last moments.
    pub iops: Vec<f64>,
    /// Bytes a second of the last moments.
    pub bytes: Vec<f64>,
    /// Its end.
    pub ended: Option<RunEnd>,
    /// Its id in the archive.
    pub saved: Option<SavedTo>,
    /// Its process is gone.
    pub is_gone: bool,
}

/// Receives the state of a run.
pub type Follower = watch::Receiver<Arc<RunState>>;

/// The runs that are read.
pub struct LiveRuns {
    directory: PathBuf,
    read: Arc<Mutex<HashMap<u32, watch::Sender<Arc<RunState>>>>>,
}

impl LiveRuns {
    /// The runs of this user.
    pub fn new() -> LiveRuns {
        LiveRuns { directory: feed::default_directory(), read: Arc::default() }
    }

    /// The processes that run something.
    ///
    /// # Errors
    /// When the directory of their sockets cannot be trusted.
    pub fn list(&self) -> Result<Vec<FeedProcess>, String> {
        feed::list(&self.directory).map_err(|error| error.to_string())
    }

    /// Follows a process; `None` when it runs nothing, or too many are followed.
    pub fn follow(&self, pid: u32) -> Option<Follower> {
        let mut read = lock(&self.read);
        if let Some(known) = read.get(&pid).filter(|known| !known.borrow().is_gone) {
            return Some(known.subscribe());
        }
        if read.len() >= RUNS_MAX {
            return None;
        }
        // Only sockets of this list belong to the user.
        let listed = self.list().ok()?.into_iter().find(|listed| listed.pid == pid)?;
        let follow = FeedReader::connect(&listed.path).ok()?;
        let (sender, receiver) = watch::channel(Arc::default());
        let others = Arc::clone(&self.read);
        let reader = Reader { pid, follow, sender: sender.clone(), others };
        std::thread::Builder::new().name(format!("feed {pid}")).spawn(|| reader.read()).ok()?;
        read.insert(pid, sender);
        Some(receiver)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads one feed until it ends or nobody follows it.
struct Reader {
    pid: u32,
    follow: FeedReader,
    sender: watch::Sender<Arc<RunState>>,
    others: Arc<Mutex<HashMap<u32, watch::Sender<Arc<RunState>>>>>,
}

impl Reader {
    fn read(mut self) {
        let mut known = RunState::default();
        let mut history = RunHistory::default();
        loop {
            match self.follow.next_line_within(CHECK_INTERVAL) {
                Ok(Some(line)) => take(&mut known, &mut history, line),
                Ok(None) => known.is_gone = true,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if self.is_forgotten() {
                        return;
                    }
                    continue;
                }
                Err(_) => known.is_gone = true,
            }
            self.sender.send_replace(Arc::new(known.clone()));
            if known.is_gone {
                lock(&self.others).remove(&self.pid);
                return;
            }
            if self.is_forgotten() {
                return;
            }
        }
    }

    /// Whether nobody follows any more. If so, the feed is removed under the same lock.
    fn is_forgotten(&self) -> bool {
        let mut others = lock(&self.others);
        let is_forgotten = self.sender.receiver_count() == 0;
        if is_forgotten {
            others.remove(&self.pid);
        }
        is_forgotten
    }
}

fn take(known: &mut RunState, history: &mut RunHistory, line: Line) {
    match line {
        Line::Run(head) => {
            *history = RunHistory::default();
            *known = RunState { head: Some(head), ..RunState::default() };
        }
        Line::Moment(moment) => {
            history.push(&moment);
            known.iops = history.rates(Quantity::Iops, None, None, CURVE);
            known.bytes = history.rates(Quantity::Bytes, None, None, CURVE);
            known.moment = Some(*moment);
        }
        Line::Ended(ended) => known.ended = Some(ended),
        Line::Saved(kept) => known.saved = Some(kept),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_run_of_a_process_begins_anew() {
        let (mut known, mut history) = (RunState::default(), RunHistory::default());
        let mut tell = |line| {
            take(&mut known, &mut history, line);
            known.clone()
        };
        tell(Line::Run(RunInfo { run: 1, ..RunInfo::default() }));
        let moment = Moment { run: 1, elapsed_seconds: 1.0, ..Moment::default() };
        assert_eq!(tell(Line::Moment(Box::new(moment))).iops.len(), 1);
        assert!(tell(Line::Ended(RunEnd::default())).ended.is_some());
        assert_eq!(tell(Line::Saved(SavedTo { run: 1, id: "k".into() })).saved.unwrap().id, "k");
        let second = tell(Line::Run(RunInfo { run: 2, ..RunInfo::default() }));
        assert!(second.ended.is_none() && second.saved.is_none() && second.iops.is_empty());
    }
}
