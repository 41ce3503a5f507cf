//! The checks about processors, on real runs.

use crate::common::{alone, recorded, recorded_by, scratch, silent, the_finding};
use record::{RunRecord, Severity};
use std::path::Path;
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
fn the_code_that_uses_the_cpus_is_named() {
    let _alone = alone();
    let directory = scratch();
    let sampled = [&NULL[..], &["--time_based", "--runtime=1", "--cpu-profile"]].concat();
    let record = recorded(directory.path(), 0, &sampled);
    let profile = record.evidence.cpu_profile.as_ref().unwrap();
    assert!(profile.with_kernel && profile.lost == 0, "{profile:?}");
    let of = |is: &dyn Fn(&record::CodeUse) -> bool| -> f64 {
        let samples: u64 = profile.code.iter().filter(|code| is(code)).map(|c| c.samples).sum();
        samples as f64 / f64::from(profile.hz)
    };
    let cpu = |job: &record::JobRecord| (job.cpu.user.0 + job.cpu.system.0) as f64 / 1e9;
    let used: f64 = record.jobs.iter().map(cpu).sum();
    let sampled = of(&|_| true);
    assert!((0.7..1.5).contains(&(sampled / used)), "{sampled} s sampled, {used} s used");
    let named = of(&|code| code.function.as_ref().is_some_and(|name| name.contains("engine::")));
    assert!(named > sampled / 2.0, "{profile:?}");
}

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
    assert!(found.remedy.to_string().contains("--direct=1"), "{found:?}");
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

/// User and system time of the program, in seconds, as `time` has it, beside what its jobs tell.
fn measured(directory: &Path, arguments: &[&str]) -> (f64, f64, RunRecord) {
    let times = directory.join("times");
    let timed = ["time", "-f", "%U %S", "-o", times.to_str().unwrap()];
    let record = recorded_by(&timed, directory, 0, arguments);
    let text = std::fs::read_to_string(&times).unwrap();
    let all: f64 = text.split_whitespace().map(|word| word.parse::<f64>().unwrap()).sum();
    let jobs = record.jobs.iter().map(|job| (job.cpu.user + job.cpu.system).seconds());
    (all, jobs.sum(), record)
}

#[test]
fn what_workers_use_agrees_with_the_system() {
    let _alone = alone();
    let directory = scratch();
    let arguments = [&CACHED[..], &["--numjobs=2"]].concat();
    let (all, jobs, record) = measured(directory.path(), &arguments);
    silent(&record, "cpu-elsewhere");
    // The rest is laying out and looking around.
    assert!(jobs <= all + 0.02 && jobs >= all * 0.7, "{jobs} of {all}");
    let unit = &judge::judge(&record).units;
    let shown: f64 = unit
        .iter()
        .map(|unit| (unit.cpu.user + unit.cpu.system) * unit.job_runtime_ns as f64 / 1e11)
        .sum();
    assert!((shown - jobs).abs() < 0.01, "{shown} {jobs}");
}

/// What the kernel's polling thread uses is in nobody's usr_cpu and sys_cpu.
#[test]
fn what_helpers_use_is_told_and_agrees_with_the_system() {
    let _alone = alone();
    let directory = scratch();
    let arguments =
        [&DIRECT[..], &["--sqthread_poll=1", "--iodepth=16", "--runtime=2", "--norandommap"]]
            .concat();
    let (all, jobs, record) = measured(directory.path(), &arguments);
    let found = the_finding(&record, "cpu-elsewhere");
    assert_eq!(found.severity, Severity::Warning);
    assert!(found.cause.contains("sqthread_poll"), "{found:?}");
    let others = (found.figures[0].value - found.figures[1].value) / 1e9;
    assert!((others - (all - jobs)).abs() < 0.3 * all, "{others} of {all}, jobs {jobs}");
}
