//! Both programs' runs of a case, and whether its bounds hold.

use super::bounds::{Bound, Demand, Figure, middle};
use super::cases::Case;
use super::sample::Sample;

/// Both programs' runs of one case.
pub struct Measured {
    pub case: &'static Case,
    pub peer: Vec<Sample>,
    pub fathom: Vec<Sample>,
    /// Instructions an I/O, the peer's and ours, where they were counted.
    pub instructions: Option<[Option<f64>; 2]>,
}

impl Bound {
    /// The demand, what was measured, and whether it holds: `IOPS ≥ 6.00x: 4.26 missed`.
    pub fn verdict(&self, measured: &Measured) -> String {
        let Bound { figure, demand } = *self;
        let (limit, value, held) = match demand {
            Demand::RatioAtLeast(limit) => {
                let ratio = measured.ratio(figure);
                (format!("≥ {limit:.2}x"), format!("{ratio:.2}"), ratio >= limit)
            }
            Demand::RatioAtMost(limit) => {
                let ratio = measured.ratio(figure);
                (format!("≤ {limit:.2}x"), format!("{ratio:.2}"), ratio <= limit)
            }
            Demand::AtMost(limit) => {
                let value = middle(measured.fathom.iter().map(|s| figure.value(s)).collect());
                let unit = figure.unit();
                (format!("≤ {:.0}", limit / unit), format!("{:.1}", value / unit), value <= limit)
            }
            Demand::MoreAtMost(limit) => {
                let more =
                    between(&measured.peer, &measured.fathom, figure, |peer, fathom| fathom - peer);
                let unit = figure.unit();
                (format!("≤ +{:.0}", limit / unit), format!("{:+.1}", more / unit), more <= limit)
            }
        };
        let verdict = if held { "held" } else { "**missed**" };
        format!("{} {limit}: {value} {verdict}", figure.name())
    }
}

impl Measured {
    /// [`ratio`] of ours to the peer's.
    pub fn ratio(&self, figure: Figure) -> f64 {
        ratio(&self.peer, &self.fathom, figure)
    }
}

/// The median of the rounds' ratios, of the second to the first: a machine that changes its speed
/// between two rounds changes it for both.
pub fn ratio(first: &[Sample], second: &[Sample], figure: Figure) -> f64 {
    between(first, second, figure, |first, second| second / first)
}

/// The same of what a round's two figures give.
fn between(
    first: &[Sample],
    second: &[Sample],
    figure: Figure,
    of: impl Fn(f64, f64) -> f64,
) -> f64 {
    let rounds = first.iter().zip(second);
    middle(rounds.map(|(first, second)| of(figure.value(first), figure.value(second))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::bounds::{at_least, at_most, below, more_by};
    use crate::bench::cases;
    use crate::bench::measure::tests::of_iops;

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
        assert_eq!(said(more_by(Figure::Interval, 10.0)), "ns per I/O ≤ +10: -800.0 held");
        assert_eq!(said(below(Figure::Elapsed, 5e6)), "elapsed ms ≤ 5: 2.0 held");
    }
}
