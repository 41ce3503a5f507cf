//! `fathom report`.

use crate::common::*;
use std::fs;
use std::path::Path;
use std::process::Command;

fn report(directory: &Path, arguments: &[&str]) -> Ran {
    run(Command::new(FATHOM).arg("report").args(arguments).current_dir(directory))
}

/// A short run of a job with this name, as a record.
fn made(directory: &Path, file: &str, name: &str) {
    let record = format!("--record={file}");
    let name = format!("--name={name}");
    let line = [
        &*name,
        "--ioengine=null",
        "--size=1g",
        "--rw=randread",
        "--runtime=1200ms",
        "--time_based",
        &record,
    ];
    fathom(directory, &line).expect(0);
}

#[test]
fn a_run_becomes_a_page_a_table_and_pictures() {
    let directory = scratch();
    made(directory.path(), "a.json", "<b>job</b>");
    let files =
        ["-o", "a.html", "-o", "a.md", "-o", "a.csv", "-o", "a.svg", "-o", "a.png", "-o", "a.pdf"];
    let arguments = [&["a.json", "--chart=heatmap"], &files[..]].concat();
    let ran = report(directory.path(), &arguments).expect(0);
    assert_eq!(ran.err.lines().count(), 6, "{}", ran.err);
    let bytes = |name: &str| fs::read(directory.path().join(name)).unwrap();
    let text = |name: &str| String::from_utf8(bytes(name)).unwrap();
    let page = text("a.html");
    assert!(page.starts_with("<!DOCTYPE html>") && page.len() < 1_500_000, "{}", page.len());
    assert!(page.contains("What was measured?") && page.contains("id=\"chart-heatmap\""));
    assert!(page.contains("&lt;b&gt;job") && !page.contains("<b>job"));
    assert!(
        text("a.md").contains("| \\<b\\>job\\</b\\> | read | completion |"),
        "{}",
        text("a.md")
    );
    assert!(text("a.csv").contains("a,<b>job</b>,read,completion,1,"), "{}", text("a.csv"));
    assert!(text("a.svg").contains("Completion latencies over time"));
    assert!(bytes("a.png").starts_with(b"\x89PNG") && bytes("a.pdf").starts_with(b"%PDF-"));
}

#[test]
fn of_a_run_too_short_for_rates_the_percentiles_are_drawn() {
    let directory = scratch();
    let line = ["--name=a", "--ioengine=null", "--size=80k", "--rw=read", "--record=a.json"];
    fathom(directory.path(), &line).expect(0);
    report(directory.path(), &["a.json", "-o", "a.svg"]).expect(0);
    let drawn = fs::read_to_string(directory.path().join("a.svg")).unwrap();
    let ran = report(directory.path(), &["a.json", "-o", "b.svg", "--chart=iops"]).expect(2);
    assert!(ran.err.contains("it has no picture 'iops'; it has percentiles"), "{}", ran.err);
    report(directory.path(), &["a.json", "-o", "c.svg", "--chart=percentiles"]).expect(0);
    assert_eq!(drawn, fs::read_to_string(directory.path().join("c.svg")).unwrap());
}

#[test]
fn several_runs_are_named_and_compared() {
    let directory = scratch();
    ["a.json", "b.json"].iter().for_each(|file| made(directory.path(), file, "job"));
    report(directory.path(), &["a.json", "later=b.json", "-o", "both.html"]).expect(0);
    let page = fs::read_to_string(directory.path().join("both.html")).unwrap();
    for part in ["What changed?", "<strong>later</strong> against <strong>a</strong>"] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn what_cannot_be_used_is_refused_and_writes_nothing() {
    let directory = scratch();
    made(directory.path(), "a.json", "job");
    fs::write(directory.path().join("none.json"), "{}").unwrap();
    fs::write(directory.path().join("a.fio"), "[a]\nrw=read\n").unwrap();
    let refused: [(&[&str], &str); 7] = [
        (&["a.json", "-o", "a.html", "--chart=iops"], "--chart: there is no picture to choose"),
        (&["a.json", "-o", "a.txt"], "expected a file name ending in .html, .md"),
        (&["none.json", "-o", "a.html"], "none.json: not a fathom record"),
        (&["a.fio", "-o", "a.html"], "a job file is run first: fathom run"),
        (&["missing.json", "-o", "a.html"], "missing.json: cannot read the record: No such file"),
        (
            &["a.json", "-o", "a.html", "-o", "a.svg", "--chart=pie"],
            "it has no picture 'pie'; it has ",
        ),
        (&["a.json"], "name a file to write, such as '-o report.html'"),
    ];
    for (arguments, expected) in refused {
        let ran = report(directory.path(), arguments).expect(2);
        assert!(ran.err.contains(expected), "{arguments:?}: {}", ran.err);
    }
    let ran = report(directory.path(), &["a.json", "-o", "none/a.html"]).expect(1);
    assert!(ran.err.contains("none/a.html: cannot write: No such file"), "{}", ran.err);
    assert_eq!(names(directory.path()), ["a.fio", "a.json", "none.json"]);
}
