//! What a run did between two interim reports. The deltas of all reports add up to the whole run.

use crate::metrics::LatencyStats;
use record::{DirectionResult, Histogram, JobRecord, PerDirection, RunRecord};

/// What a run did since the report before.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Delta {
    /// Number of the report, from 1.
    pub number: u64,
    /// By worker, in order of their numbers.
    pub workers: Vec<WorkerDelta>,
}

/// What one worker did since.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkerDelta {
    /// Name of its job.
    pub name: String,
    /// Its number over the run, from 1.
    pub worker: u32,
    /// Begin, from the run's origin, in nanoseconds.
    pub from_ns: u64,
    /// End, from the run's origin, in nanoseconds.
    pub to_ns: u64,
    /// What it did.
    pub directions: PerDirection<DirectionDelta>,
}

/// What was done in one direction since.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DirectionDelta {
    /// I/Os completed.
    pub ios: u64,
    /// Bytes that moved.
    pub bytes: u64,
    /// I/Os that moved fewer bytes than asked.
    pub short_ios: u64,
    /// I/Os given up.
    pub dropped_ios: u64,
    /// Bytes a second.
    pub bytes_per_second: f64,
    /// I/Os a second.
    pub iops: f64,
    /// Submission latency, where there is one.
    pub slat: Option<LatencyStats>,
    /// Completion latency.
    pub clat: Option<LatencyStats>,
    /// Total latency.
    pub lat: Option<LatencyStats>,
}

/// What the run did between `before` and `now`; `None`: since its start.
pub fn delta(before: Option<&RunRecord>, now: &RunRecord, number: u64) -> Delta {
    let delta = |(index, job): (usize, &JobRecord)| {
        worker(before.and_then(|before| before.jobs.get(index)), job)
    };
    Delta { number, workers: now.jobs.iter().enumerate().map(delta).collect() }
}

fn worker(before: Option<&JobRecord>, now: &JobRecord) -> WorkerDelta {
    let nothing = JobRecord::default();
    let before = before.unwrap_or(&nothing);
    // The report before may be from the ramp.
    let from_ns = before.ended.max(now.started).0.min(now.ended.0);
    let seconds = (now.ended.0 - from_ns) as f64 / 1e9;
    WorkerDelta {
        name: now.name.clone(),
        worker: now.worker,
        from_ns,
        to_ns: now.ended.0,
        directions: now.results.map(|direction, result| {
            done(&before.results[direction], result, &now.percentiles, seconds)
        }),
    }
}

fn done(
    before: &DirectionResult,
    now: &DirectionResult,
    percentiles: &[f64],
    seconds: f64,
) -> DirectionDelta {
    let latency = |pick: fn(&DirectionResult) -> Option<&Histogram>| {
        let empty = Histogram::new();
        let since = pick(now)?.since(pick(before).unwrap_or(&empty));
        Some(LatencyStats::from_histogram(&since, percentiles))
    };
    let (ios, bytes) = (now.ios - before.ios.min(now.ios), (now.bytes - before.bytes).0);
    let rate = |amount: u64| if seconds > 0.0 { amount as f64 / seconds } else { 0.0 };
    DirectionDelta {
        ios,
        bytes,
        short_ios: now.short_ios - before.short_ios.min(now.short_ios),
        dropped_ios: now.dropped_ios - before.dropped_ios.min(now.dropped_ios),
        bytes_per_second: rate(bytes),
        iops: rate(ios),
        slat: latency(|r| r.latency.slat.as_ref()),
        clat: latency(|r| r.latency.clat.as_ref()),
        lat: latency(|r| r.latency.lat.as_ref()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::{Bytes, LatencyResult, Nanos};

    fn look(ended: u64, latencies: &[u64]) -> RunRecord {
        let mut clat = Histogram::new();
        latencies.iter().for_each(|ns| clat.record(*ns));
        let ios = latencies.len() as u64;
        let latency = LatencyResult { clat: Some(clat), ..LatencyResult::default() };
        let read = DirectionResult { ios, bytes: Bytes(ios * 512), latency, ..Default::default() };
        let results = PerDirection { read, ..PerDirection::default() };
        let (started, ended) = (Nanos(1_000_000_000), Nanos(ended));
        RunRecord {
            jobs: vec![JobRecord { started, ended, results, ..JobRecord::default() }],
            ..RunRecord::default()
        }
    }

    #[test]
    fn looks_add_up_to_the_whole() {
        let looks = [
            look(2_000_000_000, &[10, 20]),
            look(2_500_000_000, &[10, 20, 20, 5000]),
            look(2_500_000_000, &[10, 20, 20, 5000]),
            look(3_000_000_000, &[10, 20, 20, 5000, 5]),
        ];
        let mut before = None;
        let mut all = Vec::new();
        for (number, now) in (1..).zip(&looks) {
            let delta = delta(before, now, number);
            assert_eq!(delta.number, number);
            all.push(delta.workers[0].directions.read.clone());
            before = Some(now);
        }
        assert_eq!(all.iter().map(|d| d.ios).collect::<Vec<_>>(), [2, 2, 0, 1]);
        assert_eq!(all.iter().map(|d| d.iops).collect::<Vec<_>>(), [2.0, 4.0, 0.0, 2.0]);
        let counts =
            |d: &DirectionDelta| d.clat.as_ref().map(|clat| (clat.count, clat.min, clat.max));
        let expected = [(2, 10, 20), (2, 20, 5000), (0, 0, 0), (1, 5, 5)];
        assert_eq!(all.iter().filter_map(counts).collect::<Vec<_>>(), expected);
    }
}
