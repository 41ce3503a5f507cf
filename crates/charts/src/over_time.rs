//! Charts over time: lines, and the distribution of a quantity at each moment. Both can mark spans and
//! moments.

use crate::colour::{Colour, FAINT, INK, series as series_colour, viridis};
use crate::data::{Point, Quantity, Words};
use crate::frame::{self, FOOT, HEAD, LABEL, MARGIN, SMALL, TICK};
use crate::lines::{NAME_HEIGHT, line_name, names_width};
use crate::scale::{Scale, Use};
use crate::scene::{
    Anchor, Area, Fill, Form, Picture, Plot, ReadableAxis, Spot, Stroke, Text, rectangle,
};
use crate::unit::Unit;
use crate::{axes, legend};

const WIDTH: f64 = 860.0;
/// Height of the chart area.
const HEIGHT: f64 = 190.0;
/// The longest name of a line.
const NAMES: f64 = 210.0;

/// A stretch of time, in seconds from time zero.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stretch {
    /// Its start.
    pub from: f64,
    /// Its end.
    pub to: f64,
}

/// A line over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// Its name.
    pub name: String,
    /// (seconds, figure), in time order.
    pub points: Vec<(f64, f64)>,
}

/// The meaning of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanKind {
    /// Not part of the measurement.
    LeftOut,
    /// The steady part of the measurement.
    Steady,
}

/// A marked stretch of time.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// The stretch.
    pub at: Stretch,
    /// Its name, in a word or two.
    pub name: String,
    /// Its meaning.
    pub kind: SpanKind,
}

/// A marked moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Moment {
    /// When, in seconds.
    pub at: f64,
    /// The event, in a word or two.
    pub name: String,
}

/// The marks on a time axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marks {
    /// The stretch shown.
    pub shown: Stretch,
    /// The marked stretches.
    pub spans: Vec<Span>,
    /// The marked moments.
    pub moments: Vec<Moment>,
}

/// The distribution of a quantity in one stretch of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Column {
    /// When.
    pub at: Stretch,
    /// (lower end, upper end, count), ascending.
    pub bins: Vec<(f64, f64, u64)>,
}

/// A chart of lines over time. A gap of more than three usual steps breaks a line.
pub fn over_time(words: &Words, marks: &Marks, quantity: &Quantity, traces: &[Trace]) -> Picture {
    let points: Vec<Point> =
        traces.iter().flat_map(|t| &t.points).map(|(_, value)| Point::value(*value)).collect();
    let scale = Scale::from_points(points.iter(), quantity.unit, Use::Places);
    let names = names_width(traces.iter().map(|t| &*t.name), NAMES);
    let height = HEIGHT.max(traces.len() as f64 * NAME_HEIGHT);
    let y = (&scale, quantity.unit);
    let mut sheet = Sheet::new(words, marks, y, names, height);
    axes::upright(&mut sheet.picture, &sheet.area, &scale, &quantity.name);
    sheet.time_axis(marks);
    sheet.spans(marks);
    for (index, trace) in traces.iter().enumerate() {
        sheet.trace(trace, &scale, series_colour(index, traces.len()));
    }
    sheet.moments(marks);
    if names > 0.0 {
        for (index, trace) in traces.iter().enumerate() {
            let colour = series_colour(index, traces.len());
            line_name(&mut sheet.picture, &sheet.area, index, (&trace.name, NAMES), colour);
        }
    }
    sheet.finish(marks, None)
}

/// The most columns and rows drawn; neighbours are merged.
const COLUMNS: usize = 160;
const ROWS: usize = 56;
/// The number of distinct shades.
const SHADES: usize = 24;

/// A heat map of the distribution of a quantity over time, on a logarithmic scale: the colour of a cell
/// is its share of the values in its stretch of time.
pub fn spread_over_time(
    words: &Words,
    marks: &Marks,
    quantity: &Quantity,
    columns: &[Column],
) -> Picture {
    let bins = || columns.iter().flat_map(|column| &column.bins);
    let lowest = bins().map(|bin| bin.0.max(1.0)).fold(f64::INFINITY, f64::min);
    let highest = bins().map(|bin| bin.1).fold(1.0, f64::max);
    let scale = Scale::logarithmic(lowest.min(highest / 2.0), highest, quantity.unit);
    let y = (&scale, quantity.unit);
    let mut sheet = Sheet::new(words, marks, y, legend::COLOURS_WIDTH, HEIGHT + 30.0);
    let cells = cells(columns, &scale, marks.shown);
    let shares: Vec<Point> = cells.iter().map(|cell| Point::value(cell.share * 100.0)).collect();
    let colours = Scale::from_points(shares.iter(), Unit::Percent, Use::Colours);
    axes::upright(&mut sheet.picture, &sheet.area, &scale, &quantity.name);
    sheet.time_axis(marks);
    sheet.cells(&cells, &colours);
    sheet.spans(marks);
    sheet.moments(marks);
    let bar = Area { left: sheet.area.right() - 1.0, width: 1.0, ..sheet.area };
    legend::colours(&mut sheet.picture, &bar, &colours, "share of the I/Os");
    sheet.finish(marks, Some("each column adds up to 100 %"))
}

/// A run of cells of one row, as shares of the area.
struct Cell {
    left: f64,
    right: f64,
    row: usize,
    share: f64,
}

/// The cells with values; columns and rows are merged down to the most that can be seen.
fn cells(columns: &[Column], scale: &Scale, shown: Stretch) -> Vec<Cell> {
    let length = (shown.to - shown.from).max(f64::MIN_POSITIVE);
    let together = columns.len().div_ceil(COLUMNS).max(1);
    let place = |seconds: f64| ((seconds - shown.from) / length).clamp(0.0, 1.0);
    let mut cells = Vec::new();
    for group in columns.chunks(together) {
        let mut counts = [0_u64; ROWS];
        for (low, high, count) in group.iter().flat_map(|column| &column.bins) {
            let middle = scale.at((low.max(1.0) * high.max(1.0)).sqrt());
            counts[((middle * ROWS as f64) as usize).min(ROWS - 1)] += count;
        }
        let total: u64 = counts.iter().sum();
        let (left, right) = (place(group[0].at.from), place(group[group.len() - 1].at.to));
        let filled = counts.into_iter().enumerate().filter(|(_, count)| *count > 0);
        cells.extend(filled.map(|(row, count)| Cell {
            left,
            right,
            row,
            share: count as f64 / total as f64,
        }));
    }
    cells
}

/// The parts common to both charts.
struct Sheet {
    picture: Picture,
    area: Area,
    shown: Stretch,
}

impl Sheet {
    fn new(
        words: &Words,
        marks: &Marks,
        (scale, unit): (&Scale, Unit),
        right: f64,
        height: f64,
    ) -> Sheet {
        let left = MARGIN + axes::figures_width(scale);
        let top = HEAD + 8.0;
        let area = Area { left, top, width: WIDTH - left - right - MARGIN, height };
        let bottom = area.bottom() + axes::BELOW + legend::MARKS_HEIGHT + FOOT;
        let mut picture = frame::picture(words, WIDTH, bottom);
        let Stretch { from, to } = marks.shown;
        let x = ReadableAxis { kind: "linear", from, to, unit: "s" };
        picture.plot = Some(Plot { area, x, y: scale.readable(unit) });
        Sheet { picture, area, shown: marks.shown }
    }

    /// The position of a moment, from 0 to 1.
    fn place(&self, seconds: f64) -> f64 {
        let length = (self.shown.to - self.shown.from).max(f64::MIN_POSITIVE);
        ((seconds - self.shown.from) / length).clamp(0.0, 1.0)
    }

    fn time_axis(&mut self, marks: &Marks) {
        let ticks = TimeTicks::new(marks.shown);
        let places: Vec<f64> = ticks.at.iter().map(|at| self.place(*at)).collect();
        axes::guides(&mut self.picture, &self.area, &places);
        axes::base(&mut self.picture, &self.area);
        for (at, place) in ticks.at.iter().zip(&places) {
            let spot = (self.area.left + place * self.area.width, self.area.bottom() + 17.0);
            let text = Text::new(ticks.text(*at), spot, TICK, INK).anchored(Anchor::Middle);
            self.picture.text("x-tick", text);
        }
        let centre = self.area.left + self.area.width / 2.0;
        let name = format!("time since the run began ({})", ticks.unit);
        let text = Text::new(name, (centre, self.area.bottom() + 38.0), LABEL, INK);
        self.picture.text("x-label", text.anchored(Anchor::Middle));
    }

    fn spans(&mut self, marks: &Marks) {
        for span in &marks.spans {
            let (from, to) = (self.place(span.at.from), self.place(span.at.to));
            if to <= from {
                continue;
            }
            let left = self.area.left + from * self.area.width;
            let width = (to - from) * self.area.width;
            let colour = span_colour(span.kind);
            let spots = rectangle(left, self.area.top, width, self.area.height);
            let fill = Fill { colour, opacity: 0.16 };
            let area = Form::Area { spots, fill, edge: None };
            self.picture.push_with_tip("span", area, span.name.clone());
            // A strip along the top is visible on coloured cells too.
            let strip = rectangle(left, self.area.top - 5.0, width, 4.0);
            let fill = Fill { colour, opacity: 0.9 };
            self.picture.push("span", Form::Area { spots: strip, fill, edge: None });
        }
    }

    fn moments(&mut self, marks: &Marks) {
        for moment in &marks.moments {
            let x = self.area.left + self.place(moment.at) * self.area.width;
            let line = vec![(x, self.area.top - 5.0), (x, self.area.bottom())];
            let lines = Form::Lines { lines: vec![line], stroke: Stroke::new(MOMENT, 1.4) };
            self.picture.push_with_tip("moment", lines, moment.name.clone());
        }
    }

    fn trace(&mut self, trace: &Trace, scale: &Scale, colour: Colour) {
        let usual = usual_step(&trace.points);
        let mut lines: Vec<Vec<Spot>> = Vec::new();
        let mut before = f64::NEG_INFINITY;
        for (at, value) in &trace.points {
            let spot = self.area.at(self.place(*at), scale.at(*value));
            match lines.last_mut().filter(|_| at - before <= 3.0 * usual) {
                Some(line) => line.push(spot),
                None => lines.push(vec![spot]),
            }
            before = *at;
        }
        for line in lines.iter().filter(|line| line.len() == 1) {
            let form = Form::Disc { centre: line[0], radius: 2.0, fill: Fill::solid(colour) };
            self.picture.push("point", form);
        }
        lines.retain(|line| line.len() > 1);
        if !lines.is_empty() {
            let stroke = Stroke::new(colour, 1.6);
            self.picture.push("line", Form::Lines { lines, stroke });
        }
    }

    /// Cells of one shade form one shape, neighbours in a row one line.
    fn cells(&mut self, cells: &[Cell], colours: &Scale) {
        let height = self.area.height / ROWS as f64;
        let mut shades: Vec<Vec<Vec<Spot>>> = vec![Vec::new(); SHADES];
        let mut open: Vec<Option<(usize, f64)>> = vec![None; ROWS];
        for cell in cells {
            let share = colours.at(cell.share * 100.0);
            let shade = ((share * SHADES as f64) as usize).min(SHADES - 1);
            let y = self.area.bottom() - (cell.row as f64 + 0.5) * height;
            let at = |share: f64| (self.area.left + share * self.area.width, y);
            let goes_on = open[cell.row] == Some((shade, cell.left));
            let of_row = |line: &&mut Vec<Spot>| line[1] == at(cell.left);
            match shades[shade].iter_mut().rev().find(|line| goes_on && of_row(line)) {
                Some(line) => line[1] = at(cell.right),
                None => shades[shade].push(vec![at(cell.left), at(cell.right)]),
            }
            open[cell.row] = Some((shade, cell.right));
        }
        for (shade, lines) in shades.into_iter().enumerate().filter(|(_, l)| !l.is_empty()) {
            let colour = viridis((shade as f64 + 0.5) / SHADES as f64);
            // A small overlap avoids visible gaps.
            let stroke = Stroke::new(colour, height + 0.4);
            self.picture.push("cell", Form::Lines { lines, stroke });
        }
    }

    /// Writes the names of the marks below the axis.
    fn finish(mut self, marks: &Marks, note: Option<&str>) -> Picture {
        const BOX: f64 = 11.0;
        let base = self.picture.height - FOOT - 6.0;
        let mut left = MARGIN;
        let mut named: Vec<(&str, Colour)> = Vec::new();
        let spans = marks.spans.iter().map(|span| (&*span.name, span_colour(span.kind)));
        for (name, colour) in spans.chain(marks.moments.iter().map(|m| (&*m.name, MOMENT))) {
            if !named.iter().any(|(known, _)| *known == name) {
                named.push((name, colour));
            }
        }
        for (name, colour) in named {
            let spots = rectangle(left, base - BOX + 2.0, BOX, BOX);
            let fill = Fill { colour, opacity: 0.75 };
            self.picture.push("key", Form::Area { spots, fill, edge: None });
            let text = Text::new(name, (left + BOX + 5.0, base), SMALL, FAINT);
            self.picture.text("key-text", text);
            left += BOX + 5.0 + crate::font::width(name, SMALL, false) + 18.0;
        }
        if let Some(note) = note {
            let text = Text::new(note, (left, base), SMALL, FAINT);
            self.picture.text("key-text", text);
        }
        self.picture
    }
}

/// Vermilion.
const MOMENT: Colour = Colour(213, 94, 0);

fn span_colour(kind: SpanKind) -> Colour {
    match kind {
        SpanKind::LeftOut => Colour(120, 120, 120),
        // Bluish green.
        SpanKind::Steady => Colour(0, 158, 115),
    }
}

/// The usual distance between neighbouring points.
fn usual_step(points: &[(f64, f64)]) -> f64 {
    let mut steps: Vec<f64> = points.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    steps.sort_by(f64::total_cmp);
    steps.get(steps.len() / 2).copied().unwrap_or(f64::INFINITY)
}

/// Round moments along a stretch of time, in the best unit.
struct TimeTicks {
    at: Vec<f64>,
    unit: &'static str,
    size: f64,
}

impl TimeTicks {
    fn new(shown: Stretch) -> TimeTicks {
        const MOST: f64 = 9.0;
        let length = (shown.to - shown.from).max(1e-9);
        let (unit, size) = match length {
            l if l < 0.5 => ("ms", 1e-3),
            l if l <= 300.0 => ("s", 1.0),
            l if l <= 18_000.0 => ("min", 60.0),
            _ => ("h", 3600.0),
        };
        let rough = length / size / MOST;
        let power = 10_f64.powf(rough.log10().floor());
        let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
        let step = steps.into_iter().find(|step| *step >= rough).unwrap_or(power * 10.0) * size;
        let first = (shown.from / step).ceil() as i64;
        let last = (shown.to / step * (1.0 + 1e-9)).floor() as i64;
        let at = (first..=last.min(first + 40)).map(|index| index as f64 * step).collect();
        TimeTicks { at, unit, size }
    }

    fn text(&self, at: f64) -> String {
        let text = format!("{:.6}", at / self.size);
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_apart, assert_within, of_class, quantity, texts, words};
    use roxmltree::Document;

    fn marks() -> Marks {
        let span =
            |from, to, name: &str, kind| Span { at: Stretch { from, to }, name: name.into(), kind };
        Marks {
            shown: Stretch { from: 0.0, to: 60.0 },
            spans: vec![
                span(0.0, 5.0, "ramp, left out", SpanKind::LeftOut),
                span(30.0, 60.0, "steady", SpanKind::Steady),
            ],
            moments: vec![Moment { at: 30.0, name: "new level".into() }],
        }
    }

    fn trace(name: &str, factor: f64) -> Trace {
        let points = (5..60).map(|at| (f64::from(at), f64::from(at) * factor * 1e6)).collect();
        Trace { name: name.into(), points }
    }

    #[test]
    fn lines_spans_and_moments_are_drawn_and_labelled() {
        let picture =
            over_time(&words(), &marks(), &quantity(), &[trace("read", 1.0), trace("write", 0.5)]);
        let svg = picture.svg();
        let document = Document::parse(&svg).unwrap();
        assert_eq!(of_class(&document, "line").len(), 2);
        assert_eq!(of_class(&document, "span").len(), 4, "each with its strip");
        assert_eq!(of_class(&document, "moment").len(), 1);
        let words = texts(&document);
        let expected = [
            "time since the run began (s)",
            "read",
            "new level",
            "ramp, left out",
            "60",
            "bandwidth (MiB/s)",
        ];
        for expected in expected {
            assert!(words.iter().any(|word| word == expected), "{expected}: {words:?}");
        }
        assert_within(&picture);
        ["x-tick", "y-tick", "name", "key-text"].iter().for_each(|c| assert_apart(&picture, c));
    }

    #[test]
    fn a_line_is_broken_by_a_gap() {
        let mut one = trace("read", 1.0);
        one.points.retain(|(at, _)| !(20.0..30.0).contains(at));
        let svg = over_time(&words(), &marks(), &quantity(), &[one]).svg();
        let document = Document::parse(&svg).unwrap();
        let path = of_class(&document, "line")[0].attribute("d").unwrap().to_owned();
        assert_eq!(path.matches('M').count(), 2);
    }

    #[test]
    fn time_is_shown_in_a_unit_that_suits_it() {
        let unit = |to| TimeTicks::new(Stretch { from: 0.0, to });
        for (to, name) in [(0.2, "ms"), (60.0, "s"), (600.0, "min"), (86_400.0, "h")] {
            let ticks = unit(to);
            assert_eq!(ticks.unit, name);
            assert!((3..=11).contains(&ticks.at.len()), "{to}: {:?}", ticks.at);
        }
        assert_eq!(unit(600.0).text(300.0), "5");
    }

    fn columns(count: usize, bins: usize) -> Vec<Column> {
        let bin = |index: usize| {
            let low = 1000.0 * 1.06_f64.powi(index as i32);
            (low, low * 1.06, (bins - index) as u64 * 10)
        };
        let column = |at: usize| Column {
            at: Stretch { from: at as f64 * 0.1, to: (at + 1) as f64 * 0.1 },
            bins: (0..bins).map(bin).collect(),
        };
        (0..count).map(column).collect()
    }

    #[test]
    fn a_distribution_over_ten_minutes_is_a_small_file() {
        let latency =
            Quantity { name: "latency".into(), unit: Unit::Nanoseconds, more_is_better: false };
        let picture = spread_over_time(&words(), &marks(), &latency, &columns(600, 120));
        assert!(picture.svg().len() < 150_000, "{}", picture.svg().len());
        assert_within(&picture);
        let svg = picture.svg();
        let document = Document::parse(&svg).unwrap();
        assert!(of_class(&document, "cell").len() > 3);
        assert!(texts(&document).iter().any(|word| word.starts_with("share of the I/Os (%")));
    }

    #[test]
    fn an_empty_picture_can_be_drawn() {
        assert_within(&over_time(&words(), &Marks::default(), &quantity(), &[]));
        assert_within(&spread_over_time(&words(), &Marks::default(), &quantity(), &[]));
    }
}
