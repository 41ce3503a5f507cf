//! No false alarms: on direct runs of many shapes nothing above a note is found.

use crate::common::{alone, recorded, scratch};
use judge::Finding;
use record::Severity;
use std::path::Path;

/// Of all shapes, and of the first ones, which have every value of every property.
const SHAPES: [usize; 2] = [50, 12];
const ATTEMPTS: usize = 4;
const ENGINES: [&str; 4] = ["io_uring", "libaio", "psync", "pvsync2"];
const PATTERNS: [&str; 6] = ["randread", "read", "randwrite", "write", "randrw", "rw"];
const BLOCKS: [&str; 5] = ["4k", "8k", "16k", "64k", "128k"];
const DEPTHS: [u32; 4] = [1, 2, 4, 8];

/// Checks of what else the machine did: on one that is busy they are right to speak. Each has a test
/// on a disk or processor of its own.
const OF_THE_MACHINE: [&str; 6] = [
    "background-work",
    "cpu-starved",
    "noisy-neighbour",
    "not-steady",
    "stolen-time",
    "throttled-hot",
];

/// The job of one shape: each property runs through its values at a pace of its own.
fn shape(n: usize) -> Vec<String> {
    let engine = ENGINES[n % ENGINES.len()];
    let asynchronous = matches!(engine, "io_uring" | "libaio");
    let depth = if asynchronous { DEPTHS[n / 3 % DEPTHS.len()] } else { 1 };
    // Two workers on two CPUs compete with everything else there is, and are told so by right.
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = if cpus < 4 { 1 } else { 1 + n / 7 % 2 };
    vec![
        format!("--name=shape{n}"),
        format!("--ioengine={engine}"),
        format!("--rw={}", PATTERNS[n % PATTERNS.len()]),
        format!("--bs={}", BLOCKS[n / 2 % BLOCKS.len()]),
        format!("--iodepth={depth}"),
        format!("--numjobs={jobs}"),
        "--filename=file".into(),
        "--size=32m".into(),
        "--offset_increment=32m".into(),
        "--direct=1".into(),
        "--runtime=500ms".into(),
        "--ramp_time=100ms".into(),
        "--time_based".into(),
    ]
}

#[test]
fn clean_runs_raise_no_alarm() {
    let _alone = alone();
    let directory = scratch();
    let fill = ["--name=fill", "--filename=file", "--size=64m", "--rw=write", "--bs=1m"];
    recorded(directory.path(), 0, &[&fill[..], &["--direct=1"]].concat());
    let mut alarms = Vec::new();
    let [all, some] = SHAPES;
    for n in 0..if testbed::all() { all } else { some } {
        let shape = shape(n);
        let arguments: Vec<&str> = shape.iter().map(String::as_str).collect();
        alarms.extend(lasting(directory.path(), &arguments).map(|found| (shape.join(" "), found)));
    }
    assert!(alarms.is_empty(), "{} alarms: {alarms:#?}", alarms.len());
}

/// What is found above a note in each of several runs of one shape: what somebody else on the
/// machine did passes, a false alarm comes again.
fn lasting(directory: &Path, arguments: &[&str]) -> Option<Finding> {
    let grave = || {
        let found = judge::judge(&recorded(directory, 0, arguments)).findings;
        let of_the_run = found.into_iter().filter(|f| !OF_THE_MACHINE.contains(&f.check));
        of_the_run.filter(|found| found.severity > Severity::Note).collect::<Vec<_>>()
    };
    let mut again = grave();
    for _ in 1..ATTEMPTS {
        if again.is_empty() {
            break;
        }
        let now = grave();
        again.retain(|found| now.iter().any(|other| other.check == found.check));
    }
    again.into_iter().next()
}
