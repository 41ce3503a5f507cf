//! Every derived number of a run. Reports only choose units and spacing.

mod classes;
mod direction;
pub(crate) mod disks;
pub(crate) mod exchange;
pub(crate) mod groups;
pub(crate) mod idleness;
pub(crate) mod latency;
pub(crate) mod rates;
pub(crate) mod series;
mod steady;
pub(crate) mod unit;
pub(crate) mod window;

pub use classes::{LATENCY_CLASSES, LatencyClasses};
pub use direction::{DirectionMetrics, PriorityStats};
pub use disks::{DiskMetrics, DiskTotals};
pub use exchange::{merged as merged_exchange, request_times};
pub use groups::{GroupMetrics, GroupRow, RowKind};
pub use idleness::Idleness;
pub use latency::LatencyStats;
pub use series::SeriesStats;
pub use steady::SteadyMetrics;
pub use unit::{CpuMetrics, DepthMetrics, SyncMetrics, UnitMetrics};

use record::{GroupKey, JobRecord, RunRecord};
use std::collections::BTreeMap;

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
