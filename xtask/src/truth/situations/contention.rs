//! Other processes on the same disk.

use crate::truth::situation::Situation;
use crate::truth::stage::{Made, Process, Stage};
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
        make: |stage| beside_process(stage, 9, 1),
    },
    Situation {
        name: "neighbour-50",
        what: "another process makes half of the disk's small random reads",
        limits: &["device", "neighbour"],
        must: &["noisy-neighbour"],
        may: BESIDE_OTHERS,
        make: |stage| beside_process(stage, 8, 8),
    },
    Situation {
        name: "neighbour-95",
        what: "another process makes 95 % of the disk's small random reads",
        limits: &["neighbour"],
        must: &["noisy-neighbour"],
        may: BESIDE_OTHERS,
        make: |stage| beside_process(stage, 2, 38),
    },
    Situation {
        name: "neighbour-large-10",
        what: "another process makes 10 % of the disk's reads of 256 KiB in order",
        limits: &["device"],
        must: &[],
        may: BESIDE_OTHERS,
        make: |stage| beside_large(stage, 9, 1),
    },
    Situation {
        name: "neighbour-large-50",
        what: "another process makes half of the disk's reads of 256 KiB in order",
        limits: &["device", "neighbour"],
        must: &["noisy-neighbour"],
        may: BESIDE_OTHERS,
        make: |stage| beside_large(stage, 4, 4),
    },
    Situation {
        name: "neighbour-large-95",
        what: "another process makes 95 % of the disk's reads of 256 KiB in order",
        limits: &["neighbour"],
        must: &["noisy-neighbour"],
        may: BESIDE_OTHERS,
        make: |stage| beside_large(stage, 1, 19),
    },
    Situation {
        name: "neighbour-sync-10",
        what: "another process makes 10 % of the synchronised small writes on a filesystem",
        limits: &["device"],
        must: &[],
        may: BESIDE_OTHERS,
        make: |stage| beside_sync(stage, 9, 1),
    },
    Situation {
        name: "neighbour-sync-50",
        what: "another process makes half of the synchronised small writes on a filesystem",
        limits: &["device", "neighbour"],
        must: &["noisy-neighbour"],
        may: BESIDE_OTHERS,
        make: |stage| beside_sync(stage, 4, 4),
    },
    Situation {
        name: "neighbour-sync-95",
        what: "another process makes 95 % of the synchronised small writes on a filesystem",
        limits: &["neighbour", "device"],
        must: &["noisy-neighbour"],
        may: BESIDE_OTHERS,
        make: |stage| beside_sync(stage, 1, 19),
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
            with_neighbour(stage, Made::new(&shape, &["--fsync=1"]), &options, 1)
        },
    },
];

/// Small random reads with so many in flight, beside a process with so many.
fn beside_process(stage: &mut Stage, own: u64, others: u64) -> Result<Made> {
    let mut shape = stage.shape(&["randread"]).lasting(&mut stage.seeded, 100);
    (shape.engine, shape.depth, shape.block, shape.jobs) = ("libaio", own, 4096, 1);
    shape.size = shape.size.max(64 << 20);
    let options = ["--direct=1", "--rw=randread", "--bs=4k", "--ioengine=libaio"];
    with_neighbour(stage, Made::new(&shape, &["--direct=1"]), &options, others)
}

/// Sequential reads of large blocks with so many in flight, beside a process with so many.
fn beside_large(stage: &mut Stage, own: u64, others: u64) -> Result<Made> {
    let mut shape = stage.shape(&["read"]).lasting(&mut stage.seeded, 300);
    (shape.engine, shape.depth, shape.block, shape.jobs) = ("libaio", own, 256 << 10, 1);
    shape.size = shape.size.max(64 << 20);
    let options = ["--direct=1", "--rw=read", "--bs=256k", "--ioengine=libaio"];
    with_neighbour(stage, Made::new(&shape, &["--direct=1"]), &options, others)
}

/// Small writes with an fsync after each by so many jobs, beside a process with so many.
fn beside_sync(stage: &mut Stage, own: u64, others: u64) -> Result<Made> {
    let mut shape = stage.shape(&["randwrite"]).lasting(&mut stage.seeded, 500);
    (shape.engine, shape.depth, shape.block, shape.jobs) = ("psync", 1, 4096, own);
    shape.size = 64 << 20;
    // One file for all of them: there are fewer data files than jobs.
    let file = format!("--filename={}/data.0", stage.directory.display());
    let jobs = format!("--numjobs={others}");
    let options = ["--rw=randwrite", "--bs=4k", "--fsync=1", "--ioengine=psync", &jobs];
    let made = Made::new(&shape, &["--fsync=1"]).with(file);
    Ok(made.holding(neighbour(stage, &options, 1)?).in_company())
}

fn with_neighbour(stage: &Stage, made: Made, options: &[&str], depth: u64) -> Result<Made> {
    Ok(made.with(stage.data()).holding(neighbour(stage, options, depth)?).in_company())
}

/// Another process with these options, on a file of its own.
fn neighbour(stage: &Stage, options: &[&str], depth: u64) -> Result<Process> {
    let mut arguments: Vec<String> = options.iter().map(|option| (*option).to_owned()).collect();
    arguments.push(format!("--iodepth={depth}"));
    arguments.push(format!("--filename={}", stage.neighbour_file()?.display()));
    stage.neighbour(&arguments)
}
