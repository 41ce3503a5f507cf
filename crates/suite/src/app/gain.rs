//! Time saved compared with a reference.

use crate::estimate::{Estimated, ratio};
use judge::stats::{Estimate, summary};

/// A time compared with the time of a reference.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Gain {
    /// Time of the reference in seconds.
    pub reference: Estimated,
    /// Time saved, in percent of the reference; below 0 if it took longer.
    pub percent: Estimated,
}

impl Gain {
    /// Whether the difference is more than chance.
    pub fn is_shown(&self) -> bool {
        self.percent.interval.is_some_and(|(low, high)| low > 0.0 || high < 0.0)
    }
}

/// Why there is no gain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Incomparable {
    /// The reference has no successful run of this phase.
    Missing,
    /// The phases differ in their work: the difference.
    Other(String),
}

/// The gain of times over the times of a reference, in seconds.
pub(super) fn gain(times: &[f64], reference: &[f64], seed: u64) -> Option<Gain> {
    if !times.iter().chain(reference).all(|seconds| *seconds > 0.0) {
        return None;
    }
    let ratio = ratio(times, reference, seed)?;
    let percent = |ratio: f64| (1.0 - ratio) * 100.0;
    Some(Gain {
        reference: estimated(reference, seed),
        percent: Estimated {
            value: percent(ratio.value),
            interval: ratio.interval.map(|(low, high)| (percent(high), percent(low))),
        },
    })
}

/// The mean of times with its interval.
pub(super) fn estimated(values: &[f64], seed: u64) -> Estimated {
    let mean: Estimate = summary(values, seed).mean;
    Estimated::new(mean.value, mean)
}

#[cfg(test)]
mod tests {

    #[test]
    fn the_gain_is_the_share_of_the_reference_time_saved() {
        let gain = |times: &[f64], reference: &[f64]| super::gain(times, reference, 1).unwrap();
        let half = gain(&[5.0, 5.01, 4.99], &[10.0, 10.1, 9.9]);
        assert!((half.percent.value - 50.0).abs() < 0.01 && half.is_shown());
        let (low, high) = half.percent.interval.unwrap();
        assert!(low < 50.0 && 50.0 < high && high - low < 4.0, "{low} {high}");
        let slower = gain(&[12.0, 12.1, 11.9], &[10.0, 10.1, 9.9]);
        assert!((slower.percent.value + 20.0).abs() < 0.01 && slower.is_shown());
        let same = gain(&[10.0, 12.0, 8.0], &[10.0, 9.0, 11.5]);
        assert!(!same.is_shown());
        let once = gain(&[5.0], &[10.0]);
        assert_eq!((once.percent.interval, once.is_shown()), (None, false));
        assert_eq!(super::gain(&[], &[1.0], 1), None);
        assert_eq!(super::gain(&[1.0], &[0.0], 1), None);
    }
}
