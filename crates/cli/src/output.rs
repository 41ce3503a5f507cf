//! Output: the report goes to standard output or `--output`, everything else to standard error.

pub use runner::describe;

use anyhow::{Context, Result};
use host::Launcher;
use report::style::Style;
use rustix::termios::Winsize;
use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Where the report goes.
pub enum Output {
    /// Standard output.
    Stdout,
    /// A file and its name.
    File(File, String),
}

impl Output {
    /// Creates the file `path`; standard output if there is none.
    pub fn open(path: Option<&Path>) -> Result<Output> {
        let Some(path) = path else { return Ok(Output::Stdout) };
        let name = path.display().to_string();
        let file =
            File::create(path).with_context(|| format!("--output: cannot write '{name}'"))?;
        Ok(Output::File(file, name))
    }

    /// Writes and flushes. A closed pipe is not an error.
    pub fn write(&mut self, text: &str) -> Result<()> {
        let written = match self {
            Output::Stdout if hold_back(Stream::Out, text) => Ok(()),
            Output::Stdout => {
                let mut stdout = io::stdout().lock();
                stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush())
            }
            Output::File(file, _) => file.write_all(text.as_bytes()),
        };
        match (written, &self) {
            (Err(error), _) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            (Err(error), Output::File(_, name)) => {
                Err(error).with_context(|| format!("cannot write '{name}'"))
            }
            (result, _) => result.context("cannot write to standard output"),
        }
    }

    /// Whether the report goes to a terminal. The mpirun of Open MPI gives each rank a terminal of its own
    /// and writes what comes from it to its own output, which may be a file.
    pub fn is_terminal(&self) -> bool {
        matches!(self, Output::Stdout)
            && io::stdout().is_terminal()
            && Launcher::of_this_process().is_none_or(|launcher| !launcher.is_open_mpi)
    }

    /// The lines that fit on the terminal beside the next prompt; `None` where that is unknown.
    pub fn rows(&self) -> Option<usize> {
        let is_known = |size: &Winsize| self.is_terminal() && size.ws_row > 1;
        let size = rustix::termios::tcgetwinsize(io::stdout()).ok().filter(is_known)?;
        Some(usize::from(size.ws_row) - 1)
    }

    /// The style of text: with colours on a terminal, unless NO_COLOR is set and not empty
    /// (no-color.org).
    pub fn style(&self) -> Style {
        let forbidden = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Style { colour: self.is_terminal() && !forbidden, ..Style::default() }
    }
}

/// Whether standard output is a terminal that can show a screen.
pub fn can_draw() -> bool {
    let dumb = std::env::var_os("TERM").is_none_or(|name| name.is_empty() || name == "dumb");
    Output::Stdout.is_terminal() && !dumb
}

/// Replaces a file atomically: after an error the file is as before.
///
/// # Errors
/// The file and why it cannot be written.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let written = |path: &Path| {
        let mut file = File::create(path)?;
        file.write_all(bytes)?;
        Ok(file)
    };
    formats::write_atomically(path, written)
        .map_err(|error| format!("{}: cannot write: {}", path.display(), describe(&error.into())))
}

/// Writes text that is not part of the report to standard error. Errors are ignored.
pub fn write_stderr(text: &str) {
    if !hold_back(Stream::Err, text) {
        let _ = io::stderr().lock().write_all(text.as_bytes());
    }
}

/// The stream that held text is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// Text held back, in order; `None` while nothing is held back.
static HELD: Mutex<Option<Vec<(Stream, String)>>> = Mutex::new(None);

fn held_output() -> MutexGuard<'static, Option<Vec<(Stream, String)>>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Holds text back if a [`HeldOutput`] lives. Returns whether it does.
fn hold_back(stream: Stream, text: &str) -> bool {
    match held_output().as_mut() {
        Some(texts) => {
            texts.push((stream, text.to_owned()));
            true
        }
        None => false,
    }
}

/// While this lives, text for the terminal is held back, because it would damage the live view. It is
/// written when this is dropped.
pub struct HeldOutput {
    /// Number of texts that [`HeldOutput::take_new`] returned.
    seen: usize,
}

/// Starts to hold text back.
pub fn hold() -> HeldOutput {
    held_output().get_or_insert_default();
    HeldOutput { seen: 0 }
}

impl HeldOutput {
    /// The text that was held back since the last call.
    pub fn take_new(&mut self) -> Vec<(Stream, String)> {
        let held = held_output();
        let texts = held.as_deref().unwrap_or_default();
        let new = texts.get(self.seen..).unwrap_or_default().to_vec();
        self.seen = texts.len();
        new
    }
}

impl Drop for HeldOutput {
    fn drop(&mut self) {
        let texts = held_output().take().unwrap_or_default();
        for (stream, text) in texts {
            match stream {
                Stream::Err => write_stderr(&text),
                // The next write of the report returns the error.
                Stream::Out => drop(Output::Stdout.write(&text)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_held_back_and_returned_once() {
        let mut holding = hold();
        write_stderr("one\n");
        Output::Stdout.write("two\n").unwrap();
        let expected = [(Stream::Err, "one\n".to_owned()), (Stream::Out, "two\n".to_owned())];
        assert_eq!(holding.take_new(), expected);
        assert!(holding.take_new().is_empty());
        drop(holding);
        assert!(held_output().is_none());
    }
}
