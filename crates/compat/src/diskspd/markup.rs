//! XML: a writer of elements, each on a line of its own, and a reader of what profiles need of it
//! (elements, attributes, text, references, comments, CDATA; a DOCTYPE is refused).

use std::fmt::{Display, Write};

/// Elements nested deeper are no profile.
const DEPTH_MAX: usize = 64;

/// Writes elements, two blanks a level.
#[derive(Default)]
pub(super) struct Writer {
    out: String,
    open: Vec<String>,
}

impl Writer {
    /// Begins an element with attributes, written as they stand in front of the bracket.
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

    /// Ends the element begun last.
    pub fn end(&mut self) {
        if let Some(name) = self.open.pop() {
            self.indent();
            let _ = writeln!(self.out, "</{name}>");
        }
    }

    /// What was written, without the last end of line.
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
            // No document may hold these, not even as references.
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
    /// Its own text, blanks at both ends taken off.
    pub text: String,
    pub children: Vec<Element>,
    /// Line it begins on.
    pub line: usize,
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

/// Reads a document; its root element.
///
/// # Errors
/// The line and what is wrong there.
pub(super) fn read(text: &str) -> Result<Element, String> {
    let mut reader = Reader { text: text.trim_start_matches('\u{feff}'), at: 0 };
    let mut open: Vec<Element> = Vec::new();
    loop {
        let (before, piece) = reader.piece()?;
        match open.last_mut() {
            Some(element) => element.text += &before,
            None if before.trim().is_empty() => {}
            None => return Err(reader.wrong("text outside of any element")),
        }
        let closed = match piece {
            Piece::Open(_) if open.len() >= DEPTH_MAX => {
                return Err(reader.wrong("elements are nested too deep"));
            }
            Piece::Open(element) => {
                open.push(element);
                continue;
            }
            Piece::Empty(element) => element,
            Piece::Text(text) => {
                if let Some(element) = open.last_mut() {
                    element.text += &text;
                }
                continue;
            }
            Piece::Close(name) => match open.pop() {
                Some(element) if element.name == name => element,
                Some(element) => {
                    return Err(
                        reader.wrong(&format!("</{name}> where <{}> is open", element.name))
                    );
                }
                None => return Err(reader.wrong(&format!("</{name}> where nothing is open"))),
            },
            Piece::End => return Err(reader.wrong("the document ends within an element")),
        };
        let closed = Element { text: closed.text.trim().into(), ..closed };
        match open.last_mut() {
            Some(parent) => parent.children.push(closed),
            None => return Ok(closed),
        }
    }
}

enum Piece {
    Open(Element),
    Empty(Element),
    Close(String),
    /// Of a CDATA section; empty for comments and instructions.
    Text(String),
    End,
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn line(&self) -> usize {
        self.text[..self.at].matches('\n').count() + 1
    }

    fn wrong(&self, what: &str) -> String {
        format!("line {}: {what}", self.line())
    }

    /// Text, references resolved, and the piece behind it.
    fn piece(&mut self) -> Result<(String, Piece), String> {
        let length = self.rest().find('<').unwrap_or(self.rest().len());
        let before = self.resolved(&self.rest()[..length])?;
        self.at += length;
        let piece = if self.rest().is_empty() {
            Piece::End
        } else if self.rest().starts_with("<!--") {
            self.past("-->", 4)?;
            Piece::Text(String::new())
        } else if self.rest().starts_with("<![CDATA[") {
            Piece::Text(self.past("]]>", 9)?)
        } else if self.rest().starts_with("<?") {
            self.past("?>", 2)?;
            Piece::Text(String::new())
        } else if self.rest().starts_with("<!") {
            return Err(self.wrong("a DOCTYPE has no place in a profile; take it out"));
        } else {
            self.tag()?
        };
        Ok((before, piece))
    }

    /// What stands up to `end`, from `skip` bytes on; goes behind it.
    fn past(&mut self, end: &str, skip: usize) -> Result<String, String> {
        let rest = &self.rest()[skip..];
        let length = rest.find(end).ok_or_else(|| self.wrong(&format!("no {end} to the end")))?;
        let inside = rest[..length].to_owned();
        self.at += skip + length + end.len();
        Ok(inside)
    }

    /// A tag. Quotes may hold brackets.
    fn tag(&mut self) -> Result<Piece, String> {
        let line = self.line();
        let mut quote = None;
        let end = self.rest().char_indices().find(|(_, letter)| match (quote, *letter) {
            (None, '>') => true,
            (None, '"' | '\'') => {
                quote = Some(*letter);
                false
            }
            (Some(open), letter) if open == letter => {
                quote = None;
                false
            }
            _ => false,
        });
        let end = end.ok_or_else(|| self.wrong("a tag does not end"))?.0;
        let inside = self.rest()[1..end].to_owned();
        let piece = match (inside.strip_prefix('/'), inside.strip_suffix('/')) {
            (Some(name), _) => Piece::Close(name.trim().into()),
            (None, Some(inside)) => Piece::Empty(self.element(inside, line)?),
            (None, None) => Piece::Open(self.element(&inside, line)?),
        };
        self.at += end + 1;
        Ok(piece)
    }

    fn element(&self, inside: &str, line: usize) -> Result<Element, String> {
        let end = inside.find(char::is_whitespace).unwrap_or(inside.len());
        let (name, mut rest) = inside.split_at(end);
        let named = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
        if !named || name.contains(['=', '"', '\'', '/', '<']) {
            return Err(self.wrong(&format!("'<{name}' is no element")));
        }
        let mut attributes = Vec::new();
        while !rest.trim_start().is_empty() {
            let wrong = || self.wrong(&format!("<{name}>: an attribute is name=\"value\""));
            let (key, behind) = rest.trim_start().split_once('=').ok_or_else(wrong)?;
            let behind = behind.trim_start();
            let quote =
                behind.chars().next().filter(|q| matches!(q, '"' | '\'')).ok_or_else(wrong)?;
            let (value, after) = behind[1..].split_once(quote).ok_or_else(wrong)?;
            attributes.push((key.trim().to_owned(), self.resolved(value)?));
            rest = after;
        }
        Ok(Element { name: name.into(), attributes, line, ..Element::default() })
    }

    /// Text with its references replaced by what they stand for.
    fn resolved(&self, text: &str) -> Result<String, String> {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once('&') {
            out += before;
            let (name, after) = behind
                .split_once(';')
                .ok_or_else(|| self.wrong("'&' stands alone; write &amp;"))?;
            out.push(referred(name).ok_or_else(|| self.wrong(&format!("&{name}; is not known")))?);
            rest = after;
        }
        Ok(out + rest)
    }
}

/// The character a reference stands for.
fn referred(name: &str) -> Option<char> {
    match name {
        "amp" => return Some('&'),
        "lt" => return Some('<'),
        "gt" => return Some('>'),
        "quot" => return Some('"'),
        "apos" => return Some('\''),
        _ => {}
    }
    let number = name.strip_prefix('#')?;
    let code = match number.strip_prefix('x') {
        Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16).ok()?,
        None => number.parse().ok()?,
    };
    char::from_u32(code)
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
            ("", "ends within"),
            ("text", "outside"),
            ("<a>\n<b></a>", "line 2: </a> where <b> is open"),
            ("</a>", "nothing is open"),
            ("<a", "does not end"),
            ("<a>&x;</a>", "&x; is not known"),
            ("<a>a & b</a>", "&amp;"),
            ("<a b=c/>", "name=\"value\""),
            ("<!DOCTYPE a>", "DOCTYPE"),
            ("<!-- ", "no -->"),
            ("<a>", "ends within"),
            ("< a/>", "no element"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
        assert!(read(&"<a>".repeat(100_000)).unwrap_err().contains("too deep"));
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(text in "[<>/a&;='\" !\\[\\]CDAT#x?é-]{0,60}") {
            let _ = read(&text);
        }
    }
}
