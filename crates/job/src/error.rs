//! What is wrong with a job file or a command line, and where. All of it at once: a user mends a
//! file once, not once a mistake.

use record::{Message, SourceText, distinct};
use std::fmt;

/// Errors kept; a file of noise has thousands, and nobody reads on after this many.
const KEPT: usize = 100;

/// Where something was typed.
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
    /// Where.
    pub origin: Origin,
    /// What, what was expected, and what to do; one line.
    pub text: String,
}

impl JobError {
    /// A mistake at a place. Control characters of what was typed are replaced: they must not reach
    /// a terminal.
    pub fn new(origin: &Origin, text: impl Into<String>) -> Self {
        let text: String = text.into();
        let shown = match text.contains(char::is_control) {
            true => text.replace(char::is_control, "\u{fffd}"),
            false => text,
        };
        JobError { origin: origin.clone(), text: shown }
    }
}

/// Every mistake of an invocation, in the order it was met. Displays one a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobErrors {
    /// The first hundred.
    pub list: Vec<JobError>,
    /// How many more there were.
    pub more: usize,
}

impl JobErrors {
    /// A single mistake of the command line.
    pub fn usage(text: impl Into<String>) -> Self {
        JobErrors { list: vec![JobError::new(&Origin::command_line(), text)], more: 0 }
    }

    /// Adds one.
    pub fn push(&mut self, error: JobError) {
        if self.list.len() >= KEPT { self.more += 1 } else { self.list.push(error) }
    }

    /// Puts the mistakes of each source in the order of its lines: options take effect, and are
    /// found wrong, in another order than they are typed.
    pub(crate) fn sort(&mut self) {
        let sources = distinct(self.list.iter().map(|error| error.origin.source.clone()));
        let place = |source: &String| sources.iter().position(|known| known == source);
        self.list.sort_by_key(|error| (place(&error.origin.source), error.origin.line));
    }

    /// Nothing is wrong.
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

/// What reading a command line and job files brings up beside the jobs.
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
