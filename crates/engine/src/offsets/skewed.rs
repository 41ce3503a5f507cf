//! Non-uniform distributions: hot blocks, bell curves, zones, sequences.

use super::permutation::Permutation;
use super::ranks::Ranks;
use crate::random::Random;
use plan::{Distribution, Size};

/// Seed of the permutation of ranks if a center is given: as in fio, all jobs with the same center
/// share their hot blocks.
const SHARED_SEED: u64 = 0x68_6f_74;

/// Maximum deviation in per cent of the range, as in fio.
const DEVIATION_MAX: f64 = 50.0;

/// Number of uniform draws whose mean gives the bell curve.
const BELL_DRAWS: u64 = 12;

/// Draws numbers below a count with a given distribution.
#[derive(Clone, Debug)]
pub(crate) struct Skewed {
    count: u64,
    shape: Shape,
}

#[derive(Clone, Debug)]
enum Shape {
    Even,
    /// Permuted ranks, shifted by a number.
    Permuted(Ranks, Box<Permutation>, u64),
    /// Ranks in their order, shifted by a number.
    InOrder(Ranks, u64),
    Bell {
        /// Total range by which the mean of the draws is shifted at random.
        width: f64,
        shift: u64,
    },
    Zones(Vec<Zone>),
    Sequence {
        list: Vec<u64>,
        next: usize,
        /// Start of the group.
        base: u64,
        /// Distance between two groups.
        stride: u64,
    },
}

/// A part of the range and its share of the draws.
#[derive(Clone, Copy, Debug)]
struct Zone {
    /// Share of this zone and all before it, in per cent.
    cumulative: u64,
    start: u64,
    length: u64,
}

impl Skewed {
    /// Numbers of blocks of `size` bytes. The ranks of Zipf and Pareto are permuted.
    pub fn over_blocks(
        distribution: &Distribution,
        count: u64,
        size: u64,
        stride: bool,
        random: &mut Random,
    ) -> Skewed {
        let permuted = |ranks, center: Option<f64>, random: &mut Random| match center {
            None => Shape::Permuted(ranks, Box::new(Permutation::new(count, random)), 0),
            Some(center) => {
                let order = Permutation::new(count, &mut Random::new(SHARED_SEED, 0));
                let shift = (at(center, count) + count - order.place(0)) % count;
                Shape::Permuted(ranks, Box::new(order), shift)
            }
        };
        let shape = match distribution {
            _ if count == 0 => Shape::Even,
            Distribution::Uniform => Shape::Even,
            Distribution::Zipf { theta, center } => {
                permuted(Ranks::zipf(*theta, count), *center, random)
            }
            Distribution::Pareto { power, center } => {
                permuted(Ranks::pareto(*power, count), *center, random)
            }
            Distribution::Normal { deviation, center } => bell(*deviation, *center, count),
            Distribution::Zoned(zones) => Shape::Zones(split(zones, count, size.max(1))),
            Distribution::Sequence(list) => Shape::Sequence {
                list: list.clone(),
                next: 0,
                base: 0,
                stride: if stride { list.len() as u64 } else { 0 },
            },
        };
        Skewed { count, shape }
    }

    /// Numbers whose ranks ascend from the center, or from a random number if there is none.
    pub fn in_order(distribution: &Distribution, count: u64, random: &mut Random) -> Skewed {
        let mut shift = |center: Option<f64>| match center {
            None => random.below(count),
            Some(center) => at(center, count),
        };
        let shape = match distribution {
            Distribution::Zipf { theta, center } => {
                Shape::InOrder(Ranks::zipf(*theta, count), shift(*center))
            }
            Distribution::Pareto { power, center } => {
                Shape::InOrder(Ranks::pareto(*power, count), shift(*center))
            }
            Distribution::Normal { deviation, center } => bell(*deviation, *center, count),
            _ => Shape::Even,
        };
        Skewed { count, shape }
    }

    /// The next number; 0 if the count is 0.
    #[inline]
    pub fn draw(&mut self, random: &mut Random) -> u64 {
        let count = self.count;
        match &mut self.shape {
            Shape::Even => random.below(count),
            Shape::Permuted(ranks, order, shift) => {
                (order.place(ranks.draw(random)) + *shift) % count
            }
            Shape::InOrder(ranks, shift) => (ranks.draw(random) + *shift) % count,
            Shape::Bell { width, shift } => {
                let sum: u64 = (0..BELL_DRAWS).map(|_| random.below(count)).sum();
                let moved = (random.unit() - 0.5) * *width;
                let place = (sum / BELL_DRAWS) as i64 + moved.round() as i64;
                (place.rem_euclid(count as i64) as u64 + *shift) % count
            }
            Shape::Zones(zones) => {
                let drawn = random.below(100);
                match zones.iter().find(|zone| drawn < zone.cumulative) {
                    Some(zone) => zone.start + random.below(zone.length),
                    None => 0,
                }
            }
            Shape::Sequence { list, next, base, stride } => {
                let place = (*base + list[*next]) % count;
                *next += 1;
                if *next == list.len() {
                    *next = 0;
                    *base = (*base + *stride) % count;
                }
                place
            }
        }
    }
}

/// The number at the share `center` of the range.
fn at(center: f64, count: u64) -> u64 {
    ((center * count as f64) as u64).min(count.saturating_sub(1))
}

/// The mean of twelve uniform draws, shifted uniformly by up to half of the deviation in both
/// directions, as in fio. Its standard deviation is the square root of 1/144 + (deviation/100)²/12.
fn bell(deviation: f64, center: Option<f64>, count: u64) -> Shape {
    let width = (count as f64 * deviation.min(DEVIATION_MAX) / 100.0).ceil();
    let shift = (at(center.unwrap_or(0.5), count) + count - count / 2) % count.max(1);
    Shape::Bell { width, shift }
}

/// Zones in numbers of blocks. Each zone has at least one block.
fn split(zones: &[plan::ZoneShare], count: u64, size: u64) -> Vec<Zone> {
    let (mut cumulative, mut percent, mut bytes) = (0, 0.0, 0u64);
    let reached = |percent: f64, bytes: u64| match bytes {
        0 => ((percent / 100.0 * count as f64).round() as u64).min(count),
        bytes => (bytes / size).min(count),
    };
    zones
        .iter()
        .map(|zone| {
            let start = reached(percent, bytes).min(count - 1);
            match zone.size {
                Size::Percent(part) => percent += part,
                Size::Bytes(part) => bytes = bytes.saturating_add(part.0),
                Size::Zones(_) => {}
            }
            cumulative += u64::from(zone.access);
            Zone { cumulative, start, length: reached(percent, bytes).saturating_sub(start).max(1) }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::ZoneShare;

    const DRAWS: usize = 100_000;

    fn drawn(distribution: &Distribution, count: u64, seed: u64) -> Vec<u64> {
        let mut random = Random::new(seed, 0);
        let mut skewed = Skewed::over_blocks(distribution, count, 4096, false, &mut random);
        (0..DRAWS).map(|_| skewed.draw(&mut random)).collect()
    }

    fn counts(numbers: &[u64], count: u64) -> Vec<usize> {
        let mut counts = vec![0; count as usize];
        numbers.iter().for_each(|number| counts[*number as usize] += 1);
        counts
    }

    fn hottest(counts: &[usize]) -> usize {
        (0..counts.len()).max_by_key(|n| counts[*n]).unwrap()
    }

    #[test]
    fn every_rank_has_a_block_of_its_own() {
        let zipf = Distribution::Zipf { theta: 0.0, center: None };
        for count in [1, 2, 3, 1000, 1024] {
            assert!(counts(&drawn(&zipf, count, 1), count).iter().all(|c| *c > 0), "{count}");
        }
    }

    #[test]
    fn hot_blocks_differ_by_seed_and_agree_where_a_center_is_given() {
        let hot = |center, seed| {
            let zipf = Distribution::Zipf { theta: 1.2, center };
            let counts = counts(&drawn(&zipf, 1000, seed), 1000);
            let mut order: Vec<usize> = (0..1000).collect();
            order.sort_by_key(|n| std::cmp::Reverse(counts[*n]));
            order[..3].to_vec()
        };
        assert_ne!(hot(None, 1), hot(None, 2));
        assert_eq!(hot(Some(0.25), 1), hot(Some(0.25), 2));
        assert_eq!(hot(Some(0.25), 1)[0], 250);
        assert_eq!(hot(Some(1.0), 1)[0], 999);
    }

    /// Standard deviations of fio 3.33 over 128 files, as parts of the range.
    #[test]
    fn bells_are_as_wide_as_fio_s() {
        for (deviation, expected) in [
            (0.0, 0.0831),
            (1.0, 0.0836),
            (10.0, 0.0884),
            (20.0, 0.1015),
            (40.0, 0.1423),
            (90.0, 0.1665),
        ] {
            let normal = Distribution::Normal { deviation, center: None };
            let numbers = drawn(&normal, 10_000, 3);
            let mean = numbers.iter().sum::<u64>() as f64 / DRAWS as f64;
            let square = |n: &u64| (*n as f64 - mean).powi(2);
            let width = (numbers.iter().map(square).sum::<f64>() / DRAWS as f64).sqrt() / 1e4;
            assert!((mean / 1e4 - 0.5).abs() < 0.003, "{deviation}: {mean}");
            assert!((width - expected).abs() < 0.002, "{deviation}: {width}");
        }
        let normal = Distribution::Normal { deviation: 10.0, center: Some(0.2) };
        let counts = counts(&drawn(&normal, 10, 3), 10);
        assert!((1..=2).contains(&hottest(&counts)), "{counts:?}");
    }

    #[test]
    fn zones_get_their_shares() {
        let zone = |access, size| ZoneShare { access, size };
        let shares = [(60, 10.0), (30, 20.0), (8, 30.0), (2, 40.0)];
        let zoned = shares.map(|(access, percent)| zone(access, Size::Percent(percent)));
        let counts = |zones: &[ZoneShare], count| {
            counts(&drawn(&Distribution::Zoned(zones.to_vec()), count, 5), count)
        };
        let found = counts(&zoned, 1000);
        let share = |from: usize, to: usize| {
            found[from..to].iter().sum::<usize>() as f64 / DRAWS as f64 * 100.0
        };
        for (from, to, expected) in [(0, 100, 60.0), (100, 300, 30.0), (300, 600, 8.0)] {
            assert!((share(from, to) - expected).abs() < 1.0, "{from}: {}", share(from, to));
        }
        let absolute = [
            zone(0, Size::Bytes(record::Bytes(8192))),
            zone(100, Size::Bytes(record::Bytes(8192))),
        ];
        let found = counts(&absolute, 8);
        assert_eq!(found.iter().map(|c| *c > 0).collect::<Vec<_>>(), {
            [false, false, true, true, false, false, false, false]
        });
        let found = counts(&zoned, 3);
        assert!(found[0] > 59 * DRAWS / 100, "{found:?}");
    }

    #[test]
    fn sequences_repeat_and_move_on_by_their_length() {
        let list = Distribution::Sequence(vec![3, 0, 2]);
        let draw = |stride, count| {
            let mut random = Random::new(1, 0);
            let mut skewed = Skewed::over_blocks(&list, count, 1, stride, &mut random);
            (0..7).map(|_| skewed.draw(&mut random)).collect::<Vec<_>>()
        };
        assert_eq!(draw(false, 8), [3, 0, 2, 3, 0, 2, 3]);
        assert_eq!(draw(true, 100), [3, 0, 2, 6, 3, 5, 9]);
        assert_eq!(draw(true, 8), [3, 0, 2, 6, 3, 5, 1]);
    }

    #[test]
    fn ranks_in_order_begin_at_the_center() {
        let zipf = Distribution::Zipf { theta: 1.2, center: Some(0.5) };
        let mut random = Random::new(1, 0);
        let mut skewed = Skewed::in_order(&zipf, 8, &mut random);
        let numbers: Vec<u64> = (0..DRAWS).map(|_| skewed.draw(&mut random)).collect();
        let counts = counts(&numbers, 8);
        assert_eq!(hottest(&counts), 4);
        assert!(counts[5] > counts[6] && counts[7] > counts[0] && counts[0] > counts[3]);
    }
}
