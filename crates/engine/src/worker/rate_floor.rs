//! `rate_min` and `rate_iops_min`.

use crate::live::LiveWorker;
use plan::Worker;
use record::{Direction, WorkerState};

/// Time from a worker's start to the first check of its rate. fio waits two seconds.
const SETTLING_NS: u64 = 2_000_000_000;

/// Checks the minimum rates over windows of `rate_cycle`, except while the worker reads back.
pub(crate) struct RateFloor {
    cycle: u64,
    /// Time of the next check.
    pub next: u64,
    /// I/Os and bytes at the start of the window.
    since: [(u64, u64); 3],
    pub paused: bool,
}

impl RateFloor {
    /// For a worker that starts at `started`; `None` if it has no minimum rate.
    pub fn new(worker: &Worker, started: u64) -> Option<RateFloor> {
        let pacing = &worker.pacing;
        let wanted = Direction::ALL
            .iter()
            .any(|d| pacing.min_bytes[*d].is_some() || pacing.min_iops[*d].is_some());
        let cycle = pacing.cycle.0.max(1_000_000);
        wanted.then(|| {
            let next = started.saturating_add(worker.stop.ramp.0.max(SETTLING_NS));
            RateFloor { cycle, next, since: [(0, 0); 3], paused: true }
        })
    }

    /// Starts a window.
    pub fn begin(&mut self, live: &LiveWorker, now: u64) {
        self.since = Direction::ALL.map(|d| (live.ios(d), live.bytes(d)));
        self.next = now.saturating_add(self.cycle);
    }

    /// Ends the window. Returns a message if a rate was too low.
    pub fn check(&mut self, worker: &Worker, live: &LiveWorker, now: u64) -> Option<String> {
        let (before, end) = (self.since, self.next);
        self.begin(live, now);
        if self.paused {
            self.paused = live.state() != WorkerState::Running;
            return None;
        }
        let seconds = now.saturating_sub(end).saturating_add(self.cycle) as f64 / 1e9;
        for direction in Direction::ALL {
            let (before, after) = (before[direction as usize], self.since[direction as usize]);
            let (ios, bytes) = (after.0 - before.0, after.1 - before.1);
            let pacing = &worker.pacing;
            let floors = [
                ("rate_min", pacing.min_bytes[direction], bytes, "bytes/s"),
                ("rate_iops_min", pacing.min_iops[direction], ios, "IOPS"),
            ];
            for (option, floor, done, unit) in floors {
                let rate = done as f64 / seconds;
                if let Some(floor) = floor.filter(|f| rate < *f as f64) {
                    return Some(format!(
                        "{option} not met: {} reached {rate:.0} {unit}, {floor} were asked for",
                        direction.name()
                    ));
                }
            }
        }
        None
    }
}
