//! The checks of time, steadiness and delays, on real runs.

use crate::common::{
    MemoryFilesystem, Throttle, alone, findings, recorded, recorded_by, scratch, silent, system,
    the_finding, undisturbed,
};
use record::{Direction, RunRecord, Severity};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The highest priority, so that other programs cannot delay the workers.
const FIRST: [&str; 3] = ["chrt", "--fifo", "1"];

const READ: [&str; 6] =
    ["--name=read", "--filename=read", "--size=16m", "--direct=1", "--rw=randread", "--time_based"];

#[test]
fn half_a_second_is_too_short() {
    let directory = scratch();
    let arguments = [&READ[..], &["--runtime=500ms", "--rate_iops=200"]].concat();
    let record = recorded(directory.path(), 0, &arguments);
    let found = the_finding(&record, "too-short");
    assert_eq!(found.severity, Severity::Note);
    assert_eq!(found.cause, "runtime is 500 ms");
    let found = the_finding(&record, "too-few-samples");
    assert!(
        found.text.contains("read samples are too few for p99, p99.5, p99.9, p99.95 and p99.99"),
        "{found:?}"
    );
}

#[test]
fn a_run_of_enough_intervals_is_not_too_short() {
    let directory = scratch();
    let paced = ["--runtime=5", "--rate_iops=500", "--ramp_time=300ms"];
    let record = recorded_by(&FIRST, directory.path(), 0, &[&READ[..], &paced].concat());
    silent(&record, "too-short");
    let found = findings(&record, "not-steady");
    assert!(found.iter().all(|finding| !finding.text.contains("IOPS")), "{found:#?}");
}

#[test]
fn percentiles_of_many_samples_are_supported() {
    let directory = scratch();
    let few = ["--runtime=500ms", "--percentile_list=50:90"];
    let record = recorded(directory.path(), 0, &[&READ[..], &few].concat());
    silent(&record, "too-few-samples");
}

/// A filesystem that is frozen until the value is dropped.
struct Frozen(PathBuf);

impl Frozen {
    fn new(filesystem: &Path) -> Frozen {
        system("fsfreeze", &["--freeze", filesystem.to_str().unwrap()]);
        Frozen(filesystem.to_owned())
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        system("fsfreeze", &["--unfreeze", self.0.to_str().unwrap()]);
    }
}

/// 1000 writes per second for six seconds, with a stall of a second in the middle. Returns the
/// length of the stall.
fn stalled() -> (RunRecord, Duration) {
    let own = MemoryFilesystem::new(64 << 20);
    let job = ["--name=paced", "--filename=paced", "--size=4m", "--direct=1", "--rw=randwrite"];
    let paced = ["--rate_iops=1000", "--time_based", "--runtime=6"];
    let line = [&job[..], &paced].concat();
    let before = own.disk.writes();
    std::thread::scope(|scope| {
        let run = scope.spawn(|| recorded_by(&FIRST, own.path(), 0, &line));
        // In the middle of the run, after the layout.
        crate::common::wait_until("the writes", || own.disk.writes() > before + 1500);
        let frozen = Frozen::new(own.path());
        let since = Instant::now();
        std::thread::sleep(Duration::from_secs(1));
        let lasted = since.elapsed();
        drop(frozen);
        (run.join().unwrap(), lasted)
    })
}

#[test]
fn a_stall_shows_in_the_response_and_not_in_the_service() {
    let _alone = alone();
    let (record, stall) = stalled();
    let found = the_finding(&record, "coordinated-omission");
    assert_eq!(found.severity, Severity::Warning);
    assert!(found.cause.starts_with("a stall"), "{found:?}");
    let latency = &record.jobs[0].results[Direction::Write].latency;
    // During the stall one write was due each millisecond and waited for the rest of it. Only the
    // write in flight took that long itself.
    let half = stall.as_nanos() as u64 / 2;
    let slow = |histogram: &record::Histogram| histogram.count() - histogram.count_at_most(half);
    let (response, service) = (latency.response.as_ref(), latency.clat.as_ref());
    let waiting = half / 1_000_000;
    assert!(slow(response.unwrap()) >= waiting * 9 / 10, "{}", slow(response.unwrap()));
    assert_eq!(slow(service.unwrap()), 1);
    silent(&record, "client-bound");
}

#[test]
fn a_paced_job_without_a_stall_omits_nothing() {
    let _alone = alone();
    let own = MemoryFilesystem::new(64 << 20);
    let arguments = [&READ[..], &["--runtime=1", "--rate_iops=500"]].concat();
    let record = undisturbed(|| recorded_by(&FIRST, own.path(), 0, &arguments));
    silent(&record, "coordinated-omission");
    silent(&record, "client-bound");
}

#[test]
fn filling_every_buffer_anew_is_the_clients_work() {
    let directory = scratch();
    let job = ["--name=fill", "--filename=fill", "--size=16m", "--bs=1m", "--rw=write"];
    let refilled = ["--refill_buffers=1", "--time_based", "--runtime=1"];
    let found = the_finding(
        &recorded_by(&FIRST, directory.path(), 0, &[&job[..], &refilled].concat()),
        "client-bound",
    );
    assert!(found.cause.starts_with("refill_buffers"), "{found:?}");
}

#[test]
fn a_throttle_in_the_middle_of_a_run_is_not_steady() {
    let _alone = alone();
    let own = MemoryFilesystem::new(64 << 20);
    let throttle = Throttle::new();
    let starter = throttle.starter();
    let starter: Vec<&str> = starter.iter().map(String::as_str).collect();
    let line = [&READ[..], &["--runtime=6"]].concat();
    // Well below the limit of the CPUs, so that the rate follows the throttle.
    throttle.limit(&own.disk.number(), 5000);
    let before = own.disk.reads();
    let (record, throttled) = std::thread::scope(|scope| {
        let run = scope.spawn(|| recorded_by(&starter, own.path(), 0, &line));
        crate::common::wait_until("the reads", || own.disk.reads() > before + 1000);
        let since = Instant::now();
        std::thread::sleep(Duration::from_secs(3));
        throttle.limit(&own.disk.number(), 1000);
        let after = since.elapsed();
        (run.join().unwrap(), after.as_nanos() as f64)
    });
    let found = the_finding(&record, "not-steady");
    assert_eq!(found.severity, Severity::Warning);
    let after = found.figures.iter().find(|figure| figure.name == "after").unwrap();
    // At depth 1, latency is the reciprocal of the rate. The finding states the larger change.
    let rate = match found.text.contains("the rate fell after") {
        true => after.value,
        false => 1e9 / after.value,
    };
    // A worker that is delayed gets less than the limit.
    assert!((200.0..1200.0).contains(&rate), "{found:?}");
    let when = found.figures.iter().find(|figure| figure.name == "changed after").unwrap();
    assert!((when.value - throttled).abs() < 1.5e9, "{throttled}: {found:?}");
}
