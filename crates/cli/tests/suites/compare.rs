//! `fathom compare`.

use crate::common::*;
use record::{Nanos, RecordSet};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Nothing but the program itself, at a rate any machine holds.
const NULL: [&str; 6] = [
    "--name=a",
    "--ioengine=null",
    "--rw=randread",
    "--size=1g",
    "--rate_iops=2000",
    "--time_based",
];

fn made(directory: &Path, file: &str, more: &[&str]) {
    let record = format!("--record={file}");
    let line = [&NULL[..], &["--runtime=300ms", "--repeat=3", &record], more].concat();
    fathom(directory, &line).expect(0);
}

fn compare(directory: &Path, arguments: &[&str]) -> Ran {
    run(Command::new(FATHOM).arg("compare").args(arguments).current_dir(directory))
}

/// The set with every run taking half as long again.
fn slowed(directory: &Path, from: &str, to: &str) {
    let mut set: RecordSet = formats::load_set(&directory.join(from)).unwrap();
    for job in set.runs.iter_mut().flat_map(|run| &mut run.jobs) {
        job.ended = job.started + Nanos((job.ended - job.started).0 * 3 / 2);
        let result = &mut job.results.read;
        result.runtime = Nanos(result.runtime.0 * 3 / 2);
    }
    formats::save_set(&set, &directory.join(to)).unwrap();
}

/// Saves a copy whose runs all had the same rate, as on a machine that nothing disturbs.
fn steadied(directory: &Path, from: &str, to: &str) {
    let mut set: RecordSet = formats::load_set(&directory.join(from)).unwrap();
    for job in set.runs.iter_mut().flat_map(|run| &mut run.jobs) {
        let second = Nanos(1_000_000_000);
        job.ended = job.started + second;
        (job.results.read.runtime, job.results.read.ios) = (second, 2000);
    }
    formats::save_set(&set, &directory.join(to)).unwrap();
}

#[test]
fn slower_beyond_the_tolerance_is_exit_code_4() {
    let directory = scratch();
    made(directory.path(), "a.json", &[]);
    let same = compare(directory.path(), &["a.json", "a.json"]).expect(0);
    assert!(!same.out.contains("B is slower") && !same.out.contains("B is faster"), "{}", same.out);
    steadied(directory.path(), "a.json", "held.json");
    let held = compare(directory.path(), &["held.json", "held.json", "--metrics=iops"]).expect(0);
    assert!(held.out.contains("no difference: all figures agree"), "{}", held.out);
    assert!(same.out.contains("Same environment"), "{}", same.out);
    slowed(directory.path(), "a.json", "b.json");
    let slow = compare(directory.path(), &["a.json", "b.json"]).expect(4);
    assert!(slow.out.contains("B is slower beyond the tolerance of 5 %"), "{}", slow.out);
    assert!(slow.out.lines().all(|line| line.chars().count() <= 80), "{}", slow.out);
    compare(directory.path(), &["a.json", "b.json", "--tolerance", "60%"]).expect(0);
    let json = compare(directory.path(), &["--json", "a.json", "b.json"]).expect(4).json();
    assert_eq!(json["slower_beyond_tolerance"], true);
    assert_eq!(json["jobs"][0]["directions"][0]["metrics"][0]["call"], "slower");
    let fast = compare(directory.path(), &["b.json", "a.json"]).expect(0);
    assert!(fast.out.contains("faster"), "{}", fast.out);
}

#[test]
fn other_block_sizes_are_not_compared() {
    let directory = scratch();
    made(directory.path(), "a.json", &[]);
    made(directory.path(), "b.json", &["--bs=8k"]);
    // A pipeline must not take a comparison of nothing for a passed one.
    let ran = compare(directory.path(), &["a.json", "b.json"]).expect(4);
    let nothing = "nothing could be compared: the workloads differ (a: bs)";
    assert!(ran.out.contains(nothing), "{}", ran.out);
    assert!(ran.out.contains("not comparable, the workload differs"), "{}", ran.out);
    assert!(ran.out.contains("bs: "), "{}", ran.out);
}

#[test]
fn what_cannot_be_used_is_named() {
    let directory = scratch();
    fs::write(directory.path().join("a.json"), "no record").unwrap();
    for (file, said) in [("a.json", "a.json: "), ("none.json", "none.json: ")] {
        let ran = compare(directory.path(), &[file, file]).expect(2);
        assert!(ran.err.starts_with("fathom: error: ") && ran.err.contains(said), "{}", ran.err);
    }
    let ran = compare(directory.path(), &["a.json", "a.json", "--tolerance=much"]).expect(2);
    assert!(ran.err.contains("like 5%"), "{}", ran.err);
}

#[test]
fn several_records_of_a_side_repeat_each_other() {
    let directory = scratch();
    made(directory.path(), "set.json", &[]);
    for name in ["a1", "a2", "b1", "b2", "a,1"] {
        let record = format!("--record={name}.json");
        let line = [&NULL[..], &["--runtime=1600ms", &record]].concat();
        fathom(directory.path(), &line).expect(0);
    }
    // The rate is held on any machine; latencies of microseconds are its mood.
    let compare = |directory: &Path, arguments: &[&str]| {
        compare(directory, &[arguments, &["--metrics=iops"]].concat())
    };
    let spread = "A single run does not show the spread";
    let single = compare(directory.path(), &["a1.json", "b1.json"]).expect(0);
    assert!(single.out.contains(spread), "{}", single.out);
    let several = compare(directory.path(), &["a1.json,a2.json", "b1.json,b2.json"]).expect(0);
    assert!(!several.out.contains(spread), "{}", several.out);
    let sides = ["a1.json,set.json", "b1.json,b2.json"];
    let json = compare(directory.path(), &[&["--json"], &sides[..]].concat()).expect(0).json();
    assert_eq!(json["jobs"][0]["runs"], serde_json::json!({"before": 4, "after": 2}), "{json}");
    // A path that is there is one.
    compare(directory.path(), &["a,1.json", "b1.json"]).expect(0);

    made(directory.path(), "other.json", &["--bs=8k"]);
    for (list, said) in [
        (
            "a1.json,other.json",
            "other.json: not a repeat of a1.json: bs of job a is 8 KiB, not 4 KiB",
        ),
        ("a1.json,a2.json,a1.json", "a1.json: this run is already named"),
        ("a1.json,", "a1.json,: expected records with commas between"),
        ("a1.json,none.json", "none.json: cannot read the record"),
    ] {
        let ran = compare(directory.path(), &[list, "b1.json"]).expect(2);
        assert!(ran.err.starts_with(&format!("fathom: error: {said}")), "{}", ran.err);
    }
}
