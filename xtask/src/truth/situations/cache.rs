//! Runs that memory serves.

use crate::truth::situation::{ANY, READS, Situation, WRITES};
use crate::truth::stage::Made;
use std::io::Read;

/// Warnings that hold of runs that memory serves: CPUs do all the work, and few I/Os keep them busy.
const MEMORY: &[&str] = &[
    "depth-beyond-knee",
    "served-from-cache",
    "depth-not-reached",
    "direct-not-direct",
    "repeated-offsets",
    "overlapping-jobs",
    "not-durable",
    "cpu-bound",
    "cpu-starved",
    "cpu-elsewhere",
];

pub const ALL: &[Situation] = &[
    Situation {
        name: "cached-reads",
        what: "buffered reads of files that are in the page cache",
        limits: &["cache"],
        must: &["smaller-than-memory"],
        may: MEMORY,
        make: |stage| {
            let mut shape = stage.shape(READS);
            shape.size = shape.size.clamp(8 << 20, 128 << 20);
            for number in 0..shape.jobs {
                let path = stage.directory.join(format!("data.{number}"));
                let mut file = std::fs::File::open(path)?.take(shape.size);
                std::io::copy(&mut file, &mut std::io::sink())?;
            }
            let made = Made::new(&shape, &["--direct=0", "--invalidate=0"]).with(stage.data());
            let reads_all = shape.runtime_ms.is_none();
            Ok(made
                .requiring("served-from-cache", reads_all)
                .requiring("depth-not-reached", reads_all && shape.submits_one_by_one()))
        },
    },
    Situation {
        name: "cached-writes",
        what: "buffered writes that the page cache takes",
        limits: &["cache"],
        must: &["not-durable", "smaller-than-memory"],
        may: MEMORY,
        make: |stage| {
            let mut shape = stage.shape(WRITES);
            (shape.size, shape.jobs) = (shape.size.clamp(1 << 20, 64 << 20), 1);
            shape.runtime_ms = None;
            let made = Made::new(&shape, &["--direct=0"]).with(stage.data());
            Ok(made
                .requiring("served-from-cache", shape.size >= 8 << 20)
                .requiring("depth-not-reached", shape.submits_one_by_one()))
        },
    },
    Situation {
        name: "holes",
        what: "reads of a file of holes",
        limits: &["cache", "CPU"],
        must: &["never-written"],
        may: MEMORY,
        make: |stage| {
            let mut shape = stage.shape(READS);
            (shape.jobs, shape.size) = (1, shape.size.max(16 << 20));
            let path = stage.directory.join("holes");
            std::fs::File::create(&path)?.set_len(1 << 30)?;
            let direct = format!("--direct={}", stage.seeded.below(2));
            // Otherwise the run would fill what it reads.
            Ok(Made::new(&shape, &[&direct, "--readonly"])
                .with(format!("--filename={}", path.display())))
        },
    },
    Situation {
        name: "unwritten",
        what: "direct reads of a file whose blocks are allocated and were never written",
        limits: &["cache", "CPU"],
        must: &["never-written"],
        may: MEMORY,
        make: |stage| {
            let mut shape = stage.shape(READS);
            (shape.jobs, shape.size) = (1, shape.size.clamp(16 << 20, 256 << 20));
            let path = stage.directory.join("unwritten");
            let _ = std::fs::remove_file(&path);
            let bytes = shape.size.to_string();
            testbed::system("fallocate", &["-l", &bytes, &path.to_string_lossy()]);
            let file = format!("--filename={}", path.display());
            // Otherwise the run would fill what it reads.
            Ok(Made::new(&shape, &["--direct=1", "--readonly"]).with(file))
        },
    },
    Situation {
        name: "loop-buffered",
        what: "a loop device that goes through the page cache of the file behind it",
        limits: &["cache", "CPU"],
        must: &["served-from-cache", "virtual-device"],
        may: MEMORY,
        make: |stage| {
            let device = stage.loop_device(false);
            let mut shape = stage.small_shape(ANY).lasting(&mut stage.seeded, 200);
            shape.size = shape.size.max(8 << 20);
            // Its file is in the page cache.
            std::io::copy(&mut std::fs::File::open(&device.file)?, &mut std::io::sink())?;
            let made = Made::new(&shape, &["--direct=1"]).on_device(&device.device);
            Ok(made.holding(device))
        },
    },
    Situation {
        name: "tmpfs",
        what: "files in memory",
        limits: &["cache"],
        must: &["served-from-cache"],
        may: MEMORY,
        make: |stage| {
            let mut shape = stage.small_shape(ANY);
            shape.jobs = 1;
            let point = stage.directory.join("memory");
            let mounted = testbed::Mounted::new(&["-t", "tmpfs"], "tmpfs", point);
            stage.noise(&mounted.path().join("f"), shape.size)?;
            let file = format!("--filename={}", mounted.path().join("f").display());
            Ok(Made::new(&shape, &["--direct=0"]).with(file).holding(mounted))
        },
    },
    Situation {
        name: "zram",
        what: "a RAM disk",
        limits: &["CPU"],
        must: &["virtual-device"],
        may: MEMORY,
        make: |stage| {
            let zram = stage.zram()?;
            let shape = stage.small_shape(ANY);
            let made = Made::new(&shape, &["--direct=1", "--refill_buffers=0"]);
            Ok(made.on_device(&zram.device.to_string_lossy()).holding(zram))
        },
    },
];
