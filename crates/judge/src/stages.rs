//! Stages of a run: what ran at the same time. Rates of jobs that ran one after another cannot be added,
//! and their latencies together are those of no job, so a figure of a run is of one stage.

use record::{Direction, JobRecord, RunRecord};

/// Jobs that ran at the same time, in some directions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stage<'a> {
    /// The workers.
    pub jobs: Vec<&'a JobRecord>,
    /// The directions in which they moved data then.
    pub directions: Vec<Direction>,
    /// Its number in order of time, from 1.
    pub number: usize,
    /// The number of stages of the run.
    pub count: usize,
}

impl Stage<'_> {
    fn ios(&self) -> u64 {
        let ios =
            |job: &&JobRecord| self.directions.iter().map(|d| job.results[*d].ios).sum::<u64>();
        self.jobs.iter().map(ios).sum()
    }
}

/// Jobs overlap if they share more than this part of the shorter one's time.
const OVERLAP_MIN: f64 = 0.1;
/// Stages with this share of the most I/Os are as large: the first of them is taken, so that chance does
/// not decide between the write and the read phase of a verification.
const AS_LARGE: f64 = 0.9;

/// The stage of a run with the most I/Os.
pub fn main_stage(record: &RunRecord) -> Stage<'_> {
    let jobs: Vec<&JobRecord> = record.jobs.iter().filter(|job| job.show.stats).collect();
    main_stage_of(&jobs, &Direction::ALL)
}

/// The stage with the most I/Os in these directions, of these jobs.
pub(crate) fn main_stage_of<'a>(jobs: &[&'a JobRecord], directions: &[Direction]) -> Stage<'a> {
    let stages = stages(jobs, directions);
    let most = stages.iter().map(Stage::ios).max().unwrap_or(0);
    let is_large = |stage: &Stage| stage.ios() as f64 >= AS_LARGE * most as f64;
    stages.into_iter().find(is_large).unwrap_or_default()
}

/// The stages in which these jobs moved data in these directions, in order of time.
fn stages<'a>(jobs: &[&'a JobRecord], directions: &[Direction]) -> Vec<Stage<'a>> {
    let used = |job: &JobRecord| -> Vec<Direction> {
        directions.iter().copied().filter(|d| job.results[*d].ios > 0).collect()
    };
    let mut active: Vec<&JobRecord> =
        jobs.iter().copied().filter(|job| !used(job).is_empty()).collect();
    active.sort_by_key(|job| job.started);
    // Workers of one time, with that time.
    let mut together: Vec<(Vec<&JobRecord>, u64, u64)> = Vec::new();
    for job in active {
        let (from, to) = (job.started.0, job.ended.0);
        match together.last_mut() {
            Some((members, begin, end)) if overlap((*begin, *end), (from, to)) => {
                members.push(job);
                *end = to.max(*end);
            }
            _ => together.push((vec![job], from, to)),
        }
    }
    let mut stages: Vec<Stage> = Vec::new();
    for (members, ..) in together {
        let mut phases: Vec<Vec<Direction>> = vec![directions.to_vec()];
        if members.iter().all(|job| verifies_afterwards(job)) {
            let (reads, writes) = directions.iter().partition(|d| **d == Direction::Read);
            phases = vec![writes, reads];
        }
        for directions in phases {
            let stage = Stage { jobs: members.clone(), directions, number: 0, count: 0 };
            if stage.ios() > 0 {
                stages.push(stage);
            }
        }
    }
    let count = stages.len();
    for (number, stage) in (1..).zip(&mut stages) {
        (stage.number, stage.count) = (number, count);
        let jobs = &stage.jobs;
        stage.directions.retain(|d| jobs.iter().any(|job| job.results[*d].ios > 0));
    }
    stages
}

/// Whether two times (start, end) are much the same, the first one beginning first.
fn overlap(first: (u64, u64), second: (u64, u64)) -> bool {
    let shorter = (first.1 - first.0).min(second.1.saturating_sub(second.0));
    let common = first.1.min(second.1).saturating_sub(second.0);
    common as f64 > OVERLAP_MIN * shorter as f64
}

/// Whether a worker wrote first and read it back then: the time of its writes and that of its reads are
/// no more than its own time.
fn verifies_afterwards(job: &JobRecord) -> bool {
    let times: u64 = Direction::ALL.iter().map(|d| job.results[*d].runtime.0).sum();
    let both = job.results[Direction::Read].ios > 0 && job.results[Direction::Write].ios > 0;
    let window = job.ended.0.saturating_sub(job.started.0);
    both && job.workload.settings.contains_key("verify") && times <= window + window / 100
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Measure;
    use crate::checks::testing::{IOPS, SECOND, job, record};
    use ::record::Nanos;

    fn later(mut job: JobRecord, seconds: u64, faster: u64) -> JobRecord {
        let by = seconds * SECOND;
        (job.started, job.ended) = (Nanos(job.started.0 + by), Nanos(job.ended.0 + by));
        for direction in Direction::ALL {
            let result = &mut job.results[direction];
            (result.ios, result.bytes.0) = (result.ios * faster, result.bytes.0 * faster);
        }
        job
    }

    fn value(name: &str, run: &RunRecord) -> Option<f64> {
        Measure::parse(name).unwrap().value(run)
    }

    #[test]
    fn jobs_in_turn_are_not_added_up() {
        let (read, write) = (job("a", Direction::Read, 10), job("b", Direction::Write, 10));
        let together = record(vec![read.clone(), write.clone()]);
        assert_eq!(value("iops", &together), Some(2.0 * IOPS as f64));
        assert_eq!((main_stage(&together).number, main_stage(&together).count), (1, 1));
        let in_turn = record(vec![read.clone(), later(write, 11, 3)]);
        assert_eq!(value("iops", &in_turn), Some(3.0 * IOPS as f64), "the one with the most I/Os");
        assert_eq!(value("read.iops", &in_turn), Some(IOPS as f64));
        let stage = main_stage(&in_turn);
        assert_eq!((stage.number, stage.count, stage.jobs[0].name.as_str()), (2, 2, "b"));
        assert_eq!(stage.directions, [Direction::Write]);
        // Of as large ones the first is taken.
        let same = record(vec![read.clone(), later(read, 11, 1)]);
        assert_eq!((value("iops", &same), main_stage(&same).number), (Some(IOPS as f64), 1));
    }

    #[test]
    fn phases_of_a_verification_are_not_added_up() {
        let mut check = job("check", Direction::Write, 10);
        check.workload.settings.insert("verify".into(), "crc32c".into());
        check.results[Direction::Read] = check.results[Direction::Write].clone();
        check.results[Direction::Read].runtime = Nanos(4 * SECOND);
        check.results[Direction::Write].runtime = Nanos(5 * SECOND);
        let run = record(vec![check.clone()]);
        assert_eq!(value("iops", &run), Some(2.0 * IOPS as f64), "10 s of I/Os in 5 s of writing");
        let stage = main_stage(&run);
        assert_eq!((stage.directions, stage.number, stage.count), (vec![Direction::Write], 1, 2));
        // A mixed job reads and writes at once.
        check.workload.settings.clear();
        let mixed = record(vec![check]);
        assert_eq!(main_stage(&mixed).count, 1);
    }

    #[test]
    fn deleted_and_listed_objects_move_no_bytes() {
        let mut run = crate::checks::testing::asking("DELETE", 100, 0);
        let job = &mut run.jobs[0];
        job.results[Direction::Trim] = std::mem::take(&mut job.results[Direction::Read]);
        assert!(value("iops", &run).is_some());
        assert_eq!(value("bandwidth", &run), None);
        let listed = crate::checks::testing::asking("LIST", 100, 0);
        assert_eq!(value("bandwidth", &listed), None);
        assert!(value("bandwidth", &crate::checks::testing::asking("GET", 100, 0)).is_some());
    }
}
