//! Parts of the sum of all ranks.

use crate::exchange::{Exchange, clock_of};
use crate::work::work;
use record::{
    Bytes, ClockComparison, CommonWindow, Direction, FleetWindow, Histogram, JobRecord, Nanos,
    RankFinding, RankGroup, RankRecord, RankVerdict, RunRecord, Severity, WINDOW_PARTS,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Instant;

/// Files of each job that are named in the sum of all ranks.
const FILES_SENT: usize = 1024;

/// When a rank ran a group of jobs, on its own clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GroupTime {
    pub group: u32,
    pub started: u64,
    pub ended: u64,
}

/// The request for a part.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Gather {
    /// The ranks that have nothing to add.
    pub without: Vec<u32>,
    /// Common windows, on the axis of rank 0.
    pub windows: Vec<FleetWindow>,
    /// The clock of the receiver.
    pub clock: ClockComparison,
    /// The origin of the axis, on the clock of rank 0.
    pub origin: u64,
    /// Time within which parts have to arrive, in nanoseconds.
    pub limit: u64,
}

/// The result of this rank.
#[derive(Clone, Debug)]
pub struct OwnResult {
    /// The workers of its run.
    pub jobs: Vec<JobRecord>,
    /// The moment that their times count from.
    pub origin: Instant,
    /// Its exit code.
    pub exit_code: u8,
    /// Its verdicts.
    pub verdicts: Vec<RankVerdict>,
    /// Its findings.
    pub findings: Vec<RankFinding>,
    /// Its first error; empty without any.
    pub why: String,
}

/// The result of this rank, with the origin of its times on its clock.
pub(crate) struct TimedResult {
    result: Box<OwnResult>,
    /// In nanoseconds.
    pub origin: u64,
}

impl TimedResult {
    pub fn new(result: Box<OwnResult>, exchange: &dyn Exchange) -> TimedResult {
        let origin = clock_of(exchange, result.origin);
        TimedResult { result, origin }
    }

    /// The times of its groups, on the clock of this rank.
    pub fn group_times(&self) -> Vec<GroupTime> {
        self.result.group_times(|at| self.origin + at.0)
    }

    /// The part of this rank in the sum.
    pub fn part(&self, rank: u32, gather: &Gather) -> Part {
        Part::new(rank, &self.result, self.origin, gather)
    }
}

impl OwnResult {
    /// From the record of a run and what the judge says of it.
    pub fn new(record: &RunRecord, origin: Instant, exit_code: u8) -> OwnResult {
        let judged = judge::judge(record);
        let verdict = |verdict: &judge::Verdict| RankVerdict {
            job: verdict.job.clone(),
            limit: verdict.limit.name().to_owned(),
            confidence: verdict.confidence.name().to_owned(),
            because: verdict.because.to_string(),
            valid_for: verdict.valid_for.clone(),
        };
        let finding = |finding: &judge::Finding| RankFinding {
            check: finding.check.to_owned(),
            severity: finding.severity,
            jobs: finding.jobs.clone(),
            text: finding.text.to_string(),
            cause: finding.cause.to_string(),
            remedy: finding.remedy.to_string(),
        };
        let mut jobs = record.jobs.clone();
        for job in &mut jobs {
            job.keep_files(FILES_SENT);
        }
        OwnResult {
            jobs,
            origin,
            exit_code,
            verdicts: judged.verdicts.iter().map(verdict).collect(),
            findings: judged.findings.iter().map(finding).collect(),
            why: first_error(record),
        }
    }

    /// The times of its groups; `at` is a time from its origin on its clock.
    fn group_times(&self, at: impl Fn(Nanos) -> u64) -> Vec<GroupTime> {
        let mut groups: BTreeMap<u32, (Nanos, Nanos)> = BTreeMap::new();
        for job in self.jobs.iter().filter(|job| !job.did_nothing()) {
            let times = groups.entry(job.group.group).or_insert((job.started, job.ended));
            *times = (times.0.min(job.started), times.1.max(ended(job)));
        }
        let time =
            |(group, (started, ended))| GroupTime { group, started: at(started), ended: at(ended) };
        groups.into_iter().map(time).collect()
    }
}

/// The end of a worker's I/O, without what it did afterwards.
fn ended(job: &JobRecord) -> Nanos {
    let runtime = job.results.iter().map(|(_, result)| result.runtime).max().unwrap_or_default();
    job.started + runtime
}

fn first_error(record: &RunRecord) -> String {
    let error = record.jobs.iter().flat_map(|job| &job.errors).next();
    let error = error.map(|error| {
        let file = match error.first_file.is_empty() {
            true => String::new(),
            false => format!(" {}", error.first_file),
        };
        format!("{}{file}: {}", error.operation, error.text)
    });
    let messages = record.messages.iter().filter(|message| message.severity >= Severity::Error);
    error.or_else(|| messages.map(|message| message.text.to_string()).next()).unwrap_or_default()
}

/// The sum of some ranks: their jobs added, a row for each.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Part {
    /// What only each rank knows; rank 0 adds what it knows of them.
    pub ranks: Vec<RankRecord>,
    /// Workers, each the sum of those with its job and clone number.
    pub jobs: Vec<JobRecord>,
}

impl Part {
    /// The part of one rank, with times on the axis of rank 0. `own_origin` is the origin of its run on
    /// its clock.
    fn new(rank: u32, result: &OwnResult, own_origin: u64, gather: &Gather) -> Part {
        // Without a known clock, the run is taken to have begun with that of rank 0.
        let moved = |at: Nanos| match gather.clock.to_lead(own_origin + at.0) {
            Some(lead) => Nanos(lead.saturating_sub(gather.origin)),
            None => at,
        };
        let mut jobs = result.jobs.clone();
        jobs.iter_mut().for_each(|job| job.move_times(moved));
        let groups = groups(&jobs, gather);
        jobs.iter_mut().for_each(|job| job.common = common(job, &groups, &gather.windows));
        let (verdicts, findings) = (result.verdicts.clone(), result.findings.clone());
        let (why, exit_code) = (result.why.clone(), result.exit_code);
        let row =
            RankRecord { rank, groups, verdicts, findings, why, exit_code, ..Default::default() };
        Part { ranks: vec![row], jobs }
    }

    /// Adds another part, unless it has a rank that is in this one.
    pub fn add(&mut self, other: Part) {
        let is_in = |rank: &RankRecord| self.ranks.iter().any(|own| own.rank == rank.rank);
        if other.ranks.iter().any(is_in) {
            return;
        }
        self.ranks.extend(other.ranks);
        for job in other.jobs {
            let same = |own: &&mut JobRecord| (own.job, own.clone) == (job.job, job.clone);
            match self.jobs.iter_mut().find(same) {
                Some(own) => own.add_worker(&job),
                None => self.jobs.push(job),
            }
        }
    }
}

/// What a job moved in the common window of its group, if its rank ran all that time.
fn common(job: &JobRecord, groups: &[RankGroup], windows: &[FleetWindow]) -> Option<CommonWindow> {
    let number = job.group.group;
    groups.iter().find(|group| group.group == number && group.in_window)?;
    let window = windows.iter().find(|window| window.group == number)?;
    let moved = job.within(window.start, window.end).map(|_, (ios, bytes)| (*ios, Bytes(*bytes)));
    Some(CommonWindow { start: window.start, length: window.end - window.start, moved })
}

/// What the jobs of a rank did, by group.
fn groups(jobs: &[JobRecord], gather: &Gather) -> Vec<RankGroup> {
    let group = |window: &FleetWindow| {
        let of_group = |job: &&JobRecord| job.group.group == window.group && !job.did_nothing();
        let jobs: Vec<&JobRecord> = jobs.iter().filter(of_group).collect();
        let started = jobs.iter().map(|job| job.started).min()?;
        let ended = jobs.iter().map(|job| ended(job)).max()?;
        let mut clat = Histogram::new();
        let all = jobs.iter().flat_map(|job| job.results.iter());
        all.filter_map(|(_, result)| result.latency.clat.as_ref()).for_each(|one| clat.merge(one));
        let mut out = RankGroup {
            group: window.group,
            started,
            ended,
            in_window: gather.clock.is_known() && started <= window.start && window.end <= ended,
            clat_mean: Nanos(clat.mean() as u64),
            clat_p99: Nanos(clat.percentile(99.0)),
            work: work(&jobs),
            ..RankGroup::default()
        };
        let ios = |from, to| {
            let mut sum = record::PerDirection::all((0, Bytes(0)));
            for (job, d) in jobs.iter().flat_map(|job| Direction::ALL.map(|d| (job, d))) {
                let (ios, bytes) = job.within(from, to)[d];
                let total: &mut (u64, Bytes) = &mut sum[d];
                *total = (total.0 + ios, total.1 + Bytes(bytes));
            }
            sum
        };
        out.within = ios(window.start, window.end);
        let length = (window.end - window.start).0;
        let edge = |part| Nanos(window.start.0 + length * part as u64 / WINDOW_PARTS as u64);
        out.parts = (0..WINDOW_PARTS)
            .map(|part| ios(edge(part), edge(part + 1)).iter().map(|(_, sum)| sum.0).sum())
            .collect();
        Some(out)
    };
    gather.windows.iter().filter_map(group).collect()
}
