//! The searchable properties of a record.

use record::{Direction, JobRecord, PerDirection, RunRecord};
use std::collections::BTreeSet;

/// Maximum number of values stored for a fact. A search finds a job with ten thousand files by these only.
const VALUES_MAX: usize = 64;
/// Maximum number of values in a column, before "and N more".
const JOINED_MAX: usize = 4;

/// Facts of which a run may have several values.
pub(crate) const MULTI_VALUED: [&str; 8] =
    ["job", "rw", "engine", "bs", "target", "device", "model", "filesystem"];

/// The searchable properties of a record.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct SearchTerms {
    /// The values of each of [`MULTI_VALUED`], without repetitions, in their order.
    pub values: [Vec<String>; 8],
    /// The largest queue depth requested.
    pub iodepth: u32,
    /// I/O errors.
    pub errors: u64,
    /// The command line.
    pub command: String,
}

impl SearchTerms {
    pub(crate) fn from_record(record: &RunRecord) -> SearchTerms {
        let jobs = || record.jobs.iter();
        let workloads = || jobs().map(|job| &job.workload);
        let facts = &record.facts;
        let stacks = || facts.targets.keys().flat_map(|target| facts.stack_under(target));
        let models = stacks().filter_map(|name| facts.devices.get(name)?.model.clone());
        let filesystems = facts.targets.values().filter_map(|target| target.filesystem.as_ref());
        let values = [
            unique(jobs().map(|job| job.name.clone())),
            unique(workloads().map(|workload| workload.rw.clone())),
            unique(workloads().map(|workload| workload.ioengine.clone())),
            unique(jobs().flat_map(|job| block_sizes(job, &directions(job)))),
            unique(workloads().flat_map(|workload| workload.files.iter().cloned())),
            unique(stacks().map(str::to_owned)),
            unique(models.map(|model| model.trim().to_owned())),
            unique(filesystems.map(|filesystem| filesystem.kind.clone())),
        ];
        SearchTerms {
            values,
            iodepth: workloads().map(|workload| workload.iodepth).max().unwrap_or_default(),
            errors: jobs().map(errors).sum(),
            command: record.invocation.arguments.join(" "),
        }
    }

    /// The column text of the fact at an index of [`MULTI_VALUED`].
    pub(crate) fn joined(&self, index: usize) -> String {
        let values = &self.values[index];
        match values.len() {
            few if few <= JOINED_MAX => values.join(", "),
            many => format!("{} and {} more", values[..JOINED_MAX].join(", "), many - JOINED_MAX),
        }
    }

    /// Name and value of each fact.
    pub(crate) fn facts(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let named = MULTI_VALUED.into_iter().zip(&self.values);
        named.flat_map(|(name, values)| {
            values.iter().take(VALUES_MAX).map(move |value| (name, &value[..]))
        })
    }
}

/// Number of errors of a worker, at least one if an error ended it.
fn errors(job: &JobRecord) -> u64 {
    let counted: u64 = job.errors.iter().map(|error| error.count).sum();
    counted.max(u64::from(job.error != 0))
}

pub(crate) fn unique(values: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    values.filter(|value| !value.is_empty() && seen.insert(value.clone())).collect()
}

/// The directions in which a worker moved data; of one that failed before, those it was to move it in.
fn directions(job: &JobRecord) -> Vec<Direction> {
    let used: Vec<Direction> = job.directions().collect();
    let rw = job.workload.rw.as_str();
    let wanted = |direction: &Direction| match direction {
        Direction::Read => rw.contains("read") || rw.ends_with("rw"),
        Direction::Write => rw.contains("write") || rw.ends_with("rw"),
        Direction::Trim => rw.contains("trim"),
    };
    if used.is_empty() { Direction::ALL.into_iter().filter(wanted).collect() } else { used }
}

/// The block sizes of a worker in these directions: "4k", "4k-64k".
pub(crate) fn block_sizes(job: &JobRecord, used: &[Direction]) -> Vec<String> {
    let sizes: &PerDirection<_> = &job.workload.block_size;
    let sizes_in = |direction: &Direction| match sizes[*direction] {
        (least, most) if least == most => size(least.0),
        (least, most) => format!("{}-{}", size(least.0), size(most.0)),
    };
    used.iter().map(sizes_in).filter(|size| size != "0").collect()
}

/// A size as job files write it, in the largest unit that divides it.
pub(crate) fn size(bytes: u64) -> String {
    let units = [(1 << 40, "t"), (1 << 30, "g"), (1 << 20, "m"), (1 << 10, "k")];
    match units.into_iter().find(|(unit, _)| bytes > 0 && bytes.is_multiple_of(*unit)) {
        Some((unit, name)) => format!("{}{name}", bytes / unit),
        None => bytes.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::record;

    fn values_of<'a>(terms: &'a SearchTerms, name: &str) -> Vec<&'a str> {
        terms.facts().filter(|(known, _)| *known == name).map(|(_, value)| value).collect()
    }

    #[test]
    fn a_fact_has_the_distinct_values_of_all_jobs() {
        let terms = SearchTerms::from_record(&record("web", 1));
        assert_eq!(values_of(&terms, "job"), ["web"]);
        assert_eq!(values_of(&terms, "rw"), ["randread"]);
        assert_eq!(values_of(&terms, "bs"), ["4k"]);
        assert_eq!(values_of(&terms, "device"), ["nvme0n1p1", "nvme0n1"], "the whole stack");
        assert_eq!(values_of(&terms, "model"), ["Fast SSD 980"]);
        assert_eq!(values_of(&terms, "filesystem"), ["ext4"]);
        assert_eq!((terms.iodepth, terms.errors), (32, 0));
        assert_eq!(terms.command, "fathom run web.fio");
    }

    #[test]
    fn a_write_job_that_failed_has_the_size_of_its_writes() {
        let mut run = record("web", 1);
        let job = &mut run.jobs[0];
        job.results = PerDirection::default();
        job.workload.rw = "randwrite".into();
        job.workload.block_size.write = (::record::Bytes(65536), ::record::Bytes(65536));
        job.error = 28;
        let terms = SearchTerms::from_record(&run);
        assert_eq!(values_of(&terms, "rw"), ["randwrite"]);
        assert_eq!((values_of(&terms, "bs"), terms.errors), (vec!["64k"], 1));
    }

    #[test]
    fn a_column_abbreviates_many_values_and_each_is_a_fact() {
        let mut run = record("web", 1);
        run.jobs[0].workload.files = (0..100).map(|n| format!("/mnt/f{n}")).collect();
        let terms = SearchTerms::from_record(&run);
        assert_eq!(terms.joined(4), "/mnt/f0, /mnt/f1, /mnt/f2, /mnt/f3 and 96 more");
        assert_eq!(values_of(&terms, "target").len(), VALUES_MAX);
    }

    #[test]
    fn a_size_is_in_the_largest_unit_that_divides_it() {
        let sizes = [(0, "0"), (512, "512"), (4096, "4k"), (1 << 20, "1m"), (1536, "1536")];
        for (bytes, text) in sizes {
            assert_eq!(size(bytes), text);
        }
    }
}
