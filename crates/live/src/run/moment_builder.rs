//! Builds moments from observations of a run, as differences to the previous observation.

use super::{DepthNow, DirectionNow, FindingNow, JobNow, LatencyNow, LayersNow, Moment, State};
use crate::Rates;
use crate::layers;
use record::{
    Bytes, Direction, Histogram, JobRecord, LayerSums, Message, Nanos, PerDirection, Sample,
    Snapshot, WorkerStatus,
};
use std::collections::VecDeque;

/// Window of the latencies, or the time between two observations if that is longer. One second at a
/// low rate has too few I/Os for a 99th percentile.
const WINDOW_SECONDS: f64 = 5.0;

/// An observation of a run.
#[derive(Clone, Debug, Default)]
pub struct RunObservation {
    /// Time, in milliseconds since 1970 UTC.
    pub unix_ms: u64,
    /// Live figures of the workers.
    pub snapshot: Snapshot,
    /// The results so far of the workers; `None` if they were not collected this time.
    pub laid_out: Option<Vec<JobRecord>>,
    /// Sums of the times in each layer; `None` if they were not read this time.
    pub layers: Option<Vec<LayerSums>>,
    /// The machine.
    pub sample: Sample,
    /// Expected remaining time in seconds.
    pub remaining_seconds: Option<f64>,
    /// The run is ending.
    pub ending: bool,
    /// Findings so far.
    pub findings: Vec<FindingNow>,
    /// Messages for the user.
    pub messages: Vec<Message>,
}

/// Builds the [`Moment`]s of one run from successive [`RunObservation`]s.
#[derive(Debug, Default)]
pub struct MomentBuilder {
    run: u32,
    rows: Vec<JobRow>,
    /// The previous observation.
    before: Option<(Snapshot, Sample)>,
    /// The queue depths of the results before.
    laid_out: Vec<LaidOut>,
    /// The layers of the moment before.
    layers: Vec<LayersNow>,
}

/// The queue depth of a worker in its results so far.
#[derive(Clone, Copy, Debug, Default)]
struct LaidOut {
    started: Nanos,
    ended: Nanos,
    /// I/Os in flight integrated over time, in seconds.
    in_flight: f64,
}

impl LaidOut {
    fn new(job: &JobRecord) -> LaidOut {
        let JobRecord { started, ended, .. } = *job;
        let in_flight = job.depth.achieved_mean * (ended - started).seconds();
        LaidOut { started, ended, in_flight }
    }

    /// Mean I/Os in flight since earlier results; `None` without newer ones.
    fn since(&self, earlier: Option<&LaidOut>) -> Option<f64> {
        // Results from before a restart of the measurement do not count.
        let earlier = earlier.filter(|one| one.started == self.started && one.ended.0 > 0);
        let seconds = (self.ended - earlier.map_or(self.started, |one| one.ended)).seconds();
        let spent = self.in_flight - earlier.map_or(0.0, |one| one.in_flight);
        (seconds > 0.0).then(|| (spent / seconds).max(0.0))
    }
}

/// Workers that are shown together.
#[derive(Debug, Default)]
struct JobRow {
    name: String,
    group: u32,
    workload: String,
    depth: u32,
    /// Indices of its workers.
    workers: Vec<usize>,
    /// Figures from their latest results.
    state: JobState,
}

/// Figures of a job from the results of its workers.
#[derive(Debug, Default)]
struct JobState {
    /// Histograms of the completion latencies so far with their times in seconds since the run's
    /// origin, for the last [`WINDOW_SECONDS`].
    latencies: PerDirection<VecDeque<(f64, Histogram)>>,
    latency: PerDirection<Option<LatencyNow>>,
    /// I/Os and bytes a second over the measurement.
    means: PerDirection<Option<(f64, f64)>>,
    depth: Option<f64>,
    errors: u64,
}

impl MomentBuilder {
    /// Most jobs shown; all further ones are combined. Bounds the lines of the feed and the memory
    /// for latencies.
    pub const JOBS_MAX: usize = 64;

    /// For a run with these workers, in order.
    pub fn new(run: u32, workers: &[JobRecord]) -> MomentBuilder {
        let mut rows: Vec<JobRow> = Vec::new();
        for (place, job) in workers.iter().enumerate() {
            let same = |row: &&mut JobRow| row.name == job.name && row.group == job.group.group;
            let last = rows.len() >= Self::JOBS_MAX;
            match rows.iter_mut().find(same) {
                Some(row) => row.add_worker(place, job),
                None if last => rows[Self::JOBS_MAX - 1].add_other_worker(place, job),
                None => rows.push(JobRow::new(place, job)),
            }
        }
        MomentBuilder { run, rows, ..MomentBuilder::default() }
    }

    /// The moment of an observation.
    pub fn build(&mut self, observation: RunObservation) -> Moment {
        if let Some(jobs) = &observation.laid_out {
            let laid_out: Vec<LaidOut> = jobs.iter().map(LaidOut::new).collect();
            for row in &mut self.rows {
                row.update(jobs);
                row.state.depth = row.depth(&self.laid_out, &laid_out);
            }
            self.laid_out = laid_out;
        }
        if let Some(sums) = observation.layers {
            let before = std::mem::take(&mut self.layers);
            self.layers = layers::since(before.iter().map(|path| &path.sums), sums);
        }
        let before = self.before.as_ref();
        let earlier = before.map(|(snapshot, _)| snapshot);
        let jobs = self.rows.iter().map(|row| row.now(earlier, &observation.snapshot)).collect();
        let own = |sample: &Sample| sample.own_cpu_ms.map(|ms| ms as f64 / 1000.0);
        let own_cpu_percent = before.and_then(|(_, before)| {
            let seconds = (observation.sample.at - before.at).seconds();
            let spent = own(&observation.sample)? - own(before)?;
            (seconds > 0.0).then(|| (spent * 100.0 / seconds).max(0.0))
        });
        let moment = Moment {
            run: self.run,
            unix_ms: observation.unix_ms,
            elapsed_seconds: observation.snapshot.at.seconds(),
            remaining_seconds: observation.remaining_seconds,
            ending: observation.ending,
            layout: observation.snapshot.layout.clone(),
            jobs,
            layers: self.layers.clone(),
            machine: before.and_then(|(_, before)| Rates::between(before, &observation.sample)),
            own_cpu_seconds: own(&observation.sample),
            own_cpu_percent,
            findings: observation.findings,
            messages: observation.messages,
        };
        self.before = Some((observation.snapshot, observation.sample));
        moment
    }
}

impl JobRow {
    fn new(place: usize, job: &JobRecord) -> JobRow {
        let mut row = JobRow {
            name: job.name.clone(),
            group: job.group.group,
            workload: workload(job),
            ..JobRow::default()
        };
        row.add_worker(place, job);
        row
    }

    fn add_worker(&mut self, place: usize, job: &JobRecord) {
        self.workers.push(place);
        self.depth += job.workload.iodepth;
    }

    /// Adds a worker of a job beyond the maximum.
    fn add_other_worker(&mut self, place: usize, job: &JobRecord) {
        self.add_worker(place, job);
        self.name = "further jobs".into();
        self.workload = String::new();
    }

    fn update(&mut self, now: &[JobRecord]) {
        let jobs = || self.workers.iter().filter_map(|place| now.get(*place));
        let measured = || jobs().filter(|job| job.ended.0 > 0);
        self.state.errors = jobs().flat_map(|job| &job.errors).map(|error| error.count).sum();
        let Some(at) = measured().map(|job| job.ended).max() else { return };
        for direction in Direction::ALL {
            let results = || measured().map(|job| (job, &job.results[direction]));
            let window = || results().filter(|(_, result)| result.runtime.0 > 0);
            let begun = window().map(|(job, _)| job.started).min();
            let ended = window().map(|(job, _)| job.ended).max();
            let seconds = begun.zip(ended).map_or(0.0, |(begun, ended)| (ended - begun).seconds());
            let ios: u64 = results().map(|(_, result)| result.ios).sum();
            let bytes: Bytes = results().map(|(_, result)| result.bytes).sum();
            self.state.means[direction] =
                (seconds > 0.0).then(|| (ios as f64 / seconds, bytes.0 as f64 / seconds));
            let mut so_far = Histogram::new();
            for (_, result) in results() {
                let latency = &result.latency;
                latency.clat.as_ref().or(latency.lat.as_ref()).inspect(|all| so_far.merge(all));
            }
            let histograms = &mut self.state.latencies[direction];
            self.state.latency[direction] = latency_since(histograms, at.seconds(), so_far);
        }
    }

    /// I/Os in flight of all workers with results since the previous ones.
    fn depth(&self, before: &[LaidOut], now: &[LaidOut]) -> Option<f64> {
        let depth = |place: &usize| now.get(*place)?.since(before.get(*place));
        let depths: Vec<f64> = self.workers.iter().filter_map(depth).collect();
        (!depths.is_empty()).then(|| depths.iter().sum())
    }

    fn now(&self, before: Option<&Snapshot>, now: &Snapshot) -> JobNow {
        let workers = || self.workers.iter().filter_map(|place| now.workers.get(*place));
        let states = || workers().map(|worker| State::from(worker.state));
        let state = states().min().unwrap_or_default();
        JobNow {
            name: self.name.clone(),
            group: self.group,
            workers: self.workers.len() as u32,
            state,
            in_state: states().filter(|one| *one == state).count() as u32,
            workload: self.workload.clone(),
            directions: PerDirection::from_fn(|direction| {
                let has = |worker: &WorkerStatus| {
                    worker.directions[direction] || worker.ios[direction] > 0
                };
                workers().any(has).then(|| self.direction(direction, before, now))
            }),
            depth: self.state.depth.map(|depth| DepthNow { requested: self.depth, now: depth }),
            errors: self.state.errors,
        }
    }

    fn direction(
        &self,
        direction: Direction,
        before: Option<&Snapshot>,
        now: &Snapshot,
    ) -> DirectionNow {
        let sum = |snapshot: &Snapshot, of: fn(&WorkerStatus) -> &PerDirection<u64>| -> u64 {
            let workers = self.workers.iter().filter_map(|place| snapshot.workers.get(*place));
            workers.map(|worker| of(worker)[direction]).sum()
        };
        let begun = || {
            let workers = self.workers.iter().filter_map(|place| now.workers.get(*place));
            workers.filter_map(|worker| worker.started).min().unwrap_or_default()
        };
        let from = before.map_or_else(begun, |before| before.at);
        let seconds = (now.at - from).seconds();
        let rate = |of: fn(&WorkerStatus) -> &PerDirection<u64>| {
            let since = sum(now, of).saturating_sub(before.map_or(0, |before| sum(before, of)));
            if seconds > 0.0 { since as f64 / seconds } else { 0.0 }
        };
        let means = self.state.means[direction];
        DirectionNow {
            ios: sum(now, |worker| &worker.ios),
            bytes: sum(now, |worker| &worker.bytes),
            iops: rate(|worker| &worker.ios),
            bytes_per_second: rate(|worker| &worker.bytes),
            mean_iops: means.map(|(ios, _)| ios),
            mean_bytes_per_second: means.map(|(_, bytes)| bytes),
            latency: self.state.latency[direction],
        }
    }
}

/// "randread 4k io_uring"; differing block sizes are a range.
fn workload(job: &JobRecord) -> String {
    let workload = &job.workload;
    let sizes = workload.block_size.iter().map(|(_, size)| *size).filter(|(_, max)| max.0 > 0);
    let (min, max) =
        sizes.fold((u64::MAX, 0), |(min, max), (low, high)| (min.min(low.0), max.max(high.0)));
    let size = match (min, max) {
        (u64::MAX, _) => String::new(),
        (min, max) if min == max => short(min),
        (min, max) => format!("{}-{}", short(min), short(max)),
    };
    let words = [workload.rw.as_str(), &size, &workload.ioengine];
    words.iter().filter(|word| !word.is_empty()).copied().collect::<Vec<_>>().join(" ")
}

/// A size as job files have it: "4k", "1m", "512".
fn short(bytes: u64) -> String {
    let units = [(30, "g"), (20, "m"), (10, "k")];
    let whole = |(shift, _): &&(u32, &str)| bytes >> shift > 0 && bytes.is_multiple_of(1 << shift);
    match units.iter().find(whole) {
        Some((shift, unit)) => format!("{}{unit}", bytes >> shift),
        None => bytes.to_string(),
    }
}

/// Adds the histogram of latencies up to `at` (seconds since the run's origin) and returns the
/// latencies of the window.
fn latency_since(
    histograms: &mut VecDeque<(f64, Histogram)>,
    at: f64,
    so_far: Histogram,
) -> Option<LatencyNow> {
    let last = histograms.back();
    if last.is_some_and(|(_, last)| so_far.count() < last.count()) {
        // The measurement was restarted.
        histograms.clear();
    }
    histograms.push_back((at, so_far));
    // The first remaining histogram is the start of the window.
    while histograms.len() > 2 && at - histograms[1].0 >= WINDOW_SECONDS {
        histograms.pop_front();
    }
    let ((from, before), (_, now)) = (histograms.front()?, histograms.back()?);
    let (since, seconds) = match histograms.len() {
        1 => (now.clone(), 0.0),
        _ => (now.since(before), at - from),
    };
    (!since.is_empty()).then(|| LatencyNow {
        seconds,
        count: since.count(),
        mean_ns: since.mean(),
        p50_ns: since.percentile(50.0),
        p99_ns: since.percentile(99.0),
        p999_ns: since.percentile(99.9),
        max_ns: since.max(),
    })
}

#[cfg(test)]
mod tests;
