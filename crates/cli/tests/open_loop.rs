//! Jobs with a rate are an open loop: their I/O is due at fixed times, whatever the storage does.

mod common;

use common::*;
use record::{Histogram, Nanos, RunRecord};
use std::time::{Duration, Instant};

/// Slower than this is late: a hundred times what a write takes here, a tenth of the stall.
const LATE_NS: u64 = 100_000_000;

fn late(histogram: &Option<Histogram>) -> u64 {
    let histogram = histogram.as_ref().unwrap();
    histogram.count() - histogram.count_at_most(LATE_NS)
}

/// 1000 writes a second for 5 s to a filesystem that is frozen for a second meanwhile; the record,
/// and how long it was frozen.
#[track_caller]
fn frozen(options: &[&str]) -> (RunRecord, Duration) {
    let directory = scratch();
    let disk = loop_device(directory.path(), 64 << 20, &[]);
    system("mkfs.ext4", &["-q", &disk.device]);
    let mounted = Mounted::new(&[], &disk.device, directory.path().join("mount"));
    let kept = directory.path().join("record.json");
    let record = format!("--record={}", kept.display());
    let job = [
        "--name=x",
        "--rw=randwrite",
        "--direct=1",
        "--size=16m",
        "--rate_iops=1000",
        "--time_based",
        "--runtime=5",
        "--eta=always",
        "--eta-interval=250ms",
        &record,
    ];
    // So that no write of the job has to change more than its block.
    fathom(mounted.path(), &["--name=x", "--rw=write", "--size=16m", "--end_fsync=1"]).expect(0);
    let mut running = Running::fathom("run", mounted.path(), &[&job[..], options].concat());
    running.says("err", "[w(1)]");
    std::thread::sleep(Duration::from_millis(1000));
    let ice = Frozen::new(&mounted);
    let since = Instant::now();
    std::thread::sleep(Duration::from_millis(1000));
    drop(ice);
    let lasted = since.elapsed();
    running.end().expect(0);
    (report::native::load(&kept).unwrap(), lasted)
}

/// Every write that was due while nothing went shows in response latency, and only those that were
/// under way in service latency; the backlog is caught up with.
#[track_caller]
fn shows_the_stall(options: &[&str], under_way: u64) {
    let (record, lasted) = frozen(options);
    let job = &record.jobs[0];
    let results = &job.results.write;
    assert_eq!(late(&results.latency.clat), under_way);
    // Due until LATE_NS before the thaw, and what came while the backlog was worked off, as fast as
    // one write follows another where they do not wait.
    let stall = lasted.as_nanos() as u64;
    let waiting = (stall - LATE_NS) / 1_000_000;
    let all = results.latency.clat.as_ref().unwrap();
    let each = (all.sum() - under_way * stall) as f64 / all.count() as f64;
    let (capacity, due) = (1e9 / each, 1000.0);
    let most = waiting as f64 * capacity / (capacity - due) * 1.1;
    let response = late(&results.latency.response);
    assert!(
        (waiting * 95 / 100..=most as u64).contains(&response),
        "{response} of {waiting} to {most} at {each} ns each"
    );
    assert!((4950..=5050).contains(&results.ios), "the schedule was caught up: {}", results.ios);
    let lags: Vec<u64> = job.intervals.iter().map(|i| i.lag_ns_max).collect();
    let most = *lags.iter().max().unwrap();
    assert!((stall * 9 / 10..stall * 13 / 10).contains(&most), "{lags:?}, frozen for {lasted:?}");
    assert!(lags[0] < LATE_NS && *lags.last().unwrap() < LATE_NS, "{lags:?}");
    assert_eq!(job.interval_step, Nanos::from_millis(500));
}

#[test]
fn a_frozen_filesystem_delays_all_that_was_due_one_at_a_time() {
    let _alone = alone();
    shows_the_stall(&["--ioengine=psync"], 1);
}

#[test]
fn a_frozen_filesystem_delays_all_that_was_due_eight_at_a_time() {
    let _alone = alone();
    shows_the_stall(&["--ioengine=io_uring", "--iodepth=8"], 8);
}

/// Linear schedules and those of a Poisson process, by I/Os and by bytes, over mixed sizes: over
/// 100 000 I/Os even the latter keep within 1 % of the rate (3 standard deviations; the seed decides).
#[test]
fn rates_are_kept_whatever_the_sizes() {
    let directory = scratch();
    for process in ["linear", "poisson"] {
        let common =
            ["--ioengine=null", "--rw=randread", "--size=1g", "--time_based", "--runtime=2"];
        let process = format!("--rate_process={process}");
        let jobs = [
            ["--name=a", "--bssplit=512/50:4k/50", "--rate_iops=50000"],
            ["--name=b", "--bssplit=512/50:4k/50", "--rate=115200000"],
            ["--name=c", "--bsrange=512-4k", "--rate_iops=50000"],
            ["--name=d", "--bsrange=512-4k", "--rate=115200000"],
        ];
        let line = [&common[..], &[&process], &jobs.concat()].concat();
        let record = recorded(directory.path(), 0, &line);
        for job in &record.jobs {
            let seconds = (job.ended - job.started).seconds();
            let results = &job.results.read;
            let (iops, bytes) = (results.ios as f64 / seconds, results.bytes.0 as f64 / seconds);
            let achieved = match job.workload.rate_iops.read {
                Some(rate) => iops / rate as f64,
                None => bytes / 115_200_000.0,
            };
            assert!((achieved - 1.0).abs() < 0.01, "{process} {}: {achieved}", job.name);
        }
    }
}
