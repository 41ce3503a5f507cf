//! Binary traces of block devices: recorded by a real kernel, put in order by the real blkparse, and
//! replayed as the oracle replays them.

use crate::common::replay::{OURS, THEIRS, done_by, io_of};
use crate::common::{alone, fathom, loop_device, recorded, scratch, system};
use std::path::Path;

/// What blktrace wrote in a guest with Debian's kernel, CPU by CPU: fio's mixed random I/O, writes
/// with fsync, trims and reads of /dev/loop0. A kernel that is locked down records nothing, so that
/// it cannot be done again everywhere.
const RAW: [&str; 2] = ["tr.blktrace.0", "tr.blktrace.1"];
const READS: u64 = 27;
const WRITES: u64 = 45;
const DEVICE_BYTES: u64 = 16 << 20;

/// The trace in the order of its times.
fn trace(at: &Path) -> Vec<u8> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/blktrace");
    for name in RAW {
        std::fs::copy(fixtures.join(name), at.join(name)).unwrap();
    }
    let (input, output) = (at.join("tr"), at.join("tr.bin"));
    let [input, output] = [&input, &output].map(|path| path.to_str().unwrap());
    system("blkparse", &["-q", "-i", input, "-d", output, "-o", "/dev/null"]);
    std::fs::read(output).unwrap()
}

/// The same trace as a machine of the other byte order would have recorded it.
fn swapped(trace: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = trace;
    while let Some((record, behind)) = rest.split_at_checked(48) {
        let mut at = 0;
        for width in [4, 4, 8, 8, 4, 4, 4, 4, 4, 2, 2] {
            bytes.extend(record[at..at + width].iter().rev());
            at += width;
        }
        let data = usize::from(u16::from_ne_bytes([record[46], record[47]]));
        bytes.extend(&behind[..data]);
        rest = &behind[data..];
    }
    bytes
}

#[test]
fn a_real_trace_is_replayed_as_the_oracle_replays_it() {
    let _alone = alone();
    let directory = scratch();
    let at = directory.path();
    let trace = trace(at);
    std::fs::write(at.join("swapped.log"), swapped(&trace)).unwrap();
    std::fs::rename(at.join("tr.bin"), at.join("trace.log")).unwrap();
    let device = loop_device(at, DEVICE_BYTES, &[]);
    let redirect = format!("--replay_redirect={}", device.device);
    for log in ["trace.log", "swapped.log"] {
        let replay = format!("--read_iolog={log}");
        for more in [&["--replay_no_stall=1"][..], &["--replay_scale=2", "--replay_align=512"]] {
            let common = ["--name=r", "--thread=1", "--output=out.log", &replay, &redirect];
            let line = [&common, more].concat();
            let ours = io_of(done_by(&OURS, at, &device.device, &line));
            let theirs = io_of(done_by(&THEIRS, at, &device.device, &line));
            assert_eq!(ours, theirs, "{log} {more:?}");
            let count = |kind: &str| ours.iter().filter(|c| c.starts_with(kind)).count() as u64;
            assert_eq!((count("read "), count("write ")), (READS, WRITES));
            assert!(count("trim ") > 0 && count("fsync ") == 1, "{ours:?}");
        }
    }
}

#[test]
fn a_trace_says_its_depth_and_its_device() {
    let _alone = alone();
    let directory = scratch();
    let at = directory.path();
    let mut trace = trace(at);
    let device = loop_device(at, DEVICE_BYTES, &[]);
    let redirect = format!("--replay_redirect={}", device.device);
    let line = ["--name=r", "--read_iolog=tr.bin", &redirect, "--ioengine=libaio", "--direct=1"];
    let record = recorded(at, 0, &line);
    assert_eq!(record.jobs[0].depth.requested, 8);
    let results = &record.jobs[0].results;
    assert_eq!((results.read.ios, results.write.ios), (READS, WRITES));
    let record = recorded(at, 0, &[&line[..], &["--iodepth=2"]].concat());
    assert_eq!(record.jobs[0].depth.requested, 2);
    // The trace's own device, by its number, is this one.
    let minor: u32 = device.name().trim_start_matches("loop").parse().unwrap();
    set_device(&mut trace, 7 << 20 | minor);
    std::fs::write(at.join("own.bin"), &trace).unwrap();
    let record = recorded(at, 0, &["--name=r", "--read_iolog=own.bin"]);
    assert_eq!(record.jobs[0].workload.files, std::slice::from_ref(&device.device));
    assert_eq!(record.jobs[0].results.read.ios, READS);
    set_device(&mut trace, 4095 << 20 | 77);
    std::fs::write(at.join("none.bin"), &trace).unwrap();
    let none = fathom(at, &["--name=r", "--read_iolog=none.bin"]).expect(2);
    assert!(none.err.contains("its device 4095:77 is not on this machine"), "{}", none.err);
}

fn set_device(trace: &mut [u8], number: u32) {
    let mut at = 0;
    while at < trace.len() {
        trace[at + 36..at + 40].copy_from_slice(&number.to_ne_bytes());
        at += 48 + usize::from(u16::from_ne_bytes([trace[at + 46], trace[at + 47]]));
    }
}

#[test]
fn traces_are_merged_before_they_are_replayed() {
    let _alone = alone();
    let directory = scratch();
    let at = directory.path();
    trace(at);
    let device = loop_device(at, DEVICE_BYTES, &[]);
    let redirect = format!("--replay_redirect={}", device.device);
    let merge = ["--name=r", "--read_iolog=tr.bin:tr.bin", "--merge_blktrace_file=merged"];
    let lists = ["--merge_blktrace_scalars=50:100", "--merge_blktrace_iters=2:1"];
    let only = [&merge[..], &lists, &["--merge-blktrace-only"]].concat();
    let said = fathom(at, &only).expect(0);
    assert_eq!((said.out.as_str(), said.err.as_str()), ("", ""));
    let merged = std::fs::read(at.join("merged")).unwrap();
    let times: Vec<u64> = merged
        .chunks_exact(48)
        .map(|record| u64::from_ne_bytes(record[8..16].try_into().unwrap()))
        .collect();
    assert!(times.is_sorted(), "{times:?}");
    let line = ["--name=r", "--read_iolog=merged", &redirect, "--replay_no_stall=1"];
    assert_eq!(recorded(at, 0, &line).jobs[0].results.read.ios, 3 * READS);
    std::fs::remove_file(at.join("merged")).unwrap();
    let line = [&merge[..], &[&redirect, "--replay_no_stall=1"]].concat();
    let record = recorded(at, 0, &line);
    assert_eq!(record.jobs[0].results.write.ios, 2 * WRITES);
    assert!(at.join("merged").exists());
}
