//! Statistics of measurements: intervals, change points, steady state. Each names its source.

/// An estimate and the interval that holds the true value in 95 of 100 cases.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}
