//! The outcome of a run.

use judge::judge;
use record::{Direction, Fleet, Nanos, RankState, RecordSet, RunRecord, Sentence, Severity};

/// The figures of a run in one direction.
pub(crate) struct Outcome {
    pub iops: f64,
    pub bytes_per_second: f64,
    pub latency_mean_ns: f64,
}

/// The figures of a run in one direction; `None` if no I/O completed.
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

/// How many ranks ran it; 1 without a launcher.
pub(crate) fn ranks_of(record: &RunRecord) -> u32 {
    let ran = |fleet: &Fleet| {
        fleet.ranks.iter().filter(|rank| rank.state == RankState::Ran).count() as u32
    };
    record.fleet.as_ref().map_or(1, ran).max(1)
}

/// The time of a run, with preparation and end.
pub fn run_duration(record: &RunRecord) -> Nanos {
    let call = &record.invocation;
    Nanos::from_millis(call.ended_unix_ms.saturating_sub(call.started_unix_ms))
}

/// A run that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Name of its cell.
    pub cell: String,
    /// The reason, as the system reports it.
    pub text: Sentence,
}

/// Why a run failed, or why its figures are incomplete; `None` if it succeeded or was interrupted.
pub fn failure(record: &RunRecord) -> Option<Failure> {
    let cell = record.cell.as_ref().map(|cell| cell.name.clone()).unwrap_or_default();
    let message = |severity: Severity| {
        let found = record.messages.iter().find(|m| m.severity == severity);
        found.map(|message| message.text.clone())
    };
    let job = record.jobs.iter().find(|job| job.error != 0 || !job.errors.is_empty());
    let text = match job {
        // A message has the operation and the file; error counts only have the operation.
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

/// Whether a run ended without failure or interruption.
pub(crate) fn went_well(run: &RunRecord) -> bool {
    run.interrupted_by.is_none() && failure(run).is_none()
}

/// The set with only the runs that `is_wanted` selects.
pub(crate) fn subset(set: &RecordSet, is_wanted: impl Fn(&RunRecord) -> bool) -> RecordSet {
    let runs = set.runs.iter().filter(|run| is_wanted(run)).cloned().collect();
    RecordSet { runs, kind: set.kind.clone(), fathom_version: set.fathom_version.clone(), ..*set }
}

/// The time of all runs of a set.
pub(crate) fn total_duration(set: &RecordSet) -> Nanos {
    Nanos(set.runs.iter().map(|run| run_duration(run).0).sum())
}

/// The signal that ended a set of runs.
pub(crate) fn interrupted_by(set: &RecordSet) -> Option<i32> {
    set.runs.iter().find_map(|run| run.interrupted_by)
}

/// The failures of runs, except of runs that were repeated with another engine or without O_DIRECT.
pub fn failures(set: &RecordSet) -> Vec<Failure> {
    let is_repeated = |index: usize| {
        set.runs.get(index + 1).is_some_and(|next| next.cell == set.runs[index].cell)
    };
    let runs = set.runs.iter().enumerate().filter(|(index, _)| !is_repeated(*index));
    runs.filter_map(|(_, run)| failure(run)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, SimulatedDisk};
    use record::Message;

    #[test]
    fn the_outcome_follows_from_the_record() {
        let step = testing::step("randread", 4096, 4, 1000);
        let record = SimulatedDisk::fast().run(&step);
        assert_eq!(failure(&record), None);
        let outcome = summarize_run(&record, Direction::Read).unwrap();
        assert!((outcome.iops * 4096.0 - outcome.bytes_per_second).abs() < 1.0);
        assert!((outcome.latency_mean_ns - 4e9 / outcome.iops).abs() < 0.1 * 4e9 / outcome.iops);
        assert!(summarize_run(&record, Direction::Write).is_none());
        assert_eq!(run_duration(&record), Nanos::from_millis(1000));
    }

    #[test]
    fn a_failure_prefers_the_message_to_the_error_count() {
        let mut record = testing::failed("fill", "write", 28);
        assert_eq!(failure(&record).unwrap().text, "write failed: errno 28");
        record.messages.push(Message::error(Some("fill"), "write of 4096 bytes: no space"));
        let expected =
            Failure { cell: "fill".into(), text: "write of 4096 bytes: no space".into() };
        assert_eq!(failure(&record), Some(expected));
        assert!(failure(&RunRecord::default()).is_some(), "nothing ran");
        let stopped = RunRecord { interrupted_by: Some(2), ..RunRecord::default() };
        assert_eq!(failure(&stopped), None);
        let stalled = SimulatedDisk { stalled: true, ..SimulatedDisk::fast() };
        let record = stalled.run(&testing::step("randread", 4096, 4, 1000));
        assert!(failure(&record).unwrap().text.contains("no I/O completed"));
    }
}
