//! How one run went.

use judge::judge;
use record::{Direction, Nanos, RecordSet, RunRecord, Sentence, Severity};

/// What a run did in one direction.
pub(crate) struct Outcome {
    pub iops: f64,
    pub bytes_per_second: f64,
    pub latency_mean_ns: f64,
}

/// What a run did in one direction; `None` when nothing completed.
pub(crate) fn summarize_run(record: &RunRecord, direction: Direction) -> Option<Outcome> {
    let judged = judge(record);
    let figures = &judged.units.first()?.directions[direction];
    Some(Outcome {
        iops: figures.iops,
        bytes_per_second: figures.bytes_per_second,
        latency_mean_ns: figures.clat.as_ref()?.mean,
    })
}

/// Bytes that a run moved in one direction.
pub(crate) fn bytes_moved(record: &RunRecord, direction: Direction) -> u64 {
    record.jobs.iter().map(|job| job.results[direction].bytes.0).sum()
}

/// How long a run took, all that belongs to it included.
pub fn run_duration(record: &RunRecord) -> Nanos {
    let call = &record.invocation;
    Nanos::from_millis(call.ended_unix_ms.saturating_sub(call.started_unix_ms))
}

/// A run that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Name of its cell.
    pub cell: String,
    /// Why, in the system's words.
    pub text: Sentence,
}

/// Why a run failed, or why its figures are not whole; `None` when it went well or was interrupted.
pub fn failure(record: &RunRecord) -> Option<Failure> {
    let cell = record.cell.as_ref().map(|cell| cell.name.clone()).unwrap_or_default();
    let message = |severity: Severity| {
        let found = record.messages.iter().find(|m| m.severity == severity);
        found.map(|message| message.text.clone())
    };
    let job = record.jobs.iter().find(|job| job.error != 0 || !job.errors.is_empty());
    let text = match job {
        // The message says what was tried and where; without one, what was counted does.
        Some(job) => message(Severity::Error).or_else(|| {
            let error = job.errors.first()?;
            Some(format!("{} failed: {}", error.operation, error.text).into())
        }),
        None if record.interrupted_by.is_some() => return None,
        None if record.jobs.is_empty() => message(Severity::Error),
        None if record.jobs.iter().all(|job| !job.did_nothing()) => return None,
        None => None,
    };
    Some(Failure { cell, text: text.unwrap_or_else(|| "no I/O completed in the run time".into()) })
}

/// Whether a run went to its end without a failure.
pub(crate) fn went_well(run: &RunRecord) -> bool {
    run.interrupted_by.is_none() && failure(run).is_none()
}

/// The runs of a set that are wanted.
pub(crate) fn subset(set: &RecordSet, is_wanted: impl Fn(&RunRecord) -> bool) -> RecordSet {
    let runs = set.runs.iter().filter(|run| is_wanted(run)).cloned().collect();
    RecordSet { runs, kind: set.kind.clone(), fathom_version: set.fathom_version.clone(), ..*set }
}

/// Time that all runs of a set took.
pub(crate) fn total_duration(set: &RecordSet) -> Nanos {
    Nanos(set.runs.iter().map(|run| run_duration(run).0).sum())
}

/// The signal that ended a set of runs.
pub(crate) fn interrupted_by(set: &RecordSet) -> Option<i32> {
    set.runs.iter().find_map(|run| run.interrupted_by)
}

/// Why runs failed, without those that only showed which way to take: they were made again.
pub fn failures(set: &RecordSet) -> Vec<Failure> {
    let again = |index: usize| {
        set.runs.get(index + 1).is_some_and(|next| next.cell == set.runs[index].cell)
    };
    let runs = set.runs.iter().enumerate().filter(|(index, _)| !again(*index));
    runs.filter_map(|(_, run)| failure(run)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::{self, SimulatedDisk};
    use record::Message;

    #[test]
    fn a_run_says_how_it_went() {
        let step = simulated::step("randread", 4096, 4, 1000);
        let record = SimulatedDisk::fast().run(&step);
        assert_eq!(failure(&record), None);
        let outcome = summarize_run(&record, Direction::Read).unwrap();
        assert!((outcome.iops * 4096.0 - outcome.bytes_per_second).abs() < 1.0);
        assert!((outcome.latency_mean_ns - 4e9 / outcome.iops).abs() < 0.1 * 4e9 / outcome.iops);
        assert!(summarize_run(&record, Direction::Write).is_none());
        assert_eq!(run_duration(&record), Nanos::from_millis(1000));
    }

    #[test]
    fn a_failure_is_told_in_the_words_there_are() {
        let mut record = simulated::failed("fill", "write", 28);
        assert_eq!(failure(&record).unwrap().text, "write failed: errno 28");
        record.messages.push(Message::error(Some("fill"), "write of 4096 bytes: no space"));
        let expected =
            Failure { cell: "fill".into(), text: "write of 4096 bytes: no space".into() };
        assert_eq!(failure(&record), Some(expected));
        assert!(failure(&RunRecord::default()).is_some(), "nothing ran");
        let stopped = RunRecord { interrupted_by: Some(2), ..RunRecord::default() };
        assert_eq!(failure(&stopped), None);
        let stalled = SimulatedDisk { stalled: true, ..SimulatedDisk::fast() };
        let record = stalled.run(&simulated::step("randread", 4096, 4, 1000));
        assert!(failure(&record).unwrap().text.contains("no I/O completed"));
    }
}
