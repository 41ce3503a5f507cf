//! Equal measurements must be called equal: pairs drawn from recorded runs.

use super::*;
use crate::checks::testing::{job, record};
use crate::stats::Random;
use ::record::{
    Bytes, Cell, Direction::Read, Histogram, Interval, JobRecord, Nanos, PerDirection, RunRecord,
    SUB_BUCKETS,
};

const RECORDED: &str = include_str!("recorded.txt");

/// The recorded runs of each job, in the order they ran.
fn recorded() -> Vec<(&'static str, Vec<RunRecord>)> {
    let mut found: Vec<(&str, Vec<RunRecord>)> = Vec::new();
    let mut current: Option<JobRecord> = None;
    for line in RECORDED.lines().chain(["end"]) {
        let (what, rest) = line.split_once(' ').unwrap_or((line, ""));
        if let (Some(done), "run" | "end") = (&current, what) {
            let name = found.last().unwrap().0;
            let mut made = record(Vec::new());
            made.jobs = vec![done.clone()];
            made.cell = Some(Cell { name: name.into(), round: 0, ..Cell::default() });
            found.last_mut().unwrap().1.push(made);
        }
        match what {
            "run" => {
                let name = rest.split(' ').next().unwrap();
                if found.last().is_none_or(|(known, _)| *known != name) {
                    found.push((name, Vec::new()));
                }
                current = Some(begun(name, rest));
            }
            "intervals" => current.as_mut().unwrap().intervals = intervals(rest),
            "latency" => {
                current.as_mut().unwrap().results[Read].latency.clat = Some(histogram(rest));
            }
            "sync" => current.as_mut().unwrap().sync.latency = histogram(rest),
            _ => {}
        }
    }
    found
}

fn begun(name: &str, rest: &str) -> JobRecord {
    let numbers: Vec<u64> = rest.split(' ').skip(1).map(|n| n.parse().unwrap()).collect();
    let mut job = job(name, Read, 2);
    job.interval_step = Nanos(500_000_000);
    let result = &mut job.results[Read];
    (result.ios, result.ios_issued) = (numbers[0], numbers[0]);
    (result.bytes, result.runtime) = (Bytes(numbers[0] * 4096), Nanos(numbers[1]));
    result.latency = ::record::LatencyResult::default();
    job
}

fn intervals(text: &str) -> Vec<Interval> {
    let of = |text: &str| {
        let numbers: Vec<u64> = text.split(',').map(|n| n.parse().unwrap()).collect();
        let read = |value| PerDirection { read: value, ..PerDirection::default() };
        Interval {
            start: Nanos(numbers[0]),
            length: Nanos(numbers[1]),
            ios: read(numbers[2]),
            bytes: read(numbers[2] * 4096),
            clat_ns_sum: read(numbers[3]),
            ..Interval::default()
        }
    };
    text.split(' ').map(of).collect()
}

fn histogram(text: &str) -> Histogram {
    let (mut histogram, mut bucket) = (Histogram::new(), 0);
    for pair in text.split(' ') {
        let (step, count) = pair.split_once(':').unwrap_or((pair, "1"));
        bucket += step.parse::<usize>().unwrap();
        let octave = (bucket / SUB_BUCKETS).saturating_sub(1);
        let low = ((bucket - octave * SUB_BUCKETS) as u64) << octave;
        histogram.record_n(low + ((1 << octave) - 1) / 2, count.parse().unwrap());
    }
    histogram
}

/// Two sets of different runs of these, drawn at random.
fn pair(random: &mut Random, runs: &[RunRecord], rounds: usize) -> (RecordSet, RecordSet) {
    let mut order: Vec<usize> = (0..runs.len()).collect();
    for at in 0..2 * rounds {
        order.swap(at, at + random.below(runs.len() - at));
    }
    let set = |chosen: &[usize]| RecordSet {
        runs: chosen.iter().map(|at| runs[*at].clone()).collect(),
        ..RecordSet::default()
    };
    (set(&order[..rounds]), set(&order[rounds..2 * rounds]))
}

/// Of `pairs` pairs of such sets, how many are called different in anything.
fn called(runs: &[RunRecord], rounds: usize, pairs: usize) -> usize {
    let mut random = Random::new(rounds as u64);
    let calls = |_: &usize| {
        let (a, b) = pair(&mut random, runs, rounds);
        let comparison = compare(&a, &b, &Options::default());
        assert!(comparison.metrics().any(|metric| metric.ratio.is_some()));
        comparison.is_different()
    };
    (0..pairs).filter(calls).count()
}

#[test]
fn equal_measurements_are_called_equal_throughout() {
    for (name, runs) in recorded() {
        assert_eq!(runs.len(), 24, "{name}");
        for rounds in [1, 2, 3, 5] {
            let wrong = called(&runs, rounds, 200);
            assert!(wrong <= 10, "{name}, {rounds} rounds: {wrong} of 200 called different");
        }
    }
}
