//! Where the I/Os of a run spend their time in the kernel's block layer, from sums that grow.

use record::{Direction, LayerSpans};
use serde::{Deserialize, Serialize};

/// Sums of the times of a job's I/Os on a disk in one direction, since the end of its ramp.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LayerSums {
    /// Name of the job; empty if all jobs are counted together.
    pub job: String,
    /// Kernel name of the disk.
    pub device: String,
    /// `None`: flushes of the disk's cache.
    pub direction: Option<Direction>,
    /// Number of I/Os.
    pub ios: u64,
    /// Their times in each layer, together, in nanoseconds.
    pub spans: LayerSpans,
}

impl LayerSums {
    fn is_of_same_path(&self, other: &LayerSums) -> bool {
        (&self.job, &self.device, self.direction) == (&other.job, &other.device, other.direction)
    }
}

/// The layers of a job's I/Os on a disk in one direction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LayersNow {
    /// Sums so far.
    #[serde(flatten)]
    pub sums: LayerSums,
    /// Mean time in each layer since the sums before, in nanoseconds, in the order of
    /// [`LayersNow::NAMES`]; `None` if no I/O was completed since.
    pub mean_ns: Option<[f64; 4]>,
}

impl LayersNow {
    /// The layers in the order in which an I/O passes them.
    pub const NAMES: [&str; 4] = ["request", "plug", "scheduler", "device"];

    /// "read", "write", "trim", "flush".
    pub fn operation(&self) -> &'static str {
        self.sums.direction.map_or("flush", Direction::name)
    }
}

/// The layers of these sums; means are since the sums of `before`.
pub(super) fn since(before: &[LayersNow], sums: Vec<LayerSums>) -> Vec<LayersNow> {
    let path = |sums: LayerSums| {
        let earlier = before.iter().find(|path| path.sums.is_of_same_path(&sums));
        let earlier = earlier.map(|path| &path.sums);
        let ios = sums.ios.saturating_sub(earlier.map_or(0, |sums| sums.ios));
        let (spans, earlier) = (sums.spans.all(), earlier.map(|sums| sums.spans.all()));
        let mean = |layer: usize| {
            let time = spans[layer].0.saturating_sub(earlier.map_or(0, |spans| spans[layer].0));
            time as f64 / ios as f64
        };
        LayersNow { mean_ns: (ios > 0).then(|| std::array::from_fn(mean)), sums }
    };
    sums.into_iter().map(path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::Nanos;

    fn sums(direction: Option<Direction>, ios: u64, device: u64) -> LayerSums {
        let spans = LayerSpans { plug: Nanos(ios), device: Nanos(device), ..LayerSpans::default() };
        LayerSums { job: "a".into(), device: "sda".into(), direction, ios, spans }
    }

    #[test]
    fn means_are_of_the_time_since_the_sums_before() {
        let first = since(&[], vec![sums(Some(Direction::Read), 10, 1000)]);
        assert_eq!(first[0].mean_ns, Some([0.0, 1.0, 0.0, 100.0]));
        let both = vec![sums(Some(Direction::Read), 14, 3000), sums(None, 2, 50)];
        let second = since(&first, both.clone());
        assert_eq!(second[0].mean_ns, Some([0.0, 1.0, 0.0, 500.0]));
        assert_eq!(
            (second[1].mean_ns, second[1].operation()),
            (Some([0.0, 1.0, 0.0, 25.0]), "flush")
        );
        assert!(since(&second, both).iter().all(|path| path.mean_ns.is_none()));
    }
}
