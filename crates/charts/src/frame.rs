//! The frame of every chart: title, subtitle, source.

use crate::colour::{FAINT, INK};
use crate::data::Words;
use crate::font;
use crate::scene::{Picture, Text};

/// Text sizes in pixels.
pub(crate) const TITLE: f64 = 17.0;
pub(crate) const SUBTITLE: f64 = 12.0;
pub(crate) const LABEL: f64 = 12.0;
pub(crate) const TICK: f64 = 11.0;
pub(crate) const SMALL: f64 = 10.0;

/// Space at the sides.
pub(crate) const MARGIN: f64 = 18.0;
/// Height of title and subtitle.
pub(crate) const HEAD: f64 = 64.0;
/// Height of the source line.
pub(crate) const FOOT: f64 = 26.0;

/// A picture with its frame alone. Text that does not fit in a line is cut.
pub(crate) fn picture(words: &Words, width: f64, height: f64) -> Picture {
    let mut picture = Picture::new(width, height, &*words.title);
    picture.description = words.subtitle.clone();
    let room = picture.width - 2.0 * MARGIN;
    let title = Text::new(&*words.title, (MARGIN, 28.0), TITLE, INK).bold();
    picture.text("title", title.fitting(room));
    let subtitle = Text::new(&*words.subtitle, (MARGIN, 47.0), SUBTITLE, FAINT);
    picture.text("subtitle", subtitle.fitting(room));
    let source = Text::new(&*words.source, (MARGIN, picture.height - 10.0), SMALL, FAINT);
    picture.text("source", source.fitting(room));
    picture
}

/// The width of the widest text in pixels.
pub(crate) fn widest<'a>(words: impl Iterator<Item = &'a str>, size: f64) -> f64 {
    words.map(|word| font::width(word, size, false)).fold(0.0, f64::max)
}
