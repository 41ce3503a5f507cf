//! Mistakes in job files and command lines, with their places. All mistakes are reported at once,
//! so that a user can correct a file in one go.

use record::{Message, SourceText, distinct};
use std::fmt;

/// Most errors that are kept. A file that is not a job file has thousands.
const KEPT: usize = 100;

/// The place where something was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Path of the job file as given ("-" is standard input), or "command line".
    pub source: String,
    /// Line in that file, from 1; `None` for the command line and for a file as a whole.
    pub line: Option<u32>,
}

impl Origin {
    /// A line of a file.
    pub fn line(source: &str, line: u32) -> Self {
        Origin { source: source.into(), line: Some(line) }
    }

    /// A file as a whole.
    pub fn file(source: &str) -> Self {
        Origin { source: source.into(), line: None }
    }

    /// The command line.
    pub fn command_line() -> Self {
        Origin::file("command line")
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}", self.source),
            None => f.write_str(&self.source),
        }
    }
}

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{origin}: {text}")]
pub struct JobError {
    /// Its place.
    pub origin: Origin,
    /// What is wrong, what was expected, and what to do, in one line.
    pub text: String,
}

impl JobError {
    /// A mistake at a place. Control characters are replaced, because they must not reach a
    /// terminal.
    pub fn new(origin: &Origin, text: impl Into<String>) -> Self {
        let text: String = text.into();
        let shown = match text.contains(char::is_control) {
            true => text.replace(char::is_control, "\u{fffd}"),
            false => text,
        };
        JobError { origin: origin.clone(), text: shown }
    }
}

/// All mistakes of an invocation, in the order they were found. Displayed one per line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobErrors {
    /// The first hundred mistakes.
    pub list: Vec<JobError>,
    /// Number of further mistakes.
    pub more: usize,
}

impl JobErrors {
    /// A single mistake in the command line.
    pub fn usage(text: impl Into<String>) -> Self {
        JobErrors { list: vec![JobError::new(&Origin::command_line(), text)], more: 0 }
    }

    /// Adds a mistake.
    pub fn push(&mut self, error: JobError) {
        if self.list.len() >= KEPT { self.more += 1 } else { self.list.push(error) }
    }

    /// Sorts the mistakes of each source by line. Options are not applied in the order they are
    /// typed, so mistakes are not found in that order.
    pub(crate) fn sort(&mut self) {
        let sources = distinct(self.list.iter().map(|error| error.origin.source.clone()));
        let place = |source: &String| sources.iter().position(|known| known == source);
        self.list.sort_by_key(|error| (place(&error.origin.source), error.origin.line));
    }

    /// Whether there is no mistake.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

impl fmt::Display for JobErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.list.iter().enumerate() {
            let newline = if index == 0 { "" } else { "\n" };
            write!(f, "{newline}{error}")?;
        }
        match self.more {
            0 => Ok(()),
            more => write!(f, "\n… and {more} more"),
        }
    }
}

impl std::error::Error for JobErrors {}

/// The results of parsing besides the jobs: mistakes, messages and the texts of files.
#[derive(Debug, Default)]
pub struct Diagnostics {
    /// Mistakes.
    pub errors: JobErrors,
    /// Warnings and notes.
    pub messages: Vec<Message>,
    /// Texts of the files read.
    pub sources: Vec<SourceText>,
}

impl Diagnostics {
    /// Adds a mistake.
    pub fn error(&mut self, origin: &Origin, text: impl Into<String>) {
        self.errors.push(JobError::new(origin, text));
    }

    /// Adds a warning about a place.
    pub fn warn(&mut self, origin: &Origin, job: Option<&str>, text: &str) {
        self.messages.push(Message::warning(job, format!("{origin}: {text}")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_read_as_compilers_write_them() {
        let error = JobError::new(&Origin::line("quick.fio", 7), "unknown option 'iodeph'");
        assert_eq!(error.to_string(), "quick.fio:7: unknown option 'iodeph'");
        let error = JobError::new(&Origin::command_line(), "no job");
        assert_eq!(error.to_string(), "command line: no job");
    }

    #[test]
    fn a_flood_of_errors_is_counted_not_shown() {
        let mut errors = JobErrors::default();
        (0..250).for_each(|n| errors.push(JobError::new(&Origin::line("x", n), "bad")));
        let text = errors.to_string();
        assert_eq!(text.lines().count(), 101);
        assert!(text.ends_with("… and 150 more"));
    }
}
