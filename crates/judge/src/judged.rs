//! A run with every derived number, its findings and its verdicts.

use crate::case::Case;
use crate::checks;
use crate::delta::Delta;
use crate::finding::Finding;
use crate::fleet::{self, FleetFigures, fleet_figures};
use crate::gate::Gated;
use crate::layers::{LayersJudged, layers};
use crate::metrics::{
    DiskMetrics, GroupMetrics, Idleness, UnitMetrics, disks, groups, idleness, report_units, unit,
};
use crate::tail::{Tail, TailShare, tail_shares, tails};
use crate::verdict::{self, Verdict};
use record::RunRecord;

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
    /// Idle time of the CPUs, if requested.
    pub idleness: Option<Idleness>,
    /// From the start of the first worker to the end of the last, in nanoseconds.
    pub elapsed_ns: u64,
    /// What the checks found, the gravest first.
    pub findings: Vec<Finding>,
    /// Where the slowest I/Os of each job come from.
    pub tails: Vec<Tail>,
    /// The share that each of several jobs has in the slowest I/Os of all.
    pub tail_shares: Vec<TailShare>,
    /// What limited each job, in order of the jobs.
    pub verdicts: Vec<Verdict>,
    /// The layers that the I/Os passed, if they were timed.
    pub layers: Option<LayersJudged>,
    /// What the ranks of a fleet show, by group of jobs.
    pub fleet: Vec<FleetFigures>,
    /// What came since the report before, of a run that is reported while it goes on.
    pub delta: Option<Delta>,
    /// What the conditions came to that the run was to meet; `None` until they are evaluated.
    pub gate: Option<Gated>,
}

/// Derives every number of a run from its record, and judges it.
pub fn judge(record: &RunRecord) -> Judged {
    let case = Case::from_record(record);
    let findings = checks::findings_of_run(&case);
    if let Some(fleet) = &record.fleet {
        // The evidence of this record is that of rank 0's host, its jobs are those of all.
        let (verdicts, fleet) = (fleet::verdicts(fleet), fleet_figures(fleet));
        return Judged { findings, verdicts, fleet, ..figures(record) };
    }
    let verdicts = verdict::verdicts(&case, &findings);
    let (tails, tail_shares) = (tails(record), tail_shares(record));
    let layers = layers(record);
    Judged { findings, tails, tail_shares, verdicts, layers, ..figures(record) }
}

/// The findings about a run in progress: only findings that the end of the run would confirm, unless
/// conditions change.
pub fn findings_so_far(record: &RunRecord) -> Vec<Finding> {
    checks::findings_so_far(&Case::from_record(record))
}

/// Derives only the numbers: a run in progress has no verdict yet.
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

#[cfg(test)]
mod tests;
