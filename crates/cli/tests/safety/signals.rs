//! Ctrl-C and SIGTERM: what was measured until then is printed and kept, wherever the run is.

use crate::common::*;
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// The status line tells where a run is.
const WATCHED: [&str; 2] = ["--eta=always", "--eta-interval=250ms"];

/// Starts `fathom VERB`, waits until it has said `mark`, sends a signal, and waits for the end,
/// which must be near.
#[track_caller]
fn interrupted(verb: &str, at: &Path, job: &[&str], mark: (&str, &str), signal: Signal) -> Ran {
    let mut running = Running::fathom(verb, at, &[job, &WATCHED].concat());
    running.says(mark.0, mark.1);
    running.signal(signal);
    let asked = Instant::now();
    let ran = running.end();
    assert!(asked.elapsed() < Duration::from_secs(20), "it took {:?}", asked.elapsed());
    assert!(!ran.err.contains("panicked"), "{}", ran.err);
    ran
}

fn record(at: &Path) -> Value {
    serde_json::from_slice(&fs::read(at.join("run.json")).unwrap()).unwrap()
}

const LONG: [&str; 4] = ["--name=a", "--size=1m", "--time_based", "--runtime=25"];

#[test]
fn a_run_is_reported_and_kept() {
    for engine in ["psync", "io_uring", "libaio"] {
        let directory = scratch();
        let engine = format!("--ioengine={engine}");
        let more = ["--rw=randrw", "--iodepth=4", "--numjobs=3", "--unlink=1", &engine];
        let job = [&LONG[..], &more, &["--record=run.json"]].concat();
        let ran = interrupted("run", directory.path(), &job, ("err", "[m(3)]"), Signal::INT);
        let ran = ran.expect(130);
        assert!(
            ran.err.contains("fathom: terminating on signal 2; a second one ends it at once\n")
        );
        assert_eq!(ran.out.matches("\na: (groupid=0, jobs=1): err= 0: pid=").count(), 3);
        assert!(ran.out.contains("Run status group 0 (all jobs):\n   READ: bw="), "{}", ran.out);
        assert!(ran.out.contains("\nDisk stats (read/write):\n"), "{}", ran.out);
        let record = record(directory.path());
        assert_eq!(record["interrupted_by"], 2);
        let jobs = record["jobs"].as_array().unwrap();
        // On a busy machine, not each of them has both by then.
        for direction in ["read", "write"] {
            let has = |job: &&Value| job["results"][direction]["ios"].as_u64() > Some(0);
            let having = jobs.iter().filter(has).count();
            assert!(having > 0, "{jobs:?}");
            assert_eq!(ran.out.matches(&format!("  {direction}: IOPS=")).count(), having);
        }
        let left: Vec<_> = fs::read_dir(&directory).unwrap().map(|e| e.unwrap().path()).collect();
        assert_eq!(left, [directory.path().join("run.json")], "unlink=1 is honoured");
    }
}

#[test]
fn the_exit_code_is_that_of_the_signal() {
    let directory = scratch();
    let job = [&LONG[..], &["--rw=read", "--ioengine=psync"]].concat();
    let running = ("err", "[R(1)]");
    interrupted("run", directory.path(), &job, running, Signal::TERM).expect(143);
    let running = ("out", "[R(1)]");
    for (signal, number) in [(Signal::INT, 2), (Signal::TERM, 15)] {
        let ran = interrupted("fio", directory.path(), &job, running, signal).expect(128);
        assert!(ran.out.contains(&format!("\nfio: terminating on signal {number}\n")));
        assert!(ran.out.contains("\nRun status group 0 (all jobs):\n   READ: bw="), "{}", ran.out);
    }
}

#[test]
fn layout() {
    let directory = scratch();
    let job = ["--name=a", "--size=16g", "--rw=read", "--fallocate=none", "--ioengine=psync"];
    let mark = ("out", "a: Laying out IO file");
    let job = [&job[..], &["--record=run.json"]].concat();
    let ran = interrupted("run", directory.path(), &job, mark, Signal::INT).expect(130);
    assert!(ran.out.contains("a: (groupid=0, jobs=1): err= 0: pid=0:"), "{}", ran.out);
    let record = record(directory.path());
    assert_eq!(record["interrupted_by"], 2);
    assert_eq!(record["jobs"][0]["results"]["read"]["ios"], 0);
    let json = [&job[..], &["--output-format=json"]].concat();
    let mark = ("err", "a: Laying out IO file");
    let ran = interrupted("run", directory.path(), &json, mark, Signal::TERM).expect(143);
    assert_eq!(ran.json()["jobs"][0]["read"]["total_ios"], 0);
}

#[test]
fn ramp_and_start_delay() {
    let directory = scratch();
    let json = ["--rw=read", "--ioengine=psync", "--output-format=json"];
    let job = [&LONG[..], &json, &["--ramp_time=20"]].concat();
    let ran = interrupted("run", directory.path(), &job, ("err", "[/(1)]"), Signal::INT);
    assert_eq!(ran.expect(130).json()["fathom"]["interrupted_by"], 2);
    let job = [&LONG[..], &json, &["--startdelay=20", "--unlink=1"]].concat();
    let ran = interrupted("run", directory.path(), &job, ("err", "Jobs: 0"), Signal::INT);
    assert_eq!(ran.expect(130).json()["jobs"][0]["read"]["total_ios"], 0);
    assert!(!directory.path().join("a.0.0").exists());
}

#[test]
fn a_later_phase() {
    let directory = scratch();
    let first = ["--name=first", "--size=1m", "--rw=read", "--ioengine=psync"];
    let second = ["--name=second", "--stonewall", "--time_based", "--runtime=25"];
    let more = ["--size=1m", "--rw=read", "--ioengine=psync"];
    let third = ["--name=third", "--stonewall", "--size=1m", "--rw=read", "--ioengine=psync"];
    let job = [&first[..], &second, &more, &third].concat();
    let mark = ("err", "[_(1),R(1),P(1)]");
    let ran = interrupted("run", directory.path(), &job, mark, Signal::INT).expect(130);
    assert!(ran.out.contains("\nfirst: (groupid=0, jobs=1): err= 0"), "{}", ran.out);
    assert!(ran.out.contains("total=256,0,0,0"), "the first is whole: {}", ran.out);
    assert!(ran.out.contains("\nsecond: (groupid=1, jobs=1): err= 0"), "{}", ran.out);
    // As fio shows them: what never ran is not listed.
    let mark = ("out", "[_(1),R(1),P(1)]");
    let ran = interrupted("fio", directory.path(), &job, mark, Signal::INT).expect(128);
    assert!(ran.out.contains("\nsecond: (groupid=1, jobs=1): err= 0"), "{}", ran.out);
    assert!(!ran.out.contains("\nthird: (groupid=2"), "{}", ran.out);
}

#[test]
fn a_second_signal_ends_at_once() {
    let directory = scratch();
    // A program that is not to be stopped for a minute: the first signal alone ends the run only
    // then. It ends when it finds itself removed.
    let program = directory.path().join("stubborn");
    let text = "#!/bin/sh\ntrap '' TERM\nwhile [ -e \"$0\" ]; do sleep 0.1; done\n";
    fs::write(&program, text).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let job = ["--name=a", "--ioengine=exec", "--program=./stubborn", "--grace_time=60"];
    let mut running = Running::fathom("run", directory.path(), &[&job[..], &WATCHED].concat());
    running.says("err", "Jobs: ");
    running.signal(Signal::INT);
    running.says("err", "terminating on signal 2");
    // One that comes at once is taken for the first, passed on by who started the program.
    running.signal(Signal::INT);
    let asked = Instant::now();
    while running.goes_on() {
        assert!(asked.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(100));
        running.signal(Signal::INT);
    }
    assert_eq!(running.end().code, 130);
}

#[test]
fn a_signal_that_comes_twice_costs_nothing() {
    let directory = scratch();
    let job = [&LONG[..], &["--rw=read", "--ioengine=psync"], &WATCHED].concat();
    let mut running = Running::fathom("fio", directory.path(), &job);
    running.says("out", "[R(1)]");
    // Both are there when it goes on.
    running.signal(Signal::STOP);
    running.signal(Signal::INT);
    running.signal(Signal::TERM);
    running.signal(Signal::CONT);
    let ran = running.end();
    assert_eq!(ran.code, 128, "{}", ran.err);
    assert!(ran.out.contains("\nRun status group 0 (all jobs):\n   READ: bw="), "{}", ran.out);
}

#[test]
fn it_is_asked_how_far_it_is() {
    let job = ["--name=a", "--ioengine=null", "--size=1g", "--rw=randrw", "--numjobs=2"];
    let more = ["--rate_iops=2000", "--time_based", "--runtime=30", "--disable_bw=1"];
    let line = [&job[..], &more, &WATCHED].concat();
    let asked = |format: &str, count: usize, part: &str| {
        let directory = scratch();
        let option = format!("--output-format={format}");
        let file = ["--output=report", option.as_str()];
        for program in [FATHOM, FIO] {
            let mut command = Command::new(program);
            command.args(if program == FATHOM { &["fio"][..] } else { &[] });
            let mut running =
                Running::start(command.args(&line).args(file).current_dir(directory.path()));
            let said = || fs::read_to_string(directory.path().join("report")).unwrap_or_default();
            running.says("out", "[m(2)]");
            for times in 1..=2 {
                running.signal(Signal::USR1);
                wait_until("a report", || said().matches(part).count() == times * count);
            }
            running.signal(Signal::INT);
            assert_eq!(running.end().code, 128);
            assert_eq!(said().matches(part).count(), 3 * count, "{program}: {}", said());
        }
    };
    asked("normal", 2, "\na: (groupid=0, jobs=1): err= 0: pid=");
    asked("json", 1, "\n  \"jobs\" : [");
    asked("terse", 2, ";a;0;0;");
}
