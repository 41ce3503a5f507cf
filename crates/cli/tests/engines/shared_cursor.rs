//! Clones that go through their files together.

use crate::common::{fathom, recorded, scratch, silent, the_finding};
use record::Direction;

const SHARED: [&str; 7] = [
    "--name=a",
    "--filename=data",
    "--size=16m",
    "--bs=64k",
    "--numjobs=4",
    "--rw=write",
    "--shared_cursor=1",
];

#[test]
fn a_pass_touches_every_block_once_whatever_numjobs_is() {
    let directory = scratch();
    let more = ["--ioengine=io_uring", "--iodepth=4", "--direct=1"];
    let record = recorded(directory.path(), 0, &[&SHARED[..], &more].concat());
    let written: u64 = record.jobs.iter().map(|job| job.results[Direction::Write].ios).sum();
    assert_eq!((record.jobs.len(), written), (4, 256));
    // What was written once is there: a file of zeros would mean blocks nobody took.
    let data = std::fs::read(directory.path().join("data")).unwrap();
    let written = |block: &[u8]| block.iter().any(|byte| *byte != 0);
    assert!(data.len() == 16 << 20 && data.chunks(64 << 10).all(written));

    let reads =
        ["--name=a", "--filename=data", "--size=16m", "--bs=64k", "--numjobs=4", "--rw=read"];
    let record = recorded(directory.path(), 0, &[&reads[..], &["--shared_cursor=1"]].concat());
    let read: u64 = record.jobs.iter().map(|job| job.results[Direction::Read].ios).sum();
    assert_eq!(read, 256);
    silent(&record, "overlapping-jobs");
    let record = recorded(directory.path(), 0, &reads);
    let read: u64 = record.jobs.iter().map(|job| job.results[Direction::Read].ios).sum();
    assert_eq!(read, 4 * 256, "without it each clone reads everything");
    the_finding(&record, "overlapping-jobs");
}

#[test]
fn what_cannot_be_shared_is_refused() {
    let directory = scratch();
    for (option, said) in [
        ("--rw=randwrite", "it goes one way and in sequence"),
        ("--rw=write:4k", "there is nothing to leave out"),
        ("--bsrange=4k-8k", "all blocks have one size"),
        ("--offset_increment=1m", "all clones work in the same region"),
        ("--fsync=8", "a write of one clone is synchronised by no other"),
        ("--lockfile=exclusive", "clones never meet on a block"),
    ] {
        let ran = fathom(directory.path(), &[&SHARED[..], &[option]].concat()).expect(2);
        assert!(ran.err.contains(said) && ran.err.contains("shared_cursor"), "{}", ran.err);
    }
    let own = fathom(
        directory.path(),
        &["--name=a", "--size=1m", "--numjobs=2", "--rw=read", "--shared_cursor=1"],
    );
    assert!(own.expect(2).err.contains("name the shared ones by filename"));
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}
