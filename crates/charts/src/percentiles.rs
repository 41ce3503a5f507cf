//! Percentile curves, with the high percentiles spread out.

use crate::axes::{self, LabelLayout};
use crate::colour::series as series_colour;
use crate::data::{Axis, Quantity, Tick, Words};
use crate::frame::{self, FOOT, HEAD, MARGIN};
use crate::legend::{self, Mark};
use crate::lines::{NAME_HEIGHT, line_name, names_width};
use crate::scale::Scale;
use crate::scene::{Area, Fill, Form, Picture, Plot, ReadableAxis, Spot, Stroke};

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 260.0;
/// The longest name of a curve.
const NAMES: f64 = 190.0;

/// Figures by percentile, with the intervals of some.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PercentileCurve {
    /// Its name.
    pub name: String,
    /// (percentile from 0 to below 100, figure), ascending.
    pub points: Vec<(f64, f64)>,
    /// (percentile, lower end, upper end).
    pub intervals: Vec<(f64, f64, f64)>,
}

/// Figures over percentiles, both on logarithmic scales: each further nine has the same width.
pub fn percentile_curves(
    words: &Words,
    quantity: &Quantity,
    curves: &[PercentileCurve],
) -> Picture {
    let figures = || curves.iter().flat_map(|c| &c.points).map(|(_, v)| *v).filter(|v| *v > 0.0);
    let lowest = figures().fold(f64::INFINITY, f64::min);
    let highest = figures().fold(1.0, f64::max);
    let scale = Scale::logarithmic(lowest.min(highest / 1.5), highest, quantity.unit);
    let end = curves.iter().flat_map(|c| &c.points).map(|(p, _)| nines(*p)).fold(1.0, f64::max);
    let names = names_width(curves.iter().map(|c| &*c.name), NAMES);
    let axis = axis(end);
    let left = MARGIN + axes::figures_width(&scale);
    let height = HEIGHT.max(curves.len() as f64 * NAME_HEIGHT);
    let area = Area { left, top: HEAD, width: WIDTH - left - names - MARGIN, height };
    let labels = LabelLayout { is_turned: false, every: 1, height: axes::BELOW, reach: 0.0 };
    let bottom = area.bottom() + axes::BELOW + legend::MARKS_HEIGHT + FOOT;
    let mut picture = frame::picture(words, WIDTH, bottom);
    let places: Vec<f64> =
        axis.ticks.iter().map(|t| nines(t.number.unwrap_or_default()) / end).collect();
    axes::upright(&mut picture, &area, &scale, &quantity.name);
    axes::guides(&mut picture, &area, &places);
    axes::base(&mut picture, &area);
    axes::draw_labels(&mut picture, &area, &axis, &places, &labels);
    let x = ReadableAxis { kind: "nines", from: 0.0, to: end, unit: "%" };
    picture.plot = Some(Plot { area, x, y: scale.readable(quantity.unit) });
    let drawn = Drawn { area: &area, scale: &scale, end, count: curves.len() };
    for (index, curve) in curves.iter().enumerate() {
        drawn.curve(&mut picture, index, curve);
    }
    let mut marks = Vec::new();
    if curves.iter().any(|curve| !curve.intervals.is_empty()) {
        marks.push(Mark::Words("upright bars: 95 % interval of the percentile".into()));
    }
    marks.push(Mark::Words("a curve ends where the sample is too small for more".into()));
    legend::marks(&mut picture, &marks);
    picture
}

/// The number of nines of a percentile: 1 for 90, 2 for 99.
fn nines(percentile: f64) -> f64 {
    -(1.0 - percentile.clamp(0.0, 99.999_999_9) / 100.0).log10()
}

fn axis(end: f64) -> Axis {
    let all: [f64; 9] = [0.0, 50.0, 90.0, 99.0, 99.9, 99.99, 99.999, 99.9999, 99.99999];
    let shown = all.into_iter().filter(|percentile| nines(*percentile) <= end + 1e-9);
    let tick = |percentile: f64| Tick { text: format!("{percentile}"), number: Some(percentile) };
    Axis { label: "percentile (%, log scale)".into(), ticks: shown.map(tick).collect() }
}

struct Drawn<'a> {
    area: &'a Area,
    scale: &'a Scale,
    end: f64,
    count: usize,
}

impl Drawn<'_> {
    fn spot(&self, percentile: f64, value: f64) -> Spot {
        self.area.at(nines(percentile) / self.end, self.scale.at(value))
    }

    fn curve(&self, picture: &mut Picture, index: usize, curve: &PercentileCurve) {
        let colour = series_colour(index, self.count);
        let line: Vec<Spot> = curve.points.iter().map(|(p, v)| self.spot(*p, *v)).collect();
        if line.len() > 1 {
            picture.line("line", line, Stroke::new(colour, 2.0));
        }
        for (percentile, low, high) in &curve.intervals {
            let ends = vec![self.spot(*percentile, *low), self.spot(*percentile, *high)];
            let tip = format!(
                "{} p{percentile}: {} to {}",
                curve.name,
                self.scale.unit.text(*low),
                self.scale.unit.text(*high)
            );
            let stroke = Stroke { opacity: 0.5, ..Stroke::new(colour, 5.0) };
            let form = Form::Lines { lines: vec![ends], stroke };
            picture.push_with_tip("interval", form, tip.trim().into());
        }
        if let Some((percentile, value)) = curve.points.last() {
            let centre = self.spot(*percentile, *value);
            picture.push("end", Form::Disc { centre, radius: 3.5, fill: Fill::solid(colour) });
        }
        if self.count > 1 {
            line_name(picture, self.area, index, (&curve.name, NAMES), colour);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_apart, assert_within, of_class, texts, words};
    use crate::unit::Unit;
    use roxmltree::Document;

    fn latency() -> Quantity {
        Quantity {
            name: "completion latency".into(),
            unit: Unit::Nanoseconds,
            more_is_better: false,
        }
    }

    fn curve(name: &str, end: f64) -> PercentileCurve {
        let usual = [0.0, 50.0, 90.0, 99.0, 99.9, 99.99];
        let known = usual.into_iter().filter(|p| *p < end).chain([end]);
        PercentileCurve {
            name: name.into(),
            points: known.map(|p| (p, 80_000.0 * (1.0 + nines(p).powi(3)))).collect(),
            intervals: vec![(99.0, 600_000.0, 800_000.0)],
        }
    }

    #[test]
    fn each_nine_has_the_same_width_and_a_curve_ends_at_its_last_point() {
        let picture =
            percentile_curves(&words(), &latency(), &[curve("a", 99.99), curve("b", 99.5)]);
        let svg = picture.svg();
        let document = Document::parse(&svg).unwrap();
        let ends: Vec<f64> = of_class(&document, "end")
            .iter()
            .map(|end| end.attribute("cx").unwrap().parse().unwrap())
            .collect();
        assert!(ends[1] < ends[0], "{ends:?}");
        let words = texts(&document);
        for expected in ["99.99", "percentile (%, log scale)", "completion latency (ms, log scale)"]
        {
            assert!(words.iter().any(|word| word == expected), "{expected}: {words:?}");
        }
        assert_eq!(of_class(&document, "interval").len(), 2);
        assert_within(&picture);
        ["x-tick", "y-tick", "name"].iter().for_each(|class| assert_apart(&picture, class));
        assert!((nines(99.9) - nines(99.0) - (nines(99.0) - nines(90.0))).abs() < 1e-9);
    }

    #[test]
    fn an_empty_picture_can_be_drawn() {
        assert_within(&percentile_curves(&words(), &latency(), &[]));
        assert_within(&percentile_curves(&words(), &latency(), &[PercentileCurve::default()]));
    }
}
