//! Which of several measured variants is the best, and which others may be equally good.
//!
//! What is called the best was picked because it looked best, so luck is on its side. The set of the
//! best and its ties holds the true best all the same (Gupta, "On some multiple decision rules",
//! Technometrics 7, 1965; Hsu, "Constrained simultaneous confidence intervals for multiple
//! comparisons with the best", Annals of Statistics 12, 1984): it is left out only where another
//! beats it by chance, and of k things k - 1 can. Each of these one-sided comparisons is Welch's t
//! test (1947) on logarithms at the level over their number (Bonferroni), for spreads differ.

use super::elementary::{MISS, mean, resolution, students_t, variance, welch_freedom};

/// How one of several stands to the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The best as measured, by the mean.
    Best,
    /// Behind the best by no more than chance explains: it may as well be the best.
    Tied,
    /// Behind the best by more than chance.
    Behind,
    /// Behind the best, and one of the two was measured only once: the difference may be chance.
    Undecided,
}

/// What is compared, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contest {
    /// More is better: a rate. Otherwise less is: a time.
    pub more_is_better: bool,
    /// Figures are known to a bucket of a histogram, or to 1, and no better.
    pub is_bucketed: bool,
    /// Number of comparisons, in this contest and in those reported together with it.
    pub comparisons: usize,
}

/// The standings of things by the figures of their repeats, `None` for those without any. All sets
/// of a best and its ties that are told together hold the true best of each in 95 of 100 cases.
pub fn standings(figures: &[Vec<f64>], contest: Contest) -> Vec<Option<Standing>> {
    let sign = if contest.more_is_better { 1.0 } else { -1.0 };
    let means = figures.iter().map(|values| (!values.is_empty()).then(|| sign * mean(values)));
    let best = means
        .enumerate()
        .filter_map(|(index, mean)| Some((index, mean?)))
        // The first of equal ones.
        .rev()
        .max_by(|a, b| a.1.total_cmp(&b.1));
    let Some((best, _)) = best else { return vec![None; figures.len()] };
    let logarithms: Vec<Option<Log>> =
        figures.iter().map(|values| Log::from_values(values)).collect();
    let crown = logarithms[best];
    let standing = |(index, log): (usize, &Option<Log>)| {
        let (log, crown) = (log.as_ref()?, crown.as_ref()?);
        Some(if index == best { Standing::Best } else { log.standing(crown, contest) })
    };
    logarithms.iter().enumerate().map(standing).collect()
}

/// The logarithm of a figure over its repeats.
#[derive(Clone, Copy)]
struct Log {
    mean: f64,
    /// Variance of that mean, and its degrees of freedom.
    variance: f64,
    freedom: f64,
}

impl Log {
    fn from_values(values: &[f64]) -> Option<Log> {
        // A latency of 0 ns is below the resolution.
        let logarithms: Vec<f64> = values.iter().map(|value| value.max(0.5).ln()).collect();
        let count = logarithms.len();
        (count > 0).then(|| Log {
            mean: mean(&logarithms),
            variance: variance(&logarithms) / count as f64,
            freedom: count as f64 - 1.0,
        })
    }

    fn freedom(&self, other: &Log) -> f64 {
        welch_freedom((self.variance, self.freedom), (other.variance, other.freedom))
    }

    fn standing(&self, best: &Log, contest: Contest) -> Standing {
        if self.freedom < 1.0 || best.freedom < 1.0 {
            return Standing::Undecided;
        }
        let bucket = if contest.is_bucketed { resolution(self.mean, best.mean) } else { 0.0 };
        let variance = self.variance + best.variance;
        // One-sided: all that is beyond lies on one side.
        let miss = 2.0 * MISS / contest.comparisons.max(1) as f64;
        let chance = match variance > 0.0 {
            true => students_t(self.freedom(best), miss.min(1.0)) * variance.sqrt(),
            false => 0.0,
        };
        let behind = match contest.more_is_better {
            true => best.mean - self.mean,
            false => self.mean - best.mean,
        };
        if behind <= chance + bucket { Standing::Tied } else { Standing::Behind }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Random;
    use Standing::{Behind, Best, Tied, Undecided};

    fn contest(comparisons: usize) -> Contest {
        Contest { more_is_better: true, is_bucketed: false, comparisons }
    }

    fn told(figures: &[&[f64]], contest: Contest) -> Vec<Option<Standing>> {
        standings(&figures.iter().map(|values| values.to_vec()).collect::<Vec<_>>(), contest)
    }

    #[test]
    fn the_best_its_ties_and_those_behind_are_told_apart() {
        let figures: [&[f64]; 4] =
            [&[100.0, 101.0, 99.0], &[98.0, 101.0, 100.0], &[50.0, 51.0, 50.5], &[]];
        let more = told(&figures, contest(2));
        assert_eq!(more, [Some(Best), Some(Tied), Some(Behind), None]);
        let less = told(&figures, Contest { more_is_better: false, ..contest(2) });
        assert_eq!(less, [Some(Behind), Some(Behind), Some(Best), None]);
        assert_eq!(told(&[&[100.0], &[99.0, 99.0]], contest(1)), [Some(Best), Some(Undecided)]);
        assert_eq!(told(&[&[7.0, 7.0], &[7.0, 7.0]], contest(1)), [Some(Best), Some(Tied)]);
        assert_eq!(told(&[&[], &[]], contest(1)), [None, None]);
    }

    #[test]
    fn what_differs_by_a_bucket_is_tied() {
        let bucketed = Contest { more_is_better: false, is_bucketed: true, comparisons: 1 };
        let near: [&[f64]; 2] = [&[10_000.0, 10_000.0], &[10_060.0, 10_060.0]];
        assert_eq!(told(&near, bucketed), [Some(Best), Some(Tied)]);
        assert_eq!(told(&near, Contest { is_bucketed: false, ..bucketed })[1], Some(Behind));
        assert_eq!(told(&[&[0.0, 0.0], &[1.0, 1.0]], bucketed), [Some(Best), Some(Tied)]);
    }

    #[test]
    fn the_true_best_is_among_the_best_and_its_ties_as_often_as_is_said() {
        // Ten equal things are the hardest: any may look best, and the first is as good as it.
        for (members, repeats) in [(2, 3), (10, 3), (10, 8)] {
            let mut random = Random::new(members as u64);
            let normal = |random: &mut Random| (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
            let held = (0..1000).filter(|_| {
                let mut figure = || 1000.0 + 50.0 * normal(&mut random);
                let all: Vec<Vec<f64>> =
                    (0..members).map(|_| (0..repeats).map(|_| figure()).collect()).collect();
                matches!(standings(&all, contest(members - 1))[0], Some(Best | Tied))
            });
            let held = held.count();
            assert!(held >= 940, "{members} members, {repeats} repeats: {held} of 1000");
        }
    }
}
