//! What answered an operation: the page cache, or storage.

use judge::Judged;
use record::{Direction, FileLook, JobRecord, RunRecord, named};

/// What answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The page cache, for a tenth of the data at least: the figure is not one of storage.
    Memory,
    /// Storage.
    Storage,
    /// Nothing tells.
    Unknown,
}

named!(Source: Memory "page-cache", Storage "storage", Unknown "unknown");

/// A share of the data below this is lost in what else is in a figure.
const SHARE_MIN: f64 = 0.1;

/// What answered a run. Devices are counted where enough was moved to be counted; what a check found
/// there decides. Below that, pages of the files in the page cache tell.
pub(crate) fn source_of(record: &RunRecord, judged: &Judged) -> Source {
    if judged.findings.iter().any(|finding| finding.check == "served-from-cache") {
        return Source::Memory;
    }
    let mut source = Source::Storage;
    for job in &record.jobs {
        match source_of_job(record, job) {
            Source::Memory => return Source::Memory,
            Source::Unknown => source = Source::Unknown,
            Source::Storage => {}
        }
    }
    if record.jobs.is_empty() { Source::Unknown } else { source }
}

fn source_of_job(record: &RunRecord, job: &JobRecord) -> Source {
    if job.workload.direct {
        return Source::Storage;
    }
    let reads = job.results[Direction::Read].ios > 0;
    let writes = job.results[Direction::Write].ios > 0;
    let read = reads.then(|| before(record, job));
    let written = writes.then(|| after(record, job));
    match (read, written) {
        (Some(Source::Memory), _) | (_, Some(Source::Memory)) => Source::Memory,
        (Some(Source::Unknown), _) | (_, Some(Source::Unknown)) | (None, None) => Source::Unknown,
        _ => Source::Storage,
    }
}

/// Reads: what of the files was in the page cache when they began.
fn before(record: &RunRecord, job: &JobRecord) -> Source {
    let looks = job.workload.files.iter().filter_map(|file| {
        let look = record.evidence.files.get(file)?.before.as_ref()?;
        share(look, look.cached?.0)
    });
    by_shares(looks)
}

/// Writes that nothing makes leave memory: what of the files was newer there when they ended.
fn after(record: &RunRecord, job: &JobRecord) -> Source {
    let settings = &job.workload.settings;
    if settings.contains_key("sync") || settings.contains_key("end_fsync") {
        return Source::Storage;
    }
    let looks = job.workload.files.iter().filter_map(|file| {
        let look = record.evidence.files.get(file)?.after.as_ref()?;
        share(look, look.dirty?.0)
    });
    match by_shares(looks) {
        // The file is gone, or the kernel does not tell: writes that are asked to wait for nothing
        // end in memory as long as there is room.
        Source::Unknown => Source::Memory,
        source => source,
    }
}

fn share(look: &FileLook, part: u64) -> Option<f64> {
    (look.size.0 > 0).then(|| part as f64 / look.size.0 as f64)
}

fn by_shares(shares: impl Iterator<Item = f64>) -> Source {
    match shares.reduce(f64::max) {
        Some(share) if share >= SHARE_MIN => Source::Memory,
        Some(_) => Source::Storage,
        None => Source::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::{Bytes, FileEvidence};

    fn look(cached: Option<u64>, dirty: Option<u64>) -> Option<FileLook> {
        let bytes = |share: Option<u64>| share.map(Bytes);
        let (cached, dirty) = (bytes(cached), bytes(dirty));
        Some(FileLook { size: Bytes(100), cached, dirty, ..FileLook::default() })
    }

    fn record(direction: Direction, evidence: FileEvidence) -> RunRecord {
        let mut job = JobRecord::default();
        job.workload.files = vec!["f".into()];
        job.results[direction].ios = 1;
        let mut record = RunRecord { jobs: vec![job], ..RunRecord::default() };
        record.evidence.files.insert("f".into(), evidence);
        record
    }

    fn source(record: &RunRecord) -> Source {
        source_of(record, &Judged::default())
    }

    #[test]
    fn reads_are_of_memory_where_the_file_was_cached() {
        let read = |cached| {
            let before = look(cached, Some(0));
            source(&record(Direction::Read, FileEvidence { before, ..FileEvidence::default() }))
        };
        assert_eq!(read(Some(100)), Source::Memory);
        assert_eq!(read(Some(10)), Source::Memory);
        assert_eq!(read(Some(9)), Source::Storage);
        assert_eq!(read(None), Source::Unknown);
    }

    #[test]
    fn writes_are_of_memory_until_something_makes_them_leave_it() {
        let write = |after, setting: &str| {
            let evidence = FileEvidence { after, ..FileEvidence::default() };
            let mut record = record(Direction::Write, evidence);
            record.jobs[0].workload.settings.insert(setting.into(), "1".into());
            source(&record)
        };
        assert_eq!(write(look(None, Some(80)), "x"), Source::Memory);
        assert_eq!(write(look(None, Some(1)), "x"), Source::Storage, "written back meanwhile");
        assert_eq!(write(None, "x"), Source::Memory, "the file is gone");
        assert_eq!(write(look(Some(100), Some(80)), "end_fsync"), Source::Storage);
        assert_eq!(write(look(Some(100), Some(80)), "sync"), Source::Storage);
    }

    #[test]
    fn what_goes_past_the_cache_is_of_storage_unless_a_check_knows_better() {
        let before = look(Some(100), Some(0));
        let mut record =
            record(Direction::Read, FileEvidence { before, ..FileEvidence::default() });
        record.jobs[0].workload.direct = true;
        assert_eq!(source(&record), Source::Storage);
        let finding = judge::Finding {
            check: "served-from-cache",
            severity: record::Severity::Warning,
            jobs: Vec::new(),
            text: "".into(),
            figures: Vec::new(),
            cause: "".into(),
            remedy: "".into(),
        };
        let judged = Judged { findings: vec![finding], ..Judged::default() };
        assert_eq!(source_of(&record, &judged), Source::Memory);
        assert_eq!(source(&RunRecord::default()), Source::Unknown);
    }
}
