//! Runs under way: each is read once, however many pages follow it.

use live::feed::{self, Follow, Line, Listed};
use live::run::{Ended, Head, Kept, Moment, Of, Trail};
use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// How often a reader looks whether anybody still wants to know.
const GLANCE: Duration = Duration::from_secs(1);
/// Runs that are read at a time.
const RUNS_MAX: usize = 64;
/// Moments that a curve shows.
pub const CURVE: usize = 120;

/// What is known of a run.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Which it is; `None` before it said.
    pub head: Option<Head>,
    /// What it does now.
    pub moment: Option<Moment>,
    /// I/Os a second of the last moments.
    pub iops: Vec<f64>,
    /// Bytes a second of the last moments.
    pub bytes: Vec<f64>,
    /// How it ended.
    pub ended: Option<Ended>,
    /// Where it is now.
    pub kept: Option<Kept>,
    /// Its process is gone.
    pub is_gone: bool,
}

/// Follows what is known of a run.
pub type Follower = watch::Receiver<Arc<Known>>;

/// The runs that are read.
pub struct Feeds {
    directory: PathBuf,
    read: Arc<Mutex<HashMap<u32, watch::Sender<Arc<Known>>>>>,
}

impl Feeds {
    /// Those of this user.
    pub fn new() -> Feeds {
        Feeds { directory: feed::usual(), read: Arc::default() }
    }

    /// The processes that run something.
    ///
    /// # Errors
    /// When the directory of their sockets cannot be trusted.
    pub fn list(&self) -> Result<Vec<Listed>, String> {
        feed::list(&self.directory).map_err(|error| error.to_string())
    }

    /// Follows a process; `None` when it runs nothing, or more are followed than can be.
    pub fn follow(&self, pid: u32) -> Option<Follower> {
        let mut read = lock(&self.read);
        if let Some(known) = read.get(&pid).filter(|known| !known.borrow().is_gone) {
            return Some(known.subscribe());
        }
        if read.len() >= RUNS_MAX {
            return None;
        }
        // The list is asked for: it knows which sockets are the user's own.
        let listed = self.list().ok()?.into_iter().find(|listed| listed.pid == pid)?;
        let follow = Follow::at(&listed.path).ok()?;
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

/// Reads one feed until it ends, or nobody wants to know.
struct Reader {
    pid: u32,
    follow: Follow,
    sender: watch::Sender<Arc<Known>>,
    others: Arc<Mutex<HashMap<u32, watch::Sender<Arc<Known>>>>>,
}

impl Reader {
    fn read(mut self) {
        let mut known = Known::default();
        let mut trail = Trail::default();
        loop {
            match self.follow.next_within(GLANCE) {
                Ok(Some(line)) => take(&mut known, &mut trail, line),
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

    /// Whether nobody follows any more; then nobody can begin to any more either.
    fn is_forgotten(&self) -> bool {
        let mut others = lock(&self.others);
        let is_forgotten = self.sender.receiver_count() == 0;
        if is_forgotten {
            others.remove(&self.pid);
        }
        is_forgotten
    }
}

fn take(known: &mut Known, trail: &mut Trail, line: Line) {
    match line {
        Line::Run(head) => {
            *trail = Trail::default();
            *known = Known { head: Some(head), ..Known::default() };
        }
        Line::Moment(moment) => {
            trail.push(&moment);
            known.iops = trail.of(Of::Iops, None, None, CURVE);
            known.bytes = trail.of(Of::Bytes, None, None, CURVE);
            known.moment = Some(*moment);
        }
        Line::Ended(ended) => known.ended = Some(ended),
        Line::Kept(kept) => known.kept = Some(kept),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_run_of_a_process_begins_anew() {
        let (mut known, mut trail) = (Known::default(), Trail::default());
        let mut tell = |line| {
            take(&mut known, &mut trail, line);
            known.clone()
        };
        tell(Line::Run(Head { run: 1, ..Head::default() }));
        let moment = Moment { run: 1, elapsed_seconds: 1.0, ..Moment::default() };
        assert_eq!(tell(Line::Moment(Box::new(moment))).iops.len(), 1);
        assert!(tell(Line::Ended(Ended::default())).ended.is_some());
        assert_eq!(tell(Line::Kept(Kept { run: 1, id: "k".into() })).kept.unwrap().id, "k");
        let second = tell(Line::Run(Head { run: 2, ..Head::default() }));
        assert!(second.ended.is_none() && second.kept.is_none() && second.iops.is_empty());
    }
}
