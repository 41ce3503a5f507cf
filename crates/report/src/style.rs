//! How text for a terminal is dressed: its width, and colours where they are wanted.

use record::Severity;

/// How text is dressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Whether there are colours (on a terminal, without NO_COLOR).
    pub colour: bool,
    /// Characters a line may have.
    pub width: usize,
}

impl Default for Style {
    /// No colours, 80 characters.
    fn default() -> Self {
        Style { colour: false, width: 80 }
    }
}

impl Style {
    /// Text that stands out.
    pub fn bold(&self, text: &str) -> String {
        self.dressed("1", text)
    }

    /// Text that may be passed over.
    pub fn dim(&self, text: &str) -> String {
        self.dressed("2", text)
    }

    /// Text in the colour of a severity: cyan, yellow, red.
    pub fn severity(&self, severity: Severity, text: &str) -> String {
        let colour = match severity {
            Severity::Note => "36",
            Severity::Warning => "33",
            Severity::Error => "31",
        };
        self.dressed(colour, text)
    }

    /// Text in lines that begin with `indent` blanks and are not wider than the width, broken
    /// between words, and within one only where it is longer than a line. No end of line at the end.
    /// Characters that a terminal would obey are shown as "?".
    pub fn wrap(&self, text: &str, indent: usize) -> String {
        let room = self.width.saturating_sub(indent).max(20);
        let mut lines: Vec<String> = Vec::new();
        let mut length = room;
        for word in text.split_whitespace() {
            let letters: Vec<char> =
                word.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
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

    /// Select Graphic Rendition of ECMA-48.
    fn dressed(&self, code: &str, text: &str) -> String {
        match self.colour && !text.is_empty() {
            true => format!("\x1b[{code}m{text}\x1b[0m"),
            false => text.to_owned(),
        }
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
