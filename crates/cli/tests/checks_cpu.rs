//! The checks about processors, on real runs.

mod common;

use common::{alone, recorded, recorded_by, scratch, silent, the_finding};
use record::Severity;
use std::process::{Child, Command, Stdio};

/// A process that keeps one CPU busy, killed with the value.
struct Busy(Child);

impl Busy {
    fn on(cpu: &str) -> Busy {
        let mut command = Command::new("taskset");
        command.args(["--cpu-list", cpu, "sh", "-c", "while :; do :; done"]);
        Busy(command.stdin(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        // One that has ended needs neither.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

const NULL: [&str; 4] = ["--name=null", "--ioengine=null", "--rw=randread", "--size=1g"];
const CACHED: [&str; 8] = [
    "--name=cached",
    "--ioengine=psync",
    "--rw=randread",
    "--size=16m",
    "--pre_read=1",
    "--runtime=1",
    "--time_based",
    "--norandommap",
];
const DIRECT: [&str; 8] = [
    "--name=direct",
    "--ioengine=io_uring",
    "--direct=1",
    "--rw=randread",
    "--size=16m",
    "--runtime=1",
    "--time_based",
    "--filename=direct",
];

#[test]
fn a_job_that_never_waits_is_cpu_bound() {
    let _alone = alone();
    let directory = scratch();
    let null = [&NULL[..], &["--runtime=1", "--time_based"]].concat();
    let found = the_finding(&recorded(directory.path(), 0, &null), "cpu-bound");
    assert_eq!(found.severity, Severity::Note);
    assert!(found.cause.contains("no device is involved"), "{found:?}");
    let found = the_finding(&recorded(directory.path(), 0, &CACHED), "cpu-bound");
    assert_eq!(found.severity, Severity::Warning);
    assert!(found.cure.contains("--direct=1"), "{found:?}");
}

#[test]
fn a_job_that_waits_for_its_disk_is_not_cpu_bound() {
    let _alone = alone();
    let directory = scratch();
    silent(&recorded(directory.path(), 0, &DIRECT), "cpu-bound");
}

#[test]
fn a_job_that_shares_its_cpu_is_starved() {
    let _alone = alone();
    let directory = scratch();
    let _busy = [Busy::on("0"), Busy::on("0")];
    let arguments = [&CACHED[..], &["--cpus_allowed=0"]].concat();
    let found = the_finding(&recorded(directory.path(), 0, &arguments), "cpu-starved");
    assert_eq!(found.severity, Severity::Warning);
    assert!(found.cause.contains("other processes"), "{found:?}");
    // More workers than CPUs starve each other.
    let arguments = [&CACHED[..], &["--cpus_allowed=1", "--numjobs=3"]].concat();
    let found = the_finding(&recorded(directory.path(), 0, &arguments), "cpu-starved");
    assert_eq!(found.cause, "3 workers share 1 CPU");
}

#[test]
fn a_job_that_waits_for_its_disk_is_not_starved() {
    let _alone = alone();
    let directory = scratch();
    // Before all others, so that whatever else this machine does cannot starve it.
    let first = ["chrt", "--fifo", "1"];
    silent(&recorded_by(&first, directory.path(), 0, &DIRECT), "cpu-starved");
}
