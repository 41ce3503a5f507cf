//! One run at one depth.

use crate::estimate::course;
use crate::failure;
use judge::judge;
use record::{Direction, Histogram, RunRecord};

/// Name of the coordinate of its cell.
pub(super) const DIMENSION: &str = "iodepth";

/// The depth of a run.
pub(super) fn depth_of(record: &RunRecord) -> Option<u32> {
    let at = &record.cell.as_ref()?.at;
    at.iter().find(|at| at.dimension == DIMENSION)?.value.parse().ok()
}

/// The figures of a run, reads and writes together.
pub(super) struct DepthRun {
    /// I/Os in flight, of each thread.
    pub depth: u32,
    pub round: u32,
    pub iops: f64,
    pub bytes_per_second: f64,
    /// Latency of all I/Os.
    pub latency: Histogram,
    /// IOPS over time.
    pub course: Vec<f64>,
}

impl DepthRun {
    /// The figures of a run; `None` for a run without a depth, and for one that failed or was
    /// interrupted.
    pub fn from_record(record: &RunRecord) -> Option<DepthRun> {
        let (depth, round) = (depth_of(record)?, record.cell.as_ref()?.round);
        if record.interrupted_by.is_some() || failure(record).is_some() {
            return None;
        }
        let judged = judge(record);
        let figures = || judged.units.iter().flat_map(|unit| unit.directions.iter());
        let mut latency = Histogram::new();
        for (_, result) in record.jobs.iter().flat_map(|job| job.results.iter()) {
            result.latency.clat.iter().for_each(|histogram| latency.merge(histogram));
        }
        (latency.count() > 0).then(|| DepthRun {
            depth,
            round,
            iops: figures().map(|(_, figures)| figures.iops).sum(),
            bytes_per_second: figures().map(|(_, figures)| figures.bytes_per_second).sum(),
            latency,
            course: iops_course(record),
        })
    }
}

/// IOPS over time, of all threads in both directions.
fn iops_course(record: &RunRecord) -> Vec<f64> {
    let mut all: Vec<f64> = Vec::new();
    let directions = [Direction::Read, Direction::Write];
    let courses = record.jobs.iter().flat_map(|job| directions.map(|d| course(job, d)));
    for course in courses {
        all.resize(all.len().max(course.len()), 0.0);
        all.iter_mut().zip(course).for_each(|(sum, iops)| *sum += iops);
    }
    all
}
