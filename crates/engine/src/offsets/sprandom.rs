//! `sprandom`: writes that bring a device into the state after a long random load. See
//! [`plan::Renewal`].

use super::permutation::Permutation;
use crate::random::Random;
use plan::Renewal;
use std::collections::VecDeque;

/// The order of writes. Some blocks of each region are written again in a later one.
#[derive(Clone, Debug)]
pub(crate) struct SprandomOrder {
    renewal: Renewal,
    fresh: Box<Permutation>,
    region: usize,
    writes_left: u64,
    /// Blocks of this region still to be drawn for a later one.
    stale_left: u64,
    /// Blocks to write again in this region.
    rewrites: Vec<u64>,
    /// Blocks to write again in later regions, the next region first. This region draws for the last.
    later_rewrites: VecDeque<Vec<u64>>,
}

impl SprandomOrder {
    /// Over `blocks` blocks. Needs 8 bytes of memory per block that waits to be written again.
    pub fn new(renewal: &Renewal, blocks: u64, random: &mut Random) -> SprandomOrder {
        let max = renewal.stale.iter().max().map_or(0, |max| *max as usize);
        let room = || Vec::with_capacity(max);
        let mut made = SprandomOrder {
            renewal: renewal.clone(),
            fresh: Box::new(Permutation::new(blocks, random)),
            region: 0,
            writes_left: 0,
            stale_left: 0,
            rewrites: room(),
            later_rewrites: (0..renewal.lag.max(1)).map(|_| room()).collect(),
        };
        made.enter();
        made
    }

    /// Begins another pass, in another order.
    pub fn restart(&mut self, random: &mut Random) {
        self.fresh.restart(random);
        self.region = 0;
        self.rewrites.clear();
        self.later_rewrites.iter_mut().for_each(Vec::clear);
        self.enter();
    }

    fn enter(&mut self) {
        self.writes_left = self.renewal.writes_in(self.region);
        let stale = self.renewal.stale.get(self.region).copied().unwrap_or(0);
        self.stale_left = stale.min(self.writes_left);
    }

    /// The next block; `None` at the end of the pass.
    #[inline]
    pub fn next(&mut self, random: &mut Random) -> Option<u64> {
        while self.writes_left == 0 {
            if self.region + 1 >= self.renewal.stale.len() {
                return None;
            }
            self.region += 1;
            self.rewrites.clear();
            self.later_rewrites.push_back(std::mem::take(&mut self.rewrites));
            self.rewrites = self.later_rewrites.pop_front().unwrap_or_default();
            self.enter();
        }
        let rewrites = random.below(self.writes_left) < self.rewrites.len() as u64;
        let block = match (rewrites, self.rewrites.len()) {
            (true, count) => self.rewrites.swap_remove(random.below(count as u64) as usize),
            (false, _) => self.fresh.next()?,
        };
        // Every write of the region is equally likely to be repeated.
        if random.below(self.writes_left) < self.stale_left
            && let Some(later) = self.later_rewrites.back_mut()
        {
            later.push(block);
            self.stale_left -= 1;
        }
        self.writes_left -= 1;
        Some(block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_is_written_and_stale_ones_again_in_the_next_region() {
        for (lag, stale) in [(1, [40, 30, 20, 0]), (2, [40, 30, 0, 0]), (3, [40, 0, 0, 0])] {
            writes_again_after(lag, stale);
        }
    }

    fn writes_again_after(lag: usize, stale: [u64; 4]) {
        let blocks = 1000;
        let writes = blocks + stale.iter().sum::<u64>();
        let renewal = Renewal { stale: stale.to_vec(), writes, lag: lag as u64 };
        let mut random = Random::new(1, 0);
        let mut renewed = SprandomOrder::new(&renewal, blocks, &mut random);
        for _ in 0..2 {
            let order: Vec<u64> = std::iter::from_fn(|| renewed.next(&mut random)).collect();
            assert_eq!(order.len() as u64, writes);
            let mut region_of = vec![usize::MAX; blocks as usize];
            let mut again = [0; 4];
            let mut end = 0;
            for region in 0..4 {
                let start = end;
                end += renewal.writes_in(region) as usize;
                for block in &order[start..end] {
                    let before = std::mem::replace(&mut region_of[*block as usize], region);
                    if before != usize::MAX {
                        assert_eq!(before + lag, region);
                        again[before] += 1;
                    }
                }
            }
            assert!(region_of.iter().all(|region| *region != usize::MAX));
            assert_eq!(again, stale);
            renewed.restart(&mut random);
        }
    }
}
