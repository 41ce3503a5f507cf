//! Whether two jobs did the same.

use crate::checks::Difference;
use crate::gate::figures::RepeatedJob;
use record::human::size;
use record::{Bytes, JobRecord, PerDirection, Workload};
use std::collections::BTreeMap;

/// The settings that imported results also have.
const TOLD_BY_OTHERS: [&str; 4] = ["rw", "bs", "iodepth", "direct"];

/// Settings that name a location: another location is a difference of environment, not of workload.
const PLACES: [&str; 2] = ["http_host", "directory"];

/// The differences of the workloads of a job; with `is_imported` only in the settings that other
/// programs report.
pub(super) fn differences(
    old: &RepeatedJob,
    new: &RepeatedJob,
    is_imported: bool,
) -> Vec<Difference> {
    let mut all = Difference::between(&described(old), &described(new), "default");
    all.retain(|one| !is_imported || TOLD_BY_OTHERS.contains(&one.what.as_str()));
    all
}

fn described(member: &RepeatedJob) -> BTreeMap<String, String> {
    let Some(workers) = member.runs.first() else { return BTreeMap::new() };
    let Some(first) = workers.first() else { return BTreeMap::new() };
    let first: &JobRecord = first;
    let Workload { rw, block_size, ioengine, iodepth, direct, rate, rate_iops, settings, .. } =
        &first.workload;
    let region: u64 = workers.iter().map(|job| job.workload.region.0).sum();
    let mut all = settings.clone();
    // Another draw of the same work. Suites and randrepeat=0 draw anew in every call.
    all.remove("randseed");
    for place in PLACES {
        all.remove(place);
    }
    let own = [
        ("rw", rw.clone()),
        ("bs", blocks(block_size)),
        ("ioengine", ioengine.clone()),
        ("iodepth", iodepth.to_string()),
        ("direct", u8::from(*direct).to_string()),
        ("region", size(region as f64)),
        ("numjobs", workers.len().to_string()),
        ("rate", limits(rate)),
        ("rate_iops", limits(rate_iops)),
    ];
    all.extend(own.map(|(name, value)| (name.to_owned(), value)));
    all
}

fn blocks(sizes: &PerDirection<(Bytes, Bytes)>) -> String {
    let range = |(least, most): &(Bytes, Bytes)| match least == most {
        true => size(least.0 as f64),
        false => format!("{} to {}", size(least.0 as f64), size(most.0 as f64)),
    };
    let mut shown: Vec<String> = sizes.iter().map(|(_, one)| range(one)).collect();
    shown.dedup();
    shown.join(",")
}

fn limits(limits: &PerDirection<Option<u64>>) -> String {
    let rate = |limit: &Option<u64>| limit.map_or("none".to_owned(), |limit| limit.to_string());
    let mut shown: Vec<String> = limits.iter().map(|(_, one)| rate(one)).collect();
    shown.dedup();
    shown.join(",")
}
