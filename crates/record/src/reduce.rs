//! Sums of workers: the same worker of several ranks as one.

use crate::{
    Direction, DirectionResult, ErrorCount, Histogram, Interval, JobRecord, LatencyHistory,
    LatencyResult, Nanos, PriorityResult, SummedWorkers,
};
use std::collections::BTreeMap;

impl JobRecord {
    /// The workers that it is the sum of, itself alone included.
    pub fn summed(&self) -> SummedWorkers {
        let alone = SummedWorkers { workers: 1, ran: self.ended - self.started };
        self.sum_of.unwrap_or(alone)
    }

    /// Adds the same worker of another rank. Times of both count from one origin, and their intervals
    /// are aligned to it ([`JobRecord::move_times`]). Histograms and counters are added exactly. What
    /// only one worker can have (steady state, depth found, logs) is dropped.
    pub fn add_worker(&mut self, other: &JobRecord) {
        let sum = SummedWorkers {
            workers: self.summed().workers + other.summed().workers,
            ran: self.summed().ran + other.summed().ran,
        };
        self.add_depth(other);
        for direction in Direction::ALL {
            let begins = (self.started, other.started);
            add_direction(&mut self.results[direction], &other.results[direction], begins);
        }
        if other.elapsed.0 > 0 {
            let ran = self.elapsed.0 > 0;
            self.started = if ran { self.started.min(other.started) } else { other.started };
            self.start_clock_ms = match ran {
                true => self.start_clock_ms.min(other.start_clock_ms),
                false => other.start_clock_ms,
            };
            self.ended = self.ended.max(other.ended);
            self.elapsed = self.elapsed.max(other.elapsed);
        }
        self.sum_of = Some(sum);
        let objects = other.objects.iter().chain(&other.objects_of_others);
        self.objects_of_others.extend(objects.cloned());
        self.sync.count += other.sync.count;
        self.sync.latency.merge(&other.sync.latency);
        self.end_sync = self.end_sync.max(other.end_sync);
        self.log_wait += other.log_wait;
        self.opening = self.opening.max(other.opening);
        self.closing = self.closing.max(other.closing);
        self.zone_resets = sum_of(self.zone_resets, other.zone_resets);
        self.intervals = sum_of_series(&self.intervals, &other.intervals, self.interval_step);
        self.latency_history.merge(other.latency_history.clone());
        self.shared_stamps.merge(&other.shared_stamps);
        let run_delay = self.cpu.run_delay.zip(other.cpu.run_delay).map(|(a, b)| a + b);
        self.cpu = crate::CpuUse { run_delay, ..self.cpu.and(&other.cpu) };
        self.error = if self.error != 0 { self.error } else { other.error };
        ErrorCount::add_all(&mut self.errors, &other.errors);
        match (&mut self.blocks, &other.blocks) {
            (Some(blocks), Some(others)) => blocks.add(others),
            (blocks, others) => *blocks = blocks.take().or(others.clone()),
        }
        match (&mut self.exchange, &other.exchange) {
            (Some(exchange), Some(others)) => {
                exchange.merge(others, other.started - self.started);
            }
            (exchange, others) => *exchange = exchange.take().or(others.clone()),
        }
        match (&mut self.common, &other.common) {
            (Some(common), Some(others)) => common.add(others),
            (common, others) => *common = common.or(*others),
        }
        (self.stamp_sums, self.steady, self.latency_depth, self.logs) = (None, None, None, None);
    }

    /// The depth: counts are added, the mean is weighted by time.
    fn add_depth(&mut self, other: &JobRecord) {
        let (own, others) = (self.summed().ran.seconds(), other.summed().ran.seconds());
        if own + others > 0.0 {
            let in_flight = self.depth.achieved_mean * own + other.depth.achieved_mean * others;
            self.depth.achieved_mean = in_flight / (own + others);
        }
        self.depth.at_issue.merge(&other.depth.at_issue);
        self.depth.submit.merge(&other.depth.submit);
        self.depth.complete.merge(&other.depth.complete);
    }

    /// Moves all times by what `moved` makes of them. Intervals are laid on multiples of their step
    /// from the new origin: each is divided in proportion to time, and their sum stays the same.
    pub fn move_times(&mut self, moved: impl Fn(Nanos) -> Nanos) {
        if self.elapsed.0 == 0 {
            return;
        }
        let before = self.started;
        (self.started, self.ended) = (moved(self.started), moved(self.ended));
        self.intervals = on_grid(&self.intervals, self.interval_step, &moved);
        let history = std::mem::take(&mut self.latency_history);
        let step = history.step.0.max(1) as i128;
        let later = i128::from(self.started.0) - i128::from(before.0);
        let columns = (later + step / 2).div_euclid(step);
        let mut shifted = LatencyHistory::new(history.step);
        for mut column in history.columns {
            column.at = u64::try_from(i128::from(column.at) + columns).unwrap_or(0);
            shifted.merge(LatencyHistory { step: history.step, columns: vec![column] });
        }
        self.latency_history = shifted;
    }

    /// The I/Os and bytes of each direction between two moments: those of intervals in part are
    /// counted in proportion to time.
    pub fn within(&self, from: Nanos, to: Nanos) -> crate::PerDirection<(u64, u64)> {
        let mut sums = crate::PerDirection::all((0.0, 0.0));
        for interval in &self.intervals {
            let end = (interval.start + interval.length).min(to);
            let share = (end - interval.start.max(from)).0 as f64 / interval.length.0.max(1) as f64;
            for direction in Direction::ALL {
                let sum: &mut (f64, f64) = &mut sums[direction];
                sum.0 += interval.ios[direction] as f64 * share;
                sum.1 += interval.bytes[direction] as f64 * share;
            }
        }
        sums.map(|_, (ios, bytes)| (ios.round() as u64, bytes.round() as u64))
    }
}

impl ErrorCount {
    /// Adds errors: those of one kind together, with the place of the first.
    pub fn add_all(all: &mut Vec<ErrorCount>, others: &[ErrorCount]) {
        for error in others {
            let same = |known: &&mut ErrorCount| {
                known.errno == error.errno && known.operation == error.operation
            };
            match all.iter_mut().find(same) {
                Some(known) => known.count += error.count,
                None => all.push(error.clone()),
            }
        }
    }
}

fn add_direction(to: &mut DirectionResult, from: &DirectionResult, begins: (Nanos, Nanos)) {
    // The window of the sum is from the first start to the last end.
    to.runtime = match (to.runtime.0, from.runtime.0) {
        (0, _) => from.runtime,
        (_, 0) => to.runtime,
        _ => (begins.0 + to.runtime).max(begins.1 + from.runtime) - begins.0.min(begins.1),
    };
    to.ios_issued += from.ios_issued;
    to.ios += from.ios;
    to.bytes += from.bytes;
    to.short_ios += from.short_ios;
    to.dropped_ios += from.dropped_ios;
    let LatencyResult { slat, clat, lat, response } = &mut to.latency;
    add_histogram(slat, from.latency.slat.as_ref());
    add_histogram(clat, from.latency.clat.as_ref());
    add_histogram(lat, from.latency.lat.as_ref());
    add_histogram(response, from.latency.response.as_ref());
    for PriorityResult { priority, latency } in &from.prios {
        match to.prios.iter_mut().find(|known| known.priority == *priority) {
            Some(known) => known.latency.merge(latency),
            None => {
                to.prios.push(PriorityResult { priority: *priority, latency: latency.clone() });
            }
        }
    }
}

fn add_histogram(to: &mut Option<Histogram>, from: Option<&Histogram>) {
    if let Some(from) = from {
        to.get_or_insert_default().merge(from);
    }
}

fn sum_of(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    if a.is_none() && b.is_none() { None } else { Some(a.unwrap_or(0) + b.unwrap_or(0)) }
}

/// Two series on one grid as one.
fn sum_of_series(a: &[Interval], b: &[Interval], step: Nanos) -> Vec<Interval> {
    let mut cells: BTreeMap<u64, Interval> = BTreeMap::new();
    for interval in a.iter().chain(b) {
        let cell = cells.entry(interval.start.0 / step.0.max(1));
        cell.and_modify(|sum| {
            let end = (sum.start + sum.length).max(interval.start + interval.length);
            sum.add(interval);
            sum.start = sum.start.min(interval.start);
            sum.length = end - sum.start;
        })
        .or_insert(*interval);
    }
    cells.into_values().collect()
}

/// A series on multiples of its step.
fn on_grid(intervals: &[Interval], step: Nanos, moved: &impl Fn(Nanos) -> Nanos) -> Vec<Interval> {
    let step = step.0.max(1);
    let mut cells: Vec<Interval> = Vec::new();
    for interval in intervals {
        let (start, end) = (moved(interval.start).0, moved(interval.start + interval.length).0);
        let length = end.saturating_sub(start).max(1);
        let mut from = start;
        while from < start + length {
            let to = (from / step + 1).saturating_mul(step).min(start + length);
            cells.push(part_of(interval, (from - start, to - start), length, Nanos(from)));
            from = to;
        }
    }
    sum_of_series(&cells, &[], Nanos(step))
}

/// The part of an interval between two shares of its length. Parts that follow each other add up to
/// the whole.
fn part_of(whole: &Interval, (from, to): (u64, u64), length: u64, start: Nanos) -> Interval {
    let upto =
        |count: u64, at: u64| (u128::from(count) * u128::from(at) / u128::from(length)) as u64;
    let part = |count: u64| upto(count, to) - upto(count, from);
    Interval {
        start,
        length: Nanos(to - from),
        ios: whole.ios.map(|_, count| part(*count)),
        bytes: whole.bytes.map(|_, count| part(*count)),
        clat_ns_sum: whole.clat_ns_sum.map(|_, sum| part(*sum)),
        clat_ns_max: whole.clat_ns_max,
        lag_ns_max: whole.lag_ns_max,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PerDirection;
    use proptest::prelude::*;

    fn worker(start: u64, clats: &[u64]) -> JobRecord {
        let mut clat = Histogram::new();
        clats.iter().for_each(|value| clat.record(*value));
        let read = DirectionResult {
            ios: clats.len() as u64,
            ios_issued: clats.len() as u64,
            runtime: Nanos(1000),
            latency: LatencyResult { clat: Some(clat), ..LatencyResult::default() },
            ..DirectionResult::default()
        };
        JobRecord {
            started: Nanos(start),
            ended: Nanos(start + 1000),
            elapsed: Nanos(1000),
            results: PerDirection { read, ..PerDirection::default() },
            ..JobRecord::default()
        }
    }

    fn series(counts: &[u64]) -> JobRecord {
        let interval = |(index, count): (usize, &u64)| Interval {
            start: Nanos(index as u64 * 100),
            length: Nanos(100),
            ios: PerDirection { read: *count, ..PerDirection::default() },
            ..Interval::default()
        };
        let intervals = counts.iter().enumerate().map(interval).collect();
        JobRecord { intervals, interval_step: Nanos(100), ..worker(0, &[1]) }
    }

    #[test]
    fn the_window_of_a_sum_is_from_the_first_start_to_the_last_end() {
        let mut sum = worker(500, &[1]);
        sum.add_worker(&worker(200, &[1]));
        sum.add_worker(&JobRecord::default());
        assert_eq!((sum.started, sum.ended), (Nanos(200), Nanos(1500)));
        assert_eq!(sum.results.read.runtime, Nanos(1300));
        assert_eq!(sum.summed(), SummedWorkers { workers: 3, ran: Nanos(2000) });
    }

    #[test]
    fn the_part_of_a_series_is_counted_by_time() {
        let job = series(&[10, 20, 30]);
        assert_eq!(job.within(Nanos(50), Nanos(250)).read.0, 5 + 20 + 15);
        assert_eq!(job.within(Nanos(300), Nanos(400)).read.0, 0);
        assert_eq!(job.within(Nanos(250), Nanos(250)).read.0, 0);
    }

    proptest! {
        #[test]
        fn the_sum_of_workers_has_the_percentiles_of_all_samples(
            parts in prop::collection::vec(prop::collection::vec(0_u64..1 << 40, 0..50), 1..9),
        ) {
            let mut sum = worker(0, &parts[0]);
            parts[1..].iter().for_each(|part| sum.add_worker(&worker(0, part)));
            let all = worker(0, &parts.concat());
            prop_assert_eq!(&sum.results, &all.results);
        }

        #[test]
        fn moved_series_keep_their_sum_and_lie_on_the_grid(
            counts in prop::collection::vec(0_u64..1000, 0..20), by in 0_u64..1000,
        ) {
            let mut job = series(&counts);
            job.move_times(|at| Nanos(at.0 + by));
            let sum: u64 = job.intervals.iter().map(|interval| interval.ios.read).sum();
            prop_assert_eq!(sum, counts.iter().sum::<u64>());
            for interval in &job.intervals {
                let last = interval.start.0 + interval.length.0 - 1;
                prop_assert_eq!(interval.start.0 / 100, last / 100);
            }
        }
    }
}
