//! The layers, and where I/Os that took about as long spent their time.

use record::{LayerClass, LayerSpans};

/// Percentiles whose layers are shown.
const PERCENTILES: [f64; 5] = [50.0, 90.0, 99.0, 99.9, 99.99];
/// Share of the slow I/Os from which on a disk, or a size, stands out.
const STANDS_OUT: f64 = 0.7;
/// I/Os beyond a percentile, below which it is chance.
pub(super) const BEYOND_MIN: f64 = 10.0;

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
    /// All layers, in the order in which an I/O passes them.
    pub const ALL: [IoLayer; 7] = [
        IoLayer::Submission,
        IoLayer::Request,
        IoLayer::Plug,
        IoLayer::Scheduler,
        IoLayer::Device,
        IoLayer::Completion,
        IoLayer::Outside,
    ];
    /// Those in the block layer, in the order in which an I/O passes them.
    pub const INSIDE: [IoLayer; 4] =
        [IoLayer::Request, IoLayer::Plug, IoLayer::Scheduler, IoLayer::Device];

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

/// The layers of the I/Os at one percentile of the time in the block layer.
#[derive(Clone, Debug, PartialEq)]
pub struct LayersAt {
    /// Percentile, 0 to 100.
    pub percentile: f64,
    /// Mean time in each layer of the I/Os that took about as long as the one at the percentile, to
    /// 25 %, in nanoseconds.
    pub times_ns: Vec<(IoLayer, f64)>,
}

impl LayersAt {
    /// The time in all layers, in nanoseconds.
    pub fn total_ns(&self) -> f64 {
        self.times_ns.iter().map(|(_, time)| time).sum()
    }
}

/// Whether a disk or a size has most of the slow I/Os, and a far smaller share in all I/Os.
pub(super) fn stands_out(slow_share: f64, share: f64) -> bool {
    slow_share >= STANDS_OUT.max(1.5 * share)
}

/// Times in each layer, those without any left out.
pub(super) fn by_layer(spans: &LayerSpans) -> Vec<(IoLayer, u64)> {
    let times = IoLayer::INSIDE.into_iter().zip(spans.all().map(|time| time.0));
    times.filter(|(_, time)| *time > 0).collect()
}

/// The mean time in each layer, in nanoseconds.
pub(super) fn class_means(class: &LayerClass) -> Vec<(IoLayer, f64)> {
    let mean = |(layer, time): (IoLayer, u64)| (layer, time as f64 / class.ios.max(1) as f64);
    by_layer(&class.spans).into_iter().map(mean).collect()
}

/// Percentiles that enough I/Os lie beyond.
pub(super) fn at_percentiles(classes: &[LayerClass]) -> Vec<LayersAt> {
    let count: u64 = classes.iter().map(|class| class.ios).sum();
    let known = PERCENTILES
        .into_iter()
        .filter(|percentile| count as f64 * (1.0 - percentile / 100.0) >= BEYOND_MIN);
    let at = |percentile: f64| {
        let rank = (count as f64 * percentile / 100.0).ceil() as u64;
        let mut passed = 0;
        let class = classes.iter().find(|class| {
            passed += class.ios;
            passed >= rank
        })?;
        Some(LayersAt { percentile, times_ns: class_means(class) })
    };
    known.filter_map(at).collect()
}
