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
}
