//! Latency bounds.

use super::row::Row;
use crate::estimate::Estimated;

/// A figure of latency.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Figure {
    /// The mean.
    Mean,
    /// A percentile.
    Percentile(f64),
}

impl Figure {
    /// "mean", "p99.9".
    pub fn name(self) -> String {
        match self {
            Figure::Mean => "mean".into(),
            Figure::Percentile(percentile) => format!("p{percentile}"),
        }
    }

    /// Its value at a depth, in nanoseconds; `None` for a percentile that was not recorded.
    pub fn value(self, row: &Row) -> Option<Estimated> {
        match self {
            Figure::Mean => Some(row.mean),
            Figure::Percentile(wanted) => {
                let wanted_value = |(percentile, value): &(f64, Estimated)| {
                    (*percentile == wanted).then_some(*value)
                };
                row.percentiles.iter().find_map(wanted_value)
            }
        }
    }
}

/// An upper bound on a latency figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// The figure.
    pub figure: Figure,
    /// The limit, in nanoseconds.
    pub limit_ns: f64,
}

impl Bound {
    /// Whether the figure at a depth is within it.
    pub fn holds(&self, row: &Row) -> bool {
        self.figure.value(row).is_some_and(|figure| figure.value <= self.limit_ns)
    }

    /// The deepest depth within it.
    pub(super) fn deepest(&self, rows: &[Row]) -> Option<u32> {
        rows.iter().filter(|row| self.holds(row)).map(|row| row.depth).max()
    }
}
