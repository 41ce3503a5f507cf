//! Heat maps: a field as coloured cells with their figures.

use crate::axes::{self, LabelLayout};
use crate::colour::{HATCH, INK, PAPER, viridis};
use crate::data::{Axis, Field, Point, Quantity, Words, all_points};
use crate::font;
use crate::frame::{self, FOOT, HEAD, LABEL, MARGIN, SMALL, TICK};
use crate::legend::{self, Mark};
use crate::scale::{Scale, Use};
use crate::scene::{Anchor, Area, Fill, Form, Picture, Stroke, Text, hatching, rectangle};

/// Height of the name of a field.
const NAME: f64 = 24.0;
/// Distance between two fields.
const GAP: f64 = 26.0;

/// Heat maps of fields side by side, with the same colour scale. Each combination of values is a cell
/// with its figure and interval; missing cells are hatched.
pub fn heat_map(
    words: &Words,
    x: &Axis,
    y: &Axis,
    quantity: &Quantity,
    fields: &[Field],
) -> Picture {
    let all = all_points(x, y, fields);
    let scale = Scale::from_points(all.iter(), quantity.unit, Use::Colours);
    let sheet = Sheet::new(x, y, fields.len());
    let size = size(&scale, &all, sheet.field.0 / x.ticks.len().max(1) as f64);
    let mut picture = frame::picture(words, sheet.width(), sheet.height());
    for (index, field) in fields.iter().enumerate() {
        let area = sheet.area(index);
        if fields.len() > 1 {
            let name = Text::new(&*field.name, (area.left, area.top - 9.0), LABEL, INK).bold();
            picture.text("name", name.fitting(area.width));
        }
        let drawing = FieldDrawing { x, y, quantity, field, scale: &scale, size };
        drawing.cells(&mut picture, &area);
        let centres = |count: usize| (0..count).map(|i| (i as f64 + 0.5) / count as f64).collect();
        let centres_x: Vec<f64> = centres(x.ticks.len());
        axes::draw_labels(&mut picture, &area, x, &centres_x, &sheet.labels);
        drawing.rows(&mut picture, &area);
        axes::draw_upward_name(&mut picture, &area, &y.label, axes::ticks_width(y) + 22.0);
    }
    let bar = Area { left: sheet.right() - 1.0, width: 1.0, ..sheet.area(0) };
    legend::colours(&mut picture, &bar, &scale, &quantity.name);
    let mut marks = legend::marks_of(all.iter());
    if all.iter().any(|point| point.known().is_some()) {
        let most = if quantity.more_is_better { "highest mean" } else { "lowest mean" };
        marks.push(Mark::Best(most));
    }
    if all.iter().any(|point| point.interval().is_some()) {
        marks.push(Mark::Words("±: half of the 95 % interval of the mean".into()));
    }
    legend::marks(&mut picture, &marks);
    picture
}

/// The layout of fields on the picture.
struct Sheet {
    count: usize,
    columns: usize,
    left: f64,
    name: f64,
    /// Width and height of a field.
    field: (f64, f64),
    labels: LabelLayout,
}

impl Sheet {
    fn new(x: &Axis, y: &Axis, count: usize) -> Sheet {
        let columns = count.clamp(1, 2);
        let share = |total: f64, parts: usize, least: f64, most: f64| {
            let parts = parts.max(1) as f64;
            (total / parts).clamp(least, most) * parts
        };
        let width = share(760.0 / columns as f64, x.ticks.len(), 20.0, 104.0).max(220.0);
        let height = share(380.0, y.ticks.len(), 20.0, 48.0).max(96.0);
        let room = width / x.ticks.len().max(1) as f64;
        let labels = LabelLayout::new(x, room);
        Sheet {
            count: count.max(1),
            columns,
            left: (axes::ticks_width(y) + 44.0).max(labels.reach - room / 2.0 + MARGIN),
            name: if count > 1 { NAME } else { 0.0 },
            field: (width, height),
            labels,
        }
    }

    fn rows(&self) -> usize {
        self.count.div_ceil(self.columns)
    }

    fn area(&self, index: usize) -> Area {
        let (column, row) = ((index % self.columns) as f64, (index / self.columns) as f64);
        let (width, height) = self.field;
        Area {
            left: self.left + column * (width + self.left + GAP - MARGIN),
            top: HEAD + self.name + row * (height + self.labels.height + self.name),
            width,
            height,
        }
    }

    fn right(&self) -> f64 {
        self.area(self.columns - 1).right()
    }

    fn width(&self) -> f64 {
        self.right() + legend::COLOURS_WIDTH + MARGIN
    }

    fn height(&self) -> f64 {
        let last = self.area((self.rows() - 1) * self.columns);
        last.bottom() + self.labels.height + legend::MARKS_HEIGHT + FOOT
    }
}

/// Free space beside a figure in its cell.
const ROOM: f64 = 6.0;

/// A figure with three digits, or with two if three do not fit in a cell of this width.
fn digits(scale: &Scale, value: f64, size: f64, width: f64) -> Option<String> {
    let texts = [3, 2].map(|digits| scale.unit.number(value, digits));
    texts.into_iter().find(|text| font::width(text, size, false) <= width - ROOM)
}

/// The text size at which all figures fit in cells of this width; the usual one if there is none.
fn size(scale: &Scale, points: &[Point], width: f64) -> f64 {
    let values = || points.iter().filter_map(Point::known);
    let fits = |size: &f64| values().all(|value| digits(scale, value, *size, width).is_some());
    [TICK, SMALL, SMALL - 1.0].into_iter().find(fits).unwrap_or(TICK)
}

/// A field with everything needed to draw it.
struct FieldDrawing<'a> {
    x: &'a Axis,
    y: &'a Axis,
    quantity: &'a Quantity,
    field: &'a Field,
    scale: &'a Scale,
    /// The text size of figures.
    size: f64,
}

impl FieldDrawing<'_> {
    /// Numbers go upwards, names downwards.
    fn row_top(&self, area: &Area, row: usize) -> f64 {
        let count = self.y.ticks.len();
        let is_numeric = self.y.ticks.iter().all(|tick| tick.number.is_some());
        let from_top = if is_numeric { count - 1 - row } else { row };
        area.top + from_top as f64 * area.height / count as f64
    }

    fn rows(&self, picture: &mut Picture, area: &Area) {
        let height = area.height / self.y.ticks.len().max(1) as f64;
        for (row, tick) in self.y.ticks.iter().enumerate() {
            let at = (area.left - 7.0, self.row_top(area, row) + height / 2.0 + 4.0);
            let text = Text::new(&*tick.text, at, TICK, INK);
            picture.text("y-tick", text.anchored(Anchor::End));
        }
    }

    fn cells(&self, picture: &mut Picture, area: &Area) {
        let size = (
            area.width / self.x.ticks.len().max(1) as f64,
            area.height / self.y.ticks.len().max(1) as f64,
        );
        let places = || {
            let columns = self.x.ticks.len();
            (0..self.y.ticks.len()).flat_map(move |y| (0..columns).map(move |x| (x, y)))
        };
        let cell = |(x, y): (usize, usize)| Area {
            left: area.left + x as f64 * size.0,
            top: self.row_top(area, y),
            width: size.0,
            height: size.1,
        };
        places().for_each(|at| self.cell(picture, &cell(at), at));
        places().for_each(|at| self.figure(picture, &cell(at), at));
        let known = places().filter_map(|(x, y)| Some(((x, y), self.field.at(x, y).known()?)));
        let best = match self.quantity.more_is_better {
            true => known.max_by(|a, b| a.1.total_cmp(&b.1)),
            false => known.min_by(|a, b| a.1.total_cmp(&b.1)),
        };
        if let Some((at, _)) = best {
            let Area { left, top, width, height } = cell(at);
            let mut spots = rectangle(left, top, width, height);
            spots.extend_from_within(..2);
            // A dark line in a light one is visible on any colour.
            picture.line("best", spots.clone(), Stroke::new(PAPER, 5.0));
            picture.line("best", spots, Stroke::new(INK, 2.5));
        }
    }

    fn cell(&self, picture: &mut Picture, cell: &Area, (x, y): (usize, usize)) {
        let point = self.field.at(x, y);
        let spots = rectangle(cell.left, cell.top, cell.width, cell.height);
        let edge = Some(Stroke::new(PAPER, 1.0));
        let fill = Fill::solid(point.known().map_or(PAPER, |value| viridis(self.scale.at(value))));
        let class = if point.known().is_some() { "cell" } else { "no-cell" };
        picture.push_with_tip(class, Form::Area { spots, fill, edge }, self.tip(x, y, point));
        let lines = match point {
            _ if point.known().is_some() => return,
            Point::Failed => legend::crossing(
                cell.left + 4.0,
                cell.top + 4.0,
                cell.width - 8.0,
                cell.height - 8.0,
            ),
            _ => hatching(cell.left + 1.0, cell.top + 1.0, cell.width - 2.0, cell.height - 2.0),
        };
        picture.push("hatch", Form::Lines { lines, stroke: Stroke::new(HATCH, 1.0) });
    }

    fn tip(&self, x: usize, y: usize, point: Point) -> String {
        let (column, row) = (&self.x.ticks[x].text, &self.y.ticks[y].text);
        let unit = &self.scale.unit;
        let figure = match (point.known(), point.interval(), point) {
            (Some(value), Some((low, high)), _) => format!(
                "{}, 95 % interval {} to {}",
                unit.text(value),
                unit.number(low, 3),
                unit.number(high, 3)
            ),
            (Some(value), None, _) => unit.text(value),
            (None, _, Point::Failed) => "failed".into(),
            (None, ..) => "not measured".into(),
        };
        format!("{} {column}, {} {row}: {figure}", self.x.label, self.y.label)
    }

    /// A figure with as many digits as fit; `None` if two do not fit.
    fn shown(&self, value: f64, width: f64) -> Option<String> {
        digits(self.scale, value, self.size, width)
    }

    /// Writes figure and interval in the cell, as far as they fit.
    fn figure(&self, picture: &mut Picture, cell: &Area, (x, y): (usize, usize)) {
        let point = self.field.at(x, y);
        let Some(value) = point.known() else { return };
        let ink = viridis(self.scale.at(value)).ink();
        let fits = |text: &str, size| font::width(text, size, false) <= cell.width - ROOM;
        let Some(text) = self.shown(value, cell.width).filter(|_| cell.height >= 14.0) else {
            return;
        };
        let spread = point.interval().map(|(low, high)| (high - low) / 2.0 / value.abs() * 100.0);
        let spread = spread.filter(|spread| spread.is_finite()).map(|spread| match spread {
            s if s < 9.95 => format!("±{s:.1} %"),
            s => format!("±{s:.0} %"),
        });
        let spread = spread.filter(|text| fits(text, SMALL - 1.0) && cell.height >= 32.0);
        let centre = cell.left + cell.width / 2.0;
        let middle = cell.top + cell.height / 2.0;
        let base = middle + if spread.is_some() { -1.0 } else { 4.0 };
        let figure = Text::new(text, (centre, base), self.size, ink);
        picture.text("cell-figure", figure.anchored(Anchor::Middle));
        if let Some(spread) = spread {
            let text = Text::new(spread, (centre, middle + 12.0), SMALL - 1.0, ink);
            picture.text("spread", text.anchored(Anchor::Middle));
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

    const DEPTHS: [&str; 6] = ["1", "2", "4", "8", "16", "32"];

    fn drawn(fields: &[Field]) -> Picture {
        let (x, y) =
            (axis("queue depth (I/Os)", &DEPTHS), axis("block size (KiB)", &["4", "16", "64"]));
        heat_map(&words(), &x, &y, &quantity(), fields)
    }

    #[test]
    fn every_cell_is_there_and_its_colour_follows_its_figure() {
        let picture = drawn(&[rising("", 6, 3, 1.0)]);
        let svg = picture.svg();
        let document = Document::parse(&svg).unwrap();
        let cells = of_class(&document, "cell");
        assert_eq!(cells.len(), 18);
        let light = |index: usize| {
            let fill = cells[index].attribute("fill").unwrap();
            let part = |at: usize| u8::from_str_radix(&fill[at..at + 2], 16).unwrap();
            crate::colour::Colour(part(1), part(3), part(5)).luminance()
        };
        let row: Vec<f64> = (0..6).map(light).collect();
        assert!(row.windows(2).all(|pair| pair[0] < pair[1]), "{row:?}");
        assert!(light(5) < light(11), "the next row is higher");
        let words = texts(&document);
        for expected in
            ["A title", "what was fixed", "a file", "queue depth (I/Os)", "64", "24", "±5.0 %"]
        {
            assert!(words.iter().any(|word| word == expected), "{expected}: {words:?}");
        }
        assert!(words.iter().any(|word| word == "bandwidth (MiB/s)"), "{words:?}");
        let tip = cells[0].first_element_child().unwrap().text().unwrap();
        assert!(tip.ends_with("2 MiB/s, 95 % interval 1.9 to 2.1"), "{tip}");
        assert_within(&picture);
    }

    #[test]
    fn missing_cells_are_hatched_and_failed_ones_crossed_out() {
        let mut field = rising("", 6, 3, 1.0);
        field.rows[0][2] = Point::Missing;
        field.rows[1][1] = Point::Failed;
        field.rows.pop();
        let svg = drawn(&[field]).svg();
        let document = Document::parse(&svg).unwrap();
        assert_eq!(of_class(&document, "cell").len(), 10);
        assert_eq!(of_class(&document, "no-cell").len(), 8);
        assert_eq!(of_class(&document, "hatch").len(), 8);
        let words = texts(&document);
        assert!(["not measured", "failed"].iter().all(|word| words.iter().any(|w| w == word)));
    }

    #[test]
    fn several_fields_share_their_colours_and_do_not_overlap() {
        let fields =
            [rising("ssd", 6, 3, 1.0), rising("hdd", 6, 3, 0.1), rising("raid", 6, 3, 0.5)];
        let picture = drawn(&fields);
        let svg = picture.svg();
        let document = Document::parse(&svg).unwrap();
        let cells = of_class(&document, "cell");
        assert_eq!(cells.len(), 54);
        let fill = |index: usize| cells[index].attribute("fill").unwrap();
        assert_ne!(fill(17), fill(35), "a tenth of the figure has another colour");
        assert!(
            ["ssd", "hdd", "raid"].iter().all(|name| texts(&document).iter().any(|t| t == name))
        );
        assert_within(&picture);
        ["x-tick", "y-tick", "cell-figure", "colour-tick", "name", "key-text"]
            .iter()
            .for_each(|class| assert_apart(&picture, class));
    }

    #[test]
    fn figures_have_fewer_digits_where_three_do_not_fit() {
        let sizes: Vec<String> = (2..14).map(|power| (1 << power).to_string()).collect();
        let sizes: Vec<&str> = sizes.iter().map(String::as_str).collect();
        let mut field = rising("write", 12, 2, 1024.0);
        field.rows[0][0] = Point::value(0.53 * 1073741824.0);
        let (x, y) = (axis("record size (KiB)", &sizes), axis("file size (KiB)", &["64", "128"]));
        let picture = heat_map(&words(), &x, &y, &quantity(), &[field.clone(), field]);
        let svg = picture.svg();
        let document = Document::parse(&svg).unwrap();
        assert_eq!(of_class(&document, "cell-figure").len(), 48, "each cell has its figure");
        let figures = texts(&document);
        assert!(["0.53", "4"].iter().all(|text| figures.iter().any(|t| t == text)), "{figures:?}");
        assert_apart(&picture, "cell-figure");
    }

    #[test]
    fn many_and_long_values_stay_readable() {
        let many: Vec<String> = (1..=60).map(|i| i.to_string()).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let long = ["a scheduler with a name", "another that is long", "none"];
        for (x, y) in
            [(axis("depth", &many), axis("", &long)), (axis("", &long), axis("depth", &many))]
        {
            let field = rising("", x.ticks.len(), y.ticks.len(), 1.0);
            let picture = heat_map(&words(), &x, &y, &quantity(), &[field]);
            assert_within(&picture);
            ["x-tick", "y-tick", "cell-figure"]
                .iter()
                .for_each(|class| assert_apart(&picture, class));
        }
    }

    #[test]
    fn an_empty_picture_can_be_drawn() {
        for fields in [vec![], vec![Field::default()]] {
            assert_within(&heat_map(
                &words(),
                &Axis::default(),
                &Axis::default(),
                &quantity(),
                &fields,
            ));
            assert!(drawn(&fields).svg().contains("not measured") != fields.is_empty());
        }
    }
}
