//! Log files, as fio writes them.
//!
//! Lines are as Debian's fio 3.33 writes them (and its manual's "Log File Formats"), the columns that
//! fio 3.42 has added behind them.

mod aggregate;
mod failure;
mod lines;
mod samples;

pub use aggregate::write_aggregate;
pub use samples::{InflateError, inflate};

use failure::{cannot_write, os_error_text};
use lines::{Line, LogLines};
use record::{JobRecord, LogEntry, LogKind, Logs, Message};
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// The files of the logs of one run.
#[derive(Debug, Default)]
pub struct LogFiles {
    /// Paths of the files begun: a second worker that writes to one of them appends.
    begun: BTreeSet<String>,
}

impl LogFiles {
    /// Writes the logs of one worker. `entries` calls its argument with each entry, in order;
    /// `incomplete` says why entries are missing. Failures go into the worker's record and are
    /// returned as messages; a file that could not be written completely is removed.
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
                Ok(file) => open.push(LogFile::new(*kind, path, file, &logs)),
                Err(error) => failures.push(cannot_write(path, &error)),
            }
        }
        let read = entries(&mut |entry| open.iter_mut().for_each(|file| file.write(&entry)));
        failures.extend(
            read.err().map(|error| format!("what was logged is lost: {}", os_error_text(&error))),
        );
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
struct LogFile {
    path: String,
    lines: LogLines,
    to: Encoding,
    failed: Option<io::Error>,
}

/// How lines are stored in a file.
enum Encoding {
    Text(BufWriter<File>),
    Samples(samples::Writer<BufWriter<File>>),
}

impl LogFile {
    fn new(kind: LogKind, path: &str, file: File, logs: &Logs) -> LogFile {
        let file = BufWriter::with_capacity(1 << 16, file);
        // Histograms are never compressed: the binary format holds samples only.
        let to = match logs.store_compressed && kind != LogKind::Histogram {
            true => Encoding::Samples(samples::Writer::new(file)),
            false => Encoding::Text(file),
        };
        LogFile { path: path.into(), lines: LogLines::new(kind, logs), to, failed: None }
    }

    fn write(&mut self, entry: &LogEntry) {
        if self.failed.is_some() {
            return;
        }
        let Some(line) = self.lines.line(entry) else { return };
        let written = match (&mut self.to, &line) {
            (Encoding::Samples(file), Line::Sample(sample)) => file.write(sample),
            (Encoding::Text(file), line) => file.write_all(line.text().as_bytes()),
            (Encoding::Samples(_), Line::Bins(_)) => Ok(()),
        };
        self.failed = written.err();
    }

    /// Flushes the file; returns the failure, if there was one. An incomplete file is removed unless
    /// other workers write to it too.
    fn finish(self, shared: bool) -> Option<String> {
        let LogFile { path, to, failed, .. } = self;
        let ended = match to {
            Encoding::Text(mut file) => file.flush(),
            Encoding::Samples(file) => file.finish().and_then(|mut file| file.flush()),
        };
        let error = failed.or(ended.err())?;
        if !shared && Path::new(&path).is_file() {
            // A file that cannot be removed is named by the message below.
            let _ = fs::remove_file(&path);
        }
        Some(cannot_write(&path, &error))
    }
}

#[cfg(test)]
mod tests;
