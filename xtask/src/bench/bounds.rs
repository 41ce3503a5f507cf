//! What must hold of a case, and whether it did.

use super::Measured;
use super::measure::Sample;

/// A figure of a run that something is demanded of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// I/Os a second.
    Rate,
    /// Time from one I/O to the next, ns.
    Interval,
    /// User time of the jobs, ns an I/O.
    User,
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
    figure: Figure,
    demand: Demand,
}

/// Of the ratio to the peer's, or of the figure itself.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Demand {
    RatioAtLeast(f64),
    RatioAtMost(f64),
    AtMost(f64),
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

impl Figure {
    fn name(self) -> &'static str {
        match self {
            Figure::Rate => "IOPS",
            Figure::Interval => "ns per I/O",
            Figure::User => "user ns per I/O",
            Figure::Process => "CPU ns per I/O",
            Figure::Median => "p50",
            Figure::P99 => "p99",
            Figure::Elapsed => "elapsed ms",
            Figure::Speed => "speed",
            Figure::Memory => "MiB",
        }
    }

    /// What one of the unit it is shown in comes to.
    fn unit(self) -> f64 {
        match self {
            Figure::Elapsed => 1e6,
            Figure::Memory => 1024.0 * 1024.0,
            _ => 1.0,
        }
    }

    /// The figure of one run.
    pub fn of(self, sample: &Sample) -> f64 {
        match self {
            Figure::Rate => sample.iops,
            Figure::Interval => 1e9 / sample.iops,
            Figure::User => sample.user_ns,
            Figure::Process => sample.process_ns,
            Figure::Median => sample.p50_ns,
            Figure::P99 => sample.p99_ns,
            Figure::Elapsed => sample.elapsed_ns,
            Figure::Speed => 1e9 / sample.elapsed_ns,
            Figure::Memory => sample.memory_bytes,
        }
    }
}

impl Bound {
    /// The demand, what was measured, and whether it holds: `IOPS ≥ 6.00x: 4.26 missed`.
    pub fn verdict(&self, measured: &Measured) -> String {
        let Bound { figure, demand } = *self;
        let (limit, value, held) = match demand {
            Demand::RatioAtLeast(limit) => {
                let ratio = ratio(measured, figure);
                (format!("≥ {limit:.2}x"), format!("{ratio:.2}"), ratio >= limit)
            }
            Demand::RatioAtMost(limit) => {
                let ratio = ratio(measured, figure);
                (format!("≤ {limit:.2}x"), format!("{ratio:.2}"), ratio <= limit)
            }
            Demand::AtMost(limit) => {
                let value = middle(measured.fathom.iter().map(|s| figure.of(s)).collect());
                let unit = figure.unit();
                (format!("≤ {:.0}", limit / unit), format!("{:.1}", value / unit), value <= limit)
            }
        };
        let verdict = if held { "held" } else { "**missed**" };
        format!("{} {limit}: {value} {verdict}", figure.name())
    }
}

/// The median of the rounds' ratios: a machine that changes its speed between two rounds changes it
/// for both programs.
pub fn ratio(measured: &Measured, figure: Figure) -> f64 {
    let rounds = measured.peer.iter().zip(&measured.fathom);
    middle(rounds.map(|(peer, fathom)| figure.of(fathom) / figure.of(peer)).collect())
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
    use crate::bench::cases;
    use crate::bench::measure::tests::of_iops;

    #[test]
    fn medians_of_odd_and_even_counts() {
        assert_eq!(middle(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(middle(vec![3.0, 1.0, 2.0, 10.0]), 2.5);
    }

    #[test]
    fn a_bound_is_held_or_missed_by_the_median_of_the_rounds() {
        let measured = Measured {
            case: cases::select(&["null-1".to_string()]).unwrap()[0],
            peer: of_iops(&[1e6, 2e6, 1e6]),
            fathom: of_iops(&[5e6, 10e6, 40e6]),
            instructions: None,
        };
        let said = |bound: Bound| bound.verdict(&measured);
        assert_eq!(said(at_least(Figure::Rate, 6.0)), "IOPS ≥ 6.00x: 5.00 **missed**");
        assert_eq!(said(at_least(Figure::Rate, 5.0)), "IOPS ≥ 5.00x: 5.00 held");
        assert_eq!(said(below(Figure::Interval, 30.0)), "ns per I/O ≤ 30: 100.0 **missed**");
        assert_eq!(said(at_most(Figure::Interval, 0.2)), "ns per I/O ≤ 0.20x: 0.20 held");
        assert_eq!(said(below(Figure::Elapsed, 5e6)), "elapsed ms ≤ 5: 2.0 held");
    }
}
