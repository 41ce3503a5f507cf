//! Where words go: the report to standard output or `--output`, everything else to stderr.

use anyhow::{Context, Result};
use report::style::Style;
use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

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

/// An error with its causes in one line, without the numbers Rust puts behind the system's words.
pub fn describe(error: &anyhow::Error) -> String {
    let causes = error.chain().map(|cause| {
        let text = cause.to_string();
        text.split(" (os error ").next().unwrap_or_default().to_owned()
    });
    causes.collect::<Vec<_>>().join(": ")
}

/// Says something that is not part of the report. Nobody listening is no error.
pub fn say(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}
