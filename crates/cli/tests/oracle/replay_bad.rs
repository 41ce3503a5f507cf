//! Logs that are wrong, and replays that would do harm: refused before anything is touched.

use crate::common::{Ran, alone, as_fio, fathom, loop_device, scratch, system};
use std::path::Path;

/// Runs a replay of a log that would write `made`; the run must touch nothing.
#[track_caller]
fn replay(at: &Path, log: &[u8], options: &[&str]) -> Ran {
    std::fs::write(at.join("in.log"), log).unwrap();
    let ran = fathom(at, &[&["--name=r", "--read_iolog=in.log"], options].concat());
    assert!(!at.join("made").exists(), "it was made: {}", ran.err);
    ran
}

#[test]
fn a_corrupt_iolog_is_refused_with_its_line() {
    let directory = scratch();
    let at = directory.path();
    let begin = "fio version 3 iolog\n0 made add\n0 made open\n1 made write 0 4096\n";
    for (rest, expected) in [
        ("x", "line 5: expected a time in microseconds, got 'x'"),
        ("5 made read 0", "line 5: expected a length in bytes, got ''"),
        ("5 made rite 0 512", "line 5: 'rite' is no action: expected add, open, close, read"),
        ("5 other read 0 512", "line 5: 'other' was not added before"),
        ("5 made close\n6 made write 0 1", "line 6: 'made' is not open"),
        ("5 made wait 1000", "line 5: 'wait' is for version 2 only"),
        ("5 made read 0 -1", "line 5: expected a length in bytes, got '-1'"),
        ("5 made write 9223372036854775807 1", "line 5: offset 9223372036854775807"),
        ("fio version 3 iolog", "line 5: another log begins here"),
        ("\u{fffd}\u{0}", "line 5: expected a time"),
    ] {
        let ran = replay(at, format!("{begin}{rest}\n").as_bytes(), &[]).expect(2);
        let told = format!("job 'r': read_iolog=in.log: {expected}");
        assert!(ran.err.contains(&told), "{rest}: {}", ran.err);
        assert!(ran.out.is_empty());
    }
    let cut = replay(at, &[begin.as_bytes(), b"5 made \xff read 0 1\n"].concat(), &[]).expect(2);
    assert!(cut.err.contains("line 5: not UTF-8 text"), "{}", cut.err);
    let as_fio = as_fio(at, &["--name=r", "--read_iolog=in.log"]).expect(1);
    assert!(as_fio.err.contains("line 5: not UTF-8 text"), "{}", as_fio.err);
}

#[test]
fn what_is_no_log_is_refused() {
    let directory = scratch();
    let at = directory.path();
    for (log, expected) in [
        (&b""[..], "it is empty"),
        (b"hello\n", "it is neither an iolog, whose first line is"),
        (b"fio version 1 iolog\n", "line 1: 'fio version 1 iolog' is no version that is known"),
        (b"fio version 4 iolog\n", "line 1: 'fio version 4 iolog' is no version that is known"),
        (b"fio version 2 iolog\n", "the log has no I/O"),
        (b"fio version 2 iolog\nmade add\nmade open\n", "the log has no I/O"),
        (b"\x07tae", "byte 0: the trace ends within a record: 4 of 48"),
        (b"\x7fELF\x02\x01\x01\x00", "it is neither an iolog"),
    ] {
        let ran = replay(at, log, &[]).expect(2);
        assert!(ran.err.contains(expected), "{log:?}: {}", ran.err);
    }
    let missing = fathom(at, &["--name=r", "--read_iolog=missing"]).expect(2);
    assert!(missing.err.contains("read_iolog=missing: it cannot be read: No such"));
    let all = b"fio version 2 iolog\nmade add\nmade open\nmade write 0 1\n";
    let skipped = replay(at, all, &["--replay_skip=write"]).expect(2);
    assert!(skipped.err.contains("replay_skip leaves out all of it"), "{}", skipped.err);
}

#[test]
fn a_truncated_trace_is_refused_with_its_byte() {
    let directory = scratch();
    let at = directory.path();
    let trace = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(RAW)).unwrap();
    let redirect = ["--replay_redirect=made"];
    for (length, expected) in [
        (trace.len() - 1, "the trace ends within a record"),
        (100, "byte 56: the trace ends within a record: 44 of 48 bytes are there"),
        (50, "byte 0: the trace ends within the data of a record: 2 of 8 bytes are there"),
    ] {
        let ran = replay(at, &trace[..length], &redirect).expect(2);
        assert!(ran.err.contains(expected), "{length}: {}", ran.err);
    }
    let mut other = trace.clone();
    other[0] = 8;
    let ran = replay(at, &other, &redirect).expect(2);
    assert!(ran.err.contains("byte 0: the trace is of version 8: expected version 7"));
    let mut damaged = trace;
    // The second record: eight bytes of data stand behind the first.
    damaged[56 + 2] ^= 0x40;
    let ran = replay(at, &damaged, &redirect).expect(2);
    assert!(ran.err.contains("the trace is damaged"), "{}", ran.err);
}

/// What a kernel of Debian 12 recorded of one CPU.
const RAW: &str = "tests/fixtures/blktrace/tr.blktrace.1";

#[test]
fn options_that_contradict_are_refused() {
    let directory = scratch();
    let at = directory.path();
    let log = b"fio version 2 iolog\nmade add\nmade open\nmade write 0 512\n";
    for (options, expected) in [
        (&["--replay_align=3000"][..], "expected a power of two, got '3000'"),
        (&["--replay_skip=writes"], "expected read, write, trim or sync, got 'writes'"),
        (&["--replay_time_scale=0"], "replay_time_scale"),
        (&["--read_iolog="], "read_iolog"),
        (&["--merge_blktrace_scalars=0:50"], "expected per cents above 0, got '0'"),
        (&["--merge_blktrace_iters=1.5"], "expected whole numbers from 1"),
        (&["--ioengine=filecreate", "--nrfiles=1"], "the filecreate engine moves no data"),
        (&["--write_iolog=nowhere/w.log"], "write_iolog=nowhere/w.log: it cannot be written"),
        (&["--merge-blktrace-only"], "no job has merge_blktrace_file"),
        (
            &["--merge_blktrace_file=m", "--merge_blktrace_iters=1:2"],
            "merge_blktrace_iters: 2 numbers for 1 traces; give one for each",
        ),
        (&["--merge_blktrace_file=in.log"], "it is the trace in.log itself"),
        (&["--merge_blktrace_file=m"], "read_iolog=in.log: byte 0:"),
    ] {
        let ran = replay(at, log, options).expect(2);
        assert!(ran.err.contains(expected), "{options:?}: {}", ran.err);
        assert!(!at.join("m").exists(), "{options:?} left a file");
    }
    let written = fathom(at, &["--name=w", "--size=4k", "--rw=write", "--write_iolog=no/w.log"]);
    assert!(written.expect(2).err.contains("write_iolog=no/w.log: it cannot be written"));
    assert!(!at.join("w.0.0").exists());
}

#[test]
fn targets_of_a_log_are_guarded_as_any_other() {
    let _alone = alone();
    let directory = scratch();
    let at = directory.path();
    let device = loop_device(at, 4 << 20, &[]);
    let log = |path: &str, action: &str| {
        format!("fio version 2 iolog\n{path} add\n{path} open\n{path} {action}\n")
    };
    let own = log(&device.device, "write 0 4096");
    system("mkfs.ext4", &["-q", &device.device]);
    let before = std::fs::read(&device.file).unwrap();
    for (log, options) in [
        (own.clone(), vec![]),
        (log("/elsewhere", "write 0 4096"), vec![format!("--replay_redirect={}", device.device)]),
        (log(&device.device, "trim 0 4096"), vec![]),
    ] {
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        let ran = replay(at, log.as_bytes(), &options).expect(3);
        assert!(ran.err.contains("carries the signature of ext4"), "{}", ran.err);
    }
    assert_eq!(std::fs::read(&device.file).unwrap(), before);
    // What a log only reads may be in use.
    replay(at, log(&device.device, "read 0 4096").as_bytes(), &[]).expect(0);
    let named = format!("--allow-destroy={}", device.device);
    replay(at, own.as_bytes(), &[&named]).expect(0);
    let far = log(&device.device, "read 4194304 4096");
    let ran = replay(at, far.as_bytes(), &[]).expect(3);
    let told = format!("the log goes to byte 4198400 of {}, which ends at 4194304", device.device);
    assert!(ran.err.contains(&told), "{}", ran.err);
    replay(at, far.as_bytes(), &["--replay_scale=2"]).expect(0);
    let odd = log(&device.device, "read 100 512");
    let ran = replay(at, odd.as_bytes(), &["--direct=1"]).expect(3);
    assert!(ran.err.contains("multiples of no more than 4"), "{}", ran.err);
    let ran = replay(at, own.as_bytes(), &["--readonly"]).expect(3);
    assert!(ran.err.contains("--readonly"), "{}", ran.err);
    let ran = replay(at, log("/dev/none-such", "read 0 1").as_bytes(), &[]).expect(3);
    assert!(ran.err.contains("read_iolog: there is no device /dev/none-such"), "{}", ran.err);
    let ran = replay(at, log("made", "trim 0 4096").as_bytes(), &[]).expect(3);
    assert!(ran.err.contains("the log trims, and made is no block device"), "{}", ran.err);
}

#[test]
fn a_run_that_is_refused_leaves_no_log() {
    let directory = scratch();
    let line = ["--name=w", "--rw=trim", "--size=64k", "--write_iolog=out.log"];
    fathom(directory.path(), &line).expect(3);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}
