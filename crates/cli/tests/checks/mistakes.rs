//! The mistakes everybody makes once with a storage benchmark, each from end to end: made, named by
//! the program, cured as it says, and not named any more.

use crate::common::{
    FATHOM, MemoryDisk, MemoryFilesystem, Throttle, alone, fathom, findings, recorded, run,
    the_finding, wait_until,
};
use judge::checks::over_pair;
use record::{Health, Severity};
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// What the program says in its JSON about a run, started by another program with its arguments.
#[track_caller]
fn said_by(starter: &[&str], directory: &Path, arguments: &[&str]) -> Vec<Value> {
    let line = [starter, &[FATHOM, "run", "--output-format=json"], arguments].concat();
    let ran = run(Command::new(line[0]).args(&line[1..]).current_dir(directory)).expect(0);
    ran.json()["fathom"]["findings"].as_array().unwrap().clone()
}

#[track_caller]
fn said(directory: &Path, arguments: &[&str]) -> Vec<Value> {
    said_by(&[], directory, arguments)
}

/// The warning of a check among what was said, with its cure.
#[track_caller]
fn named(said: &[Value], check: &str) -> String {
    let found = said.iter().find(|finding| finding["check"] == check);
    let found = found.unwrap_or_else(|| panic!("{check} is not among {said:#?}"));
    assert_eq!(found["severity"], "warning", "{found:#?}");
    found["cure"].as_str().unwrap().to_owned()
}

/// Nothing of it is left that is worth more than a note: that much a busy machine adds by itself.
#[track_caller]
fn gone(said: &[Value], check: &str) {
    let found = said.iter().find(|finding| finding["check"] == check);
    assert!(found.is_none_or(|finding| finding["severity"] == "note"), "{found:#?}");
}

#[test]
fn memory_was_measured_instead_of_storage() {
    let _alone = alone();
    let own = MemoryFilesystem::new(128 << 20);
    let job = ["--name=read", "--size=32m", "--bs=64k", "--rw=randread", "--norandommap"];
    let buffered = [&job[..], &["--time_based", "--runtime=1"]].concat();
    let cure = named(&said(own.path(), &buffered), "served-from-cache");
    assert!(cure.contains("--direct=1"), "{cure}");
    gone(&said(own.path(), &[&buffered[..], &["--direct=1"]].concat()), "served-from-cache");
    // People read it in the report as well.
    let text = fathom(own.path(), &buffered).expect(0).out;
    assert!(text.contains("warning [served-from-cache]"), "{text}");
}

#[test]
fn large_asynchronous_writes_say_nothing_of_a_log() {
    let _alone = alone();
    let own = MemoryFilesystem::new(128 << 20);
    let job = ["--name=log", "--size=16m", "--rw=write"];
    let cure = named(&said(own.path(), &[&job[..], &["--bs=1m"]].concat()), "not-durable");
    assert!(cure.contains("--fsync=1"), "{cure}");
    gone(&said(own.path(), &[&job[..], &["--bs=16k", "--fsync=1"]].concat()), "not-durable");
}

#[test]
fn depth_was_beyond_the_knee() {
    let _alone = alone();
    let disk = MemoryDisk::new(64 << 20);
    let directory = disk.directory.path();
    let filename = format!("--filename={}", disk.device.device);
    let job = ["--name=read", &filename, "--direct=1", "--rw=randread", "--ioengine=io_uring"];
    let timed = [&job[..], &["--time_based", "--runtime=1"]].concat();
    let deep = said(directory, &[&timed[..], &["--iodepth=256"]].concat());
    let cure = named(&deep, "depth-beyond-knee");
    assert!(cure.contains("the depth of the application"), "{cure}");
    gone(&said(directory, &[&timed[..], &["--iodepth=1"]].concat()), "depth-beyond-knee");
}

#[test]
fn the_device_was_in_a_state_production_never_sees() {
    let _alone = alone();
    let disk = MemoryDisk::new(64 << 20);
    let directory = disk.directory.path();
    let filename = format!("--filename={}", disk.device.device);
    let read = ["--name=read", &filename, "--direct=1", "--rw=randread"];
    let cure = named(&said(directory, &read), "never-written");
    assert!(cure.contains("rw=write"), "{cure}");
    let fill = ["--name=fill", &filename, "--direct=1", "--rw=write", "--bs=1m"];
    fathom(directory, &fill).expect(0);
    gone(&said(directory, &read), "never-written");
}

#[test]
fn another_path_was_measured_than_the_one_in_use() {
    let _alone = alone();
    let own = MemoryFilesystem::new(128 << 20);
    let job = ["--name=read", "--size=16m", "--direct=1", "--rw=randread", "--filename"];
    let device = [&job[..], &[&own.disk.device.device]].concat();
    let file = [&job[..], &["data"]].concat();
    let raw = recorded(own.path(), 0, &device);
    let through = recorded(own.path(), 0, &file);
    let found = over_pair(&raw, &through);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].check, found[0].severity), ("env-changed", Severity::Warning));
    assert!(found[0].text.contains("ext4"), "{found:?}");
    let again = recorded(own.path(), 0, &file);
    assert_eq!(over_pair(&through, &again), []);
}

#[test]
fn processors_were_measured_instead_of_storage() {
    let _alone = alone();
    let disk = MemoryDisk::new(64 << 20);
    let directory = disk.directory.path();
    let filename = format!("--filename={}", disk.device.device);
    let job = ["--name=read", &filename, "--direct=1", "--rw=randread", "--time_based"];
    let timed = [&job[..], &["--runtime=1"]].concat();
    let crowd = [&timed[..], &["--cpus_allowed=0", "--numjobs=6"]].concat();
    // Before all others, so that nothing but the job itself starves it.
    let first = ["chrt", "--fifo", "1"];
    let cure = named(&said_by(&first, directory, &crowd), "cpu-starved");
    assert!(cure.contains("to 1 worker or fewer"), "{cure}");
    gone(&said_by(&first, directory, &timed), "cpu-starved");
}

#[test]
fn heat_changed_the_rules_in_the_middle() {
    let _alone = alone();
    let disk = MemoryDisk::new(64 << 20);
    let filename = format!("--filename={}", disk.device.device);
    let job = ["--name=read", &filename, "--direct=1", "--rw=randread"];
    let cool = recorded(disk.directory.path(), 0, &job);
    assert_eq!(findings(&cool, "throttled-hot"), []);
    // No disk here can be heated: what one says of itself before and after is put into the record.
    let health = |celsius, throttled| Health {
        temperature_c: Some(celsius),
        temperature_warning_c: Some(80),
        throttle_count: Some(throttled),
        ..Health::default()
    };
    let with = |after: Health| {
        let mut record = cool.clone();
        let name = disk.device.name().to_owned();
        record.facts.devices.get_mut(&name).unwrap().health = Some(health(58, 3));
        record.evidence.health_after.insert(name, after);
        record
    };
    let found = the_finding(&with(health(85, 9)), "throttled-hot");
    assert_eq!(found.severity, Severity::Warning);
    assert!(found.text.contains("throttled itself 6 times"), "{found:?}");
    assert!(found.remedy.to_string().starts_with("improve the cooling"), "{found:?}");
    assert_eq!(findings(&with(health(60, 3)), "throttled-hot"), []);
}

/// Random reads of a disk in a group that limits them.
fn throttled(disk: &MemoryDisk, throttle: &Throttle, options: &[&str]) -> Vec<Value> {
    let filename = format!("--filename={}", disk.device.device);
    let job = ["--name=read", &filename, "--direct=1", "--rw=randread", "--time_based"];
    let starter = throttle.starter();
    let starter: Vec<&str> = starter.iter().map(String::as_str).collect();
    said_by(&starter, disk.directory.path(), &[&job[..], options].concat())
}

#[test]
fn a_burst_was_measured_instead_of_what_lasts() {
    let _alone = alone();
    let (disk, throttle) = (MemoryDisk::new(64 << 20), Throttle::new());
    // Well below what the processors can do, so that it is the limit that changes.
    throttle.limit(&disk.number(), 5000);
    let before = disk.reads();
    let burst = std::thread::scope(|scope| {
        let run = scope.spawn(|| throttled(&disk, &throttle, &["--runtime=6"]));
        wait_until("the reads", || disk.reads() > before + 1000);
        std::thread::sleep(Duration::from_secs(2));
        throttle.limit(&disk.number(), 500);
        run.join().unwrap()
    });
    let cure = named(&burst, "not-steady");
    assert!(cure.contains("--ramp_time="), "{cure}");
    let settled = throttled(&disk, &throttle, &["--runtime=6", "--ramp_time=1"]);
    gone(&settled, "not-steady");
}

#[test]
fn identical_runs_gave_different_figures() {
    let _alone = alone();
    let (disk, throttle) = (MemoryDisk::new(64 << 20), Throttle::new());
    // So many under way that the disk has work while the worker is kept from giving it some.
    let deep = ["--ioengine=io_uring", "--iodepth=64"];
    let repeats = [&["--repeat=5", "--runtime=1", "--ramp_time=200ms"], &deep[..]].concat();
    let before = disk.reads();
    throttle.limit(&disk.number(), 2000);
    let varied = std::thread::scope(|scope| {
        let run = scope.spawn(|| throttled(&disk, &throttle, &repeats));
        // In the middle of them the disk loses most of what it gave.
        wait_until("the second run", || disk.reads() > before + 3000);
        throttle.limit(&disk.number(), 500);
        run.join().unwrap()
    });
    let cure = named(&varied, "runs-vary");
    assert!(!cure.is_empty());
    gone(&throttled(&disk, &throttle, &repeats), "runs-vary");
}
