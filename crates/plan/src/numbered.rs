//! Numbered objects of a store: which of them a worker has, and how large each is.

use crate::blocks::Blocks;
use crate::model::{File, ObjectSet, RateLimit, Worker};
use crate::names::clones;
use crate::problem::Diagnostics;
use job::{Job, ObjectWork};
use record::{PerDirection, SplitMix64, TargetKind};

/// Numbers that the objects of one worker can have.
const NUMBERS: u64 = 1 << 31;
/// Requests of one worker in flight: as many connections as there are ports to make them from.
const REQUESTS_MAX: u64 = 65_535;
/// Parts of one upload, as S3 has it.
const PARTS_MAX: u64 = 10_000;
/// Sizes are drawn by seeds that differ from those of offsets by this.
const SIZES: u64 = 0x6f_62_6a_65_63_74;

/// Gives a worker its numbered objects, where its job works on such: they stand for its files, and
/// end it. Whether that is so.
pub(crate) fn of_worker(job: &Job, clone: u64, seed: u64, worker: &mut Worker) -> bool {
    let given = &job.queue.options.numbered;
    let Some(work) = given.work else { return false };
    let all = clones(job).max(1);
    let count = given.count / all + u64::from(clone < given.count % all);
    let below = format!("{}/{clone}/", base(job));
    let sizes = worker.pattern.blocks.write.clone();
    let length = sizes.max().max(count.saturating_mul(sizes.min() / 2 + sizes.max() / 2));
    let mixed = work == ObjectWork::Mixed;
    worker.files = vec![File {
        path: base(job).into(),
        kind: TargetKind::Missing,
        length,
        whole: length,
        ..File::default()
    }];
    if mixed {
        let (get, put) = (given.mix.get, given.mix.put);
        worker.pattern.mix_read = (100 * get).checked_div(get + put).unwrap_or(0) as u8;
    }
    worker.numbered = Some(ObjectSet {
        work,
        below,
        count: count as u32,
        mix: given.mix,
        range: Some(given.range).filter(|range| *range > 0),
        part_size: Some(given.part_size).filter(|size| *size > 0),
        part_concurrent: given.part_concurrent as u32,
        max_keys: given.max_keys as u32,
        rate: if mixed { take_rate(worker) } else { None },
        sizes,
        seed: SplitMix64::nth(SplitMix64::nth(seed, SIZES), clone),
    });
    true
}

/// "/bucket/prefix" as it was named, without the slash that follows.
fn base(job: &Job) -> &str {
    job.target.filenames.first().map_or("", |name| name.trim_end_matches('/'))
}

/// The rate of a mix is of all its kinds together: its source keeps to it, no gate.
fn take_rate(worker: &mut Worker) -> Option<u64> {
    let limits = std::mem::replace(&mut worker.pacing.limit, PerDirection::all(None));
    limits.iter().find_map(|(_, limit)| match limit {
        Some(RateLimit::Iops(rate)) => Some(*rate),
        _ => None,
    })
}

/// Refuses what cannot be done with numbered objects.
pub(crate) fn check(job: &Job, blocks: &Blocks, diagnostics: &mut Diagnostics) {
    let given = &job.queue.options.numbered;
    let Some(work) = given.work else { return };
    check_place(job, diagnostics);
    check_amount(job, work, diagnostics);
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
    let mix = given.mix;
    if work == ObjectWork::Mixed && mix.delete > mix.put {
        let what = format!("{} deletes for {} puts leave nothing", mix.delete, mix.put);
        diagnostics.usage(job, "object_mix", what, "give as large a share to puts");
    }
    let part = given.part_size;
    let largest = sizes.write.max();
    if part > 0 && largest.div_ceil(part) > PARTS_MAX {
        let what =
            format!("{} parts of an object, {PARTS_MAX} are allowed", largest.div_ceil(part));
        diagnostics.usage(job, "object_part_size", what, "raise it");
    }
    let slots = job.queue.iodepth.unwrap_or(1).saturating_mul(given.part_concurrent);
    if part > 0 && slots > REQUESTS_MAX {
        let what = format!("{slots} parts in flight, {REQUESTS_MAX} are possible");
        diagnostics.usage(job, "object_part_concurrent", what, "lower it, or iodepth");
    }
    let by_bytes = job.rate.bandwidth.iter().any(|(_, rate)| rate.is_some());
    if work == ObjectWork::Mixed && by_bytes {
        let what = "a rate in bytes, and a mix has operations without any".to_owned();
        diagnostics.usage(job, "rate", what, "give rate_iops: operations of all kinds together");
    }
    if job.verify.method.is_some() {
        let what = "with object_set".to_owned();
        diagnostics.usage(job, "verify", what, "leave it out, or work on blocks of files");
    }
}

/// Where the objects are.
fn check_place(job: &Job, diagnostics: &mut Diagnostics) {
    let base = base(job);
    let mut parts = base.strip_prefix('/').unwrap_or_default().splitn(2, '/');
    let named = parts.next().is_some_and(|bucket| !bucket.is_empty())
        && parts.next().is_some_and(|prefix| !prefix.is_empty());
    if !named || job.target.filenames.len() != 1 {
        let what = format!("'{}' is not one bucket and prefix", job.target.filenames.join(":"));
        diagnostics.usage(job, "filename", what, "give /bucket/prefix");
    }
}

/// How many there are, and when it ends.
fn check_amount(job: &Job, work: ObjectWork, diagnostics: &mut Diagnostics) {
    let given = &job.queue.options.numbered;
    let timed = job.timing.runtime.is_some_and(|runtime| runtime.0 > 0);
    let all = clones(job).max(1);
    if work.needs_objects() && given.count < all {
        let what = format!("{} objects for {all} clones", given.count);
        diagnostics.usage(job, "object_count", what, "give at least one to each");
    }
    if given.count.div_ceil(all) > NUMBERS {
        let what = format!("{} objects of one clone", given.count.div_ceil(all));
        diagnostics.usage(job, "object_count", what, "give fewer, or more numjobs");
    }
    if work == ObjectWork::Put && given.count == 0 && !timed {
        let what = "nothing says how many objects to put".to_owned();
        diagnostics.usage(job, "object_count", what, "give it, or runtime");
    }
}
