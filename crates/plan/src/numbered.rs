//! Numbered objects of a store: which of them a worker has, and how large each is.

use crate::blocks::Blocks;
use crate::model::{BlockPlan, File, RateLimit, Worker};
use crate::names::clones;
use crate::problem::Findings;
use crate::random::between;
use job::{Job, ObjectMix, ObjectWork};
use record::{PerDirection, SplitMix64, TargetKind};

/// Numbers that the objects of one worker can have.
const NUMBERS: u64 = 1 << 31;
/// Requests of one worker in flight: as many connections as there are ports to make them from.
const REQUESTS_MAX: u64 = 65_535;
/// Parts of one upload, as S3 has it.
const PARTS_MAX: u64 = 10_000;
/// Sizes are drawn by seeds that differ from those of offsets by this.
const SIZES: u64 = 0x6f_62_6a_65_63_74;

/// The numbered objects of a worker. Nobody else has them, so that what it deletes is missing to
/// nobody.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObjectSet {
    /// What is done with them.
    pub work: ObjectWork,
    /// What the paths of all of them begin with: "/bucket/prefix/CLONE/".
    pub below: String,
    /// Objects 0 to this, exclusive, are there at the beginning; for [`ObjectWork::Put`], are put,
    /// and 0 stands for as many as the time allows.
    pub count: u32,
    /// Shares of [`ObjectWork::Mixed`].
    pub mix: ObjectMix,
    /// Length of the range that a get fetches, in bytes; `None`: the whole object.
    pub range: Option<u64>,
    /// Size of the parts that objects are put in, in bytes; `None`: each is one request.
    pub part_size: Option<u64>,
    /// Parts of one upload in flight.
    pub part_concurrent: u32,
    /// Keys that one list asks for.
    pub max_keys: u32,
    /// Operations of all kinds together a second, of a mix; `None`: as fast as it can.
    pub rate: Option<u64>,
    /// Sizes of the objects.
    sizes: BlockPlan,
    seed: u64,
}

impl ObjectSet {
    /// Objects `0..count` below a path, all of one size, and what is done with them.
    pub fn new(work: ObjectWork, below: &str, count: u32, size: u64) -> ObjectSet {
        ObjectSet {
            work,
            below: below.to_owned(),
            count,
            part_concurrent: 1,
            max_keys: 1000,
            sizes: BlockPlan::Fixed(size),
            ..ObjectSet::default()
        }
    }

    /// Size of an object, in bytes: of each number always the same.
    pub fn size(&self, number: u32) -> u64 {
        let drawn = SplitMix64::nth(self.seed, u64::from(number));
        match &self.sizes {
            BlockPlan::Fixed(size) => *size,
            BlockPlan::Range { min, max, step } => {
                min + between(drawn, 0, (max - min) / step) * step
            }
            BlockPlan::Split(entries) => {
                let mut percent = between(drawn, 0, 99) as u32;
                let fits = entries.iter().find(|(_, share)| {
                    let here = percent < *share;
                    percent = percent.saturating_sub(*share);
                    here
                });
                fits.or(entries.last()).map_or(1, |(size, _)| *size)
            }
        }
    }

    /// Writes the path of an object over `path`.
    pub fn path(&self, number: u32, path: &mut String) {
        record::numbered_path(&self.below, number, path);
    }
}

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
pub(crate) fn check(job: &Job, blocks: &Blocks, found: &mut Findings) {
    let given = &job.queue.options.numbered;
    let Some(work) = given.work else { return };
    check_place(job, found);
    check_amount(job, work, found);
    if job.pattern.rw != work.rw() {
        let what = format!("rw={} with object_set={}", job.pattern.rw.name(), work.name());
        found.usage(job, "rw", what, "leave it out: the work says it");
    }
    let sizes = &blocks.sizes;
    if sizes.read != sizes.write || sizes.write != sizes.trim {
        let what = "one size for reads and another for writes".to_owned();
        found.usage(job, "bs", what, "an object has one size, whatever is done with it: give one");
    }
    let mix = given.mix;
    if work == ObjectWork::Mixed && mix.delete > mix.put {
        let what = format!("{} deletes for {} puts leave nothing", mix.delete, mix.put);
        found.usage(job, "object_mix", what, "give as large a share to puts");
    }
    let part = given.part_size;
    let largest = sizes.write.max();
    if part > 0 && largest.div_ceil(part) > PARTS_MAX {
        let what =
            format!("{} parts of an object, {PARTS_MAX} are allowed", largest.div_ceil(part));
        found.usage(job, "object_part_size", what, "raise it");
    }
    let slots = job.queue.iodepth.unwrap_or(1).saturating_mul(given.part_concurrent);
    if part > 0 && slots > REQUESTS_MAX {
        let what = format!("{slots} parts in flight, {REQUESTS_MAX} are possible");
        found.usage(job, "object_part_concurrent", what, "lower it, or iodepth");
    }
    let by_bytes = job.rate.bandwidth.iter().any(|(_, rate)| rate.is_some());
    if work == ObjectWork::Mixed && by_bytes {
        let what = "a rate in bytes, and a mix has operations without any".to_owned();
        found.usage(job, "rate", what, "give rate_iops: operations of all kinds together");
    }
    if job.verify.method.is_some() {
        let what = "with object_set".to_owned();
        found.usage(job, "verify", what, "leave it out, or work on blocks of files");
    }
}

/// Where the objects are.
fn check_place(job: &Job, found: &mut Findings) {
    let base = base(job);
    let mut parts = base.strip_prefix('/').unwrap_or_default().splitn(2, '/');
    let named = parts.next().is_some_and(|bucket| !bucket.is_empty())
        && parts.next().is_some_and(|prefix| !prefix.is_empty());
    if !named || job.target.filenames.len() != 1 {
        let what = format!("'{}' is not one bucket and prefix", job.target.filenames.join(":"));
        found.usage(job, "filename", what, "give /bucket/prefix");
    }
}

/// How many there are, and when it ends.
fn check_amount(job: &Job, work: ObjectWork, found: &mut Findings) {
    let given = &job.queue.options.numbered;
    let timed = job.timing.runtime.is_some_and(|runtime| runtime.0 > 0);
    let all = clones(job).max(1);
    if work.needs_objects() && given.count < all {
        let what = format!("{} objects for {all} clones", given.count);
        found.usage(job, "object_count", what, "give at least one to each");
    }
    if given.count.div_ceil(all) > NUMBERS {
        let what = format!("{} objects of one clone", given.count.div_ceil(all));
        found.usage(job, "object_count", what, "give fewer, or more numjobs");
    }
    if work == ObjectWork::Put && given.count == 0 && !timed {
        let what = "nothing says how many objects to put".to_owned();
        found.usage(job, "object_count", what, "give it, or runtime");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(sizes: BlockPlan) -> ObjectSet {
        ObjectSet { sizes, seed: 7, ..ObjectSet::new(ObjectWork::Get, "/b/p/0/", 10, 1) }
    }

    #[test]
    fn names_are_below_the_prefix_by_number() {
        let mut path = "before".to_owned();
        set(BlockPlan::Fixed(1)).path(42, &mut path);
        assert_eq!(path, "/b/p/0/00000042");
    }

    #[test]
    fn a_number_has_one_size_and_sizes_have_their_shares() {
        let split = set(BlockPlan::Split(vec![(4096, 50), (1 << 20, 30), (5 << 20, 20)]));
        let mut counts = [0; 3];
        for number in 0..10_000 {
            let size = split.size(number);
            assert_eq!(size, split.size(number));
            let at = [4096, 1 << 20, 5 << 20].iter().position(|s| *s == size);
            counts[at.expect("one of the sizes")] += 1;
        }
        for (count, share) in counts.into_iter().zip([5000_i32, 3000, 2000]) {
            assert!((count - share).abs() < 300, "{counts:?}");
        }
        let range = set(BlockPlan::Range { min: 4096, max: 1 << 20, step: 4096 });
        let sizes: Vec<u64> = (0..5000).map(|number| range.size(number)).collect();
        assert!(sizes.iter().all(|s| (4096..=1 << 20).contains(s) && s % 4096 == 0));
        assert!(sizes.contains(&4096) && sizes.contains(&(1 << 20)));
    }
}
