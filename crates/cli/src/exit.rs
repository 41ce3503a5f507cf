//! Exit codes.

use record::RunRecord;

/// The run had errors, or did no I/O; under the name fio, anything that went wrong.
pub const ERRORS: u8 = 1;
/// The command line or a job file is wrong.
pub const USAGE: u8 = 2;
/// It would destroy data, or the target does not suit.
pub const REFUSED: u8 = 3;
/// A condition of the gate was not met.
pub const GATE: u8 = 4;
/// fio's own, whatever the signal was.
const INTERRUPTED_FIO: u8 = 128;

/// After a signal.
pub fn interrupted(signal: i32, as_fio: bool) -> u8 {
    if as_fio { INTERRUPTED_FIO } else { 128_u8.saturating_add(signal as u8) }
}

/// 0: ran. 1: errors, a log that could not be written, or a job did nothing. 128 + signal: interrupted. fio forgives tolerated
/// errors and idle jobs, and counts the jobs that failed, each clone as one; 255 stands for more.
pub fn of(record: &RunRecord, as_fio: bool) -> u8 {
    if let Some(signal) = record.interrupted_by {
        return interrupted(signal, as_fio);
    }
    let tolerated = record.jobs.iter().any(|j| !j.errors.is_empty());
    let idle = record.jobs.iter().any(|j| j.elapsed.0 > 0 && j.did_nothing());
    let mut logs = record.jobs.iter().filter_map(|j| j.logs.as_ref());
    let unlogged = logs.any(|logs| !logs.failures.is_empty());
    if !failed(record) && !unlogged && (as_fio || !(tolerated || idle)) {
        return 0;
    }
    let count = record.jobs.iter().filter(|job| job.error != 0).count();
    if as_fio { u8::try_from(count).unwrap_or(u8::MAX).max(ERRORS) } else { ERRORS }
}

/// Whether an error ended a job, so that another run would most likely end the same way.
pub fn failed(record: &RunRecord) -> bool {
    record.jobs.is_empty() || record.jobs.iter().any(|j| j.error != 0)
}
