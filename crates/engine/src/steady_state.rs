//! Ends workers once they are steady (`steadystate`).

use crate::live::LiveWorker;
use crate::trace::Trace;
use plan::{Plan, SteadyFigure, SteadyLimit, SteadyWatch};
use record::{Direction, SteadyResult, SteadySample};
use std::collections::VecDeque;

/// Workers of one report, judged together.
pub(crate) struct SteadyGroup {
    watch: SteadyWatch,
    /// Indexes of the workers.
    pub members: Vec<usize>,
    /// Start of the current sample, and the totals then; `None` before the first window.
    current: Option<(u64, Totals)>,
    window: VecDeque<SteadySample>,
    verdict: Verdict,
    /// Number of samples.
    samples: usize,
    /// Number of samples traced; `None` without tracing.
    traced: Option<usize>,
}

#[derive(Clone, Copy, Default)]
struct Totals {
    ios: u64,
    bytes: u64,
    latency_ns: u64,
}

/// The result of the last full window.
#[derive(Clone, Copy, Default)]
struct Verdict {
    attained: bool,
    value: f64,
    deviation: f64,
    slope: f64,
}

/// The groups of a plan, one per report with `steadystate`.
pub(crate) fn groups(plan: &Plan) -> Vec<SteadyGroup> {
    let mut all: Vec<SteadyGroup> = Vec::new();
    for (index, worker) in plan.workers.iter().enumerate() {
        let Some(watch) = worker.limits.steady else { continue };
        let same = |group: &&mut SteadyGroup| plan.workers[group.members[0]].group == worker.group;
        match all.iter_mut().find(same) {
            Some(known) => known.members.push(index),
            None => all.push(SteadyGroup {
                watch,
                members: vec![index],
                current: None,
                window: VecDeque::new(),
                verdict: Verdict::default(),
                samples: 0,
                traced: worker.trace.steadystate.then_some(0),
            }),
        }
    }
    all
}

impl SteadyGroup {
    /// Takes a sample at `now` if one is due. Returns when to call again; `None` once the group is steady
    /// or has ended. A worker counts from the end of its ramp.
    pub fn check(&mut self, live: &[LiveWorker], now: u64) -> Option<u64> {
        let states = || self.members.iter().map(|member| live[*member].progress());
        if self.verdict.attained || states().all(|progress| progress.is_over) {
            return None;
        }
        let Some((began, before)) = self.current else {
            // The ramp counts from the start of the last worker.
            let last =
                states().map(|progress| progress.running_since).collect::<Option<Vec<u64>>>();
            let Some(start) = last.and_then(|all| all.into_iter().max()) else {
                return Some(now + POLL_NS);
            };
            let first = start.saturating_add(self.watch.ramp.0);
            if now < first {
                return Some(first);
            }
            self.current = Some((now, self.totals(live)));
            return Some(now.saturating_add(self.watch.interval.0));
        };
        let due = began.saturating_add(self.watch.interval.0);
        if now < due {
            return Some(due);
        }
        let totals = self.totals(live);
        self.add(sample(before, totals, now - began));
        self.current = Some((now, totals));
        if self.verdict.attained {
            self.members.iter().for_each(|member| live[*member].ask_to_stop());
            return None;
        }
        // Counted from the due time, so that delays do not add up.
        Some(due.saturating_add(self.watch.interval.0).max(now + 1))
    }

    fn totals(&self, live: &[LiveWorker]) -> Totals {
        let mut totals = Totals::default();
        for live in self.members.iter().map(|member| &live[*member]) {
            totals.ios += Direction::ALL.iter().map(|d| live.ios(*d)).sum::<u64>();
            totals.bytes += Direction::ALL.iter().map(|d| live.bytes(*d)).sum::<u64>();
            totals.latency_ns += live.latency();
        }
        totals
    }

    fn add(&mut self, sample: SteadySample) {
        if self.window.len() == self.watch.samples {
            self.window.pop_front();
        }
        self.window.push_back(sample);
        self.samples += 1;
        if self.window.len() == self.watch.samples {
            self.verdict = self.judge();
        }
    }

    /// Traces the last sample and the verdict, once.
    pub fn trace(&mut self, trace: &Trace) {
        let (Some(traced), Some(last)) = (&mut self.traced, self.window.back()) else { return };
        if std::mem::replace(traced, self.samples) == self.samples {
            return;
        }
        let (full, size) = (self.window.len() == self.watch.samples, self.watch.samples.max(1));
        let tail = (self.samples - 1) % size;
        let head = if full { self.samples % size } else { 0 };
        trace.line(
            "steadystate",
            &format!(
                "steadystate_check() thread: {}, groupid: 0, rate_msec: {}, iops: {:.0}, bw: {:.0}, \
                 head: {head}, tail: {tail}",
                self.members[0],
                self.watch.interval.0 / 1_000_000,
                last.iops,
                last.bytes_per_second,
            ),
        );
        if full {
            trace.line("steadystate", &self.describe_verdict());
        }
    }

    /// How the last full window was judged.
    fn describe_verdict(&self) -> String {
        let values: Vec<f64> = self.window.iter().map(|sample| self.figure(sample)).collect();
        let sum: f64 = values.iter().sum();
        let (SteadyLimit::Value(limit) | SteadyLimit::Percent(limit)) = self.watch.limit;
        let Verdict { value, deviation, slope, .. } = self.verdict;
        if self.watch.criterion.slope {
            let products: f64 = values.iter().enumerate().map(|(x, y)| x as f64 * y).sum();
            return format!(
                "sum_y: {sum:.0}, sum_xy: {products:.0}, slope: {slope:.6}, criterion: {value:.6}, \
                 limit: {limit:.6}"
            );
        }
        let mean = sum / values.len() as f64;
        format!(
            "sum_y: {sum:.0}, mean: {mean:.6}, max diff: {deviation:.6}, objective: {value:.6}, \
             limit: {limit:.6}"
        )
    }

    /// Compares the window with the limit. The slope is by least squares over the sample's number.
    fn judge(&self) -> Verdict {
        let values: Vec<f64> = self.window.iter().map(|s| self.figure(s)).collect();
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let mut verdict = Verdict::default();
        let distance = if self.watch.criterion.slope {
            let middle = (count - 1.0) / 2.0;
            let (mut products, mut squares) = (0.0, 0.0);
            for (number, value) in values.iter().enumerate() {
                let x = number as f64 - middle;
                products += x * (value - mean);
                squares += x * x;
            }
            verdict.slope = products / squares;
            verdict.slope
        } else {
            verdict.deviation = values.iter().map(|v| (v - mean).abs()).fold(0.0, f64::max);
            verdict.deviation
        };
        let (value, limit) = match self.watch.limit {
            SteadyLimit::Value(limit) => (distance, limit),
            // A percentage of zero is undefined.
            SteadyLimit::Percent(_) if mean == 0.0 => return verdict,
            SteadyLimit::Percent(limit) => (distance * 100.0 / mean, limit),
        };
        verdict.value = value;
        // A worker without I/O is stuck, not steady.
        verdict.attained = mean > 0.0 && value.abs() <= limit;
        verdict
    }

    fn figure(&self, sample: &SteadySample) -> f64 {
        match self.watch.criterion.figure {
            SteadyFigure::Iops => sample.iops,
            SteadyFigure::Bandwidth => sample.bytes_per_second,
            SteadyFigure::Latency => sample.latency_ns,
        }
    }

    /// The result for the record.
    pub fn result(&self) -> SteadyResult {
        let (limit, percent) = match self.watch.limit {
            SteadyLimit::Value(limit) => (limit, false),
            SteadyLimit::Percent(limit) => (limit, true),
        };
        SteadyResult {
            criterion: self.watch.criterion.name().into(),
            limit,
            percent,
            duration: self.watch.duration(),
            interval: self.watch.interval,
            attained: self.verdict.attained,
            value: self.verdict.value,
            deviation: self.verdict.deviation,
            slope: self.verdict.slope,
            samples: self.window.iter().copied().collect(),
        }
    }
}

/// How often to check whether all workers have started.
const POLL_NS: u64 = 20_000_000;

/// Rates are whole numbers, as in fio and in reports, so that the verdict can be reproduced from them.
fn sample(before: Totals, after: Totals, elapsed: u64) -> SteadySample {
    let seconds = elapsed.max(1) as f64 / 1e9;
    let ios = after.ios - before.ios;
    SteadySample {
        iops: (ios as f64 / seconds).floor(),
        bytes_per_second: ((after.bytes - before.bytes) as f64 / seconds).floor(),
        latency_ns: (after.latency_ns - before.latency_ns) as f64 / ios.max(1) as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::{SteadyCriterion, Worker};
    use record::{Nanos, WorkerState};

    const SECOND: u64 = 1_000_000_000;

    fn watch(figure: SteadyFigure, slope: bool, limit: SteadyLimit) -> SteadyWatch {
        let interval = Nanos(SECOND);
        let criterion = SteadyCriterion { figure, slope };
        SteadyWatch { criterion, limit, samples: 4, interval, ramp: Nanos(2 * SECOND) }
    }

    /// Runs one worker that does `ios` in each second; returns the result and after how many
    /// seconds it was ended.
    fn run(watch: SteadyWatch, ios: &[u64]) -> (SteadyResult, Option<usize>) {
        let mut worker = Worker::default();
        worker.limits.steady = Some(watch);
        let plan = Plan { workers: vec![worker], ..Plan::default() };
        let live = [LiveWorker::default()];
        let mut group = groups(&plan).remove(0);
        live[0].set_state(WorkerState::Created);
        assert!(group.check(&live, 0).is_some());
        live[0].set_started(0);
        live[0].set_state(WorkerState::Running);
        live[0].set_running_since(SECOND);
        assert_eq!(group.check(&live, SECOND), Some(3 * SECOND), "the ramp comes first");
        let mut now = 3 * SECOND;
        group.check(&live, now);
        for (second, ios) in ios.iter().enumerate() {
            (0..*ios).for_each(|_| {
                live[0].count(Direction::Read, 512);
                live[0].add_latency(1000);
            });
            now += SECOND;
            if group.check(&live, now).is_none() {
                assert!(live[0].asked_to_stop());
                return (group.result(), Some(second + 1));
            }
        }
        live[0].set_state(WorkerState::Exited);
        assert_eq!(group.check(&live, now + 1), None);
        (group.result(), None)
    }

    #[test]
    fn a_window_within_the_limit_ends_the_worker() {
        let percent = SteadyLimit::Percent(5.0);
        let load = [500, 100, 104, 98, 102, 100, 100];
        let (result, ended) = run(watch(SteadyFigure::Iops, false, percent), &load);
        assert_eq!((result.attained, ended, result.samples.len()), (true, Some(5), 4));
        assert!((result.deviation - 3.0).abs() < 1e-6, "{result:?}");
        assert!((result.value - 3.0 * 100.0 / 101.0).abs() < 1e-6, "{result:?}");
        let value = SteadyLimit::Value(2.9 * 512.0);
        let (result, ended) = run(watch(SteadyFigure::Bandwidth, false, value), &load);
        assert_eq!((ended, result.percent), (Some(7), false), "{result:?}");
    }

    /// The oracle's figures of a run: 2196424, 1777197, 1529808 IOPS have a slope of -333308, which
    /// is -18.169 per cent of the mean.
    #[test]
    fn the_slope_is_the_oracles() {
        let limit = SteadyLimit::Percent(18.0);
        let watch = SteadyWatch { samples: 3, ..watch(SteadyFigure::Iops, true, limit) };
        let mut group = SteadyGroup {
            watch,
            members: vec![0],
            current: None,
            window: VecDeque::new(),
            verdict: Verdict::default(),
            samples: 0,
            traced: None,
        };
        for iops in [2_196_424.0, 1_777_197.0, 1_529_808.0] {
            group.add(SteadySample { iops, ..SteadySample::default() });
        }
        let result = group.result();
        assert!((result.slope + 333_308.0).abs() < 1e-3, "{result:?}");
        assert!((result.value + 18.169_111).abs() < 1e-4 && !result.attained, "{result:?}");
    }

    #[test]
    fn nothing_at_all_is_not_steady() {
        let watch = watch(SteadyFigure::Iops, true, SteadyLimit::Value(10.0));
        let (result, ended) = run(watch, &[0; 8]);
        assert_eq!((result.attained, ended), (false, None));
    }

    #[test]
    fn latency_is_the_mean_of_the_sample() {
        let watch = watch(SteadyFigure::Latency, false, SteadyLimit::Value(1.0));
        let (result, ended) = run(watch, &[10, 500, 3, 70]);
        assert_eq!(ended, Some(4));
        assert!(result.samples.iter().all(|s| s.latency_ns == 1000.0), "{result:?}");
    }
}
