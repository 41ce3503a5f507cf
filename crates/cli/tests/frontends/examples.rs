//! `fathom examples`, and `fathom run --example`.

use crate::common::*;
use std::fs;
use std::process::Command;

/// `fathom examples ARGUMENTS`.
fn listed(arguments: &[&str]) -> Ran {
    run(Command::new(FATHOM).arg("examples").args(arguments))
}

/// Name and text of every example, as the program lists them.
fn examples() -> Vec<(String, String)> {
    let list = listed(&[]).expect(0);
    let names = list.out.lines().map(|line| line.split_whitespace().next().unwrap().to_owned());
    names.map(|name| (name.clone(), listed(&[&name]).expect(0).out)).collect()
}

#[test]
fn examples_are_found_by_the_name_of_a_product() {
    for (product, example) in
        [("postgresql", "wal-fsync"), ("MySQL", "oltp"), ("kafka", "kafka-log")]
    {
        let list = listed(&[product]).expect(0).out;
        assert!(list.lines().any(|line| line.starts_with(example)), "{product}: {list}");
    }
}

#[test]
fn every_example_runs_at_small_size_and_is_a_job_file_of_fio() {
    let examples = examples();
    assert!(examples.len() >= 25, "{}", examples.len());
    for (name, text) in examples {
        let directory = scratch();
        fs::write(directory.path().join("job.fio"), &text).unwrap();
        let ran = fio(directory.path(), &["--parse-only", "job.fio"]);
        assert_eq!(ran.code, 0, "{name}: {}", ran.err);
        let small: &[&str] = match text.contains("nrfiles=") {
            true => &["--nrfiles=2", "--filesize=1m"],
            false => &["--size=4m"],
        };
        let brief = ["--runtime=100ms", "--ramp_time=0", "--output-format=json"];
        let example = ["--example", &name, "."];
        let ran = fathom(directory.path(), &[&example[..], &brief, small].concat());
        assert_eq!(ran.code, 0, "{name}: {}", ran.err);
        let document = ran.json();
        for job in document["jobs"].as_array().unwrap() {
            let ios: u64 =
                ["read", "write"].iter().map(|way| job[way]["total_ios"].as_u64().unwrap()).sum();
            assert!(ios > 0, "{name}: {} did no I/O", job["jobname"]);
        }
    }
}

#[test]
fn a_word_finds_the_examples_that_mention_it() {
    let about = listed(&["Database"]).expect(0).out;
    assert!(about.contains("wal-fsync ") && !about.contains("video-edit"), "{about}");
    let directory = scratch();
    let ran = fathom(directory.path(), &["--example", "database", "."]).expect(2);
    assert!(ran.err.contains("these mention it: ") && ran.err.contains("oltp"), "{}", ran.err);
}

#[test]
fn a_wrong_name_or_place_is_told_in_one_line() {
    let directory = scratch();
    for (arguments, expected) in [
        (&["--example", "etcd-fsnc", "."][..], "did you mean 'etcd-fsync'?"),
        (&["--example", "etcd-fsync"], "name one directory to use"),
    ] {
        let ran = fathom(directory.path(), arguments).expect(2);
        assert!(ran.err.contains(expected), "{}", ran.err);
        assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    }
    let ran = fathom(directory.path(), &["--example", "etcd-fsync", "nowhere"]).expect(3);
    assert!(ran.err.contains("nowhere"), "{}", ran.err);
    let ran = listed(&["etcd-fsnc"]).expect(2);
    assert!(ran.err.contains("did you mean 'etcd-fsync'?"), "{}", ran.err);
}
