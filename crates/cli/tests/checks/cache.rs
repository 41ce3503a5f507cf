//! The checks about caches, on real runs.

use crate::common::{Mounted, alone, recorded, scratch, silent, the_finding};
use record::{RunRecord, Severity};
use std::path::Path;

const SIZE: &str = "--size=64m";
const FILE: &str = "--filename=file";

/// Lays the file out and drops it from the cache.
fn laid_out(directory: &Path) {
    let write = ["--name=fill", FILE, SIZE, "--rw=write", "--bs=1m", "--direct=1"];
    recorded(directory, 0, &write);
}

fn read(directory: &Path, arguments: &[&str]) -> RunRecord {
    let read = ["--name=job", FILE, SIZE, "--rw=randread", "--runtime=1", "--time_based"];
    recorded(directory, 0, &[&read[..], arguments].concat())
}

const DIRECT: [&str; 3] = ["--direct=1", "--ioengine=io_uring", "--iodepth=8"];

#[test]
fn reads_from_memory_are_served_from_cache() {
    let _alone = alone();
    let directory = scratch();
    laid_out(directory.path());
    let record = read(directory.path(), &["--ioengine=psync", "--pre_read=1"]);
    let found = the_finding(&record, "served-from-cache");
    assert_eq!(found.severity, Severity::Warning);
    assert!(found.remedy.to_string().contains("--direct=1"), "{found:?}");
    assert_eq!(the_finding(&record, "smaller-than-memory").severity, Severity::Warning);
}

#[test]
fn a_cold_direct_read_is_clean() {
    let _alone = alone();
    let directory = scratch();
    laid_out(directory.path());
    let record = read(directory.path(), &DIRECT);
    for check in [
        "served-from-cache",
        "smaller-than-memory",
        "never-written",
        "direct-not-direct",
        "overlapping-jobs",
        "repeated-offsets",
    ] {
        silent(&record, check);
    }
}

/// A run of some milliseconds, and the writes of its own layout just before it.
#[test]
fn direct_reads_of_a_small_file_just_laid_out_are_not_those_of_a_cache() {
    let _alone = alone();
    for _ in 0..5 {
        let directory = scratch();
        let read = ["--name=job", FILE, "--size=4m", "--rw=read", "--bs=32k", "--direct=1"];
        let record = recorded(directory.path(), 0, &read);
        silent(&record, "served-from-cache");
        let verdict = &judge::judge(&record).verdicts[0];
        assert_ne!(verdict.limit, judge::Limit::Cache, "{verdict:?}");
    }
}

#[test]
fn buffered_writes_that_stay_in_memory_are_no_writes_to_the_device() {
    let _alone = alone();
    let directory = scratch();
    let write = ["--name=log", FILE, SIZE, "--rw=write", "--bs=1m", "--ioengine=psync"];
    // What others wrote before shall not reach the device just then, and pass for this job's.
    rustix::fs::sync();
    let found = the_finding(&recorded(directory.path(), 0, &write), "served-from-cache");
    assert!(found.text.contains("had reached the device"), "{found:?}");
    let synced = [&write[..], &["--end_fsync=1"]].concat();
    silent(&recorded(directory.path(), 0, &synced), "served-from-cache");
}

#[test]
fn a_filesystem_in_memory_is_named() {
    let _alone = alone();
    let directory = scratch();
    let mounted = Mounted::new(&["-t", "tmpfs"], "tmpfs", directory.path().join("memory"));
    let record = read(mounted.path(), &["--ioengine=psync"]);
    let found = the_finding(&record, "served-from-cache");
    assert!(found.text.contains("tmpfs"), "{found:?}");
}

#[test]
fn a_second_run_meets_the_blocks_of_the_first() {
    let _alone = alone();
    let directory = scratch();
    laid_out(directory.path());
    let again = ["--ioengine=psync", "--invalidate=0"];
    read(directory.path(), &again);
    let found = the_finding(&read(directory.path(), &again), "repeated-offsets");
    assert!(found.remedy.to_string().contains("--randrepeat=0"), "{found:?}");
    // The cure.
    let cured = ["--ioengine=psync", "--randrepeat=0", "--direct=1"];
    silent(&read(directory.path(), &cured), "repeated-offsets");
}

#[test]
fn workers_that_read_the_same_blocks_are_told() {
    let _alone = alone();
    let directory = scratch();
    laid_out(directory.path());
    let two = ["--numjobs=2", "--ioengine=psync"];
    let buffered = read(directory.path(), &two);
    assert_eq!(the_finding(&buffered, "overlapping-jobs").severity, Severity::Warning);
    let direct = read(directory.path(), &[&DIRECT[..], &["--numjobs=2"]].concat());
    assert_eq!(the_finding(&direct, "overlapping-jobs").severity, Severity::Note);
    let apart = ["--numjobs=2", "--ioengine=psync", "--size=32m", "--offset_increment=32m"];
    silent(&read(directory.path(), &apart), "overlapping-jobs");
}

#[test]
fn direct_writes_that_leave_pages_in_the_cache_are_not_direct() {
    let _alone = alone();
    let directory = scratch();
    // It takes O_DIRECT, and has nothing but a page cache.
    let mounted = Mounted::new(&["-t", "tmpfs"], "tmpfs", directory.path().join("memory"));
    let write = ["--name=job", FILE, "--size=16m", "--rw=write", "--direct=1", "--fallocate=none"];
    let found = the_finding(&recorded(mounted.path(), 0, &write), "direct-not-direct");
    assert_eq!(found.severity, Severity::Warning, "{found:?}");
}
