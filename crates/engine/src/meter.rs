//! What is counted of each I/O. A meter belongs to one worker and shares nothing.

use record::{
    DepthUse, Direction, DirectionResult, Histogram, Interval, LatencyHistory, LatencyResult,
    Nanos, PerDirection, Seams, SizeMap, SyncResult,
};

/// The moments of one I/O, in nanoseconds from the run's origin.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stamps {
    /// When its schedule meant it to start; equals `ready` without a schedule.
    pub intended: u64,
    /// When it was ready to be issued.
    pub ready: u64,
    /// When the kernel had it. Stamped once a submission, so it is late by up to the length of the
    /// submitting call for the first of a batch; synchronous rings have no such moment.
    pub issued: u64,
}

/// Seams that are passed over for each that is looked at.
const SEAMS_BETWEEN: u32 = 1023;

/// What is counted in one direction.
#[derive(Clone, Default)]
struct Lane {
    issued: u64,
    ios: u64,
    bytes: u64,
    short: u64,
    dropped: u64,
    interval_max: u64,
    at_once: u64,
    /// Time its I/Os took, all together, where latencies are not recorded.
    taken: u64,
    slat: Histogram,
    clat: Histogram,
    lat: Histogram,
    response: Histogram,
    /// What of `clat` is in the history already.
    in_history: Vec<u64>,
}

/// Totals at the start of the current interval.
#[derive(Clone, Copy, Default)]
struct Mark {
    ios: [u64; 3],
    bytes: [u64; 3],
    clat_sum: [u64; 3],
}

/// Counters of one worker. `LATENCY`: latencies are recorded. `QUEUED`: the ring is asynchronous.
/// `RATED`: there is a schedule.
#[derive(Clone)]
pub struct Meter<const LATENCY: bool, const QUEUED: bool, const RATED: bool> {
    lanes: [Lane; 3],
    sync: SyncResult,
    depths: SizeMap,
    submits: SizeMap,
    completes: SizeMap,
    begin: u64,
    interval_start: u64,
    step: u64,
    mark: Mark,
    lag_max: u64,
    intervals: Vec<Interval>,
    history: LatencyHistory,
    seams: Seams,
    /// Seams to pass over before the next look.
    to_look: u32,
}

/// What a meter gives at the end.
pub struct Metered {
    /// Per direction.
    pub results: PerDirection<DirectionResult>,
    /// Synchronisations.
    pub sync: SyncResult,
    /// Time series.
    pub intervals: Vec<Interval>,
    /// Completion latencies over time.
    pub history: LatencyHistory,
    /// Queue depth; `requested` is the caller's to fill in.
    pub depth: DepthUse,
    /// Stamps shared by two I/Os.
    pub seams: Seams,
    /// Begin of the measured window, from the run's origin.
    pub begin: u64,
}

/// What a loop needs of a meter.
pub trait Metering {
    /// An I/O is issued.
    fn issued(&mut self, direction: Direction);
    /// An I/O ended within the call that queued it: there is no submission to time. `depth` were in
    /// flight with it.
    fn at_once(&mut self, direction: Direction, depth: u32);
    /// An I/O ended well: `bytes` moved.
    fn completed(&mut self, direction: Direction, bytes: u64, stamps: &Stamps, done: u64);
    /// A part of an I/O moved, the rest will be tried again.
    fn short(&mut self, direction: Direction, bytes: u64);
    /// An I/O was given up.
    fn dropped(&mut self, direction: Direction);
    /// A synchronisation ended.
    fn synced(&mut self, stamps: &Stamps, done: u64);
    /// `count` I/Os were handed over at once; `depth` are in flight with them.
    fn submitted(&mut self, count: u32, depth: u32);
    /// `count` completions were taken at once.
    fn reaped(&mut self, count: u32);
    /// An I/O follows another one at once: whether a stamp of that one serves as its beginning. False
    /// every so many times.
    fn shares_stamp(&mut self) -> bool;
    /// The I/O was stamped by itself, `length` nanoseconds after the stamp it could have shared.
    fn looked_at_seam(&mut self, length: u64);
}

impl<const LATENCY: bool, const QUEUED: bool, const RATED: bool> Metering
    for Meter<LATENCY, QUEUED, RATED>
{
    #[inline(always)]
    fn issued(&mut self, direction: Direction) {
        self.lanes[direction as usize].issued += 1;
    }

    #[inline(always)]
    fn at_once(&mut self, direction: Direction, depth: u32) {
        if QUEUED {
            self.depths.count_depth(depth, 1);
            self.lanes[direction as usize].at_once += 1;
            self.submits.count_batch(1, 1);
            self.completes.count_batch(1, 1);
        }
    }

    #[inline(always)]
    fn completed(&mut self, direction: Direction, bytes: u64, stamps: &Stamps, done: u64) {
        let lane = &mut self.lanes[direction as usize];
        lane.ios += 1;
        lane.bytes += bytes;
        if !LATENCY {
            lane.taken += done.saturating_sub(stamps.ready);
            return;
        }
        let issued = if QUEUED { stamps.issued } else { stamps.ready };
        let clat = done.saturating_sub(issued);
        lane.clat.record(clat);
        lane.interval_max = lane.interval_max.max(clat);
        if QUEUED {
            lane.slat.record(stamps.issued.saturating_sub(stamps.ready));
            lane.lat.record(done.saturating_sub(stamps.ready));
        }
        if RATED {
            lane.response.record(done.saturating_sub(stamps.intended));
            self.lag_max = self.lag_max.max(issued.saturating_sub(stamps.intended));
        }
    }

    #[cold]
    fn short(&mut self, direction: Direction, bytes: u64) {
        let lane = &mut self.lanes[direction as usize];
        lane.short += 1;
        lane.bytes += bytes;
    }

    #[cold]
    fn dropped(&mut self, direction: Direction) {
        self.lanes[direction as usize].dropped += 1;
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
        // A look that finds nothing, while waiting for a scheduled start, completes no batch.
        self.completes.count_batch(count, u64::from(count > 0));
    }

    #[inline(always)]
    fn shares_stamp(&mut self) -> bool {
        let passes = self.to_look > 0;
        self.to_look = if passes { self.to_look - 1 } else { SEAMS_BETWEEN };
        passes
    }

    #[cold]
    fn looked_at_seam(&mut self, length: u64) {
        self.seams.look(length);
    }
}

impl<const LATENCY: bool, const QUEUED: bool, const RATED: bool> Meter<LATENCY, QUEUED, RATED> {
    /// A meter whose window begins at `begin`; its series has steps of `step` nanoseconds.
    pub fn new(begin: u64, step: u64) -> Self {
        Meter {
            lanes: Default::default(),
            sync: SyncResult::default(),
            depths: SizeMap::default(),
            submits: SizeMap::default(),
            completes: SizeMap::default(),
            begin,
            interval_start: begin,
            step,
            mark: Mark::default(),
            lag_max: 0,
            intervals: Vec::new(),
            history: LatencyHistory::new(Nanos(step)),
            seams: Seams::default(),
            to_look: 0,
        }
    }

    /// Forgets everything: the ramp is over, the window begins at `now`.
    pub fn restart(&mut self, now: u64) {
        *self = Self::new(now, self.step);
    }

    /// The next boundary of the series, from the run's origin: a multiple of the step, so that the
    /// series of all workers line up.
    pub fn next_boundary(&self) -> u64 {
        (self.interval_start / self.step + 1) * self.step
    }

    /// Closes every interval that ended by `now`, before anything that ends now is counted. What was
    /// counted since the last call belongs to the first of them; a stall leaves explicit empty ones.
    pub fn roll(&mut self, now: u64) {
        while self.next_boundary() <= now {
            self.close_interval(self.next_boundary());
        }
    }

    fn close_interval(&mut self, end: u64) {
        let totals = Mark {
            ios: self.lanes.each_ref().map(|l| l.ios),
            bytes: self.lanes.each_ref().map(|l| l.bytes),
            clat_sum: self.lanes.each_ref().map(|l| l.clat.sum()),
        };
        let delta = |of: fn(&Mark) -> &[u64; 3]| {
            PerDirection::from_fn(|d| of(&totals)[d as usize] - of(&self.mark)[d as usize])
        };
        self.intervals.push(Interval {
            start: Nanos(self.interval_start),
            length: Nanos(end - self.interval_start),
            ios: delta(|m| &m.ios),
            bytes: delta(|m| &m.bytes),
            clat_ns_sum: delta(|m| &m.clat_sum),
            clat_ns_max: PerDirection::from_fn(|d| self.lanes[d as usize].interval_max),
            lag_ns_max: std::mem::take(&mut self.lag_max),
        });
        self.lanes.iter_mut().for_each(|l| l.interval_max = 0);
        let counts = PerDirection::from_fn(|d| {
            let lane = &mut self.lanes[d as usize];
            lane.clat.coarse_since(&mut lane.in_history)
        });
        self.history.push(Nanos(self.interval_start), counts);
        self.mark = totals;
        self.interval_start = end;
    }

    /// Closes the books at `end`.
    pub fn finish(mut self, end: u64) -> Metered {
        self.roll(end);
        // What ends late, because the last I/O did, is no interval of its own.
        let late = end - self.interval_start < self.step / 10;
        if let Some(mut last) = self.intervals.pop_if(|_| late) {
            let start = last.start;
            self.close_interval(end);
            self.intervals.pop().iter().for_each(|rest| last.add(rest));
            self.intervals.push(Interval { start, length: Nanos(end) - start, ..last });
        } else if end > self.interval_start {
            self.close_interval(end);
        }
        let issued: u64 = self.lanes.iter().map(|l| l.issued).sum();
        let ended: u64 = self.lanes.iter().map(|l| l.ios).sum();
        if !QUEUED {
            // One at a time by construction: every call submits and completes one.
            self.depths.count_depth(1, issued);
            self.submits.count_batch(1, issued);
            self.completes.count_batch(1, ended);
        }
        // Little's law: the time all I/Os spent in flight over the window.
        let taken = |lane: &Lane| match (LATENCY, QUEUED) {
            (false, _) => lane.taken,
            (true, false) => lane.clat.sum(),
            (true, true) => lane.lat.sum(),
        };
        let in_flight_ns: u64 = self.lanes.iter().map(taken).sum();
        let depth = DepthUse {
            requested: 0,
            achieved_mean: in_flight_ns as f64 / end.saturating_sub(self.begin).max(1) as f64,
            at_issue: self.depths,
            submit: self.submits,
            complete: self.completes,
        };
        let begin = self.begin;
        let passed = self.seams.looked() * u64::from(SEAMS_BETWEEN) - u64::from(self.to_look);
        let seams = Seams { shared: passed, ..self.seams };
        let [read, write, trim] =
            self.lanes.map(|l| lane_result::<LATENCY, QUEUED, RATED>(l, begin, end));
        let results = PerDirection { read, write, trim };
        Metered {
            results,
            sync: self.sync,
            intervals: self.intervals,
            history: self.history,
            depth,
            seams,
            begin,
        }
    }
}

fn lane_result<const LATENCY: bool, const QUEUED: bool, const RATED: bool>(
    lane: Lane,
    begin: u64,
    end: u64,
) -> DirectionResult {
    // What was issued in the ramp may be all that ends in the window.
    let used = lane.issued > 0 || lane.bytes > 0;
    let timed = used && LATENCY;
    let submitted = lane.at_once == 0 || lane.at_once < lane.issued;
    DirectionResult {
        ios_issued: lane.issued,
        ios: lane.ios,
        bytes: record::Bytes(lane.bytes),
        short_ios: lane.short,
        dropped_ios: lane.dropped,
        runtime: Nanos(if used { end.saturating_sub(begin) } else { 0 }),
        latency: LatencyResult {
            slat: (timed && QUEUED && submitted).then_some(lane.slat),
            clat: timed.then_some(lane.clat),
            lat: (timed && QUEUED).then_some(lane.lat),
            response: (timed && RATED).then_some(lane.response),
        },
        prios: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ends_at_once_is_a_batch_of_one_without_a_submission() {
        let mut meter = Meter::<true, true, false>::new(0, 1_000);
        let stamps = Stamps { intended: 10, ready: 10, issued: 10 };
        for direction in [Direction::Trim, Direction::Trim, Direction::Write] {
            meter.issued(direction);
            meter.at_once(direction, 1);
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
    fn what_was_in_flight_is_known_without_latencies() {
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
