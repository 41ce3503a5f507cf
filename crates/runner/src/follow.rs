//! The one wait loop of a run: signals, interim results, the observer.

use crate::observer::{RunInProgress, RunObserver};
use anyhow::Result;
use engine::{Event, INTERIM_CHECK, Run};
use record::Nanos;
use std::time::{Duration, Instant};

/// Time between two polls of signals and of the observer.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Workers publish their results at the same moments, each when it looks at the clock. After this
/// time all have, except those that wait for a slow I/O.
pub(crate) const GRACE: Duration = Duration::from_millis(50);

/// Waits until the run has ended. Interim results go to the observer at every `interval`, on SIGUSR1
/// and when the observer asks for them.
pub(crate) fn follow(
    in_progress: &RunInProgress,
    interval: Option<Nanos>,
    observer: &mut dyn RunObserver,
) -> Result<()> {
    let RunInProgress { run, signals, .. } = *in_progress;
    let mut schedule = InterimSchedule::new(interval);
    let mut requests = signals.requests();
    let mut is_owed = false;
    loop {
        let ended = run.wait(POLL_INTERVAL);
        forward_events(run, observer)?;
        if ended {
            return observer.ended(in_progress);
        }
        let control = observer.poll(in_progress)?;
        if control.stop {
            run.stop();
        }
        let before = std::mem::replace(&mut requests, signals.requests());
        if !observer.wants_interim_results() {
            continue;
        }
        if control.report || requests != before {
            is_owed = true;
            schedule.request(run);
        }
        if schedule.is_due(run.origin()) {
            let record = in_progress.so_far();
            // Before the first worker has begun there are no results. A request stays open until
            // there are.
            if record.jobs.iter().any(|job| job.elapsed.0 > 0) {
                is_owed = false;
                observer.interim(record)?;
            } else if is_owed {
                schedule.request(run);
            }
        }
    }
}

fn forward_events(run: &Run, observer: &mut dyn RunObserver) -> Result<()> {
    for event in run.events() {
        let Event::LayingOut { job, files, bytes } = event;
        observer.laying_out(&job, files, bytes)?;
    }
    let traced = run.trace_lines().concat();
    if traced.is_empty() { Ok(()) } else { observer.traced(&traced) }
}

/// When interim results are due.
struct InterimSchedule {
    every: Option<Duration>,
    /// Multiples of the interval that have passed.
    passed: u32,
    /// When the results that were requested are there.
    requested: Option<Instant>,
}

impl InterimSchedule {
    /// At each multiple of an interval from the run's origin, and on request.
    fn new(every: Option<Nanos>) -> InterimSchedule {
        let every = every.map(|every| Duration::from_nanos(every.0.max(1)));
        InterimSchedule { every, passed: 0, requested: None }
    }

    /// Asks the workers for their results.
    fn request(&mut self, run: &Run) {
        run.request_interim_results();
        self.requested.get_or_insert_with(|| Instant::now() + INTERIM_CHECK + GRACE);
    }

    /// Whether results are due; true once for each time.
    fn is_due(&mut self, origin: Instant) -> bool {
        let now = Instant::now();
        let requested = self.requested.take_if(|at| now >= *at).is_some();
        let Some(every) = self.every else { return requested };
        let next = origin + every * (self.passed + 1) + GRACE;
        let Some(late) = now.checked_duration_since(next) else { return requested };
        self.passed += 1 + (late.as_nanos() / every.as_nanos()) as u32;
        true
    }
}
