//! The style of text for a terminal: width and colours.

use record::Severity;

/// Width and colours of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Whether text has colours (on a terminal, without NO_COLOR).
    pub colour: bool,
    /// The most characters in a line.
    pub width: usize,
}

impl Default for Style {
    /// No colours, 80 characters.
    fn default() -> Self {
        Style { colour: false, width: 80 }
    }
}

impl Style {
    /// Bold text.
    pub fn bold(&self, text: &str) -> String {
        self.escaped("1", text)
    }

    /// Dimmed text.
    pub fn dim(&self, text: &str) -> String {
        self.escaped("2", text)
    }

    /// Text in the colour of a severity: cyan, yellow, red.
    pub fn severity(&self, severity: Severity, text: &str) -> String {
        self.escaped(colour(severity), text)
    }

    /// Text in lines of at most the width, each indented by `indent` blanks, without a newline at the
    /// end. Words longer than a line are broken. Control characters are shown as "?".
    pub fn wrap(&self, text: &str, indent: usize) -> String {
        let room = self.width.saturating_sub(indent).max(20);
        let lines = self.lines(&[Word::plain(text)], room).into_iter();
        let indented = lines.filter(|line| !line.is_empty()).map(|line| " ".repeat(indent) + &line);
        indented.collect::<Vec<_>>().join("\n")
    }

    /// Wrapped text with a newline at the end.
    pub fn paragraph(&self, text: &str, indent: usize) -> String {
        self.wrap(text, indent) + "\n"
    }

    /// The heading of a part of a report, after an empty line.
    pub fn heading(&self, text: &str) -> String {
        format!("\n{}\n", self.bold(text))
    }

    /// Lines of at most `width` characters, broken between words, and within one only where it is longer
    /// than a line.
    pub(crate) fn lines(&self, words: &[Word], width: usize) -> Vec<String> {
        let (mut lines, mut line, mut length) = (Vec::new(), String::new(), 0);
        for part in words {
            // Words of one style on a line share one escape sequence.
            let mut alike = String::new();
            for word in part.text.split_whitespace() {
                let letters: Vec<char> = printable(word).chars().collect();
                for piece in letters.chunks(width) {
                    if length > 0 && length + 1 + piece.len() > width {
                        line += &self.word(part, &std::mem::take(&mut alike));
                        lines.push(std::mem::take(&mut line));
                        length = 0;
                    }
                    if length > 0 {
                        if alike.is_empty() { &mut line } else { &mut alike }.push(' ');
                        length += 1;
                    }
                    alike.extend(piece);
                    length += piece.len();
                }
            }
            line += &self.word(part, &alike);
        }
        lines.push(line);
        lines
    }

    fn word(&self, word: &Word, text: &str) -> String {
        word.code.map_or_else(|| text.to_owned(), |code| self.escaped(code, text))
    }

    /// Select Graphic Rendition of ECMA-48.
    fn escaped(&self, code: &str, text: &str) -> String {
        match self.colour && !text.is_empty() {
            true => format!("\x1b[{code}m{text}\x1b[0m"),
            false => text.to_owned(),
        }
    }
}

/// The code of the colour of a severity.
fn colour(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "36",
        Severity::Warning => "33",
        Severity::Error => "31",
    }
}

/// Words in one style.
pub(crate) struct Word {
    pub(crate) text: String,
    code: Option<&'static str>,
}

impl Word {
    pub(crate) fn plain(text: &str) -> Word {
        Word { text: text.to_owned(), code: None }
    }

    pub(crate) fn bold(text: &str) -> Word {
        Word { code: Some("1"), ..Word::plain(text) }
    }

    pub(crate) fn dim(text: &str) -> Word {
        Word { code: Some("2"), ..Word::plain(text) }
    }

    pub(crate) fn marked(severity: Severity, text: &str) -> Word {
        Word { code: Some(colour(severity)), ..Word::plain(text) }
    }
}

/// Text without control characters, which a terminal would obey: they are shown as "?".
pub fn printable(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { '?' } else { letter }).collect()
}

/// Text of at most `width` characters; "…" replaces the end of a longer one.
pub fn shorten(text: &str, width: usize) -> String {
    match text.chars().count() <= width {
        true => text.to_owned(),
        false if width == 0 => String::new(),
        false => text.chars().take(width - 1).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_plain_unless_colours_are_asked_for() {
        let plain = Style::default();
        assert_eq!(plain.bold("a") + &plain.severity(Severity::Error, "b"), "ab");
        let coloured = Style { colour: true, ..plain };
        assert_eq!(coloured.severity(Severity::Error, "b"), "\x1b[31mb\x1b[0m");
        assert_eq!(coloured.dim("a"), "\x1b[2ma\x1b[0m");
        assert_eq!(coloured.bold(""), "");
    }

    #[test]
    fn no_line_is_wider_than_the_width() {
        let style = Style { width: 30, ..Style::default() };
        let wrapped = style.wrap("some words that go on, a_very_long_word_without_a_break end", 4);
        assert_eq!(
            wrapped,
            "    some words that go on,\n    a_very_long_word_without_a\n    _break end"
        );
        assert_eq!(style.wrap("a\x1b[31m b\nc", 2), "  a?[31m b c");
        assert_eq!(style.wrap("", 2), "");
    }
}
