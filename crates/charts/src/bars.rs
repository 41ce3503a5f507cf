//! Bar charts, with error bars for intervals.

use crate::axes::{self, LabelLayout};
use crate::colour::{HATCH, INK, series as series_colour};
use crate::data::{Axis, Point, Quantity, Series, Words};
use crate::frame::{self, FOOT, HEAD, MARGIN, SMALL, TICK};
use crate::lines::{NAME_HEIGHT, NAMES, names_width};
use crate::scale::{Scale, Use};
use crate::scene::{Anchor, Area, Fill, Form, Picture, Spot, Stroke, Text, hatching, rectangle};
use crate::{font, legend};

const HEIGHT: f64 = 470.0;
/// Share of the room of a value that its bars fill.
const FILLED: f64 = 0.78;
/// Least and greatest width of a bar with its gap, in pixels.
const BAR: (f64, f64) = (14.0, 74.0);

/// A bar chart of series: the bars of one value stand together, each with its figure and its interval.
pub fn bars(words: &Words, x: &Axis, quantity: &Quantity, series: &[Series]) -> Picture {
    let count = x.ticks.len();
    let all = series.iter().flat_map(|series| (0..count).map(|index| series.at(index)));
    let all: Vec<_> = all.collect();
    let scale = Scale::from_points(all.iter(), quantity.unit, Use::Lengths);
    let names = names_width(series.iter().map(|s| &*s.name), NAMES);
    let total = (count * series.len().max(1)).max(1) as f64;
    let width = ((760.0 / total).clamp(BAR.0, BAR.1) * total).max(520.0);
    let room = width / count.max(1) as f64;
    let labels = LabelLayout::new(x, room);
    let left = MARGIN + axes::figures_width(&scale).max(labels.reach - room / 2.0);
    let height = HEIGHT.max(HEAD + FOOT + axes::BELOW + series.len() as f64 * NAME_HEIGHT)
        - HEAD
        - FOOT
        - axes::BELOW
        - legend::MARKS_HEIGHT;
    let area = Area { left, top: HEAD, width, height };
    let height = area.bottom() + labels.height + legend::MARKS_HEIGHT + FOOT;
    let mut picture = frame::picture(words, area.right() + names + MARGIN, height);
    axes::upright(&mut picture, &area, &scale, &quantity.name);
    let centres: Vec<f64> = (0..count).map(|i| (i as f64 + 0.5) / count as f64).collect();
    axes::draw_labels(&mut picture, &area, x, &centres, &labels);
    let interval_at = interval_at(&all, &scale, room * FILLED / series.len().max(1) as f64);
    let drawn = Drawn { x, series, scale: &scale, area: &area, interval_at };
    (0..count).for_each(|index| drawn.group(&mut picture, index));
    axes::base(&mut picture, &area);
    if names > 0.0 {
        drawn.names(&mut picture);
    }
    let mut marks = legend::marks_of(all.iter());
    marks.extend(legend::intervals(&all, &scale, "lines on bars", "with an arrow"));
    legend::marks(&mut picture, &marks);
    picture
}

struct Drawn<'a> {
    x: &'a Axis,
    series: &'a [Series],
    scale: &'a Scale,
    area: &'a Area,
    /// The position of intervals in the width of a bar; `None`: in the middle, without figures.
    interval_at: Option<f64>,
}

/// Half the width of the caps of an interval.
fn cap(width: f64) -> f64 {
    (width / 4.0).min(5.0)
}

/// The position of intervals in bars of this width. The figure is right above its bar and the interval
/// beside it: a figure at the end of the interval would be taken for the value of that end.
fn interval_at(points: &[Point], scale: &Scale, width: f64) -> Option<f64> {
    let figures = points.iter().filter(|point| point.interval().is_some()).filter_map(Point::known);
    let widths = figures.map(|value| font::width(&scale.unit.number(value, 3), SMALL, false));
    let widest = widths.fold(0.0, f64::max);
    [0.5, 0.8].into_iter().find(|share| share * width - cap(width) >= widest)
}

impl Drawn<'_> {
    fn group(&self, picture: &mut Picture, index: usize) {
        let room = self.area.width / self.x.ticks.len() as f64;
        let width = room * FILLED / self.series.len() as f64;
        let left = self.area.left + room * (index as f64 + (1.0 - FILLED) / 2.0);
        for number in 0..self.series.len() {
            self.bar(picture, index, number, left + width * number as f64, width);
        }
    }

    fn bar(&self, picture: &mut Picture, index: usize, number: usize, left: f64, width: f64) {
        let series = &self.series[number];
        let point = series.at(index);
        let base = self.area.bottom();
        let Some(value) = point.known() else {
            return self.nothing(picture, point, left, width);
        };
        let top = self.area.at(0.0, self.scale.at(value)).1;
        let colour = series_colour(number, self.series.len());
        let spots = rectangle(left + 0.5, top, width - 1.0, base - top);
        let what = &self.x.ticks[index].text;
        let figure = self.scale.unit.text(value);
        let tip = format!("{} {what}: {figure}", series.name);
        let area = Form::Area { spots, fill: Fill::solid(colour), edge: None };
        picture.push_with_tip("bar", area, tip.trim().into());
        let centre = left + width / 2.0;
        let text = self.scale.unit.number(value, 3);
        let Some(ends) = point.interval() else {
            if font::width(&text, SMALL, false) <= width + 2.0 {
                self.figure(picture, text, (centre, top - 4.0));
            }
            return;
        };
        let cap = cap(width);
        let x = left + width * self.interval_at.unwrap_or(0.5);
        self.interval(picture, x, cap, ends);
        if self.interval_at.is_some() {
            self.figure(picture, text, ((left + x - cap) / 2.0, top - 4.0));
        }
    }

    fn figure(&self, picture: &mut Picture, text: String, at: Spot) {
        let text = Text::new(text, at, SMALL, INK);
        picture.text("figure", text.anchored(Anchor::Middle));
    }

    /// A line between the ends of an interval, with caps; an arrow shows that it continues beyond the
    /// axis.
    fn interval(&self, picture: &mut Picture, x: f64, cap: f64, (low, high): (f64, f64)) {
        const POINT: f64 = 6.0;
        let at = |value: f64| self.area.at(0.0, self.scale.at(value)).1;
        let end = |y: f64, is_cut: bool, back: f64| match is_cut {
            true => vec![(x - cap, y + back), (x, y), (x + cap, y + back)],
            false => vec![(x - cap, y), (x + cap, y)],
        };
        let lines = vec![
            vec![(x, at(low)), (x, at(high))],
            end(at(low), self.scale.is_beyond(low).0, -POINT),
            end(at(high), self.scale.is_beyond(high).1, POINT),
        ];
        picture.push("interval", Form::Lines { lines, stroke: Stroke::new(INK, 1.3) });
    }

    /// A low box in the place of a missing bar, with the reason.
    fn nothing(&self, picture: &mut Picture, point: Point, left: f64, width: f64) {
        const HEIGHT: f64 = 26.0;
        let (left, top, width) = (left + 1.0, self.area.bottom() - HEIGHT, width - 2.0);
        let lines = match point {
            Point::Failed => legend::crossing(left, top, width, HEIGHT),
            _ => hatching(left, top, width, HEIGHT),
        };
        picture.push("hatch", Form::Lines { lines, stroke: Stroke::new(HATCH, 1.0) });
    }

    fn names(&self, picture: &mut Picture) {
        let left = self.area.right() + 14.0;
        for (number, series) in self.series.iter().enumerate() {
            let top = self.area.top + number as f64 * NAME_HEIGHT;
            let spots = rectangle(left, top + 4.0, 14.0, NAME_HEIGHT - 8.0);
            let fill = Fill::solid(series_colour(number, self.series.len()));
            picture.push("key", Form::Area { spots, fill, edge: None });
            let at = (left + 20.0, top + NAME_HEIGHT / 2.0 + 4.0);
            let room = picture.width - at.0 - 4.0;
            let text = Text::new(&*series.name, at, TICK, INK);
            picture.text("name", text.fitting(room));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{
        assert_apart, assert_within, axis, of_class, quantity, rising, texts, words,
    };
    use roxmltree::Document;

    fn series(name: &str, count: usize, factor: f64) -> Series {
        Series { name: name.into(), points: rising(name, count, 1, factor).rows.remove(0) }
    }

    fn height(path: &str) -> f64 {
        let ys = path.split(['M', 'L', 'Z']).filter_map(|spot| spot.split_once(' '));
        let ys: Vec<f64> = ys.map(|(_, y)| y.parse().unwrap()).collect();
        ys.iter().copied().fold(0.0, f64::max) - ys.iter().copied().fold(f64::MAX, f64::min)
    }

    #[test]
    fn bars_are_as_high_as_their_figures() {
        let schedulers = axis("scheduler", &["none", "mq-deadline", "kyber", "bfq"]);
        let mut slow = series("write", 4, 0.5);
        slow.points[3] = Point::Failed;
        let all = [series("read", 4, 1.0), slow];
        let picture = bars(&words(), &schedulers, &quantity(), &all);
        let svg = picture.svg();
        let document = Document::parse(&svg).unwrap();
        let drawn = of_class(&document, "bar");
        assert_eq!((drawn.len(), of_class(&document, "hatch").len()), (7, 1));
        assert_eq!(of_class(&document, "interval").len(), 7);
        let heights: Vec<f64> =
            drawn.iter().map(|bar| height(bar.attribute("d").unwrap())).collect();
        assert!((heights[0] / heights[1] - 2.0).abs() < 0.02, "{heights:?}");
        assert!((heights[6] / heights[0] - 4.0).abs() < 0.02, "they begin at 0: {heights:?}");
        let words = texts(&document);
        for expected in ["mq-deadline", "scheduler", "read", "write", "failed", "bandwidth (MiB/s)"]
        {
            assert!(words.iter().any(|word| word == expected), "{expected}: {words:?}");
        }
        assert_within(&picture);
        ["x-tick", "y-tick", "name", "figure"]
            .iter()
            .for_each(|class| assert_apart(&picture, class));
    }

    #[test]
    fn an_interval_that_is_cut_ends_in_an_arrow_and_the_figure_stands_at_its_bar() {
        let point = |high: f64| Point::Known { value: 4e6, interval: Some((2e6, high)) };
        let all = [Series { name: "a".into(), points: vec![point(5e6), point(9e9)] }];
        let picture = bars(&words(), &axis("scheduler", &["none", "bfq"]), &quantity(), &all);
        let svg = picture.svg();
        let document = Document::parse(&svg).unwrap();
        let drawn = of_class(&document, "interval");
        let corners = |at: usize| {
            let path = drawn[at].attribute("d").unwrap();
            path.matches(['M', 'L']).count()
        };
        assert_eq!((corners(0), corners(1)), (6, 7), "a line and two caps; one has a point");
        let said = texts(&document);
        assert!(said.iter().any(|word| word == "with an arrow: it goes on beyond the axis"));
        let place = |node: &roxmltree::Node, name: &str| -> f64 {
            node.attribute(name).unwrap().parse().unwrap()
        };
        let figures = of_class(&document, "figure");
        assert_eq!(place(&figures[0], "y"), place(&figures[1], "y"), "however far intervals reach");
        assert_within(&picture);
        let uncut = [Series { name: "a".into(), points: vec![point(5e6), point(6e6)] }];
        let picture = bars(&words(), &axis("scheduler", &["none", "bfq"]), &quantity(), &uncut);
        assert!(!picture.svg().contains("arrow"));
    }

    #[test]
    fn long_names_many_bars_and_no_bars_can_be_drawn() {
        let names: Vec<String> =
            (0..40).map(|i| format!("a long name of cell number {i}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let all = [series("one", 40, 1.0), series("two", 40, 2.0)];
        assert_within(&bars(&words(), &axis("cell", &names), &quantity(), &all));
        assert_within(&bars(&words(), &axis("cell", &names[..3]), &quantity(), &all[..1]));
        assert_within(&bars(&words(), &Axis::default(), &quantity(), &[]));
    }
}
