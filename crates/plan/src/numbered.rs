//! Numbered objects of a store: which objects a worker has, and the size of each.

use crate::blocks::Blocks;
use crate::model::{File, ObjectSet, RateLimit, Worker};
use crate::names::clones;
use crate::problem::Diagnostics;
use job::{Job, ObjectWork};
use record::{PerDirection, SplitMix64, TargetKind};

/// Maximum number of objects of one worker.
const OBJECTS_MAX: u64 = 1 << 31;
/// Maximum requests of one worker in flight. Each needs a connection, and each connection a local port.
const REQUESTS_MAX: u64 = 65_535;
/// Maximum number of parts of one upload in S3.
const PARTS_MAX: u64 = 10_000;
/// Derives the seed of object sizes, so that they are independent of offsets.
const SIZE_SEED: u64 = 0x6f_62_6a_65_63_74;

/// Replaces the files of a worker by numbered objects, if its job uses them. Returns whether it does.
pub(crate) fn of_worker(job: &Job, clone: u64, seed: u64, worker: &mut Worker) -> bool {
    let options = &job.queue.options.numbered;
    let Some(work) = options.work else { return false };
    let clone_count = clones(job).max(1);
    let count = options.count / clone_count + u64::from(clone < options.count % clone_count);
    let below = format!("{}/{clone}/", base(job));
    let sizes = worker.pattern.blocks.write.clone();
    let length = sizes.max().max(count.saturating_mul(sizes.min() / 2 + sizes.max() / 2));
    let is_mixed = work == ObjectWork::Mixed;
    worker.files = vec![File {
        path: base(job).into(),
        kind: TargetKind::Missing,
        length,
        whole: length,
        ..File::default()
    }];
    if is_mixed {
        let (get, put) = (options.mix.get, options.mix.put);
        worker.pattern.mix_read = (100 * get).checked_div(get + put).unwrap_or(0) as u8;
    }
    worker.numbered = Some(ObjectSet {
        work,
        below,
        count: count as u32,
        mix: options.mix,
        range: Some(options.range).filter(|range| *range > 0),
        part_size: Some(options.part_size).filter(|size| *size > 0),
        part_concurrent: options.part_concurrent as u32,
        max_keys: options.max_keys as u32,
        rate: if is_mixed { take_rate(worker) } else { None },
        sizes,
        seed: SplitMix64::nth(SplitMix64::nth(seed, SIZE_SEED), clone),
    });
    true
}

/// The "/bucket/prefix" of the job, without a trailing slash.
fn base(job: &Job) -> &str {
    job.target.filenames.first().map_or("", |name| name.trim_end_matches('/'))
}

/// Moves the rate limit out of the worker's pacing. The rate of a mix counts operations of all kinds
/// together, so the source of operations enforces it, not the gate of each direction.
fn take_rate(worker: &mut Worker) -> Option<u64> {
    let limits = std::mem::replace(&mut worker.pacing.limit, PerDirection::all(None));
    limits.iter().find_map(|(_, limit)| match limit {
        Some(RateLimit::Iops(rate)) => Some(*rate),
        _ => None,
    })
}

/// Reports options that numbered objects do not support.
pub(crate) fn check(job: &Job, blocks: &Blocks, diagnostics: &mut Diagnostics) {
    let options = &job.queue.options.numbered;
    let Some(work) = options.work else { return };
    check_bucket_and_prefix(job, diagnostics);
    check_count(job, work, diagnostics);
    if job.pattern.rw != work.rw() {
        let what = format!("rw={} with object_set={}", job.pattern.rw.name(), work.name());
        diagnostics.usage(job, "rw", what, "leave it out: the work says it");
    }
    let sizes = &blocks.sizes;
    if sizes.read != sizes.write || sizes.write != sizes.trim {
        let what = "one size for reads and another for writes".to_owned();
        diagnostics.usage(
            job,
            "bs",
            what,
            "an object has one size, whatever is done with it: give one",
        );
    }
    let mix = options.mix;
    if work == ObjectWork::Mixed && mix.delete > mix.put {
        let what = format!("{} deletes for {} puts leave nothing", mix.delete, mix.put);
        diagnostics.usage(job, "object_mix", what, "give as large a share to puts");
    }
    let part = options.part_size;
    let largest = sizes.write.max();
    if part > 0 && largest.div_ceil(part) > PARTS_MAX {
        let what =
            format!("{} parts of an object, {PARTS_MAX} are allowed", largest.div_ceil(part));
        diagnostics.usage(job, "object_part_size", what, "raise it");
    }
    let parts_in_flight = job.queue.iodepth.unwrap_or(1).saturating_mul(options.part_concurrent);
    if part > 0 && parts_in_flight > REQUESTS_MAX {
        let what = format!("{parts_in_flight} parts in flight, {REQUESTS_MAX} are possible");
        diagnostics.usage(job, "object_part_concurrent", what, "lower it, or iodepth");
    }
    let limits_bytes = job.rate.bandwidth.iter().any(|(_, rate)| rate.is_some());
    if work == ObjectWork::Mixed && limits_bytes {
        let what = "a rate in bytes, and a mix has operations without any".to_owned();
        diagnostics.usage(job, "rate", what, "give rate_iops: operations of all kinds together");
    }
    if job.verify.method.is_some() {
        let what = "with object_set".to_owned();
        diagnostics.usage(job, "verify", what, "leave it out, or work on blocks of files");
    }
}

/// Checks that the job names one bucket and prefix.
fn check_bucket_and_prefix(job: &Job, diagnostics: &mut Diagnostics) {
    let base = base(job);
    let mut parts = base.strip_prefix('/').unwrap_or_default().splitn(2, '/');
    let is_complete = parts.next().is_some_and(|bucket| !bucket.is_empty())
        && parts.next().is_some_and(|prefix| !prefix.is_empty());
    if !is_complete || job.target.filenames.len() != 1 {
        let what = format!("'{}' is not one bucket and prefix", job.target.filenames.join(":"));
        diagnostics.usage(job, "filename", what, "give /bucket/prefix");
    }
}

/// Checks the number of objects, and that puts end.
fn check_count(job: &Job, work: ObjectWork, diagnostics: &mut Diagnostics) {
    let options = &job.queue.options.numbered;
    let has_runtime = job.timing.runtime.is_some_and(|runtime| runtime.0 > 0);
    let clone_count = clones(job).max(1);
    if work.needs_objects() && options.count < clone_count {
        let what = format!("{} objects for {clone_count} clones", options.count);
        diagnostics.usage(job, "object_count", what, "give at least one to each");
    }
    if options.count.div_ceil(clone_count) > OBJECTS_MAX {
        let what = format!("{} objects of one clone", options.count.div_ceil(clone_count));
        diagnostics.usage(job, "object_count", what, "give fewer, or more numjobs");
    }
    if work == ObjectWork::Put && options.count == 0 && !has_runtime {
        let what = "nothing says how many objects to put".to_owned();
        diagnostics.usage(job, "object_count", what, "give it, or runtime");
    }
}
