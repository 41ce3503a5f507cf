//! Outstanding I/Os and arrivals in time order. A trace lists calls nearly in the order of their ends,
//! so starts and ends are put in order first, in a buffer of bounded size.

use crate::arrivals::ArrivalMeter;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Starts and ends that wait for earlier ones.
const WAITING: usize = 1 << 15;
/// Depths that are told apart.
const DEPTHS: usize = 1 << 12;

/// Segments of time that are kept apart, to be resampled; when there are more, neighbours are joined.
const SEGMENTS: usize = 64;
/// Depths that segments tell apart.
const SEGMENT_DEPTHS: usize = 256;
/// The first length of a segment, in nanoseconds.
const SEGMENT_NS: u64 = 1 << 20;

/// The time spent with each number of outstanding I/Os.
#[derive(Clone, Debug, Default)]
pub struct Depth {
    waiting: BinaryHeap<Reverse<(u64, bool)>>,
    now: Option<u64>,
    outstanding: usize,
    time: Vec<u64>,
    first: u64,
    /// How often segments were joined.
    joined: u32,
    segments: Vec<Vec<u64>>,
    /// Arrivals, in order.
    pub arrivals: ArrivalMeter,
}

impl Depth {
    /// An I/O from `start` to `end`.
    pub fn add(&mut self, start: u64, end: u64) {
        // An end sorts before a start of the same moment.
        self.waiting.push(Reverse((start, true)));
        self.waiting.push(Reverse((end.max(start.saturating_add(1)), false)));
        while self.waiting.len() > WAITING {
            self.step();
        }
    }

    /// Takes all that waits.
    pub fn finish(&mut self) {
        while !self.waiting.is_empty() {
            self.step();
        }
    }

    fn step(&mut self) {
        let Some(Reverse((at, starts))) = self.waiting.pop() else { return };
        let now = self.now.unwrap_or(at);
        let at = at.max(now);
        let depth = self.outstanding.min(DEPTHS);
        if self.time.len() <= depth {
            self.time.resize(depth + 1, 0);
        }
        self.time[depth] += at - now;
        if self.now.is_none() {
            self.first = at;
        }
        self.segment(now, depth, at - now);
        self.now = Some(at);
        if starts {
            self.outstanding += 1;
            self.arrivals.add(at);
        } else {
            self.outstanding = self.outstanding.saturating_sub(1);
        }
    }

    /// Counts the time since `from` in the segment where it begins.
    fn segment(&mut self, from: u64, depth: usize, time: u64) {
        let place = |depth: &Depth| ((from - depth.first) / SEGMENT_NS) >> depth.joined;
        while place(self) >= SEGMENTS as u64 {
            let pairs = self.segments.chunks(2);
            self.segments = pairs.map(sum).collect();
            self.joined += 1;
        }
        let place = place(self) as usize;
        if self.segments.len() <= place {
            self.segments.resize(place + 1, Vec::new());
        }
        let segment = &mut self.segments[place];
        let depth = depth.min(SEGMENT_DEPTHS);
        if segment.len() <= depth {
            segment.resize(depth + 1, 0);
        }
        segment[depth] += time;
    }

    /// The time at each depth, by segments of time.
    pub fn segments(&self) -> &[Vec<u64>] {
        &self.segments
    }

    /// The share of time at each number of outstanding I/Os, from 0 on.
    pub fn shares(&self) -> Vec<f64> {
        let all: u64 = self.time.iter().sum();
        self.time.iter().map(|time| *time as f64 / all.max(1) as f64).collect()
    }

    /// Mean of the outstanding I/Os while there are any.
    pub fn mean_busy(&self) -> f64 {
        let busy: f64 = self.time.iter().skip(1).map(|time| *time as f64).sum();
        let sum: f64 = self.time.iter().enumerate().map(|(d, time)| d as f64 * *time as f64).sum();
        if busy > 0.0 { sum / busy } else { 0.0 }
    }

    /// The smallest number that is not exceeded in `share` of the busy time.
    pub fn quantile_busy(&self, share: f64) -> u32 {
        let busy: u64 = self.time.iter().skip(1).sum();
        let mut seen = 0;
        let enough = |time: &u64| {
            seen += time;
            seen as f64 >= share * busy as f64
        };
        self.time.iter().skip(1).position(enough).map_or(0, |at| at as u32 + 1)
    }
}

fn sum(segments: &[Vec<u64>]) -> Vec<u64> {
    let mut all = vec![0; segments.iter().map(Vec::len).max().unwrap_or(0)];
    for segment in segments {
        all.iter_mut().zip(segment).for_each(|(sum, time)| *sum += time);
    }
    all
}

/// The largest difference of the shares of time up to each depth.
pub fn ks_distance(a: &[Vec<u64>], b: &[Vec<u64>]) -> f64 {
    let times = [a, b].map(sum);
    let all = times.each_ref().map(|times| times.iter().sum::<u64>().max(1) as f64);
    let (mut upto, mut distance) = ([0.0; 2], 0.0_f64);
    for depth in 0..times[0].len().max(times[1].len()) {
        for side in 0..2 {
            upto[side] += times[side].get(depth).map_or(0.0, |time| *time as f64 / all[side]);
        }
        distance = distance.max((upto[0] - upto[1]).abs());
    }
    distance
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_at_each_depth_is_that_of_overlapping_io() {
        let mut depth = Depth::default();
        // Listed by their ends.
        [(0, 100), (50, 150), (200, 300), (100, 400)].iter().for_each(|(s, e)| depth.add(*s, *e));
        depth.finish();
        // 0-50: 1, 50-150: 2, 150-200: 1, 200-300: 2, 300-400: 1.
        assert_eq!(depth.shares(), [0.0, 0.5, 0.5]);
        assert!((depth.mean_busy() - 1.5).abs() < 1e-9);
        assert_eq!((depth.quantile_busy(0.5), depth.quantile_busy(0.9)), (1, 2));
    }

    #[test]
    fn segments_hold_all_time_and_their_distance_is_that_of_shares() {
        let [one, two] = [1, 2].map(|threads| {
            let mut depth = Depth::default();
            for at in (0..400).map(|n| n * 1_000_000) {
                (0..threads).for_each(|_| depth.add(at, at + 500_000));
            }
            depth.finish();
            depth
        });
        assert!((32..=SEGMENTS).contains(&one.segments().len()), "{}", one.segments().len());
        assert_eq!(sum(one.segments()), one.time);
        let distance = ks_distance(one.segments(), two.segments());
        // Both are idle for half of the time, and never at the same depth otherwise.
        assert!((distance - 0.5).abs() < 0.01, "{distance}");
        assert!(ks_distance(one.segments(), one.segments()) < 1e-9);
    }
}
