//! Reuse of blocks in bounded memory, by spatial sampling: a block is followed if its hash lies below a
//! threshold, which is halved whenever too many blocks are followed (C. Waldspurger et al., "Efficient MRC
//! Construction with SHARDS", 2015, fixed size).

use crate::counts::LogHistogram;
use record::SplitMix64;
use std::collections::HashMap;

/// The hash of a block of a file.
pub fn hash(file: u32, block: u64) -> u64 {
    SplitMix64::nth(block, u64::from(file) << 20 | 1)
}

/// What is known of a followed block.
#[derive(Clone, Copy, Debug)]
struct Block {
    /// Its place in the order of latest accesses.
    stamp: u32,
    /// Number of the latest access, of all blocks.
    access: u64,
    count: u64,
}

/// Follows the accesses to blocks.
#[derive(Clone, Debug)]
pub struct Tracker {
    blocks: HashMap<u64, Block>,
    most: usize,
    /// One block in 2^`shift` is followed.
    shift: u32,
    order: Order,
    accesses: u64,
    /// Distinct other blocks since the latest access to the same block.
    distances: LogHistogram,
    /// Accesses since the latest access to the same block.
    times: LogHistogram,
    /// First accesses to a block.
    cold: u64,
}

impl Tracker {
    /// Follows at most `most` blocks.
    pub fn new(most: usize) -> Tracker {
        Tracker {
            blocks: HashMap::new(),
            most,
            shift: 0,
            order: Order::new(most),
            accesses: 0,
            distances: LogHistogram::default(),
            times: LogHistogram::default(),
            cold: 0,
        }
    }

    /// An access to the block with this hash.
    pub fn access(&mut self, hash: u64) {
        self.accesses += 1;
        if hash.leading_zeros() < self.shift {
            return;
        }
        let weight = 1 << self.shift;
        if self.order.is_full() {
            self.renumber();
        }
        let accesses = self.accesses;
        match self.blocks.get_mut(&hash) {
            Some(block) => {
                let distance = self.order.later_than(block.stamp);
                self.distances.add_n(distance * weight, weight);
                self.times.add_n(accesses - block.access, weight);
                self.order.remove(block.stamp);
                *block =
                    Block { stamp: self.order.add(), access: accesses, count: block.count + 1 };
            }
            None => {
                self.cold += weight;
                let block = Block { stamp: self.order.add(), access: accesses, count: 1 };
                self.blocks.insert(hash, block);
                if self.blocks.len() > self.most {
                    self.thin();
                }
            }
        }
    }

    /// Follows half as many blocks.
    fn thin(&mut self) {
        self.shift += 1;
        let (shift, order) = (self.shift, &mut self.order);
        self.blocks.retain(|hash, block| {
            let stays = hash.leading_zeros() >= shift;
            if !stays {
                order.remove(block.stamp);
            }
            stays
        });
    }

    /// Numbers the blocks anew in the order of their latest accesses.
    fn renumber(&mut self) {
        let mut all: Vec<&mut Block> = self.blocks.values_mut().collect();
        all.sort_unstable_by_key(|block| block.stamp);
        self.order = Order::new(self.most);
        all.into_iter().for_each(|block| block.stamp = self.order.add());
    }

    /// The share of blocks that are followed.
    pub fn rate(&self) -> f64 {
        0.5_f64.powi(self.shift as i32)
    }

    /// Accesses to each followed block.
    pub fn counts(&self) -> Vec<u64> {
        self.blocks.values().map(|block| block.count).collect()
    }

    /// First accesses and all accesses, estimated.
    pub fn cold(&self) -> (u64, u64) {
        (self.cold, self.cold + self.times.count())
    }

    /// Accesses between two accesses to the same block.
    pub fn times(&self) -> &LogHistogram {
        &self.times
    }

    /// Distinct other blocks between two accesses to the same block.
    pub fn distances(&self) -> &LogHistogram {
        &self.distances
    }

    /// The share of accesses that a cache of `blocks` blocks with least-recently-used replacement answers.
    pub fn hits(&self, blocks: f64) -> f64 {
        hits(&self.distances, self.cold, blocks)
    }

    /// The number of blocks of the smallest such cache that answers `share` of all accesses; `None` if
    /// too many accesses are the first of their blocks.
    pub fn cache_for(&self, share: f64) -> Option<f64> {
        let (_, all) = self.cold();
        let wanted = share * all as f64;
        let mut hits = 0.0;
        let bin = self.distances.bins().find(|(.., count)| {
            hits += *count as f64;
            hits >= wanted
        });
        bin.map(|(_, high, _)| high as f64)
    }
}

/// The share of accesses that such a cache answers, from the distances of accesses to blocks that were used
/// before and the number of other accesses.
pub fn hits(distances: &LogHistogram, cold: u64, blocks: f64) -> f64 {
    let (above, _) = distances.above(blocks.max(1.0));
    let all = distances.count() + cold;
    (distances.count() - above) as f64 / all.max(1) as f64
}

/// Numbers that are given in order and taken back, and how many are left above one: a Fenwick tree.
#[derive(Clone, Debug)]
struct Order {
    tree: Vec<u32>,
    next: u32,
    left: u32,
    size: usize,
}

impl Order {
    /// For `most` numbers at a time.
    fn new(most: usize) -> Order {
        Order { tree: Vec::new(), next: 0, left: 0, size: most * 4 + 16 }
    }

    fn is_full(&self) -> bool {
        self.next as usize + 2 >= self.size
    }

    fn add(&mut self) -> u32 {
        if self.tree.is_empty() {
            self.tree = vec![0; self.size];
        }
        let stamp = self.next;
        self.change(stamp, 1);
        self.next += 1;
        self.left += 1;
        stamp
    }

    fn remove(&mut self, stamp: u32) {
        self.change(stamp, -1);
        self.left -= 1;
    }

    fn change(&mut self, stamp: u32, by: i32) {
        let mut at = stamp as usize + 1;
        while at < self.tree.len() {
            self.tree[at] = self.tree[at].wrapping_add_signed(by);
            at += at & at.wrapping_neg();
        }
    }

    fn later_than(&self, stamp: u32) -> u64 {
        let (mut at, mut sum) = (stamp as usize + 1, 0);
        while at > 0 {
            sum += self.tree[at];
            at &= at - 1;
        }
        u64::from(self.left - sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_over_blocks_has_their_number_as_distance() {
        let mut tracker = Tracker::new(1 << 12);
        (0..100_000_u64).for_each(|n| tracker.access(hash(0, n % 1000)));
        let cache = tracker.cache_for(0.9).unwrap();
        assert!((900.0..1200.0).contains(&cache), "{cache}");
        assert!(tracker.hits(800.0) < 0.01 && tracker.hits(1200.0) > 0.95);
        assert_eq!(tracker.times().quantile(0.5).round() as u64 / 100, 9);
    }

    #[test]
    fn sampled_distances_are_those_of_all_blocks() {
        let mut tracker = Tracker::new(1 << 9);
        (0..400_000_u64).for_each(|n| tracker.access(hash(3, n % 100_000)));
        assert!(tracker.rate() < 0.01);
        let (distinct, cache) =
            (tracker.blocks.len() as f64 / tracker.rate(), tracker.cache_for(0.5).unwrap());
        assert!((distinct / 1e5 - 1.0).abs() < 0.15, "{distinct}");
        assert!((cache / 1e5 - 1.0).abs() < 0.25, "{cache}");
    }
}
