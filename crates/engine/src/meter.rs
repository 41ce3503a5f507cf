//! Counters and histograms of one worker. A meter is not shared.

use record::{
    DepthUse, Direction, DirectionResult, Histogram, Interval, LatencyHistory, LatencyResult,
    Nanos, PerDirection, SharedStamps, SizeMap, SyncResult,
};

/// The stamps of one I/O, in nanoseconds from the run's origin.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stamps {
    /// Start according to its schedule; equals `ready` without a schedule.
    pub intended: u64,
    /// When it was ready to be issued.
    pub ready: u64,
    /// When the kernel accepted it. Stamped once per submission: for the first I/O of a batch it is
    /// late by up to the duration of the call. Synchronous rings do not set it.
    pub issued: u64,
}

/// I/Os that share a stamp between two that are stamped to measure the difference.
const SHARED_BETWEEN_SAMPLES: u32 = 1023;

#[derive(Clone, Default)]
struct DirectionCounters {
    issued: u64,
    ios: u64,
    bytes: u64,
    short: u64,
    dropped: u64,
    interval_max: u64,
    completed_inline: u64,
    /// Total time of its I/Os, if latencies are not recorded.
    time: u64,
    slat: Histogram,
    clat: Histogram,
    lat: Histogram,
    response: Histogram,
    /// The part of `clat` that is already in the history.
    in_history: Vec<u64>,
}

#[derive(Clone, Copy, Default)]
struct Totals {
    ios: [u64; 3],
    bytes: [u64; 3],
    clat_sum: [u64; 3],
}

/// Counters of one worker. `LATENCY`: latencies are recorded. `QUEUED`: the ring is asynchronous.
/// `RATED`: I/O has a schedule.
#[derive(Clone)]
pub struct Meter<const LATENCY: bool, const QUEUED: bool, const RATED: bool> {
    directions: [DirectionCounters; 3],
    sync: SyncResult,
    depths: SizeMap,
    submits: SizeMap,
    completes: SizeMap,
    begin: u64,
    interval_start: u64,
    step: u64,
    /// Totals at the start of the current interval.
    interval_totals: Totals,
    lag_max: u64,
    intervals: Vec<Interval>,
    history: LatencyHistory,
    shared_stamps: SharedStamps,
    /// Shared stamps until the next sample.
    until_sample: u32,
}

/// Final results of a meter.
pub struct Metered {
    pub results: PerDirection<DirectionResult>,
    pub sync: SyncResult,
    /// Time series.
    pub intervals: Vec<Interval>,
    /// Completion latencies over time.
    pub history: LatencyHistory,
    /// Queue depth; the caller sets `requested`.
    pub depth: DepthUse,
    pub shared_stamps: SharedStamps,
    /// Start of the measured window, from the run's origin.
    pub begin: u64,
}

/// The methods of a meter that the loop calls.
pub trait Metering {
    /// An I/O is issued.
    fn issued(&mut self, direction: Direction);
    /// An I/O ended in the call that queued it: there is no submission to time. `depth` I/Os were in
    /// flight, itself included.
    fn completed_inline(&mut self, direction: Direction, depth: u32);
    /// An I/O ended well and moved `bytes`.
    fn completed(&mut self, direction: Direction, bytes: u64, stamps: &Stamps, done: u64);
    /// A part of an I/O was done; the rest is tried again.
    fn short(&mut self, direction: Direction, bytes: u64);
    /// An I/O was given up.
    fn dropped(&mut self, direction: Direction);
    /// A synchronisation ended.
    fn synced(&mut self, stamps: &Stamps, done: u64);
    /// `count` I/Os were submitted at once; `depth` are in flight, themselves included.
    fn submitted(&mut self, count: u32, depth: u32);
    /// `count` completions were reaped at once.
    fn reaped(&mut self, count: u32);
    /// Whether an I/O uses a stamp of the one before. False for one in 1024, which is a sample.
    fn shares_stamp(&mut self) -> bool;
    /// A sample was stamped `later` nanoseconds after the stamp it could have shared.
    fn sample_shared_stamp(&mut self, later: u64);
}

impl<const LATENCY: bool, const QUEUED: bool, const RATED: bool> Metering
    for Meter<LATENCY, QUEUED, RATED>
{
    #[inline(always)]
    fn issued(&mut self, direction: Direction) {
        self.directions[direction as usize].issued += 1;
    }

    #[inline(always)]
    fn completed_inline(&mut self, direction: Direction, depth: u32) {
        if QUEUED {
            self.depths.count_depth(depth, 1);
            self.directions[direction as usize].completed_inline += 1;
            self.submits.count_batch(1, 1);
            self.completes.count_batch(1, 1);
        }
    }

    #[inline(always)]
    fn completed(&mut self, direction: Direction, bytes: u64, stamps: &Stamps, done: u64) {
        let counters = &mut self.directions[direction as usize];
        counters.ios += 1;
        counters.bytes += bytes;
        if !LATENCY {
            counters.time += done.saturating_sub(stamps.ready);
            return;
        }
        let issued = if QUEUED { stamps.issued } else { stamps.ready };
        let clat = done.saturating_sub(issued);
        counters.clat.record(clat);
        counters.interval_max = counters.interval_max.max(clat);
        if QUEUED {
            counters.slat.record(stamps.issued.saturating_sub(stamps.ready));
            counters.lat.record(done.saturating_sub(stamps.ready));
        }
        if RATED {
            counters.response.record(done.saturating_sub(stamps.intended));
            self.lag_max = self.lag_max.max(issued.saturating_sub(stamps.intended));
        }
    }

    #[cold]
    fn short(&mut self, direction: Direction, bytes: u64) {
        let counters = &mut self.directions[direction as usize];
        counters.short += 1;
        counters.bytes += bytes;
    }

    #[cold]
    fn dropped(&mut self, direction: Direction) {
        self.directions[direction as usize].dropped += 1;
    }

    #[inline]
    fn synced(&mut self, stamps: &Stamps, done: u64) {
        self.sync.count += 1;
        if LATENCY {
            let issued = if QUEUED { stamps.issued } else { stamps.ready };
            self.sync.latency.record(done.saturating_sub(issued));
        }
    }

    #[inline(always)]
    fn submitted(&mut self, count: u32, depth: u32) {
        self.depths.count_depth(depth, u64::from(count));
        self.submits.count_batch(count, 1);
    }

    #[inline(always)]
    fn reaped(&mut self, count: u32) {
        // A poll that finds nothing, before a scheduled start, completes no batch.
        self.completes.count_batch(count, u64::from(count > 0));
    }

    #[inline(always)]
    fn shares_stamp(&mut self) -> bool {
        let shares = self.until_sample > 0;
        self.until_sample = if shares { self.until_sample - 1 } else { SHARED_BETWEEN_SAMPLES };
        shares
    }

    #[cold]
    fn sample_shared_stamp(&mut self, later: u64) {
        self.shared_stamps.add_sample(later);
    }
}

impl<const LATENCY: bool, const QUEUED: bool, const RATED: bool> Meter<LATENCY, QUEUED, RATED> {
    /// A meter whose window starts at `begin`, with intervals of `step` nanoseconds.
    pub fn new(begin: u64, step: u64) -> Self {
        Meter {
            directions: Default::default(),
            sync: SyncResult::default(),
            depths: SizeMap::default(),
            submits: SizeMap::default(),
            completes: SizeMap::default(),
            begin,
            interval_start: begin,
            step,
            interval_totals: Totals::default(),
            lag_max: 0,
            intervals: Vec::new(),
            history: LatencyHistory::new(Nanos(step)),
            shared_stamps: SharedStamps::default(),
            until_sample: 0,
        }
    }

    /// Clears everything: the ramp is over, the window starts at `now`.
    pub fn restart(&mut self, now: u64) {
        *self = Self::new(now, self.step);
    }

    /// The end of the current interval, from the run's origin: a multiple of the step, so that the
    /// intervals of all workers line up.
    pub fn next_boundary(&self) -> u64 {
        (self.interval_start / self.step + 1) * self.step
    }

    /// Closes every interval that ended by `now`. Call it before an I/O that ends now is counted. Counts
    /// since the last call belong to the first interval; a stall leaves empty ones.
    pub fn roll(&mut self, now: u64) {
        while self.next_boundary() <= now {
            self.close_interval(self.next_boundary());
        }
    }

    fn close_interval(&mut self, end: u64) {
        let before = self.interval_totals;
        let totals = Totals {
            ios: self.directions.each_ref().map(|d| d.ios),
            bytes: self.directions.each_ref().map(|d| d.bytes),
            clat_sum: self.directions.each_ref().map(|d| d.clat.sum()),
        };
        let delta = |field: fn(&Totals) -> &[u64; 3]| {
            PerDirection::from_fn(|d| field(&totals)[d as usize] - field(&before)[d as usize])
        };
        self.intervals.push(Interval {
            start: Nanos(self.interval_start),
            length: Nanos(end - self.interval_start),
            ios: delta(|m| &m.ios),
            bytes: delta(|m| &m.bytes),
            clat_ns_sum: delta(|m| &m.clat_sum),
            clat_ns_max: PerDirection::from_fn(|d| self.directions[d as usize].interval_max),
            lag_ns_max: std::mem::take(&mut self.lag_max),
        });
        self.directions.iter_mut().for_each(|d| d.interval_max = 0);
        let counts = PerDirection::from_fn(|d| {
            let counters = &mut self.directions[d as usize];
            counters.clat.coarse_since(&mut counters.in_history)
        });
        self.history.push(Nanos(self.interval_start), counts);
        self.interval_totals = totals;
        self.interval_start = end;
    }

    /// The final results; the window ends at `end`.
    pub fn finish(mut self, end: u64) -> Metered {
        self.roll(end);
        // A short rest, left by an I/O that ended late, is added to the last interval.
        let late = end - self.interval_start < self.step / 10;
        if let Some(mut last) = self.intervals.pop_if(|_| late) {
            let start = last.start;
            self.close_interval(end);
            self.intervals.pop().iter().for_each(|rest| last.add(rest));
            self.intervals.push(Interval { start, length: Nanos(end) - start, ..last });
        } else if end > self.interval_start {
            self.close_interval(end);
        }
        let issued: u64 = self.directions.iter().map(|d| d.issued).sum();
        let ended: u64 = self.directions.iter().map(|d| d.ios).sum();
        if !QUEUED {
            // Each call submits and completes one I/O.
            self.depths.count_depth(1, issued);
            self.submits.count_batch(1, issued);
            self.completes.count_batch(1, ended);
        }
        // Little's law: mean depth is the total time in flight over the window's length.
        let time = |counters: &DirectionCounters| match (LATENCY, QUEUED) {
            (false, _) => counters.time,
            (true, false) => counters.clat.sum(),
            (true, true) => counters.lat.sum(),
        };
        let in_flight_ns: u64 = self.directions.iter().map(time).sum();
        let depth = DepthUse {
            requested: 0,
            achieved_mean: in_flight_ns as f64 / end.saturating_sub(self.begin).max(1) as f64,
            at_issue: self.depths,
            submit: self.submits,
            complete: self.completes,
        };
        let begin = self.begin;
        let samples = self.shared_stamps.samples();
        let shared = samples * u64::from(SHARED_BETWEEN_SAMPLES) - u64::from(self.until_sample);
        let [read, write, trim] =
            self.directions.map(|d| direction_result::<LATENCY, QUEUED, RATED>(d, begin, end));
        Metered {
            results: PerDirection { read, write, trim },
            sync: self.sync,
            intervals: self.intervals,
            history: self.history,
            depth,
            shared_stamps: SharedStamps { shared, ..self.shared_stamps },
            begin,
        }
    }
}

fn direction_result<const LATENCY: bool, const QUEUED: bool, const RATED: bool>(
    counters: DirectionCounters,
    begin: u64,
    end: u64,
) -> DirectionResult {
    // I/O that ends in the window may all have been issued in the ramp.
    let used = counters.issued > 0 || counters.bytes > 0;
    let timed = used && LATENCY;
    let submitted = counters.completed_inline == 0 || counters.completed_inline < counters.issued;
    DirectionResult {
        ios_issued: counters.issued,
        ios: counters.ios,
        bytes: record::Bytes(counters.bytes),
        short_ios: counters.short,
        dropped_ios: counters.dropped,
        runtime: Nanos(if used { end.saturating_sub(begin) } else { 0 }),
        latency: LatencyResult {
            slat: (timed && QUEUED && submitted).then_some(counters.slat),
            clat: timed.then_some(counters.clat),
            lat: (timed && QUEUED).then_some(counters.lat),
            response: (timed && RATED).then_some(counters.response),
        },
        prios: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn io_that_ends_at_once_is_a_batch_of_one_without_a_submission() {
        let mut meter = Meter::<true, true, false>::new(0, 1_000);
        let stamps = Stamps { intended: 10, ready: 10, issued: 10 };
        for direction in [Direction::Trim, Direction::Trim, Direction::Write] {
            meter.issued(direction);
            meter.completed_inline(direction, 1);
            meter.completed(direction, 512, &stamps, 50);
        }
        meter.issued(Direction::Write);
        meter.issued(Direction::Write);
        meter.submitted(2, 8);
        meter.reaped(1);
        meter.completed(Direction::Write, 512, &stamps, 60);
        let Metered { results, depth, .. } = meter.finish(100);
        assert_eq!((depth.submit.total(), depth.complete.total()), (4, 4));
        assert_eq!(depth.at_issue.0, [3, 0, 0, 2, 0, 0, 0], "a batch comes at the depth it makes");
        let (write, trim) = (results.write.latency, results.trim.latency);
        assert!(write.slat.is_some() && trim.slat.is_none());
        assert_eq!(trim.lat.map(|lat| (lat.count(), lat.min())), Some((2, 40)));
    }

    #[test]
    fn the_io_in_flight_is_known_without_latencies() {
        let mut meter = Meter::<false, true, false>::new(0, 1_000);
        let stamps = Stamps { intended: 0, ready: 0, issued: 10 };
        for _ in 0..4 {
            meter.issued(Direction::Read);
            meter.completed(Direction::Read, 512, &stamps, 500);
        }
        let Metered { results, depth, .. } = meter.finish(1_000);
        assert_eq!(depth.achieved_mean, 2.0);
        assert!(results.read.latency.lat.is_none());
    }

    #[test]
    fn latencies_over_time_are_all_latencies_each_in_its_step() {
        let mut meter = Meter::<true, false, false>::new(0, 1_000);
        for at in (0..10_000).step_by(100) {
            meter.roll(at);
            let stamps = Stamps { intended: at, ready: at, issued: at };
            meter.issued(Direction::Read);
            meter.completed(Direction::Read, 512, &stamps, at + 10 * (1 + at / 1_000));
        }
        let Metered { history, .. } = meter.finish(10_050);
        let counts: Vec<u64> = history.columns.iter().map(|c| c.counts.read.count()).collect();
        assert_eq!(counts, [10; 10]);
        let middle = |index: usize| history.columns[index].counts.read.percentile(50.0);
        assert!(middle(0) < middle(9), "{:?} {:?}", middle(0), middle(9));
    }
}
