//! What must hold of a case, and whether it did.

use super::sample::Sample;

/// A figure of a run that something is demanded of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// I/Os a second.
    Rate,
    /// Time from one I/O to the next, ns.
    Interval,
    /// User time of the jobs, ns an I/O.
    User,
    /// User and system time of the jobs, ns an I/O.
    Jobs,
    /// All CPU time of the process, ns an I/O.
    Process,
    /// Median of clat, ns.
    Median,
    /// 99th percentile of clat, ns.
    P99,
    /// From start to exit, ns.
    Elapsed,
    /// One over the elapsed time: what is faster is more.
    Speed,
    /// The most memory the process had, bytes.
    Memory,
}

/// What must hold of a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// What something is demanded of.
    pub figure: Figure,
    /// What must hold.
    pub demand: Demand,
}

/// Of the ratio to the peer's, or of the figure itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Demand {
    /// Of the ratio.
    RatioAtLeast(f64),
    /// Of the ratio.
    RatioAtMost(f64),
    /// Of the figure.
    AtMost(f64),
    /// Of the difference to the peer's.
    MoreAtMost(f64),
}

/// The figure is at least `ratio` times the peer's.
pub const fn at_least(figure: Figure, ratio: f64) -> Bound {
    Bound { figure, demand: Demand::RatioAtLeast(ratio) }
}

/// The figure is at most `ratio` times the peer's.
pub const fn at_most(figure: Figure, ratio: f64) -> Bound {
    Bound { figure, demand: Demand::RatioAtMost(ratio) }
}

/// The figure is at most `value`.
pub const fn below(figure: Figure, value: f64) -> Bound {
    Bound { figure, demand: Demand::AtMost(value) }
}

/// The figure is at most the peer's and `value`.
pub const fn more_by(figure: Figure, value: f64) -> Bound {
    Bound { figure, demand: Demand::MoreAtMost(value) }
}

impl Figure {
    /// As in the table.
    pub fn name(self) -> &'static str {
        match self {
            Figure::Rate => "IOPS",
            Figure::Interval => "ns per I/O",
            Figure::User => "user ns per I/O",
            Figure::Jobs => "CPU ns of the jobs per I/O",
            Figure::Process => "CPU ns per I/O",
            Figure::Median => "p50",
            Figure::P99 => "p99",
            Figure::Elapsed => "elapsed ms",
            Figure::Speed => "speed",
            Figure::Memory => "MiB",
        }
    }

    /// What one of the unit it is shown in comes to.
    pub fn unit(self) -> f64 {
        match self {
            Figure::Elapsed => 1e6,
            Figure::Memory => 1024.0 * 1024.0,
            _ => 1.0,
        }
    }

    /// The figure of one run.
    pub fn value(self, sample: &Sample) -> f64 {
        match self {
            Figure::Rate => sample.iops,
            Figure::Interval => 1e9 / sample.iops,
            Figure::User => sample.user_ns,
            Figure::Jobs => sample.user_ns + sample.system_ns,
            Figure::Process => sample.process_ns,
            Figure::Median => sample.p50_ns,
            Figure::P99 => sample.p99_ns,
            Figure::Elapsed => sample.elapsed_ns,
            Figure::Speed => 1e9 / sample.elapsed_ns,
            Figure::Memory => sample.memory_bytes,
        }
    }
}

/// The middle value, or the mean of the two in the middle. There is at least one.
pub fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() % 2 {
        1 => values[middle],
        _ => (values[middle - 1] + values[middle]) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_of_odd_and_even_counts() {
        assert_eq!(middle(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(middle(vec![3.0, 1.0, 2.0, 10.0]), 2.5);
    }
}
