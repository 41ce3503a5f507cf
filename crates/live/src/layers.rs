//! Mean times of I/Os in the layers of the kernel's block layer, from sums that grow.

use record::{Direction, LayerSums};
use serde::{Deserialize, Serialize};

/// The layers of I/Os on a disk in one direction: of a job, or of all processes.
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
pub(crate) fn since<'a>(
    before: impl Iterator<Item = &'a LayerSums> + Clone,
    sums: Vec<LayerSums>,
) -> Vec<LayersNow> {
    let path = |sums: LayerSums| {
        let earlier = before.clone().find(|earlier| earlier.is_of_same_path(&sums));
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
    use record::{LayerSpans, Nanos};

    fn sums(direction: Option<Direction>, ios: u64, device: u64) -> LayerSums {
        let spans = LayerSpans { plug: Nanos(ios), device: Nanos(device), ..LayerSpans::default() };
        LayerSums { job: "a".into(), device: "sda".into(), direction, ios, spans }
    }

    #[test]
    fn means_are_of_the_time_since_the_sums_before() {
        let since = |before: &[LayersNow], sums| since(before.iter().map(|path| &path.sums), sums);
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
