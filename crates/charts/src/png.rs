//! Pictures as PNG.

use crate::colour::PAPER;
use crate::font;
use crate::scene::{Anchor, Fill, Form, Picture, Spot, Stroke, Text};
use tiny_skia::{Color, FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, Transform};
use ttf_parser::OutlineBuilder;

/// Why a PNG cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum PngError {
    /// It is too large: width and height in pixels.
    #[error("a picture of {0} by {1} pixels is too large for PNG: plot fewer values, or write SVG")]
    TooLarge(f64, f64),
    /// It cannot be encoded.
    #[error("cannot encode the picture as PNG: {0}")]
    Encoding(#[from] png::EncodingError),
}

/// The most pixels of a picture: 400 MB of memory.
const PIXELS_MAX: f64 = 1e8;

impl Picture {
    /// The picture as a PNG file, with `scale` pixels for each of its own.
    pub fn png(&self, scale: f32) -> Result<Vec<u8>, PngError> {
        let [width, height] =
            [self.width, self.height].map(|side| (side * f64::from(scale)).ceil());
        let too_large = || PngError::TooLarge(width, height);
        if width * height > PIXELS_MAX {
            return Err(too_large());
        }
        let mut image = Pixmap::new(width as u32, height as u32).ok_or_else(too_large)?;
        image.fill(Color::from_rgba8(PAPER.0, PAPER.1, PAPER.2, 255));
        let mut canvas = Canvas { image, scale: Transform::from_scale(scale, scale) };
        self.shapes.iter().for_each(|shape| canvas.draw(&shape.form));
        Ok(encoded(&canvas.image)?)
    }
}

/// Encodes pixels without transparency, with the best compression.
fn encoded(image: &Pixmap) -> Result<Vec<u8>, png::EncodingError> {
    let colours: Vec<u8> =
        image.pixels().iter().flat_map(|p| [p.red(), p.green(), p.blue()]).collect();
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, image.width(), image.height());
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_compression(png::Compression::High);
    // Even areas compress better without a filter.
    encoder.set_filter(png::Filter::NoFilter);
    encoder.write_header()?.write_image_data(&colours)?;
    Ok(file)
}

struct Canvas {
    image: Pixmap,
    scale: Transform,
}

impl Canvas {
    fn draw(&mut self, form: &Form) {
        match form {
            Form::Area { spots, fill, edge } => {
                let Some(area) = path(std::slice::from_ref(spots), true) else { return };
                self.fill(&area, *fill);
                edge.iter().for_each(|stroke| self.stroke(&area, *stroke));
            }
            Form::Lines { lines, stroke } => {
                path(lines, false).iter().for_each(|lines| self.stroke(lines, *stroke));
            }
            Form::Disc { centre: (x, y), radius, fill } => {
                let disc = PathBuilder::from_circle(*x as f32, *y as f32, *radius as f32);
                disc.iter().for_each(|disc| self.fill(disc, *fill));
            }
            Form::Text(text) => {
                let fill = Fill::solid(text.colour);
                letters(text).iter().for_each(|letters| self.fill(letters, fill));
            }
        }
    }

    fn fill(&mut self, path: &Path, fill: Fill) {
        let paint = paint(fill.colour, fill.opacity);
        self.image.fill_path(path, &paint, FillRule::Winding, self.scale, None);
    }

    fn stroke(&mut self, path: &Path, stroke: Stroke) {
        let paint = paint(stroke.colour, stroke.opacity);
        let style = tiny_skia::Stroke {
            width: stroke.width as f32,
            line_cap: LineCap::Butt,
            line_join: LineJoin::Round,
            ..tiny_skia::Stroke::default()
        };
        self.image.stroke_path(path, &paint, &style, self.scale, None);
    }
}

fn paint(colour: crate::colour::Colour, opacity: f64) -> Paint<'static> {
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    let alpha = (opacity.clamp(0.0, 1.0) * 255.0).round() as u8;
    paint.set_color_rgba8(colour.0, colour.1, colour.2, alpha);
    paint
}

/// `None` for no points, and for points that are not finite.
fn path(lines: &[Vec<Spot>], closed: bool) -> Option<Path> {
    let mut builder = PathBuilder::new();
    for line in lines {
        for (index, (x, y)) in line.iter().enumerate() {
            match index {
                0 => builder.move_to(*x as f32, *y as f32),
                _ => builder.line_to(*x as f32, *y as f32),
            }
        }
        if closed {
            builder.close();
        }
    }
    builder.finish()
}

/// The outlines of the letters of a text at its position.
fn letters(text: &Text) -> Option<Path> {
    let before = match text.anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => 0.5,
        Anchor::End => 1.0,
    };
    let start = -before * font::width(&text.text, text.size, text.is_bold);
    let (sine, cosine) = text.turned.to_radians().sin_cos();
    let mut whole = PathBuilder::new();
    let pen = |along: f64, scale: f64| Pen {
        path: PathBuilder::new(),
        along: start + along,
        scale,
        at: text.at,
        sine,
        cosine,
    };
    font::outline(&text.text, text.size, text.is_bold, pen, |pen| {
        pen.path.finish().iter().for_each(|letter| whole.push_path(letter));
    });
    whole.finish()
}

/// Moves an outline, in font units and upwards, to the position of its letter.
struct Pen {
    path: PathBuilder,
    along: f64,
    scale: f64,
    at: Spot,
    sine: f64,
    cosine: f64,
}

impl Pen {
    fn place(&self, x: f32, y: f32) -> (f32, f32) {
        let (x, y) = (self.along + f64::from(x) * self.scale, -f64::from(y) * self.scale);
        let right = self.at.0 + x * self.cosine - y * self.sine;
        let down = self.at.1 + x * self.sine + y * self.cosine;
        (right as f32, down as f32)
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.place(x1, y1), self.place(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let (one, two, end) = (self.place(x1, y1), self.place(x2, y2), self.place(x, y));
        self.path.cubic_to(one.0, one.1, two.0, two.1, end.0, end.1);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colour::INK;
    use crate::scene::rectangle;

    fn decoded(picture: &Picture, scale: f32) -> Pixmap {
        Pixmap::decode_png(&picture.png(scale).unwrap()).unwrap()
    }

    fn inked(image: &Pixmap, area: [u32; 4]) -> usize {
        let [left, top, right, bottom] = area;
        let dark = |x, y| image.pixel(x, y).unwrap().red() < 128;
        (top..bottom).map(|y| (left..right).filter(|x| dark(*x, y)).count()).sum()
    }

    #[test]
    fn shapes_are_drawn_where_they_are() {
        let mut picture = Picture::new(100.0, 50.0, "");
        let fill = Fill::solid(INK);
        picture.push(
            "cell",
            Form::Area { spots: rectangle(10.0, 10.0, 20.0, 20.0), fill, edge: None },
        );
        picture.push("dot", Form::Disc { centre: (60.0, 20.0), radius: 5.0, fill });
        let image = decoded(&picture, 2.0);
        assert_eq!((image.width(), image.height()), (200, 100));
        assert_eq!(inked(&image, [20, 20, 60, 60]), 1600);
        assert_eq!(inked(&image, [0, 0, 20, 100]), 0);
        let disc = inked(&image, [100, 20, 140, 60]);
        assert!((280..340).contains(&disc), "{disc}");
    }

    #[test]
    fn words_stand_at_their_anchor_and_are_turned() {
        let inked_by = |anchor, turned| {
            let mut picture = Picture::new(200.0, 200.0, "");
            let text = Text::new("MMMM", (100.0, 100.0), 20.0, INK);
            picture.text("label", text.anchored(anchor).turned(turned));
            let image = decoded(&picture, 1.0);
            let areas = [[0, 0, 100, 100], [100, 0, 200, 100], [0, 100, 100, 200]];
            areas.map(|area| inked(&image, area) > 50)
        };
        assert_eq!(inked_by(Anchor::Start, 0.0), [false, true, false]);
        assert_eq!(inked_by(Anchor::End, 0.0), [true, false, false]);
        assert_eq!(inked_by(Anchor::Middle, 0.0), [true, true, false]);
        assert_eq!(
            inked_by(Anchor::Start, -90.0),
            [true, false, false],
            "upwards, left of its line"
        );
    }

    #[test]
    fn a_picture_too_large_is_refused() {
        let error = Picture::new(1e6, 1e6, "").png(1.0).unwrap_err().to_string();
        assert!(error.contains("write SVG"), "{error}");
        assert!(Picture::new(0.0, 0.0, "").png(1.0).is_err());
    }
}
