//! Storage that limits the run itself.

use crate::truth::shape::spread;
use crate::truth::situation::{ANY, READS, Situation, WRITES};
use crate::truth::stage::{DirtyLimit, Made};
use std::thread::sleep;
use std::time::Duration;
use testbed::Frozen;

/// Writes of one job that overlap those of another are true of several jobs on one device.
const SHARED: &[&str] = &["overlapping-jobs", "repeated-offsets"];

pub const ALL: &[Situation] = &[
    Situation {
        name: "disk-read",
        what: "direct reads of files on disk",
        limits: &["device"],
        must: &[],
        may: &["repeated-offsets"],
        make: |stage| Ok(Made::new(&stage.shape(READS), &["--direct=1"]).with(stage.data())),
    },
    Situation {
        name: "disk-write",
        what: "direct writes to files on disk",
        limits: &["device"],
        must: &[],
        may: &["repeated-offsets"],
        make: |stage| Ok(Made::new(&stage.shape(WRITES), &["--direct=1"]).with(stage.data())),
    },
    Situation {
        name: "disk-mixed",
        what: "direct reads and writes of files on disk",
        limits: &["device"],
        must: &[],
        may: &["repeated-offsets"],
        make: |stage| Ok(Made::new(&stage.shape(ANY), &["--direct=1"]).with(stage.data())),
    },
    Situation {
        name: "disk-buffered-read",
        what: "buffered reads of files that are not in the page cache",
        // Read-ahead can be faster than the CPU that copies small blocks.
        limits: &["device", "CPU"],
        must: &["smaller-than-memory"],
        may: &[
            "served-from-cache",
            "smaller-than-memory",
            "repeated-offsets",
            "depth-not-reached",
            "cpu-bound",
        ],
        make: |stage| {
            let mut shape = stage.shape(READS);
            // Once over the file: a second pass would be served by the cache.
            (shape.runtime_ms, shape.jobs) = (None, 1);
            shape.size = shape.size.clamp(16 << 20, 256 << 20);
            let made = Made::new(&shape, &["--direct=0", "--invalidate=1"]).with(stage.data());
            Ok(made.requiring("depth-not-reached", shape.submits_one_by_one()))
        },
    },
    Situation {
        name: "sparse-file",
        what: "direct reads of the part of a sparse file that the run itself fills",
        limits: &["device"],
        must: &[],
        may: &["background-work", "repeated-offsets"],
        make: |stage| {
            let mut shape = stage.shape(READS);
            (shape.jobs, shape.size) = (1, shape.size.min(64 << 20));
            let path = stage.directory.join("sparse");
            std::fs::File::create(&path)?.set_len(1 << 30)?;
            let file = format!("--filename={}", path.display());
            Ok(Made::new(&shape, &["--direct=1"]).with(file))
        },
    },
    Situation {
        name: "small-file-after-layout",
        what: "direct reads of a small file that the run itself lays out",
        limits: &["device"],
        must: &[],
        may: &["background-work", "repeated-offsets"],
        make: |stage| {
            let mut shape = stage.shape(READS);
            (shape.runtime_ms, shape.jobs, shape.size) = (None, 1, 4 << 20);
            shape.block = shape.block.clamp(4096, 32 << 10);
            let path = stage.directory.join("laid-out");
            // The run before left it.
            let _ = std::fs::remove_file(&path);
            Ok(Made::new(&shape, &["--direct=1"]).with(format!("--filename={}", path.display())))
        },
    },
    Situation {
        name: "after-buffered-writes",
        what: "direct reads just after another program wrote 256 MiB through the page cache",
        limits: &["device", "neighbour"],
        must: &[],
        may: &["background-work", "noisy-neighbour", "repeated-offsets", "cpu-starved"],
        make: |stage| {
            let shape = stage.shape(READS);
            let bytes = stage.seeded.bytes(1 << 20);
            let path = stage.directory.join("dirty");
            std::fs::write(&path, bytes.repeat(256))?;
            Ok(Made::new(&shape, &["--direct=1"]).with(stage.data()).in_company())
        },
    },
    Situation {
        name: "first-touch",
        what: "direct writes to a file whose blocks were never written",
        limits: &["device"],
        must: &[],
        may: &["never-written", "not-steady", "repeated-offsets"],
        make: |stage| {
            let mut shape = stage.shape(WRITES);
            (shape.jobs, shape.size) = (1, shape.size.min(256 << 20));
            // Small sequential writes, of which the kernel makes large ones, are limited by their number.
            shape.block = shape.block.max(32 << 10);
            let path = stage.directory.join("untouched");
            let _ = std::fs::remove_file(&path);
            let file = format!("--filename={}", path.display());
            Ok(Made::new(&shape, &["--direct=1", "--fallocate=native"]).with(file))
        },
    },
    Situation {
        name: "second-touch",
        what: "direct writes to a file whose blocks were written before",
        limits: &["device"],
        must: &[],
        may: &["repeated-offsets"],
        make: |stage| {
            let mut shape = stage.shape(WRITES);
            (shape.jobs, shape.size) = (1, shape.size.min(256 << 20));
            shape.block = shape.block.max(32 << 10);
            let path = stage.directory.join("touched");
            let _ = std::fs::remove_file(&path);
            stage.noise(&path, shape.size)?;
            let file = format!("--filename={}", path.display());
            Ok(Made::new(&shape, &["--direct=1"]).with(file))
        },
    },
    Situation {
        name: "loop-direct",
        what: "a loop device that uses direct I/O",
        limits: &["device"],
        must: &["virtual-device"],
        may: SHARED,
        make: |stage| {
            let device = stage.loop_device(true);
            let shape = stage.small_shape(ANY);
            let made = Made::new(&shape, &["--direct=1"]).on_device(&device.device);
            Ok(made.holding(device))
        },
    },
    Situation {
        name: "fsync",
        what: "writes with fsync after every 1, 8 or 64",
        limits: &["device"],
        must: &[],
        // The queue is emptied for each fsync, and what follows the last one is still in memory.
        // The kernel's workers make the fsyncs of io_uring, on the CPUs of the job's worker.
        may: &[
            "repeated-offsets",
            "depth-not-reached",
            "served-from-cache",
            "cpu-elsewhere",
            "cpu-starved",
        ],
        make: |stage| {
            let mut shape = stage.shape(WRITES);
            shape.block = shape.block.min(64 << 10);
            shape.jobs = 1;
            let direct = format!("--direct={}", stage.seeded.below(2));
            let fsync = format!("--fsync={}", stage.seeded.one(&["1", "8", "64"]));
            // Buffered writes between few synchronisations are taken by the page cache.
            let limits: &[&str] = match (direct.as_str(), fsync.as_str()) {
                ("--direct=0", "--fsync=8" | "--fsync=64") => &["device", "cache"],
                _ => &["device"],
            };
            let made = Made::new(&shape, &[&direct, &fsync]).with(stage.data());
            Ok(Made { limits: Some(limits), ..made })
        },
    },
    Situation {
        name: "dirty-throttling",
        what: "buffered writes beyond the limit of dirty pages",
        limits: &["device"],
        must: &["not-durable", "smaller-than-memory"],
        may: &["not-steady", "not-durable", "served-from-cache"],
        make: |stage| {
            let mut shape = stage.shape(WRITES);
            (shape.engine, shape.depth, shape.jobs) = ("psync", 1, 1);
            (shape.size, shape.block) = (1 << 30, 64 << 10);
            let mut shape = shape.lasting(&mut stage.seeded, 4_000);
            shape.rw = "write";
            // A disk that writes as fast as memory is copied limits nobody.
            let is_slow = stage.disk_write_time()? > 2 * stage.memory_write_time()?;
            let limits: &[&str] = if is_slow { &["device"] } else { &["device", "cache", "CPU"] };
            let made = Made::new(&shape, &["--direct=0"]).with(stage.data());
            Ok(Made { limits: Some(limits), ..made.holding(DirtyLimit::change(128 << 20)?) })
        },
    },
    Situation {
        name: "stalls",
        what: "a filesystem that is frozen for 50 ms to 2 s",
        limits: &["device"],
        must: &["virtual-device"],
        may: &["not-steady", "repeated-offsets"],
        make: |stage| {
            let (mounted, device) = stage.ext4(&[]);
            let mut shape = stage.small_shape(WRITES).lasting(&mut stage.seeded, 6_000);
            shape.jobs = 1;
            let stall = Duration::from_millis(spread(&mut stage.seeded, 50, 2_000));
            let file = mounted.path().join("f");
            stage.noise(&file, shape.size.max(1 << 20))?;
            let point = mounted.path().to_owned();
            let mut made = Made::new(&shape, &["--direct=1"])
                .with(format!("--filename={}", file.display()))
                .holding(device)
                .holding(mounted);
            made.meanwhile = Some(Box::new(move || {
                sleep(Duration::from_secs(3));
                let _frozen = Frozen::at(&point);
                sleep(stall);
            }));
            Ok(made)
        },
    },
];
