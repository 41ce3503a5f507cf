//! `fathom watch` as lines and as a log: its counters against a load, replays of a log, error messages.

use crate::common::{
    FATHOM, Loop, MemoryDisk, Mounted, Running, alone, fathom, run, scratch, system, wait_until,
};
use record::RunRecord;
use rustix::process::Signal;
use serde_json::Value;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

fn watch(arguments: &[&str]) -> crate::common::Ran {
    run(Command::new(FATHOM).arg("watch").args(arguments))
}

/// A running `fathom watch` whose log has its first entry.
fn watching(directory: &Path, log: &Path, arguments: &[&str]) -> Running {
    let log = log.to_str().unwrap();
    let running = Running::fathom(
        "watch",
        directory,
        &[&["--interval=100ms", "--log", log], arguments].concat(),
    );
    wait_until("the first look", || looks(log).len() > 1);
    running
}

/// The entries of a log that are whole, by their kind.
fn entries(log: &str, kind: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let values = whole.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    values.filter_map(|mut value| value.get_mut(kind).map(Value::take)).collect()
}

fn looks(log: &str) -> Vec<Value> {
    entries(log, "sample")
}

/// A counter of a disk in a look.
fn counter(look: &Value, disk: &str, field: &str) -> u64 {
    look["sample"]["disks"][disk][field]
        .as_u64()
        .unwrap_or_else(|| panic!("{disk} {field}: {look}"))
}

/// So many random reads of 4 KiB of a device, with the page cache left out.
fn read(disk: &MemoryDisk, count: u64) -> RunRecord {
    let record = disk.directory.path().join("load.json");
    let device = &disk.device.device;
    let arguments = [
        format!("--record={}", record.display()),
        format!("--filename={device}"),
        format!("--number_ios={count}"),
        "--name=load --rw=randread --bs=4k --direct=1 --size=16m --norandommap".into(),
    ];
    let words: Vec<&str> = arguments.iter().flat_map(|words| words.split(' ')).collect();
    fathom(disk.directory.path(), &words).expect(0);
    formats::load(&record).unwrap()
}

#[test]
fn what_is_counted_is_what_the_load_did() {
    const READS: u64 = 3000;
    let _alone = alone();
    let disk = MemoryDisk::new(16 << 20);
    let (name, log) = (disk.device.name(), disk.directory.path().join("log"));
    let watching = watching(disk.directory.path(), &log, &["--json", &disk.device.device]);
    let log = log.to_str().unwrap();
    // A reader of new devices (udev) may read between the first look and this.
    let before = counter(&looks(log)[0], name, "read_ios");
    let record = read(&disk, READS);
    let read = disk.reads() - before;
    let load: u64 = record.jobs.iter().map(|job| job.results.read.ios).sum();
    assert_eq!(load, READS);
    wait_until("the load in the log", || {
        let looks = looks(log);
        counter(&looks[looks.len() - 1], name, "read_ios") == disk.reads()
    });
    let seen = looks(log).len();
    wait_until("the interval of that look", || watching.said("out").lines().count() + 1 >= seen);
    watching.signal(Signal::INT);
    let ran = watching.end().expect(130);

    let looks = looks(log);
    let of = |at: usize, field| counter(&looks[at], name, field);
    let logged = of(looks.len() - 1, "read_ios") - of(0, "read_ios");
    let shown: Vec<Value> =
        ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let sum = |field: &str| -> u64 {
        shown.iter().map(|line| line["disks"][name]["counted"][field].as_u64().unwrap()).sum()
    };
    // The load looks at the device before it reads; the device counts that too.
    assert!(logged >= READS && logged - READS < 100, "{logged}");
    assert_eq!((logged, sum("read_ios")), (read, read));
    assert_eq!(sum("read_bytes"), of(looks.len() - 1, "read_bytes") - of(0, "read_bytes"));
    for line in &shown {
        let (seconds, disk) = (line["seconds"].as_f64().unwrap(), &line["disks"][name]);
        let rate = disk["counted"]["read_ios"].as_f64().unwrap() / seconds;
        assert!((disk["reads_per_second"].as_f64().unwrap() - rate).abs() < 1e-6);
        assert!((0.0..=100.0).contains(&disk["busy_percent"].as_f64().unwrap()));
        let cpu = &line["cpu"];
        let kinds = ["user", "system", "irq", "softirq", "steal", "iowait", "idle"];
        let all: f64 = kinds.iter().map(|kind| cpu[kind].as_f64().unwrap()).sum();
        assert!((all - 100.0).abs() < 1e-6, "{cpu}");
        assert!(line["paging"]["in_bytes_per_second"].is_f64());
    }
    shows_it_again(log, name, logged);
}

#[test]
fn layers_and_processes_are_those_of_the_load() {
    const READS: u64 = 3000;
    let _alone = alone();
    let disk = MemoryDisk::new(16 << 20);
    let (name, log) = (disk.device.name(), disk.directory.path().join("log"));
    let watching = watching(disk.directory.path(), &log, &["--layers", &disk.device.device]);
    let log = log.to_str().unwrap();
    read(&disk, READS);
    let process = |look: &Value| -> Option<(u64, u64)> {
        let processes = look["sample"]["layers"]["processes"].as_array()?;
        let found = processes.iter().find(|process| process["name"] == "fathom")?;
        Some((found["requests"].as_u64()?, found["device_time"].as_u64()?))
    };
    // The kernel skips a program that interrupts itself now and then.
    wait_until("the load in the log", || {
        let (requests, _) = process(looks(log).last().unwrap()).unwrap_or_default();
        requests > READS * 98 / 100
    });
    watching.signal(Signal::INT);
    let out = watching.end().expect(130).out;
    let (_, device_time) = process(looks(log).last().unwrap()).unwrap();
    let last = looks(log).pop().unwrap();
    let paths = last["sample"]["layers"]["paths"].as_array().unwrap();
    let reads = paths.iter().find(|path| path["direction"] == "read").unwrap();
    assert_eq!(reads["device"], name, "{reads}");
    assert!(reads["ios"].as_u64().unwrap() > READS * 98 / 100, "{reads}");
    // Some requests are of readers of new devices.
    assert!(reads["spans"]["device"].as_u64().unwrap() >= device_time, "{reads} {device_time}");
    let line = format!(" {name}:read ");
    assert!(out.contains(&line) && out.contains(&format!(" {name}:fathom ")), "{out}");
}

/// A log as lines: the rates add up to what was counted.
fn shows_it_again(log: &str, name: &str, logged: u64) {
    let ran = watch(&["--replay", log]).expect(0);
    assert!(ran.out.starts_with(&format!("# {name}")), "{}", ran.out);
    let looks = looks(log);
    let mut seconds = looks.windows(2).map(|two| {
        let at = |look: &Value| look["sample"]["at"].as_f64().unwrap() / 1e9;
        at(&two[1]) - at(&two[0])
    });
    let mut reads = 0.0;
    let figures = ran.out.lines().filter(|line| !line.starts_with('#'));
    for line in figures.filter(|line| line.split_whitespace().nth(1) == Some(name)) {
        let rate: f64 = line.split_whitespace().nth(2).unwrap().parse().unwrap();
        reads += rate * seconds.next().unwrap();
    }
    assert_eq!(seconds.next(), None, "a line an interval");
    // Rates are rounded to 0.1.
    assert!((reads - logged as f64).abs() < looks.len() as f64, "{reads} of {logged}");
    assert_eq!(watch(&["--replay", log, "--count=1", "--json"]).expect(0).out.lines().count(), 1);
}

#[test]
fn a_log_is_gone_on_with_and_a_line_cut_off_costs_itself() {
    let directory = scratch();
    let log = directory.path().join("log");
    let log = log.to_str().unwrap();
    let once = ["--interval=100ms", "--count=2", "--log", log];
    watch(&once).expect(0);
    let mut file = std::fs::OpenOptions::new().append(true).open(log).unwrap();
    file.write_all(b"{\"sample\":{\"unix_ms\":5,\"sam").unwrap();
    watch(&once).expect(0);
    let text = std::fs::read_to_string(log).unwrap();
    let starts = text.lines().filter(|line| line.starts_with("{\"watch\"")).count();
    assert_eq!(starts, 2);
    let ran = watch(&["--replay", log]).expect(0);
    assert_eq!(ran.out.lines().filter(|line| line.contains(" cpu ")).count(), 4);
    assert!(ran.err.contains("1 line is cut off"), "{}", ran.err);
}

#[test]
fn every_leg_of_a_filesystem_that_mirrors_is_shown_with_its_share() {
    let _alone = alone();
    let directory = scratch();
    let path = |name: &str| directory.path().join(name);
    let legs = ["one", "two"].map(|name| Loop::over(&path(name), 128 << 20, &[]));
    let [one, two] = &legs;
    system("mkfs.btrfs", &["-q", "-d", "raid1", "-m", "raid1", &one.device, &two.device]);
    let mounted = Mounted::new(&[], &one.device, path("mounted"));
    let file = mounted.path().join("data");
    std::fs::write(&file, vec![7; 8 << 20]).unwrap();
    let shown = path("log");
    let watching = watching(directory.path(), &shown, &["--json", file.to_str().unwrap()]);
    let image = std::fs::File::open(&file).unwrap();
    image.sync_all().unwrap();
    rustix::fs::fadvise(&image, 0, None, rustix::fs::Advice::DontNeed).unwrap();
    assert_eq!(std::fs::read(&file).unwrap().len(), 8 << 20);
    let with_shares = |line: &&str| line.contains("\"share_of_reads_percent\":{\"loop");
    wait_until("reads of a leg", || watching.said("out").lines().any(|line| with_shares(&line)));
    watching.signal(Signal::TERM);
    let ran = watching.end().expect(143);
    let line: Value = serde_json::from_str(ran.out.lines().find(with_shares).unwrap()).unwrap();
    let shares = [one, two].map(|leg| line["share_of_reads_percent"][leg.name()].as_f64().unwrap());
    assert!((shares[0] + shares[1] - 100.0).abs() < 1e-6, "{shares:?}");
}

#[test]
fn legs_that_are_added_under_a_path_are_followed() {
    let _alone = alone();
    let directory = scratch();
    let path = |name: &str| directory.path().join(name);
    let legs = ["one", "two"].map(|name| Loop::over(&path(name), 128 << 20, &[]));
    let [one, two] = &legs;
    system("mkfs.btrfs", &["-q", &one.device]);
    let mounted = Mounted::new(&[], &one.device, path("mounted"));
    let (log, under) = (path("log"), mounted.path().to_str().unwrap());
    let watching = watching(directory.path(), &log, &["--plain", under]);
    let log = log.to_str().unwrap();
    let tops = || entries(log, "stack").pop().map(|stack| stack["tops"].to_string());
    let quoted = |leg: &Loop| format!("\"{}\"", leg.name());
    wait_until("the first leg", || tops() == Some(format!("[{}]", quoted(one))));
    system("btrfs", &["device", "add", &two.device, under]);
    wait_until("the leg that was added", || tops().is_some_and(|t| t.contains(&quoted(two))));
    system("btrfs", &["device", "remove", &two.device, under]);
    wait_until("the leg gone", || tops() == Some(format!("[{}]", quoted(one))));
    watching.signal(Signal::TERM);
    watching.end().expect(143);
}

#[test]
fn disks_that_come_while_all_are_watched_are_shown() {
    let _alone = alone();
    let directory = scratch();
    let log = directory.path().join("log");
    let watching = watching(directory.path(), &log, &["--plain"]);
    let log = log.to_str().unwrap();
    let disk = MemoryDisk::new(1 << 20);
    let name = disk.device.name().to_owned();
    let mut watching = watching;
    watching.says("out", &format!(" {name} "));
    drop(disk);
    let last_stack = || entries(log, "stack").pop().unwrap()["devices"].clone();
    wait_until("the device gone", || last_stack().get(&name).is_none());
    watching.signal(Signal::HUP);
    watching.end().expect(129);
}

#[test]
fn mistakes_are_told_before_anything_is_done() {
    let directory = scratch();
    let foreign = directory.path().join("foreign");
    std::fs::write(&foreign, "not a log\n").unwrap();
    let newer = directory.path().join("newer");
    std::fs::write(&newer, "{\"watch\":{\"schema\":99,\"fathom_version\":\"9.9\"}}\n").unwrap();
    let [foreign, newer, here] =
        [&foreign, &newer, directory.path()].map(|path| path.to_str().unwrap());
    let lost = format!("{here}/no/log");
    for (arguments, told) in [
        (vec!["/no/such/place"], "not there; make it first, or watch /, the nearest"),
        (vec!["--interval=50ms"], "100ms or more"),
        (vec!["--interval=soon"], "a time such as 1s"),
        (vec!["--count=0"], "0 is not in"),
        (vec!["--plain", "--json"], "cannot be used with"),
        (vec!["--replay", foreign, "/"], "cannot be used with"),
        (vec!["--replay", foreign], "not a log of 'fathom watch'"),
        (vec!["--replay", newer], "newer fathom (9.9)"),
        (vec!["--replay", &lost], "No such file"),
        (vec!["--replay", here], "directory"),
        (vec!["--log", foreign], "nothing was written"),
        (vec!["--log", newer], "newer fathom"),
        (vec!["--log", &lost], "No such file"),
        (vec!["--log", here], "directory"),
    ] {
        let ran = watch(&[&arguments[..], &["--count=1"][..]].concat()[..]);
        let ran = if arguments[0] == "--count=0" { watch(&arguments) } else { ran };
        assert!(ran.err.contains(told), "{arguments:?}: {ran:?}");
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{arguments:?}");
    }
    assert_eq!(std::fs::read_to_string(foreign).unwrap(), "not a log\n");
}

#[test]
fn a_log_that_cannot_be_written_ends_it_and_a_reader_that_leaves_does_too() {
    let ran = watch(&["--interval=100ms", "--log", "/dev/full"]).expect(1);
    assert!(ran.err.contains("'/dev/full'; the log ends here: No space left"), "{}", ran.err);
    let mut child = Command::new(FATHOM)
        .args(["watch", "--interval=100ms", "--plain", "--per-cpu"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut status = None;
    wait_until("the end without a reader", || {
        status = child.try_wait().unwrap();
        status.is_some()
    });
    assert_eq!(status.unwrap().code(), Some(0));
}

#[test]
fn what_lies_on_no_disk_is_watched_all_the_same() {
    let ran = watch(&["--interval=100ms", "--count=2", "/proc"]).expect(0);
    let kinds: Vec<&str> = ran
        .out
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split_whitespace().nth(1).unwrap())
        .collect();
    assert_eq!(&kinds[..2], ["cpu", "memory"]);
    assert!(kinds.iter().all(|kind| ["cpu", "memory", "paging", "pressure"].contains(kind)));
}

/// A job that runs for ten seconds in a directory of its own, and its process id.
fn job_in(directory: &Path, options: &[&str]) -> std::process::Child {
    let words = ["run", "--name=a", "--size=16m", "--direct=1", "--rw=randread", "--no-archive"];
    let time = ["--time_based", "--runtime=10", "--bs=16k"];
    let mut command = Command::new(FATHOM);
    command.args(words).args(time).args(options).current_dir(directory);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

#[test]
fn what_an_application_has_in_flight_is_seen_from_outside() {
    let _alone = alone();
    let directory = scratch();
    for (options, job) in [
        (["--ioengine=psync", "--numjobs=4"], "--ioengine=psync --numjobs="),
        (["--ioengine=io_uring", "--iodepth=16"], "--ioengine=io_uring --iodepth="),
    ] {
        let mut child = job_in(directory.path(), &options);
        // Once the file is laid out.
        std::thread::sleep(std::time::Duration::from_secs(1));
        let pid = format!("--pid={}", child.id());
        let ran = watch(&["--plain", &pid, "--interval=500ms", "--count=4"]).expect(0);
        let json = watch(&["--json", &pid, "--interval=500ms", "--count=2"]).expect(0);
        child.kill().unwrap();
        child.wait().unwrap();
        let line = ran.out.lines().find(|line| line.contains(" app ")).expect("a line");
        assert!(line.contains("in_flight "), "{line}");
        let job = ran.out.lines().find_map(|line| line.split_once(job)).expect(&ran.out).1;
        let depth: u32 = job.split_whitespace().next().unwrap().parse().unwrap();
        assert!((1..=16).contains(&depth), "{}", ran.out);
        assert!(job.contains("--rwmixread=100"), "{}", ran.out);
        assert!(ran.out.contains("# not known without tracing: the order"), "{}", ran.out);
        let last: Value = serde_json::from_str(json.out.lines().last().unwrap()).unwrap();
        let application = &last["application"];
        assert!(application["in_flight"].as_f64().unwrap() > 0.0, "{application}");
        assert!(application["read_bytes_per_second"].as_f64().unwrap() > 0.0, "{application}");
        if options[0].contains("psync") {
            assert!(job.contains("--bs=16384"), "the calls of its threads: {}", ran.out);
            assert_eq!(application["waits"][0]["what"], "read");
        }
    }
}

#[test]
fn an_application_that_is_not_there_is_refused() {
    let ran = watch(&["--plain", "--pid=4194304"]).expect(2);
    assert!(ran.err.contains("process 4194304 does not exist"), "{}", ran.err);
    let ran = watch(&["--plain", "--cgroup=no/such/group"]).expect(2);
    assert!(ran.err.contains("/sys/fs/cgroup/no/such/group: no process"), "{}", ran.err);
    watch(&["--pid=1", "--cgroup=x"]).expect(2);
}
