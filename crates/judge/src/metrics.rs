//! Every derived number of a run. Reports only choose units and spacing.

mod classes;
mod direction;
mod disks;
pub(crate) mod exchange;
mod groups;
mod idleness;
pub(crate) mod latency;
pub(crate) mod series;
mod steady;
pub(crate) mod unit;
pub(crate) mod window;

pub use classes::{LATENCY_CLASSES, LatencyClasses};
pub use direction::{DirectionMetrics, PriorityStats};
pub use disks::{DiskMetrics, DiskTotals};
pub use exchange::{ExchangeMetrics, HostMetrics, RequestMetrics, merged as merged_exchange};
pub use groups::{GroupMetrics, GroupRow, RowKind};
pub use idleness::Idleness;
pub use latency::LatencyStats;
pub use series::SeriesStats;
pub use steady::SteadyMetrics;
pub use unit::{CpuMetrics, DepthMetrics, SyncMetrics, UnitMetrics};

use crate::case::Case;
use crate::checks;
use crate::finding::Finding;
use crate::gate::Gated;
use crate::since::Since;
use crate::verdict::{self, Verdict};
use record::{GroupKey, JobRecord, RunRecord};
use std::collections::BTreeMap;

/// A run with every derived number.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judged {
    /// What is reported on its own: one worker, or the workers that `group_reporting` merges. In
    /// order of their first worker. Workers with `stats=0` are left out.
    pub units: Vec<UnitMetrics>,
    /// Groups (between stonewalls or new_groups), in order of their numbers.
    pub groups: Vec<GroupMetrics>,
    /// Devices under the targets, stacked ones before their members. Empty when no job wants them.
    pub disks: Vec<DiskMetrics>,
    /// How idle the CPUs were, when that was asked for.
    pub idleness: Option<Idleness>,
    /// From the start of the first worker to the end of the last, in nanoseconds.
    pub elapsed_ns: u64,
    /// What the checks found, the gravest first.
    pub findings: Vec<Finding>,
    /// What limited each job, in order of the jobs.
    pub verdicts: Vec<Verdict>,
    /// What came since the report before, of a run that is reported while it goes on.
    pub since: Option<Since>,
    /// What the conditions came to that the run was to meet; `None` until they are evaluated.
    pub gate: Option<Gated>,
}

/// Derives every number of a run from its record, and judges it.
pub fn judge(record: &RunRecord) -> Judged {
    let case = Case::of(record);
    let findings = checks::look(&case);
    let verdicts = verdict::of(&case, &findings);
    Judged { findings, verdicts, ..figures(record) }
}

/// What is to be known about the figures of a run that still goes on: not more than what can be told
/// before its end, and nothing that its end would take back unless things change.
pub fn findings_so_far(record: &RunRecord) -> Vec<Finding> {
    checks::look_so_far(&Case::of(record))
}

/// Derives the numbers alone: of a run that still goes on there is no verdict yet.
pub fn figures(record: &RunRecord) -> Judged {
    let mut units: Vec<UnitMetrics> =
        report_units(record).into_iter().map(|jobs| unit::measure(&jobs)).collect();
    let groups = groups::measure(record, &mut units);
    let disks = if record.jobs.iter().any(|job| job.show.disk_util) {
        disks::measure(&record.disks)
    } else {
        Vec::new()
    };
    let elapsed_ns = record.jobs.iter().map(|job| job.ended.0).max().unwrap_or(0);
    let idleness = idleness::measure(record);
    Judged { units, groups, disks, idleness, elapsed_ns, ..Judged::default() }
}

/// The workers of each report, in order of the first worker of each.
pub(crate) fn report_units(record: &RunRecord) -> Vec<Vec<&JobRecord>> {
    let mut place: BTreeMap<GroupKey, usize> = BTreeMap::new();
    let mut units: Vec<Vec<&JobRecord>> = Vec::new();
    for job in record.jobs.iter().filter(|job| job.show.stats) {
        let index = *place.entry(job.group).or_insert_with(|| {
            units.push(Vec::new());
            units.len() - 1
        });
        units[index].push(job);
    }
    units
}

#[cfg(test)]
mod tests;
