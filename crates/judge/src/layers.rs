//! The share of each layer in the latency of a job's I/Os, and who else used its devices.

mod by_cell;
mod sizes;
mod spans;
mod sync;

pub use by_cell::{CellLayers, layers_by_cell};
pub use sizes::{SizeLayers, SlowSize};
pub use spans::{IoLayer, LayersAt};
pub use sync::SyncParts;

use spans::{BEYOND_MIN, at_percentiles, by_layer, stands_out};

use record::{
    DeviceEvents, Direction, Histogram, LayerPath, LayerSpans, LayerTimes, Layers, Nanos,
    OtherRequests, RunRecord, SlowIo, human,
};
use std::collections::BTreeSet;

/// I/Os of the block layer and of the job may differ by this share, which those at the ends of the
/// measured time make up.
const DIFFERENCE_MAX: f64 = 0.02;
/// In nanoseconds.
const SECOND: u64 = 1_000_000_000;

/// The layers that the I/Os of a job passed, on one device in one direction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LayerTable {
    /// The job; empty if all jobs are counted together.
    pub job: String,
    /// Kernel name of the disk.
    pub device: String,
    /// Whether it lies below another disk of the run: its times are part of that disk's.
    pub is_member: bool,
    /// `None`: flushes of the device's cache.
    pub direction: Option<Direction>,
    /// I/Os that were timed.
    pub ios: u64,
    /// I/Os that the job counted itself in this direction, on all its devices.
    pub job_ios: Option<u64>,
    /// Whether the shares are of the job's own latency, not of the time in the block layer.
    pub is_whole: bool,
    /// The mean of which they are shares, in nanoseconds.
    pub latency_ns: f64,
    /// The layers, from the start of an I/O to its end.
    pub rows: Vec<LayerRow>,
    /// Events that are counted, with their names; only those that happened.
    pub events: Vec<(&'static str, u64)>,
    /// Where the I/Os at some percentiles spent their time.
    pub percentiles: Vec<LayersAt>,
    /// The I/Os of each size class; empty if all are of one.
    pub sizes: Vec<SizeLayers>,
    /// The slowest I/Os; `None` unless there are others beside them.
    pub slowest: Option<SlowestIos>,
    /// The size class that made most of the slowest; `None` if none stands out.
    pub slow_size: Option<SlowSize>,
    /// The slowest I/O of each second of the run, or of longer steps in long runs.
    pub slowest_of_steps: Vec<SlowIo>,
    /// I/Os that met requests of others in the device; `None` if none did.
    pub beside_others: Option<BesideOthers>,
    /// The disk below this one that made most of its tail; `None` if none stands out.
    pub slow_member: Option<SlowMember>,
}

/// I/Os that found requests of others in the device when the driver got them.
#[derive(Clone, Debug, PartialEq)]
pub struct BesideOthers {
    /// Their number.
    pub ios: u64,
    /// Their share in the time that the job's I/Os spent in the device, from 0 to 1.
    pub time_share: f64,
    /// Their mean time in the device, in nanoseconds.
    pub mean_ns: f64,
    /// That of the others; `None` if there are none.
    pub otherwise_ns: Option<f64>,
}

impl BesideOthers {
    /// As a sentence: see [`Self::clause`].
    pub fn sentence(&self) -> String {
        self.clause() + "."
    }

    /// "1200 I/Os, with 41 % of the time in the device, found requests of others there: they took 310 µs in
    /// it, the rest 92 µs".
    pub fn clause(&self) -> String {
        let rest = self.otherwise_ns.map(|ns| format!(", the rest {}", human::time(ns)));
        format!(
            "{} I/Os, with {} of the time in the device, found requests of others there: they took {} in \
             it{}",
            self.ios,
            human::percent(self.time_share),
            human::time(self.mean_ns),
            rest.unwrap_or_default()
        )
    }
}

/// The member disk of an array (md, dm) on which most of the slow I/Os were.
#[derive(Clone, Debug, PartialEq)]
pub struct SlowMember {
    /// Its kernel name.
    pub device: String,
    /// Its share in the I/Os of all disks below that took longer than the 99.9th percentile above, from 0
    /// to 1.
    pub slow_share: f64,
    /// Its share in all their I/Os.
    pub share: f64,
}

impl SlowMember {
    /// As a sentence: "Of the I/Os below it that took as long as the slowest 0.1 %, 97 % were on nvme1n1, which
    /// had 50 % of all."
    pub fn sentence(&self) -> String {
        format!(
            "Of the I/Os below it that took as long as the slowest 0.1 %, {} were on {}, which had {} of all.",
            human::percent(self.slow_share),
            self.device,
            human::percent(self.share)
        )
    }
}

impl LayerTable {
    /// "oltp: read on nvme0n1": whose I/Os these are.
    pub fn title(&self) -> String {
        let job = if self.job.is_empty() { "all jobs" } else { &self.job };
        let below = if self.is_member { ", below another disk of the run" } else { "" };
        let what = self.direction.map_or("flush", Direction::name);
        format!("{job}: {what} on {}{below}", self.device)
    }

    /// What [`Self::latency_ns`] is the mean of.
    pub fn latency_name(&self) -> &'static str {
        if self.is_whole { "latency with submission" } else { "time in the block layer" }
    }
}

/// The slowest I/Os.
#[derive(Clone, Debug, PartialEq)]
pub struct SlowestIos {
    /// They, the slowest first.
    pub ios: Vec<SlowIo>,
    /// The layer in which they spent most of their time in the block layer.
    pub layer: IoLayer,
    /// Its share in that time, from 0 to 1.
    pub share: f64,
    /// Number of seconds of the run in which one of them ended.
    pub seconds: usize,
    /// Length of the run in seconds, rounded up.
    pub of_seconds: u64,
}

impl SlowestIos {
    /// As a sentence: "The 100 slowest took 3.9 ms to 12 ms: 93 % of that in the device; they ended in 3
    /// of 60 seconds."
    pub fn sentence(&self) -> String {
        let [slowest, .., fastest] = &self.ios[..] else { return String::new() };
        format!(
            "The {} slowest took {} to {} in the block layer: {} of that in layer {}; they ended in {} of \
             {} seconds.",
            self.ios.len(),
            human::time(fastest.total.0 as f64),
            human::time(slowest.total.0 as f64),
            human::percent(self.share),
            self.layer.name(),
            self.seconds,
            self.of_seconds
        )
    }
}

/// One layer.
#[derive(Clone, Debug, PartialEq)]
pub struct LayerRow {
    /// Which one.
    pub layer: IoLayer,
    /// Mean time, over all I/Os, in nanoseconds.
    pub mean_ns: f64,
    /// 50th, 99th and 99.9th percentile, in nanoseconds; `None` where only the mean is known.
    pub percentiles_ns: Option<[u64; 3]>,
    /// Its share of the latency, from 0 to 1.
    pub share: f64,
}

/// The requests of others on one disk.
#[derive(Clone, Debug, PartialEq)]
pub struct OtherUse {
    /// What was counted.
    pub requests: OtherRequests,
    /// Their share of the time that all requests spent in the device, from 0 to 1.
    pub device_share: f64,
}

/// The layers of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LayersJudged {
    /// A table for each job, disk and direction.
    pub tables: Vec<LayerTable>,
    /// Requests of others.
    pub others: Vec<OtherUse>,
    /// Commits of journals.
    pub journals: Vec<DeviceEvents>,
    /// Flushes of the disks' caches.
    pub flushes: Vec<DeviceEvents>,
    /// Where the synchronisations of the jobs spent their time; `None` if that is not known.
    pub sync: Option<SyncParts>,
    /// What the measurement leaves out, as sentences.
    pub gaps: Vec<String>,
    /// Whether nobody asked for them.
    pub is_default: bool,
    /// From when on they were timed, from the run's origin; 0: from the first I/O on.
    pub since: Nanos,
    /// CPU time that timing took for each I/O, in nanoseconds; `None` if it was not measured.
    pub cost_ns: Option<f64>,
}

/// The layers of a run; `None` if they were not timed.
pub fn layers(record: &RunRecord) -> Option<LayersJudged> {
    let layers = record.evidence.layers.as_ref()?;
    let seconds =
        record.jobs.iter().map(|job| job.ended.0).max().unwrap_or_default().div_ceil(SECOND);
    let tables = layers
        .paths
        .iter()
        .map(|path| LayerTable { slow_member: slow_member(path, layers), ..table(path, seconds) });
    Some(LayersJudged {
        tables: tables.collect(),
        others: layers.others.iter().map(|other| other_use(layers, other)).collect(),
        journals: layers.journals.clone(),
        flushes: layers.flushes.clone(),
        sync: sync::parts(layers, &record.jobs),
        gaps: gaps(layers),
        is_default: layers.is_default,
        since: layers.since,
        cost_ns: layers.cost_ns,
    })
}

/// The disk below that made the tail of a path's I/Os, if one stands out.
fn slow_member(path: &LayerPath, layers: &Layers) -> Option<SlowMember> {
    let is_below = |it: &&LayerPath| {
        (it.is_member, &it.job, it.direction) == (true, &path.job, path.direction)
    };
    let below: Vec<&LayerPath> = layers.paths.iter().filter(is_below).collect();
    if path.is_member || below.len() < 2 || path.direction.is_none() {
        return None;
    }
    // Below, an I/O takes a little less than above.
    let long = (path.total.histogram.percentile(99.9) as f64 * 0.95) as u64;
    let slow = |it: &LayerPath| it.total.histogram.count() - it.total.histogram.count_at_most(long);
    let (all_slow, all) = below.iter().fold((0, 0), |(slow_ios, ios), it| {
        (slow_ios + slow(it), ios + it.total.histogram.count())
    });
    let most = below.into_iter().max_by_key(|it| slow(it))?;
    let share = most.total.histogram.count() as f64 / all.max(1) as f64;
    let slow_share = slow(most) as f64 / all_slow.max(1) as f64;
    let is_clear = all_slow as f64 >= BEYOND_MIN && stands_out(slow_share, share);
    is_clear.then(|| SlowMember { device: most.device_name.clone(), slow_share, share })
}

/// I/Os that met others in the device.
pub(crate) fn beside_others(path: &LayerPath) -> Option<BesideOthers> {
    let count = path.ios + path.parts;
    let rest = path.device.sum.0.saturating_sub(path.beside_time.0) as f64;
    (path.beside > 0).then(|| BesideOthers {
        ios: path.beside,
        time_share: path.beside_time.0 as f64 / path.device.sum.0.max(1) as f64,
        mean_ns: path.beside_time.0 as f64 / path.beside as f64,
        otherwise_ns: (count > path.beside).then(|| rest / (count - path.beside) as f64),
    })
}

/// The requests of others on a disk, with their share of the device.
pub(crate) fn other_use(layers: &Layers, other: &OtherRequests) -> OtherUse {
    OtherUse { requests: other.clone(), device_share: device_share(layers, other) }
}

fn device_share(layers: &Layers, other: &OtherRequests) -> f64 {
    let ours = layers.paths.iter().filter(|path| path.device_name == other.device);
    let ours: u64 = ours.map(|path| path.device.sum.0).sum();
    let others = layers.others.iter().filter(|one| one.device == other.device);
    let others: u64 = others.map(|one| one.device_time.0).sum();
    other.device_time.0 as f64 / (ours + others).max(1) as f64
}

/// `seconds`: the length of the run.
fn table(path: &LayerPath, seconds: u64) -> LayerTable {
    let count = path.ios + path.parts;
    let in_kernel = path.total.sum.0 as f64 / count.max(1) as f64;
    let whole = path.job_latency_ns.filter(|_| is_comparable(path));
    let latency_ns = whole.unwrap_or(in_kernel);
    let share = |mean: f64| if latency_ns > 0.0 { mean / latency_ns } else { 0.0 };
    let mean_only = |layer, mean_ns| {
        let share = share(mean_ns);
        LayerRow { layer, mean_ns, percentiles_ns: None, share }
    };
    let timed = |layer, times: &LayerTimes| {
        let mean_ns = times.sum.0 as f64 / count.max(1) as f64;
        let percentiles_ns = Some(percentiles(&times.histogram, count));
        LayerRow { layer, mean_ns, percentiles_ns, share: share(mean_ns) }
    };
    let inside = IoLayer::INSIDE.into_iter().zip(path.inside());
    // A disk without a scheduler, or without requests, has no such layer.
    let passed = inside.filter(|(_, times)| !times.histogram.is_empty());
    let inside = passed.map(|(layer, times)| timed(layer, times));
    let (first, last) = match (whole, path.submission_ns, path.completion_ns) {
        (Some(_), Some(submission), Some(completion)) => (
            Some(mean_only(IoLayer::Submission, submission)),
            Some(mean_only(IoLayer::Completion, completion)),
        ),
        (Some(whole), ..) => {
            (None, Some(mean_only(IoLayer::Outside, (whole - in_kernel).max(0.0))))
        }
        (None, ..) => (None, None),
    };
    LayerTable {
        job: path.job.clone(),
        device: path.device_name.clone(),
        is_member: path.is_member,
        direction: path.direction,
        ios: path.ios,
        job_ios: (path.job_ios > 0).then_some(path.job_ios),
        is_whole: whole.is_some(),
        latency_ns,
        rows: first.into_iter().chain(inside).chain(last).collect(),
        events: events(path),
        percentiles: at_percentiles(&path.classes),
        sizes: path.sizes.iter().map(SizeLayers::new).collect(),
        slowest: slowest(path, seconds),
        slow_size: sizes::slow_size(&path.slowest, &path.sizes),
        slowest_of_steps: path.slowest_of_steps.clone(),
        beside_others: beside_others(path),
        slow_member: None,
    }
}

fn slowest(path: &LayerPath, of_seconds: u64) -> Option<SlowestIos> {
    let ios = path.slowest.clone();
    if ios.len() < 2 || ios.len() as u64 * 2 > path.ios + path.parts {
        return None;
    }
    let sum = ios.iter().fold(LayerSpans::default(), |sum, io| sum.plus(io.spans));
    let layers = by_layer(&sum);
    let all: u64 = layers.iter().map(|(_, time)| time).sum();
    let (layer, time) = layers.into_iter().max_by_key(|(_, time)| *time)?;
    let seconds: BTreeSet<u64> = ios.iter().map(|io| io.at.0 / SECOND).collect();
    let share = time as f64 / all as f64;
    Some(SlowestIos { ios, layer, share, seconds: seconds.len(), of_seconds })
}

/// The share of the disks in the latency of these jobs' I/Os, as the kernel timed them: in the driver, in
/// the device, and before it in the scheduler. `None` unless each I/O of theirs was timed.
pub(crate) fn timed_disk_share<'a>(
    layers: &Layers,
    jobs: impl Iterator<Item = &'a str> + Clone,
) -> Option<f64> {
    let is_theirs = |path: &&LayerPath| jobs.clone().any(|job| job == path.job);
    let paths = layers.paths.iter().filter(is_theirs);
    let (mut at_disks, mut all) = (0.0, 0.0);
    for path in paths.filter(|path| !path.is_member && path.direction.is_some()) {
        if !is_comparable(path) {
            return None;
        }
        all += path.job_latency_ns? * path.ios as f64;
        at_disks += (path.device.sum.0 + path.scheduler.sum.0) as f64;
    }
    (all > 0.0).then(|| (at_disks / all).min(1.0))
}

/// Whether the I/Os of the job are those of the block layer, so that their latencies compare. Readahead,
/// the page cache and splits make other I/Os of them.
fn is_comparable(path: &LayerPath) -> bool {
    let difference = path.ios.abs_diff(path.job_ios) as f64;
    !path.is_member && path.parts == 0 && difference <= DIFFERENCE_MAX * path.job_ios as f64
}

/// Percentiles over `count` I/Os; those that are not in the histogram took no time.
fn percentiles(histogram: &Histogram, count: u64) -> [u64; 3] {
    let mut all = histogram.clone();
    if let Some(others) = count.checked_sub(histogram.count()).filter(|others| *others > 0) {
        all.record_n(0, others);
    }
    [50.0, 99.0, 99.9].map(|percentile| all.percentile(percentile))
}

fn events(path: &LayerPath) -> Vec<(&'static str, u64)> {
    let all = [
        ("merged", path.merged),
        ("split", path.split),
        ("requeued", path.requeued),
        ("submitted by io_uring's kernel threads", path.helped),
    ];
    all.into_iter().filter(|(_, count)| *count > 0).collect()
}

/// What the measurement leaves out.
fn gaps(layers: &Layers) -> Vec<String> {
    let all = [
        (layers.lost, "I/Os were not timed: too many were in flight, or an event was missing"),
        (layers.unseen, "requests had no known start"),
        (layers.metadata, "I/Os of the jobs were for the filesystem's own data, and are not shown"),
        (layers.unnamed, "requests of other processes are not shown: there are too many processes"),
    ];
    let some = all.into_iter().filter(|(count, _)| *count > 0);
    some.map(|(count, text)| format!("{count} {text}.")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::LayerClass;

    fn times(values: &[u64]) -> LayerTimes {
        let mut times = LayerTimes::default();
        for value in values {
            times.histogram.record(*value);
            times.sum += Nanos(*value);
        }
        times
    }

    fn path() -> LayerPath {
        LayerPath {
            device_name: "sda".into(),
            direction: Some(Direction::Read),
            job_ios: 2,
            job_latency_ns: Some(1000.0),
            ios: 2,
            submission_ns: Some(150.0),
            completion_ns: Some(50.0),
            scheduler: times(&[200]),
            device: times(&[600, 800]),
            total: times(&[800, 800]),
            ..LayerPath::default()
        }
    }

    #[test]
    fn shares_of_the_layers_make_up_the_latency() {
        let table = table(&path(), 1);
        let rows: Vec<_> = table.rows.iter().map(|row| (row.layer, row.mean_ns)).collect();
        let expected = [
            (IoLayer::Submission, 150.0),
            (IoLayer::Scheduler, 100.0),
            (IoLayer::Device, 700.0),
            (IoLayer::Completion, 50.0),
        ];
        assert_eq!(rows, expected);
        assert!((table.rows.iter().map(|row| row.share).sum::<f64>() - 1.0).abs() < 1e-9);
        // One of two did not pass the scheduler.
        assert_eq!(table.rows[1].percentiles_ns.unwrap()[0], 0);
    }

    #[test]
    fn time_outside_is_one_row_where_it_cannot_be_divided() {
        let path = LayerPath { submission_ns: None, completion_ns: None, ..path() };
        let last = table(&path, 1).rows.pop().unwrap();
        assert_eq!(
            (last.layer, last.mean_ns, last.percentiles_ns),
            (IoLayer::Outside, 200.0, None)
        );
        let member = LayerPath { is_member: true, ..path.clone() };
        for path in [member, LayerPath { job_ios: 9, ..path }] {
            let table = table(&path, 1);
            assert_eq!((table.rows.len(), table.latency_ns, table.is_whole), (2, 800.0, false));
        }
    }

    #[test]
    fn the_tail_has_the_layer_that_made_it() {
        let spans = |scheduler, device| LayerSpans {
            scheduler: Nanos(scheduler),
            device: Nanos(device),
            ..LayerSpans::default()
        };
        let slow = |second: u64| SlowIo {
            at: Nanos(second * SECOND + 5),
            total: Nanos(1000 + second),
            spans: spans(900, 100),
            ..SlowIo::default()
        };
        let path = LayerPath {
            ios: 20_000,
            classes: vec![
                LayerClass { ios: 19_950, spans: spans(0, 1_995_000) },
                LayerClass { ios: 50, spans: spans(45_000, 5_000) },
            ],
            slowest: vec![slow(7), slow(7), slow(2)],
            ..path()
        };
        let table = table(&path, 60);
        // Of 20 000 I/Os, two lie beyond p99.99.
        let tail: Vec<_> =
            table.percentiles.iter().map(|at| (at.percentile, at.total_ns())).collect();
        assert_eq!(tail, [(50.0, 100.0), (90.0, 100.0), (99.0, 100.0), (99.9, 1000.0)]);
        let [.., last] = &table.percentiles[..] else { panic!("{table:?}") };
        assert_eq!(last.times_ns, [(IoLayer::Scheduler, 900.0), (IoLayer::Device, 100.0)]);
        assert_eq!(
            table.slowest.unwrap().sentence(),
            "The 3 slowest took 1 µs to 1.01 µs in the block layer: 90 % of that in layer scheduler; they \
             ended in 2 of 60 seconds."
        );
        assert_eq!(
            slowest(&LayerPath { ios: 3, ..path }, 60),
            None,
            "of few I/Os, they are no tail"
        );
    }

    #[test]
    fn the_share_of_the_disks_is_known_where_each_io_was_timed() {
        let path = LayerPath { job: "db".into(), ..path() };
        let share = |paths: Vec<LayerPath>| {
            timed_disk_share(&Layers { paths, ..Layers::default() }, ["db"].into_iter())
        };
        // 1400 ns in the device and 200 ns in the scheduler, of twice 1000 ns.
        assert_eq!(share(vec![path.clone()]), Some(0.8));
        let below = LayerPath { is_member: true, ..path.clone() };
        let flushes = LayerPath { direction: None, ..path.clone() };
        assert_eq!(share(vec![path.clone(), below, flushes]), Some(0.8));
        assert_eq!(share(vec![LayerPath { job_ios: 100, ..path.clone() }]), None);
        assert_eq!(share(vec![LayerPath { job: "other".into(), ..path }]), None);
    }

    #[test]
    fn the_leg_that_makes_the_tail_is_named() {
        let leg = |name: &str, slow: usize| LayerPath {
            is_member: true,
            device_name: name.into(),
            total: times(&[vec![100; 20_000], vec![90_000; slow]].concat()),
            ..path()
        };
        let above = LayerPath {
            device_name: "md0".into(),
            total: times(&[vec![100; 40_000], vec![90_000; 60]].concat()),
            ..path()
        };
        let found = |slow: [usize; 2]| {
            let paths = vec![above.clone(), leg("sda", slow[0]), leg("sdb", slow[1])];
            slow_member(&above, &Layers { paths, ..Layers::default() })
        };
        let sentence = found([2, 58]).unwrap().sentence();
        assert!(sentence.contains("97 % were on sdb, which had 50 % of all"), "{sentence}");
        assert_eq!(found([30, 30]), None);
        assert_eq!(found([0, 5]), None, "five are chance");
    }

    #[test]
    fn ios_beside_those_of_others_are_compared_with_the_rest() {
        let path = LayerPath { beside: 1, beside_time: Nanos(800), ..path() };
        let beside = table(&path, 1).beside_others.unwrap();
        assert_eq!((beside.mean_ns, beside.otherwise_ns), (800.0, Some(600.0)));
        assert_eq!(
            beside.sentence(),
            "1 I/Os, with 57 % of the time in the device, found requests of others there: they took 800 ns in \
             it, the rest 600 ns."
        );
    }

    #[test]
    fn others_have_their_share_of_the_device() {
        let other = OtherRequests {
            name: "postgres".into(),
            device: "sda".into(),
            device_time: Nanos(600),
            ..OtherRequests::default()
        };
        let layers = Layers { paths: vec![path()], others: vec![other], ..Layers::default() };
        assert!((device_share(&layers, &layers.others[0]) - 0.3).abs() < 1e-9);
        assert!(gaps(&layers).is_empty());
        assert_eq!(gaps(&Layers { unseen: 3, ..layers }), ["3 requests had no known start."]);
    }
}
