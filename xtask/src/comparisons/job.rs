//! The jobs that are compared with themselves, and how each is made slower.

use crate::truth::{Group, Stage, on_device};
use anyhow::{Context, Result};
use std::fs;
use testbed::Loop;

/// A job.
pub struct Job {
    pub name: &'static str,
    /// What it is, for the table.
    pub what: &'static str,
    pub options: &'static [&'static str],
    /// Makes the place where it works.
    pub place: fn(&Stage) -> Place,
    /// What makes it slower.
    pub limit: Limited,
}

/// What a control group limits to make a job slower.
pub enum Limited {
    /// I/Os a second in this direction.
    Io(&'static str),
    /// CPU time.
    Cpu,
}

/// Where a job works.
pub struct Place {
    /// The options that name it.
    pub arguments: Vec<String>,
    device: Option<Loop>,
}

impl Limited {
    /// A control group that leaves a share of the level, in I/Os a second.
    pub fn group(&self, place: &Place, level: f64, share: f64) -> Result<Group> {
        match self {
            Limited::Io(way) => {
                let device = place.device.as_ref().context("the job works on no device")?;
                Group::throttling(device, "iops", &[way], (level * share).round() as u64)
            }
            Limited::Cpu => cpu(share),
        }
    }
}

pub const JOBS: &[Job] = &[
    Job {
        name: "reads",
        what: "4 KiB random reads, depth 1",
        options: &["--rw=randread", "--bs=4k", "--ioengine=psync", "--direct=1"],
        place: loop_device,
        limit: Limited::Io("read"),
    },
    Job {
        name: "reads-deep",
        what: "8 KiB random reads, depth 8",
        options: &["--rw=randread", "--bs=8k", "--ioengine=io_uring", "--iodepth=8", "--direct=1"],
        place: loop_device,
        limit: Limited::Io("read"),
    },
    Job {
        name: "writes",
        what: "64 KiB sequential writes, depth 4",
        options: &["--rw=write", "--bs=64k", "--ioengine=libaio", "--iodepth=4", "--direct=1"],
        place: loop_device,
        limit: Limited::Io("write"),
    },
    Job {
        name: "cached",
        what: "4 KiB random reads of a file in the page cache",
        options: &["--rw=randread", "--bs=4k", "--ioengine=psync", "--size=64m"],
        place: cached_file,
        limit: Limited::Cpu,
    },
    Job {
        name: "null",
        what: "the null engine, depth 16",
        options: &["--rw=randread", "--bs=4k", "--ioengine=null", "--iodepth=16", "--size=1g"],
        place: |_| Place { arguments: vec![], device: None },
        limit: Limited::Cpu,
    },
];

fn loop_device(stage: &Stage) -> Place {
    let device = stage.loop_device(true);
    Place { arguments: on_device(&device.device).into(), device: Some(device) }
}

fn cached_file(stage: &Stage) -> Place {
    let path = stage.directory.join("data.1");
    // Brings it into the page cache.
    let _ = fs::read(&path);
    let arguments = vec![format!("--filename={}", path.display()), "--invalidate=0".to_owned()];
    Place { arguments, device: None }
}

/// Limits the CPU time to a share of one CPU. The period is short against a run.
fn cpu(share: f64) -> Result<Group> {
    let period = 10_000.0;
    let quota = format!("{}", (period * share).round());
    Group::new("cpu", &[("cpu.cfs_period_us", period.to_string()), ("cpu.cfs_quota_us", quota)])
}
