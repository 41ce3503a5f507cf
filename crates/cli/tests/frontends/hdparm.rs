//! `fathom hdparm`: its two timings on files and devices of the test's own.

use crate::common::*;
use record::Nanos;
use rustix::process::Signal;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// Debian's hdparm, the oracle.
const HDPARM: &str = "/usr/sbin/hdparm";

/// `fathom hdparm ARGUMENTS` in a directory.
#[track_caller]
fn hdparm(at: &Path, arguments: &str) -> Ran {
    run(Command::new(FATHOM).arg("hdparm").args(arguments.split(' ')).current_dir(at))
}

/// A line without its figures.
fn shape(line: &str) -> String {
    line.chars().filter(|c| !c.is_ascii_digit() && *c != ' ' && *c != '.').collect()
}

/// hdparm's lines of an output.
fn timings(out: &str) -> Vec<&str> {
    out.lines().filter(|line| line.starts_with(" Timing ")).collect()
}

#[test]
fn both_timings_of_a_file() {
    let directory = scratch();
    let at = directory.path();
    fs::write(at.join("file"), vec![7; (16 << 20) + 5]).unwrap();
    let before = fs::metadata(at.join("file")).unwrap().modified().unwrap();
    let ran = hdparm(at, "-tT --no-wait --record=r.json file").expect(0);
    assert!(ran.out.starts_with("\nfile:\n Timing cached reads:   "), "{}", ran.out);
    let [cached, device] = timings(&ran.out)[..] else { panic!("{}", ran.out) };
    assert!(cached.contains(" MB in  2.0") && cached.ends_with(" MB/sec"), "{cached}");
    assert!(device.starts_with(" Timing buffered disk reads:  16 MB in "), "{device}");
    assert!(ran.out.contains("8 reads of 2 MiB: median "), "{}", ran.out);
    let set = formats::load_set(&at.join("r.json")).unwrap();
    let [cached, device] = &set.runs[..] else { panic!("{}", set.runs.len()) };
    assert_eq!(cached.cell.as_ref().unwrap().name, "cached-reads");
    assert_eq!(device.jobs[0].results.read.bytes.0, 16 << 20);
    // The same 2 MiB, and more than once.
    assert_eq!(cached.jobs[0].workload.region.0, 2 << 20);
    assert!(cached.jobs[0].results.read.bytes.0 > 2 << 20);
    assert_eq!(fs::metadata(at.join("file")).unwrap().modified().unwrap(), before);
    assert_eq!(fs::metadata(at.join("file")).unwrap().len(), (16 << 20) + 5);
}

#[test]
fn what_was_cached_and_dropped_is_not_said_to_have_been_read() {
    let directory = scratch();
    let at = directory.path();
    fs::write(at.join("file"), vec![7; 4 << 20]).unwrap();
    fs::File::open(at.join("file")).unwrap().sync_all().unwrap();
    fs::read(at.join("file")).unwrap();
    let ran = hdparm(at, "-t --offset 0 --no-wait file").expect(0);
    let told = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("held 4 MiB of 4 MiB, dropped before the first I/O"), "{told}");
    assert!(told.contains("buffered disk reads (offset 0 GB): 4 MB in"), "{told}");
}

#[test]
fn what_is_read_in_before_the_first_read_is_held() {
    let directory = scratch();
    let at = directory.path();
    let file = fs::File::create(at.join("file")).unwrap();
    file.set_len(16 << 20).unwrap();
    let ran = hdparm(at, "-T file").expect(0);
    let told = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("held 2 MiB of 16 MiB, read into it before the first I/O"), "{told}");
}

#[test]
fn a_device_is_read_directly_after_a_rest() {
    let disk = MemoryDisk::new(8 << 20);
    let device = &disk.device.device;
    let at = disk.directory.path();
    let ran = hdparm(at, &format!("-t --direct --record=r.json {device}")).expect(0);
    let line = timings(&ran.out)[0];
    assert!(line.starts_with(" Timing O_DIRECT disk reads:   8 MB in "), "{line}");
    let set = formats::load_set(&at.join("r.json")).unwrap();
    assert!(set.runs[0].jobs[0].started >= Nanos(3_000_000_000), "hdparm rests before it reads");
    assert!(set.runs[0].jobs[0].workload.direct);
    let oracle = run(Command::new(HDPARM).args(["-t", "--direct", device])).expect(0);
    assert_eq!(shape(timings(&oracle.out)[0]), shape(line));
}

#[test]
fn a_signal_ends_it_and_what_was_timed_is_kept() {
    let directory = scratch();
    let at = directory.path();
    fs::write(at.join("file"), vec![7; 4 << 20]).unwrap();
    for (signal, code) in [(Signal::INT, 130), (Signal::HUP, 129)] {
        // The second is under way, or rests before it begins, for 3 s at least.
        let mut running = Running::fathom("hdparm", at, &["-t", "--record=r", "file", "file"]);
        running.says("out", " MB in ");
        running.signal(signal);
        let ran = running.end().expect(code);
        assert!(!timings(&ran.out).is_empty(), "{}", ran.out);
        let kept = formats::load_set(&at.join("r")).unwrap();
        assert_eq!(kept.runs[0].jobs[0].results.read.bytes.0, 4 << 20);
        fs::remove_file(at.join("r")).unwrap();
    }
}

#[test]
fn its_own_name_is_enough() {
    let help = run(Command::new(FATHOM).arg0("hdparm").arg("--help")).expect(0);
    assert!(help.out.starts_with("usage: fathom hdparm "), "{}", help.out);
}

#[test]
fn mistakes_are_named_before_anything_is_timed() {
    let directory = scratch();
    let at = directory.path();
    fs::write(at.join("small"), "x").unwrap();
    fs::write(at.join("file"), vec![7; 4 << 20]).unwrap();
    for (arguments, code, word) in [
        ("-t", 2, "DEVICE"),
        ("file", 2, "-t -T"),
        ("-I file", 2, "fathom inspect"),
        ("-t --offset much file", 2, "--offset"),
        ("-t --offset 1 file", 3, "--offset 1"),
        ("-t gone", 3, "gone"),
        ("-t ", 2, "a name is empty"),
        ("-t file gone", 3, "gone"),
        ("-t .", 3, "directory"),
        ("-t small", 3, "2 MiB"),
        ("-t --record=gone/r.json file", 2, "gone/r.json"),
    ] {
        let ran = hdparm(at, arguments).expect(code);
        assert!(ran.err.contains(word) && ran.out.is_empty(), "{arguments}: {ran:?}");
    }
    assert_eq!(fs::read_dir(at).unwrap().count(), 2);
}
