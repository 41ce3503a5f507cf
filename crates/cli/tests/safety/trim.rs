//! `fathom trim`, from end to end: what a filesystem or device on a loop device is told to forget
//! shows as holes in the loop's file.

use crate::common::*;
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

/// `fathom trim ARGUMENTS` in a directory, the user's data there too.
#[track_caller]
fn trim(directory: &Path, arguments: &[&str]) -> Ran {
    let mut command = Command::new(FATHOM);
    command.arg("trim").args(arguments).current_dir(directory);
    run(command.env("XDG_DATA_HOME", directory.join("data")))
}

/// What it printed, in one line: where lines break depends on the length of paths.
fn said(ran: &Ran) -> String {
    joined(&ran.out)
}

/// Bytes that a file takes on its disk.
fn allocated(file: &Path) -> u64 {
    fs::metadata(file).unwrap().blocks() * 512
}

fn bytes(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("no number: {value}"))
}

const MIB: u64 = 1 << 20;

/// A filesystem on a loop device, of which so many MiB were written and deleted.
struct Used {
    mounted: Mounted,
    device: Loop,
}

impl Used {
    #[track_caller]
    fn new(directory: &Path, mkfs: &[&str], bytes: u64, mib: u64) -> Used {
        let device = loop_device(directory, bytes, &[]);
        system(mkfs[0], &[&mkfs[1..], &[&device.device]].concat());
        let mounted = Mounted::new(&["-o", "nodiscard"], &device.device, directory.join("mounted"));
        let used = Used { mounted, device };
        let file = used.mounted.path().join("file");
        let content: Vec<u8> = (0..MIB).map(|i| (i % 251) as u8).collect();
        let mut out = fs::File::create(&file).unwrap();
        (0..mib).for_each(|_| out.write_all(&content).unwrap());
        out.sync_all().unwrap();
        drop(out);
        fs::write(used.mounted.path().join("kept"), "kept").unwrap();
        let free = || {
            let now = rustix::fs::statvfs(used.mounted.path()).unwrap();
            now.f_bfree * now.f_frsize
        };
        let full = free();
        fs::remove_file(file).unwrap();
        if mkfs[0] == "mkfs.xfs" {
            // It frees what was deleted when it has time.
            wait_until("the deleted file's space is free", || free() >= full + mib * MIB);
        }
        system("sync", &["-f", used.mounted.path().to_str().unwrap()]);
        used
    }

    fn path(&self) -> &str {
        self.mounted.path().to_str().unwrap()
    }

    /// What its device's file takes.
    fn allocated(&self) -> u64 {
        system("sync", &["-f", self.device.file.to_str().unwrap()]);
        allocated(&self.device.file)
    }
}

/// What a dry run and a trim do to a filesystem, and whether it tells its free ranges.
#[track_caller]
fn trims(mkfs: &[&str], size: u64, tells_ranges: bool) {
    let _alone = alone();
    let directory = scratch();
    let at = directory.path();
    let used = Used::new(at, mkfs, size, 40);
    let before = used.allocated();
    assert!(before > 40 * MIB, "{before}");

    let dry = trim(at, &[used.path(), "--json"]).expect(0).json();
    assert_eq!((&dry["dry_run"], &dry["done"]), (&true.into(), &Value::Null));
    assert_eq!(used.allocated(), before, "a dry run discards nothing");
    let free = &dry["filesystem"]["free"];
    assert_eq!(!free.is_null(), tells_ranges, "{dry}");
    let unused = bytes(&dry["filesystem"]["unused_bytes"]);
    if tells_ranges {
        let (ranges, enough) = (bytes(&free["ranges"]), bytes(&free["bytes_enough"]));
        assert!(ranges > 0 && bytes(&free["ranges_enough"]) <= ranges, "{free}");
        // statvfs leaves out what the filesystem keeps for itself.
        assert!(enough >= 40 * MIB && enough.abs_diff(unused) < unused / 4, "{free} {unused}");
    }
    let layer = &dry["layers"][0];
    assert_eq!((&layer["name"], &layer["is_reached"]), (&used.device.name().into(), &true.into()));

    let ran = trim(at, &[used.path(), "--commit", "--json"]).expect(0);
    let done = ran.json()["done"].clone();
    let trimmed = bytes(&done["trimmed_bytes"]);
    assert!(trimmed >= 40 * MIB && trimmed <= size, "{trimmed}");
    assert!(bytes(&done["took_ns"]) > 0 && done["bytes_per_second"].as_f64() > Some(0.0));
    assert_eq!(done["sent"][0]["name"], used.device.name());
    let after = used.allocated();
    assert!(after + 30 * MIB < before, "{before} {after}");
    assert_eq!(fs::read_to_string(used.mounted.path().join("kept")).unwrap(), "kept");
    assert!(!at.join("data").exists(), "nothing ran, so there is no record");
}

#[test]
fn ext4_is_trimmed_when_told_to() {
    // Discards at mkfs would leave little to see.
    trims(&["mkfs.ext4", "-q", "-E", "nodiscard,lazy_itable_init=0"], 128 * MIB, true);
}

#[test]
fn xfs_is_trimmed_when_told_to() {
    trims(&["mkfs.xfs", "-q", "-K"], 320 * MIB, true);
}

#[test]
fn btrfs_is_trimmed_when_told_to() {
    trims(&["mkfs.btrfs", "-q", "-K"], 256 * MIB, false);
}

#[test]
fn a_part_is_trimmed_alone_and_a_second_time_there_is_nothing_left() {
    let _alone = alone();
    let directory = scratch();
    let at = directory.path();
    let used = Used::new(at, &["mkfs.ext4", "-q", "-E", "nodiscard"], 128 * MIB, 40);
    let whole = trim(at, &[used.path(), "--json"]).expect(0).json();
    let part = trim(at, &[used.path(), "--length=16m", "--json"]).expect(0).json();
    let free = |value: &Value| bytes(&value["filesystem"]["free"]["bytes"]);
    assert!(free(&part) <= 16 * MIB && free(&part) < free(&whole), "{part}");
    let large = trim(at, &[used.path(), "--minimum=1g", "--json"]).expect(0).json();
    assert_eq!(large["filesystem"]["free"]["ranges_enough"], 0);
    let ran = trim(at, &[used.path(), "--commit"]).expect(0);
    assert!(ran.out.contains("\nTrimmed ") && ran.out.contains(" discards of "), "{}", ran.out);
    let again = trim(at, &[used.path(), "--commit"]).expect(0);
    assert!(again.out.contains("\nTrimmed 0 B (0 bytes)"), "{}", again.out);
    let beyond = trim(at, &[used.path(), "--commit", "--offset=1t"]).expect(2);
    assert!(beyond.err.contains("--offset, --length or --minimum"), "{}", beyond.err);
}

#[test]
fn a_device_is_emptied_only_when_it_is_named_and_nobody_uses_it() {
    let _alone = alone();
    let directory = scratch();
    let at = directory.path();
    let device = loop_device(at, 32 * MIB, &[]);
    let name = device.device.as_str();
    system("mkfs.ext4", &["-q", "-E", "nodiscard", name]);
    let dry = trim(at, &[name]).expect(0);
    for part in ["holds ext4", "Dry run: nothing was discarded", &format!("--allow-destroy={name}")]
    {
        assert!(said(&dry).contains(part), "{}", dry.out);
    }
    let refused = trim(at, &[name, "--commit"]).expect(3);
    assert!(refused.err.contains(&format!("give --allow-destroy={name}")), "{}", refused.err);
    assert!(allocated(&device.file) > 0, "nothing was discarded");
    let other = trim(at, &[name, "--commit", "--allow-destroy=/dev/null"]).expect(3);
    assert!(other.out.is_empty(), "{}", other.out);
    let allowed = format!("--allow-destroy={name}");
    let mounted = Mounted::new(&[], name, at.join("mounted"));
    let dry = trim(at, &[name]).expect(0);
    let promised = said(&dry);
    let first = promised.find("unmount it first").unwrap_or_else(|| panic!("{promised}"));
    assert!(Some(first) < promised.find(&format!("--commit {allowed} destroys all data")));
    let ran = trim(at, &[name, "--commit", &allowed]).expect(3);
    assert!(
        ran.err.contains("is mounted at") && ran.err.contains("unmount it first"),
        "{}",
        ran.err
    );
    drop(mounted);
    // Where the filesystem was: it is not mounted any more.
    let mut file = fs::File::options().write(true).open(&device.file).unwrap();
    file.seek(SeekFrom::Start(16 * MIB)).unwrap();
    file.write_all(&vec![7; 8 * MIB as usize]).unwrap();
    file.sync_all().unwrap();
    assert!(allocated(&device.file) >= 8 * MIB);

    let part = [name, "--commit", &allowed, "--offset=16m", "--length=4m", "--no-record", "--json"];
    let value = trim(at, &part).expect(0).json();
    assert_eq!(value["done"]["trimmed_bytes"], 4 * MIB);
    let content = fs::read(&device.file).unwrap();
    let at_mib = |mib: u64| content[(mib * MIB) as usize];
    assert_eq!((at_mib(16), at_mib(19), at_mib(20)), (0, 0, 7), "that part and no other");
    let ran = trim(at, &[name, "--commit", &allowed, "--record=set.json"]).expect(0);
    assert!(ran.out.contains("Trimmed 32 MiB (33554432 bytes)"), "{}", ran.out);
    assert!(ran.out.contains("Its data is destroyed"), "{}", ran.out);
    assert_eq!(allocated(&device.file), 0);
    assert_eq!(formats::load_set(&at.join("set.json")).unwrap().kind, "trim");
}

#[test]
fn what_cannot_be_trimmed_says_what_lacks_it() {
    let _alone = alone();
    let directory = scratch();
    let at = directory.path();
    let memory = Mounted::new(&["-t", "tmpfs"], "tmpfs", at.join("memory"));
    for more in [&[][..], &["--commit"]] {
        let ran = trim(at, &[&[memory.path().to_str().unwrap()], more].concat()).expect(3);
        assert!(said(&ran).contains("tmpfs (at "), "{}", ran.out);
        assert!(said(&ran).contains("it is memory"), "{}", ran.out);
    }
    // Files in a ramfs have no holes, so a loop device over one takes no discards.
    let ramfs = Mounted::new(&["-t", "ramfs"], "ramfs", at.join("ramfs"));
    let plain = Loop::over(&ramfs.path().join("plain.img"), 32 * MIB, &[]);
    system("mkfs.ext4", &["-q", &plain.device]);
    let on_plain = Mounted::new(&[], &plain.device, at.join("plain"));
    for more in [&[][..], &["--commit"]] {
        let path = on_plain.path().to_str().unwrap();
        let value = trim(at, &[&[path, "--json"], more].concat()).expect(3).json();
        let obstacle = |name: &str| value["obstacle"][name].as_str().unwrap().to_owned();
        assert!(obstacle("reason").starts_with(plain.name()), "{value}");
        assert!(obstacle("reason").ends_with("does not support discards"), "{value}");
        assert!(obstacle("cure").contains("can punch holes"), "{value}");
    }
    drop(on_plain);
    let ran = trim(at, &[&plain.device]).expect(3);
    assert!(said(&ran).contains("It cannot be trimmed"), "{}", ran.out);

    let used = Used::new(at, &["mkfs.ext4", "-q", "-E", "nodiscard"], 64 * MIB, 8);
    system("mount", &["-o", "remount,ro", used.path()]);
    let ran = trim(at, &[used.path(), "--commit"]).expect(3);
    assert!(said(&ran).contains("is mounted read-only"), "{}", ran.out);
}

#[test]
fn writes_are_measured_on_both_sides_and_compared() {
    let _alone = alone();
    let directory = scratch();
    let at = directory.path();
    let used = Used::new(at, &["mkfs.ext4", "-q", "-E", "nodiscard"], 256 * MIB, 40);
    let options = [
        used.path(),
        "--commit",
        "--before-after",
        "--repeat=2",
        "--time=150ms",
        "--size=16m",
        "--seed=5",
        "--record=set.json",
    ];
    let ran = trim(at, &options).expect(0);
    for part in [
        "\nTrimmed ",
        "\nWrites before the trim (A) and after it (B)\n",
        "seqwrite",
        "randwrite",
        "After the trim seqwrite ",
        "After the trim randwrite ",
        "of the IOPS before (",
        "Record: set.json\nSeed:   5\n",
    ] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    assert_eq!(fs::read_dir(used.mounted.path()).unwrap().count(), 2, "lost+found and kept");
    let set = formats::load_set(&at.join("set.json")).unwrap();
    assert_eq!((set.kind.as_str(), set.runs.len()), ("trim", 1 + 2 * 2 * 2));
    let side = |run: &record::RunRecord| run.cell.as_ref().unwrap().at.first().cloned();
    let sides: Vec<_> = set.runs[1..].iter().map(|run| side(run).unwrap().value).collect();
    assert_eq!(sides, [["before"; 4], ["after"; 4]].concat());
    assert_eq!(set.runs[1].jobs[0].error, 0);
}

#[test]
fn a_device_is_written_before_and_after_it_was_emptied() {
    let _alone = alone();
    let directory = scratch();
    let at = directory.path();
    let device = loop_device(at, 24 * MIB, &[]);
    let name = device.device.as_str();
    let allowed = format!("--allow-destroy={name}");
    let options = ["--before-after", "--repeat=2", "--time=60ms", "--json", "--no-record"];
    let value = trim(at, &[&[name, "--commit", &allowed][..], &options].concat()).expect(0).json();
    assert_eq!(value["done"]["trimmed_bytes"], 24 * MIB);
    let jobs = value["comparison"]["jobs"].as_array().unwrap();
    assert_eq!(jobs.len(), 2);
    assert_eq!(jobs[0]["runs"], serde_json::json!({ "before": 2, "after": 2 }));
}

#[test]
fn a_signal_before_the_trim_leaves_it_undone_and_no_file() {
    let _alone = alone();
    let directory = scratch();
    let at = directory.path();
    let used = Used::new(at, &["mkfs.ext4", "-q", "-E", "nodiscard"], 256 * MIB, 40);
    let before = used.allocated();
    let more = ["--commit", "--before-after", "--time=20", "--size=16m", "--record=set.json"];
    let running = Running::fathom("trim", at, &[&[used.path()][..], &more].concat());
    let file = || {
        let mut entries = fs::read_dir(used.mounted.path()).unwrap();
        entries.any(|entry| {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            name.starts_with("fathom-trim-") && entry.metadata().is_ok_and(|m| m.len() > 0)
        })
    };
    wait_until("the file", file);
    running.signal(Signal::INT);
    let ran = running.end().expect(130);
    assert!(
        ran.out.contains("Nothing was trimmed.") && !ran.out.contains("Trimmed "),
        "{}",
        ran.out
    );
    assert_eq!(fs::read_dir(used.mounted.path()).unwrap().count(), 2, "lost+found and kept");
    assert!(used.allocated() + MIB > before);
}

#[test]
fn what_does_not_suit_is_refused() {
    let _alone = alone();
    let directory = scratch();
    let at = directory.path();
    let device = loop_device(at, 8 * MIB, &[]);
    let name = device.device.as_str();
    let cases: [(&[&str], i32, &str); 10] = [
        (&[], 2, "PATH|DEVICE"),
        (&["nowhere"], 2, "not there; name a path"),
        (&["/dev/null"], 3, "nor a block device that /sys lists"),
        (&[".", "--before-after"], 2, "--commit"),
        (&[".", "--length=lots"], 2, "expected a size such as"),
        (&[".", "--length=0"], 2, "--length: must be more than 0 bytes"),
        (&[".", "--repeat=3"], 2, "--before-after"),
        (&[name, "--minimum=4k"], 2, "--minimum: a device has no free ranges"),
        (&[name, "--offset=1"], 2, "give multiples of it"),
        (&[name, "--length=1g"], 2, "exceed the 8388608 bytes of"),
    ];
    for (arguments, code, text) in cases {
        let ran = trim(at, arguments).expect(code);
        assert!(ran.err.contains(text) && ran.out.is_empty(), "{arguments:?}: {}", ran.err);
    }
}

#[test]
fn only_root_may_trim() {
    let _alone = alone();
    let directory = scratch();
    let used = Used::new(directory.path(), &["mkfs.ext4", "-q", "-E", "nodiscard"], 64 * MIB, 8);
    let before = used.allocated();
    let mut command = Command::new("setpriv");
    command.args(["--bounding-set=-sys_admin", "--inh-caps=-all", FATHOM, "trim", used.path()]);
    let ran = run(command.arg("--commit")).expect(3);
    assert!(ran.err.contains("only root may trim"), "{}", ran.err);
    assert!(used.allocated() + MIB > before);
}
