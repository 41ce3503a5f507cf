//! The rows of "Run status group".

use super::unit::UnitMetrics;
use super::window::{busy, per_second, union_ns};
use record::{Direction, JobRecord, RunRecord};

/// Figures of one group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroupMetrics {
    /// Its number.
    pub group: u32,
    /// 1024 or 1000, as its first reported job shows sizes.
    pub kb_base: u32,
    /// `unit_base` of that job.
    pub unit_base: u32,
    /// `significant_figures` of that job.
    pub significant_figures: u32,
    /// One row for each direction in which anything was done.
    pub rows: Vec<GroupRow>,
}

/// What a row of a group is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowKind {
    /// One direction.
    Direction(Direction),
    /// All directions together.
    Mixed,
}

/// What a group did in one direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroupRow {
    /// Which direction.
    pub kind: RowKind,
    /// Bytes that moved.
    pub bytes: u64,
    /// Time in which at least one worker was busy in this direction, in nanoseconds.
    pub runtime_ns: u64,
    /// Bytes a second over `runtime_ns`.
    pub bytes_per_second: f64,
    /// Smallest bandwidth of a report unit, bytes a second.
    pub unit_min: f64,
    /// Largest bandwidth of a report unit, bytes a second.
    pub unit_max: f64,
    /// Shortest time of a report unit, in nanoseconds.
    pub runtime_min_ns: u64,
    /// Longest time of a report unit, in nanoseconds.
    pub runtime_max_ns: u64,
}

/// The groups of the run; also sets every unit's share of its group.
pub(crate) fn measure(record: &RunRecord, units: &mut [UnitMetrics]) -> Vec<GroupMetrics> {
    let mut numbers: Vec<u32> = record.jobs.iter().map(|job| job.group.group).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers.into_iter().map(|number| group(number, record, units)).collect()
}

fn group(number: u32, record: &RunRecord, units: &mut [UnitMetrics]) -> GroupMetrics {
    let jobs: Vec<&JobRecord> =
        record.jobs.iter().filter(|job| job.group.group == number && job.show.stats).collect();
    let mut members: Vec<&mut UnitMetrics> =
        units.iter_mut().filter(|unit| unit.group.group == number).collect();
    let show = members.first().map(|unit| unit.show).unwrap_or_default();
    let mut rows = Vec::new();
    for direction in Direction::ALL {
        let kind = RowKind::Direction(direction);
        if let Some(row) = row(kind, &[direction], &jobs, &mut members)
            && show.unified != 1
        {
            rows.push(row);
        }
    }
    // Units of another job than the first may be unified: their share is needed either way.
    let mixed = row(RowKind::Mixed, &Direction::ALL, &jobs, &mut members);
    rows.extend(mixed.filter(|_| show.unified > 0));
    GroupMetrics {
        group: number,
        kb_base: show.kb_base,
        unit_base: show.unit_base,
        significant_figures: show.significant_figures,
        rows,
    }
}

/// The row of `directions` together; `None` when nothing was done in them. Sets the units' shares.
fn row(
    kind: RowKind,
    directions: &[Direction],
    jobs: &[&JobRecord],
    units: &mut [&mut UnitMetrics],
) -> Option<GroupRow> {
    let bytes: u64 =
        jobs.iter().flat_map(|job| directions.iter().map(|d| job.results[*d].bytes.0)).sum();
    let runtime_ns = union_ns(&busy(jobs, directions));
    let mut out = GroupRow {
        kind,
        bytes,
        runtime_ns,
        bytes_per_second: per_second(bytes, runtime_ns),
        unit_min: f64::INFINITY,
        unit_max: 0.0,
        runtime_min_ns: u64::MAX,
        runtime_max_ns: 0,
    };
    let mut any = false;
    for unit in units {
        let metrics = match kind {
            RowKind::Direction(direction) => Some(&mut unit.directions[direction]),
            RowKind::Mixed => unit.mixed.as_mut(),
        };
        let Some(metrics) = metrics.filter(|metrics| !metrics.is_idle()) else { continue };
        any = true;
        out.unit_min = out.unit_min.min(metrics.bytes_per_second);
        out.unit_max = out.unit_max.max(metrics.bytes_per_second);
        out.runtime_min_ns = out.runtime_min_ns.min(metrics.runtime_ns);
        out.runtime_max_ns = out.runtime_max_ns.max(metrics.runtime_ns);
        if bytes > 0 {
            metrics.group_share = metrics.bytes as f64 * 100.0 / bytes as f64;
        }
    }
    any.then_some(out)
}
