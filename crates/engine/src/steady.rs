//! Watches workers until they are steady, and ends them then (`steadystate`).

use crate::live::LiveWorker;
use crate::trace::Trace;
use plan::{Plan, SteadyFigure, SteadyLimit, SteadyWatch};
use record::{Direction, SteadyResult, SteadySample};
use std::collections::VecDeque;

/// Workers of one report, watched together.
pub(crate) struct Watched {
    watch: SteadyWatch,
    /// Indexes of the workers.
    pub members: Vec<usize>,
    /// Start of the running sample and the totals then; `None` before the first window.
    running: Option<(u64, Totals)>,
    window: VecDeque<SteadySample>,
    judged: Judged,
    /// Samples taken; and told, where they are traced.
    taken: usize,
    told: Option<usize>,
}

#[derive(Clone, Copy, Default)]
struct Totals {
    ios: u64,
    bytes: u64,
    latency_ns: u64,
}

/// The last whole window.
#[derive(Clone, Copy, Default)]
struct Judged {
    attained: bool,
    value: f64,
    deviation: f64,
    slope: f64,
}

/// The reports of a plan whose workers are watched.
pub(crate) fn watched(plan: &Plan) -> Vec<Watched> {
    let mut all: Vec<Watched> = Vec::new();
    for (index, worker) in plan.workers.iter().enumerate() {
        let Some(watch) = worker.limits.steady else { continue };
        let group = |watched: &&mut Watched| plan.workers[watched.members[0]].group == worker.group;
        match all.iter_mut().find(group) {
            Some(known) => known.members.push(index),
            None => all.push(Watched {
                watch,
                members: vec![index],
                running: None,
                window: VecDeque::new(),
                judged: Judged::default(),
                taken: 0,
                told: worker.trace.steadystate.then_some(0),
            }),
        }
    }
    all
}

impl Watched {
    /// Looks at the workers at `now`. Returns when to look again: `None` once there is nothing more
    /// to see. A worker counts from the end of its ramp.
    pub fn look(&mut self, live: &[LiveWorker], now: u64) -> Option<u64> {
        let states = || self.members.iter().map(|member| live[*member].progress());
        if self.judged.attained || states().all(|progress| progress.is_over) {
            return None;
        }
        let Some((began, before)) = self.running else {
            // All of them have to run; when one of them began last is when the ramp counts from.
            let last =
                states().map(|progress| progress.running_since).collect::<Option<Vec<u64>>>();
            let Some(start) = last.and_then(|all| all.into_iter().max()) else {
                return Some(now + LOOK_AGAIN_NS);
            };
            let first = start.saturating_add(self.watch.ramp.0);
            if now < first {
                return Some(first);
            }
            self.running = Some((now, self.totals(live)));
            return Some(now.saturating_add(self.watch.interval.0));
        };
        let due = began.saturating_add(self.watch.interval.0);
        if now < due {
            return Some(due);
        }
        let totals = self.totals(live);
        self.add(sample(before, totals, now - began));
        self.running = Some((now, totals));
        if self.judged.attained {
            self.members.iter().for_each(|member| live[*member].ask_to_stop());
            return None;
        }
        // From the moment it was due, so that lateness does not add up.
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
        self.taken += 1;
        if self.window.len() == self.watch.samples {
            self.judged = self.judge();
        }
    }

    /// Tells of the last sample and what came of it, where that is traced; once.
    pub fn tell(&mut self, trace: &Trace) {
        let (Some(told), Some(last)) = (&mut self.told, self.window.back()) else { return };
        if std::mem::replace(told, self.taken) == self.taken {
            return;
        }
        let (full, size) = (self.window.len() == self.watch.samples, self.watch.samples.max(1));
        let tail = (self.taken - 1) % size;
        let head = if full { self.taken % size } else { 0 };
        trace.say(
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
            trace.say("steadystate", &self.judgement());
        }
    }

    /// How the last whole window was judged.
    fn judgement(&self) -> String {
        let values: Vec<f64> = self.window.iter().map(|sample| self.figure(sample)).collect();
        let sum: f64 = values.iter().sum();
        let (SteadyLimit::Value(limit) | SteadyLimit::Percent(limit)) = self.watch.limit;
        let Judged { value, deviation, slope, .. } = self.judged;
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

    /// Holds the window against the limit. Least squares with the sample's number as abscissa.
    fn judge(&self) -> Judged {
        let values: Vec<f64> = self.window.iter().map(|s| self.figure(s)).collect();
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let mut judged = Judged::default();
        let distance = if self.watch.criterion.slope {
            let middle = (count - 1.0) / 2.0;
            let (mut products, mut squares) = (0.0, 0.0);
            for (number, value) in values.iter().enumerate() {
                let x = number as f64 - middle;
                products += x * (value - mean);
                squares += x * x;
            }
            judged.slope = products / squares;
            judged.slope
        } else {
            judged.deviation = values.iter().map(|v| (v - mean).abs()).fold(0.0, f64::max);
            judged.deviation
        };
        let (value, limit) = match self.watch.limit {
            SteadyLimit::Value(limit) => (distance, limit),
            // Of nothing there is no share.
            SteadyLimit::Percent(_) if mean == 0.0 => return judged,
            SteadyLimit::Percent(limit) => (distance * 100.0 / mean, limit),
        };
        judged.value = value;
        // A worker that does nothing at all is not steady but stuck.
        judged.attained = mean > 0.0 && value.abs() <= limit;
        judged
    }

    fn figure(&self, sample: &SteadySample) -> f64 {
        match self.watch.criterion.figure {
            SteadyFigure::Iops => sample.iops,
            SteadyFigure::Bandwidth => sample.bytes_per_second,
            SteadyFigure::Latency => sample.latency_ns,
        }
    }

    /// What was found.
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
            attained: self.judged.attained,
            value: self.judged.value,
            deviation: self.judged.deviation,
            slope: self.judged.slope,
            samples: self.window.iter().copied().collect(),
        }
    }
}

/// How often it is looked whether the workers run already.
const LOOK_AGAIN_NS: u64 = 20_000_000;

/// Rates are whole numbers, as fio's are and as reports print them: what was judged can be worked
/// out again from them.
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
        let mut watched = watched(&plan).remove(0);
        live[0].set_state(WorkerState::Created);
        assert!(watched.look(&live, 0).is_some());
        live[0].set_started(0);
        live[0].set_state(WorkerState::Running);
        live[0].set_running_since(SECOND);
        assert_eq!(watched.look(&live, SECOND), Some(3 * SECOND), "the ramp comes first");
        let mut now = 3 * SECOND;
        watched.look(&live, now);
        for (second, ios) in ios.iter().enumerate() {
            (0..*ios).for_each(|_| {
                live[0].count(Direction::Read, 512);
                live[0].add_latency(1000);
            });
            now += SECOND;
            if watched.look(&live, now).is_none() {
                assert!(live[0].asked_to_stop());
                return (watched.result(), Some(second + 1));
            }
        }
        live[0].set_state(WorkerState::Exited);
        assert_eq!(watched.look(&live, now + 1), None);
        (watched.result(), None)
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
        let mut watched = Watched {
            watch,
            members: vec![0],
            running: None,
            window: VecDeque::new(),
            judged: Judged::default(),
            taken: 0,
            told: None,
        };
        for iops in [2_196_424.0, 1_777_197.0, 1_529_808.0] {
            watched.add(SteadySample { iops, ..SteadySample::default() });
        }
        let result = watched.result();
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
