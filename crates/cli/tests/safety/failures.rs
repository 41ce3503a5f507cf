//! Errors of real devices and files, beside the oracle: what it tells and counts, and what it does
//! not.

use crate::common::{
    FIO, Loop, Mounted, Ran, alone, as_fio, fathom, loop_device, run, scratch, system,
};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

const JSON: &str = "--output-format=json";

/// The oracle, ended when it hangs.
fn fio(directory: &Path, arguments: &[&str]) -> Ran {
    run(Command::new("timeout").args(["60", FIO]).args(arguments).current_dir(directory))
}

/// The document, behind what the oracle says before it.
fn json(ran: &Ran) -> Value {
    let start = ran.out.find("{\n").unwrap_or_else(|| panic!("no JSON: {ran:?}"));
    serde_json::from_str(&ran.out[start..]).unwrap()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("no whole number: {value}"))
}

/// A device of 8 MiB of which only the first can be written: the filesystem below it is full.
struct Full {
    device: Loop,
    _memory: Mounted,
}

impl Full {
    fn new(directory: &Path) -> Full {
        let memory = Mounted::new(&["-t", "tmpfs", "-osize=1m"], "tmpfs", directory.join("small"));
        let device = Loop::over(&memory.path().join("disk.img"), 8 << 20, &[]);
        Full { device, _memory: memory }
    }
}

/// Reads of its second half fail.
fn half_readable(directory: &Path) -> Loop {
    let device = loop_device(directory, 8 << 20, &[]);
    std::fs::OpenOptions::new().write(true).open(&device.file).unwrap().set_len(4 << 20).unwrap();
    device
}

const WRITE: [&str; 5] = ["--name=a", "--size=2m", "--rw=write", "--ioengine=psync", JSON];

#[test]
fn a_flush_that_fails_is_an_error_as_with_the_oracle() {
    let (_turn, directory) = (alone(), scratch());
    for flush in ["--end_fsync=1", "--fsync_on_close=1", "--fsync=16", "--fdatasync=16"] {
        // Pages whose writing failed count as written: each run needs a device of its own.
        let of = |program: fn(&Path, &[&str]) -> Ran| {
            let full = Full::new(directory.path());
            let target = format!("--filename={}", full.device.device);
            program(directory.path(), &[&WRITE[..], &[&target, flush]].concat()).expect(1)
        };
        let (ours, theirs) = (of(as_fio), of(fio));
        for ran in [&ours, &theirs, &of(|directory, line| fathom(directory, line))] {
            let job = &json(ran)["jobs"][0];
            assert_eq!(job["error"], 5, "{flush}");
            assert!(number(&job["write"]["total_ios"]) >= 256, "what was done is told: {flush}");
        }
        let kinds = &json(&ours)["jobs"][0]["fathom"]["errors"];
        assert!(kinds[0]["operation"].as_str().unwrap().contains("sync"), "{flush}: {kinds}");
    }
}

/// Buffered writes that all succeeded, and pages of them that never reached the device.
#[test]
fn what_the_page_cache_could_not_write_is_an_error() {
    let (_turn, directory) = (alone(), scratch());
    // What it starts to write is not waited for; the pace leaves it time to fail.
    let started = ["--sync_file_range=write:16", "--rate_iops=500"];
    let of = |program: fn(&Path, &[&str]) -> Ran, code: i32| {
        let full = Full::new(directory.path());
        let target = format!("--filename={}", full.device.device);
        program(directory.path(), &[&WRITE[..], &[&target], &started[..]].concat()).expect(code)
    };
    assert_eq!(json(&of(fio, 0))["jobs"][0]["error"], 0, "the oracle does not look");
    for ran in [of(as_fio, 1), of(|directory, line| fathom(directory, line), 1)] {
        let job = &json(&ran)["jobs"][0];
        assert_eq!((&job["error"], &job["write"]["total_ios"]), (&5.into(), &512.into()));
        assert!(ran.err.contains("cannot write back from the page cache"), "{}", ran.err);
    }
}

/// Which errors end the job, and what total_err and first_error say of those that do not. The
/// oracle counts I/Os that failed as done: so they are in its total_ios and in its IOPS.
#[test]
fn errors_that_are_gone_over_are_counted_as_by_the_oracle() {
    let (_turn, directory) = (alone(), scratch());
    let device = half_readable(directory.path());
    let target = format!("--filename={}", device.device);
    let base = ["--name=a", &target, "--bs=64k", "--rw=read", "--direct=1", JSON];
    let cases: [&[&str]; 14] = [
        &["--continue_on_error=all"],
        &["--continue_on_error=read"],
        &["--continue_on_error=io"],
        &["--continue_on_error=write"],
        &["--continue_on_error=verify"],
        &["--continue_on_error=none"],
        &["--ignore_error=EIO"],
        &["--ignore_error=ENOSPC:5"],
        &["--ignore_error=,EIO"],
        &["--ignore_error=ENOSPC,,EIO"],
        &["--continue_on_error=read", "--ignore_error=ENOSPC"],
        &["--ignore_error=EIO", "--error_dump=1"],
        &["--continue_on_error=all", "--ioengine=libaio", "--iodepth=8"],
        &["--ioengine=libaio", "--iodepth=8"],
    ];
    for options in cases {
        let line = [&base[..], &["--ioengine=psync"], options].concat();
        let (ours, theirs) = (as_fio(directory.path(), &line), fio(directory.path(), &line));
        assert_eq!(ours.code, theirs.code, "{options:?}: {}", ours.err);
        let code = ours.code;
        let (ours, theirs) = (&json(&ours)["jobs"][0], &json(&theirs)["jobs"][0]);
        assert_eq!(ours["read"]["io_bytes"], theirs["read"]["io_bytes"], "{options:?}");
        assert_eq!(
            ours.get("total_err").is_some(),
            theirs.get("total_err").is_some(),
            "{options:?}"
        );
        let tolerated = code == 0;
        if tolerated {
            for field in ["error", "total_err", "first_error"] {
                assert_eq!(ours[field], theirs[field], "{options:?}");
            }
        }
        let failed = if tolerated { 64 } else { 0 };
        let read = &ours["read"];
        assert_eq!(
            (number(&read["total_ios"]), number(&read["drop_ios"])),
            (64, failed),
            "{options:?}"
        );
        let counted = number(&theirs["read"]["total_ios"]);
        assert!(counted > 64 && (!tolerated || counted == 128), "{options:?}: {counted}");
        assert!(!tolerated || fathom(directory.path(), &line).code == 1, "{options:?}");
    }
}

/// A file that gets shorter while it is read. The oracle's asynchronous engines count reads of
/// nothing and end well.
#[test]
fn reads_beyond_the_end_are_no_reads() {
    let directory = scratch();
    let file = directory.path().join("data");
    for engine in ["--ioengine=libaio", "--ioengine=io_uring", "--ioengine=psync"] {
        let of = |program: fn(&Path, &[&str]) -> Ran| {
            std::fs::write(&file, vec![7_u8; 1 << 20]).unwrap();
            let line =
                ["--name=a", "--filename=data", "--bs=64k", "--rw=read", "--iodepth=4", JSON];
            let cut = "--exec_prerun=truncate -s 519K data";
            program(directory.path(), &[&line[..], &[engine, cut]].concat())
        };
        let (ours, theirs) = (of(as_fio), of(fio));
        let job = &json(&ours)["jobs"][0];
        assert_eq!((ours.code, &job["error"]), (1, &5.into()), "{engine}");
        assert_eq!(
            (number(&job["read"]["io_bytes"]), number(&job["read"]["short_ios"])),
            (519 << 10, 1),
            "{engine}"
        );
        assert!(number(&job["read"]["total_ios"]) <= 9, "{engine}: {}", job["read"]);
        let told = json(&theirs)["jobs"][0]["read"]["total_ios"].clone();
        if engine != "--ioengine=psync" {
            assert_eq!((theirs.code, number(&told) > 9), (0, true), "{engine}");
        }
    }
}

/// An exit status has eight bits: with 256 failures the oracle's is 0.
#[test]
fn the_exit_code_counts_the_jobs_that_failed_as_the_oracle_s() {
    let directory = scratch();
    let failing =
        ["--name=a", "--filename=/dev/full", "--rw=write", "--size=4k", "--ioengine=psync", JSON];
    let fine = ["--name=b", "--filename=/dev/null", "--rw=write", "--size=4k"];
    let cases: [(&[&str], i32); 6] = [
        (&["--numjobs=1"], 1),
        (&["--numjobs=2"], 2),
        (&["--numjobs=3", "--group_reporting"], 3),
        (&["--numjobs=3", "--continue_on_error=read"], 3),
        (&["--numjobs=3", "--ignore_error=,ENOSPC"], 0),
        (&fine, 1),
    ];
    for (options, code) in cases {
        let line = [&failing[..], options].concat();
        let (ours, theirs) = (as_fio(directory.path(), &line), fio(directory.path(), &line));
        assert_eq!((ours.code, theirs.code), (code, code), "{options:?}: {}", ours.err);
        assert_eq!(fathom(directory.path(), &line).code, 1, "{options:?}");
    }
    let many = [&failing[..], &["--numjobs=256", "--thread", "--group_reporting"]].concat();
    fio(directory.path(), &many).expect(0);
    as_fio(directory.path(), &many).expect(255);
}

/// What is only written needs no room beforehand: who writes a part of it never meets the end.
#[test]
fn files_larger_than_the_disk_are_written_as_far_as_it_goes() {
    let (_turn, directory) = (alone(), scratch());
    let device = loop_device(directory.path(), 16 << 20, &[]);
    system("mkfs.ext4", &["-q", "-m0", &device.device]);
    let disk = Mounted::new(&[], &device.device, directory.path().join("small"));
    let job = ["--name=a", "--filename=small/a", "--size=64m", "--ioengine=psync", JSON];
    let cases: [(&[&str], i32, i32); 5] = [
        (&["--rw=write", "--runtime=1", "--time_based", "--rate_iops=100", "--direct=1"], 0, 0),
        (&["--rw=write", "--number_ios=10"], 0, 0),
        (&["--rw=write", "--io_size=40k", "--fallocate=posix"], 0, 0),
        (&["--rw=write", "--number_ios=10", "--create_serialize=0"], 0, 0),
        (&["--rw=write", "--bs=64k"], 1, 28),
    ];
    for (options, code, error) in cases {
        let line = [&job[..], options].concat();
        let of = |program: fn(&Path, &[&str]) -> Ran| {
            let ran = program(directory.path(), &line).expect(code);
            let document = json(&ran);
            std::fs::remove_file(disk.path().join("a")).unwrap();
            assert_eq!(document["jobs"][0]["error"], error, "{options:?}: {}", ran.err);
            (ran, document)
        };
        let (_, theirs) = of(fio);
        for program in [as_fio as fn(&Path, &[&str]) -> Ran, |d, line| fathom(d, line)] {
            let (ran, ours) = of(program);
            let told = "the filesystem has no room for all of 'small/a'; space is taken as it is";
            assert!(ours["fathom"]["warnings"].to_string().contains(told), "{options:?}");
            let bytes = |document: &Value| number(&document["jobs"][0]["write"]["io_bytes"]);
            let exact = code == 0 && !options.contains(&"--time_based");
            assert!(!exact || bytes(&ours) == bytes(&theirs), "{options:?}: {}", ran.err);
            assert!(bytes(&ours) >= 40 << 10, "what was written is told: {options:?}");
        }
    }
    let keep = [&job[..], &["--rw=write", "--number_ios=10", "--fallocate=keep"]].concat();
    assert_eq!(json(&fio(directory.path(), &keep).expect(1))["jobs"][0]["error"], 28);
    as_fio(directory.path(), &keep).expect(0);
}

/// What the oracle finds when it sets up the files of a job, or at its first I/O, costs that job:
/// the others run, in whatever order they stand. Where it leaves `error` at 0, ours is not.
#[test]
fn a_job_that_cannot_run_leaves_the_others_alone_as_with_the_oracle() {
    let directory = scratch();
    let at = directory.path();
    std::fs::create_dir(at.join("empty")).unwrap();
    let cases: [(&[&str], u64, u64); 9] = [
        (&["--filename=gone", "--rw=read"], 22, 22),
        (&["--filename=gone", "--rw=write"], 22, 22),
        (&["--opendir=empty", "--rw=read"], 22, 22),
        (&["--filename=short/below", "--rw=write", "--size=4k"], 20, 20),
        (&["--filename=empty", "--rw=read", "--size=4k"], 21, 21),
        (&["--filename=short", "--rw=trim"], 25, 25),
        (&["--filename=gone", "--rw=read", "--size=4k", "--allow_file_create=0"], 2, 0),
        (&["--filename=short", "--rw=read", "--size=8k", "--allow_file_create=0"], 22, 0),
        (&["--filename=short", "--rw=read", "--bs=8k"], 22, 0),
    ];
    let fine = ["--name=fine", "--filename=fine", "--rw=write", "--size=64k"];
    for (options, expected, told) in cases {
        // What the oracle finds at the first I/O only, as it does these, ends the others as well.
        let more: &[&str] = match expected {
            21 | 25 => &["--stonewall"],
            _ => &["--exitall_on_error=1", "--stonewall"],
        };
        let bad = [&["--name=bad"], options, more].concat();
        let general = ["--ioengine=psync", JSON];
        for line in [[&general[..], &fine, &bad].concat(), [&general[..], &bad, &fine].concat()] {
            // The oracle removes a file before it makes it longer.
            let of = |program: fn(&Path, &[&str]) -> Ran, code: i32| {
                std::fs::write(at.join("short"), [1; 4096]).unwrap();
                program(at, &line).expect(code)
            };
            let (theirs, ours) = (of(fio, 1), of(as_fio, 1));
            for (ran, error) in [(&ours, expected), (&theirs, told)] {
                let document = json(ran);
                let jobs = document["jobs"].as_array().unwrap();
                let named = |name: &str| jobs.iter().find(|job| job["jobname"] == name).unwrap();
                assert_eq!(number(&named("bad")["error"]), error, "{line:?}: {}", ran.err);
                let done = |name: &str| number(&named(name)["write"]["total_ios"]);
                assert_eq!((done("fine"), done("bad")), (16, 0), "{line:?}: {}", ran.err);
                assert_eq!(jobs[0]["jobname"], line[2].trim_start_matches("--name="));
            }
            let no_size = options[0] == "--filename=gone" && expected == 22;
            of(|at, line| fathom(at, line), if no_size { 2 } else { 3 });
        }
    }
}

/// Every report has the job that could not run, in fio's shape, and each of its clones counts.
#[test]
fn a_job_that_could_not_run_is_in_every_report() {
    let directory = scratch();
    let at = directory.path();
    let job = ["--name=bad", "--filename=gone", "--rw=read", "--numjobs=3"];
    let with = |more: &'static str| [&job[..], &[more]].concat();
    for program in [as_fio as fn(&Path, &[&str]) -> Ran, fio] {
        let terse = program(at, &with("--output-format=terse")).expect(3);
        let lines: Vec<&str> = terse.out.lines().filter(|l| l.starts_with("3;fio-")).collect();
        assert_eq!(lines.len(), 3, "{terse:?}");
        for line in lines {
            let fields: Vec<&str> = line.split(';').collect();
            assert_eq!((fields[2], fields[4], fields[5]), ("bad", "22", "0"), "{line}");
        }
        let grouped = program(at, &[&job[..], &["--group_reporting", JSON]].concat()).expect(3);
        let document = json(&grouped);
        assert_eq!(
            (&document["jobs"][0]["error"], document["jobs"].as_array().unwrap().len()),
            (&22.into(), 1)
        );
        let normal = program(at, &with("--output-format=normal")).expect(3);
        let said =
            normal.out.contains("Starting 3 processes") && normal.out.contains("\nRun status");
        assert!(said && !normal.out.contains("groupid=0"), "{normal:?}");
    }
}

/// What would destroy data, or is wrong on every machine, still stops all.
#[test]
fn what_is_wrong_on_every_machine_stops_all_jobs() {
    let directory = scratch();
    let fine = ["--name=fine", "--filename=fine", "--rw=write", "--size=64k", "--name=bad"];
    let cases: [&[&str]; 3] = [
        &["--rw=write", "--size=1k", "--filename=bad"],
        &["--rw=read", "--filename=gone", "--name=worse", "--wait_for=nobody", "--size=4k"],
        &["--rw=read", "--filename=gone", "--readonly"],
    ];
    for options in cases {
        let ran = as_fio(directory.path(), &[&fine[..], options].concat()).expect(1);
        assert_eq!(ran.out, "", "{options:?}");
        assert!(!directory.path().join("fine").exists(), "{options:?}");
    }
}

#[test]
fn what_ended_a_job_is_told_before_the_text_and_in_its_heading_as_by_the_oracle() {
    let job = ["--name=a", "--filename=/dev/full", "--rw=write", "--bs=4k", "--size=64k"];
    let arguments = [&job[..], &["--offset=8k"]].concat();
    for program in [as_fio, fio] {
        let ran = program(scratch().path(), &arguments);
        let line = ran.out.lines().find(|line| line.starts_with("fio: pid=")).unwrap();
        let (pid, cause) = line.split_once(", err=28/file:").unwrap();
        let (place, rest) = cause.split_once(", func=").unwrap();
        let (_, number) = place.rsplit_once(':').unwrap();
        assert!(number.parse::<u64>().is_ok(), "{line}");
        assert!(rest.ends_with(", error=No space left on device"), "{line}");
        let pid = pid.trim_start_matches("fio: ");
        let heading = format!("\n\na: (groupid=0, jobs=1): err=28 (file:{cause}): {pid}: ");
        assert!(ran.out.contains(&heading), "{ran:?}");
    }
    let ours = as_fio(scratch().path(), &arguments);
    assert!(ours.out.contains("err=28/file:/dev/full:8192, func=write, "), "{ours:?}");
    // Documents stand alone.
    let document = |format: &str| as_fio(scratch().path(), &[&arguments[..], &[format]].concat());
    assert!(document("--output-format=json").out.starts_with("{\n"));
    assert!(document("--output-format=terse").out.starts_with("3;"));
    assert!(!document("--output-format=json,normal").out.contains("fio: pid="));
}
