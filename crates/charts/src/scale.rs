//! The positions of values along an axis.

use crate::data::{Axis, Point};
use crate::scene::ReadableAxis;
use crate::unit::{self, Unit};
use record::human::Unit as Scaled;

/// The scale of an axis of figures.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scale {
    low: f64,
    high: f64,
    pub is_log: bool,
    pub unit: Scaled,
    /// Ticks have different units, because the range is too wide for one.
    pub mixed: Option<Unit>,
    /// Round figures along it, ascending.
    pub ticks: Vec<f64>,
}

/// Figures with a larger ratio are shown on a logarithmic scale.
const FAR_APART: f64 = 30.0;

/// The use of a scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// Lengths are compared: the scale begins at 0.
    Lengths,
    /// Positions are compared: the scale may be logarithmic and begin above 0.
    Places,
    /// As for positions. Intervals have no colour, so the scale covers the figures alone.
    Colours,
}

impl Scale {
    /// A scale for all figures, and for their intervals if they are drawn.
    pub(crate) fn from_points<'a>(
        points: impl Iterator<Item = &'a Point> + Clone,
        unit: Unit,
        used: Use,
    ) -> Scale {
        let known = points.clone().filter_map(Point::known);
        let (least, most) = known.fold((f64::INFINITY, 0.0_f64), |(least, most), value| {
            (least.min(value), most.max(value))
        });
        let ends = points.filter_map(Point::interval).filter(|_| used != Use::Colours);
        let (lowest, highest) = ends.fold((least, most), |(low, high), interval| {
            (low.min(interval.0), high.max(interval.1))
        });
        // A far end of an interval would compress all figures.
        let highest = highest.min(most * 2.0);
        match used != Use::Lengths && least > 0.0 && most / least >= FAR_APART {
            true => Scale::logarithmic(lowest.max(least / 3.0), highest, unit),
            false => Scale::linear(if highest > 0.0 { highest } else { 1.0 }, unit),
        }
    }

    fn linear(highest: f64, unit: Unit) -> Scale {
        const STEPS: f64 = 5.0;
        let unit = unit.for_axis(highest);
        let rough = highest / unit.size / STEPS;
        let power = 10_f64.powf(rough.log10().floor());
        let steps = [1.0, 2.0, 2.5, 5.0, 10.0].map(|step| step * power);
        let step = steps.into_iter().find(|step| *step >= rough * 0.999).unwrap_or(power * 10.0);
        let step = step * unit.size;
        let count = (highest / step * 0.999).ceil().max(1.0);
        let ticks = (0..=count as u32).map(|index| f64::from(index) * step).collect();
        Scale { low: 0.0, high: count * step, is_log: false, unit, mixed: None, ticks }
    }

    /// A logarithmic scale from the last round figure below `lowest`, which is above 0.
    pub(crate) fn logarithmic(lowest: f64, highest: f64, unit: Unit) -> Scale {
        let decades = (highest / lowest).log10();
        let reaches_far = decades >= 3.0 && unit.can_be_mixed();
        let mixed = reaches_far.then_some(unit);
        let unit = unit.for_axis(highest);
        let parts: &[f64] = match decades {
            d if d < 2.5 => &[1.0, 2.0, 5.0],
            d if d < 4.0 => &[1.0, 3.0],
            _ => &[1.0],
        };
        let first = (lowest / unit.size).log10().floor() as i32;
        let last = (highest / unit.size).log10().ceil() as i32;
        let all = (first..=last).flat_map(|decade| {
            parts.iter().map(move |part| part * 10_f64.powi(decade) * unit.size)
        });
        let all: Vec<f64> = all.collect();
        // From the last round figure below to the first above.
        let low = all.iter().copied().rfind(|tick| *tick <= lowest * 1.001).unwrap_or(lowest);
        let high = all.iter().copied().find(|tick| *tick >= highest * 0.999).unwrap_or(highest);
        let ticks = all.into_iter().filter(|tick| (low..=high).contains(tick)).collect();
        Scale { low, high, is_log: true, unit, mixed, ticks }
    }

    /// The axis, to be read at any place.
    pub(crate) fn readable(&self, unit: Unit) -> ReadableAxis {
        let kind = if self.is_log { "log" } else { "linear" };
        ReadableAxis { kind, from: self.low, to: self.high, unit: unit.base() }
    }

    /// The position of a figure, from 0 to 1.
    pub(crate) fn at(&self, value: f64) -> f64 {
        let share = match self.is_log {
            true => (value.max(self.low) / self.low).ln() / (self.high / self.low).ln(),
            false => (value - self.low) / (self.high - self.low),
        };
        if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
    }

    /// Whether a figure is below the lower end, and above the upper one; it is drawn at that end.
    pub(crate) fn is_beyond(&self, value: f64) -> (bool, bool) {
        let little = (self.high - self.low).abs() * 1e-9;
        (value < self.low - little, value > self.high + little)
    }

    /// Whether an interval of these points is cut at an end.
    pub(crate) fn cuts<'a>(&self, mut points: impl Iterator<Item = &'a Point>) -> bool {
        let is_cut = |(low, high)| self.is_beyond(low).0 || self.is_beyond(high).1;
        points.any(|point| point.interval().is_some_and(is_cut))
    }

    /// A round figure as text, with its unit if ticks have different ones.
    pub(crate) fn round(&self, value: f64) -> String {
        match self.mixed {
            Some(unit) => unit.round(value),
            None => unit::round(&self.unit, value),
        }
    }

    /// The name of a quantity with unit and kind of scale.
    pub(crate) fn label(&self, name: &str) -> String {
        match (self.is_log, self.mixed) {
            (true, Some(_)) => format!("{name} (log scale)"),
            (true, None) => format!("{name} ({}, log scale)", self.unit.name),
            (false, _) => format!("{name} ({})", self.unit.name),
        }
    }
}

/// The positions of the values of a dimension, from 0 to 1: logarithmic if they grow by factors, linear
/// if they grow by steps, evenly spaced if they are not ascending numbers.
pub(crate) fn places(axis: &Axis) -> Vec<f64> {
    let count = axis.ticks.len();
    let even = || (0..count).map(|i| i as f64 / (count.max(2) - 1) as f64).collect();
    let numbers: Option<Vec<f64>> = axis.ticks.iter().map(|tick| tick.number).collect();
    let Some(numbers) = numbers.filter(|all| all.windows(2).all(|pair| pair[0] < pair[1])) else {
        return even();
    };
    let (Some(first), Some(last)) = (numbers.first(), numbers.last()) else { return even() };
    if count < 2 {
        return even();
    }
    let logs: Vec<f64> = numbers.iter().map(|number| number.ln()).collect();
    let by_factors = *first > 0.0 && uneven(&logs) <= uneven(&numbers) && last / first >= 4.0;
    let along = if by_factors { logs } else { numbers };
    let span = along[count - 1] - along[0];
    along.iter().map(|value| (value - along[0]) / span).collect()
}

/// The coefficient of variation of the steps between values.
fn uneven(values: &[f64]) -> f64 {
    let steps: Vec<f64> = values.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let mean = steps.iter().sum::<f64>() / steps.len() as f64;
    let variance = steps.iter().map(|step| (step - mean).powi(2)).sum::<f64>() / steps.len() as f64;
    variance.sqrt() / mean
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::axis;

    fn scale_of(values: &[f64], used: Use) -> Scale {
        let points: Vec<Point> = values.iter().map(|value| Point::value(*value)).collect();
        Scale::from_points(points.iter(), Unit::PerSecond, used)
    }

    #[test]
    fn scales_hold_their_figures_between_round_ends() {
        let scale = scale_of(&[3_000.0, 46_000.0], Use::Places);
        assert_eq!(scale.ticks, [0.0, 10e3, 20e3, 30e3, 40e3, 50e3]);
        assert_eq!((scale.at(0.0), scale.at(25e3), scale.at(50e3)), (0.0, 0.5, 1.0));
        assert_eq!(scale.label("IOPS"), "IOPS (k/s)");
        assert_eq!(
            scale_of(&[], Use::Places).ticks.first(),
            Some(&0.0),
            "nothing is no reason to fail"
        );
        assert_eq!(scale_of(&[0.0], Use::Lengths).at(0.0), 0.0);
    }

    #[test]
    fn figures_far_apart_are_logarithmic_where_no_lengths_are_compared() {
        let scale = scale_of(&[90.0, 70_000.0], Use::Places);
        assert!(scale.is_log && scale.label("IOPS").ends_with("log scale)"));
        assert_eq!((scale.ticks.first(), scale.ticks.last()), (Some(&30.0), Some(&100e3)));
        assert!((scale.at(3e3) - scale.at(300.0) - (scale.at(30e3) - scale.at(3e3))).abs() < 1e-9);
        assert!(!scale_of(&[90.0, 70_000.0], Use::Lengths).is_log);
        assert!(!scale_of(&[0.0, 70_000.0], Use::Places).is_log, "0 has no logarithm");
    }

    #[test]
    fn intervals_are_held_but_not_at_any_price() {
        let with = |low, high| {
            let point = Point::Known { value: 100.0, interval: Some((low, high)) };
            Scale::from_points([point].iter(), Unit::PerSecond, Use::Places)
        };
        let coloured = Point::Known { value: 100.0, interval: Some((0.0, 900.0)) };
        let coloured = Scale::from_points([coloured].iter(), Unit::PerSecond, Use::Colours);
        assert_eq!(coloured.at(100.0), 1.0, "no interval takes colours away");
        assert!(*with(80.0, 120.0).ticks.last().unwrap() >= 120.0);
        assert!(*with(-1e9, 1e9).ticks.last().unwrap() <= 250.0);
        assert_eq!(with(-1e9, 1e9).is_beyond(1e9), (false, true));
        assert_eq!(with(-1e9, 1e9).is_beyond(-1e9), (true, false));
        assert_eq!(with(80.0, 120.0).is_beyond(120.0), (false, false));
        assert!(*with(f64::NEG_INFINITY, f64::INFINITY).ticks.last().unwrap() <= 125.0);
    }

    #[test]
    fn values_lie_as_they_grow() {
        let doubling = places(&axis("depth", &["1", "2", "4", "8", "16"]));
        assert_eq!(doubling, [0.0, 0.25, 0.5, 0.75, 1.0]);
        let stepping = places(&axis("jobs", &["0", "10", "20", "40"]));
        assert_eq!(stepping, [0.0, 0.25, 0.5, 1.0]);
        assert_eq!(places(&axis("scheduler", &["none", "bfq", "kyber"])), [0.0, 0.5, 1.0]);
        assert_eq!(places(&axis("depth", &["4", "2", "1"])), [0.0, 0.5, 1.0], "as given");
        assert_eq!(places(&axis("depth", &["4"])), [0.0]);
        assert!(places(&axis("depth", &[])).is_empty());
    }
}
