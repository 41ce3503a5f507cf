//! Verification beyond one run: saved states, threads that check, trims, what is left beside.

use crate::common::{
    FATHOM, FIO, Ran, Running, as_fio, fio, loop_device, run, scratch, wait_until,
};
use rustix::process::Signal;
use serde_json::Value;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;

#[track_caller]
fn ours(directory: &Path, arguments: &[&str]) -> Ran {
    let fixed = ["fio", "--name=j", "--filename=data"];
    run(Command::new(FATHOM).args(fixed).args(arguments).current_dir(directory))
}

#[track_caller]
fn theirs(directory: &Path, arguments: &[&str]) -> Ran {
    let fixed = ["120", FIO, "--name=j", "--filename=data"];
    run(Command::new("timeout").args(fixed).args(arguments).current_dir(directory))
}

#[track_caller]
fn job(directory: &Path, code: i32, arguments: &[&str]) -> Value {
    let json = [arguments, &["--output-format=json"]].concat();
    ours(directory, &json).expect(code).json()["jobs"][0].clone()
}

fn ios(job: &Value, direction: &str) -> u64 {
    job[direction]["total_ios"].as_u64().unwrap()
}

const WRITE: [&str; 4] = ["--rw=write", "--bs=4k", "--verify=crc32c", "--size=64k"];
const READ: [&str; 5] =
    ["--rw=read", "--bs=4k", "--verify=crc32c", "--size=64k", "--verify_state_load=1"];

#[test]
fn states_of_both_versions_of_fio_are_read() {
    let dir = scratch();
    let state = dir.path().join("local-j-0-verify.state");
    let half = [&WRITE[..], &["--io_size=32k", "--do_verify=0"]].concat();
    theirs(dir.path(), &half).expect(0);
    let of_fio = std::fs::read(&state).unwrap();
    assert_eq!(ios(&job(dir.path(), 0, &READ), "read"), 8, "of a state that fio saved");
    std::fs::remove_file(&state).unwrap();
    std::fs::remove_file(dir.path().join("data")).unwrap();
    ours(dir.path(), &half).expect(0);
    let saved = std::fs::read(&state).unwrap();
    assert_eq!((of_fio[0], saved[0]), (3, 7));
    // Depth, writes issued, number of the worker, width of random numbers.
    let word = |at: usize| u64::from_le_bytes(saved[at..at + 8].try_into().unwrap());
    assert_eq!([word(8), word(24), word(32), word(40), word(48)], [152, 1, 8, 0, 1]);
    assert_eq!((&saved[104..106], word(168)), (&b"j\0"[..], u64::MAX));
    assert_eq!(ios(&job(dir.path(), 0, &READ), "read"), 8);
    let named = ["--rw=write", "--size=64k", "--verify=crc32c", "--do_verify=0", "--name=a/b"];
    run(Command::new(FATHOM).args(["fio", "--filename=data"]).args(named).current_dir(dir.path()))
        .expect(0);
    assert!(dir.path().join("local-a.b-0-verify.state").exists());
}

#[test]
fn verify_only_reports_the_writes_it_plans() {
    let dir = scratch();
    let write = [&WRITE[..], &["--rw=randwrite"]].concat();
    job(dir.path(), 0, &write);
    let planned = job(dir.path(), 0, &[&write[..], &["--verify_only"]].concat());
    let counts =
        ["total_ios", "io_bytes", "bw", "runtime"].map(|key| planned["write"][key].clone());
    assert_eq!(counts.map(|count| count.as_u64().unwrap()), [16, 65536, 0, 0]);
    assert_eq!(planned["write"]["clat_ns"]["N"], 0);
    assert_eq!(ios(&planned, "read"), 16);
}

#[test]
fn all_of_io_size_is_written_before_each_block_is_verified_once() {
    let dir = scratch();
    let wrapped = [&WRITE[..], &["--io_size=128k"]].concat();
    let found = job(dir.path(), 0, &wrapped);
    assert_eq!([ios(&found, "write"), ios(&found, "read")], [32, 16]);
    let found = job(dir.path(), 0, &[&wrapped[..], &["--loops=2"]].concat());
    assert_eq!([ios(&found, "write"), ios(&found, "read")], [64, 32]);
}

#[test]
fn trims_need_neither_a_backlog_nor_reading_back_but_a_target_that_may_change() {
    let dir = scratch();
    let trims = ["--ioengine=null", "--trim_percentage=100", "--trim_backlog=1", "--do_verify=0"];
    let found = job(dir.path(), 0, &[&WRITE[..], &trims].concat());
    assert_eq!(["write", "trim", "read"].map(|d| ios(&found, d)), [16, 16, 0]);
    let refused =
        ours(dir.path(), &["--readonly", "--rw=read", "--size=64k", "--trim_percentage=10"]);
    assert!(refused.expect(1).err.contains("trim_percentage"));
}

#[test]
fn a_run_that_is_interrupted_says_how_far_it_came() {
    let dir = scratch();
    let mut command = Command::new(FATHOM);
    let options = ["fio", "--name=j", "--filename=data", "--aux-path=kept", "--rate_iops=200"];
    let ours_only = ["--ioengine=libaio", "--iodepth=4", "--eta=never"];
    command.args(options).args(ours_only).args(WRITE).args(["--size=4m", "--rw=randwrite"]);
    std::fs::create_dir(dir.path().join("kept")).unwrap();
    let running = Running::start(command.current_dir(dir.path()));
    wait_until("something is written", || {
        std::fs::metadata(dir.path().join("data"))
            .is_ok_and(|data| std::os::unix::fs::MetadataExt::blocks(&data) > 64)
    });
    running.signal(Signal::INT);
    running.end();
    let state = std::fs::read(dir.path().join("kept/local-j-0-verify.state")).unwrap();
    let written = u64::from(u32::from_le_bytes(state[32..36].try_into().unwrap()));
    assert!(written > 4 && written < 1024, "{written}");
    let check = |rw: &str| {
        let options = [&READ[..], &["--size=4m", "--aux-path=kept", rw]].concat();
        ios(&job(dir.path(), 0, &options), "read")
    };
    assert!(check("--rw=randread") <= written + 4);
    let again = [&READ[..], &["--size=4m", "--aux-path=kept", "--rw=randwrite", "--verify_only"]];
    assert!(ios(&job(dir.path(), 0, &again.concat()), "read") >= written.saturating_sub(8));
}

#[test]
fn a_state_that_is_missing_damaged_or_anothers_is_refused() {
    let dir = scratch();
    let state = dir.path().join("local-j-0-verify.state");
    ours(dir.path(), &WRITE).expect(0);
    let good = std::fs::read(&state).unwrap();
    let cases = [
        ("damaged", [&good[..60], b"x", &good[61..]].concat()),
        ("no state", good[..50].to_vec()),
        ("version", [&b"\x09"[..], &good[1..]].concat()),
    ];
    for (word, bytes) in cases {
        std::fs::write(&state, bytes).unwrap();
        let refused = ours(dir.path(), &READ).expect(1);
        assert!(
            refused.err.contains("verify_state_load") && refused.err.contains(word),
            "{}",
            refused.err
        );
    }
    std::fs::remove_file(&state).unwrap();
    let missing = ours(dir.path(), &READ).expect(1);
    assert!(missing.err.contains("local-j-0-verify.state"), "{}", missing.err);
    let other = [&["fio", "--name=other", "--filename=data"], &WRITE[..]].concat();
    run(Command::new(FATHOM).args(other).current_dir(dir.path())).expect(0);
    std::fs::rename(dir.path().join("local-other-0-verify.state"), &state).unwrap();
    let anothers = ours(dir.path(), &READ).expect(1);
    assert!(
        anothers.err.contains("it is the state of job 'other', not of 'j'"),
        "{}",
        anothers.err
    );
    let unsaved = ours(dir.path(), &[&WRITE[..], &["--aux-path=nowhere"]].concat());
    assert!(unsaved.out.contains("verify_state_save: nowhere/local-j-0"), "{}", unsaved.out);
    // What cannot be put in its place leaves nothing half done beside it.
    std::fs::create_dir_all(dir.path().join("aux/local-j-0-verify.state")).unwrap();
    let unsaved = ours(dir.path(), &[&WRITE[..], &["--aux-path=aux"]].concat());
    assert!(unsaved.out.contains("verify_state_save: aux/local-j-0"), "{}", unsaved.out);
    assert_eq!(std::fs::read_dir(dir.path().join("aux")).unwrap().count(), 1);
}

/// Clones have a state each, and each goes on from its own.
#[test]
fn clones_keep_their_states_apart() {
    let dir = scratch();
    let clones = ["--numjobs=2", "--offset_increment=64k"];
    let half = [&WRITE[..], &clones, &["--io_size=32k", "--do_verify=0"]].concat();
    let load = [&READ[..], &clones, &["--output-format=json"]].concat();
    for program in [ours as fn(&Path, &[&str]) -> Ran, theirs] {
        program(dir.path(), &half).expect(0);
        assert!(dir.path().join("local-j-1-verify.state").exists());
        let read = program(dir.path(), &load).expect(0).json();
        let of = |clone: usize| ios(&read["jobs"][clone], "read");
        assert_eq!([of(0), of(1)], [8, 8]);
    }
}

#[test]
fn only_what_an_fsync_covered_is_kept_by_that_policy() {
    let dir = scratch();
    let policy = ["--verify_policy=fsynced", "--fsync=5", "--do_verify=0"];
    ours(dir.path(), &[&WRITE[..], &policy].concat()).expect(0);
    let state = std::fs::read(dir.path().join("local-j-0-verify.state")).unwrap();
    assert_eq!(u64::from_le_bytes(state[32..40].try_into().unwrap()), 15);
}

#[test]
fn threads_that_check_find_the_same() {
    let dir = scratch();
    let threads = ["--verify_async=2", "--verify_async_cpus=0", "--ioengine=libaio", "--iodepth=8"];
    let clean = job(dir.path(), 0, &[&WRITE[..], &threads].concat());
    assert_eq!(ios(&clean, "read"), 16);
    let file = std::fs::OpenOptions::new().write(true).open(dir.path().join("data")).unwrap();
    for at in [5000, 9000, 40000] {
        file.write_all_at(b"hurt", at).unwrap();
    }
    let read = [&["--rw=read", "--bs=4k", "--verify=crc32c", "--size=64k"], &threads[..]].concat();
    let found = ours(dir.path(), &read).expect(1);
    assert_eq!(found.err.matches("verify failed at file data").count(), 3, "{}", found.err);
    assert!(found.out.contains("first: data, offset 4096, 4096 bytes"), "{}", found.out);
}

#[test]
fn trimmed_blocks_must_read_as_zeros() {
    let dir = scratch();
    let device = loop_device(dir.path(), 1 << 20, &[]);
    let path = format!("--filename=/dev/{}", device.name());
    let trims = ["--size=1m", "--bs=16k", "--rw=randwrite", "--verify=md5", "--trim_percentage=50"];
    for more in [&["--trim_backlog=8", "--verify_backlog=16"][..], &["--trim_backlog=4"], &[]] {
        let all = [&[path.as_str()], &trims[..], more].concat();
        let found = job(dir.path(), 0, &all);
        assert!((10..54).contains(&ios(&found, "trim")), "{more:?}: {found}");
        assert_eq!(ios(&found, "write"), 64, "{more:?}");
        assert!(ios(&found, "read") >= 60, "{more:?}: {}", ios(&found, "read"));
    }
}

#[test]
fn what_a_trim_and_its_write_left_is_read_back_as_often_as_fio_does() {
    let dir = scratch();
    let device = loop_device(dir.path(), 1 << 20, &[]);
    let path = format!("--filename=/dev/{}", device.name());
    for way in ["--rw=trimwrite", "--rw=randtrimwrite"] {
        let line = ["--name=j", way, &path, "--size=1m", "--bs=16k", "--verify=crc32c"];
        for program in [as_fio as fn(&Path, &[&str]) -> Ran, fio] {
            let line = [&line[..], &["--output-format=json"]].concat();
            let job = &program(dir.path(), &line).expect(0).json()["jobs"][0];
            assert_eq!(["trim", "write", "read"].map(|d| ios(job, d)), [64; 3], "{way}");
        }
    }
}

/// The run stands still while its file is changed, long before it comes to read that back.
#[test]
fn a_fault_that_comes_while_the_job_writes_is_found_by_its_backlog() {
    let dir = scratch();
    let line = ["--name=j", "--filename=data", "--rw=write", "--bs=4k", "--size=2m"];
    let backlog = ["--verify=md5", "--verify_backlog=256", "--rate_iops=100"];
    let running = Running::fathom("fio", dir.path(), &[&line[..], &backlog].concat());
    let path = dir.path().join("data");
    let written = |block: u64| {
        let mut content = [0; 4096];
        let read =
            std::fs::File::open(&path).and_then(|file| file.read_at(&mut content, block << 12));
        read.is_ok() && content.iter().any(|byte| *byte != 0)
    };
    wait_until("the second block", || written(1));
    running.signal(Signal::STOP);
    assert!(!written(255), "too late: the backlog may have been read");
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.write_all_at(b"hurt", 2000).unwrap();
    running.signal(Signal::CONT);
    let ran = running.end().expect(1);
    assert!(ran.err.contains("verify failed at file data offset 0"), "{}", ran.err);
}

#[test]
fn dumps_go_where_they_are_sent() {
    let dir = scratch();
    std::fs::create_dir(dir.path().join("kept")).unwrap();
    ours(dir.path(), &WRITE).expect(0);
    let file = std::fs::OpenOptions::new().write(true).open(dir.path().join("data")).unwrap();
    file.write_all_at(&[0; 4096], 8192).unwrap();
    let options = ["--rw=read", "--bs=4k", "--verify=crc32c", "--verify_dump=1", "--aux-path=kept"];
    ours(dir.path(), &options).expect(1);
    let dumped = std::fs::read(dir.path().join("kept/data.8192.hdr_fail")).unwrap();
    assert_eq!(dumped, [0; 4096]);
}

#[test]
fn what_is_only_verified_is_not_changed() {
    let dir = scratch();
    ours(dir.path(), &WRITE).expect(0);
    let before = std::fs::read(dir.path().join("data")).unwrap();
    let path = dir.path().join("data");
    let mut permissions = std::fs::metadata(&path).unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&path, permissions).unwrap();
    ours(dir.path(), &[&WRITE[..], &["--verify_only", "--readonly"]].concat()).expect(0);
    ours(dir.path(), &[&WRITE[..], &["--verify_only", "--size=128k"]].concat()).expect(1);
    assert_eq!(std::fs::read(&path).unwrap(), before);
}
