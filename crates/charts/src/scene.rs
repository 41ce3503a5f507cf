//! Pictures as plain shapes, before they are written in a format.

use crate::colour::Colour;
use crate::font;

/// A rectangle of a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Area {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
}

impl Area {
    pub(crate) fn right(&self) -> f64 {
        self.left + self.width
    }

    pub(crate) fn bottom(&self) -> f64 {
        self.top + self.height
    }

    /// The position at these shares of width and height, from the lower left corner.
    pub(crate) fn at(&self, right: f64, up: f64) -> (f64, f64) {
        (self.left + right * self.width, self.bottom() - up * self.height)
    }
}

/// A position in a picture, in pixels from its upper left corner.
pub(crate) type Spot = (f64, f64);

/// A picture, made by one of the charts.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// The title for screen readers.
    pub(crate) title: String,
    /// The description for screen readers.
    pub(crate) description: String,
    /// How values can be read at any place; `None` where each shape has a tool tip.
    pub(crate) plot: Option<Plot>,
    pub(crate) shapes: Vec<Shape>,
}

/// An area between two axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Plot {
    pub area: Area,
    pub x: ReadableAxis,
    pub y: ReadableAxis,
}

/// An axis along which values are "linear", "log", or grow by "nines": `from` and `to` are then their number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ReadableAxis {
    pub kind: &'static str,
    pub from: f64,
    pub to: f64,
    pub unit: &'static str,
}

/// A shape.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Shape {
    /// Its meaning ("cell", "band", …): the class in SVG.
    pub class: &'static str,
    /// The tool tip.
    pub tip: Option<String>,
    pub form: Form,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Form {
    /// A closed area.
    Area { spots: Vec<Spot>, fill: Fill, edge: Option<Stroke> },
    /// Open lines in one style.
    Lines { lines: Vec<Vec<Spot>>, stroke: Stroke },
    /// A disc.
    Disc { centre: Spot, radius: f64, fill: Fill },
    /// Text.
    Text(Text),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Fill {
    pub colour: Colour,
    pub opacity: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stroke {
    pub colour: Colour,
    pub width: f64,
    pub opacity: f64,
}

/// The part of a text that is at its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A line of text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Text {
    pub text: String,
    /// On the base line.
    pub at: Spot,
    /// In pixels.
    pub size: f64,
    pub anchor: Anchor,
    pub colour: Colour,
    pub is_bold: bool,
    /// Rotation in degrees, clockwise around its position.
    pub turned: f64,
}

impl Text {
    pub(crate) fn new(text: impl Into<String>, at: Spot, size: f64, colour: Colour) -> Text {
        let text = text.into();
        Text { text, at, size, anchor: Anchor::Start, colour, is_bold: false, turned: 0.0 }
    }

    pub(crate) fn anchored(self, anchor: Anchor) -> Text {
        Text { anchor, ..self }
    }

    pub(crate) fn bold(self) -> Text {
        Text { is_bold: true, ..self }
    }

    pub(crate) fn turned(self, degrees: f64) -> Text {
        Text { turned: degrees, ..self }
    }

    /// The text, shortened with an ellipsis to at most this width.
    pub(crate) fn fitting(mut self, width: f64) -> Text {
        if font::width(&self.text, self.size, self.is_bold) <= width {
            return self;
        }
        let mut kept: Vec<char> = self.text.chars().collect();
        while kept.pop().is_some() {
            let shorter: String = kept.iter().collect::<String>().trim_end().to_owned() + "…";
            if kept.is_empty() || font::width(&shorter, self.size, self.is_bold) <= width {
                self.text = shorter;
                break;
            }
        }
        self
    }
}

impl Fill {
    pub(crate) fn solid(colour: Colour) -> Fill {
        Fill { colour, opacity: 1.0 }
    }
}

impl Stroke {
    pub(crate) fn new(colour: Colour, width: f64) -> Stroke {
        Stroke { colour, width, opacity: 1.0 }
    }
}

impl Picture {
    pub(crate) fn new(width: f64, height: f64, title: impl Into<String>) -> Picture {
        Picture {
            width: width.ceil(),
            height: height.ceil(),
            title: title.into(),
            description: String::new(),
            plot: None,
            shapes: Vec::new(),
        }
    }

    pub(crate) fn push(&mut self, class: &'static str, form: Form) {
        self.shapes.push(Shape { class, tip: None, form });
    }

    pub(crate) fn push_with_tip(&mut self, class: &'static str, form: Form, tip: String) {
        self.shapes.push(Shape { class, tip: Some(tip), form });
    }

    pub(crate) fn text(&mut self, class: &'static str, text: Text) {
        if !text.text.is_empty() {
            self.push(class, Form::Text(text));
        }
    }

    pub(crate) fn line(&mut self, class: &'static str, spots: Vec<Spot>, stroke: Stroke) {
        self.push(class, Form::Lines { lines: vec![spots], stroke });
    }
}

/// The corners of a rectangle.
pub(crate) fn rectangle(left: f64, top: f64, width: f64, height: f64) -> Vec<Spot> {
    let (right, bottom) = (left + width, top + height);
    vec![(left, top), (right, top), (right, bottom), (left, bottom)]
}

/// Hatching of a rectangle: parallel lines that rise to the right, one for all pictures.
pub(crate) fn hatching(left: f64, top: f64, width: f64, height: f64) -> Vec<Vec<Spot>> {
    const APART: f64 = 7.0;
    let (right, bottom) = (left + width, top + height);
    // Lines x + y = c continue in neighbouring rectangles.
    let first = ((left + top) / APART).ceil() as i64;
    let last = ((right + bottom) / APART).floor() as i64;
    (first..=last)
        .map(|number| {
            let sum = number as f64 * APART;
            let low = (sum - bottom).max(left);
            let high = (sum - top).min(right);
            vec![(low, sum - low), (high, sum - high)]
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colour::INK;

    #[test]
    fn hatching_stays_within_its_cell() {
        let lines = hatching(10.0, 20.0, 30.0, 15.0);
        assert!(lines.len() > 3);
        for (x, y) in lines.into_iter().flatten() {
            assert!((10.0..=40.0).contains(&x) && (20.0..=35.0).contains(&y), "{x} {y}");
        }
    }

    #[test]
    fn long_words_are_cut_where_there_is_no_room() {
        let text = |words: &str| Text::new(words, (0.0, 0.0), 12.0, INK).fitting(100.0).text;
        assert_eq!(text("short"), "short");
        let cut = text("a title that goes on and on without an end");
        assert!(cut.ends_with('…') && font::width(&cut, 12.0, false) <= 100.0, "{cut}");
    }
}
