//! Limits that somebody set: control groups, rates, pauses, targets.

use crate::truth::shape::{Shape, spread};
use crate::truth::situation::{ANY, READS, Situation};
use crate::truth::stage::{Group, Made, Stage};
use anyhow::Result;
use testbed::Seeded;

pub const ALL: &[Situation] = &[
    Situation {
        name: "throttle-iops",
        what: "a control group limits the IOPS of the device",
        limits: &["throttle"],
        must: &["virtual-device"],
        may: &["overlapping-jobs", "repeated-offsets", "not-steady", "depth-beyond-knee"],
        make: |stage| {
            let limit = spread(&mut stage.seeded, 50, 2_000);
            throttled(stage, "iops", limit)
        },
    },
    Situation {
        name: "throttle-bandwidth",
        what: "a control group limits the bandwidth of the device",
        limits: &["throttle"],
        must: &["virtual-device"],
        may: &["overlapping-jobs", "repeated-offsets", "not-steady"],
        make: |stage| {
            let limit = spread(&mut stage.seeded, 1 << 20, 30 << 20);
            throttled(stage, "bps", limit)
        },
    },
    Situation {
        name: "cpu-quota",
        what: "a control group limits the CPU time of the run",
        limits: &["throttle"],
        must: &["cpu-starved"],
        may: &["cpu-starved", "cpu-bound", "client-bound"],
        make: |stage| {
            let mut shape = stage.shape(ANY).lasting(&mut stage.seeded, 1_000);
            (shape.engine, shape.size) = ("null", 1 << 30);
            // Of each 100 ms.
            let quota = (stage.seeded.between(10, 60) * 1_000).to_string();
            let group = Group::new("cpu", &[("cpu.cfs_quota_us", quota)])?;
            let made = Made::new(&shape, &[]);
            Ok(Made { starter: group.starter(), ..made }.holding(group))
        },
    },
    Situation {
        name: "think-time",
        what: "a job that pauses between its I/Os",
        limits: &["rate"],
        must: &[],
        may: &["repeated-offsets"],
        make: |stage| {
            let mut shape = slow(stage.shape(READS), &mut stage.seeded);
            (shape.engine, shape.depth) = ("psync", 1);
            let pause = spread(&mut stage.seeded, 3_000, 50_000);
            let made = Made::new(&shape, &["--direct=1"]);
            Ok(made.with(stage.data()).with(format!("--thinktime={pause}us")))
        },
    },
    Situation {
        name: "rate-kept",
        what: "a rate that the disk keeps",
        limits: &["rate"],
        must: &[],
        may: &["repeated-offsets"],
        make: |stage| {
            let shape = slow(stage.shape(READS), &mut stage.seeded);
            let rate = stage.seeded.between(20, 400);
            let made = Made::new(&shape, &["--direct=1", &format!("--rate_iops={rate}")]);
            Ok(made.with(stage.data()))
        },
    },
    Situation {
        name: "rate-poisson",
        what: "a Poisson rate that the disk keeps",
        limits: &["rate"],
        must: &[],
        // Arrivals in bursts wait for each other.
        may: &["repeated-offsets", "coordinated-omission"],
        make: |stage| {
            let shape = slow(stage.shape(READS), &mut stage.seeded);
            let rate = stage.seeded.between(100, 400);
            let made = Made::new(&shape, &["--direct=1", "--rate_process=poisson"]);
            Ok(made.with(stage.data()).with(format!("--rate_iops={rate}")))
        },
    },
    Situation {
        name: "rate-beyond",
        what: "a rate that the disk cannot keep",
        limits: &["device"],
        must: &["coordinated-omission"],
        may: &["coordinated-omission", "repeated-offsets", "not-steady"],
        make: |stage| {
            let shape = slow(stage.shape(READS), &mut stage.seeded);
            let poisson = stage.seeded.below(2) == 0;
            let process = format!("--rate_process={}", if poisson { "poisson" } else { "linear" });
            let made = Made::new(&shape, &["--direct=1", "--rate_iops=5000000", &process]);
            Ok(made.with(stage.data()))
        },
    },
    Situation {
        name: "latency-target",
        what: "a job that lowers its depth until a latency is met",
        limits: &["device", "rate"],
        must: &[],
        may: &["repeated-offsets", "not-steady"],
        make: |stage| {
            let mut shape = stage.shape(READS).lasting(&mut stage.seeded, 3_000);
            (shape.engine, shape.depth, shape.jobs) = ("libaio", 64, 1);
            (shape.rw, shape.block) = ("randread", 4096);
            shape.size = 1 << 30;
            let made = Made::new(&shape, &["--direct=1", "--latency_target=2ms"]);
            let made = made.with("--latency_window=300ms").with("--latency_percentile=90");
            Ok(made.with(stage.data()))
        },
    },
];

/// Long enough and with blocks small enough for a rate to show.
fn slow(mut shape: Shape, seeded: &mut Seeded) -> Shape {
    shape.block = shape.block.min(16 << 10);
    shape.size = shape.size.max(1 << 20);
    shape.lasting(seeded, 300)
}

/// A run on a loop device whose reads and writes a control group limits to so many a second.
fn throttled(stage: &mut Stage, unit: &str, limit: u64) -> Result<Made> {
    let device = stage.loop_device(true);
    let mut shape = stage.small_shape(ANY).lasting(&mut stage.seeded, 1_000);
    shape.block = shape.block.min(64 << 10);
    let group = Group::throttling(&device, unit, &["read", "write"], limit)?;
    let made = Made::new(&shape, &["--direct=1"]).on_device(&device.device);
    Ok(Made { starter: group.starter(), ..made }.holding(device).holding(group))
}
