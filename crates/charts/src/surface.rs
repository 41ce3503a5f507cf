//! Surface plots: a field over two axes, seen from above one of its corners.

use crate::colour::{FAINT, GRID, HATCH, INK, PAPER, series as series_colour, viridis};
use crate::data::{Axis, Field, Point, Quantity, Words, all_points};
use crate::frame::{self, FOOT, HEAD, LABEL, MARGIN, TICK};
use crate::scale::{Scale, Use, places};
use crate::scene::{Anchor, Area, Fill, Form, Picture, Spot, Stroke, Text, hatching, rectangle};
use crate::{axes, font, legend};

/// Width of the plot in pixels.
const ACROSS: f64 = 600.0;
/// Height of the highest figure, in sides of the floor.
const HIGH: f64 = 0.72;
/// The view: angles around and above, in degrees. The corner of the first values is nearest.
const AROUND: f64 = 229.0;
const ABOVE: f64 = 28.0;
/// Space for labels to the left and right.
const BESIDE: f64 = 84.0;
/// Space for labels below.
const BENEATH: f64 = 58.0;

/// Surfaces of fields over one floor: a single one is coloured by height, several are translucent nets
/// in different colours. The lowest figures are in front, so that they are not hidden. A missing figure
/// is a hole over a hatched part of the floor.
pub fn surface(
    words: &Words,
    x: &Axis,
    y: &Axis,
    quantity: &Quantity,
    fields: &[Field],
) -> Picture {
    let all = all_points(x, y, fields);
    let scale = Scale::from_points(all.iter(), quantity.unit, Use::Places);
    let surfaces = Surfaces::new(x, y, fields, &scale);
    let (width, height) = surfaces.view.extent();
    let mut picture = frame::picture(
        words,
        width + 2.0 * BESIDE + MARGIN,
        HEAD + height + BENEATH + surfaces.reach() + legend::MARKS_HEIGHT + FOOT,
    );
    surfaces.walls(&mut picture);
    surfaces.labels(&mut picture, &quantity.name);
    surfaces.holes(&mut picture);
    surfaces.draw_pieces(&mut picture);
    if fields.len() > 1 {
        names(&mut picture, fields);
    }
    let mut marks = legend::marks_of(all.iter());
    marks.extend(legend::intervals(&all, &scale, "upright lines", "to the edge"));
    legend::marks(&mut picture, &marks);
    picture
}

/// The names of the fields in a line below the title.
fn names(picture: &mut Picture, fields: &[Field]) {
    let mut left = MARGIN;
    for (index, field) in fields.iter().enumerate() {
        let fill = Fill::solid(series_colour(index, fields.len()));
        let spots = rectangle(left, HEAD - 3.0, 14.0, 11.0);
        picture.push("key", Form::Area { spots, fill, edge: None });
        let room = picture.width - left - 20.0 - MARGIN;
        let text =
            Text::new(&*field.name, (left + 20.0, HEAD + 7.0), TICK, INK).fitting(room.max(0.0));
        left += 38.0 + font::width(&text.text, TICK, false);
        picture.text("name", text);
    }
}

/// Maps positions over the floor, all from 0 to 1, to the picture.
#[derive(Clone, Copy)]
struct View {
    /// Pixels in a side of the floor.
    scale: f64,
    sine_around: f64,
    cosine_around: f64,
    sine_above: f64,
    cosine_above: f64,
}

impl View {
    fn new() -> View {
        let (sine_around, cosine_around) = AROUND.to_radians().sin_cos();
        let (sine_above, cosine_above) = ABOVE.to_radians().sin_cos();
        let scale = ACROSS / (sine_around.abs() + cosine_around.abs());
        View { scale, sine_around, cosine_around, sine_above, cosine_above }
    }

    /// Width and height of the plot on the picture.
    fn extent(&self) -> (f64, f64) {
        let floor = (self.sine_around.abs() + self.cosine_around.abs()) * self.sine_above;
        (ACROSS, (floor + HIGH * self.cosine_above) * self.scale)
    }

    /// Parallel projection.
    fn spot(&self, x: f64, y: f64, z: f64) -> Spot {
        let (x, y, z) = (x - 0.5, y - 0.5, z * HIGH);
        let right = -self.sine_around * x + self.cosine_around * y;
        let back = -self.cosine_around * x - self.sine_around * y;
        let up = back * self.sine_above + z * self.cosine_above;
        let (width, height) = self.extent();
        let floor = height - (height - HIGH * self.cosine_above * self.scale) / 2.0;
        (BESIDE + width / 2.0 + right * self.scale, HEAD + floor - up * self.scale)
    }

    /// The distance of a position from the viewer.
    fn distance(&self, x: f64, y: f64) -> f64 {
        -self.cosine_around * x - self.sine_around * y
    }
}

/// Surfaces over one floor.
struct Surfaces<'a> {
    x: &'a Axis,
    y: &'a Axis,
    fields: &'a [Field],
    scale: &'a Scale,
    view: View,
    /// The positions of the values of each axis, from front to back.
    across: Vec<f64>,
    along: Vec<f64>,
}

impl Surfaces<'_> {
    fn new<'a>(x: &'a Axis, y: &'a Axis, fields: &'a [Field], scale: &'a Scale) -> Surfaces<'a> {
        let turned = |places: Vec<f64>, rises: f64| -> Vec<f64> {
            places.into_iter().map(|place| if rises < 0.0 { 1.0 - place } else { place }).collect()
        };
        let (columns, rows) = (x.ticks.len(), y.ticks.len());
        // The excess of the rear over the front along each axis.
        let (mut by_x, mut by_y) = (0.0, 0.0);
        for field in fields {
            for (x, y) in (0..rows).flat_map(|y| (0..columns).map(move |x| (x, y))) {
                let height = field.at(x, y).known().map_or(0.0, |value| scale.at(value));
                by_x += height * (2.0 * x as f64 - (columns - 1) as f64);
                by_y += height * (2.0 * y as f64 - (rows - 1) as f64);
            }
        }
        Surfaces {
            x,
            y,
            fields,
            scale,
            view: View::new(),
            across: turned(places(x), by_x),
            along: turned(places(y), by_y),
        }
    }

    fn spot(&self, x: usize, y: usize, value: f64) -> Spot {
        self.view.spot(self.across[x], self.along[y], self.scale.at(value))
    }

    /// The floor and the two rear walls, with grid lines.
    fn walls(&self, picture: &mut Picture) {
        let view = &self.view;
        let mut lines: Vec<Vec<Spot>> = Vec::new();
        for x in &self.across {
            lines.push(vec![
                view.spot(*x, 0.0, 0.0),
                view.spot(*x, 1.0, 0.0),
                view.spot(*x, 1.0, 1.0),
            ]);
        }
        for y in &self.along {
            lines.push(vec![
                view.spot(0.0, *y, 0.0),
                view.spot(1.0, *y, 0.0),
                view.spot(1.0, *y, 1.0),
            ]);
        }
        for tick in &self.scale.ticks {
            let z = self.scale.at(*tick);
            lines.push(vec![
                view.spot(0.0, 1.0, z),
                view.spot(1.0, 1.0, z),
                view.spot(1.0, 0.0, z),
            ]);
        }
        picture.push("grid", Form::Lines { lines, stroke: Stroke::new(GRID, 1.0) });
        let edges = vec![vec![
            view.spot(0.0, 1.0, 1.0),
            view.spot(0.0, 1.0, 0.0),
            view.spot(0.0, 0.0, 0.0),
            view.spot(1.0, 0.0, 0.0),
        ]];
        picture.push("axis", Form::Lines { lines: edges, stroke: Stroke::new(FAINT, 1.0) });
    }

    /// The axes of the floor, each with the end of its edge and the side of its labels.
    fn edges(&self) -> [(&Axis, Spot, f64); 2] {
        let (right, left) = (self.view.spot(1.0, 0.0, 0.0), self.view.spot(0.0, 1.0, 0.0));
        [(self.x, right, 1.0), (self.y, left, -1.0)]
    }

    /// How far the names of axes move to clear long values.
    fn reach(&self) -> f64 {
        let corner = self.view.spot(0.0, 0.0, 0.0);
        let distance =
            |(axis, end, side): (&Axis, Spot, f64)| label_distance(axis, angle(corner, end, side));
        self.edges().map(distance).into_iter().fold(0.0, f64::max) - LABEL_DISTANCE
    }

    fn labels(&self, picture: &mut Picture, name: &str) {
        let right: Vec<Spot> = self.across.iter().map(|x| self.view.spot(*x, 0.0, 0.0)).collect();
        let left: Vec<Spot> = self.along.iter().map(|y| self.view.spot(0.0, *y, 0.0)).collect();
        ticks(picture, "x-tick", self.x, &right, Anchor::Start);
        ticks(picture, "y-tick", self.y, &left, Anchor::End);
        let corner = self.view.spot(0.0, 0.0, 0.0);
        for (class, (axis, end, side)) in ["x-label", "y-label"].into_iter().zip(self.edges()) {
            edge_label(picture, class, axis, corner, end, side);
        }
        let figures = axes::figures(self.scale);
        for (tick, text) in self.scale.ticks.iter().zip(&figures) {
            let (x, y) = self.view.spot(0.0, 1.0, self.scale.at(*tick));
            let text = Text::new(&**text, (x - 7.0, y + 4.0), TICK, INK).anchored(Anchor::End);
            picture.text("z-tick", text);
        }
        let (low, high) = (self.view.spot(0.0, 1.0, 0.0), self.view.spot(0.0, 1.0, 1.0));
        let wall = Area { left: low.0, top: high.1, width: 0.0, height: low.1 - high.1 };
        axes::draw_upward_name(
            picture,
            &wall,
            &self.scale.label(name),
            axes::figures_width(self.scale) - 14.0,
        );
    }

    /// Hatches the floor where figures are missing.
    fn holes(&self, picture: &mut Picture) {
        const FLOOR: f64 = 400.0;
        let half = |places: &[f64]| {
            let closest = places.windows(2).map(|p| (p[1] - p[0]).abs()).fold(0.3, f64::min);
            closest * 0.4
        };
        let (half_x, half_y) = (half(&self.across), half(&self.along));
        for (y, along) in self.along.iter().enumerate() {
            for (x, across) in self.across.iter().enumerate() {
                let points = || self.fields.iter().map(|field| field.at(x, y));
                let failed = points().any(|point| point == Point::Failed);
                if points().all(|point| point.known().is_some()) {
                    continue;
                }
                let (left, top) = ((across - half_x).max(0.0), (along - half_y).max(0.0));
                let (right, bottom) = ((across + half_x).min(1.0), (along + half_y).min(1.0));
                let floor = [left, top, right - left, bottom - top].map(|length| length * FLOOR);
                let [left, top, width, height] = floor;
                let lines = match failed {
                    true => legend::crossing(left, top, width, height),
                    false => hatching(left, top, width, height),
                };
                let spot = |(x, y): Spot| self.view.spot(x / FLOOR, y / FLOOR, 0.0);
                let lines = lines.into_iter().map(|line| line.into_iter().map(spot).collect());
                let lines = lines.collect();
                picture.push("hatch", Form::Lines { lines, stroke: Stroke::new(HATCH, 1.0) });
            }
        }
    }

    /// Draws the pieces from back to front.
    fn draw_pieces(&self, picture: &mut Picture) {
        let mut pieces: Vec<(f64, f64, usize, Piece)> = Vec::new();
        for (number, field) in self.fields.iter().enumerate() {
            for piece in self.pieces(field) {
                let (distance, height) = self.depth(&piece);
                pieces.push((distance, height, number, piece));
            }
        }
        pieces.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.total_cmp(&b.1)));
        pieces.iter().for_each(|(.., number, piece)| self.draw(picture, *number, piece));
    }

    /// The tiles between four figures, and the figures.
    fn pieces(&self, field: &Field) -> Vec<Piece> {
        let (columns, rows) = (self.x.ticks.len(), self.y.ticks.len());
        let mut pieces = Vec::new();
        for (x, y) in (0..rows).flat_map(|y| (0..columns).map(move |x| (x, y))) {
            let corners = [(x, y), (x + 1, y), (x + 1, y + 1), (x, y + 1)];
            let known = |(x, y): (usize, usize)| {
                let inside = x < columns && y < rows;
                Some(((x, y), field.at(x, y).known().filter(|_| inside)?))
            };
            if let [Some(a), Some(b), Some(c), Some(d)] = corners.map(known) {
                pieces.push(Piece::Tile([a, b, c, d]));
            }
            if let Some((at, value)) = known((x, y)) {
                pieces.push(Piece::Peak(at, value, field.at(x, y).interval()));
            }
        }
        pieces
    }

    fn depth(&self, piece: &Piece) -> (f64, f64) {
        let one = |(x, y): (usize, usize)| self.view.distance(self.across[x], self.along[y]);
        match piece {
            Piece::Tile(corners) => (
                corners.iter().map(|(at, _)| one(*at)).sum::<f64>() / 4.0,
                corners.iter().map(|(_, value)| self.scale.at(*value)).sum::<f64>() / 4.0,
            ),
            // A figure is drawn after the tiles that meet in it.
            Piece::Peak(at, value, _) => {
                let next = |places: &[f64]| {
                    places.windows(2).map(|p| (p[1] - p[0]).abs()).fold(0.0, f64::max)
                };
                (one(*at) - 0.5 * (next(&self.across) + next(&self.along)), self.scale.at(*value))
            }
        }
    }

    fn draw(&self, picture: &mut Picture, number: usize, piece: &Piece) {
        let count = self.fields.len();
        let colour = series_colour(number, count);
        match piece {
            Piece::Tile(corners) => {
                let spots =
                    corners.iter().map(|((x, y), value)| self.spot(*x, *y, *value)).collect();
                let mean =
                    corners.iter().map(|(_, value)| self.scale.at(*value)).sum::<f64>() / 4.0;
                let (fill, edge) = match count {
                    1 => (
                        Fill::solid(viridis(mean)),
                        Stroke { opacity: 0.7, ..Stroke::new(PAPER, 0.8) },
                    ),
                    _ => (Fill { colour, opacity: 0.22 }, Stroke::new(colour, 1.2)),
                };
                picture.push("tile", Form::Area { spots, fill, edge: Some(edge) });
            }
            Piece::Peak((x, y), value, interval) => {
                let colour = if count == 1 { INK } else { colour };
                if let Some((low, high)) = interval {
                    let ends = vec![self.spot(*x, *y, *low), self.spot(*x, *y, *high)];
                    picture.line("interval", ends, Stroke::new(colour, 1.0));
                }
                let unit = &self.scale.unit;
                let tip = format!(
                    "{} {} {}, {} {}: {}",
                    self.fields[number].name,
                    self.x.label,
                    self.x.ticks[*x].text,
                    self.y.label,
                    self.y.ticks[*y].text,
                    unit.text(*value)
                );
                let disc = Form::Disc {
                    centre: self.spot(*x, *y, *value),
                    radius: 2.2,
                    fill: Fill::solid(colour),
                };
                picture.push_with_tip("point", disc, tip.trim().into());
            }
        }
    }
}

/// A piece of a surface.
enum Piece {
    Tile([((usize, usize), f64); 4]),
    Peak((usize, usize), f64, Option<(f64, f64)>),
}

/// Writes the values of an axis below its edge, as many as fit.
fn ticks(picture: &mut Picture, class: &'static str, axis: &Axis, spots: &[Spot], anchor: Anchor) {
    const LINE: f64 = 13.0;
    let mut free: Option<Spot> = None;
    for (tick, (x, y)) in axis.ticks.iter().zip(spots) {
        // Labels may not overlap in both directions.
        let room = font::width(&tick.text, TICK, false) + 6.0;
        let is_free =
            |(last_x, last_y): Spot| (last_y - y).abs() >= LINE || (last_x - x).abs() >= room;
        if !free.is_none_or(is_free) {
            continue;
        }
        free = Some((*x, *y));
        let shift = if anchor == Anchor::Start { TICK_AT.0 } else { -TICK_AT.0 };
        let text = Text::new(&*tick.text, (x + shift, y + TICK_AT.1), TICK, INK);
        picture.text(class, text.anchored(anchor).fitting(TICK_MAX));
    }
}

/// The least distance between an edge and the name of its axis.
const LABEL_DISTANCE: f64 = 46.0;
/// The offset of tick labels from their position on the edge, sideways and down.
const TICK_AT: Spot = (5.0, 17.0);
/// The longest tick label.
const TICK_MAX: f64 = BESIDE - TICK_AT.0;

/// The angle of text along an edge.
fn angle(corner: Spot, end: Spot, side: f64) -> f64 {
    ((end.1 - corner.1) * side).atan2((end.0 - corner.0) * side)
}

/// The distance of the name of an axis from its edge, beyond the tick labels.
fn label_distance(axis: &Axis, angle: f64) -> f64 {
    const GAP: f64 = 4.0;
    let widest = axes::ticks_width(axis).min(TICK_MAX);
    let (across, down) = (TICK_AT.0 + widest, TICK_AT.1 + TICK * 0.25);
    let far = angle.sin().abs() * across + angle.cos() * down;
    LABEL_DISTANCE.max(far + GAP + LABEL * 0.8)
}

/// Writes the name of an axis along the edge from a corner to an end, on the outside.
fn edge_label(
    picture: &mut Picture,
    class: &'static str,
    axis: &Axis,
    corner: Spot,
    end: Spot,
    side: f64,
) {
    let angle = angle(corner, end, side);
    let distance = label_distance(axis, angle);
    let length = (end.0 - corner.0).hypot(end.1 - corner.1);
    let middle = ((corner.0 + end.0) / 2.0, (corner.1 + end.1) / 2.0);
    let at = (middle.0 - angle.sin() * distance, middle.1 + angle.cos() * distance);
    let text = Text::new(&*axis.label, at, LABEL, INK).fitting(length * 1.1);
    picture.text(class, text.anchored(Anchor::Middle).turned(angle.to_degrees()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{
        assert_apart, assert_within, axis, of_class, quantity, rising, texts, words,
    };
    use roxmltree::Document;

    const SIZES: [&str; 5] = ["4", "8", "16", "32", "64"];

    fn drawn(fields: &[Field]) -> Picture {
        let (x, y) =
            (axis("record size (KiB)", &SIZES), axis("file size (MiB)", &["1", "2", "4", "8"]));
        surface(&words(), &x, &y, &quantity(), fields)
    }

    #[test]
    fn a_surface_has_a_tile_between_every_four_figures() {
        let picture = drawn(&[rising("", 5, 4, 1.0)]);
        let svg = picture.svg();
        let document = Document::parse(&svg).unwrap();
        assert_eq!(of_class(&document, "tile").len(), 4 * 3);
        assert_eq!(of_class(&document, "point").len(), 20);
        assert_eq!(of_class(&document, "interval").len(), 20);
        let words = texts(&document);
        for expected in ["record size (KiB)", "file size (MiB)", "bandwidth (MiB/s)", "64", "8"] {
            assert!(words.iter().any(|word| word == expected), "{expected}: {words:?}");
        }
        assert_within(&picture);
        ["x-tick", "y-tick", "z-tick"].iter().for_each(|class| assert_apart(&picture, class));
    }

    #[test]
    fn names_of_axes_stand_clear_of_long_values() {
        let long = ["64 KiB", "128 KiB", "256 KiB", "512 KiB", "a long name of a value"];
        let (x, y) = (axis("record size (bytes)", &long), axis("file size (bytes)", &long));
        for count in [4, 5] {
            let ticks = |axis: &Axis| Axis { ticks: axis.ticks[..count].to_vec(), ..axis.clone() };
            let field = rising("", count, count, 1.0);
            let picture = surface(&words(), &ticks(&x), &ticks(&y), &quantity(), &[field]);
            assert_clear(&picture, "x-label", "x-tick");
            assert_clear(&picture, "y-label", "y-tick");
            assert_within(&picture);
        }
    }

    /// Fails if words turned along a line reach the corners of upright ones.
    fn assert_clear(picture: &Picture, turned: &str, upright: &str) {
        let of = |class: &str| -> Vec<Text> {
            let shapes = picture.shapes.iter().filter(|shape| shape.class == class);
            let text = |form: &Form| match form {
                Form::Text(text) => text.clone(),
                other => panic!("no text: {other:?}"),
            };
            shapes.map(|shape| text(&shape.form)).collect()
        };
        let label = of(turned).remove(0);
        let (sine, cosine) = label.turned.to_radians().sin_cos();
        let ticks = of(upright);
        assert!(!ticks.is_empty());
        for tick in &ticks {
            let width = font::width(&tick.text, tick.size, false);
            let left = if tick.anchor == Anchor::Start { tick.at.0 } else { tick.at.0 - width };
            for (x, y) in rectangle(left, tick.at.1 - TICK * 0.75, width, TICK) {
                let (x, y) = (x - label.at.0, y - label.at.1);
                let (along, above) = (x * cosine + y * sine, x * sine - y * cosine);
                let half = font::width(&label.text, label.size, false) / 2.0;
                let is_clear = along.abs() > half || above > LABEL * 0.75;
                assert!(is_clear, "{}: {along} {above}", tick.text);
            }
        }
    }

    /// Colours of the tiles, as they are drawn.
    fn colours(picture: &Picture) -> Vec<String> {
        let svg = picture.svg();
        let document = Document::parse(&svg).unwrap();
        let tiles = of_class(&document, "tile");
        tiles.iter().map(|tile| tile.attribute("fill").unwrap().to_owned()).collect()
    }

    #[test]
    fn far_tiles_are_drawn_first_and_colours_follow_heights() {
        let up = colours(&drawn(&[rising("", 5, 4, 1.0)]));
        let light = |hex: &str| {
            let part = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
            crate::colour::Colour(part(1), part(3), part(5)).luminance()
        };
        assert!(light(&up[0]) > light(&up[11]), "the highest is behind");
    }

    #[test]
    fn low_figures_are_turned_to_the_front() {
        let mut falling = rising("", 5, 4, 1.0);
        falling.rows.iter_mut().for_each(|row| row.reverse());
        let xs = |field: &Field| {
            let svg = drawn(std::slice::from_ref(field)).svg();
            let document = Document::parse(&svg).unwrap();
            let ticks = of_class(&document, "x-tick");
            let x = |tick: &roxmltree::Node| tick.attribute("x").unwrap().parse::<f64>().unwrap();
            (x(&ticks[0]), x(&ticks[4]))
        };
        let (first, last) = xs(&rising("", 5, 4, 1.0));
        assert!(first < last);
        let (first, last) = xs(&falling);
        assert!(first > last, "the axis is turned");
    }

    #[test]
    fn several_surfaces_are_nets_with_names() {
        let fields = [rising("SATA", 5, 4, 1.0), rising("SSD", 5, 4, 2.0)];
        let picture = drawn(&fields);
        let svg = picture.svg();
        let document = Document::parse(&svg).unwrap();
        let tiles = of_class(&document, "tile");
        assert_eq!(tiles.len(), 24);
        assert!(tiles.iter().all(|tile| tile.attribute("fill-opacity").is_some()));
        let strokes: std::collections::BTreeSet<_> =
            tiles.iter().map(|tile| tile.attribute("stroke").unwrap()).collect();
        assert_eq!(strokes.len(), 2);
        assert!(["SATA", "SSD"].iter().all(|name| texts(&document).iter().any(|t| t == name)));
    }

    #[test]
    fn a_missing_figure_is_a_hole_over_a_hatched_floor() {
        let mut field = rising("", 5, 4, 1.0);
        field.rows[0][0] = Point::Missing;
        field.rows[3][4] = Point::Failed;
        let picture = drawn(&[field]);
        let svg = picture.svg();
        let document = Document::parse(&svg).unwrap();
        assert_eq!(of_class(&document, "tile").len(), 10);
        assert_eq!(of_class(&document, "hatch").len(), 2);
        let words = texts(&document);
        assert!(["not measured", "failed"].iter().all(|word| words.iter().any(|w| w == word)));
        assert_within(&picture);
    }

    #[test]
    fn an_empty_picture_can_be_drawn() {
        assert_within(&surface(&words(), &Axis::default(), &Axis::default(), &quantity(), &[]));
        assert_within(&drawn(&[]));
        let one = axis("x", &["1"]);
        assert_within(&surface(&words(), &one, &one, &quantity(), &[rising("", 1, 1, 1.0)]));
    }
}
