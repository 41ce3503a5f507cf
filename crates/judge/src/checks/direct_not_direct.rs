//! Did direct I/O bypass the page cache?

use super::prelude::*;

/// Growth of the cache that counts, as a share of the bytes moved. Metadata and reads of other programs
/// cause less.
const GROWTH_MIN: f64 = 0.1;
/// Growth of the cache that counts, in bytes.
const BYTES_MIN: u64 = 4 << 20;

pub(super) const CHECK: Check = Check {
    id: "direct-not-direct",
    question: "Did direct I/O bypass the page cache?",
    evidence: "pages of the files in the page cache before and after the run (cachestat)",
    threshold: "warning when a job with direct=1 made the page cache grow by at least 10 % of its files' size and 4 MiB",
    reason: "O_DIRECT leaves no pages in the cache; a filesystem that falls back to buffered I/O leaves every block there",
    cause: "the filesystem accepts O_DIRECT but buffers the I/O (data=journal, compression, checksums, encryption)",
    remedy: || {
        "use a filesystem and mount options that support direct I/O, or report the figure as buffered I/O".into()
    },
    proof: Proof::real(
        "checks/cache.rs::direct_writes_that_leave_pages_in_the_cache_are_not_direct",
        "checks/cache.rs::a_cold_direct_read_is_clean",
    ),
    function: CheckFunction::Data(check),
};

fn check(case: &Case, part: &Part) -> Option<Finding> {
    // A copy may use O_DIRECT for one side only; the other side fills the cache.
    let workload = &part.first().workload;
    if ![Direction::Read, Direction::Write].iter().all(|way| workload.is_direct_in(*way)) {
        return None;
    }
    // Buffered jobs on the same files fill the cache themselves.
    let buffered =
        |other: &&Part| other.is_buffered() && other.files().any(|f| part.files().any(|g| f == g));
    if case.parts.iter().any(|other| buffered(&other)) {
        return None;
    }
    let files = part.different_files();
    let growth = |file: &&str| {
        let file = case.record.evidence.files.get(*file)?;
        let cached = |look: &record::FileLook| look.cached.map(|bytes| bytes.0);
        // A file that the job creates was not in the cache before.
        let before = file.before.as_ref().map_or(Some(0), cached)?;
        let after = cached(file.after.as_ref()?)?;
        Some((after.saturating_sub(before), file.after.as_ref()?.size.0))
    };
    let (grown, whole) = files
        .iter()
        .filter_map(growth)
        .fold((0, 0), |sum, (grown, whole)| (sum.0 + grown, sum.1 + whole));
    let moved: u64 = Direction::ALL.iter().map(|d| part.bytes(*d)).sum();
    let least = (GROWTH_MIN * whole.min(moved) as f64) as u64;
    (grown >= BYTES_MIN && grown >= least).then(|| {
        let text = format!(
            "the page cache grew by {} although the job uses direct I/O",
            size(grown as f64)
        );
        let figures = [Figure::new("growth of the page cache", grown as f64, "bytes")];
        CHECK.finding_for(part, Severity::Warning, text).figures(figures)
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{FILE, findings, job, record, the_finding};
    use super::*;
    use record::Bytes;

    #[test]
    fn a_growing_page_cache_is_reported() {
        let mut record = record(vec![job("scan", Direction::Read, 30)]);
        let file = record.evidence.files.get_mut(FILE).unwrap();
        file.after.as_mut().unwrap().cached = Some(Bytes(100 << 20));
        assert!(the_finding(&record, CHECK.id).text.contains("100 MiB"));
        record.jobs[0].workload.settings = [("direct_only".into(), "read".into())].into();
        assert!(findings(&record, CHECK.id).is_empty());
        record.jobs[0].workload.settings.clear();
        record.jobs[0].workload.direct = false;
        assert!(findings(&record, CHECK.id).is_empty());
    }
}
