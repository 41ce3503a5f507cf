//! Did direct I/O go past the page cache?

use super::check::{Check, How, Look, Proof};
use super::words::size;
use crate::case::{Case, Part};
use crate::finding::{Figure, Finding};
use record::{Direction, Severity};

/// Growth of the cache that counts, as a share of the bytes moved. Metadata and reads of other programs
/// cause less.
const GROWTH_MIN: f64 = 0.1;
/// Growth of the cache that counts, in bytes.
const BYTES_MIN: u64 = 4 << 20;

pub(super) const CHECK: Check = Check {
    id: "direct-not-direct",
    question: "Did direct I/O go past the page cache?",
    evidence: "pages of the files in the page cache after the run, against before (cachestat)",
    threshold: "warning when the cache of a job with direct=1 grew by a tenth of its files' size, and 4 MiB",
    reason: "O_DIRECT leaves no pages behind; where the filesystem falls back to buffered I/O, every block does",
    cause: "the filesystem takes O_DIRECT and buffers nevertheless (data=journal, compression, checksums, encryption)",
    remedy: || {
        "measure on a filesystem, or with mount options, that do direct I/O; or treat the figure as buffered".into()
    },
    proof: Proof {
        how: How::Real,
        fires: "crates/cli/tests/checks/cache.rs::direct_writes_that_leave_pages_in_the_cache_are_not_direct",
        silent: "crates/cli/tests/checks/cache.rs::a_cold_direct_read_is_clean",
    },
    look: Look::Data(look),
};

fn look(case: &Case) -> Vec<Finding> {
    case.parts.iter().filter_map(|part| check_part(case, part)).collect()
}

fn check_part(case: &Case, part: &Part) -> Option<Finding> {
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
    let mut files: Vec<&str> = part.files().collect();
    files.sort_unstable();
    files.dedup();
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
            "the page cache grew by {} of a job that asked for direct I/O",
            size(grown as f64)
        );
        let finding = CHECK.finding(Severity::Warning, vec![part.name.to_owned()], text);
        let figures = vec![Figure::new("growth of the page cache", grown as f64, "bytes")];
        Finding { figures, ..finding }
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
        assert!(the_finding(&record, CHECK.id).text.contains("100.0 MiB"));
        record.jobs[0].workload.settings = [("direct_only".into(), "read".into())].into();
        assert!(findings(&record, CHECK.id).is_empty());
        record.jobs[0].workload.settings.clear();
        record.jobs[0].workload.direct = false;
        assert!(findings(&record, CHECK.id).is_empty());
    }
}
