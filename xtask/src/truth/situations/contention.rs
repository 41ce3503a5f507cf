//! Other processes on the same disk.

use crate::truth::situation::{READS, Situation};
use crate::truth::stage::{Made, Stage};
use anyhow::Result;

/// Warnings that hold beside another process on the disk.
const BESIDE_OTHERS: &[&str] =
    &["noisy-neighbour", "background-work", "not-steady", "repeated-offsets", "cpu-starved"];

pub const ALL: &[Situation] = &[
    Situation {
        name: "neighbour-10",
        what: "another process makes 10 % of the disk's small random reads",
        limits: &["device"],
        must: &[],
        may: BESIDE_OTHERS,
        make: |stage| beside(stage, 9, 1),
    },
    Situation {
        name: "neighbour-50",
        what: "another process makes half of the disk's small random reads",
        limits: &["device", "neighbour"],
        must: &["noisy-neighbour"],
        may: BESIDE_OTHERS,
        make: |stage| beside(stage, 8, 8),
    },
    Situation {
        name: "neighbour-95",
        what: "another process makes 95 % of the disk's small random reads",
        limits: &["neighbour"],
        must: &["noisy-neighbour"],
        may: BESIDE_OTHERS,
        make: |stage| beside(stage, 2, 38),
    },
    Situation {
        name: "neighbour-large",
        what: "another process reads the disk in blocks of 1 MiB",
        limits: &["neighbour"],
        must: &["noisy-neighbour"],
        may: BESIDE_OTHERS,
        make: |stage| {
            let mut shape = stage.shape(READS).lasting(&mut stage.seeded, 300);
            (shape.engine, shape.depth, shape.block, shape.jobs) = ("psync", 1, 4096, 1);
            let options = ["--direct=1", "--rw=read", "--bs=1m", "--ioengine=libaio"];
            with_neighbour(stage, Made::of(&shape, &["--direct=1"]), &options, 16)
        },
    },
    Situation {
        name: "neighbour-sync",
        what: "another process writes and synchronises small blocks on the same filesystem",
        limits: &["neighbour", "device"],
        must: &["noisy-neighbour"],
        may: BESIDE_OTHERS,
        make: |stage| {
            let mut shape = stage.shape(READS).lasting(&mut stage.seeded, 500);
            (shape.engine, shape.depth, shape.block, shape.jobs) = ("psync", 1, 4096, 1);
            let options = ["--rw=randwrite", "--bs=4k", "--fsync=1", "--numjobs=4"];
            with_neighbour(stage, Made::of(&shape, &["--direct=1"]), &options, 1)
        },
    },
    Situation {
        name: "journal",
        what: "fsyncs that wait for the journal beside another program's fsyncs",
        limits: &["neighbour", "device"],
        must: &["noisy-neighbour"],
        may: BESIDE_OTHERS,
        make: |stage| {
            let mut shape = stage.shape(&["randwrite"]).lasting(&mut stage.seeded, 500);
            (shape.engine, shape.depth, shape.block, shape.jobs) = ("psync", 1, 4096, 1);
            let options = ["--rw=randwrite", "--bs=4k", "--fsync=1", "--numjobs=4"];
            with_neighbour(stage, Made::of(&shape, &["--fsync=1"]), &options, 1)
        },
    },
];

/// Small random reads with so many in flight, beside a process with so many.
fn beside(stage: &mut Stage, own: u64, others: u64) -> Result<Made> {
    let mut shape = stage.shape(&["randread"]).lasting(&mut stage.seeded, 100);
    (shape.engine, shape.depth, shape.block, shape.jobs) = ("libaio", own, 4096, 1);
    shape.size = shape.size.max(64 << 20);
    let options = ["--direct=1", "--rw=randread", "--bs=4k", "--ioengine=libaio"];
    with_neighbour(stage, Made::of(&shape, &["--direct=1"]), &options, others)
}

fn with_neighbour(stage: &Stage, made: Made, options: &[&str], depth: u64) -> Result<Made> {
    let mut arguments: Vec<String> = options.iter().map(|option| (*option).to_owned()).collect();
    arguments.push(format!("--iodepth={depth}"));
    arguments.push(format!("--filename={}", stage.neighbour_file()?.display()));
    Ok(made.with(stage.data()).holding(stage.neighbour(&arguments)?).in_company())
}
