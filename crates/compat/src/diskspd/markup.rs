//! XML: a writer with one element per line, and the elements of a document.

use roxmltree::{Document, Node};
use std::fmt::{Display, Write};

/// Deepest nesting of elements.
const DEPTH_MAX: usize = 64;

/// Writes elements, indented by two blanks per level.
#[derive(Default)]
pub(super) struct Writer {
    out: String,
    open: Vec<String>,
}

impl Writer {
    /// Begins an element with attributes.
    pub fn begin(&mut self, name: &str, attributes: &[(&str, &dyn Display)]) {
        self.tag(name, attributes, ">\n");
        self.open.push(name.into());
    }

    /// An element without content.
    pub fn empty(&mut self, name: &str, attributes: &[(&str, &dyn Display)]) {
        self.tag(name, attributes, "/>\n");
    }

    /// An element with text.
    pub fn text(&mut self, name: &str, value: impl Display) {
        self.text_with(name, &[], value);
    }

    /// An element with attributes and text.
    pub fn text_with(
        &mut self,
        name: &str,
        attributes: &[(&str, &dyn Display)],
        value: impl Display,
    ) {
        self.tag(name, attributes, ">");
        self.out += &escaped(&value.to_string());
        // Writing to a String cannot fail.
        let _ = writeln!(self.out, "</{name}>");
    }

    /// Ends the innermost open element.
    pub fn end(&mut self) {
        if let Some(name) = self.open.pop() {
            self.indent();
            let _ = writeln!(self.out, "</{name}>");
        }
    }

    /// The document, without the last line end.
    pub fn finish(mut self) -> String {
        while !self.open.is_empty() {
            self.end();
        }
        self.out.truncate(self.out.trim_end().len());
        self.out
    }

    fn indent(&mut self) {
        self.out += &"  ".repeat(self.open.len());
    }

    fn tag(&mut self, name: &str, attributes: &[(&str, &dyn Display)], end: &str) {
        self.indent();
        let _ = write!(self.out, "<{name}");
        for (attribute, value) in attributes {
            let _ = write!(self.out, " {attribute}=\"{}\"", escaped(&value.to_string()));
        }
        self.out += end;
    }
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            // XML does not allow these characters, not even as references.
            '\0'..='\x08' | '\x0b' | '\x0c' | '\x0e'..='\x1f' => out.push('?'),
            letter => out.push(letter),
        }
    }
    out
}

/// An element.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Element {
    pub name: String,
    pub attributes: Vec<(String, String)>,
    /// Its own text without surrounding blanks.
    pub text: String,
    pub children: Vec<Element>,
    /// Its first line.
    pub line: u32,
}

impl Element {
    /// The first child of this name.
    pub fn child(&self, name: &str) -> Option<&Element> {
        self.children.iter().find(|child| child.name == name)
    }

    /// All children of this name.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Element> {
        self.children.iter().filter(move |child| child.name == name)
    }

    /// An attribute's value.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// Parses a document. Returns its root element.
///
/// # Errors
/// The line, and what is wrong.
pub(super) fn read(text: &str) -> Result<Element, String> {
    let document =
        Document::parse(text.trim_start_matches('\u{feff}')).map_err(|error| match error {
            roxmltree::Error::DtdDetected => {
                "a DOCTYPE has no place in a profile; take it out".into()
            }
            error => format!("line {}: {error}", error.pos().row),
        })?;
    element(document.root_element(), 1)
}

/// Converts an element at this depth.
fn element(node: Node, depth: usize) -> Result<Element, String> {
    let line = node.document().text_pos_at(node.range().start).row;
    if depth > DEPTH_MAX {
        return Err(format!("line {line}: elements are nested too deep"));
    }
    let text: String =
        node.children().filter(Node::is_text).filter_map(|child| child.text()).collect();
    let attributes = node.attributes();
    let children = node.children().filter(Node::is_element);
    Ok(Element {
        name: node.tag_name().name().into(),
        attributes: attributes.map(|own| (own.name().into(), own.value().into())).collect(),
        text: text.trim().into(),
        children: children.map(|child| element(child, depth + 1)).collect::<Result<_, _>>()?,
        line,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_written_is_read_again() {
        let mut writer = Writer::default();
        writer.begin("Profile", &[("a", &"x\"<&>")]);
        writer.text("Path", "/mnt/a & b <c>");
        writer.empty("Group", &[("Mask", &"0xf"), ("n", &3)]);
        writer.end();
        let text = writer.finish();
        assert_eq!(
            text,
            "<Profile a=\"x&quot;&lt;&amp;&gt;\">\n  <Path>/mnt/a &amp; b &lt;c&gt;</Path>\n  \
             <Group Mask=\"0xf\" n=\"3\"/>\n</Profile>"
        );
        let root = read(&text).unwrap();
        assert_eq!(root.attribute("a"), Some("x\"<&>"));
        assert_eq!(root.child("Path").unwrap().text, "/mnt/a & b <c>");
        assert_eq!(root.child("Group").unwrap().attribute("n"), Some("3"));
        assert_eq!(root.child("Group").unwrap().line, 3);
    }

    #[test]
    fn declarations_comments_and_cdata_are_understood() {
        let text = "\u{feff}<?xml version='1.0'?>\n<!-- <a> -->\n<a b = '>'><!-- c --><![CDATA[<&]]> \
                    &#65;&#x42;</a>";
        let root = read(text).unwrap();
        assert_eq!((root.text.as_str(), root.attribute("b")), ("<& AB", Some(">")));
    }

    #[test]
    fn what_is_no_document_is_refused_with_its_line() {
        for (text, reason) in [
            ("", "line 1: "),
            ("text", "line 1: "),
            ("<a>\n<b></a>", "line 2: expected 'b' tag, not 'a'"),
            ("</a>", "line 1: "),
            ("<a", "line 1: "),
            ("<a>\n&x;</a>", "line 2: "),
            ("<a>a & b</a>", "line 1: "),
            ("<a b=c/>", "line 1: "),
            ("<!DOCTYPE a><a/>", "DOCTYPE"),
            ("<!-- ", "line 1: "),
            ("<a>", "line 1: "),
            ("< a/>", "line 1: "),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
        assert!(read(&"<a>".repeat(100_000)).is_err());
        let nested = |levels| read(&("<a>".repeat(levels) + &"</a>".repeat(levels)));
        assert!(nested(DEPTH_MAX).is_ok());
        assert!(nested(DEPTH_MAX + 1).unwrap_err().contains("too deep"));
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(text in "[<>/a&;='\" !\\[\\]CDAT#x?é-]{0,60}") {
            let _ = read(&text);
        }
    }
}
