//! Results of a worker that is still running.

use crate::mutex::lock;
use record::{JobRecord, Nanos};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How often a worker checks whether interim results were requested.
pub const INTERIM_CHECK: Duration = Duration::from_millis(100);

/// When and where a worker publishes interim results: at each multiple of `--status-interval`, and on
/// request.
pub(crate) struct InterimResults<'a> {
    every: Option<u64>,
    /// The next multiple of `every`, in nanoseconds from the run's origin.
    next: u64,
    /// Start of the worker, in nanoseconds from the run's origin.
    pub started: u64,
    requests: &'a AtomicU64,
    /// Number of requests that were answered.
    answered: u64,
    slot: &'a Mutex<Option<JobRecord>>,
}

impl<'a> InterimResults<'a> {
    pub fn new(
        every: Option<Nanos>,
        started: u64,
        requests: &'a AtomicU64,
        slot: &'a Mutex<Option<JobRecord>>,
    ) -> Self {
        let every = every.map(|every| every.0.max(1));
        let next = every.map_or(u64::MAX, |every| (started / every + 1) * every);
        InterimResults { every, next, started, requests, answered: 0, slot }
    }

    /// Whether interim results are due. True once for each reason.
    pub fn take_due(&mut self, now: u64) -> bool {
        let requests = self.requests.load(Ordering::Relaxed);
        let due = now >= self.next || requests != self.answered;
        self.answered = requests;
        if let (true, Some(every)) = (now >= self.next, self.every) {
            self.next = (now / every + 1) * every;
        }
        due
    }

    /// When to check again.
    pub fn next_check(&self, now: u64) -> u64 {
        self.next.min(now.saturating_add(INTERIM_CHECK.as_nanos() as u64))
    }

    pub fn publish(&self, job: JobRecord) {
        *lock(self.slot) = Some(job);
    }
}
