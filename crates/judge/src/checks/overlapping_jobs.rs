//! Do workers read each other's blocks?

use super::check::{Check, How, Look, Proof};
use super::words::size;
use crate::case::{Case, Part};
use crate::finding::{Figure, Finding};
use record::remedy::choose;
use record::{Direction, JobRecord, Severity};

pub(super) const CHECK: Check = Check {
    id: "overlapping-jobs",
    question: "Do workers that run at the same time use the same blocks?",
    evidence: "the regions of workers whose windows overlap, file by file",
    threshold: "warning when buffered readers share blocks, or sequential readers begin at the same place; note for other shared regions",
    reason: "buffered, one worker's read fills the cache for the others; sequential readers in step are answered by read-ahead and the device's own cache. Random direct readers meet too seldom to matter",
    cause: "several workers were given the same file without an offset of their own",
    remedy: || {
        let parts = choose(["offset_increment"]).ending("so that each job has its own part");
        choose(["filename"]).ending("so that each job has its own file").or(parts)
    },
    proof: Proof {
        how: How::Real,
        fires: "crates/cli/tests/checks/cache.rs::workers_that_read_the_same_blocks_are_told",
        silent: "crates/cli/tests/checks/cache.rs::a_cold_direct_read_is_clean",
    },
    look: Look::Data(look),
};

fn look(case: &Case) -> Vec<Finding> {
    case.parts.iter().filter_map(about).collect()
}

/// More pairs than this are not looked at: the first show what there is to see.
const WORKERS_MAX: usize = 64;

fn about(part: &Part) -> Option<Finding> {
    let apart = part.setting("shared_cursor").is_some();
    if part.ios(Direction::Read) == 0 || part.devices.is_empty() || apart {
        return None;
    }
    let workers = &part.workers[..part.workers.len().min(WORKERS_MAX)];
    let pairs = || (0..workers.len()).flat_map(|b| (0..b).map(move |a| (workers[a], workers[b])));
    let shared = pairs().map(|(a, b)| shared(a, b)).max().filter(|bytes| *bytes > 0)?;
    let sharing = pairs().filter(|(a, b)| self::shared(a, b) > 0).count();
    let sequential = !part.first().workload.rw.starts_with("rand");
    let in_step = sequential && pairs().any(|(a, b)| same_start(a, b));
    let severity = if part.is_buffered() || in_step { Severity::Warning } else { Severity::Note };
    let text = format!(
        "{} workers share up to {} of the same file, {sharing} pairs of them{}",
        part.workers.len(),
        size(shared as f64),
        if in_step { ", reading it from the same place on" } else { "" }
    );
    let finding = CHECK.finding(severity, vec![part.name.to_owned()], text);
    let figures = vec![Figure::new("bytes shared", shared as f64, "bytes")];
    Some(Finding { figures, ..finding })
}

fn regions(job: &JobRecord) -> impl Iterator<Item = (&str, u64, u64)> {
    let files = job.workload.files.iter().zip(&job.workload.regions);
    files.map(|(file, region)| (file.as_str(), region.start.0, region.start.0 + region.length.0))
}

/// Bytes both workers go to, of all files, when they ran at the same time.
fn shared(a: &JobRecord, b: &JobRecord) -> u64 {
    if a.started >= b.ended || b.started >= a.ended {
        return 0;
    }
    let common = |(file, from, to): (&str, u64, u64)| {
        let same = regions(b).filter(|(other, ..)| *other == file);
        same.map(|(_, start, end)| to.min(end).saturating_sub(from.max(start))).sum::<u64>()
    };
    regions(a).map(common).sum()
}

fn same_start(a: &JobRecord, b: &JobRecord) -> bool {
    shared(a, b) > 0
        && regions(a)
            .any(|(file, from, _)| regions(b).any(|(f, start, _)| (f, start) == (file, from)))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{findings, job, record, the_finding};
    use super::*;
    use record::Bytes;

    #[test]
    fn only_shared_blocks_are_told_and_only_caches_make_them_grave() {
        let mut record =
            record(vec![job("two", Direction::Read, 10), job("two", Direction::Read, 10)]);
        record.jobs.iter_mut().for_each(|job| job.job = 0);
        assert_eq!(the_finding(&record, CHECK.id).severity, Severity::Note);
        record.jobs.iter_mut().for_each(|job| job.workload.rw = "read".into());
        assert_eq!(the_finding(&record, CHECK.id).severity, Severity::Warning);
        record.jobs.iter_mut().for_each(|job| job.workload.rw = "randread".into());
        record.jobs.iter_mut().for_each(|job| job.workload.direct = false);
        assert_eq!(the_finding(&record, CHECK.id).severity, Severity::Warning);
        record.jobs[1].workload.regions[0].start = Bytes(1 << 30);
        assert!(findings(&record, CHECK.id).is_empty());
    }
}
