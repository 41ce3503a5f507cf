//! The checks about what a completed write is worth, on real runs.

use crate::common::{MemoryFilesystem, alone, loop_device, recorded, scratch, silent, the_finding};
use record::Severity;

const WRITE: [&str; 5] =
    ["--name=job", "--filename=file", "--size=16m", "--rw=randwrite", "--ioengine=psync"];

#[test]
fn buffered_writes_are_not_durable() {
    let _alone = alone();
    let directory = scratch();
    let found = the_finding(&recorded(directory.path(), 0, &WRITE), "not-durable");
    assert_eq!(found.severity, Severity::Warning);
    assert!(found.remedy.to_string().contains("--fsync=1"), "{found:?}");
}

#[test]
fn synchronised_writes_are_durable() {
    let _alone = alone();
    let directory = scratch();
    let synced = [&WRITE[..], &["--fsync=32", "--io_size=4m"]].concat();
    let record = recorded(directory.path(), 0, &synced);
    for check in ["not-durable", "fsync-implausible", "misaligned"] {
        silent(&record, check);
    }
}

#[test]
fn writes_smaller_than_a_block_are_misaligned() {
    let _alone = alone();
    let directory = scratch();
    let disk = loop_device(directory.path(), 64 << 20, &[]);
    let write = ["--name=job", "--rw=randwrite", "--direct=1", "--ioengine=psync", "--bs=512"];
    let arguments = [&write[..], &["--io_size=2m", "--filename", &disk.device]].concat();
    let found = the_finding(&recorded(directory.path(), 0, &arguments), "misaligned");
    // What others read of the disk below meanwhile looks like what these writes had to be read for.
    assert!(found.text.contains("512 B") || found.text.contains("partly overwritten"), "{found:?}");
    // Buffered, on a cold file: each block is read before a part of it is written. Nobody else reads
    // this disk.
    let own = MemoryFilesystem::new(128 << 20);
    let fill =
        ["--name=fill", "--filename=file", "--size=64m", "--rw=write", "--bs=1m", "--direct=1"];
    recorded(own.path(), 0, &fill);
    let small = ["--name=job", "--filename=file", "--size=64m", "--rw=randwrite", "--bs=512"];
    let small = [&small[..], &["--ioengine=psync", "--io_size=2m"]].concat();
    let found = the_finding(&recorded(own.path(), 0, &small), "misaligned");
    assert_eq!(found.severity, Severity::Warning, "{found:?}");
    assert!(found.text.contains("partly overwritten"), "{found:?}");
}
