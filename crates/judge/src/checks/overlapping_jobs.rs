//! Do workers that run at the same time use the same blocks?

use super::prelude::*;

pub(super) const CHECK: Check = Check {
    id: "overlapping-jobs",
    question: "Do workers that run at the same time use the same blocks?",
    evidence: "the regions of workers that run at the same time, file by file",
    threshold: "warning when buffered readers share blocks, or sequential readers start at the same offset; note for other shared regions",
    reason: "a buffered read of one worker fills the cache for the others; read-ahead and the device's cache serve sequential readers that start together. Random direct reads hit the same block too rarely to matter",
    cause: "several workers use the same file without separate offsets",
    remedy: || {
        let parts = choose(["offset_increment"]).ending("to give each job its own part");
        choose(["filename"]).ending("to give each job its own file").or(parts)
    },
    proof: Proof::real(
        "checks/cache.rs::workers_that_read_the_same_blocks_are_told",
        "checks/cache.rs::a_cold_direct_read_is_clean",
    ),
    function: CheckFunction::Data(check),
};

/// More pairs than this are not looked at: the first show what there is to see.
const WORKERS_MAX: usize = 64;

fn check(_: &Case, part: &Part) -> Option<Finding> {
    let apart = part.setting("shared_cursor").is_some();
    if part.ios(Direction::Read) == 0 || part.devices.is_empty() || apart {
        return None;
    }
    let workers = &part.workers[..part.workers.len().min(WORKERS_MAX)];
    let pairs = || (0..workers.len()).flat_map(|b| (0..b).map(move |a| (workers[a], workers[b])));
    let shared = pairs().map(|(a, b)| shared(a, b)).max().filter(|bytes| *bytes > 0)?;
    let sharing = pairs().filter(|(a, b)| self::shared(a, b) > 0).count();
    let in_step = !part.is_random() && pairs().any(|(a, b)| same_start(a, b));
    let severity = if part.is_buffered() || in_step { Severity::Warning } else { Severity::Note };
    let text = format!(
        "{} workers use the same file at the same time: {} share up to {}{}",
        part.workers.len(),
        counted(sharing, "pair"),
        size(shared as f64),
        if in_step { " and start at the same offset" } else { "" }
    );
    let figures = [Figure::new("bytes shared", shared as f64, "bytes")];
    Some(CHECK.finding_for(part, severity, text).figures(figures))
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
