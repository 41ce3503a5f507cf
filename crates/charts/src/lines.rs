//! Line charts, with bands for intervals.

use crate::axes::{self, LabelLayout};
use crate::colour::{INK, PAPER, series as series_colour};
use crate::data::{Axis, Quantity, Series, Words};
use crate::frame::{self, FOOT, HEAD, MARGIN, TICK};
use crate::legend;
use crate::scale::{Scale, Use, places};
use crate::scene::{Area, Fill, Form, Picture, Spot, Stroke, Text};

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 500.0;
/// The longest name of a series.
pub(crate) const NAMES: f64 = 220.0;
/// Height of a name of a series.
pub(crate) const NAME_HEIGHT: f64 = 19.0;
/// The margin of the first and last value in the area.
const INSET: f64 = 0.02;

/// A line chart of series, with marks at the figures and bands for their intervals. A missing figure
/// breaks the line. Values that double are evenly spaced.
pub fn lines(words: &Words, x: &Axis, quantity: &Quantity, series: &[Series]) -> Picture {
    let count = x.ticks.len();
    let all = series.iter().flat_map(|series| (0..count).map(|index| series.at(index)));
    let all: Vec<_> = all.collect();
    let scale = Scale::from_points(all.iter(), quantity.unit, Use::Places);
    let names = names_width(series.iter().map(|s| &*s.name), NAMES);
    let places: Vec<f64> =
        places(x).iter().map(|place| INSET + place * (1.0 - 2.0 * INSET)).collect();
    let closest = places.windows(2).map(|pair| pair[1] - pair[0]).fold(1.0, f64::min);
    let figures = MARGIN + axes::figures_width(&scale);
    let labels = LabelLayout::new(x, closest * (WIDTH - figures - MARGIN - names));
    let left = figures.max(MARGIN + labels.reach);
    let width = WIDTH - left - MARGIN - names;
    let height = HEIGHT.max(HEAD + FOOT + axes::BELOW + series.len() as f64 * NAME_HEIGHT);
    let marks_height = legend::MARKS_HEIGHT;
    let area =
        Area { left, top: HEAD, width, height: height - HEAD - axes::BELOW - FOOT - marks_height };
    let height = area.bottom() + labels.height + marks_height + FOOT;
    let mut picture = frame::picture(words, WIDTH, height);
    axes::upright(&mut picture, &area, &scale, &quantity.name);
    axes::guides(&mut picture, &area, &places);
    axes::base(&mut picture, &area);
    axes::draw_labels(&mut picture, &area, x, &places, &labels);
    let drawn = Drawn { x, scale: &scale, area: &area, places: &places, count: series.len() };
    for (index, series) in series.iter().enumerate() {
        drawn.band(&mut picture, index, series);
    }
    for (index, series) in series.iter().enumerate() {
        drawn.line(&mut picture, index, series);
    }
    if names > 0.0 {
        let right = area.right() + 14.0;
        for (index, series) in series.iter().enumerate() {
            let top = area.top + index as f64 * NAME_HEIGHT;
            name(&mut picture, (right, top), index, &series.name, drawn.colour(index));
        }
    }
    let marks = legend::intervals(&all, &scale, "bands", "to the edge");
    legend::marks(&mut picture, &marks);
    picture
}

/// Width of the names of several lines, each at most `most`; 0 for one.
pub(crate) fn names_width<'a>(names: impl ExactSizeIterator<Item = &'a str>, most: f64) -> f64 {
    match names.len() {
        0 | 1 => 0.0,
        _ => frame::widest(names, TICK).min(most) + 40.0,
    }
}

/// Writes the name of a line beside the area, behind a piece of the line.
pub(crate) fn line_name(
    picture: &mut Picture,
    area: &Area,
    index: usize,
    (name, most): (&str, f64),
    colour: crate::colour::Colour,
) {
    let left = area.right() + 14.0;
    let middle = area.top + (index as f64 + 0.5) * NAME_HEIGHT;
    picture.line("key", vec![(left, middle), (left + 20.0, middle)], Stroke::new(colour, 2.4));
    let text = Text::new(name, (left + 26.0, middle + 4.0), TICK, INK);
    picture.text("name", text.fitting(most));
}

/// Writes the name of a series beside its mark.
fn name(
    picture: &mut Picture,
    (left, top): Spot,
    index: usize,
    name: &str,
    colour: crate::colour::Colour,
) {
    let middle = top + NAME_HEIGHT / 2.0;
    let spots = vec![(left, middle), (left + 20.0, middle)];
    picture.line("key", spots, Stroke::new(colour, 2.0));
    picture.push("key", mark((left + 10.0, middle), index, colour));
    let text = Text::new(name, (left + 26.0, middle + 4.0), TICK, INK);
    picture.text("name", text.fitting(NAMES));
}

/// The mark of a series: shapes distinguish series without colour.
fn mark(centre: Spot, index: usize, colour: crate::colour::Colour) -> Form {
    const RADIUS: f64 = 4.0;
    let fill = Fill::solid(colour);
    // Corners at these angles, in degrees from the right.
    let corners: &[f64] = match index % 5 {
        0 => return Form::Disc { centre, radius: RADIUS, fill },
        1 => &[45.0, 135.0, 225.0, 315.0],
        2 => &[270.0, 30.0, 150.0],
        3 => &[0.0, 90.0, 180.0, 270.0],
        _ => &[90.0, 210.0, 330.0],
    };
    let corner = |degrees: &f64| {
        let (sine, cosine) = degrees.to_radians().sin_cos();
        (centre.0 + cosine * RADIUS * 1.25, centre.1 + sine * RADIUS * 1.25)
    };
    let spots = corners.iter().map(corner).collect();
    Form::Area { spots, fill, edge: Some(Stroke::new(PAPER, 0.7)) }
}

struct Drawn<'a> {
    x: &'a Axis,
    scale: &'a Scale,
    area: &'a Area,
    places: &'a [f64],
    /// The number of series.
    count: usize,
}

impl Drawn<'_> {
    fn colour(&self, index: usize) -> crate::colour::Colour {
        series_colour(index, self.count)
    }

    fn spot(&self, index: usize, value: f64) -> Spot {
        self.area.at(self.places[index], self.scale.at(value))
    }

    /// Areas between the intervals of neighbours, and error bars for points without neighbours.
    fn band(&self, picture: &mut Picture, number: usize, series: &Series) {
        let colour = self.colour(number);
        let ends: Vec<Option<(Spot, Spot)>> = (0..self.places.len())
            .map(|index| {
                let (low, high) = series.at(index).interval()?;
                Some((self.spot(index, low), self.spot(index, high)))
            })
            .collect();
        for run in ends.split(Option::is_none).filter(|run| !run.is_empty()) {
            let run: Vec<(Spot, Spot)> = run.iter().flatten().copied().collect();
            if let [(low, high)] = run[..] {
                picture.line("band", vec![low, high], Stroke::new(colour, 2.0));
                continue;
            }
            let up = run.iter().map(|(low, _)| *low);
            let spots = up.chain(run.iter().rev().map(|(_, high)| *high)).collect();
            let fill = Fill { colour, opacity: 0.2 };
            picture.push("band", Form::Area { spots, fill, edge: None });
        }
    }

    fn line(&self, picture: &mut Picture, number: usize, series: &Series) {
        let colour = self.colour(number);
        let spots: Vec<Option<Spot>> = (0..self.places.len())
            .map(|index| Some(self.spot(index, series.at(index).known()?)))
            .collect();
        let lines: Vec<Vec<Spot>> = spots
            .split(Option::is_none)
            .filter(|run| run.len() > 1)
            .map(|run| run.iter().flatten().copied().collect())
            .collect();
        if !lines.is_empty() {
            picture.push("line", Form::Lines { lines, stroke: Stroke::new(colour, 2.0) });
        }
        for (index, spot) in spots.iter().enumerate() {
            let (Some(spot), Some(value)) = (spot, series.at(index).known()) else { continue };
            let tip = format!(
                "{} {} {}: {}",
                series.name,
                self.x.label,
                self.x.ticks[index].text,
                self.scale.unit.text(value)
            );
            picture.push_with_tip("point", mark(*spot, number, colour), tip.trim().into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Point;
    use crate::testing::{
        assert_apart, assert_within, axis, of_class, quantity, rising, texts, words,
    };
    use roxmltree::Document;

    fn series(name: &str, count: usize, factor: f64) -> Series {
        Series { name: name.into(), points: rising(name, count, 1, factor).rows.remove(0) }
    }

    fn depths() -> Axis {
        axis("queue depth (I/Os)", &["1", "2", "4", "8", "16"])
    }

    #[test]
    fn each_series_has_a_line_a_band_and_marks() {
        let all = [series("ssd", 5, 1.0), series("hdd", 5, 0.3)];
        let picture = lines(&words(), &depths(), &quantity(), &all);
        let svg = picture.svg();
        let document = Document::parse(&svg).unwrap();
        assert_eq!(of_class(&document, "line").len(), 2);
        assert_eq!(of_class(&document, "band").len(), 2);
        assert_eq!(of_class(&document, "point").len(), 10);
        let words = texts(&document);
        for expected in [
            "ssd",
            "hdd",
            "queue depth (I/Os)",
            "bandwidth (MiB/s)",
            "bands: 95 % interval of the mean",
        ] {
            assert!(words.iter().any(|word| word == expected), "{expected}: {words:?}");
        }
        let heights: Vec<f64> = of_class(&document, "point")[..5]
            .iter()
            .map(|point| point.attribute("cy").unwrap().parse().unwrap())
            .collect();
        assert!(heights.windows(2).all(|pair| pair[1] < pair[0]), "upwards: {heights:?}");
        let along: Vec<f64> = of_class(&document, "point")[..5]
            .iter()
            .map(|point| point.attribute("cx").unwrap().parse().unwrap())
            .collect();
        assert!((along[1] - along[0] - (along[4] - along[3])).abs() < 0.1, "doubling: {along:?}");
        assert_within(&picture);
        ["x-tick", "y-tick", "name"].iter().for_each(|class| assert_apart(&picture, class));
    }

    #[test]
    fn a_line_is_broken_where_nothing_was_measured() {
        let mut one = series("a", 5, 1.0);
        one.points[2] = Point::Failed;
        one.points[4] = Point::value(3e6);
        let svg = lines(&words(), &depths(), &quantity(), &[one]).svg();
        let document = Document::parse(&svg).unwrap();
        let paths: Vec<_> = of_class(&document, "line");
        let path = paths[0].attribute("d").unwrap();
        assert_eq!(path.matches('M').count(), 2, "{path}");
        assert_eq!(of_class(&document, "point").len(), 4);
        assert_eq!(of_class(&document, "band").len(), 2, "an area, and a bar for the lonely one");
        assert_eq!(of_class(&document, "name").len(), 0, "one series needs no name");
    }

    #[test]
    fn bands_that_are_cut_at_the_edge_say_so() {
        let cut = "to the edge: it goes on beyond the axis";
        let drawn = |high: f64| {
            let mut one = series("a", 5, 1.0);
            one.points[2] = Point::Known { value: 6e6, interval: Some((5e6, high)) };
            lines(&words(), &depths(), &quantity(), &[one])
        };
        assert!(drawn(1e12).svg().contains(cut) && !drawn(7e6).svg().contains(cut));
        assert_within(&drawn(1e12));
    }

    #[test]
    fn many_series_have_room_and_colours_of_their_own() {
        let all: Vec<Series> = (0..30)
            .map(|i| series(&format!("series {i} of many with a long name"), 5, 1.0 + f64::from(i)))
            .collect();
        let picture = lines(&words(), &depths(), &quantity(), &all);
        assert_within(&picture);
        assert_apart(&picture, "name");
    }

    #[test]
    fn an_empty_picture_can_be_drawn() {
        assert_within(&lines(&words(), &Axis::default(), &quantity(), &[]));
        assert_within(&lines(&words(), &axis("x", &["1"]), &quantity(), &[Series::default()]));
    }
}
