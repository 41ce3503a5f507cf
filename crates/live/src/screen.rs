//! The state of the view of a machine, and its keys.

use crate::cursor::Cursor;
use crate::{DiskHistory, Key, Rates, Stack};

/// The first line of the view.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Title {
    /// "fathom watch".
    pub program: String,
    /// "/srv on ext4", "all disks of HOST".
    pub what: String,
    /// "every 1 s", "replay of FILE".
    pub pace: String,
}

/// The action that a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Nothing.
    Nothing,
    /// Draw.
    Draw,
    /// Clear and draw.
    Redraw,
    /// Restore the terminal and stop the process until it is continued.
    Suspend,
    /// Quit.
    Quit,
}

/// The state of the view of a machine.
#[derive(Clone, Debug, Default)]
pub struct Screen {
    pub(crate) title: Title,
    /// The time shown.
    pub(crate) clock: String,
    pub(crate) stack: Stack,
    pub(crate) rates: Option<Rates>,
    pub(crate) history: DiskHistory,
    /// Intervals since the view was paused.
    pub(crate) behind: usize,
    pub(crate) paused: bool,
    pub(crate) help: bool,
    /// The selected device.
    pub(crate) cursor: Cursor,
    pub(crate) note: Option<String>,
}

impl Screen {
    /// A view without figures yet.
    pub fn new(title: Title) -> Screen {
        Screen { title, ..Screen::default() }
    }

    /// Changes the first line.
    pub fn set_title(&mut self, title: Title) {
        self.title = title;
    }

    /// Whether the view is paused.
    pub fn is_paused(&self) -> bool {
        self.paused
    }

    /// Shows a note in the last line.
    pub fn set_note(&mut self, text: String) {
        self.note = Some(text);
    }

    /// Changes the devices. The selection stays on its device.
    pub fn set_stack(&mut self, stack: Stack) {
        if stack == self.stack {
            return;
        }
        let selected = self.stack.rows.get(self.cursor.selected).map(|row| &row.name);
        let at = selected.and_then(|name| stack.rows.iter().position(|row| row.name == *name));
        self.cursor.selected =
            at.unwrap_or(self.cursor.selected.min(stack.rows.len().saturating_sub(1)));
        self.stack = stack;
    }

    /// Adds an interval; `clock` is the time at its end.
    pub fn add_interval(&mut self, rates: Rates, clock: &str) {
        self.history.push(&rates);
        if self.paused {
            self.behind += 1;
            return;
        }
        self.rates = Some(rates);
        self.clock = clock.to_owned();
    }

    /// Handles a key.
    pub fn press(&mut self, key: Key) -> Action {
        let last = self.stack.rows.len().saturating_sub(1);
        match key {
            Key::Char('q') | Key::Control('c') => return Action::Quit,
            Key::Escape if self.help => self.help = false,
            Key::Escape => return Action::Quit,
            Key::Control('z') => return Action::Suspend,
            Key::Control('l') => return Action::Redraw,
            Key::Char('?' | 'h') => self.help = !self.help,
            Key::Char('p' | ' ') => {
                self.paused = !self.paused;
                self.behind = 0;
            }
            key if self.cursor.press(key, last) => {}
            _ => return Action::Nothing,
        }
        Action::Draw
    }

    /// Scrolls so that the selected row is visible.
    pub(crate) fn scroll_to(&mut self, page: usize) {
        self.cursor.scroll_to(self.cursor.selected, page, self.stack.rows.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Row;

    fn screen(rows: usize) -> Screen {
        let row = |at: usize| Row { name: format!("sd{at}"), ..Row::default() };
        let mut screen = Screen::new(Title::default());
        screen.set_stack(Stack { rows: (0..rows).map(row).collect() });
        screen
    }

    #[test]
    fn keys_end_it_stop_it_and_open_its_help() {
        let mut screen = screen(3);
        for key in [Key::Char('q'), Key::Control('c'), Key::Escape] {
            assert_eq!(screen.press(key), Action::Quit);
        }
        assert_eq!(screen.press(Key::Control('z')), Action::Suspend);
        assert_eq!(screen.press(Key::Char('x')), Action::Nothing);
        assert_eq!((screen.press(Key::Char('?')), screen.help), (Action::Draw, true));
        assert_eq!((screen.press(Key::Escape), screen.help), (Action::Draw, false));
    }

    #[test]
    fn a_paused_view_keeps_its_figures_while_intervals_pass() {
        let mut screen = screen(1);
        let rates = |seconds| Rates { seconds, ..Rates::default() };
        screen.add_interval(rates(1.0), "a");
        screen.press(Key::Char('p'));
        screen.add_interval(rates(2.0), "b");
        assert_eq!((screen.rates.as_ref().unwrap().seconds, screen.clock.as_str()), (1.0, "a"));
        assert_eq!(screen.history.span(9, screen.behind), 1.0);
        screen.press(Key::Char('p'));
        screen.add_interval(rates(3.0), "c");
        assert_eq!((screen.rates.as_ref().unwrap().seconds, screen.clock.as_str()), (3.0, "c"));
        assert_eq!(screen.history.span(9, screen.behind), 6.0);
    }

    #[test]
    fn the_selected_row_stays_in_sight_whatever_the_keys() {
        let mut screen = screen(10);
        let mut at = |key: Key| {
            screen.press(key);
            screen.scroll_to(3);
            (screen.cursor.selected, screen.cursor.first)
        };
        assert_eq!(at(Key::Up), (0, 0));
        assert_eq!(at(Key::PageDown), (3, 1));
        assert_eq!(at(Key::Up), (2, 1));
        assert_eq!(at(Key::Up), (1, 1));
        assert_eq!(at(Key::Char('k')), (0, 0));
        assert_eq!(at(Key::End), (9, 7));
        assert_eq!(at(Key::Down), (9, 7));
        assert_eq!(at(Key::Home), (0, 0));
        screen.scroll_to(0);
        screen.scroll_to(100);
        assert_eq!(screen.cursor.first, 0);
    }

    #[test]
    fn the_selection_follows_its_device() {
        let mut screen = screen(4);
        screen.press(Key::End);
        let rows = screen.stack.rows[2..].to_vec();
        screen.set_stack(Stack { rows });
        assert_eq!(screen.cursor.selected, 1);
        screen.set_stack(Stack::default());
        assert_eq!(screen.cursor.selected, 0);
        assert_eq!(screen.press(Key::Down), Action::Draw);
        screen.scroll_to(5);
    }
}
