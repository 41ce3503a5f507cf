//! The selected row of a table, and the rows that are visible.

use crate::Key;

/// The selected and the visible rows of a table.
#[derive(Clone, Debug)]
pub(crate) struct Cursor {
    /// The selected row.
    pub selected: usize,
    /// The first visible row.
    pub first: usize,
    /// Number of visible rows.
    page: usize,
}

impl Default for Cursor {
    fn default() -> Cursor {
        Cursor { selected: 0, first: 0, page: 1 }
    }
}

impl Cursor {
    /// Handles a key; `last` is the last row. Returns whether the key moves the selection.
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

    /// Scrolls so that row `at` is among the `page` visible ones of `rows`.
    pub fn scroll_to(&mut self, at: usize, page: usize, rows: usize) {
        self.page = page.max(1);
        let lowest = at.saturating_sub(self.page - 1);
        self.first = self.first.clamp(lowest, at).min(rows.saturating_sub(self.page));
    }
}
