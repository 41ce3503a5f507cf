//! What the tests of charts are made of.

use crate::{Axis, Field, Picture, Point, Quantity, Tick, Unit, Words};
use roxmltree::{Document, Node};

pub(crate) fn axis(label: &str, values: &[&str]) -> Axis {
    let tick = |text: &&str| Tick { text: (*text).into(), number: text.parse().ok() };
    Axis { label: label.into(), ticks: values.iter().map(tick).collect() }
}

pub(crate) fn words() -> Words {
    Words { title: "A title".into(), subtitle: "what was fixed".into(), source: "a file".into() }
}

pub(crate) fn quantity() -> Quantity {
    Quantity { name: "bandwidth".into(), unit: Unit::BytesPerSecond, more_is_better: true }
}

/// Figures that rise along both axes, in MiB/s, each with an interval of a tenth.
pub(crate) fn rising(name: &str, width: usize, height: usize, factor: f64) -> Field {
    let point = |x: usize, y: usize| {
        let value = ((x + 1) * (y + 2)) as f64 * 1048576.0 * factor;
        Point::Known { value, interval: Some((value * 0.95, value * 1.05)) }
    };
    let rows = (0..height).map(|y| (0..width).map(|x| point(x, y)).collect()).collect();
    Field { name: name.into(), rows }
}

/// The elements of a class, each with its name.
pub(crate) fn of_class<'a>(document: &'a Document, class: &str) -> Vec<Node<'a, 'a>> {
    let groups = document.descendants().filter(|node| node.attribute("class") == Some(class));
    groups.flat_map(|group| group.children().filter(Node::is_element).collect::<Vec<_>>()).collect()
}

/// All words of a picture.
pub(crate) fn texts(document: &Document) -> Vec<String> {
    let words = document.descendants().filter(|node| node.has_tag_name("text"));
    words.filter_map(|node| node.text().map(str::to_owned)).collect()
}

/// Fails unless all words and shapes lie within the picture.
pub(crate) fn assert_within(picture: &Picture) {
    use crate::scene::{Anchor, Form, Spot};
    let inside = |(x, y): Spot| {
        (-0.5..=picture.width + 0.5).contains(&x) && (-0.5..=picture.height + 0.5).contains(&y)
    };
    for shape in &picture.shapes {
        let spots: Vec<Spot> = match &shape.form {
            Form::Area { spots, .. } => spots.clone(),
            Form::Lines { lines, .. } => lines.concat(),
            Form::Disc { centre, .. } => vec![*centre],
            Form::Text(text) => {
                let width = crate::font::width(&text.text, text.size, text.is_bold);
                let start = match text.anchor {
                    Anchor::Start => 0.0,
                    Anchor::Middle => -width / 2.0,
                    Anchor::End => -width,
                };
                let (sine, cosine) = text.turned.to_radians().sin_cos();
                let at = |along: f64| (text.at.0 + along * cosine, text.at.1 + along * sine);
                vec![at(start), at(start + width)]
            }
        };
        assert!(spots.iter().all(|spot| inside(*spot)), "{}: {:?}", shape.class, shape.form);
    }
}

/// Fails if words of one class overlap.
pub(crate) fn assert_apart(picture: &Picture, class: &str) {
    use crate::scene::{Anchor, Form};
    let boxes: Vec<[f64; 4]> = picture
        .shapes
        .iter()
        .filter(|shape| shape.class == class)
        .filter_map(|shape| match &shape.form {
            Form::Text(text) if text.turned == 0.0 => {
                let width = crate::font::width(&text.text, text.size, text.is_bold);
                let left = match text.anchor {
                    Anchor::Start => text.at.0,
                    Anchor::Middle => text.at.0 - width / 2.0,
                    Anchor::End => text.at.0 - width,
                };
                Some([left, text.at.1 - text.size * 0.75, left + width, text.at.1])
            }
            _ => None,
        })
        .collect();
    for (index, one) in boxes.iter().enumerate() {
        for other in &boxes[..index] {
            let apart = one[2] <= other[0]
                || other[2] <= one[0]
                || one[3] <= other[1]
                || other[3] <= one[1];
            assert!(apart, "{class}: {one:?} {other:?}");
        }
    }
}
