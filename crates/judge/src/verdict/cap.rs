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
/// Fewest I/Os in an interval. With fewer, counting whole I/Os makes the rate vary; so intervals are taken
/// together until they have as many.
const IOS_MIN: f64 = 400.0;
/// Blocks of one size give one rate in two units. Of larger ones the bandwidth is the limit, of smaller ones
/// the IOPS: what clouds sell lies on either side of this size.
const LARGE_BLOCK: f64 = 128.0 * 1024.0;
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
    let late = merged(&slots[slots.len() / 4..]);
    if late.len() < INTERVALS_MIN {
        return None;
    }
    let iops: Vec<f64> = late.iter().map(Slot::iops).collect();
    let bandwidth: Vec<f64> = late.iter().map(Slot::bandwidth).collect();
    let variation = |rates: &[f64]| variance(rates).sqrt() / mean(rates).max(1.0);
    let (ios_vary, bytes_vary) = (variation(&iops), variation(&bandwidth));
    if ios_vary.min(bytes_vary) > HELD_MAX {
        return None;
    }
    let block = mean(&bandwidth) / mean(&iops).max(1.0);
    let is_one_size = (ios_vary - bytes_vary).abs() < HELD_MAX / 10.0;
    let is_of_ios = if is_one_size { block < LARGE_BLOCK } else { ios_vary < bytes_vary };
    let (value, unit, text) = match is_of_ios {
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

/// Intervals, as many of them taken together as have [`IOS_MIN`] I/Os on average.
fn merged(slots: &[Slot]) -> Vec<Slot> {
    let ios: Vec<f64> = slots.iter().map(|slot| slot.ios as f64).collect();
    let each = (IOS_MIN / mean(&ios).max(1.0)).ceil().max(1.0) as usize;
    let add = |some: &[Slot]| Slot {
        start: some[0].start,
        length: some.iter().map(|slot| slot.length).sum(),
        ios: some.iter().map(|slot| slot.ios).sum(),
        bytes: some.iter().map(|slot| slot.bytes).sum(),
        clat_ns_sum: some.iter().map(|slot| slot.clat_ns_sum).sum(),
    };
    slots.chunks_exact(each).map(add).collect()
}

#[cfg(test)]
mod tests {
    use crate::checks::testing::{LATENCY, SECOND, job, record};
    use crate::{Limit, judge};
    use record::{Direction, Histogram, RunRecord};

    /// 20 s of reads with eight I/Os in flight on a virtual disk, whose intervals have these shares of
    /// their pace.
    fn paced(share: impl Fn(usize) -> f64) -> RunRecord {
        paced_for(20, share, |_| 4096)
    }

    /// The same for so many seconds, with blocks of these sizes in the intervals.
    fn paced_for(
        seconds: u64,
        share: impl Fn(usize) -> f64,
        block: impl Fn(usize) -> u64,
    ) -> RunRecord {
        let mut job = job("a", Direction::Read, seconds);
        let mut latency = Histogram::new();
        latency.record_n(8 * LATENCY, job.results.read.ios);
        job.results.read.latency.clat = Some(latency);
        for (index, interval) in job.intervals.iter_mut().enumerate() {
            interval.ios.read = (interval.ios.read as f64 * share(index)) as u64;
            interval.bytes.read = interval.ios.read * block(index);
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
    fn an_even_bandwidth_is_a_cap_whatever_the_blocks() {
        // Blocks of two sizes in turn, each interval with as many bytes as the others.
        let share = |index: usize| if index.is_multiple_of(2) { 1.0 } else { 2.0 };
        let mixed = paced_for(20, share, |index| if index.is_multiple_of(2) { 8192 } else { 4096 });
        let verdict = &judge(&mixed).verdicts[0];
        assert_eq!(verdict.limit, Limit::Throttle, "{verdict:?}");
        assert!(verdict.because.contains("of 7.81 MiB/s with 8 I/Os"), "{verdict:?}");
        // Large blocks: few I/Os in an interval, so a long run is needed.
        let large = |seconds| judge(&paced_for(seconds, |_| 0.125, |_| 1 << 20)).verdicts.remove(0);
        let verdict = large(60);
        assert_eq!(verdict.limit, Limit::Throttle, "{verdict:?}");
        assert!(verdict.because.contains("of 124 MiB/s with 8 I/Os"), "{verdict:?}");
        assert_eq!(large(20).limit, Limit::Device);
    }

    #[test]
    fn a_queue_without_a_flat_line_is_no_cap() {
        // Latency rises with the depth on any full device: here the rate wanders by two per cent.
        let wanders = paced(|index| 1.0 + 0.02 * (index as f64 / 3.0).sin());
        assert_eq!(judge(&wanders).verdicts[0].limit, Limit::Device);
        // Nor is a flat line without a queue: one I/O at a time of constant latency.
        let mut alone = paced(|_| 1.0);
        let mut latency = Histogram::new();
        latency.record_n(LATENCY, alone.jobs[0].results.read.ios);
        alone.jobs[0].results.read.latency.clat = Some(latency);
        for sample in &mut alone.timeline.samples {
            sample.disks.get_mut("sda").unwrap().queue_ms = sample.at.0 / (SECOND / 1000);
        }
        assert_eq!(judge(&alone).verdicts[0].limit, Limit::Device);
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
