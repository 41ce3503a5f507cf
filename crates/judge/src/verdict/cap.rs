//! The rule that recognises a cap on a virtual disk, which nobody on this machine can read.

use super::limit::{Confidence, Limit};
use super::rule::{HALF, RuleInput, RuleOutcome};
use crate::finding::Figure;
use crate::metrics::series::{Slot, slots};
use crate::stats::{mean, variance};
use record::Direction;
use record::human::{count, percent, rate};

/// Largest relative standard deviation of a rate that a token bucket limits. A rate that the device itself
/// limits (medium, queue, CPUs of the host) varies by several per cent between intervals.
const HELD_MAX: f64 = 0.005;
/// Fewer intervals can have equal rates by chance. A full token bucket allows more I/O at first, so the
/// first quarter does not count.
const INTERVALS_MIN: usize = 12;
/// Fewest I/Os in an interval. With fewer, counting whole I/Os makes the rate vary.
const IOS_MIN: f64 = 400.0;
/// Fewest I/Os in flight. With fewer, a constant latency gives a constant rate.
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
    let slots = slots(&input.part.workers, &Direction::ALL);
    let late = &slots[slots.len() / 4..];
    if late.len() < INTERVALS_MIN {
        return None;
    }
    let ios: Vec<f64> = late.iter().map(|slot| slot.ios as f64).collect();
    let iops: Vec<f64> = late.iter().map(Slot::iops).collect();
    let bandwidth: Vec<f64> = late.iter().map(Slot::bandwidth).collect();
    let variation = |rates: &[f64]| variance(rates).sqrt() / mean(rates).max(1.0);
    let (ios_vary, bytes_vary) = (variation(&iops), variation(&bandwidth));
    if mean(&ios) < IOS_MIN || ios_vary.min(bytes_vary) > HELD_MAX {
        return None;
    }
    let (value, unit, text) = match ios_vary <= bytes_vary {
        true => (mean(&iops), "IOPS", count(mean(&iops)) + " IOPS"),
        false => (mean(&bandwidth), "bytes/s", rate(mean(&bandwidth))),
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
