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
        let colour = match severity {
            Severity::Note => "36",
            Severity::Warning => "33",
            Severity::Error => "31",
        };
        self.escaped(colour, text)
    }

    /// Text in lines of at most the width, each indented by `indent` blanks, without a newline at the
    /// end. Words longer than a line are broken. Control characters are shown as "?".
    pub fn wrap(&self, text: &str, indent: usize) -> String {
        let room = self.width.saturating_sub(indent).max(20);
        let mut lines: Vec<String> = Vec::new();
        let mut length = room;
        for word in text.split_whitespace() {
            let letters: Vec<char> = printable(word).chars().collect();
            for piece in letters.chunks(room) {
                match lines.last_mut().filter(|_| length + 1 + piece.len() <= room) {
                    Some(line) => {
                        line.push(' ');
                        line.extend(piece);
                        length += 1 + piece.len();
                    }
                    None => {
                        lines.push(" ".repeat(indent) + &piece.iter().collect::<String>());
                        length = piece.len();
                    }
                }
            }
        }
        lines.join("\n")
    }

    /// Wrapped text with a newline at the end.
    pub fn paragraph(&self, text: &str, indent: usize) -> String {
        self.wrap(text, indent) + "\n"
    }

    /// The heading of a part of a report, after an empty line.
    pub fn heading(&self, text: &str) -> String {
        format!("\n{}\n", self.bold(text))
    }

    /// Select Graphic Rendition of ECMA-48.
    fn escaped(&self, code: &str, text: &str) -> String {
        match self.colour && !text.is_empty() {
            true => format!("\x1b[{code}m{text}\x1b[0m"),
            false => text.to_owned(),
        }
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
