//! The jobs that are compared with themselves, and how each is made slower.

use crate::truth::{Group, Held, Stage};
use anyhow::Result;
use std::fs;

/// A job.
pub struct Job {
    pub name: &'static str,
    /// What it is, for the table.
    pub what: &'static str,
    pub options: &'static [&'static str],
    /// Makes the place where it works.
    pub place: fn(&Stage) -> Place,
    /// Limits a control group to a share of the level, in I/Os a second.
    pub slow: fn(&Place, f64, f64) -> Result<Group>,
}

/// Where a job works.
pub struct Place {
    /// The options that name it.
    pub arguments: Vec<String>,
    /// "7:0", the number of its device.
    device: String,
    _held: Held,
}

pub const JOBS: &[Job] = &[
    Job {
        name: "reads",
        what: "4 KiB random reads, depth 1",
        options: &["--rw=randread", "--bs=4k", "--ioengine=psync", "--direct=1"],
        place: loop_device,
        slow: |place, level, share| io(place, &[("read", level * share)]),
    },
    Job {
        name: "reads-deep",
        what: "8 KiB random reads, depth 8",
        options: &["--rw=randread", "--bs=8k", "--ioengine=io_uring", "--iodepth=8", "--direct=1"],
        place: loop_device,
        slow: |place, level, share| io(place, &[("read", level * share)]),
    },
    Job {
        name: "writes",
        what: "64 KiB sequential writes, depth 4",
        options: &["--rw=write", "--bs=64k", "--ioengine=libaio", "--iodepth=4", "--direct=1"],
        place: loop_device,
        slow: |place, level, share| io(place, &[("write", level * share)]),
    },
    Job {
        name: "cached",
        what: "4 KiB random reads of a file in the page cache",
        options: &["--rw=randread", "--bs=4k", "--ioengine=psync", "--size=64m"],
        place: cached_file,
        slow: |_, _, share| cpu(share),
    },
    Job {
        name: "null",
        what: "the null engine, depth 16",
        options: &["--rw=randread", "--bs=4k", "--ioengine=null", "--iodepth=16", "--size=1g"],
        place: |_| Place { arguments: vec![], device: String::new(), _held: Held::default() },
        slow: |_, _, share| cpu(share),
    },
];

fn loop_device(stage: &Stage) -> Place {
    let device = stage.loop_device(true);
    let number = fs::read_to_string(format!("/sys/block/{}/dev", device.name()));
    let named = ["--filename", "--allow-destroy"].map(|name| format!("{name}={}", device.device));
    let mut held = Held::default();
    held.push(device);
    Place {
        arguments: named.into(),
        device: number.unwrap_or_default().trim().to_owned(),
        _held: held,
    }
}

fn cached_file(stage: &Stage) -> Place {
    let path = stage.directory.join("data.1");
    // Brings it into the page cache.
    let _ = fs::read(&path);
    let arguments = vec![format!("--filename={}", path.display()), "--invalidate=0".to_owned()];
    Place { arguments, device: String::new(), _held: Held::default() }
}

/// Limits I/Os a second on the device of a place.
fn io(place: &Place, limits: &[(&str, f64)]) -> Result<Group> {
    let settings: Vec<(String, String)> = limits
        .iter()
        .map(|(way, limit)| {
            let name = format!("blkio.throttle.{way}_iops_device");
            (name, format!("{} {}", place.device, limit.round()))
        })
        .collect();
    let settings: Vec<(&str, String)> =
        settings.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
    Group::new("blkio", &settings)
}

/// Limits the CPU time to a share of one CPU. The period is short against a run.
fn cpu(share: f64) -> Result<Group> {
    let period = 10_000.0;
    let quota = format!("{}", (period * share).round());
    Group::new("cpu", &[("cpu.cfs_period_us", period.to_string()), ("cpu.cfs_quota_us", quota)])
}
