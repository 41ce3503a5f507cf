//! Exit codes.

use record::RunRecord;

/// The run had errors or did no I/O. Called as fio: any failure.
pub const ERRORS: u8 = 1;
/// The command line or a job file is wrong.
pub const USAGE: u8 = 2;
/// Refused: it would destroy data, or the target is unsuitable.
pub const REFUSED: u8 = 3;
/// A condition of the gate was not met, or a comparison failed.
pub const GATE: u8 = 4;
/// fio's exit code after any signal.
const INTERRUPTED_FIO: u8 = 128;

/// The exit code after a signal.
pub fn interrupted(signal: i32, as_fio: bool) -> u8 {
    if as_fio { INTERRUPTED_FIO } else { 128_u8.saturating_add(signal as u8) }
}

/// The exit code of a run. 0: no error; 1: errors, a log that could not be written, or a job without
/// I/O, except one that may be idle; 128 + signal: interrupted. As fio, tolerated errors and jobs without I/O do not count, and the
/// code is the number of failed jobs, at most 255.
pub fn of_run(record: &RunRecord, as_fio: bool) -> u8 {
    if let Some(signal) = record.interrupted_by {
        return interrupted(signal, as_fio);
    }
    let tolerated = record.jobs.iter().any(|j| !j.errors.is_empty());
    let idle = record.jobs.iter().any(|j| j.elapsed.0 > 0 && j.did_nothing() && !j.may_be_idle());
    let mut logs = record.jobs.iter().filter_map(|j| j.logs.as_ref());
    let unlogged = logs.any(|logs| !logs.failures.is_empty());
    if !failed(record) && !unlogged && (as_fio || !(tolerated || idle)) {
        return 0;
    }
    let count = record.jobs.iter().filter(|job| job.error != 0).count();
    if as_fio { u8::try_from(count).unwrap_or(u8::MAX).max(ERRORS) } else { ERRORS }
}

/// Whether an error ended a job. Another run would probably fail the same way.
pub fn failed(record: &RunRecord) -> bool {
    record.jobs.is_empty() || record.jobs.iter().any(|j| j.error != 0)
}
