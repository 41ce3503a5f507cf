//! The operations of a job that can be compared, and their latencies.

use crate::gate::condition::LatencyKind;
use crate::gate::figures::{RepeatedJob, classes_of_request, histogram, latency_name};
use crate::metrics::exchange;
use crate::operation::Operation;
use record::{Direction, Histogram, JobRecord};

/// Operations and which of their latencies.
#[derive(Clone)]
pub(super) struct ComparedOperation {
    pub(super) operation: Operation,
    class: LatencyKind,
}

/// Smallest number of fsyncs or requests whose mean is compared; a job with one fsync at its end has 1.
const COUNT_MIN: u64 = 30;

impl ComparedOperation {
    /// What can be compared of a job.
    pub(super) fn common(old: &RepeatedJob, new: &RepeatedJob) -> Vec<ComparedOperation> {
        let runs: Vec<&Vec<&JobRecord>> = old.runs.iter().chain(&new.runs).collect();
        let all = |does: &dyn Fn(&[&JobRecord]) -> bool| runs.iter().all(|run| does(run));
        let mut kinds = Vec::new();
        for direction in Direction::ALL {
            if all(&|run| run.iter().any(|job| job.results[direction].ios > 0)) {
                let operation = Operation::Io(direction);
                let recorded =
                    |class: &LatencyKind| all(&|run| histogram(run, &operation, *class).is_some());
                let classes = [LatencyKind::Response, LatencyKind::Clat].into_iter();
                let class = classes.into_iter().find(recorded).unwrap_or(LatencyKind::Lat);
                kinds.push(ComparedOperation { operation, class });
            }
        }
        let count =
            |run: &[&JobRecord]| exchange::syncs(run).map(|sync| sync.latency.count()).sum();
        if all(&|run| COUNT_MIN <= count(run)) {
            kinds.push(ComparedOperation { operation: Operation::Sync, class: LatencyKind::Sync });
        }
        let first = runs.first().map(|run| exchange::kinds(run)).unwrap_or_default();
        let asked =
            first.iter().filter(|kind| all(&|run| COUNT_MIN <= exchange::failed(run, kind).1));
        for request in asked {
            let operation = || Operation::Request(request.clone());
            let classes = classes_of_request(request, &first).into_iter();
            kinds.extend(classes.map(|class| ComparedOperation { operation: operation(), class }));
        }
        kinds
    }

    pub(super) fn latency(&self) -> &'static str {
        latency_name(&self.operation, self.class)
    }

    /// The latencies of one run; `None` where it recorded none.
    pub(super) fn histogram(&self, run: &[&JobRecord]) -> Option<Histogram> {
        histogram(run, &self.operation, self.class)
    }

    /// Whether the failures of its kind of request are reported with it.
    pub(super) fn has_failures(&self) -> bool {
        self.class == LatencyKind::FirstByte
    }
}
