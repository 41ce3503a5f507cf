//! CPUs and the load generator as the limit.

use crate::truth::situation::{ANY, READS, Situation, WRITES};
use crate::truth::stage::{Made, Process, Stage};
use anyhow::Result;

pub const ALL: &[Situation] = &[
    Situation {
        name: "null-engine",
        what: "the null engine",
        limits: &["CPU"],
        must: &[],
        may: &["cpu-starved", "cpu-bound", "client-bound"],
        make: |stage| {
            let mut shape = stage.shape(ANY);
            (shape.engine, shape.size) = ("null", 1 << 30);
            Ok(Made::new(&shape, &[]))
        },
    },
    Situation {
        name: "many-jobs",
        what: "64 to 512 jobs of the null engine",
        limits: &["CPU"],
        must: &["cpu-starved"],
        may: &["cpu-starved", "cpu-bound", "client-bound", "not-together"],
        make: |stage| {
            let mut shape = stage.shape(ANY).lasting(&mut stage.seeded, 500);
            (shape.engine, shape.size) = ("null", 1 << 30);
            shape.jobs = stage.seeded.between(64, 512);
            Ok(Made::new(&shape, &[]))
        },
    },
    Situation {
        name: "one-cpu",
        what: "a RAM disk and all workers on one CPU",
        limits: &["CPU"],
        must: &["cpu-starved", "virtual-device"],
        may: &["cpu-starved", "cpu-bound", "cpu-elsewhere", "overlapping-jobs", "repeated-offsets"],
        make: |stage| {
            let zram = stage.zram()?;
            let mut shape = stage.small_shape(READS).lasting(&mut stage.seeded, 300);
            shape.jobs = stage.seeded.between(2, 4);
            let device = zram.device.display().to_string();
            let made = Made::new(&shape, &["--direct=1", &format!("--filename={device}")]);
            Ok(made.started_by(&["taskset", "-c", "0"]).holding(zram))
        },
    },
    Situation {
        name: "low-priority",
        what: "workers of low priority beside programs that use every CPU",
        limits: &["CPU"],
        must: &["cpu-starved"],
        may: &["cpu-bound", "not-steady", "repeated-offsets", "noisy-neighbour", "cpu-elsewhere"],
        make: |stage| {
            let mut shape = stage.shape(READS).lasting(&mut stage.seeded, 1_000);
            (shape.engine, shape.depth, shape.block) = ("psync", 1, 4096);
            let hogs = Process::hogs(cpus() * 2)?;
            let made = Made::new(&shape, &["--direct=1"]).with(stage.data());
            Ok(made.started_by(&["nice", "-n", "19"]).holding(hogs).in_company())
        },
    },
    Situation {
        name: "refill",
        what: "buffers that are filled anew before each write to memory",
        limits: &["client", "CPU"],
        must: &[],
        may: &["client-bound", "cpu-bound", "cpu-starved"],
        make: |stage| generator(stage, &["--refill_buffers=1", "--ioengine=null", "--rw=write"]),
    },
    Situation {
        name: "compression",
        what: "buffers made to compress, filled anew before each write",
        limits: &["client", "CPU"],
        must: &[],
        may: &["client-bound", "cpu-bound", "cpu-starved"],
        make: |stage| {
            let options = ["--refill_buffers=1", "--buffer_compress_percentage=50"];
            generator(stage, &[&options[..], &["--ioengine=null", "--rw=write"]].concat())
        },
    },
    Situation {
        name: "logs",
        what: "a line of each log for each I/O",
        limits: &["client", "CPU"],
        must: &[],
        may: &["client-bound", "cpu-bound", "cpu-starved", "cpu-elsewhere"],
        make: |stage| {
            let options = ["--write_lat_log=truth", "--write_bw_log=truth", "--log_offset=1"];
            generator(stage, &[&options[..], &["--ioengine=null", "--rw=read"]].concat())
        },
    },
    Situation {
        name: "spin",
        what: "a job that computes between its I/Os",
        limits: &["client"],
        must: &["client-bound"],
        may: &["client-bound", "cpu-bound", "repeated-offsets"],
        make: |stage| {
            let mut shape = stage.shape(READS).lasting(&mut stage.seeded, 300);
            (shape.engine, shape.depth, shape.block, shape.jobs) = ("psync", 1, 4096, 1);
            let options = ["--direct=1", "--thinktime=5ms", "--thinktime_spin=5ms"];
            Ok(Made::new(&shape, &options).with(stage.data()))
        },
    },
    Situation {
        name: "verify",
        what: "writes to memory with checksums that cost more than the writes, verified afterwards",
        limits: &["client", "CPU"],
        must: &["served-from-cache"],
        may: &["client-bound", "cpu-bound", "cpu-starved", "depth-not-reached"],
        make: |stage| {
            let mut shape = stage.small_shape(WRITES);
            (shape.engine, shape.depth, shape.jobs, shape.runtime_ms) = ("psync", 1, 1, None);
            shape.size = 256 << 20;
            let point = stage.directory.join("memory");
            let mounted = testbed::Mounted::new(&["-t", "tmpfs"], "tmpfs", point);
            let file = format!("--filename={}", mounted.path().join("f").display());
            let verify =
                format!("--verify={}", stage.seeded.one(&["sha256", "sha3-256", "sha3-512"]));
            Ok(Made::new(&shape, &[&verify]).with(file).holding(mounted))
        },
    },
    Situation {
        name: "many-disk-jobs",
        what: "16 to 64 jobs that read files on disk",
        limits: &["device"],
        must: &[],
        may: &["repeated-offsets", "not-steady"],
        make: |stage| {
            let mut shape = stage.shape(READS).lasting(&mut stage.seeded, 500);
            (shape.engine, shape.depth, shape.block) = ("psync", 1, 64 << 10);
            shape.jobs = stage.seeded.between(16, 64);
            shape.size = 128 << 20;
            let file = format!("--filename={}/data.0", stage.directory.display());
            Ok(Made::new(&shape, &["--direct=1", "--offset_increment=8m"]).with(file))
        },
    },
];

fn cpus() -> u64 {
    std::thread::available_parallelism().map_or(2, |count| count.get() as u64)
}

/// A job of the null engine whose own work takes its time.
fn generator(stage: &mut Stage, options: &[&str]) -> Result<Made> {
    let mut shape = stage.shape(WRITES).lasting(&mut stage.seeded, 100);
    (shape.engine, shape.depth, shape.size) = ("null", 1, 1 << 30);
    shape.block = 64 << 10;
    shape.jobs = 1;
    Ok(Made::new(&shape, options))
}
