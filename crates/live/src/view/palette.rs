//! Colours by meaning; without them bold and dim remain.

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};

/// How things are dressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Palette {
    /// Whether there are colours.
    pub colour: bool,
}

impl Palette {
    fn coloured(self, colour: Color) -> Style {
        if self.colour { Style::new().fg(colour) } else { Style::new() }
    }

    /// Of reads.
    pub(crate) fn read(self) -> Style {
        self.coloured(Color::Cyan)
    }

    /// Of writes.
    pub(crate) fn write(self) -> Style {
        self.coloured(Color::Magenta)
    }

    /// Of a share in percent that is bad when it is high.
    pub(crate) fn load(self, percent: f64) -> Style {
        match percent {
            p if p >= 90.0 => self.coloured(Color::Red),
            p if p >= 60.0 => self.coloured(Color::Yellow),
            _ => self.coloured(Color::Green),
        }
    }

    /// Of what programs do.
    pub(crate) fn user(self) -> Style {
        self.coloured(Color::Green)
    }

    /// Of what the kernel does.
    pub(crate) fn system(self) -> Style {
        self.coloured(Color::Blue)
    }

    /// Of interrupts.
    pub(crate) fn interrupt(self) -> Style {
        self.coloured(Color::Magenta)
    }

    /// Of waiting for I/O.
    pub(crate) fn wait(self) -> Style {
        self.coloured(Color::Yellow)
    }

    /// Of what is taken away.
    pub(crate) fn steal(self) -> Style {
        self.coloured(Color::Red)
    }

    /// What may be passed over.
    pub(crate) fn dimmed(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    pub(crate) fn dim(self, text: impl Into<String>) -> Span<'static> {
        Span::styled(text.into(), self.dimmed())
    }

    pub(crate) fn bold(self, text: impl Into<String>) -> Span<'static> {
        Span::styled(text.into(), Style::new().add_modifier(Modifier::BOLD))
    }

    /// What needs somebody's attention.
    pub(crate) fn warn(self, text: impl Into<String>) -> Span<'static> {
        Span::styled(text.into(), self.coloured(Color::Yellow).add_modifier(Modifier::BOLD))
    }

    /// A name with a line to the right edge, and a key to colours in it.
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
