//! The layers of I/Os of about the same size.

use super::spans::{IoLayer, LayersAt, at_percentiles, class_means};
use record::{Bytes, LayerClass, SizeClasses, human};

/// I/Os of about the same size.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeLayers {
    /// Their length at most; `None`: longer than those of all other classes.
    pub up_to: Option<Bytes>,
    /// Their number.
    pub ios: u64,
    /// The mean time in each layer, in nanoseconds.
    pub means_ns: Vec<(IoLayer, f64)>,
    /// Where the I/Os at some percentiles spent their time.
    pub percentiles: Vec<LayersAt>,
}

impl SizeLayers {
    pub(super) fn new(size: &SizeClasses) -> SizeLayers {
        let all = size.classes.iter().fold(LayerClass::default(), |sum, class| LayerClass {
            ios: sum.ios + class.ios,
            spans: sum.spans.plus(class.spans),
        });
        SizeLayers {
            up_to: size.up_to,
            ios: all.ios,
            means_ns: class_means(&all),
            percentiles: at_percentiles(&size.classes),
        }
    }

    /// "up to 16 KiB".
    pub fn name(&self) -> String {
        self.up_to.map_or("longer".into(), |up_to| format!("up to {}", human::size(up_to.0 as f64)))
    }

    /// Mean time in the block layer, in nanoseconds.
    pub fn mean_ns(&self) -> f64 {
        self.means_ns.iter().map(|(_, mean)| mean).sum()
    }

    /// Time in the block layer at a percentile, to 25 %, in nanoseconds; `None` if too few I/Os lie beyond
    /// it.
    pub fn percentile_ns(&self, percentile: f64) -> Option<f64> {
        let at = self.percentiles.iter().find(|at| at.percentile == percentile)?;
        Some(at.total_ns())
    }

    /// The layer in which they spent most time, and its share in the time in the block layer, from 0 to 1.
    pub fn longest_layer(&self) -> Option<(IoLayer, f64)> {
        let longest = self.means_ns.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        Some((longest.0, longest.1 / self.mean_ns()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::{LayerSpans, Nanos};

    #[test]
    fn a_size_has_its_mean_its_percentiles_and_its_longest_layer() {
        let class = |ios, scheduler, device| LayerClass {
            ios,
            spans: LayerSpans {
                scheduler: Nanos(scheduler),
                device: Nanos(device),
                ..LayerSpans::default()
            },
        };
        let classes = vec![class(900, 90_000, 810_000), class(100, 0, 1_000_000)];
        let size = SizeLayers::new(&SizeClasses { up_to: Some(Bytes(16384)), classes });
        assert_eq!(
            (size.name().as_str(), size.ios, size.mean_ns()),
            ("up to 16 KiB", 1000, 1900.0)
        );
        assert_eq!(
            (size.percentile_ns(50.0), size.percentile_ns(99.0)),
            (Some(1000.0), Some(10_000.0))
        );
        assert_eq!(size.percentile_ns(99.9), None, "one I/O lies beyond it");
        let (layer, share) = size.longest_layer().unwrap();
        assert_eq!((layer, (share * 1000.0).round()), (IoLayer::Device, 953.0));
        assert_eq!(SizeLayers::new(&SizeClasses::default()).name(), "longer");
    }
}
