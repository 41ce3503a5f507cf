//! The terminal: set up for drawing, and restored however the program ends.

use crate::{Key, Palette, Screen, draw, keys};
use ratatui::backend::{Backend, CrosstermBackend};
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::layout::Rect;
use ratatui::{Frame, TerminalOptions, Viewport};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Stdout};
use std::os::fd::{AsFd, BorrowedFd};
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Whether the terminal is set up, so that a panic restores it.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Buffer size, so that a picture is written in one piece.
const PICTURE: usize = 64 << 10;

/// Time to wait for the rest of a key. The Escape key has no rest.
const KEY: Duration = Duration::from_millis(50);

/// An event of the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A key was pressed.
    Key(Key),
    /// The size changed; the picture must be drawn again.
    Resized,
}

/// The terminal at standard output. Keys come from standard input, or from /dev/tty if that is not
/// a terminal.
///
/// The terminal is in raw mode and on the alternate screen. It is restored on drop and on a panic.
pub struct Terminal {
    inner: ratatui::Terminal<CrosstermBackend<BufWriter<Stdout>>>,
    palette: Palette,
    /// The source of keys if that is not standard input.
    keyboard: Option<File>,
    /// Keys that were read and not returned yet.
    keys: VecDeque<Key>,
    /// Rows and columns.
    size: Option<(u16, u16)>,
    /// Where pictures are drawn.
    area: Rect,
}

impl Terminal {
    /// Sets up the terminal.
    ///
    /// # Errors
    /// When there is no terminal, or it cannot be set up.
    pub fn open(palette: Palette) -> io::Result<Terminal> {
        static HOOK: std::sync::Once = std::sync::Once::new();
        HOOK.call_once(|| {
            let before = panic::take_hook();
            panic::set_hook(Box::new(move |about| {
                let _ = restore_terminal();
                before(about);
            }));
        });
        let keyboard = if io::stdin().is_terminal() { None } else { Some(File::open("/dev/tty")?) };
        prepare_terminal()?;
        let out = BufWriter::with_capacity(PICTURE, io::stdout());
        let area = area(size());
        let options = TerminalOptions { viewport: Viewport::Fixed(area) };
        match ratatui::Terminal::with_options(CrosstermBackend::new(out), options) {
            Ok(inner) => {
                let (keys, size) = (VecDeque::new(), size());
                Ok(Terminal { inner, palette, keyboard, keys, size, area })
            }
            Err(error) => {
                let _ = restore_terminal();
                Err(error)
            }
        }
    }

    /// Draws the view of a machine.
    pub fn draw(&mut self, screen: &mut Screen) -> io::Result<()> {
        self.draw_with(|frame, palette| draw(frame, screen, palette))
    }

    /// Draws with a function.
    pub fn draw_with(&mut self, draw: impl FnOnce(&mut Frame<'_>, Palette)) -> io::Result<()> {
        let (palette, area) = (self.palette, area(size()));
        if std::mem::replace(&mut self.area, area) != area {
            self.inner.resize(area)?;
        }
        self.inner.draw(|frame| draw(frame, palette)).map(drop)
    }

    /// Restores the terminal if it is set up, for a program that exits at once.
    pub fn restore() {
        // An error could not be reported.
        let _ = restore_terminal();
    }

    /// Clears the terminal, so that the next picture is drawn completely.
    pub fn clear(&mut self) -> io::Result<()> {
        // The library's clear() queries the cursor position and waits for an answer, which does not
        // come while the process is in the background.
        self.inner.backend_mut().clear()?;
        self.inner.swap_buffers();
        Ok(())
    }

    /// Waits for a key or a new size, at most this long. Unknown keys are skipped.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn wait(&mut self, patience: Duration) -> io::Result<Option<Event>> {
        let now = size();
        if std::mem::replace(&mut self.size, now) != now {
            return Ok(Some(Event::Resized));
        }
        if self.keys.is_empty() && self.is_ready(patience)? {
            self.read()?;
        }
        Ok(self.keys.pop_front().map(Event::Key))
    }

    /// Waits for bytes to read. A signal ends the wait.
    fn is_ready(&self, patience: Duration) -> io::Result<bool> {
        let mut wanted = [PollFd::from_borrowed_fd(self.keyboard(), PollFlags::IN)];
        let patience = Timespec::try_from(patience).map_err(io::Error::other)?;
        match poll(&mut wanted, Some(&patience)) {
            Err(rustix::io::Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
            Ok(_) if wanted[0].revents().intersects(PollFlags::HUP | PollFlags::ERR) => {
                Err(terminal_gone())
            }
            Ok(ready) => Ok(ready > 0),
        }
    }

    /// Reads the available keys.
    fn read(&mut self) -> io::Result<()> {
        let mut bytes = [0; 256];
        let mut length = 0;
        loop {
            match rustix::io::read(self.keyboard(), &mut bytes[length..]) {
                Ok(0) => return Err(terminal_gone()),
                Ok(more) => length += more,
                Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
                Err(error) => return Err(error.into()),
            }
            let full = length == bytes.len();
            if full || !keys::is_cut_off(&bytes[..length]) || !self.is_ready(KEY)? {
                break;
            }
        }
        let mut rest = &bytes[..length];
        while !rest.is_empty() {
            let (key, taken) = keys::first(rest);
            self.keys.extend(key);
            rest = &rest[taken..];
        }
        Ok(())
    }

    fn keyboard(&self) -> BorrowedFd<'_> {
        static STDIN: std::sync::LazyLock<io::Stdin> = std::sync::LazyLock::new(io::stdin);
        self.keyboard.as_ref().map_or_else(|| STDIN.as_fd(), File::as_fd)
    }

    /// Restores the terminal, calls `pause`, and sets the terminal up again.
    pub fn suspend(&mut self, pause: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        restore_terminal()?;
        pause()?;
        self.reopen()
    }

    /// Sets up the terminal again after the process was stopped by a signal.
    pub fn reopen(&mut self) -> io::Result<()> {
        restore_terminal()?;
        prepare_terminal()?;
        self.clear()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // A terminal that is gone needs no restoring.
        let _ = restore_terminal();
    }
}

/// Rows and columns; `None` if unknown.
fn size() -> Option<(u16, u16)> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    Some((size.ws_row, size.ws_col))
}

/// The area of a terminal of this size: 80 columns and 24 rows where it does not know them, as serial
/// lines and the terminals of some containers, which say 0.
fn area(size: Option<(u16, u16)>) -> Rect {
    let (rows, columns) = size.unwrap_or_default();
    let known = |count: u16, usual| if count == 0 { usual } else { count };
    Rect::new(0, 0, known(columns, 80), known(rows, 24))
}

fn terminal_gone() -> io::Error {
    io::Error::new(ErrorKind::UnexpectedEof, "the terminal is gone")
}

fn prepare_terminal() -> io::Result<()> {
    enable_raw_mode()?;
    TAKEN.store(true, Ordering::SeqCst);
    execute!(io::stdout(), EnterAlternateScreen, Hide).inspect_err(|_| drop(restore_terminal()))
}

fn restore_terminal() -> io::Result<()> {
    if !TAKEN.swap(false, Ordering::SeqCst) {
        return Ok(());
    }
    let shown = execute!(io::stdout(), LeaveAlternateScreen, Show);
    disable_raw_mode().and(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_that_does_not_know_its_size_has_80_columns_and_24_rows() {
        for size in [None, Some((0, 0))] {
            assert_eq!(area(size), Rect::new(0, 0, 80, 24));
        }
        assert_eq!(area(Some((50, 0))), Rect::new(0, 0, 80, 50));
        assert_eq!(area(Some((30, 120))), Rect::new(0, 0, 120, 30));
    }
}
