//! Rates of the last moments, for curves.

use super::{DirectionNow, Moment};
use record::Direction;
use std::collections::VecDeque;

/// Rates of a run over its last moments, for each job and in total.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunHistory {
    moments: VecDeque<MomentRates>,
}

/// The rates of one moment.
#[derive(Clone, Debug, Default, PartialEq)]
struct MomentRates {
    elapsed_seconds: f64,
    /// By job, in their order: for reads, writes and trims, I/Os and bytes a second.
    jobs: Vec<[[f64; 2]; 3]>,
}

/// The quantity of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// I/Os a second.
    Iops,
    /// Bytes a second.
    Bytes,
}

impl RunHistory {
    /// Most moments kept: ten minutes at one a second.
    pub const MOMENTS_MAX: usize = 600;

    /// Adds a moment and drops the oldest one if there are too many. A moment of another run clears
    /// the history.
    pub fn push(&mut self, moment: &Moment) {
        if self.moments.back().is_some_and(|last| last.elapsed_seconds > moment.elapsed_seconds) {
            self.moments.clear();
        }
        let rates = |now: &Option<DirectionNow>| {
            now.as_ref().map_or([0.0; 2], |now| [now.iops, now.bytes_per_second])
        };
        let jobs = moment.jobs.iter().map(|job| Direction::ALL.map(|d| rates(&job.directions[d])));
        let elapsed_seconds = moment.elapsed_seconds;
        self.moments.push_back(MomentRates { elapsed_seconds, jobs: jobs.collect() });
        if self.moments.len() > Self::MOMENTS_MAX {
            self.moments.pop_front();
        }
    }

    /// Rates in the last `moments`, in time order: of one job by its index or of all (`None`), in
    /// one direction or in all (`None`).
    pub fn rates(
        &self,
        quantity: Quantity,
        job: Option<usize>,
        direction: Option<Direction>,
        moments: usize,
    ) -> Vec<f64> {
        let which = usize::from(quantity == Quantity::Bytes);
        let of_job = |rates: &[[f64; 2]; 3]| match direction {
            Some(direction) => rates[direction as usize][which],
            None => rates.iter().map(|rates| rates[which]).sum(),
        };
        let value = |moment: &MomentRates| match job {
            Some(place) => moment.jobs.get(place).map_or(0.0, of_job),
            None => moment.jobs.iter().map(of_job).sum(),
        };
        let skipped = self.moments.len().saturating_sub(moments);
        self.moments.iter().skip(skipped).map(value).collect()
    }

    /// Time span of the last `moments`, in seconds.
    pub fn span(&self, moments: usize) -> f64 {
        let skipped = self.moments.len().saturating_sub(moments);
        let ends = self.moments.get(skipped).zip(self.moments.back());
        ends.map_or(0.0, |(first, last)| last.elapsed_seconds - first.elapsed_seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::super::JobNow;
    use super::*;
    use record::PerDirection;

    fn moment(elapsed_seconds: f64, reads: f64, writes: f64) -> Moment {
        let job = |iops: f64, direction| {
            let now = DirectionNow { iops, bytes_per_second: iops * 512.0, ..Default::default() };
            let mut directions = PerDirection::default();
            directions[direction] = Some(now);
            JobNow { directions, ..JobNow::default() }
        };
        let jobs = vec![job(reads, Direction::Read), job(writes, Direction::Write)];
        Moment { elapsed_seconds, jobs, ..Moment::default() }
    }

    #[test]
    fn rates_are_by_job_direction_and_together() {
        let mut history = RunHistory::default();
        history.push(&moment(1.0, 5.0, 1.0));
        history.push(&moment(2.0, 6.0, 2.0));
        assert_eq!(history.rates(Quantity::Iops, None, None, 9), [6.0, 8.0]);
        assert_eq!(history.rates(Quantity::Iops, Some(1), None, 9), [1.0, 2.0]);
        assert_eq!(history.rates(Quantity::Bytes, Some(0), None, 1), [3072.0]);
        assert_eq!(history.rates(Quantity::Iops, None, Some(Direction::Write), 9), [1.0, 2.0]);
        assert_eq!(history.rates(Quantity::Iops, Some(7), None, 9), [0.0, 0.0]);
        assert_eq!((history.span(9), history.span(1)), (1.0, 0.0));
    }

    #[test]
    fn old_moments_are_dropped_and_another_run_clears_the_history() {
        let mut history = RunHistory::default();
        for at in 0..RunHistory::MOMENTS_MAX + 5 {
            history.push(&moment(at as f64, at as f64, 0.0));
        }
        let all = history.rates(Quantity::Iops, None, None, usize::MAX);
        assert_eq!((all.len(), all[0]), (RunHistory::MOMENTS_MAX, 5.0));
        history.push(&moment(1.0, 3.0, 0.0));
        assert_eq!(history.rates(Quantity::Iops, None, None, 9), [3.0]);
    }
}
