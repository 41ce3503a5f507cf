//! Log files, as fio writes them.
//!
//! Lines are as Debian's fio 3.33 writes them (and its manual's "Log File Formats"), the columns that
//! fio 3.42 has added behind them.

mod aggregate;
mod lines;
mod samples;

pub use aggregate::aggregate;
pub use samples::{InflateError, inflate};

use lines::{Line, Scribe};
use record::{JobRecord, LogEntry, LogKind, Logs, Message};
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// The files of the logs of one run.
#[derive(Debug, Default)]
pub struct Files {
    /// Those begun: what writes to one of them again adds to it.
    begun: BTreeSet<String>,
}

impl Files {
    /// Writes the logs of one worker. `entries` calls its argument with everything that it logged,
    /// in order; `incomplete` says why that is not all. What fails is noted in the worker's record
    /// and given as messages; a file that could not be written to its end is removed.
    pub fn write(
        &mut self,
        job: &mut JobRecord,
        incomplete: Option<&str>,
        entries: impl Fn(&mut dyn FnMut(LogEntry)) -> io::Result<()>,
    ) -> Vec<Message> {
        let Some(logs) = job.logs.clone() else { return Vec::new() };
        let mut failures: Vec<String> = incomplete.map(Into::into).into_iter().collect();
        let mut open = Vec::new();
        for (kind, path) in &logs.files {
            match self.begin(path) {
                Ok(file) => open.push(Writing::new(*kind, path, file, &logs)),
                Err(error) => failures.push(failure(path, &error)),
            }
        }
        let read = entries(&mut |entry| open.iter_mut().for_each(|file| file.take(&entry)));
        failures
            .extend(read.err().map(|error| format!("what was logged is lost: {}", said(&error))));
        for file in open {
            failures.extend(file.finish(logs.shared));
        }
        let messages = failures.iter().map(|text| Message::error(Some(&job.name), text));
        let messages = messages.collect();
        if let Some(logs) = &mut job.logs {
            logs.failures = failures;
        }
        messages
    }

    fn begin(&mut self, path: &str) -> io::Result<File> {
        if self.begun.insert(path.into()) {
            return File::create(path);
        }
        OpenOptions::new().append(true).create(true).open(path)
    }
}

/// One file being written.
struct Writing {
    path: String,
    scribe: Scribe,
    to: To,
    failed: Option<io::Error>,
}

/// The form a file has.
enum To {
    Text(BufWriter<File>),
    Samples(samples::Writer<BufWriter<File>>),
}

impl Writing {
    fn new(kind: LogKind, path: &str, file: File, logs: &Logs) -> Writing {
        let file = BufWriter::with_capacity(1 << 16, file);
        // What is stored compressed are samples, and a histogram is none.
        let to = match logs.store_compressed && kind != LogKind::Histogram {
            true => To::Samples(samples::Writer::new(file)),
            false => To::Text(file),
        };
        Writing { path: path.into(), scribe: Scribe::new(kind, logs), to, failed: None }
    }

    fn take(&mut self, entry: &LogEntry) {
        if self.failed.is_some() {
            return;
        }
        let Some(line) = self.scribe.line(entry) else { return };
        let written = match (&mut self.to, &line) {
            (To::Samples(file), Line::Sample(sample)) => file.write(sample),
            (To::Text(file), line) => file.write_all(line.text().as_bytes()),
            (To::Samples(_), Line::Bins(_)) => Ok(()),
        };
        self.failed = written.err();
    }

    /// What went wrong with it, if anything did. Of a file that others write to as well, what is
    /// there is kept.
    fn finish(self, shared: bool) -> Option<String> {
        let Writing { path, to, failed, .. } = self;
        let ended = match to {
            To::Text(mut file) => file.flush(),
            To::Samples(file) => file.finish().and_then(|mut file| file.flush()),
        };
        let error = failed.or(ended.err())?;
        if !shared && Path::new(&path).is_file() {
            // Where even that fails, the message says that the file is not complete.
            let _ = fs::remove_file(&path);
        }
        Some(failure(&path, &error))
    }
}

fn failure(path: &str, error: &io::Error) -> String {
    format!("cannot write log '{path}': {}", said(error))
}

/// The system's words, without the number Rust puts behind them.
fn said(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error ").next().unwrap_or_default().into()
}

#[cfg(test)]
mod tests;
