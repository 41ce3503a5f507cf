//! Variation of a time series.

use super::elementary::{mean, median};

/// Correlation of neighbouring values (lag 1), limited to 0 to 0.9. Negative correlation would only
/// narrow intervals, and a series as short as a benchmark cannot distinguish more from a trend.
pub(super) fn autocorrelation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let square: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    if values.len() < 3 || square == 0.0 {
        return 0.0;
    }
    let product: f64 = values.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    // The estimate is too small by about (1 + 4 phi) / n (Kendall 1954).
    let raw = product / square;
    (raw + (1.0 + 4.0 * raw.max(0.0)) / values.len() as f64).clamp(0.0, 0.9)
}

/// The number of independent values with the same information about the mean, at least 2.
pub(super) fn effective_count(count: usize, phi: f64) -> f64 {
    (count as f64 * (1.0 - phi) / (1.0 + phi)).max(2.0)
}

/// The noise of a series without level shifts and trends, from the differences of neighbours.
pub(super) struct Noise {
    /// Standard deviation around the level.
    pub deviation: f64,
    /// Correlation with the previous value, 0 to [`PHI_MAX`].
    pub phi: f64,
}

/// A short series cannot distinguish more correlation from noise, and assuming it would hide shifts.
const PHI_MAX: f64 = 0.6;

/// The deviation comes from the median absolute deviation of the differences, which ignores a few large
/// ones (shifts). For an autoregressive process of order 1, the correlation of the differences is
/// -(1 - phi) / 2, and their variance is 2 (1 - phi) times the variance of the values.
pub(super) fn noise(values: &[f64]) -> Noise {
    let differences: Vec<f64> = values.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let middle = median(&differences);
    let away: Vec<f64> = differences.iter().map(|d| (d - middle).abs()).collect();
    // The median absolute deviation of a normal distribution is 0.6745 standard deviations.
    let deviation = median(&away) / 0.6745;
    let bounded: Vec<f64> =
        differences.iter().map(|d| (d - middle).clamp(-3.0 * deviation, 3.0 * deviation)).collect();
    let square: f64 = bounded.iter().map(|d| d * d).sum();
    let product: f64 = bounded.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let phi = if square > 0.0 { (1.0 + 2.0 * product / square).clamp(0.0, PHI_MAX) } else { 0.0 };
    Noise { deviation: deviation / (2.0 * (1.0 - phi)).sqrt(), phi }
}
