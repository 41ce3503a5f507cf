//! Parses the answers of stores: errors and their explanations, lists, names of uploads.

mod failure;
mod listing;

pub use failure::{Hints, failure, hidden_failure};
pub use listing::{Entry, Listing, upload};

use roxmltree::Node;

/// The text of the first element below `node` with this name, in any namespace and any case.
fn text_of<'a>(node: Node<'a, '_>, name: &str) -> Option<&'a str> {
    let mut elements = node.descendants().filter(Node::is_element);
    let element = elements.find(|node| node.tag_name().name().eq_ignore_ascii_case(name))?;
    Some(element.text().unwrap_or_default().trim())
}

/// `text` on one line, without control characters, and not longer than a line of a report.
fn shortened(text: &str) -> String {
    const CHARS_MAX: usize = 240;
    let mut line = String::new();
    let words = text.split(|char: char| char.is_whitespace() || char.is_control());
    for word in words.filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > 8 * CHARS_MAX {
            break;
        }
    }
    match line.char_indices().nth(CHARS_MAX) {
        Some((at, _)) => line[..at].trim_end().to_owned() + "…",
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_and_lines_joined() {
        assert_eq!(shortened("  a\r\n\tb\u{7}c  "), "a b c");
        let long = shortened(&"é".repeat(100_000));
        assert_eq!(long.chars().count(), 241);
        assert!(long.ends_with('…'));
    }
}
