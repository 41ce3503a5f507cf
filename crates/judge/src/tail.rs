//! Where the slowest I/Os come from: the seconds in which they completed, the jobs, sizes and devices
//! that had them, and what others did on the devices meanwhile.
//!
//! The tail of a direction is its slowest thousandth. A deep queue makes every I/O slow; what makes one
//! of a thousand slow is told by where these lie.

use crate::case::{Case, Part};
use crate::stats::samples_needed;
use record::{Direction, Histogram, LatencyHistory, Nanos, RunRecord, human};

/// The percentile from which on I/Os are the tail.
pub const TAIL: f64 = 99.9;
/// A tail of more than this share of the I/Os is no tail: latencies hardly differ.
const TAIL_MAX: f64 = 0.01;
/// Slow I/Os that show where they lie.
const IOS_MIN: u64 = 50;
/// Steps that are named.
const STEPS_MAX: usize = 10;
/// A burst is made of the steps with the most slow I/Os that hold half of them.
const HALF: f64 = 0.5;

/// The slowest thousandth of a job's I/Os in one direction.
#[derive(Clone, Debug, PartialEq)]
pub struct Tail {
    /// The job.
    pub job: String,
    /// Its direction.
    pub direction: Direction,
    /// Latency from which on an I/O is in the tail, in nanoseconds.
    pub from_ns: f64,
    /// I/Os in the tail.
    pub ios: u64,
    /// Steps of the run in which the job completed I/Os.
    pub steps: usize,
    /// Their length, in nanoseconds.
    pub step_ns: u64,
    /// The fewest steps that hold half of the tail.
    pub half_in: usize,
    /// The steps with the most of the tail, these first.
    pub worst: Vec<TailStep>,
    /// The devices below, in the steps that hold half of the tail and otherwise.
    pub devices: Vec<TailDevice>,
}

/// The part of a tail that lies in one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TailStep {
    /// When it began, from the start of the job, in nanoseconds.
    pub start_ns: u64,
    /// Its share of the tail, from 0 to 1.
    pub share: f64,
    /// Its share of all I/Os, from 0 to 1.
    pub ios_share: f64,
}

/// A device in the steps that hold half of a tail, and in the others.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TailDevice {
    /// Kernel name.
    pub name: String,
    /// Mean time of an I/O in the device or its queue in these steps, in nanoseconds.
    pub latency_ns: Option<f64>,
    /// The same in the other steps.
    pub latency_otherwise_ns: Option<f64>,
    /// Bytes a second that the jobs did not ask for, in these steps.
    pub others: f64,
    /// The same in the other steps.
    pub others_otherwise: f64,
}

/// The part of the tail of a whole run that one job has.
#[derive(Clone, Debug, PartialEq)]
pub struct TailShare {
    /// The job.
    pub job: String,
    /// Its blocks ("4 KiB").
    pub sizes: String,
    /// The lowest devices below it.
    pub devices: Vec<String>,
    /// The direction; the tail is that of all jobs in it.
    pub direction: Direction,
    /// Its share of the tail, from 0 to 1.
    pub share: f64,
    /// Its share of all I/Os, from 0 to 1.
    pub ios_share: f64,
}

/// The tails of all jobs that have one.
pub fn tails(record: &RunRecord) -> Vec<Tail> {
    let case = Case::from_record(record);
    let directions = |part| Direction::ALL.into_iter().map(move |d| (part, d));
    case.parts.iter().flat_map(directions).filter_map(|(part, d)| tail(&case, part, d)).collect()
}

/// One step of a job.
#[derive(Clone, Copy)]
struct Step {
    start: u64,
    slow: u64,
    ios: u64,
}

/// The tail of a job in a direction; `None` with too few I/Os, or where it cannot be told from the rest.
pub(crate) fn tail(case: &Case, part: &Part, direction: Direction) -> Option<Tail> {
    let mut history = LatencyHistory::default();
    part.workers.iter().for_each(|job| history.merge(job.latency_history.clone()));
    let columns = || history.columns.iter().map(|column| &column.counts[direction]);
    let mut all = record::Coarse::default();
    columns().for_each(|counts| all.merge(counts));
    let from_ns = all.percentile(TAIL).filter(|_| all.count() >= samples_needed(TAIL))?;
    // The whole bucket of the percentile, as buckets cannot be divided.
    let low = all.bins().map(|(low, ..)| low).take_while(|low| *low as f64 <= from_ns).last()?;
    let is_slow = |(start, _, count): (u64, u64, u64)| if start >= low { count } else { 0 };
    let mut steps: Vec<Step> = history
        .columns
        .iter()
        .map(|column| Step {
            start: column.at * history.step.0,
            slow: column.counts[direction].bins().map(is_slow).sum(),
            ios: column.counts[direction].count(),
        })
        .filter(|step| step.ios > 0)
        .collect();
    let slow: u64 = steps.iter().map(|step| step.slow).sum();
    if slow < IOS_MIN || slow as f64 > all.count() as f64 * TAIL_MAX {
        return None;
    }
    steps.sort_by_key(|step| std::cmp::Reverse(step.slow));
    let mut seen = 0;
    let before_half = steps.iter().take_while(|step| {
        let is_before = (seen as f64) < slow as f64 * HALF;
        seen += step.slow;
        is_before
    });
    let half_in = before_half.count();
    let worst = steps.iter().take(STEPS_MAX).filter(|step| step.slow > 0).map(|step| TailStep {
        start_ns: step.start.saturating_sub(part.from.0),
        share: step.slow as f64 / slow as f64,
        ios_share: step.ios as f64 / all.count() as f64,
    });
    Some(Tail {
        job: part.name.to_owned(),
        direction,
        from_ns: low as f64,
        ios: slow,
        steps: steps.len(),
        step_ns: history.step.0,
        half_in,
        worst: worst.collect(),
        devices: devices(case, part, &steps[..half_in], history.step),
    })
}

/// What a device did in some steps.
#[derive(Default)]
struct DeviceWork {
    ios: u64,
    ticks_ms: u64,
    unasked: u64,
    ns: u64,
}

impl DeviceWork {
    fn latency_ns(&self) -> Option<f64> {
        (self.ios > 0).then(|| self.ticks_ms as f64 * 1e6 / self.ios as f64)
    }

    fn others(&self) -> f64 {
        self.unasked as f64 * 1e9 / self.ns.max(1) as f64
    }

    fn between(case: &Case, disk: &str, from: Nanos, to: Nanos) -> Option<DeviceWork> {
        let used = case.device_use_in(disk, from, to)?;
        let counters = &used.counters;
        let unasked = |moved: u64, asked: u64| moved.saturating_sub(asked);
        Some(DeviceWork {
            ios: counters.read_ios + counters.write_ios,
            ticks_ms: counters.read_ticks_ms + counters.write_ticks_ms,
            unasked: unasked(counters.read_bytes, used.read_asked)
                + unasked(counters.write_bytes, used.write_asked),
            ns: used.window.0,
        })
    }

    fn add(&mut self, other: &DeviceWork) {
        self.ios += other.ios;
        self.ticks_ms += other.ticks_ms;
        self.unasked += other.unasked;
        self.ns += other.ns;
    }
}

fn devices(case: &Case, part: &Part, burst: &[Step], step: Nanos) -> Vec<TailDevice> {
    let device = |name: &str| {
        let whole = DeviceWork::between(case, name, part.from, part.to)?;
        let mut slow = DeviceWork::default();
        for one in burst {
            let from = Nanos(one.start.max(part.from.0));
            let to = Nanos((one.start + step.0).min(part.to.0));
            slow.add(&DeviceWork::between(case, name, from, to)?);
        }
        let rest = DeviceWork {
            ios: whole.ios.saturating_sub(slow.ios),
            ticks_ms: whole.ticks_ms.saturating_sub(slow.ticks_ms),
            unasked: whole.unasked.saturating_sub(slow.unasked),
            ns: whole.ns.saturating_sub(slow.ns),
        };
        Some(TailDevice {
            name: name.to_owned(),
            latency_ns: slow.latency_ns(),
            latency_otherwise_ns: rest.latency_ns(),
            others: slow.others(),
            others_otherwise: rest.others(),
        })
    };
    case.disks_of(part).iter().filter_map(|disk| device(&disk.name)).collect()
}

/// The share that each job has in the tail of all jobs together, by direction; empty where one job alone
/// did the I/O. Which size or device is slow shows where jobs differ in that.
pub fn tail_shares(record: &RunRecord) -> Vec<TailShare> {
    let case = Case::from_record(record);
    Direction::ALL.into_iter().flat_map(|direction| shares_in(&case, direction)).collect()
}

fn shares_in(case: &Case, direction: Direction) -> Vec<TailShare> {
    let latencies = |part: &Part| {
        let mut all = Histogram::new();
        let known =
            part.workers.iter().filter_map(|job| job.results[direction].latency.clat.as_ref());
        known.for_each(|clat| all.merge(clat));
        all
    };
    let parts: Vec<(&Part, Histogram)> = case
        .parts
        .iter()
        .map(|part| (part, latencies(part)))
        .filter(|(_, latencies)| latencies.count() > 0)
        .collect();
    let mut all = Histogram::new();
    parts.iter().for_each(|(_, latencies)| all.merge(latencies));
    if parts.len() < 2 || all.count() < samples_needed(TAIL) {
        return Vec::new();
    }
    let from = all.percentile(TAIL);
    let slow =
        |latencies: &Histogram| latencies.count() - latencies.count_at_most(from.saturating_sub(1));
    let (all_slow, count) = (slow(&all).max(1) as f64, all.count() as f64);
    let share = |(part, latencies): &(&Part, Histogram)| TailShare {
        job: part.name.to_owned(),
        sizes: sizes(part, direction),
        devices: case.disks_of(part).iter().map(|disk| disk.name.clone()).collect(),
        direction,
        share: slow(latencies) as f64 / all_slow,
        ios_share: latencies.count() as f64 / count,
    };
    parts.iter().map(share).collect()
}

/// "4 KiB", "4 KiB to 64 KiB".
fn sizes(part: &Part, direction: Direction) -> String {
    let sizes = part.workers.iter().map(|job| job.workload.block_size[direction]);
    let least = sizes.clone().map(|(least, _)| least.0).min().unwrap_or(0);
    let most = sizes.map(|(_, most)| most.0).max().unwrap_or(0);
    match least == most {
        true => human::exact_size(least),
        false => format!("{} to {}", human::exact_size(least), human::exact_size(most)),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::checks::testing::{MS, SECOND, at_each, job, record};
    use record::PerDirection;

    /// A job of 60 s that reads a thousand times a second; in these seconds so many of its reads take
    /// 20 ms instead of 0.1 ms.
    pub(crate) fn with_slow_reads(slow: &[(u64, u64)]) -> RunRecord {
        let mut run = record(vec![job("job", Direction::Read, 60)]);
        let mut latencies = Histogram::new();
        let mut history = LatencyHistory::new(Nanos(SECOND));
        let mut seen = Vec::new();
        for second in 1..61 {
            let own = slow.iter().find(|(at, _)| *at == second - 1).map_or(0, |(_, count)| *count);
            latencies.record_n(20 * MS, own);
            latencies.record_n(MS / 10, 1000 - own);
            let read = latencies.coarse_since(&mut seen);
            history.push(Nanos(second * SECOND), PerDirection { read, ..PerDirection::default() });
        }
        run.jobs[0].latency_history = history;
        run.jobs[0].results.read.latency.clat = Some(latencies);
        run
    }

    /// In the 31st second other processes read 50 MB/s, and each I/O of the disk takes 10 ms.
    pub(crate) fn with_others_in_second_30(mut run: RunRecord) -> RunRecord {
        at_each(&mut run, |at, sample| {
            let share = (at - 31.0).clamp(0.0, 1.0);
            let disk = sample.disks.get_mut("sda").unwrap();
            disk.read_bytes += (50e6 * share) as u64;
            disk.read_ticks_ms += (10_000.0 * share) as u64;
        });
        run
    }

    #[test]
    fn the_seconds_and_the_device_of_a_tail_are_found() {
        let run = with_others_in_second_30(with_slow_reads(&[(30, 50), (10, 5), (50, 5)]));
        let all = tails(&run);
        assert_eq!(all.len(), 1, "{all:?}");
        let tail = &all[0];
        assert_eq!((tail.ios, tail.steps, tail.half_in), (60, 60, 1));
        assert!((tail.from_ns / 20e6 - 1.0).abs() < 0.07, "{}", tail.from_ns);
        let worst = &tail.worst[0];
        assert_eq!(worst.start_ns, 30 * SECOND);
        assert!((worst.share - 50.0 / 60.0).abs() < 1e-9 && worst.ios_share < 0.02);
        assert_eq!(tail.worst.len(), 3);
        let device = &tail.devices[0];
        assert!(device.others > 45e6 && device.others_otherwise < 1e6, "{device:?}");
        let slower = device.latency_ns.unwrap() / device.latency_otherwise_ns.unwrap();
        assert!(slower > 5.0, "{device:?}");
    }

    #[test]
    fn latencies_that_hardly_differ_and_few_of_them_have_no_tail() {
        assert_eq!(tails(&with_slow_reads(&[])), [], "all alike");
        assert_eq!(tails(&with_slow_reads(&[(3, 49)])), [], "too few");
        assert_eq!(tails(&RunRecord::default()), []);
    }

    #[test]
    fn jobs_share_the_tail_of_all() {
        let mut run =
            record(vec![job("small", Direction::Read, 10), job("large", Direction::Read, 10)]);
        let of = |slow: u64| {
            let mut latencies = Histogram::new();
            latencies.record_n(MS / 10, 10_000 - slow);
            latencies.record_n(50 * MS, slow);
            latencies
        };
        run.jobs[0].results.read.latency.clat = Some(of(5));
        run.jobs[1].results.read.latency.clat = Some(of(45));
        run.jobs[1].workload.block_size.read = (record::Bytes(65536), record::Bytes(65536));
        let shares = tail_shares(&run);
        let told: Vec<(&str, &str, f64)> =
            shares.iter().map(|one| (one.job.as_str(), one.sizes.as_str(), one.share)).collect();
        assert_eq!(told, [("small", "4 KiB", 0.1), ("large", "64 KiB", 0.9)]);
        assert!((shares[1].ios_share - 0.5).abs() < 1e-9 && shares[0].devices == ["sda"]);
        run.jobs.truncate(1);
        assert_eq!(tail_shares(&run), []);
    }
}
