//! I/O of several priorities: each has its own latency in the report, as with the oracle.

use crate::common::{Ran, as_fio, fathom, fio, scratch};
use serde_json::Value;
use std::path::Path;

fn job(directory: &Path, ours: bool, options: &[&str]) -> Ran {
    std::fs::write(directory.join("file"), vec![0x5a; 4 << 20]).unwrap();
    let base = ["--name=t", "--filename=file", "--size=4m", "--iodepth=4", "--rw=randrw"];
    let arguments = [&base[..], options].concat();
    if ours { as_fio(directory, &arguments) } else { fio(directory, &arguments) }
}

/// Class, level and number of I/Os of each priority of a direction.
fn prios(ran: &Ran, direction: &str) -> Vec<(i64, i64, i64)> {
    let number = |value: &Value| value.as_i64().unwrap();
    let list = ran.json()["jobs"][0][direction]["prios"].as_array().cloned().unwrap_or_default();
    let one = |p: &Value| (number(&p["prioclass"]), number(&p["prio"]), number(&p["clat_ns"]["N"]));
    list.iter().map(one).collect()
}

#[test]
fn each_priority_has_its_latency_as_with_the_oracle() {
    let split = "--cmdprio_bssplit=4k/25/1/1:4k/75/3/2:8k/0";
    let cases: [&[&str]; 4] = [
        &["--cmdprio_percentage=40"],
        &["--cmdprio_percentage=0,50", "--cmdprio_class=2", "--cmdprio=3"],
        &["--cmdprio_percentage=100,30"],
        &["--bssplit=4k/50:8k/50", split],
    ];
    for options in cases {
        for engine in ["--ioengine=libaio", "--ioengine=io_uring"] {
            let options = [&[engine, "--output-format=json"], options].concat();
            let directory = scratch();
            let ours = job(directory.path(), true, &options).expect(0);
            let theirs = job(directory.path(), false, &options).expect(0);
            for direction in ["read", "write"] {
                let (our, their) = (prios(&ours, direction), prios(&theirs, direction));
                let kinds = |all: &[(i64, i64, i64)]| {
                    let mut kinds: Vec<_> = all.iter().map(|p| (p.0, p.1)).collect();
                    kinds.sort_unstable();
                    kinds
                };
                assert_eq!(kinds(&our), kinds(&their), "{options:?} {direction}");
                let all = ours.json()["jobs"][0][direction]["clat_ns"]["N"].as_i64().unwrap();
                let told: i64 = our.iter().map(|p| p.2).sum();
                assert!(our.is_empty() || told == all, "{options:?}: {told} of {all}");
            }
        }
    }
}

#[test]
fn shares_are_those_asked_for() {
    let directory = scratch();
    let options =
        ["--ioengine=io_uring", "--bs=512", "--cmdprio_percentage=30", "--output-format=json"];
    let ran = job(directory.path(), true, &options).expect(0);
    for direction in ["read", "write"] {
        let found = prios(&ran, direction);
        let all: i64 = found.iter().map(|p| p.2).sum();
        let raised = found.iter().find(|p| p.0 == 1).unwrap().2;
        let share = raised as f64 / all as f64;
        assert!((0.25..=0.35).contains(&share), "{direction}: {share}");
    }
}

#[test]
fn the_text_tells_them_apart() {
    let directory = scratch();
    let options = ["--ioengine=libaio", "--cmdprio_percentage=50"];
    let ran = job(directory.path(), true, &options).expect(0);
    // Class, level and hint; fio 3.33 has no hint.
    for line in ["    clat prio 0/0/0 (", "    clat prio 1/0/0 (", "% of IOs) percentiles ("] {
        assert!(ran.out.contains(line), "{line}: {}", ran.out);
    }
}

#[test]
fn hints_are_shown() {
    let directory = scratch();
    let options = [
        "--ioengine=io_uring",
        "--cmdprio_percentage=50",
        "--cmdprio_hint=3",
        "--output-format=json,normal",
    ];
    let ran = job(directory.path(), true, &options);
    let old = job(directory.path(), true, &[&options[..], &["--compat=3.33"]].concat());
    for (ran, raised) in [(ran, "    clat prio 1/0/3 ("), (old, "    clat prio 1/0 (")] {
        assert!(ran.out.contains(raised), "{}", ran.out);
        assert_eq!(ran.out.contains("\"priohint\" : 3"), raised.contains("/3"), "{}", ran.out);
    }
}

#[test]
fn contradictions_and_bad_values_are_errors() {
    let directory = scratch();
    let cases: [&[&str]; 6] = [
        &["--cmdprio_percentage=10", "--cmdprio_bssplit=4k/10"],
        &["--cmdprio_bssplit=4k/60:4k/50"],
        &["--cmdprio_bssplit=4k/10/1"],
        &["--cmdprio_bssplit=4k/10/9/1"],
        &["--cmdprio_bssplit=x/10"],
        &["--cmdprio_percentage=101"],
    ];
    for options in cases {
        let base = ["--name=t", "--filename=file", "--size=64k", "--ioengine=libaio"];
        let ran = fathom(directory.path(), &[&base[..], options].concat()).expect(2);
        assert!(ran.err.contains("cmdprio_"), "{options:?}: {}", ran.err);
        assert!(!directory.path().join("file").exists());
    }
}
