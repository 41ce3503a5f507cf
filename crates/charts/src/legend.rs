//! Legends: the meaning of colours and marks.

use crate::colour::{FAINT, HATCH, INK, viridis};
use crate::frame::{FOOT, LABEL, MARGIN, SMALL, TICK};
use crate::scale::Scale;
use crate::scene::{Anchor, Area, Fill, Form, Picture, Stroke, Text, hatching, rectangle};

/// Width of a colour bar with its figures and its name.
pub(crate) const COLOURS_WIDTH: f64 = 92.0;
const BAR: f64 = 14.0;
/// Height of the line of marks.
pub(crate) const MARKS_HEIGHT: f64 = 22.0;

/// Draws the colour bar of a scale beside `area`.
pub(crate) fn colours(picture: &mut Picture, area: &Area, scale: &Scale, name: &str) {
    const STEPS: usize = 60;
    let left = area.right() + 18.0;
    let step = area.height / STEPS as f64;
    for index in 0..STEPS {
        let share = (index as f64 + 0.5) / STEPS as f64;
        let top = area.bottom() - (index + 1) as f64 * step;
        // A small overlap avoids visible gaps.
        let spots = rectangle(left, top, BAR, step + if index == 0 { 0.0 } else { 0.5 });
        picture.push("colour", Form::Area { spots, fill: Fill::solid(viridis(share)), edge: None });
    }
    for tick in &scale.ticks {
        let y = area.at(0.0, scale.at(*tick)).1;
        let stroke = Stroke::new(FAINT, 1.0);
        picture.line("colour-mark", vec![(left + BAR, y), (left + BAR + 4.0, y)], stroke);
        let at = (left + BAR + 7.0, y + 4.0);
        picture.text("colour-tick", Text::new(scale.round(*tick), at, TICK, INK));
    }
    let at = (area.right() + COLOURS_WIDTH - 6.0, area.top + area.height / 2.0);
    let text = Text::new(scale.label(name), at, LABEL, INK).fitting(area.height + 60.0);
    picture.text("colour-label", text.anchored(Anchor::Middle).turned(-90.0));
}

/// A mark with an explanation.
pub(crate) enum Mark {
    /// Hatched.
    Missing,
    /// Crossed out.
    Failed,
    /// Outlined.
    Best(&'static str),
    /// Text alone.
    Words(String),
}

/// Writes the meaning of marks in a line above the foot of a picture.
pub(crate) fn marks(picture: &mut Picture, marks: &[Mark]) {
    const BOX: f64 = 12.0;
    let (mut left, base) = (MARGIN, picture.height - FOOT - 6.0);
    for mark in marks {
        let top = base - BOX + 2.0;
        let outline = |colour, width| Form::Area {
            spots: rectangle(left, top, BOX, BOX),
            fill: Fill::solid(crate::colour::PAPER),
            edge: Some(Stroke::new(colour, width)),
        };
        let (words, has_box) = match mark {
            Mark::Missing => {
                picture.push("key", outline(HATCH, 1.0));
                let lines = hatching(left, top, BOX, BOX);
                picture.push("key", Form::Lines { lines, stroke: Stroke::new(HATCH, 1.0) });
                ("not measured", true)
            }
            Mark::Failed => {
                picture.push("key", outline(HATCH, 1.0));
                let lines = crossing(left, top, BOX, BOX);
                picture.push("key", Form::Lines { lines, stroke: Stroke::new(FAINT, 1.2) });
                ("failed", true)
            }
            Mark::Best(words) => {
                picture.push("key", outline(INK, 2.0));
                (*words, true)
            }
            Mark::Words(words) => (words.as_str(), false),
        };
        let start = left + if has_box { BOX + 5.0 } else { 0.0 };
        let text = Text::new(words, (start, base), SMALL, FAINT);
        left = start + crate::font::width(words, SMALL, false) + 18.0;
        picture.text("key-text", text);
    }
}

/// The meaning of the marks of intervals ("lines on bars: …"), and of intervals beyond the axis.
pub(crate) fn intervals(
    points: &[crate::Point],
    scale: &Scale,
    what: &str,
    cut: &str,
) -> Vec<Mark> {
    let has_intervals = points.iter().any(|point| point.interval().is_some());
    let words = has_intervals.then(|| format!("{what}: 95 % interval of the mean"));
    let cut = scale.cuts(points.iter()).then(|| format!("{cut}: it goes on beyond the axis"));
    words.into_iter().chain(cut).map(Mark::Words).collect()
}

/// The diagonals of a rectangle.
pub(crate) fn crossing(left: f64, top: f64, width: f64, height: f64) -> Vec<Vec<(f64, f64)>> {
    let (right, bottom) = (left + width, top + height);
    vec![vec![(left, top), (right, bottom)], vec![(left, bottom), (right, top)]]
}

/// The marks for missing and failed points.
pub(crate) fn marks_of<'a>(points: impl Iterator<Item = &'a crate::Point>) -> Vec<Mark> {
    let (mut missing, mut failed) = (false, false);
    for point in points {
        missing |= matches!(point, crate::Point::Missing);
        failed |= matches!(point, crate::Point::Failed);
    }
    let marks = [(missing, Mark::Missing), (failed, Mark::Failed)];
    marks.into_iter().filter(|(is_there, _)| *is_there).map(|(_, mark)| mark).collect()
}
