//! The share of each layer in the latency of a job's I/Os, and who else used its devices.

use record::{Direction, Histogram, LayerPath, LayerTimes, Layers, OtherRequests, RunRecord};

/// I/Os of the block layer and of the job may differ by this share, which those at the ends of the
/// measured time make up.
const DIFFERENCE_MAX: f64 = 0.02;

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

/// A layer of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IoLayer {
    /// From the start of the system call to the block layer.
    Submission,
    /// Waiting for a request.
    Request,
    /// In the list of a thread's requests.
    Plug,
    /// In the scheduler.
    Scheduler,
    /// In the driver and the device.
    Device,
    /// From the end in the block layer to the end for the job.
    Completion,
    /// Submission and completion, where they cannot be told apart.
    Outside,
}

record::named!(IoLayer:
    Submission "submission",
    Request "request",
    Plug "plug",
    Scheduler "scheduler",
    Device "device",
    Completion "completion",
    Outside "outside",
);

impl IoLayer {
    /// What the time is spent on.
    pub fn meaning(self) -> &'static str {
        match self {
            IoLayer::Submission => "system call and filesystem, until the block layer has the I/O",
            IoLayer::Request => "waiting for a free request (tag)",
            IoLayer::Plug => "held back by the submitting thread, to submit several at once",
            IoLayer::Scheduler => "in the I/O scheduler",
            IoLayer::Device => "in the driver and the device",
            IoLayer::Completion => "from the device's answer until the job has it",
            IoLayer::Outside => "submission and completion together",
        }
    }
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
    /// What the measurement leaves out, as sentences.
    pub gaps: Vec<String>,
}

/// The layers of a run; `None` if they were not timed.
pub fn layers(record: &RunRecord) -> Option<LayersJudged> {
    let layers = record.evidence.layers.as_ref()?;
    let others = layers.others.iter().map(|other| OtherUse {
        requests: other.clone(),
        device_share: device_share(layers, other),
    });
    Some(LayersJudged {
        tables: layers.paths.iter().map(table).collect(),
        others: others.collect(),
        gaps: gaps(layers),
    })
}

fn device_share(layers: &Layers, other: &OtherRequests) -> f64 {
    let ours = layers.paths.iter().filter(|path| path.device_name == other.device);
    let ours: u64 = ours.map(|path| path.device.sum.0).sum();
    let others = layers.others.iter().filter(|it| it.device == other.device);
    let others: u64 = others.map(|it| it.device_time.0).sum();
    other.device_time.0 as f64 / (ours + others).max(1) as f64
}

fn table(path: &LayerPath) -> LayerTable {
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
    let inside = [
        (IoLayer::Request, &path.request),
        (IoLayer::Plug, &path.plug),
        (IoLayer::Scheduler, &path.scheduler),
        (IoLayer::Device, &path.device),
    ];
    // A disk without a scheduler, or without requests, has no such layer.
    let passed = inside.into_iter().filter(|(_, times)| !times.histogram.is_empty());
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
    }
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
    use record::Nanos;

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
        let table = table(&path());
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
        let last = table(&path).rows.pop().unwrap();
        assert_eq!(
            (last.layer, last.mean_ns, last.percentiles_ns),
            (IoLayer::Outside, 200.0, None)
        );
        let member = LayerPath { is_member: true, ..path.clone() };
        for path in [member, LayerPath { job_ios: 9, ..path }] {
            let table = table(&path);
            assert_eq!((table.rows.len(), table.latency_ns, table.is_whole), (2, 800.0, false));
        }
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
