//! The checks about queue depth, on real runs.

use crate::common::{alone, findings, recorded, scratch, silent, the_finding};
use record::Severity;

const JOB: [&str; 7] = [
    "--name=job",
    "--filename=file",
    "--size=64m",
    "--rw=randread",
    "--direct=1",
    "--runtime=1",
    "--time_based",
];

#[test]
fn a_synchronous_engine_reaches_no_depth() {
    let _alone = alone();
    let directory = scratch();
    let arguments = [&JOB[..], &["--ioengine=psync", "--iodepth=32"]].concat();
    let found = the_finding(&recorded(directory.path(), 0, &arguments), "depth-not-reached");
    assert_eq!(found.severity, Severity::Warning);
    assert!(found.cause.contains("synchronous engine"), "{found:?}");
}

#[test]
fn buffered_asynchronous_io_reaches_no_depth() {
    let _alone = alone();
    let directory = scratch();
    let arguments = [&JOB[..], &["--ioengine=libaio", "--iodepth=16", "--direct=0"]].concat();
    let found = the_finding(&recorded(directory.path(), 0, &arguments), "depth-not-reached");
    assert!(found.remedy.to_string().contains("--direct=1"), "{found:?}");
}

#[test]
fn an_asynchronous_engine_reaches_its_depth() {
    let _alone = alone();
    let directory = scratch();
    let arguments = [&JOB[..], &["--ioengine=io_uring", "--iodepth=4"]].concat();
    let record = recorded(directory.path(), 0, &arguments);
    silent(&record, "depth-not-reached");
    let found = findings(&record, "depth-beyond-knee");
    assert!(found.iter().all(|found| found.severity == Severity::Note), "{found:#?}");
}

#[test]
fn a_job_with_a_rate_needs_no_deep_queue() {
    let _alone = alone();
    let directory = scratch();
    let paced = [&JOB[..], &["--ioengine=io_uring", "--iodepth=32", "--rate_iops=1000"]].concat();
    silent(&recorded(directory.path(), 0, &paced), "depth-not-reached");
}

#[test]
fn depth_beyond_the_knee_only_queues() {
    let _alone = alone();
    let directory = scratch();
    let deep = [&JOB[..], &["--ioengine=io_uring", "--iodepth=512"]].concat();
    let found = the_finding(&recorded(directory.path(), 0, &deep), "depth-beyond-knee");
    assert_eq!(found.severity, Severity::Warning, "{found:?}");
    assert!(found.text.contains("in front of it"), "{found:?}");
    // The cure.
    let cured = [&JOB[..], &["--ioengine=io_uring", "--iodepth=8"]].concat();
    let record = recorded(directory.path(), 0, &cured);
    let left = findings(&record, "depth-beyond-knee");
    assert!(left.iter().all(|found| found.severity == Severity::Note), "{left:#?}");
}
