//! What is counted, and how much of it.

use super::job::Job;
use testbed::Seeded;

/// How much slower the later side is made.
pub const SLOWER: f64 = 0.10;
/// Runs of each side where nothing is known of their spread.
pub const RUNS: u32 = 5;
/// Draws of so many runs whose interval should hold the mean of all.
pub const DRAWS: usize = 200;
/// Ratios of IOPS that count as a difference of 10 %: the medians of a job's comparisons lie closer to what
/// was made than any one of them.
pub const ABOUT_SLOWER: std::ops::RangeInclusive<f64> = 0.87..=0.93;

/// What was counted of one job.
pub struct Counted {
    pub job: &'static Job,
    /// Comparisons of equal runs.
    pub equal: u32,
    /// Those of them that called a difference.
    pub false_calls: u32,
    /// Runs of each side, as advised for each comparison with a slower side.
    pub runs: Vec<u32>,
    /// Comparisons with a slower side.
    pub slowed: u32,
    /// Those of them that called it slower.
    pub found: u32,
    /// Their ratios.
    pub ratios: Vec<f64>,
    /// IOPS of all equal runs.
    pub iops: Vec<f64>,
    /// Why comparisons were not made.
    pub not_made: Vec<String>,
}

impl Counted {
    /// Nothing yet.
    pub fn new(job: &'static Job) -> Counted {
        Counted {
            job,
            equal: 0,
            false_calls: 0,
            runs: Vec::new(),
            slowed: 0,
            found: 0,
            ratios: Vec::new(),
            iops: Vec::new(),
            not_made: Vec::new(),
        }
    }

    /// The median ratio of the slower side; `None` before the first.
    pub fn ratio(&self) -> Option<f64> {
        (!self.ratios.is_empty()).then(|| judge::stats::median(&self.ratios))
    }

    /// Whether the side that should be 10 % slower was: otherwise nothing follows from what was called.
    pub fn is_slowed_as_meant(&self) -> bool {
        self.ratio().is_none_or(|ratio| ABOUT_SLOWER.contains(&ratio))
    }

    /// Of [`DRAWS`] draws of five of the equal runs, in how many the interval holds the mean of all; `None`
    /// with so few runs that each draw is most of them.
    pub fn intervals_that_hold(&self) -> Option<usize> {
        let mut all = self.iops.clone();
        if all.len() < 4 * RUNS as usize {
            return None;
        }
        let truth = all.iter().sum::<f64>() / all.len() as f64;
        let mut seeded = Seeded::new(1);
        let holds = |_: &usize| {
            let drawn: Vec<f64> =
                (0..RUNS).map(|_| all.swap_remove(seeded.below(all.len()))).collect();
            all.extend(&drawn);
            let mean = judge::stats::summary(&drawn, 1).mean;
            (mean.low..=mean.high).contains(&truth)
        };
        Some((0..DRAWS).filter(holds).count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparisons::job::JOBS;

    #[test]
    fn intervals_of_even_noise_hold_and_need_enough_runs() {
        let mut counted = Counted::new(&JOBS[0]);
        let mut seeded = Seeded::new(7);
        counted.iops = (0..200).map(|_| 1000.0 + seeded.between(0, 100) as f64).collect();
        let held = counted.intervals_that_hold().unwrap();
        assert!((180..=200).contains(&held), "{held}");
        counted.iops.truncate(19);
        assert_eq!(counted.intervals_that_hold(), None);
    }

    #[test]
    fn a_side_that_was_not_slowed_by_a_tenth_is_known() {
        let mut counted = Counted::new(&JOBS[0]);
        assert!(counted.is_slowed_as_meant(), "nothing is known yet");
        counted.ratios = vec![0.91, 0.89, 0.95];
        assert!(counted.is_slowed_as_meant());
        counted.ratios = vec![0.97, 0.96, 0.90];
        assert!(!counted.is_slowed_as_meant());
    }
}
