//! fio's lines on jobs that an error ended.

use record::{ErrorCount, RunRecord};
use std::fmt::Write;

/// "file:/mnt/full:4096, func=write, error=No space left on device". fio names a line of its source;
/// ours is the file of the failed I/O and the offset (0 if it has none).
pub(super) fn cause(errors: &[ErrorCount], errno: i32) -> String {
    match errors.iter().find(|error| error.errno == errno) {
        Some(error) => format!(
            "file:{}:{}, func={}, error={}",
            error.first_file,
            error.first_offset.unwrap_or(0),
            error.operation,
            error.text
        ),
        None => "file::0, func=, error=".into(),
    }
}

/// A line for each job that an error ended. fio prints them before the report.
pub fn failures(record: &RunRecord) -> String {
    let mut out = String::new();
    for job in record.jobs.iter().filter(|job| job.error != 0) {
        let cause = cause(&job.errors, job.error);
        let _ = writeln!(out, "fio: pid={}, err={}/{cause}", job.tid, job.error);
    }
    out
}
