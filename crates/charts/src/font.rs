//! The font: DejaVu Sans, reduced to Latin, Greek and Cyrillic letters, under the licence in
//! fonts/LICENSE. All formats measure text with it. PNG draws it and PDF embeds it; SVG names it and
//! the viewer draws it.

use std::sync::LazyLock;
use ttf_parser::{Face, GlyphId, OutlineBuilder};

static REGULAR: LazyLock<Face> = LazyLock::new(|| parse(bytes(false)));
static BOLD: LazyLock<Face> = LazyLock::new(|| parse(bytes(true)));

/// The replacement for letters that the font lacks.
const UNKNOWN: char = '\u{fffd}';

fn parse(bytes: &'static [u8]) -> Face<'static> {
    Face::parse(bytes, 0).expect("the font that is part of the program is a font")
}

/// The font as a file.
pub(crate) fn bytes(is_bold: bool) -> &'static [u8] {
    match is_bold {
        true => include_bytes!("../fonts/DejaVuSans-Bold.ttf"),
        false => include_bytes!("../fonts/DejaVuSans.ttf"),
    }
}

/// The extent of its letters, in thousandths of the font size.
pub(crate) struct Metrics {
    pub ascent: f32,
    pub descent: f32,
    /// Left, bottom, right, top.
    pub bounds: [f32; 4],
}

/// The extent of the letters of the font.
pub(crate) fn metrics(is_bold: bool) -> Metrics {
    let face = face(is_bold);
    let scaled = |units: i16| f32::from(units) * 1000.0 / f32::from(face.units_per_em());
    let bounds = face.global_bounding_box();
    Metrics {
        ascent: scaled(face.ascender()),
        descent: scaled(face.descender()),
        bounds: [bounds.x_min, bounds.y_min, bounds.x_max, bounds.y_max].map(scaled),
    }
}

/// The glyph index of a letter.
pub(crate) fn glyph_of(letter: char, is_bold: bool) -> u16 {
    glyph(face(is_bold), letter).0
}

fn face(is_bold: bool) -> &'static Face<'static> {
    if is_bold { &BOLD } else { &REGULAR }
}

fn glyph(face: &Face, letter: char) -> GlyphId {
    face.glyph_index(letter).or_else(|| face.glyph_index(UNKNOWN)).unwrap_or_default()
}

fn advance(face: &Face, glyph: GlyphId) -> f64 {
    f64::from(face.glyph_hor_advance(glyph).unwrap_or_default()) / f64::from(face.units_per_em())
}

/// The width of a text in pixels.
pub(crate) fn width(text: &str, size: f64, is_bold: bool) -> f64 {
    let face = face(is_bold);
    text.chars().map(|letter| advance(face, glyph(face, letter))).sum::<f64>() * size
}

/// Draws the letters of a text. `pen` receives the start of each letter in pixels from the start of
/// the text, and the pixels in a unit of the outline.
pub(crate) fn outline<B: OutlineBuilder>(
    text: &str,
    size: f64,
    is_bold: bool,
    mut pen: impl FnMut(f64, f64) -> B,
    mut drawn: impl FnMut(B),
) {
    let face = face(is_bold);
    let scale = size / f64::from(face.units_per_em());
    let mut along = 0.0;
    for letter in text.chars() {
        let glyph = glyph(face, letter);
        let mut builder = pen(along, scale);
        face.outline_glyph(glyph, &mut builder);
        drawn(builder);
        along += advance(face, glyph) * size;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_widths() {
        let narrow = width("iiii", 12.0, false);
        let wide = width("MMMM", 12.0, false);
        assert!(narrow > 5.0 && wide > 2.0 * narrow, "{narrow} {wide}");
        assert!(width("abc", 12.0, true) > width("abc", 12.0, false));
        assert_eq!(width("", 12.0, false), 0.0);
    }

    #[test]
    fn every_letter_that_is_needed_is_there() {
        let needed = (' '..='~').chain("µ±×–—…≤≥−éüßαωЖя".chars());
        for letter in needed {
            for face in [face(false), face(true)] {
                assert!(face.glyph_index(letter).is_some(), "{letter}");
            }
        }
        assert!(width("漢", 12.0, false) > 0.0, "one that is not there has a stand-in");
    }
}
