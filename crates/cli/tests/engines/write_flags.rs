//! write_hint, atomic and FUA.

use crate::common::*;

#[test]
fn write_hints_are_taken_with_and_without_direct() {
    let directory = scratch();
    let job = ["--name=a", "--filename=f", "--size=64k", "--rw=write"];
    for hint in ["none", "short", "medium", "long", "extreme"] {
        let hint = format!("--write_hint={hint}");
        for direct in ["--direct=0", "--direct=1"] {
            fathom(directory.path(), &[&job[..], &[&hint, direct]].concat()).expect(0);
        }
    }
    // An unknown lifetime.
    fathom(directory.path(), &["--name=a", "--size=4k", "--write_hint=soon"]).expect(2);
}

#[test]
fn atomic_writes_need_an_engine_that_asks_for_them_and_go_past_the_cache() {
    let directory = scratch();
    let job = ["--name=a", "--filename=f", "--size=64k", "--rw=write", "--atomic=1"];
    let refused = fathom(directory.path(), &[&job[..], &["--ioengine=psync"]].concat()).expect(2);
    assert!(refused.err.contains("atomic: the psync engine cannot"), "{}", refused.err);
    let cached = ["--ioengine=pvsync2", "--buffered=1"];
    let refused = fathom(directory.path(), &[&job[..], &cached].concat()).expect(2);
    assert!(refused.err.contains("leave out buffered=1"), "{}", refused.err);
    assert!(!directory.path().join("f").exists());
}

#[test]
fn the_kernel_is_asked_for_atomic_writes_by_every_engine_that_can() {
    // A filesystem without atomic writes refuses each of them, which shows that the flag was set.
    let directory = scratch();
    for engine in ["pvsync2", "libaio", "io_uring"] {
        let engine = format!("--ioengine={engine}");
        let job = ["--name=a", "--filename=f", "--size=64k", "--rw=write", "--atomic=1", &engine];
        let ran = fathom(directory.path(), &job).expect(1);
        assert!(ran.err.contains("not supported"), "{engine}: {}", ran.err);
    }
}

#[test]
fn fua_writes_are_done_and_a_fua_read_is_said_to_be_none() {
    let directory = scratch();
    let job = ["--name=a", "--filename=f", "--size=64k", "--rw=write", "--ioengine=io_uring"];
    fathom(directory.path(), &[&job[..], &["--direct=1", "--writefua=1"]].concat()).expect(0);
    let ran = fathom(directory.path(), &[&job[..], &["--readfua=1"]].concat()).expect(0);
    assert!(ran.err.contains("readfua has no effect here"), "{}", ran.err);
}

#[test]
fn what_needs_an_engine_that_is_not_built_says_what_it_needs() {
    let directory = scratch();
    for (options, needs) in [
        ("--ioengine=xnvme", "libxnvme"),
        ("--ioengine=io_uring_cmd --read_mode=verify", "ioengine=sg sends them"),
    ] {
        let options: Vec<&str> = options.split(' ').collect();
        let job = [&["--name=a", "--size=4k"][..], &options].concat();
        let ran = fathom(directory.path(), &job).expect(2);
        assert!(ran.err.contains(needs), "{options:?}: {}", ran.err);
    }
}
