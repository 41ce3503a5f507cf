//! Jobs with a rate are an open loop: their I/O is due at fixed times, whatever the storage does.

use crate::common::schedule::{Ended, logged, on_schedule};
use crate::common::*;
use record::{Histogram, Nanos, RunRecord};
use std::time::{Duration, Instant};

/// Slower than this is late: a hundred times what a write takes here, a tenth of the stall.
const LATE_NS: u64 = 100_000_000;

/// 1000 writes a second for 8 s to a filesystem that is frozen for a second meanwhile; the record,
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
        "--runtime=8",
        "--eta=always",
        "--eta-interval=250ms",
        &record,
    ];
    // So that no write of the job has to change more than its block.
    fathom(mounted.path(), &["--name=x", "--rw=write", "--size=16m", "--end_fsync=1"]).expect(0);
    let mut running = Running::fathom("run", mounted.path(), &[&job[..], options].concat());
    running.says("err", "[w(1)]");
    std::thread::sleep(Duration::from_millis(500));
    let ice = Frozen::new(&mounted);
    let since = Instant::now();
    std::thread::sleep(Duration::from_millis(1000));
    drop(ice);
    let lasted = since.elapsed();
    running.end().expect(0);
    (formats::load(&kept).unwrap(), lasted)
}

/// Every write that was due while nothing went shows in response latency, and only those that were
/// under way in service latency; the backlog is caught up with.
#[track_caller]
fn shows_the_stall(options: &[&str], under_way: u64) {
    let (record, lasted) = frozen(options);
    let job = &record.jobs[0];
    let results = &job.results.write;
    let stall = lasted.as_nanos() as u64;
    let longer = |histogram: &Option<Histogram>, ns: u64| {
        let histogram = histogram.as_ref().unwrap();
        histogram.count() - histogram.count_at_most(ns)
    };
    assert_eq!(longer(&results.latency.clat, stall * 9 / 10), under_way);
    // One a millisecond, until LATE_NS before the thaw.
    let waiting = (stall - LATE_NS) / 1_000_000;
    let response = longer(&results.latency.response, LATE_NS);
    assert!(response >= waiting * 95 / 100, "{response} of {waiting}");
    // Whatever is that late lies in an interval that says so, or ends in the next.
    let lags: Vec<u64> = job.intervals.iter().map(|i| i.lag_ns_max).collect();
    let told =
        |index: usize| lags[index.saturating_sub(1)..=index].iter().any(|l| *l >= LATE_NS / 2);
    let within = (0..lags.len()).filter(|index| told(*index)).map(|i| job.intervals[i].ios.write);
    let most = within.sum::<u64>() + under_way;
    assert!(response <= most, "{response} of {most}: {lags:?}");
    let worst = *lags.iter().max().unwrap();
    assert!((stall * 9 / 10..stall * 2).contains(&worst), "{lags:?}, frozen for {lasted:?}");
    // The schedule is caught up with, but for what stops the worker at its end.
    assert!((7300..=8050).contains(&results.ios), "{}", results.ios);
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

/// Linear schedules and those of a Poisson process, by I/Os and by bytes, over mixed sizes, where a rate of
/// I/Os is a bandwidth: the latter keep within four standard deviations of the rate. Sizes that vary make a schedule by bytes
/// as uneven as a Poisson process has it, at most.
#[test]
fn rates_are_kept_whatever_the_sizes() {
    for process in ["linear", "poisson"] {
        let common =
            ["--ioengine=null", "--rw=randread", "--size=1g", "--time_based", "--runtime=2"];
        let process = format!("--rate_process={process}");
        let jobs = [
            ["--name=a", "--bssplit=512/50:4k/50", "--rate_iops=90000"],
            ["--name=b", "--bssplit=512/50:4k/50", "--rate=46080000"],
            ["--name=c", "--bs=4k", "--rate_iops=20000"],
            ["--name=d", "--bsrange=512-4k", "--rate=46080000"],
        ];
        let all = logged(4, &[&common[..], &[&process], &jobs.concat()].concat());
        for ([reads, _], job) in all.iter().zip(jobs) {
            let due = |io: Ended| match job[1] == "--bs=4k" {
                true => io.ios as f64 / 20.0,
                false => io.bytes as f64 / 46_080.0,
            };
            let deviation = |io: Ended| (io.ios as f64).sqrt() / 20.0;
            let spread =
                |io: Ended| if process.ends_with("poisson") { 4.0 * deviation(io) } else { 0.0 };
            on_schedule(&format!("{process} {job:?}"), reads, due, spread);
        }
    }
}
