mod recorded;

use super::*;
use crate::checks::testing::{LATENCY, SECOND, asking, job, record};
use crate::stats::Random;
use ::record::{Bytes, Cell, Direction, Histogram, JobRecord, RunRecord};

/// A run whose level varies log-normally by `cv` from run to run around `level`, and whose course
/// within is an autoregressive process (AR(1), phi 0.5, 10 %).
fn run(random: &mut Random, round: u32, level: f64, cv: f64) -> RunRecord {
    let level = level * (cv * random.normal()).exp();
    let mut job = job("read", Direction::Read, 10);
    let mut drift = 0.0;
    let (mut ios, mut latency) = (0, Histogram::new());
    for interval in &mut job.intervals {
        drift = 0.5 * drift + 0.75_f64.sqrt() * random.normal();
        let here = level * (1.0 + 0.1 * drift).max(0.1);
        let count = (here * interval.length.seconds()) as u64;
        interval.ios[Direction::Read] = count;
        interval.bytes[Direction::Read] = count * 4096;
        // An eighth of a spread around the mean, the same for all levels.
        for step in 0..40_u64 {
            let each = SECOND as f64 / here * (0.8 + step as f64 / 100.0);
            latency.record_n(each as u64, count / 40);
        }
        interval.clat_ns_sum[Direction::Read] = (SECOND as f64 * count as f64 / here) as u64;
        ios += count;
    }
    let result = &mut job.results[Direction::Read];
    (result.ios, result.ios_issued, result.bytes) = (ios, ios, Bytes(ios * 4096));
    result.latency.clat = Some(latency.clone());
    result.latency.lat = Some(latency);
    let cell = Some(Cell { name: "read".into(), round, ..Cell::default() });
    // Samples of the machine say nothing here and take time.
    let mut made = record(Vec::new());
    (made.jobs, made.cell) = (vec![job], cell);
    made
}

fn set(random: &mut Random, rounds: u32, level: f64) -> RecordSet {
    let runs = (0..rounds).map(|round| run(random, round, level, 0.03)).collect();
    RecordSet { runs, ..RecordSet::default() }
}

/// Of `pairs` comparisons, how many make any call.
fn called(pairs: u64, rounds: u32, ratio: f64) -> usize {
    let mut random = Random::new(u64::from(rounds) * 1009);
    let calls = |_: &u64| {
        let (a, b) = (set(&mut random, rounds, 1000.0), set(&mut random, rounds, 1000.0 * ratio));
        let comparison = compare(&a, &b, &Options::default());
        assert!(comparison.metrics().any(|m| m.ratio.is_some()));
        comparison.is_different()
    };
    (0..pairs).filter(calls).count()
}

#[test]
fn equal_measurements_are_equal_in_every_figure() {
    for rounds in [1, 3, 5] {
        let wrong = called(1000, rounds, 1.0);
        assert!(wrong <= 50, "{rounds} rounds: {wrong} of 1000 pairs called different");
    }
}

#[test]
fn five_rounds_show_a_loss_of_a_fifth() {
    let found = called(200, 5, 0.8);
    assert!(found >= 180, "{found} of 200");
}

#[test]
fn no_difference_needs_an_interval_within_the_tolerance() {
    let mut random = Random::new(3);
    let mut side = |cv| {
        let runs = (0..5).map(|round| run(&mut random, round, 1000.0, cv)).collect();
        RecordSet { runs, ..RecordSet::default() }
    };
    let (calm, wild) = ((side(0.01), side(0.01)), (side(0.8), side(0.8)));
    let options = |tolerance| Options { tolerance, metrics: vec!["iops".into()] };
    let iops = |(a, b): &(RecordSet, RecordSet), tolerance| {
        let comparison = compare(a, b, &options(tolerance));
        assert!(!comparison.is_different());
        comparison.metrics().next().unwrap().clone()
    };
    let narrow = iops(&calm, 0.3);
    assert_eq!((narrow.change, narrow.change_name()), (Change::NoDifference, "no difference"));
    assert!(narrow.smallest_difference().unwrap() < 0.3, "{narrow:?}");
    // The same interval decides nothing within a narrower tolerance.
    assert_eq!(iops(&calm, 0.001).change, Change::Inconclusive);
    let wide = iops(&wild, 0.3);
    assert_eq!((wide.change, wide.change_name()), (Change::Inconclusive, "inconclusive"));
    assert!(wide.smallest_difference().unwrap() > 0.5, "{wide:?}");
}

#[test]
fn as_many_runs_as_advised_show_the_difference() {
    let mut random = Random::new(11);
    let options = Options { tolerance: 0.1, metrics: vec!["iops".into()] };
    let mut side = |rounds, level| {
        let runs = (0..rounds).map(|round| run(&mut random, round, level, 0.08)).collect();
        RecordSet { runs, ..RecordSet::default() }
    };
    let (mut found, mut advised) = (0, 0);
    for _ in 0..100 {
        let pilot = compare(&side(5, 1000.0), &side(5, 1000.0), &options);
        let runs = pilot.metrics().next().unwrap().runs_needed.unwrap();
        advised += runs;
        let comparison = compare(&side(runs, 1000.0), &side(runs, 1100.0), &options);
        found += usize::from(comparison.is_different());
    }
    assert!(found >= 85, "{found} of 100");
    // The distance of two means of n runs has a spread of 0.08 √(2/n); 3.3 to 4.1 of it are needed.
    assert!((1_500..3_500).contains(&advised), "{advised} runs in 100 comparisons");
    let single = compare(&side(1, 1000.0), &side(5, 1000.0), &options);
    assert_eq!(single.metrics().next().unwrap().runs_needed, None);
}

#[test]
fn a_slowdown_beyond_the_tolerance_is_reported() {
    let mut random = Random::new(3);
    let (a, b) = (set(&mut random, 5, 1000.0), set(&mut random, 5, 700.0));
    let worse = compare(&a, &b, &Options::default());
    assert!(worse.is_slower() && !worse.is_spread_assumed);
    let iops = worse.metrics().find(|m| m.name == "iops").unwrap();
    assert_eq!(iops.change, Change::Slower);
    assert!((iops.ratio.unwrap().value - 0.7).abs() < 0.07, "{iops:?}");
    assert!(
        !compare(&a, &b, &Options { tolerance: 0.9, ..Options::default() }).is_slower(),
        "within the tolerance"
    );
    assert!(!compare(&b, &a, &Options::default()).is_slower(), "faster");
}

#[test]
fn the_reason_for_incomparable_figures_is_reported() {
    let mut random = Random::new(3);
    let whole = set(&mut random, 1, 1000.0);
    assert_eq!(compare(&whole, &whole, &Options::default()).obstacle(), None);
    let mut short = whole.clone();
    short.runs[0].jobs[0].intervals.truncate(1);
    let obstacle = compare(&whole, &short, &Options::default()).obstacle().unwrap();
    let expected = "too short: two whole intervals of 500 ms are needed; run for 1.5 s or longer, \
                    or repeat the runs on both sides (--repeat=5, or several records each, A1,A2)";
    assert_eq!(obstacle, expected);
    let mut other = whole.clone();
    other.runs[0].jobs[0].workload.iodepth = 8;
    let obstacle = compare(&whole, &other, &Options::default()).obstacle();
    assert_eq!(obstacle.as_deref(), Some("the workloads differ (read: iodepth)"));
    other.runs[0].jobs[0].name = "else".into();
    let obstacle = compare(&whole, &other, &Options::default()).obstacle();
    assert_eq!(obstacle.as_deref(), Some("no job has the same name on both sides"));
}

#[test]
fn seed_and_path_do_not_change_the_workload() {
    let mut random = Random::new(3);
    let a = set(&mut random, 3, 1000.0);
    for setting in ["randseed", "directory"] {
        let mut b = a.clone();
        for run in &mut b.runs {
            run.jobs[0].workload.settings.insert(setting.into(), "7".into());
        }
        let drawn_anew = compare(&a, &b, &Options::default());
        assert_eq!(drawn_anew.obstacle(), None);
        assert!(drawn_anew.metrics().count() > 0);
    }
}

#[test]
fn other_workloads_and_jobs_of_one_side_are_not_compared() {
    let mut random = Random::new(3);
    let a = set(&mut random, 3, 1000.0);
    let mut b = a.clone();
    let change = |b: &mut RecordSet, change: fn(&mut JobRecord)| {
        b.runs.iter_mut().for_each(|run| change(&mut run.jobs[0]));
    };
    change(&mut b, |job| job.workload.iodepth = 8);
    let other = compare(&a, &b, &Options::default());
    let difference = &other.jobs[0].not_comparable[0];
    assert_eq!((difference.what.as_str(), difference.after.as_str()), ("iodepth", "8"));
    assert_eq!(other.metrics().count(), 0);
    change(&mut b, |job| job.name = "else".into());
    let none = compare(&a, &b, &Options::default());
    assert_eq!((none.only_before, none.only_after), (vec!["read".into()], vec!["else".into()]));
}

/// Runs that fetch 4000 objects each, so many of which could not be had; the first bytes come after
/// `first_byte` nanoseconds, give or take 3 % from run to run.
fn fetched(random: &mut Random, failed: &[u64], first_byte: f64) -> RecordSet {
    let run = |failed: &u64| {
        let mut made = asking("GET", 4000, 0);
        made.timeline.samples.clear();
        let get = &mut made.jobs[0].exchange.as_mut().unwrap().requests[0];
        (get.good, get.first_byte) = (4000 - failed, Histogram::new());
        get.statuses = [(200, get.good), (503, *failed)].into();
        get.first_byte.record_n((first_byte * (0.03 * random.normal()).exp()) as u64, get.good);
        made
    };
    RecordSet { runs: failed.iter().map(run).collect(), ..RecordSet::default() }
}

#[test]
fn requests_are_compared_by_their_first_byte_and_their_failures() {
    let mut random = Random::new(5);
    let usual = LATENCY as f64 / 2.0;
    let a = fetched(&mut random, &[0; 5], usual);
    let b = fetched(&mut random, &[40, 50, 60, 45, 55], usual * 2.0);
    let made = compare(&a, &b, &Options::default());
    let requests: Vec<_> = made.directions().filter(|d| d.operation.request().is_some()).collect();
    let [get] = requests.as_slice() else { panic!("{requests:?}") };
    assert_eq!((get.operation.name(), get.latency), ("GET", "first byte"));
    let told: Vec<_> = get.metrics.iter().map(|m| (m.name, m.change_name())).collect();
    let slower = ["mean", "p50", "p99", "p99.9"].map(|name| (name, "slower"));
    assert_eq!(told, [&slower[..], &[("failed", "fails more")]].concat());
    let failed = get.metrics.last().unwrap();
    assert_eq!((failed.before, failed.after, failed.unit), (0.0, 1.25, "percent"));
    assert!(failed.is_beyond_tolerance && made.is_slower());
    let back = compare(&b, &a, &Options::default());
    assert!(back.metrics().any(|metric| metric.change_name() == "fails less"));
    let none = compare(&a, &a, &Options::default());
    assert!(none.metrics().all(|metric| !metric.is_failures()), "nothing failed");
    let options = Options { metrics: vec!["failed".into()], ..Options::default() };
    assert_eq!(compare(&a, &b, &options).metrics().count(), 1);
}

#[test]
fn the_same_requests_to_two_stores_are_comparable() {
    let a = fetched(&mut Random::new(5), &[0; 3], LATENCY as f64);
    let mut b = a.clone();
    for job in b.runs.iter_mut().flat_map(|run| &mut run.jobs) {
        job.workload.settings.insert("http_host".into(), "other.example".into());
        job.exchange.as_mut().unwrap().endpoints = vec!["other.example:80".into()];
    }
    let made = compare(&a, &b, &Options::default());
    assert_eq!((made.obstacle(), made.jobs[0].not_comparable.len()), (None, 0));
    assert_eq!(made.environment[0].what, "object store");
}

#[test]
fn head_requests_are_not_synchronisations() {
    let mut random = Random::new(5);
    let mut a = fetched(&mut random, &[0; 3], LATENCY as f64);
    for job in a.runs.iter_mut().flat_map(|run| &mut run.jobs) {
        job.sync.latency.record_n(LATENCY, 1000);
        let exchange = job.exchange.as_mut().unwrap();
        let mut head = exchange.requests[0].clone();
        head.request = "HEAD".into();
        exchange.requests.push(head);
    }
    let made = compare(&a, &a, &Options::default());
    let told: Vec<_> = made.directions().map(|d| (d.operation.name(), d.latency)).collect();
    let expected =
        [("read", "completion"), ("GET", "first byte"), ("HEAD", "first byte"), ("HEAD", "whole")];
    assert_eq!(told, expected);
}

#[test]
fn a_chance_difference_of_failures_is_no_difference() {
    let mut random = Random::new(11);
    let options = Options { metrics: vec!["failed".into()], ..Options::default() };
    for rounds in [1, 3, 5] {
        let mut side = || {
            let one = |_: &usize| (0..4000).filter(|_| random.below(2000) == 0).count() as u64;
            let failed: Vec<u64> = (0..rounds).collect::<Vec<usize>>().iter().map(one).collect();
            fetched(&mut random, &failed, LATENCY as f64)
        };
        let wrong = (0..200).filter(|_| compare(&side(), &side(), &options).is_different()).count();
        assert!(wrong <= 10, "{rounds} rounds: {wrong} of 200 pairs called different");
    }
}
