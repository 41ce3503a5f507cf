//! The figures at one depth.

use super::depth_run::DepthRun;
use crate::estimate::{self, Estimated};
use crate::knee::{Knee, Point, knee};
use record::Histogram;

/// The percentiles that are shown for each depth.
pub const PERCENTILES: [f64; 3] = [50.0, 99.0, 99.9];

/// The row of a depth.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// I/Os in flight, of each thread.
    pub depth: u32,
    /// Number of rounds.
    pub rounds: u32,
    /// I/Os per second.
    pub iops: Estimated,
    /// Bytes per second.
    pub bytes_per_second: Estimated,
    /// Mean latency, in nanoseconds.
    pub mean: Estimated,
    /// [`PERCENTILES`] of the latency over all rounds, in nanoseconds.
    pub percentiles: Vec<(f64, Estimated)>,
    /// Throughput over latency, as a share of the maximum.
    pub power: f64,
}

/// One row per depth, in rising order.
pub(super) fn rows(measured: &[DepthRun], seed: u64) -> Vec<Row> {
    let mut depths: Vec<u32> = measured.iter().map(|one| one.depth).collect();
    depths.sort_unstable();
    depths.dedup();
    let row_at = |depth: &u32| {
        let runs: Vec<&DepthRun> = measured.iter().filter(|one| one.depth == *depth).collect();
        row(*depth, &runs, seed)
    };
    let mut rows: Vec<Row> = depths.iter().map(row_at).collect();
    let power = |row: &Row| row.iops.value / row.mean.value.max(1.0);
    let greatest = rows.iter().map(power).fold(0.0, f64::max);
    for row in &mut rows {
        row.power = if greatest > 0.0 { power(row) / greatest } else { 0.0 };
    }
    rows
}

fn row(depth: u32, runs: &[&DepthRun], seed: u64) -> Row {
    let rates: Vec<f64> = runs.iter().map(|one| one.iops).collect();
    let course = runs.first().map(|one| one.course.clone()).unwrap_or_default();
    let iops = estimate::iops_estimate(&rates, &course, seed);
    let bytes: f64 = runs.iter().map(|one| one.bytes_per_second).sum();
    let latencies: Vec<&Histogram> = runs.iter().map(|one| &one.latency).collect();
    let percentile = |p| (p, estimate::percentile_estimate(&latencies, p, seed));
    Row {
        depth,
        rounds: runs.len() as u32,
        iops,
        bytes_per_second: iops.times(bytes / rates.iter().sum::<f64>().max(f64::MIN_POSITIVE)),
        mean: estimate::mean_estimate(&latencies, seed),
        percentiles: PERCENTILES.map(percentile).to_vec(),
        power: 0.0,
    }
}

/// The knee of the rows.
pub(super) fn knee_of(rows: &[Row]) -> Option<Knee> {
    let point =
        |row: &Row| Point { depth: row.depth, iops: row.iops.value, latency_ns: row.mean.value };
    knee(&rows.iter().map(point).collect::<Vec<_>>())
}
