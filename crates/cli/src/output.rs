//! Where words go: the report to standard output or `--output`, everything else to stderr.

pub use runner::describe;

use anyhow::{Context, Result};
use report::style::Style;
use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Where the report goes.
pub enum Output {
    /// Standard output.
    Stdout,
    /// A file, made anew.
    File(File, String),
}

impl Output {
    /// Opens `path`, or takes standard output.
    pub fn open(path: Option<&Path>) -> Result<Output> {
        let Some(path) = path else { return Ok(Output::Stdout) };
        let name = path.display().to_string();
        let file =
            File::create(path).with_context(|| format!("--output: cannot write '{name}'"))?;
        Ok(Output::File(file, name))
    }

    /// Writes and flushes. A reader that went away (a closed pipe) is no error.
    pub fn write(&mut self, text: &str) -> Result<()> {
        let written = match self {
            Output::Stdout if keep(Stream::Out, text) => Ok(()),
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

    /// Whether it is a terminal.
    pub fn is_terminal(&self) -> bool {
        matches!(self, Output::Stdout) && io::stdout().is_terminal()
    }

    /// How text for it is dressed: colours on a terminal, unless NO_COLOR is set and not empty
    /// (no-color.org).
    pub fn style(&self) -> Style {
        let forbidden = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Style { colour: self.is_terminal() && !forbidden, ..Style::default() }
    }
}

/// Writes a file that was asked for: it is complete or as it was.
///
/// # Errors
/// Its name, and why it cannot be written.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let written = |path: &Path| {
        let mut file = File::create(path)?;
        file.write_all(bytes)?;
        Ok(file)
    };
    formats::write_atomically(path, written)
        .map_err(|error| format!("{}: cannot write: {}", path.display(), describe(&error.into())))
}

/// Says something that is not part of the report. Nobody listening is no error.
pub fn say(text: &str) {
    if !keep(Stream::Err, text) {
        let _ = io::stderr().lock().write_all(text.as_bytes());
    }
}

/// Where words would have gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// Words that are held back, in order; `None`: none are to be.
static HELD: Mutex<Option<Vec<(Stream, String)>>> = Mutex::new(None);

fn held() -> MutexGuard<'static, Option<Vec<(Stream, String)>>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Holds words back if they are to be; whether they are.
fn keep(stream: Stream, text: &str) -> bool {
    match held().as_mut() {
        Some(words) => {
            words.push((stream, text.to_owned()));
            true
        }
        None => false,
    }
}

/// While this lives, what would be written to the terminal is held back, for a picture to stay whole.
/// It is written when this is dropped.
pub struct Held {
    /// How many words were looked at.
    seen: usize,
}

/// Holds words back from now on.
pub fn hold() -> Held {
    held().get_or_insert_default();
    Held { seen: 0 }
}

impl Held {
    /// What was held back since the last time.
    pub fn news(&mut self) -> Vec<(Stream, String)> {
        let held = held();
        let words = held.as_deref().unwrap_or_default();
        let news = words.get(self.seen..).unwrap_or_default().to_vec();
        self.seen = words.len();
        news
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let words = held().take().unwrap_or_default();
        for (stream, text) in words {
            match stream {
                Stream::Err => say(&text),
                // Whoever writes the report next is told why it cannot be written.
                Stream::Out => drop(Output::Stdout.write(&text)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_meanwhile_is_held_and_told_once() {
        let mut holding = hold();
        say("one\n");
        Output::Stdout.write("two\n").unwrap();
        let expected = [(Stream::Err, "one\n".to_owned()), (Stream::Out, "two\n".to_owned())];
        assert_eq!(holding.news(), expected);
        assert!(holding.news().is_empty());
        drop(holding);
        assert!(held().is_none());
    }
}
