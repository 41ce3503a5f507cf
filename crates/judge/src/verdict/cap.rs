//! The rule that recognises a cap on a virtual disk, which nobody on this machine can read.

use super::limit::{Confidence, Limit};
use super::rule::{HALF, RuleInput, RuleOutcome};
use crate::case::Part;
use crate::finding::Figure;
use crate::stats::{mean, variance};
use record::human::{count, percent, rate};
use record::{Interval, Nanos};
use std::collections::BTreeMap;

/// Relative standard deviation of a rate that a token bucket holds. What limits a device itself
/// (medium, queue, CPUs of the host) varies by some per cent from interval to interval.
const HELD_MAX: f64 = 0.005;
/// Fewer intervals may be as even by chance. A bucket that is full at first lets more through, so the
/// first quarter is not counted.
const INTERVALS_MIN: usize = 12;
/// I/Os of an interval below which rounding to whole ones shows.
const IOS_MIN: f64 = 400.0;
/// With fewer I/Os in flight, an even latency gives an even rate.
const IN_FLIGHT_MIN: f64 = 2.0;

/// A rate that does not change although I/Os queue: a limit that somebody set on the virtual disk.
pub(super) fn limited_by_cap(input: &RuleInput) -> Option<RuleOutcome> {
    let indicators = &input.indicators;
    let disks = input.case.disks_of(input.part);
    let is_virtual = !disks.is_empty() && disks.iter().all(|disk| disk.is_virtual);
    let queues = indicators.in_flight >= IN_FLIGHT_MIN
        && indicators.waiting() >= HALF
        && indicators.at_device()? >= HALF;
    if !is_virtual || !queues {
        return None;
    }
    let intervals = whole_intervals(input.part);
    let late = &intervals[intervals.len() / 4..];
    if late.len() < INTERVALS_MIN {
        return None;
    }
    let of = |pick: fn(&Interval) -> f64| -> Vec<f64> { late.iter().map(pick).collect() };
    let ios = of(|interval| interval.ios.iter().map(|(_, ios)| *ios as f64).sum());
    let bytes = of(|interval| interval.bytes.iter().map(|(_, bytes)| *bytes as f64).sum());
    let seconds = late[0].length.seconds();
    let variation = |values: &[f64]| variance(values).sqrt() / mean(values).max(1.0);
    let (ios_vary, bytes_vary) = (variation(&ios), variation(&bytes));
    if mean(&ios) < IOS_MIN || ios_vary.min(bytes_vary) > HELD_MAX {
        return None;
    }
    let (value, unit, text) = match ios_vary <= bytes_vary {
        true => (mean(&ios) / seconds, "IOPS", count(mean(&ios) / seconds) + " IOPS"),
        false => (mean(&bytes) / seconds, "bytes/s", rate(mean(&bytes) / seconds)),
    };
    Some(RuleOutcome::new(
        Limit::Throttle,
        Confidence::Medium,
        format!(
            "the rate stayed within {} of {text} with {} I/Os in flight: a cap on the virtual disk, \
             not its medium",
            percent(ios_vary.min(bytes_vary)),
            count(indicators.in_flight)
        ),
        [
            Figure::new("rate", value, unit),
            Figure::new("variation of the rate", ios_vary.min(bytes_vary) * 100.0, "percent"),
            Figure::new("I/Os in flight, mean", indicators.in_flight, "count"),
        ],
    ))
}

/// The intervals of all workers together that have the full length, in order.
fn whole_intervals(part: &Part) -> Vec<Interval> {
    let mut all: BTreeMap<Nanos, (usize, Interval)> = BTreeMap::new();
    for job in &part.workers {
        for interval in job.intervals.iter().filter(|one| one.length == job.interval_step) {
            let (workers, sum) = all.entry(interval.start).or_default();
            *workers += 1;
            (sum.start, sum.length) = (interval.start, interval.length);
            for (direction, ios) in interval.ios.iter() {
                sum.ios[direction] += ios;
                sum.bytes[direction] += interval.bytes[direction];
            }
        }
    }
    let complete = all.into_values().filter(|(workers, _)| *workers == part.workers.len());
    complete.map(|(_, interval)| interval).collect()
}

#[cfg(test)]
mod tests {
    use crate::checks::testing::{LATENCY, SECOND, job, record};
    use crate::{Limit, judge};
    use record::{Direction, Histogram, RunRecord};

    /// 20 s of reads with eight I/Os in flight on a virtual disk, whose intervals have these shares of
    /// their pace.
    fn paced(share: impl Fn(usize) -> f64) -> RunRecord {
        let mut job = job("a", Direction::Read, 20);
        let mut latency = Histogram::new();
        latency.record_n(8 * LATENCY, job.results.read.ios);
        job.results.read.latency.clat = Some(latency);
        for (index, interval) in job.intervals.iter_mut().enumerate() {
            interval.ios.read = (interval.ios.read as f64 * share(index)) as u64;
            interval.bytes.read = interval.ios.read * 4096;
        }
        let mut record = record(vec![job]);
        record.facts.devices.get_mut("sda").unwrap().is_virtual = true;
        for sample in &mut record.timeline.samples {
            let disk = sample.disks.get_mut("sda").unwrap();
            disk.queue_ms = sample.at.0 * 8 / (SECOND / 1000);
        }
        record
    }

    #[test]
    fn an_even_rate_of_a_virtual_disk_is_a_cap() {
        let verdict = &judge(&paced(|_| 1.0)).verdicts[0];
        assert_eq!(verdict.limit, Limit::Throttle, "{verdict:?}");
        assert!(verdict.because.contains("of 1 k IOPS with 8 I/Os in flight"), "{verdict:?}");
        // A bucket that was full lets more through at first.
        let burst = paced(|index| if index < 6 { 3.0 } else { 1.0 });
        assert_eq!(judge(&burst).verdicts[0].limit, Limit::Throttle);
    }

    #[test]
    fn a_rate_that_varies_or_a_disk_of_its_own_has_no_cap() {
        let varies = paced(|index| 1.0 + 0.03 * (index % 3) as f64);
        assert_eq!(judge(&varies).verdicts[0].limit, Limit::Device);
        let mut own = paced(|_| 1.0);
        own.facts.devices.get_mut("sda").unwrap().is_virtual = false;
        assert_eq!(judge(&own).verdicts[0].limit, Limit::Device);
    }
}
