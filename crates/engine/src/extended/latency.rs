//! Limits on latency: one that ends the worker, and one that its depth has to keep.

use super::Chore;
use crate::meter::Stamps;
use crate::ops::{Fault, Op};
use crate::steps::{Policy, Wish};
use crate::trace::Trace;
use crate::worker::Builder;
use plan::{LatencySearch, Worker};
use record::{LatencyDepth, Message, Nanos, PerDirection};
use std::sync::Arc;

/// Ends the worker at the first I/O that takes too long (`max_latency`).
pub(super) struct MaxLatency(PerDirection<Option<Nanos>>);

impl MaxLatency {
    /// `None` when the worker has no such limit.
    pub fn new(worker: &Worker) -> Option<MaxLatency> {
        let limits = worker.limits.max_latency;
        limits.iter().any(|(_, limit)| limit.is_some()).then_some(MaxLatency(limits))
    }
}

/// As fio counts it: from the making of an I/O to its end.
fn total(stamps: &Stamps, now: u64) -> u64 {
    now.saturating_sub(stamps.ready)
}

fn too_long(text: String) -> Fault {
    Fault { errno: libc::ETIMEDOUT, operation: "latency", text, ends: true }
}

impl Chore for MaxLatency {
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

    fn gather(self: Box<Self>, _: u64, _: &mut Builder<'_>) {}
}

/// Looks for the greatest depth that keeps a latency (`latency_target`), by halving the range of
/// depths in question with each window.
pub(super) struct DepthSearch {
    wanted: LatencySearch,
    name: String,
    most: u32,
    low_mark: u32,
    batch: u32,
    /// The depth tried now, and the depths still in question: at least `low` (0: none is known to
    /// keep it), at most `high`.
    depth: u32,
    low: u32,
    high: u32,
    /// The depth is known; this window gives its figures.
    found: bool,
    /// Windows in a row that kept the target at the depth found.
    kept: u32,
    /// When the window began; `None` before the first.
    began: Option<u64>,
    ios: u64,
    late: u64,
    worst: u64,
    /// What came of the last window; `None` before one has ended.
    judged: Option<Judged>,
    trace: Option<Arc<Trace>>,
}

/// What came of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Judged {
    kept: bool,
    ios: u64,
    late: u64,
}

/// A depth that was kept for so many windows may have become too low: with `latency_run` a greater
/// one is tried.
const WINDOWS_BEFORE_MORE: u32 = 10;

impl DepthSearch {
    /// `None` when the worker has no such target.
    pub fn new(worker: &Worker) -> Option<DepthSearch> {
        let wanted = worker.limits.latency?;
        let depth = worker.queue.depth;
        Some(DepthSearch {
            wanted,
            name: worker.name.clone(),
            most: depth,
            low_mark: worker.queue.low,
            batch: 0,
            depth,
            low: 0,
            high: depth,
            found: false,
            kept: 0,
            // With a ramp, it begins at its end.
            began: (worker.stop.ramp.0 == 0).then_some(0),
            ios: 0,
            late: 0,
            worst: 0,
            judged: None,
            trace: None,
        })
    }

    /// Has each step of the search told, where that is asked for.
    pub fn traced(mut self, worker: &Worker, trace: &Arc<Trace>) -> DepthSearch {
        if worker.trace.rate {
            trace.say("rate", &format!("Latency target={}", self.wanted.target.0));
            self.trace = Some(Arc::clone(trace));
        }
        self
    }

    /// Tells what came of a window at depth `before`.
    fn tell(&self, before: u32, was_found: bool, wish: Wish) {
        let (Some(trace), Some(judged)) = (&self.trace, self.judged) else { return };
        let rate = (judged.ios - judged.late) as f64 * 100.0 / judged.ios.max(1) as f64;
        let target = self.wanted.percentile;
        trace.say("rate", &format!("Success rate: {rate:.2}% (target {target:.2}%)"));
        if before != self.depth {
            let way = if judged.kept { "up" } else { "down" };
            trace.say("rate", &format!("Ramped {way}: {before} {} {}", self.depth, self.most));
        }
        if self.found && !was_found {
            trace.say("rate", "Quiesce and final run");
        }
        if wish == Wish::End {
            trace.say("rate", "We are done");
        }
    }

    fn begin(&mut self, now: u64) {
        self.began = Some(now);
        (self.ios, self.late, self.worst) = (0, 0, 0);
    }

    fn keeps(&self) -> bool {
        let in_time = (self.ios - self.late) as f64;
        in_time >= self.ios as f64 * self.wanted.percentile / 100.0
    }

    /// Judges the window that ends, and chooses the depth of the next.
    ///
    /// # Errors
    /// Every I/O has to keep the target and not even one at a time does.
    fn next_depth(&mut self) -> Result<Wish, Fault> {
        let kept = self.keeps();
        self.judged = Some(Judged { kept, ios: self.ios, late: self.late });
        if kept {
            self.low = self.depth;
            if self.found {
                return Ok(self.stay());
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
        self.kept = 0;
        if self.low == self.high {
            (self.found, self.depth) = (true, self.low);
            return Ok(Wish::Restart);
        }
        self.depth = (self.low + self.high).div_ceil(2).max(1);
        Ok(Wish::None)
    }

    /// One more window at the depth found kept the target.
    fn stay(&mut self) -> Wish {
        if !self.wanted.run {
            return Wish::End;
        }
        self.kept += 1;
        if self.kept >= WINDOWS_BEFORE_MORE && self.depth < self.most {
            (self.found, self.kept) = (false, 0);
            self.high = self.depth.saturating_mul(2).min(self.most);
            self.depth = (self.low + self.high).div_ceil(2);
        }
        Wish::None
    }

    /// As fio has it: fatal where every I/O has to keep the target, else the worker goes on one at a
    /// time.
    fn give_up(&mut self) -> Result<Wish, Fault> {
        (self.low, self.high, self.kept) = (0, 1, 0);
        if self.wanted.percentile < 100.0 || self.wanted.run {
            return Ok(Wish::None);
        }
        Err(too_long(format!(
            "latency_target is not met at a depth of 1 either: the slowest I/O took {} ns, {} ns \
             were asked for",
            self.worst, self.wanted.target.0
        )))
    }

    fn apply(&mut self, policy: &mut Policy) {
        if self.batch == 0 {
            self.batch = policy.batch;
        }
        policy.depth = self.depth;
        policy.low = self.low_mark.min(self.depth);
        policy.batch = self.batch.min(self.depth);
    }
}

impl Chore for DepthSearch {
    fn ended(&mut self, op: &Op, stamps: &Stamps, now: u64) -> Result<(), Fault> {
        // What was made at another depth says nothing of this one.
        if op.kind.direction().is_none() || self.began.is_none_or(|began| stamps.ready < began) {
            return Ok(());
        }
        let latency = total(stamps, now);
        self.ios += 1;
        self.late += u64::from(latency > self.wanted.target.0);
        self.worst = self.worst.max(latency);
        Ok(())
    }

    fn window_begins(&mut self, now: u64) {
        self.begin(now);
    }

    fn tick(&mut self, policy: &mut Policy, now: u64) -> Result<u64, Fault> {
        let Some(began) = self.began else {
            self.apply(policy);
            return Ok(u64::MAX);
        };
        if began == 0 {
            self.begin(now);
            self.apply(policy);
            return Ok(now.saturating_add(self.wanted.window.0));
        }
        let end = began.saturating_add(self.wanted.window.0);
        // A window in which nothing ended shows nothing yet.
        if now < end || self.ios == 0 {
            return Ok(end.max(now + 1_000_000));
        }
        let (before, was_found) = (self.depth, self.found);
        policy.wish = self.next_depth()?;
        self.tell(before, was_found, policy.wish);
        self.begin(now);
        self.apply(policy);
        Ok(now.saturating_add(self.wanted.window.0))
    }

    fn gather(self: Box<Self>, _: u64, builder: &mut Builder<'_>) {
        let LatencySearch { target, window, percentile, .. } = self.wanted;
        let depth = self.depth;
        let met = self.judged.is_some_and(|judged| judged.kept);
        builder.latency_depth(LatencyDepth { target, window, percentile, depth, met });
        let text = match self.judged {
            None => format!(
                "latency_target was not judged: it ended before the first window of {} ms did",
                window.0 / 1_000_000
            ),
            Some(Judged { kept: false, ios, late }) => format!(
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
        builder.messages.push(Message::warning(Some(&self.name), text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::OpKind;

    const WINDOW: u64 = 1_000_000;

    fn search(depth: u32, percentile: f64, run: bool) -> DepthSearch {
        let mut worker = Worker::default();
        worker.queue.depth = depth;
        worker.queue.low = depth;
        worker.limits.latency =
            Some(LatencySearch { target: Nanos(1000), window: Nanos(WINDOW), percentile, run });
        DepthSearch::new(&worker).unwrap()
    }

    fn policy(depth: u32) -> Policy {
        Policy {
            depth,
            batch: depth,
            complete_min: 1,
            complete_max: depth,
            low: depth,
            wish: Wish::None,
        }
    }

    /// Runs windows of 100 I/Os until the search ends or `most` have passed, on a device whose I/Os
    /// are late beyond `capable`. Returns the depths tried.
    fn run(search: &mut DepthSearch, capable: u32, most: u32) -> Result<Vec<u32>, Fault> {
        let mut policy = policy(search.most);
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
            if policy.wish == Wish::End {
                break;
            }
        }
        Ok(depths)
    }

    #[test]
    fn the_greatest_depth_that_keeps_the_target_is_found_and_measured_once_more() {
        for (depth, capable) in [(32, 32), (32, 9), (32, 1), (1, 1), (100, 99), (7, 3)] {
            let mut search = search(depth, 95.0, false);
            let tried = run(&mut search, capable, 100).unwrap();
            assert_eq!(tried.last(), Some(&capable), "{tried:?}");
            assert!(search.judged.unwrap().kept && search.found && tried.len() < 12, "{tried:?}");
        }
    }

    #[test]
    fn a_target_out_of_reach_is_fatal_only_where_every_io_has_to_keep_it() {
        let fault = run(&mut search(32, 100.0, false), 0, 100).unwrap_err();
        assert_eq!((fault.errno, fault.ends), (libc::ETIMEDOUT, true));
        let mut patient = search(32, 99.0, false);
        let tried = run(&mut patient, 0, 30).unwrap();
        assert_eq!(
            (tried.len(), tried.last(), patient.judged.unwrap().kept),
            (30, Some(&1), false)
        );
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
