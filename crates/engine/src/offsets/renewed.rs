//! Writes that leave a device as a long random load would: see `plan::Renewal`.

use super::permutation::Permutation;
use crate::random::Random;
use plan::Renewal;
use std::collections::VecDeque;

/// Blocks in the order in which they are written, some of each region again in the next one.
#[derive(Clone, Debug)]
pub(crate) struct Renewed {
    renewal: Renewal,
    fresh: Box<Permutation>,
    region: usize,
    writes_left: u64,
    /// Blocks of this region that are still to be drawn for a later one.
    stale_left: u64,
    /// Drawn for this region.
    again: Vec<u64>,
    /// Drawn for those to come, the next one first; the last is that of which this region draws.
    later: VecDeque<Vec<u64>>,
}

impl Renewed {
    /// Over `blocks` blocks. Memory: 8 bytes for each block that waits to be written again.
    pub fn new(renewal: &Renewal, blocks: u64, random: &mut Random) -> Renewed {
        let most = renewal.stale.iter().max().map_or(0, |most| *most as usize);
        let room = || Vec::with_capacity(most);
        let mut made = Renewed {
            renewal: renewal.clone(),
            fresh: Box::new(Permutation::new(blocks, random)),
            region: 0,
            writes_left: 0,
            stale_left: 0,
            again: room(),
            later: (0..renewal.lag.max(1)).map(|_| room()).collect(),
        };
        made.enter();
        made
    }

    /// Begins again, in another order.
    pub fn restart(&mut self, random: &mut Random) {
        self.fresh.restart(random);
        self.region = 0;
        self.again.clear();
        self.later.iter_mut().for_each(Vec::clear);
        self.enter();
    }

    fn enter(&mut self) {
        self.writes_left = self.renewal.writes_in(self.region);
        let stale = self.renewal.stale.get(self.region).copied().unwrap_or(0);
        self.stale_left = stale.min(self.writes_left);
    }

    /// The next block; `None` when all is written.
    #[inline]
    pub fn next(&mut self, random: &mut Random) -> Option<u64> {
        while self.writes_left == 0 {
            if self.region + 1 >= self.renewal.stale.len() {
                return None;
            }
            self.region += 1;
            self.again.clear();
            self.later.push_back(std::mem::take(&mut self.again));
            self.again = self.later.pop_front().unwrap_or_default();
            self.enter();
        }
        let again = random.below(self.writes_left) < self.again.len() as u64;
        let block = match (again, self.again.len()) {
            (true, count) => self.again.swap_remove(random.below(count as u64) as usize),
            (false, _) => self.fresh.next()?,
        };
        // Each write of the region is as likely to be among those written again.
        if random.below(self.writes_left) < self.stale_left
            && let Some(later) = self.later.back_mut()
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
    fn every_block_is_written_and_a_region_s_stale_ones_in_the_next() {
        for (lag, stale) in [(1, [40, 30, 20, 0]), (2, [40, 30, 0, 0]), (3, [40, 0, 0, 0])] {
            writes_again_after(lag, stale);
        }
    }

    fn writes_again_after(lag: usize, stale: [u64; 4]) {
        let blocks = 1000;
        let writes = blocks + stale.iter().sum::<u64>();
        let renewal = Renewal { stale: stale.to_vec(), writes, lag: lag as u64 };
        let mut random = Random::new(1, 0);
        let mut renewed = Renewed::new(&renewal, blocks, &mut random);
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
