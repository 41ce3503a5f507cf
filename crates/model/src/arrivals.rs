//! When I/Os arrive: the index of dispersion of counts over time scales, and whether gaps are
//! exponential.

use crate::counts::LogHistogram;
use serde::Serialize;

/// Widths of the windows in which arrivals are counted, in nanoseconds.
const SCALES: [u64; 6] =
    [100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000, 10_000_000_000];
/// The least windows of an index of dispersion; with fewer it is chance.
const WINDOWS_MIN: u64 = 20;

/// Variance over mean of the number of arrivals in windows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Dispersion {
    /// Width of the windows, in nanoseconds.
    pub window_ns: u64,
    /// The index.
    pub index: f64,
}

/// Counts arrivals, which come in order.
#[derive(Clone, Debug, Default)]
pub struct ArrivalMeter {
    first: Option<u64>,
    last: u64,
    count: u64,
    gaps: LogHistogram,
    scales: [Scale; 6],
}

/// Counts in windows of one width.
#[derive(Clone, Copy, Debug, Default)]
struct Scale {
    window: u64,
    count: u64,
    sum: f64,
    squares: f64,
}

impl ArrivalMeter {
    /// Counts an arrival. Arrivals come in order of time.
    pub fn add(&mut self, at: u64) {
        let first = *self.first.get_or_insert(at);
        if self.count > 0 {
            self.gaps.add(at - self.last);
        }
        self.last = at;
        self.count += 1;
        for (scale, width) in self.scales.iter_mut().zip(SCALES) {
            let window = (at - first) / width;
            if window != scale.window {
                scale.close();
                scale.window = window;
            }
            scale.count += 1;
        }
    }

    /// Arrivals a second, from the first to the last.
    pub fn rate(&self) -> f64 {
        let span = self.last - self.first.unwrap_or(self.last);
        if span == 0 { 0.0 } else { (self.count - 1) as f64 / (span as f64 / 1e9) }
    }

    /// The gaps between arrivals.
    pub fn gaps(&self) -> &LogHistogram {
        &self.gaps
    }

    /// Variance over mean of the counts in windows of each width. 1 for Poisson arrivals at every
    /// width; it grows with the width where bursts are correlated (Cox and Lewis, "The Statistical
    /// Analysis of Series of Events", 1966).
    pub fn dispersion(&self) -> Vec<Dispersion> {
        let index = |(scale, width): (&Scale, u64)| {
            let mut scale = *scale;
            let windows = scale.window;
            // The last window is not full.
            scale.count = 0;
            scale.close();
            let mean = scale.sum / windows as f64;
            let variance = scale.squares / windows as f64 - mean * mean;
            let is_known = windows >= WINDOWS_MIN && mean > 0.0;
            is_known.then(|| Dispersion { window_ns: width, index: variance.max(0.0) / mean })
        };
        self.scales.iter().zip(SCALES).filter_map(index).collect()
    }

    /// The Kolmogorov–Smirnov distance between the distribution of the gaps and the exponential one of
    /// the same mean. `None` with fewer than 100 gaps.
    pub fn exponential_distance(&self) -> Option<f64> {
        if self.gaps.count() < 100 {
            return None;
        }
        let (mean, all) = (self.gaps.mean().max(1.0), self.gaps.count() as f64);
        let mut seen = 0.0;
        let differences = self.gaps.bins().map(|(_, high, count)| {
            seen += count as f64 / all;
            (seen - (1.0 - (-(high as f64) / mean).exp())).abs()
        });
        Some(differences.fold(0.0, f64::max))
    }

    /// Whether arrivals are a Poisson process as far as can be told: gaps are exponential, and counts
    /// are not dispersed more or less at any scale that has several arrivals a window.
    pub fn is_poisson(&self) -> bool {
        let gaps = self.exponential_distance().is_some_and(|distance| distance < 0.06);
        let rate = self.rate();
        let mut counts = self.dispersion();
        counts.retain(|scale| rate * scale.window_ns as f64 / 1e9 >= 1.0);
        gaps && counts.iter().all(|scale| (0.5..2.0).contains(&scale.index))
    }
}

impl Scale {
    fn close(&mut self) {
        self.sum += self.count as f64;
        self.squares += (self.count as f64).powi(2);
        self.count = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::SplitMix64;

    fn meter(mut gap: impl FnMut(f64, u64) -> f64) -> ArrivalMeter {
        let (mut meter, mut at, mut random) = (ArrivalMeter::default(), 0.0, SplitMix64::new(5));
        for n in 0..50_000 {
            let unit = (random.bits() >> 11) as f64 / (1_u64 << 53) as f64;
            at += gap(unit, n);
            meter.add(at as u64);
        }
        meter
    }

    #[test]
    fn poisson_arrivals_are_told_from_regular_and_bursty_ones() {
        let poisson = meter(|unit, _| -(1.0 - unit).ln() * 1e6);
        assert!(poisson.is_poisson(), "{:?}", poisson.dispersion());
        assert!((poisson.rate() / 1000.0 - 1.0).abs() < 0.03);
        let regular = meter(|_, _| 1e6);
        assert!(!regular.is_poisson());
        assert!(regular.dispersion().last().unwrap().index < 0.1);
        let bursty = meter(|unit, n| -(1.0 - unit).ln() * if n % 100 == 0 { 1e8 } else { 1e4 });
        assert!(!bursty.is_poisson());
        assert!(bursty.dispersion().last().unwrap().index > 20.0);
    }
}
