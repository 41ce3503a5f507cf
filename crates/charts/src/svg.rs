//! Pictures as SVG.

use crate::colour::PAPER;
use crate::scene::{
    Anchor, Area, Fill, Form, Picture, Plot, ReadableAxis, Shape, Spot, Stroke, Text,
};
use std::fmt::Write;

/// The font that text is measured with, and similar ones.
const FONTS: &str = "DejaVu Sans, Verdana, sans-serif";

/// Rules for screens with a dark colour scheme, which turn black on white into light on dark. A page
/// with [`Picture::element`]s needs them once; [`Picture::svg`] includes them. Text and outlines on
/// coloured cells keep their colours.
pub const STYLE: &str = "@media screen and (prefers-color-scheme:dark){\
.chart .paper{fill:#16181c}\
.chart g:not(.cell-figure)>[fill=\"#212121\"]{fill:#e8e8e8}\
.chart [fill=\"#616161\"]{fill:#b0b3b8}\
.chart [stroke=\"#dedede\"]{stroke:#363a40}\
.chart [stroke=\"#616161\"]{stroke:#b0b3b8}\
.chart [stroke=\"#aaaaaa\"]{stroke:#5c6168}\
.chart g.interval>[stroke=\"#212121\"]{stroke:#e8e8e8}\
.chart [fill=\"#0072b2\"]{fill:#3f9fe0}.chart [stroke=\"#0072b2\"]{stroke:#3f9fe0}\
.chart [fill=\"#000000\"]{fill:#fff}.chart [stroke=\"#000000\"]{stroke:#fff}}";

impl Picture {
    /// The picture as an SVG 1.1 document in UTF-8. It loads nothing and follows the dark colour scheme.
    pub fn svg(&self) -> String {
        self.written(&format!(" width=\"{}\" height=\"{}\"", self.width, self.height), STYLE)
    }

    /// The picture as an element of a page with [`STYLE`]; the page sets its size, and a script in it may
    /// read values by the data attributes.
    pub fn element(&self) -> String {
        let plot = self.plot.map(data).unwrap_or_default();
        self.written(&format!(" width=\"{}\"{plot}", self.width), "")
    }

    fn written(&self, size: &str, style: &str) -> String {
        let (width, height) = (self.width, self.height);
        let label = escaped(&self.title).replace('"', "&quot;");
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\"{size} viewBox=\"0 0 {width} {height}\" \
             class=\"chart\" font-family=\"{FONTS}\" role=\"img\" aria-label=\"{label}\">\n\
             <title>{}</title>\n",
            escaped(&self.title),
        );
        if !self.description.is_empty() {
            out += &format!("<desc>{}</desc>\n", escaped(&self.description));
        }
        if !style.is_empty() {
            out += &format!("<style>{}</style>\n", escaped(style));
        }
        out += &format!(
            "<rect class=\"paper\" width=\"100%\" height=\"100%\" fill=\"{}\"/>\n",
            PAPER.hex()
        );
        // Consecutive shapes of one class form a group.
        for group in self.shapes.chunk_by(|one, next| one.class == next.class) {
            let class = group[0].class;
            out += &format!("<g class=\"{class}\">\n");
            group.iter().for_each(|shape| out += &element(shape));
            out += "</g>\n";
        }
        out + "</svg>\n"
    }
}

/// What a page needs to read values at a pointer.
fn data(Plot { area, x, y }: Plot) -> String {
    let Area { left, top, width, height } = area;
    let [left, top, width, height] = [left, top, width, height].map(number);
    let axis = |ReadableAxis { kind, from, to, unit }| format!("{kind} {from} {to} {unit}");
    let (x, y) = (axis(x), axis(y));
    format!(" data-area=\"{left} {top} {width} {height}\" data-x=\"{x}\" data-y=\"{y}\"")
}

fn element(shape: &Shape) -> String {
    let start = match &shape.form {
        Form::Area { spots, fill, edge } => {
            let edge = edge.map(stroked).unwrap_or_default();
            format!("<path d=\"{}Z\"{}{edge}", path(spots), filled(*fill))
        }
        Form::Lines { lines, stroke } => {
            let paths: String = lines.iter().map(|line| path(line)).collect();
            format!("<path d=\"{paths}\" fill=\"none\"{}", stroked(*stroke))
        }
        Form::Disc { centre: (x, y), radius, fill } => {
            let [x, y, radius] = [*x, *y, *radius].map(number);
            format!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"{}", filled(*fill))
        }
        Form::Text(text) => return text_element(text),
    };
    match &shape.tip {
        Some(tip) => {
            let name = start[1..].split(' ').next().unwrap_or_default();
            format!("{start}><title>{}</title></{name}>\n", escaped(tip))
        }
        None => start + "/>\n",
    }
}

fn text_element(text: &Text) -> String {
    let (x, y) = (number(text.at.0), number(text.at.1));
    let mut out = format!("<text x=\"{x}\" y=\"{y}\" font-size=\"{}\"", number(text.size));
    match text.anchor {
        Anchor::Start => {}
        Anchor::Middle => out += " text-anchor=\"middle\"",
        Anchor::End => out += " text-anchor=\"end\"",
    }
    if text.is_bold {
        out += " font-weight=\"bold\"";
    }
    if text.turned != 0.0 {
        // Writing to a String does not fail.
        let _ = write!(out, " transform=\"rotate({} {x} {y})\"", number(text.turned));
    }
    format!("{out} fill=\"{}\">{}</text>\n", text.colour.hex(), escaped(&text.text))
}

fn path(spots: &[Spot]) -> String {
    let mut out = String::new();
    for (index, (x, y)) in spots.iter().enumerate() {
        let letter = if index == 0 { 'M' } else { 'L' };
        let _ = write!(out, "{letter}{} {}", number(*x), number(*y));
    }
    out
}

fn filled(fill: Fill) -> String {
    let opacity = opacity("fill", fill.opacity);
    format!(" fill=\"{}\"{opacity}", fill.colour.hex())
}

fn stroked(stroke: Stroke) -> String {
    let opacity = opacity("stroke", stroke.opacity);
    let width = number(stroke.width);
    format!(
        " stroke=\"{}\" stroke-width=\"{width}\" stroke-linejoin=\"round\"{opacity}",
        stroke.colour.hex()
    )
}

fn opacity(of: &str, value: f64) -> String {
    if value < 1.0 { format!(" {of}-opacity=\"{}\"", number(value)) } else { String::new() }
}

/// A number with a precision of a hundredth of a pixel.
fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.into() }
}

/// Escaped text. Characters that XML cannot hold are replaced.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        match letter {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '\t' | '\n' | '\r' => out.push(' '),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colour::INK;
    use crate::scene::rectangle;

    #[test]
    fn a_document_turns_dark_by_itself_and_an_element_leaves_it_to_the_page() {
        let picture = Picture::new(10.0, 10.0, "a \"title\"");
        let (document, element) = (picture.svg(), picture.element());
        assert!(
            document.contains("prefers-color-scheme:dark") && document.contains("width=\"10\"")
        );
        assert!(!element.contains("<style>") && !element.contains(" height=\"10\""));
        let document = roxmltree::Document::parse(&element).unwrap();
        assert_eq!(document.root_element().attribute("aria-label"), Some("a \"title\""));
    }

    #[test]
    fn whatever_is_written_it_is_xml() {
        let words = "<script>&\"'\u{0}\u{7}\u{1b}\u{ffff}\n]]>";
        let mut picture = Picture::new(100.0, 50.0, words);
        picture.text("label", Text::new(words, (1.0, 2.0), 10.0, INK).turned(-90.0).bold());
        let area = Form::Area {
            spots: rectangle(0.0, 0.0, 1.0 / 3.0, -0.001),
            fill: Fill { colour: INK, opacity: 0.25 },
            edge: Some(Stroke::new(INK, 1.0)),
        };
        picture.push_with_tip("cell", area, words.into());
        let text = picture.svg();
        let document = roxmltree::Document::parse(&text).unwrap();
        let words: Vec<_> = document.descendants().filter(|n| n.has_tag_name("text")).collect();
        assert!(words[0].text().unwrap().starts_with("<script>&\"'\u{fffd}"));
        assert!(text.contains("M0 0L0.33 0L0.33 0L0 0Z"), "{text}");
        let tips = document.descendants().filter(|n| n.has_tag_name("title")).count();
        assert_eq!(tips, 2, "of the picture and of the cell");
    }
}
