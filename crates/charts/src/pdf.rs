//! Pictures as PDF (ISO 32000-1), with vector shapes. The font is embedded, so text can be searched and
//! copied.

use crate::colour::{Colour, PAPER};
use crate::font;
use crate::scene::{Anchor, Fill, Form, Picture, Spot, Stroke, Text};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use pdf_writer::types::{CidFontType, FontFlags, LineJoinStyle, SystemInfo, UnicodeCmap};
use pdf_writer::{Content, Filter, Finish, Name, Pdf, Rect, Ref, Str, TextStr};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

/// Points in a pixel.
const POINTS: f32 = 0.75;
/// The distance of Bézier handles from their ends for a quarter of a circle, in radii.
const HANDLE: f32 = 0.552_284_8;

const CATALOG: Ref = Ref::new(1);
const PAGES: Ref = Ref::new(2);
const PAGE: Ref = Ref::new(3);
const CONTENT: Ref = Ref::new(4);
const INFO: Ref = Ref::new(5);
/// The first object of the two fonts; objects of opacities follow.
const FONTS: [i32; 2] = [10, 20];
const OPACITIES: i32 = 100;
const FONT_NAMES: [Name; 2] = [Name(b"F0"), Name(b"F1")];
const SYSTEM: SystemInfo =
    SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };

impl Picture {
    /// The picture as a PDF of one page of its size.
    pub fn pdf(&self) -> Vec<u8> {
        let mut page = Page {
            content: Content::new(),
            opacities: BTreeMap::new(),
            letters: Default::default(),
        };
        page.draw(self);
        let (width, height) = (self.width as f32 * POINTS, self.height as f32 * POINTS);
        let mut pdf = Pdf::new();
        pdf.catalog(CATALOG).pages(PAGES);
        pdf.pages(PAGES).kids([PAGE]).count(1);
        pdf.document_info(INFO).title(TextStr(&self.title)).producer(TextStr("fathom"));
        let mut leaf = pdf.page(PAGE);
        leaf.parent(PAGES).media_box(Rect::new(0.0, 0.0, width, height)).contents(CONTENT);
        let mut resources = leaf.resources();
        let mut fonts = resources.fonts();
        for (index, name) in FONT_NAMES.into_iter().enumerate() {
            fonts.pair(name, Ref::new(FONTS[index]));
        }
        fonts.finish();
        let mut states = resources.ext_g_states();
        for (index, name) in page.opacities.values().enumerate() {
            states.pair(Name(name.as_bytes()), Ref::new(OPACITIES + index as i32));
        }
        states.finish();
        resources.finish();
        leaf.finish();
        for (index, thousandths) in page.opacities.keys().enumerate() {
            let opacity = *thousandths as f32 / 1000.0;
            pdf.ext_graphics(Ref::new(OPACITIES + index as i32))
                .stroking_alpha(opacity)
                .non_stroking_alpha(opacity);
        }
        let content = packed(&page.content.finish());
        pdf.stream(CONTENT, &content).filter(Filter::FlateDecode);
        for is_bold in [false, true] {
            write_font(&mut pdf, is_bold, &page.letters[usize::from(is_bold)]);
        }
        pdf.finish()
    }
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    // Writing to memory does not fail.
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    written.unwrap_or_default()
}

/// The content of the page.
struct Page {
    content: Content,
    /// Opacity in thousandths → the name of its state.
    opacities: BTreeMap<u32, String>,
    /// The letters used, of the plain and the bold font.
    letters: [BTreeSet<char>; 2],
}

impl Page {
    fn draw(&mut self, picture: &Picture) {
        let height = picture.height as f32 * POINTS;
        // Switch to pixels from the upper left corner, as everywhere in this crate.
        self.content.transform([POINTS, 0.0, 0.0, -POINTS, 0.0, height]);
        self.content.set_line_join(LineJoinStyle::RoundJoin);
        self.fill_colour(PAPER);
        self.content.rect(0.0, 0.0, picture.width as f32, picture.height as f32).fill_nonzero();
        picture.shapes.iter().for_each(|shape| self.form(&shape.form));
    }

    fn form(&mut self, form: &Form) {
        match form {
            Form::Area { spots, fill, edge } => {
                self.fill(*fill);
                self.path(spots);
                self.content.close_path().fill_nonzero();
                if let Some(stroke) = edge {
                    self.stroke(*stroke);
                    self.path(spots);
                    self.content.close_and_stroke();
                }
            }
            Form::Lines { lines, stroke } => {
                self.stroke(*stroke);
                lines.iter().for_each(|line| self.path(line));
                self.content.stroke();
            }
            Form::Disc { centre, radius, fill } => {
                self.fill(*fill);
                self.disc(*centre, *radius as f32);
            }
            Form::Text(text) => self.text(text),
        }
    }

    fn path(&mut self, spots: &[Spot]) {
        for (index, (x, y)) in spots.iter().enumerate() {
            match index {
                0 => self.content.move_to(*x as f32, *y as f32),
                _ => self.content.line_to(*x as f32, *y as f32),
            };
        }
    }

    fn disc(&mut self, (x, y): Spot, radius: f32) {
        let (x, y, handle) = (x as f32, y as f32, radius * HANDLE);
        self.content.move_to(x + radius, y);
        // The quarters, each by its start and end seen from the centre.
        let around = [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0), (1.0, 0.0)];
        for pair in around.windows(2) {
            let ((ax, ay), (bx, by)) = (pair[0], pair[1]);
            self.content.cubic_to(
                x + ax * radius + bx * handle,
                y + ay * radius + by * handle,
                x + bx * radius + ax * handle,
                y + by * radius + ay * handle,
                x + bx * radius,
                y + by * radius,
            );
        }
        self.content.close_path().fill_nonzero();
    }

    fn text(&mut self, text: &Text) {
        let bold = usize::from(text.is_bold);
        let width = font::width(&text.text, text.size, text.is_bold);
        let before = match text.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => width / 2.0,
            Anchor::End => width,
        };
        let (sine, cosine) = text.turned.to_radians().sin_cos();
        let (x, y) = (text.at.0 - before * cosine, text.at.1 - before * sine);
        let [sine, cosine, x, y] = [sine, cosine, x, y].map(|number| number as f32);
        let glyphs: Vec<u8> = text
            .text
            .chars()
            .flat_map(|letter| font::glyph_of(letter, text.is_bold).to_be_bytes())
            .collect();
        self.letters[bold].extend(text.text.chars());
        self.opacity(1.0);
        self.fill_colour(text.colour);
        self.content
            .begin_text()
            .set_font(FONT_NAMES[bold], text.size as f32)
            // Letters point upwards, page coordinates downwards.
            .set_text_matrix([cosine, sine, sine, -cosine, x, y])
            .show(Str(&glyphs))
            .end_text();
    }

    fn fill(&mut self, fill: Fill) {
        self.opacity(fill.opacity);
        self.fill_colour(fill.colour);
    }

    fn fill_colour(&mut self, Colour(red, green, blue): Colour) {
        let [red, green, blue] = [red, green, blue].map(|part| f32::from(part) / 255.0);
        self.content.set_fill_rgb(red, green, blue);
    }

    fn stroke(&mut self, stroke: Stroke) {
        self.opacity(stroke.opacity);
        let Colour(red, green, blue) = stroke.colour;
        let [red, green, blue] = [red, green, blue].map(|part| f32::from(part) / 255.0);
        self.content.set_stroke_rgb(red, green, blue).set_line_width(stroke.width as f32);
    }

    fn opacity(&mut self, opacity: f64) {
        let thousandths = (opacity.clamp(0.0, 1.0) * 1000.0).round() as u32;
        let name = self.opacities.entry(thousandths).or_insert_with(|| format!("G{thousandths}"));
        self.content.set_parameters(Name(name.as_bytes()));
    }
}

/// Writes a font with the letters of its glyphs.
fn write_font(pdf: &mut Pdf, is_bold: bool, letters: &BTreeSet<char>) {
    let first = FONTS[usize::from(is_bold)];
    let [composite, descendant, descriptor, file, cmap] =
        [0, 1, 2, 3, 4].map(|offset| Ref::new(first + offset));
    let name = Name(if is_bold { b"DejaVuSans-Bold" } else { b"DejaVuSans" });
    pdf.type0_font(composite)
        .base_font(name)
        .encoding_predefined(Name(b"Identity-H"))
        .descendant_font(descendant)
        .to_unicode(cmap);
    let glyphs: BTreeMap<u16, char> =
        letters.iter().map(|letter| (font::glyph_of(*letter, is_bold), *letter)).collect();
    let mut cid = pdf.cid_font(descendant);
    cid.subtype(CidFontType::Type2).base_font(name).system_info(SYSTEM).font_descriptor(descriptor);
    cid.cid_to_gid_map_predefined(Name(b"Identity"));
    let mut widths = cid.widths();
    for (glyph, letter) in &glyphs {
        // In thousandths of the font size.
        let width = font::width(&letter.to_string(), 1000.0, is_bold);
        widths.consecutive(*glyph, [width as f32]);
    }
    widths.finish();
    cid.finish();
    let metrics = font::metrics(is_bold);
    pdf.font_descriptor(descriptor)
        .name(name)
        .flags(FontFlags::NON_SYMBOLIC)
        .bbox(Rect::new(metrics.bounds[0], metrics.bounds[1], metrics.bounds[2], metrics.bounds[3]))
        .italic_angle(0.0)
        .ascent(metrics.ascent)
        .descent(metrics.descent)
        .cap_height(metrics.ascent)
        .stem_v(if is_bold { 160.0 } else { 90.0 })
        .font_file2(file);
    let bytes = packed(font::bytes(is_bold));
    pdf.stream(file, &bytes).filter(Filter::FlateDecode);
    let mut known = UnicodeCmap::new(Name(b"fathom"), SYSTEM);
    glyphs.iter().for_each(|(glyph, letter)| known.pair(*glyph, *letter));
    let known = packed(known.finish().as_slice());
    pdf.stream(cmap, &known).filter(Filter::FlateDecode);
}

#[cfg(test)]
mod tests {
    use crate::testing::{axis, quantity, rising, words};
    use crate::{Picture, Series, heat_map, lines};

    fn all_parts(bytes: &[u8]) -> bool {
        let has = |part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
        bytes.starts_with(b"%PDF-1.")
            && bytes.ends_with(b"%%EOF")
            && [&b"/FontFile2"[..], b"/ToUnicode", b"/MediaBox", b"(A title)"].into_iter().all(has)
    }

    #[test]
    fn every_picture_is_a_small_pdf() {
        let field = rising("a", 5, 4, 1.0);
        let x = axis("depth", &["1", "2", "4", "8", "16"]);
        let series = Series { name: "a".into(), points: field.rows[0].clone() };
        let map =
            heat_map(&words(), &x, &axis("bs", &["4", "8", "16", "32"]), &quantity(), &[field]);
        let line = lines(&words(), &x, &quantity(), &[series]);
        for picture in [map, line] {
            let bytes = picture.pdf();
            assert!(all_parts(&bytes) && bytes.len() < 80_000, "{}", bytes.len());
        }
        assert!(Picture::new(10.0, 10.0, "").pdf().starts_with(b"%PDF"), "nothing is a page too");
    }
}
