//! `fathom run --repeat` and `--interleave`.

use crate::common::*;
use record::{RecordSet, RunRecord};
use rustix::process::Signal;
use std::fs;
use std::path::Path;
use std::process::Command;

const NULL: [&str; 4] = ["--ioengine=null", "--size=1g", "--time_based", "--runtime=200ms"];

fn set(directory: &Path) -> RecordSet {
    formats::load_set(&directory.join("runs.json")).unwrap()
}

/// Cell and round of each run.
fn order(set: &RecordSet) -> Vec<(String, u32)> {
    let cell = |run: &RunRecord| run.cell.clone().map(|cell| (cell.name, cell.round)).unwrap();
    set.runs.iter().map(cell).collect()
}

fn named(cells: &[(&str, u32)]) -> Vec<(String, u32)> {
    cells.iter().map(|(name, round)| ((*name).into(), *round)).collect()
}

#[test]
fn rounds_alternate_and_all_runs_are_kept_and_shown() {
    let directory = scratch();
    fs::write(directory.path().join("b.fio"), "[b]\nrw=randwrite\nbs=8k\n").unwrap();
    let line = ["--repeat=3", "--interleave=b.fio", "--record=runs.json", "--name=a", "--rw=read"];
    let ran = fathom(directory.path(), &[&NULL[..], &line].concat()).expect(0);
    let set = set(directory.path());
    assert_eq!((set.kind.as_str(), set.schema), ("repeat", record::SCHEMA_VERSION));
    let expected = [("a", 0), ("b.fio", 0), ("b.fio", 1), ("a", 1), ("a", 2), ("b.fio", 2)];
    assert_eq!(order(&set), named(&expected));
    for run in &set.runs {
        assert_eq!(run.jobs.len(), 1);
        // What stands beside the jobs holds for both.
        assert_eq!(run.jobs[0].workload.ioengine, "null");
        assert!(run.jobs[0].results.iter().map(|(_, r)| r.ios).sum::<u64>() > 0);
    }
    let lines: Vec<&str> = ran.out.lines().filter(|line| line.contains("/6  ")).collect();
    let begin: Vec<&str> = lines.iter().map(|line| &line[..10]).collect();
    let expected =
        ["1/6  a    ", "2/6  b.fio", "3/6  b.fio", "4/6  a    ", "5/6  a    ", "6/6  b.fio"];
    assert_eq!(begin, expected, "{}", ran.out);
    assert!(lines[0].contains(" read ") && lines[1].contains(" write "), "{}", ran.out);
    let after = &ran.out[ran.out.find("\nRepeats\n").unwrap()..];
    assert!(after.contains("\n  a, read\n") && after.contains("\n  b.fio: b, write\n"));
    assert!(after.lines().all(|line| line.chars().count() <= 80), "{after}");
}

#[test]
fn the_same_job_against_itself_is_told_apart() {
    let directory = scratch();
    fs::write(directory.path().join("a.fio"), "[a]\nrw=randread\n").unwrap();
    let line = ["--repeat=1", "--interleave=a.fio", "--record=runs.json", "a.fio"];
    fathom(directory.path(), &[&NULL[..], &line].concat()).expect(0);
    assert_eq!(order(&set(directory.path())), named(&[("a.fio", 0), ("a.fio (2)", 0)]));
}

#[test]
fn files_are_laid_out_once_and_stay() {
    let directory = scratch();
    let line = ["--name=a", "--rw=randread", "--size=1m", "--repeat=3", "--record=runs.json"];
    let ran = fathom(directory.path(), &line).expect(0);
    assert_eq!(ran.out.matches("Laying out IO file").count(), 1, "{}", ran.out);
    assert_eq!(fs::metadata(directory.path().join("a.0.0")).unwrap().len(), 1 << 20);
    let set = set(directory.path());
    assert!(set.runs.iter().all(|run| run.jobs[0].results.read.ios == 256));
    // Each run's facts are those before it.
    let there = |run: &RunRecord| run.facts.targets.values().any(|target| target.size.0 == 1 << 20);
    assert_eq!(set.runs.iter().map(there).collect::<Vec<_>>(), [false, true, true]);
}

#[test]
fn machines_read_one_document_or_a_line_a_run() {
    let directory = scratch();
    let job = [&NULL[..], &["--repeat=2", "--name=a", "--rw=randread"]].concat();
    let json = [&job[..], &["--output-format=json"]].concat();
    let document = fathom(directory.path(), &json).expect(0).json();
    let runs = document["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2);
    for (round, run) in runs.iter().enumerate() {
        assert_eq!((&run["cell"], &run["round"]), (&"a".into(), &round.into()));
        assert_eq!(run["jobs"][0]["jobname"], "a");
        assert!(run["jobs"][0]["read"]["iops"].as_f64() > Some(0.0));
    }
    assert_eq!(document["fathom"]["kind"], "repeat");
    assert!(document["fathom"]["seed"].is_u64());
    assert!(document["fathom"]["findings"].is_array());
    let iops = &document["fathom"]["repeats"][0]["figures"][0];
    assert_eq!((&iops["name"], &iops["runs"]), (&"IOPS".into(), &2.into()));
    let figure = |name: &str| iops[name].as_f64().unwrap();
    let each = runs.iter().map(|run| run["jobs"][0]["read"]["iops"].as_f64().unwrap());
    // fio's rates are by its whole milliseconds.
    assert!((figure("mean") * 2.0 / each.sum::<f64>() - 1.0).abs() < 0.01, "{iops}");
    assert!(figure("low") <= figure("mean") && figure("mean") <= figure("high"), "{iops}");
    let terse = [&job[..], &["--output-format=terse"]].concat();
    let lines = fathom(directory.path(), &terse).expect(0).out;
    assert_eq!(lines.lines().filter(|line| line.starts_with("3;fio-")).count(), 2, "{lines}");
    assert_eq!(lines.lines().count(), 2, "{lines}");
}

const LONG: [&str; 6] =
    ["--name=a", "--rw=randread", "--ioengine=null", "--size=1g", "--time_based", "--repeat=9"];

#[test]
fn an_interruption_keeps_the_finished_runs() {
    let directory = scratch();
    let line = [&LONG[..], &["--runtime=700ms", "--record=runs.json"]].concat();
    let mut running = Running::fathom("run", directory.path(), &line);
    running.says("out", "\n2/9  a ");
    running.signal(Signal::INT);
    let ran = running.end().expect(130);
    assert!(ran.err.contains("run 3 was cut short and is left out"), "{}", ran.err);
    assert!(ran.out.contains("\nFindings\n") && !ran.out.contains("\n3/9"), "{}", ran.out);
    let set = set(directory.path());
    assert_eq!(order(&set), named(&[("a", 0), ("a", 1)]));
    assert!(set.runs.iter().all(|run| run.interrupted_by.is_none()));
}

#[test]
fn an_interruption_of_the_first_run_keeps_what_there_is() {
    let directory = scratch();
    let line = [&LONG[..], &["--runtime=30", "--record=runs.json", "--eta=always"]].concat();
    let mut running = Running::fathom("run", directory.path(), &line);
    running.says("err", "[r(1)]");
    running.signal(Signal::TERM);
    let ran = running.end().expect(143);
    assert!(ran.out.contains("\n1/9  a "), "{}", ran.out);
    let set = set(directory.path());
    assert_eq!(set.runs.len(), 1);
    assert_eq!(set.runs[0].interrupted_by, Some(15));
}

#[test]
fn a_run_that_fails_is_the_last() {
    let directory = scratch();
    let limited = "ulimit -f 200; exec \"$0\" \"$@\"";
    let line = ["--name=a", "--rw=write", "--size=1m", "--repeat=3", "--record=runs.json"];
    let mut command = Command::new("sh");
    command.args(["-c", limited, FATHOM, "run"]).args(line).current_dir(directory.path());
    let ran = run(&mut command).expect(1);
    assert!(
        ran.err.contains("fathom: run 1 failed; the remaining runs are skipped\n"),
        "{}",
        ran.err
    );
}

#[test]
fn what_is_wrong_is_told_before_anything_runs() {
    let directory = scratch();
    let at = directory.path();
    fs::write(at.join("b.fio"), "[b]\nrw=write\nsize=1m\n").unwrap();
    fs::write(at.join("bad.fio"), "[b]\nrw=sideways\n").unwrap();
    let job = ["--name=a", "--rw=read", "--size=1m"];
    let repeat = "--repeat=2";
    let cases: [(&[&str], &str, i32); 10] = [
        (&["--repeat=0"], "--repeat: '0' is not a whole number from 1 to 10000", 2),
        (&["--repeat=-1"], "--repeat: '-1' is not a whole number", 2),
        (&["--repeat=many"], "--repeat: 'many' is not a whole number", 2),
        (&["--repeat="], "--repeat: '' is not a whole number", 2),
        (&["--interleave=b.fio"], "--interleave: needs --repeat=N", 2),
        (&[repeat, "--interleave="], "--interleave: expected the path of a job file", 2),
        (&[repeat, "--interleave=none.fio"], "cannot read job file 'none.fio'", 2),
        (&[repeat, "--interleave=bad.fio"], "bad.fio:2: in [b]: rw: expected one of", 2),
        (&[repeat, "--interleave=b.fio", "--readonly"], "readonly", 3),
        (&[repeat, "--record=nowhere/runs.json"], "its directory is not there; make it first", 2),
    ];
    for (options, said, code) in cases {
        let ran = fathom(at, &[options, &job].concat());
        assert!(ran.err.contains(said), "{options:?}: {}", ran.err);
        let ran = ran.expect(code);
        assert_eq!(ran.out, "", "{options:?}");
        assert!(!at.join("a.0.0").exists(), "{options:?}");
    }
    let ran = as_fio(at, &[&[repeat][..], &job].concat()).expect(1);
    assert!(ran.err.contains("--repeat: not under the name fio"), "{}", ran.err);
    fathom(at, &[&["--parse-only", repeat, "--interleave=bad.fio"][..], &job].concat()).expect(2);
}
