//! The numbered objects of a worker.

use super::blocks::BlockPlan;
use crate::random::between;
use job::{ObjectMix, ObjectWork};
use record::SplitMix64;

/// The numbered objects of a worker. Workers share no objects, so none reads what another has deleted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObjectSet {
    /// The operations on them.
    pub work: ObjectWork,
    /// Prefix of their paths: "/bucket/prefix/CLONE/".
    pub below: String,
    /// Number of objects that exist at the start. For [`ObjectWork::Put`] the number of objects to
    /// put, where 0 means as many as the runtime allows.
    pub count: u32,
    /// Shares of the operations of [`ObjectWork::Mixed`].
    pub mix: ObjectMix,
    /// Length of the range that a get fetches, in bytes; `None` for the whole object.
    pub range: Option<u64>,
    /// Size of the parts of an upload, in bytes; `None` if each object is put with one request.
    pub part_size: Option<u64>,
    /// Maximum parts of one upload in flight.
    pub part_concurrent: u32,
    /// Maximum keys per list request.
    pub max_keys: u32,
    /// Rate limit of [`ObjectWork::Mixed`], in operations of all kinds per second.
    pub rate: Option<u64>,
    /// Sizes of the objects.
    pub(crate) sizes: BlockPlan,
    pub(crate) seed: u64,
}

impl ObjectSet {
    /// Objects `0..count` with the path prefix `below`, all of one size.
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

    /// Size of an object, in bytes. A number always has the same size.
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
                    let is_drawn = percent < *share;
                    percent = percent.saturating_sub(*share);
                    is_drawn
                });
                fits.or(entries.last()).map_or(1, |(size, _)| *size)
            }
        }
    }

    /// Replaces `path` by the path of an object.
    pub fn path(&self, number: u32, path: &mut String) {
        record::numbered_path(&self.below, number, path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(sizes: BlockPlan) -> ObjectSet {
        ObjectSet { sizes, seed: 7, ..ObjectSet::new(ObjectWork::Get, "/b/p/0/", 10, 1) }
    }

    #[test]
    fn a_path_is_the_prefix_and_the_number() {
        let mut path = "before".to_owned();
        set(BlockPlan::Fixed(1)).path(42, &mut path);
        assert_eq!(path, "/b/p/0/00000042");
    }

    #[test]
    fn an_object_keeps_its_size_and_sizes_follow_their_shares() {
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
