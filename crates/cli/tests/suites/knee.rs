//! `fathom knee`, from end to end.

use crate::common::*;
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

/// `fathom knee ARGUMENTS` in a directory, the user's data there too.
#[track_caller]
fn knee(directory: &Path, arguments: &[&str]) -> Ran {
    let mut command = Command::new(FATHOM);
    command.arg("knee").args(arguments).current_dir(directory);
    run(command.env(ARCHIVE, directory.join("archive.db")))
}

/// Options of a short run.
const SHORT: [&str; 4] = ["--size=32m", "--time=60ms", "--repeat=2", "--depths=1,2,4..16"];

fn depths(value: &Value) -> Vec<u64> {
    let curve = value["curve"].as_array().unwrap();
    curve.iter().map(|row| row["iodepth"].as_u64().unwrap()).collect()
}

#[test]
fn a_curve_is_measured_told_and_kept_and_its_job_is_one_for_fio_too() {
    let directory = scratch();
    let at = directory.path();
    fs::create_dir(at.join("a b:c")).unwrap();
    let place = [&["a b:c", "--write-job=at.fio", "--seed=7"][..], &SHORT].concat();
    let ran = knee(at, &place).expect(0);
    assert!(ran.err.is_empty(), "nothing but the report where nobody watches: {}", ran.err);
    assert_eq!(names(&at.join("a b:c")), [] as [&str; 0], "the file is gone");
    let wide = |line: &&str| line.chars().count() > 80 && !line.starts_with("Record: ");
    assert_eq!(ran.out.lines().find(wide), None);
    for part in
        ["depth       IOPS", " knee", " use\n", "\nUse iodepth=", "\nJob:    at.fio\nSeed:   7\n"]
    {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    let kept = ran.out.lines().find_map(|line| line.strip_prefix("Runs:   ")).unwrap();
    let archive = archive::Location::explicit(at.join("archive.db"));
    let archive = archive::Archive::open_existing(&archive).unwrap();
    let set = archive.load_named(kept.split(' ').next().unwrap()).unwrap();
    assert_eq!((set.kind.as_str(), set.seed, set.runs.len()), ("knee", 7, 1 + 2 * 5));
    let cell = set.runs[1].cell.as_ref().unwrap();
    assert_eq!((cell.at[0].dimension.as_str(), cell.at.len()), ("iodepth", 1));
    let shown = report::suite::knee(&suite::curve::conclude(&set, &[]), &Default::default());
    assert!(ran.out.starts_with(&shown), "a kept set shows the same again: {shown}");

    let job = fs::read_to_string(at.join("at.fio")).unwrap();
    assert!(job.contains("# Use iodepth="), "{job}");
    fio(at, &["--parse-only", "at.fio"]).expect(0);
    fathom(at, &["--parse-only", "at.fio"]).expect(0);
    // The job file runs in fio unchanged: options after it would start another job.
    let short = job.replace("runtime=30s", "runtime=1s").replace("ramp_time=2s", "ramp_time=0");
    fs::write(at.join("short.fio"), short).unwrap();
    fio(at, &["short.fio"]).expect(0);
    assert_eq!(fs::metadata(at.join("a b:c/fathom-knee.data")).unwrap().len(), 32 << 20);
    let ran = fathom(at, &["--output-format=json", "short.fio"]).expect(0);
    assert!(ran.json()["jobs"][0]["read"]["total_ios"].as_u64() > Some(0));
    let again = knee(at, &place).expect(2);
    assert!(again.err.contains("at.fio: already exists"), "{}", again.err);
    assert_eq!(fs::read_to_string(at.join("at.fio")).unwrap(), job);
}

#[test]
fn depths_between_are_measured_where_nobody_names_any() {
    let directory = scratch();
    let options = ["--size=16m", "--time=20ms", "--repeat=1", "--no-record", "--json"];
    let value = knee(directory.path(), &options).expect(0).json();
    let depths = depths(&value);
    assert!([1, 2, 4, 8, 16, 32, 64, 128, 256].iter().all(|depth| depths.contains(depth)));
    let knee = value["knee"]["iodepth"].as_u64().unwrap();
    assert!(depths.contains(&knee) && value["use"] == knee, "{value}");
    // Depths 1 and 2 have nothing between them.
    assert!(depths.len() > 9 || knee == 1, "{depths:?}");
    assert_eq!((&value["is_scratch"], &value["rw"]), (&true.into(), &"randread".into()));
}

#[test]
fn a_bound_chooses_the_deepest_depth_or_fails_with_its_own_code() {
    let directory = scratch();
    let at = directory.path();
    let wide = [&["--p99=1000s", "--mean=1000s", "--json", "--no-record"][..], &SHORT].concat();
    let value = knee(at, &wide).expect(0).json();
    assert_eq!((&value["use"], &value["bounds"][1]["deepest"]), (&16.into(), &16.into()));
    let narrow = [&["--p99.9=1ns", "--write-job=none.fio", "--no-record"][..], &SHORT].concat();
    let ran = knee(at, &narrow).expect(4);
    assert!(ran.out.contains("\nNo depth keeps to p99.9 <= 1 ns."), "{}", ran.out);
    assert!(ran.out.contains("is not met at any depth: at depth 1 it is "), "{}", ran.out);
    assert_eq!(names(at), [] as [&str; 0], "no job where no depth was found");
}

#[test]
fn devices_are_read_and_only_overwritten_when_named() {
    let _alone = alone();
    let directory = scratch();
    let at = directory.path();
    let device = loop_device(at, 32 << 20, &[]);
    let name = device.device.as_str();
    system("mkfs.ext4", &["-q", name]);
    let before = fs::read(&device.file).unwrap();
    let short = ["--time=40ms", "--repeat=1", "--depths=1,4", "--no-record", "--json"];
    let value = knee(at, &[&[name][..], &short].concat()).expect(0).json();
    assert_eq!((&value["path"], &value["is_scratch"]), (&name.into(), &false.into()));
    assert_eq!((&value["size_bytes"], depths(&value)), (&(32 << 20).into(), vec![1, 4]));
    for rw in ["randwrite", "write", "randrw"] {
        let rw = format!("--rw={rw}");
        let ran = knee(at, &[&[name, &rw][..], &short].concat()).expect(3);
        assert!(ran.err.contains(&format!("give --allow-destroy={name}")), "{}", ran.err);
    }
    assert!(fs::read(&device.file).unwrap() == before, "nothing was written");
    let allowed = format!("--allow-destroy={name}");
    let options = [name, "--rw=write", "--bs=64k", "--threads=2", &allowed, "--write-job=w.fio"];
    let value = knee(at, &[&options[..], &short].concat()).expect(0).json();
    assert_eq!((&value["threads"], &value["size_bytes"]), (&2.into(), &(32 << 20).into()));
    assert!(fs::read(&device.file).unwrap() != before);
    let job = fs::read_to_string(at.join("w.fio")).unwrap();
    assert!(
        job.contains(&format!("filename={name}\n")) && job.contains("# It overwrites"),
        "{job}"
    );
    fio(at, &["--parse-only", "w.fio"]).expect(0);
}

#[test]
fn a_signal_leaves_no_file_and_what_was_measured() {
    let directory = scratch();
    let at = directory.path();
    let options =
        ["--size=16m", "--time=300ms", "--record=set.json", "--depths=1,2", "--repeat=90"];
    let running = Running::fathom("knee", at, &options);
    wait_until("the file", || {
        let file = names(at).into_iter().find(|name| name.starts_with("fathom-knee-"));
        file.is_some_and(|name| fs::metadata(at.join(name)).is_ok_and(|m| m.len() == 16 << 20))
    });
    running.signal(Signal::INT);
    let ran = running.end().expect(130);
    assert_eq!(names(at), ["set.json"]);
    assert!(ran.out.contains("\nEnded early by signal 2"), "{}", ran.out);
}

#[test]
fn what_does_not_suit_is_refused_before_anything_is_touched() {
    let directory = scratch();
    let at = directory.path();
    let small = Mounted::new(&["-t", "tmpfs", "-o", "size=32m"], "tmpfs", at.join("small"));
    fs::create_dir(at.join("a#b")).unwrap();
    let cases: [(&[&str], i32, &str); 16] = [
        (&["nowhere/at/all"], 2, "not there; make it first"),
        (&["/dev/null"], 3, "neither a directory nor a file"),
        (&[small.path().to_str().unwrap()], 3, "at most a tenth"),
        (&["--size=1k"], 2, "are too few"),
        (&["--rw=trim"], 2, "possible values"),
        (&["--depths=4,x"], 2, "--depths: expected depths from 1"),
        (&["--depths=8..2"], 2, "does not rise"),
        (&["--p99=2"], 2, "a time with its unit"),
        (&["--bs=64m", "--size=32m"], 2, "do not fit"),
        (&["--bs=0", "--size=32m"], 2, "--bs: must be at least one byte"),
        (&["--bs=3000", "--size=32m"], 2, "--bs: 3000 is not a multiple of 512"),
        (&["--write-job=no/where.fio"], 2, "its directory is not there"),
        (&["a#b", "--write-job=x.fio"], 2, "contains characters with a meaning in job files"),
        (&["--record=no/where.json"], 2, "its directory is not there"),
        (&["--record=."], 2, "--record=.: it is a directory"),
        (&["--repeat=0"], 2, "0 is not in 1.."),
    ];
    for (arguments, code, text) in cases {
        let ran = knee(at, arguments).expect(code);
        assert!(ran.err.contains(text) && ran.out.is_empty(), "{arguments:?}: {}", ran.err);
    }
    assert_eq!(names(at), ["a#b", "small"]);
}
