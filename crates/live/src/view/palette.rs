//! Colours by meaning. Without colours there are bold and dim.

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};

/// The styles of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Palette {
    /// Whether there are colours.
    pub colour: bool,
}

impl Palette {
    fn coloured(self, colour: Color) -> Style {
        if self.colour { Style::new().fg(colour) } else { Style::new() }
    }

    /// Reads.
    pub(crate) fn read(self) -> Style {
        self.coloured(Color::Cyan)
    }

    /// Writes.
    pub(crate) fn write(self) -> Style {
        self.coloured(Color::Magenta)
    }

    /// A share in percent, red when it is high.
    pub(crate) fn load(self, percent: f64) -> Style {
        match percent {
            p if p >= 90.0 => self.coloured(Color::Red),
            p if p >= 60.0 => self.coloured(Color::Yellow),
            _ => self.coloured(Color::Green),
        }
    }

    /// User time.
    pub(crate) fn user(self) -> Style {
        self.coloured(Color::Green)
    }

    /// Kernel time.
    pub(crate) fn system(self) -> Style {
        self.coloured(Color::Blue)
    }

    /// Interrupts.
    pub(crate) fn interrupt(self) -> Style {
        self.coloured(Color::Magenta)
    }

    /// Waiting for I/O.
    pub(crate) fn wait(self) -> Style {
        self.coloured(Color::Yellow)
    }

    /// Stolen time and errors.
    pub(crate) fn steal(self) -> Style {
        self.coloured(Color::Red)
    }

    /// Less important text.
    pub(crate) fn dimmed(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    pub(crate) fn dim(self, text: impl Into<String>) -> Span<'static> {
        Span::styled(text.into(), self.dimmed())
    }

    pub(crate) fn bold(self, text: impl Into<String>) -> Span<'static> {
        Span::styled(text.into(), Style::new().add_modifier(Modifier::BOLD))
    }

    /// Warnings.
    pub(crate) fn warn(self, text: impl Into<String>) -> Span<'static> {
        Span::styled(text.into(), self.coloured(Color::Yellow).add_modifier(Modifier::BOLD))
    }

    /// A heading with a rule to the right edge and a colour key in it.
    pub(crate) fn heading(
        self,
        text: &str,
        key: Vec<Span<'static>>,
        width: usize,
    ) -> Line<'static> {
        let taken: usize = key.iter().map(Span::width).sum::<usize>() + text.chars().count() + 4;
        let mut spans = vec![self.dim("─ "), self.bold(text.to_owned()), Span::raw(" ")];
        let rule = width.saturating_sub(taken);
        if rule == 0 || key.is_empty() {
            let rule = width.saturating_sub(text.chars().count() + 3);
            spans.push(self.dim("─".repeat(rule)));
            return spans.into();
        }
        spans.push(self.dim("─".repeat(rule)));
        spans.push(Span::raw(" "));
        spans.extend(key);
        spans.into()
    }
}
