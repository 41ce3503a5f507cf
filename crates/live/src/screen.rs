//! What is on the terminal, and what keys do to it.

use crate::cursor::Cursor;
use crate::{DiskHistory, Rates, Stack};

/// What is watched, for the first line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Title {
    /// "fathom watch".
    pub program: String,
    /// "/srv on ext4", "all disks of HOST".
    pub what: String,
    /// "every 1 s", "replay of FILE".
    pub pace: String,
}

/// A key, as far as it means something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// One that writes.
    Char(char),
    /// Arrow up.
    Up,
    /// Arrow down.
    Down,
    /// A page up.
    PageUp,
    /// A page down.
    PageDown,
    /// To the first row.
    Home,
    /// To the last row.
    End,
    /// Escape.
    Escape,
    /// Ctrl and a letter.
    Control(char),
}

/// What is to be done after a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Nothing.
    Nothing,
    /// Draw the picture.
    Draw,
    /// Draw the picture from nothing.
    Redraw,
    /// Put the terminal back and stop until continued.
    Suspend,
    /// End.
    Quit,
}

/// What is on the terminal.
#[derive(Clone, Debug, Default)]
pub struct Screen {
    pub(crate) title: Title,
    /// The moment shown, and whether the picture stands still.
    pub(crate) clock: String,
    pub(crate) stack: Stack,
    pub(crate) rates: Option<Rates>,
    pub(crate) history: DiskHistory,
    /// Intervals that passed since the picture was told to stand still.
    pub(crate) behind: usize,
    pub(crate) paused: bool,
    pub(crate) help: bool,
    /// Where in the table of devices keys are.
    pub(crate) cursor: Cursor,
    pub(crate) note: Option<String>,
}

impl Screen {
    /// Without figures yet.
    pub fn new(title: Title) -> Screen {
        Screen { title, ..Screen::default() }
    }

    /// What is watched from now on.
    pub fn set_title(&mut self, title: Title) {
        self.title = title;
    }

    /// Whether the picture was told to stand still.
    pub fn is_paused(&self) -> bool {
        self.paused
    }

    /// Something to tell in the last line.
    pub fn set_note(&mut self, text: String) {
        self.note = Some(text);
    }

    /// Other devices are watched from now on. The row that keys move stays on its device.
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

    /// An interval has passed; `clock` is the time at its end.
    pub fn add_interval(&mut self, rates: Rates, clock: &str) {
        self.history.push(&rates);
        if self.paused {
            self.behind += 1;
            return;
        }
        self.rates = Some(rates);
        self.clock = clock.to_owned();
    }

    /// A key was pressed.
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

    /// Moves the rows shown so that the one that keys move is among them.
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
    fn a_paused_picture_stands_still_while_time_goes_on() {
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
