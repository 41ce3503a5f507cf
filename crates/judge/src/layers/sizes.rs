//! The layers of I/Os of about the same size.

use super::spans::{IoLayer, LayersAt, at_percentiles, class_means, stands_out};
use record::{Bytes, LayerClass, SizeClasses, SlowIo, human};

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
        name(self.up_to)
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

fn name(up_to: Option<Bytes>) -> String {
    up_to.map_or("longer".into(), |up_to| format!("up to {}", human::size(up_to.0 as f64)))
}

/// The size class of most of the slowest I/Os.
#[derive(Clone, Debug, PartialEq)]
pub struct SlowSize {
    /// As [`SizeLayers::name`].
    pub name: String,
    /// Its share in the slowest I/Os, from 0 to 1.
    pub slow_share: f64,
    /// Its share in all I/Os.
    pub share: f64,
}

impl SlowSize {
    /// As a sentence: "Of the slowest I/Os, 97 % are in the row "up to 256 KiB", which has 20 % of all."
    pub fn sentence(&self) -> String {
        format!(
            "Of the slowest I/Os, {} are in the row \"{}\", which has {} of all.",
            human::percent(self.slow_share),
            self.name,
            human::percent(self.share)
        )
    }
}

/// The size class that made the tail, if one stands out.
pub(super) fn slow_size(slowest: &[SlowIo], sizes: &[SizeClasses]) -> Option<SlowSize> {
    let fits = |io: &SlowIo, size: &SizeClasses| size.up_to.is_none_or(|up_to| io.bytes <= up_to);
    let mut slow = vec![0; sizes.len()];
    for io in slowest {
        // The shortest class comes first.
        let class = sizes.iter().position(|size| fits(io, size))?;
        slow[class] += 1;
    }
    let ios = |size: &SizeClasses| size.classes.iter().map(|class| class.ios).sum::<u64>();
    let all: u64 = sizes.iter().map(ios).sum();
    let (size, slow) = sizes.iter().zip(slow).max_by_key(|(_, slow)| *slow)?;
    let slow_share = slow as f64 / slowest.len().max(1) as f64;
    let share = ios(size) as f64 / all.max(1) as f64;
    stands_out(slow_share, share).then(|| SlowSize { name: name(size.up_to), slow_share, share })
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::{LayerSpans, Nanos};

    #[test]
    fn the_size_that_makes_the_tail_is_named() {
        let size = |up_to, ios| SizeClasses {
            up_to,
            classes: vec![LayerClass { ios, ..LayerClass::default() }],
        };
        let found = |long: u64| {
            let sizes = [size(Some(Bytes(4096)), 1000 - long), size(None, long)];
            let io = |bytes| SlowIo { bytes: Bytes(bytes), ..SlowIo::default() };
            let slowest: Vec<SlowIo> = [4096].into_iter().chain([1 << 20; 19]).map(io).collect();
            slow_size(&slowest, &sizes)
        };
        assert_eq!(
            found(200).unwrap().sentence(),
            "Of the slowest I/Os, 95 % are in the row \"longer\", which has 20 % of all."
        );
        assert_eq!(found(900), None, "most I/Os are long");
    }

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
