//! Axes of flat charts, with their labels.

use crate::colour::{FAINT, GRID, INK};
use crate::data::Axis;
use crate::font;
use crate::frame::{LABEL, TICK};
use crate::scale::Scale;
use crate::scene::{Anchor, Area, Form, Picture, Stroke, Text};

/// Height of a horizontal axis below its chart.
pub(crate) const BELOW: f64 = 52.0;
/// The least distance between labels.
const APART: f64 = 8.0;
/// Width of a label turned by [`TURNED`] degrees.
const TURNED_WIDTH: f64 = 16.0;
const TURNED: f64 = -35.0;

/// The layout of the labels of a horizontal axis.
pub(crate) struct LabelLayout {
    pub is_turned: bool,
    /// Of how many labels one is written.
    pub every: usize,
    /// The height of the axis.
    pub height: f64,
    /// How far labels extend to the left of their values.
    pub reach: f64,
}

impl LabelLayout {
    /// The layout for an axis with this room for each value.
    pub(crate) fn new(axis: &Axis, room: f64) -> LabelLayout {
        let widest = crate::frame::widest(axis.ticks.iter().map(|tick| &*tick.text), TICK);
        if widest + APART <= room {
            return LabelLayout { is_turned: false, every: 1, height: BELOW, reach: widest / 2.0 };
        }
        // Some numbers can be left out, names cannot.
        let numbers = axis.ticks.iter().all(|tick| tick.number.is_some());
        let most = if numbers { widest + APART } else { TURNED_WIDTH };
        let every = (most / room.max(0.1)).ceil().max(1.0) as usize;
        match numbers {
            true => LabelLayout { is_turned: false, every, height: BELOW, reach: widest / 2.0 },
            false => {
                let (sine, cosine) = TURNED.to_radians().sin_cos();
                let length = widest.min(LONGEST);
                let height = BELOW + length * sine.abs();
                LabelLayout { is_turned: true, every, height, reach: length * cosine }
            }
        }
    }
}

/// The longest turned label.
const LONGEST: f64 = 150.0;

/// Writes the values of an axis below an area, at these places (0 to 1 of its width), and its name.
pub(crate) fn draw_labels(
    picture: &mut Picture,
    area: &Area,
    axis: &Axis,
    places: &[f64],
    set: &LabelLayout,
) {
    for (tick, place) in axis.ticks.iter().zip(places).step_by(set.every) {
        let (x, y) = (area.left + place * area.width, area.bottom() + 17.0);
        let text = match set.is_turned {
            true => Text::new(&*tick.text, (x + 4.0, y), TICK, INK)
                .fitting(LONGEST)
                .anchored(Anchor::End)
                .turned(TURNED),
            false => Text::new(&*tick.text, (x, y), TICK, INK).anchored(Anchor::Middle),
        };
        picture.text("x-tick", text);
    }
    let centre = area.left + area.width / 2.0;
    let name = Text::new(&*axis.label, (centre, area.bottom() + set.height - 12.0), LABEL, INK);
    let room = 2.0 * centre.min(picture.width - centre);
    picture.text("x-label", name.fitting(room).anchored(Anchor::Middle));
}

/// Writes a name upwards at a distance to the left of an area.
pub(crate) fn draw_upward_name(picture: &mut Picture, area: &Area, name: &str, distance: f64) {
    let at = (area.left - distance, area.top + area.height / 2.0);
    let room = area.height + 40.0;
    let text = Text::new(name, at, LABEL, INK).fitting(room);
    picture.text("y-label", text.anchored(Anchor::Middle).turned(-90.0));
}

/// The round figures of a scale as text.
pub(crate) fn figures(scale: &Scale) -> Vec<String> {
    scale.ticks.iter().map(|tick| scale.round(*tick)).collect()
}

/// Width of an axis of figures to the left of its chart.
pub(crate) fn figures_width(scale: &Scale) -> f64 {
    crate::frame::widest(figures(scale).iter().map(String::as_str), TICK) + 38.0
}

/// Draws an axis of figures left of an area, with lines through it.
pub(crate) fn upright(picture: &mut Picture, area: &Area, scale: &Scale, name: &str) {
    let heights = scale.ticks.iter().map(|tick| area.at(0.0, scale.at(*tick)).1);
    let lines = heights.clone().map(|y| vec![(area.left, y), (area.right(), y)]).collect();
    picture.push("grid", Form::Lines { lines, stroke: Stroke::new(GRID, 1.0) });
    for (text, y) in figures(scale).into_iter().zip(heights) {
        let text = Text::new(text, (area.left - 7.0, y + 4.0), TICK, INK);
        picture.text("y-tick", text.anchored(Anchor::End));
    }
    let distance = figures_width(scale) - 14.0;
    draw_upward_name(picture, area, &scale.label(name), distance);
}

/// Draws upright lines through an area at these places.
pub(crate) fn guides(picture: &mut Picture, area: &Area, places: &[f64]) {
    let line = |place: &f64| {
        let x = area.left + place * area.width;
        vec![(x, area.top), (x, area.bottom())]
    };
    let lines = places.iter().map(line).collect();
    picture.push("guide", Form::Lines { lines, stroke: Stroke::new(GRID, 1.0) });
}

/// The base line of a chart.
pub(crate) fn base(picture: &mut Picture, area: &Area) {
    let spots = vec![(area.left, area.bottom()), (area.right(), area.bottom())];
    picture.line("axis", spots, Stroke::new(FAINT, 1.0));
}

/// Width of the widest tick label.
pub(crate) fn ticks_width(axis: &Axis) -> f64 {
    axis.ticks.iter().map(|tick| font::width(&tick.text, TICK, false)).fold(0.0, f64::max)
}
