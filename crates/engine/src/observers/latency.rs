//! Limits on latency: `max_latency` ends the worker, `latency_target` sets its depth.

use super::IoObserver;
use crate::hot::op::{Fault, LoopRequest, Op, QueuePolicy};
use crate::job_record::JobRecordBuilder;
use crate::meter::Stamps;
use crate::trace::Trace;
use plan::{LatencySearch, Worker};
use record::{LatencyDepth, Nanos, PerDirection};
use std::sync::Arc;

/// Ends the worker at the first I/O that takes too long (`max_latency`).
pub(crate) struct MaxLatency(PerDirection<Option<Nanos>>);

impl MaxLatency {
    /// `None` without a limit.
    pub fn new(worker: &Worker) -> Option<MaxLatency> {
        let limits = worker.limits.max_latency;
        limits.iter().any(|(_, limit)| limit.is_some()).then_some(MaxLatency(limits))
    }
}

/// As in fio: from the creation of an I/O to its end.
fn total(stamps: &Stamps, now: u64) -> u64 {
    now.saturating_sub(stamps.ready)
}

fn too_long(text: String) -> Fault {
    Fault { errno: libc::ETIMEDOUT, operation: "latency", text, ends: true }
}

impl IoObserver for MaxLatency {
    fn ended(&mut self, op: &Op, stamps: &Stamps, now: u64) -> Result<(), Fault> {
        let Some(direction) = op.kind.direction() else { return Ok(()) };
        let latency = total(stamps, now);
        match self.0[direction] {
            Some(limit) if latency > limit.0 => Err(too_long(format!(
                "a {} of {} bytes at offset {} took {latency} ns, max_latency is {} ns",
                direction.name(),
                op.length,
                op.offset,
                limit.0
            ))),
            _ => Ok(()),
        }
    }
}

/// Searches for the greatest depth that meets a latency (`latency_target`): a binary search with one
/// depth per window.
pub(crate) struct DepthSearch {
    target: LatencySearch,
    depth_max: u32,
    low_mark: u32,
    batch: u32,
    /// The depth of this window.
    depth: u32,
    /// Greatest depth known to meet the target; 0 if none is known.
    low: u32,
    /// Greatest depth that may meet the target.
    high: u32,
    /// The depth is known; this window measures it.
    found: bool,
    /// Windows in a row that met the target at the depth found.
    met_in_row: u32,
    /// Start of the window; `None` before the first.
    began: Option<u64>,
    ios: u64,
    /// I/Os that took longer than the target.
    late: u64,
    /// Latency of the slowest I/O, in nanoseconds.
    worst: u64,
    last: Option<WindowResult>,
    trace: Option<Arc<Trace>>,
}

/// The result of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct WindowResult {
    met: bool,
    ios: u64,
    late: u64,
}

/// With `latency_run`, a greater depth is tried after this many windows that met the target.
const WINDOWS_BEFORE_MORE: u32 = 10;

impl DepthSearch {
    /// `None` without a target.
    pub fn new(worker: &Worker, trace: &Arc<Trace>) -> Option<DepthSearch> {
        let target = worker.limits.latency?;
        if worker.trace.rate {
            trace.line("rate", &format!("Latency target={}", target.target.0));
        }
        let depth = worker.queue.depth;
        Some(DepthSearch {
            target,
            depth_max: depth,
            low_mark: worker.queue.low,
            batch: 0,
            depth,
            low: 0,
            high: depth,
            found: false,
            met_in_row: 0,
            // With a ramp, the search starts at its end.
            began: (worker.stop.ramp.0 == 0).then_some(0),
            ios: 0,
            late: 0,
            worst: 0,
            last: None,
            trace: worker.trace.rate.then(|| Arc::clone(trace)),
        })
    }

    /// Traces the result of a window at depth `before`.
    fn trace(&self, before: u32, was_found: bool, request: LoopRequest) {
        let (Some(trace), Some(last)) = (&self.trace, self.last) else { return };
        let rate = (last.ios - last.late) as f64 * 100.0 / last.ios.max(1) as f64;
        let target = self.target.percentile;
        trace.line("rate", &format!("Success rate: {rate:.2}% (target {target:.2}%)"));
        if before != self.depth {
            let way = if last.met { "up" } else { "down" };
            trace
                .line("rate", &format!("Ramped {way}: {before} {} {}", self.depth, self.depth_max));
        }
        if self.found && !was_found {
            trace.line("rate", "Quiesce and final run");
        }
        if request == LoopRequest::End {
            trace.line("rate", "We are done");
        }
    }

    fn begin(&mut self, now: u64) {
        self.began = Some(now);
        (self.ios, self.late, self.worst) = (0, 0, 0);
    }

    fn meets_target(&self) -> bool {
        let in_time = (self.ios - self.late) as f64;
        in_time >= self.ios as f64 * self.target.percentile / 100.0
    }

    /// Ends a window and chooses the depth of the next. A fault: every I/O has to meet the target, and
    /// depth 1 does not.
    fn next_depth(&mut self) -> Result<LoopRequest, Fault> {
        let met = self.meets_target();
        self.last = Some(WindowResult { met, ios: self.ios, late: self.late });
        if met {
            self.low = self.depth;
            if self.found {
                return Ok(self.confirm());
            }
        } else {
            if self.depth == 1 {
                return self.give_up();
            }
            self.high = self.depth - 1;
            if self.found || self.low > self.high {
                (self.found, self.low) = (false, 0);
            }
        }
        self.met_in_row = 0;
        if self.low == self.high {
            (self.found, self.depth) = (true, self.low);
            return Ok(LoopRequest::Restart);
        }
        self.depth = (self.low + self.high).div_ceil(2).max(1);
        Ok(LoopRequest::None)
    }

    /// Another window at the depth found met the target.
    fn confirm(&mut self) -> LoopRequest {
        if !self.target.run {
            return LoopRequest::End;
        }
        self.met_in_row += 1;
        if self.met_in_row >= WINDOWS_BEFORE_MORE && self.depth < self.depth_max {
            (self.found, self.met_in_row) = (false, 0);
            self.high = self.depth.saturating_mul(2).min(self.depth_max);
            self.depth = (self.low + self.high).div_ceil(2);
        }
        LoopRequest::None
    }

    /// As in fio: fatal if every I/O has to meet the target; else the worker continues at depth 1.
    fn give_up(&mut self) -> Result<LoopRequest, Fault> {
        (self.low, self.high, self.met_in_row) = (0, 1, 0);
        if self.target.percentile < 100.0 || self.target.run {
            return Ok(LoopRequest::None);
        }
        Err(too_long(format!(
            "latency_target is not met at a depth of 1 either: the slowest I/O took {} ns, {} ns \
             were asked for",
            self.worst, self.target.target.0
        )))
    }

    fn apply(&mut self, policy: &mut QueuePolicy) {
        if self.batch == 0 {
            self.batch = policy.batch;
        }
        policy.depth = self.depth;
        policy.low = self.low_mark.min(self.depth);
        policy.batch = self.batch.min(self.depth);
    }
}

impl IoObserver for DepthSearch {
    fn ended(&mut self, op: &Op, stamps: &Stamps, now: u64) -> Result<(), Fault> {
        // I/O created at another depth does not count for this one.
        if op.kind.direction().is_none() || self.began.is_none_or(|began| stamps.ready < began) {
            return Ok(());
        }
        let latency = total(stamps, now);
        self.ios += 1;
        self.late += u64::from(latency > self.target.target.0);
        self.worst = self.worst.max(latency);
        Ok(())
    }

    fn window_started(&mut self, now: u64) {
        self.begin(now);
    }

    fn tick(&mut self, policy: &mut QueuePolicy, now: u64) -> Result<u64, Fault> {
        let Some(began) = self.began else {
            self.apply(policy);
            return Ok(u64::MAX);
        };
        if began == 0 {
            self.begin(now);
            self.apply(policy);
            return Ok(now.saturating_add(self.target.window.0));
        }
        let end = began.saturating_add(self.target.window.0);
        // A window continues until an I/O ends.
        if now < end || self.ios == 0 {
            return Ok(end.max(now + 1_000_000));
        }
        let (before, was_found) = (self.depth, self.found);
        policy.request = self.next_depth()?;
        self.trace(before, was_found, policy.request);
        self.begin(now);
        self.apply(policy);
        Ok(now.saturating_add(self.target.window.0))
    }

    fn record(&mut self, _: u64, builder: &mut JobRecordBuilder<'_>) {
        let LatencySearch { target, window, percentile, .. } = self.target;
        let depth = self.depth;
        let met = self.last.is_some_and(|last| last.met);
        builder.job.latency_depth = Some(LatencyDepth { target, window, percentile, depth, met });
        let text = match self.last {
            None => format!(
                "latency_target was not judged: it ended before the first window of {} ms did",
                window.0 / 1_000_000
            ),
            Some(WindowResult { met: false, ios, late }) => format!(
                "latency_target was not met in the last window, at a depth of {depth}: {late} of \
                 {ios} I/Os took longer than {} ns",
                target.0
            ),
            Some(_) if !self.found => format!(
                "the search for the depth that latency_target allows had not ended: at least {}, \
                 at most {}",
                self.low, self.high
            ),
            Some(_) => return,
        };
        builder.warn(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hot::op::OpKind;

    const WINDOW: u64 = 1_000_000;

    fn search(depth: u32, percentile: f64, run: bool) -> DepthSearch {
        let mut worker = Worker::default();
        worker.queue.depth = depth;
        worker.queue.low = depth;
        worker.limits.latency =
            Some(LatencySearch { target: Nanos(1000), window: Nanos(WINDOW), percentile, run });
        DepthSearch::new(&worker, &Arc::default()).unwrap()
    }

    /// Runs windows of 100 I/Os until the search ends or `most` have passed, on a device whose I/Os
    /// are late beyond `capable`. Returns the depths tried.
    fn run(search: &mut DepthSearch, capable: u32, most: u32) -> Result<Vec<u32>, Fault> {
        let mut policy = QueuePolicy::all_at_once(search.depth_max);
        let mut now = search.began.unwrap_or(0) + 5;
        let mut depths = Vec::new();
        let op = Op { kind: OpKind::Read, file: 0, offset: 0, length: 512, tag: 0 };
        now = search.tick(&mut policy, now)?.min(now + 10);
        for _ in 0..most {
            depths.push(policy.depth);
            for _ in 0..100 {
                let latency = if policy.depth > capable { 2000 } else { 500 };
                now += 5;
                let stamps = Stamps { intended: now, ready: now, issued: now };
                search.ended(&op, &stamps, now + latency)?;
            }
            now += WINDOW;
            search.tick(&mut policy, now)?;
            if policy.request == LoopRequest::End {
                break;
            }
        }
        Ok(depths)
    }

    #[test]
    fn the_greatest_depth_that_meets_the_target_is_found_and_measured_again() {
        for (depth, capable) in [(32, 32), (32, 9), (32, 1), (1, 1), (100, 99), (7, 3)] {
            let mut search = search(depth, 95.0, false);
            let tried = run(&mut search, capable, 100).unwrap();
            assert_eq!(tried.last(), Some(&capable), "{tried:?}");
            assert!(search.last.unwrap().met && search.found && tried.len() < 12, "{tried:?}");
        }
    }

    #[test]
    fn a_target_out_of_reach_is_fatal_only_where_every_io_has_to_keep_it() {
        let fault = run(&mut search(32, 100.0, false), 0, 100).unwrap_err();
        assert_eq!((fault.errno, fault.ends), (libc::ETIMEDOUT, true));
        let mut patient = search(32, 99.0, false);
        let tried = run(&mut patient, 0, 30).unwrap();
        assert_eq!((tried.len(), tried.last(), patient.last.unwrap().met), (30, Some(&1), false));
    }

    #[test]
    fn latency_run_follows_a_device_that_changes() {
        let mut search = search(32, 95.0, true);
        let mut at = |capable: u32, windows| {
            let tried = run(&mut search, capable, windows).unwrap();
            tried.into_iter().filter(|depth| *depth == capable).count()
        };
        // Now and then it tries more than the device can do.
        assert!(at(8, 40) > 25);
        assert!(at(3, 40) > 20);
        assert!(at(32, 120) > 40);
    }
}
