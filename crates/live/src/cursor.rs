//! The row that keys move in a table, and the rows that are shown.

use crate::Key;

/// Where in a table keys are.
#[derive(Clone, Debug)]
pub(crate) struct Cursor {
    /// Row that keys move.
    pub selected: usize,
    /// The first row shown.
    pub first: usize,
    /// Rows that were shown last.
    page: usize,
}

impl Default for Cursor {
    fn default() -> Cursor {
        Cursor { selected: 0, first: 0, page: 1 }
    }
}

impl Cursor {
    /// A key was pressed where `last` is the last row; whether it is one that moves.
    pub fn press(&mut self, key: Key, last: usize) -> bool {
        self.selected = match key {
            Key::Up | Key::Char('k') => self.selected.saturating_sub(1),
            Key::Down | Key::Char('j') => (self.selected + 1).min(last),
            Key::PageUp => self.selected.saturating_sub(self.page),
            Key::PageDown => (self.selected + self.page).min(last),
            Key::Home | Key::Char('g') => 0,
            Key::End | Key::Char('G') => last,
            _ => return false,
        };
        true
    }

    /// Moves the rows shown, `page` of `rows`, so that row `at` is among them.
    pub fn scroll_to(&mut self, at: usize, page: usize, rows: usize) {
        self.page = page.max(1);
        let lowest = at.saturating_sub(self.page - 1);
        self.first = self.first.clamp(lowest, at).min(rows.saturating_sub(self.page));
    }
}
