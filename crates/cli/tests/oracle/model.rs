//! `fathom model` and `fathom validate`: jobs of known parameters are run, their traces modelled, and the
//! models run again, here and by fio.

use crate::common::{FATHOM, Ran, fio, run, scratch};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Reads with a Zipf distribution and a pause, beside a log that is synced.
const JOB: &str = "[global]\ntime_based\nruntime=2s\nioengine=psync\n\
    [reader]\nrw=randread\nbs=8k\nsize=32m\nrandom_distribution=zipf:0.8\nnumjobs=2\nthinktime=300us\n\
    [log]\nrw=write\nbs=4k\nsize=8m\nfdatasync=4\nthinktime=1ms\nthinktime_blocks=8\n";

/// A command of fathom, in a directory.
fn fathom(at: &Path, words: &[&str]) -> Ran {
    run(Command::new(FATHOM).current_dir(at).args(words))
}

/// Runs the job and merges nothing: each worker's trace is a file of its own.
fn traced(at: &Path) {
    std::fs::write(at.join("app.fio"), JOB).unwrap();
    fathom(at, &["run", "--no-archive", "--write_iolog=app.ftr", "app.fio"]).expect(0);
}

fn model(at: &Path, trace: &str) -> Value {
    fathom(at, &["model", trace, "--json"]).expect(0).json()["model"].clone()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("no number: {value}"))
}

#[test]
fn a_run_is_modelled_as_it_was_asked_for() {
    let directory = scratch();
    let at = directory.path();
    traced(at);
    let reader = model(at, "app.1.ftr");
    let stream = &reader["streams"][0];
    assert_eq!(
        (&stream["pacing"], &stream["read_sizes"][0]["value"]),
        (&"closed".into(), &8192.into())
    );
    let theta = number(&stream["skew"]["skew"]["zipf"]);
    assert!((theta - 0.8).abs() < 0.15, "{stream}");
    let pause = number(&stream["think"]["mean_ns"]);
    // A worker that waits for a CPU pauses for longer than it was told to.
    assert!((250e3..5e6).contains(&pause), "{pause}");
    let log = model(at, "app.3.ftr");
    let stream = &log["streams"][0];
    assert!((number(&stream["writes_per_sync"]) - 4.0).abs() < 0.2, "{stream}");
    assert!(number(&stream["sequential"]) > 0.95, "{stream}");
}

#[test]
fn fio_takes_and_runs_the_job_of_a_model() {
    let directory = scratch();
    let at = directory.path();
    traced(at);
    for (trace, job) in [("app.1.ftr", "reader.fio"), ("app.3.ftr", "log.fio")] {
        fathom(at, &["model", trace, "-o", job]).expect(0);
        fio(at, &["--parse-only", job]).expect(0);
        let ran = fio(at, &["--output-format=json", "--runtime=1", job]).expect(0).json();
        let done = &ran["jobs"][0];
        let ios = number(&done["read"]["total_ios"]) + number(&done["write"]["total_ios"]);
        assert!(ios > 100.0, "{done}");
        fathom(at, &["run", "--no-archive", "--parse-only", job]).expect(0);
    }
    let text = std::fs::read_to_string(at.join("log.fio")).unwrap();
    assert!(text.contains("fdatasync=4\n") && text.contains("rw=write\n"), "{text}");
}

#[test]
fn a_model_file_does_what_the_trace_shows_and_an_unlike_job_does_not() {
    let directory = scratch();
    let at = directory.path();
    traced(at);
    fathom(at, &["model", "app.3.ftr", "--toml", "log.toml"]).expect(0);
    let scores = fathom(at, &["validate", "app.3.ftr", "log.toml", "--json"]).expect(0).json();
    for score in scores["scores"].as_array().unwrap() {
        let exact = ["write sizes", "reads among I/Os", "sequential I/Os", "durability"];
        if exact.iter().any(|name| score["property"] == *name) {
            assert!(number(&score["mark"]) > 80.0, "{scores:#}");
        }
        // Pauses also depend on what else uses the CPUs.
        if score["property"] == "pauses" {
            assert!(number(&score["mark"]) > 60.0, "{scores:#}");
        }
    }
    std::fs::write(
        at.join("other.fio"),
        "[a]\nrw=randread\nbs=64k\nsize=8m\nruntime=1\ntime_based\n",
    )
    .unwrap();
    // Latencies depend on what else the disk does, so the mark of the model has no bound of its own.
    let other = fathom(at, &["validate", "app.3.ftr", "other.fio", "--json"]).expect(0).json();
    assert!(number(&scores["mark"]) > number(&other["mark"]) + 20.0, "{scores:#} {other:#}");
    let said = fathom(at, &["validate", "app.3.ftr", "other.fio", "--below", "60"]).expect(4);
    assert!(
        said.out.contains("below the bound of 60") && said.out.contains("durability: "),
        "{}",
        said.out
    );
    let left: Vec<_> =
        std::fs::read_dir(at).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(
        !left.iter().any(|name| name.to_string_lossy().starts_with("fathom-validate-")),
        "{left:?}"
    );
}

/// A program that looks at a file once a second has threads that do nothing in a shorter run.
#[test]
fn threads_of_a_model_that_pause_for_longer_than_they_run_are_no_error() {
    let directory = scratch();
    let at = directory.path();
    traced(at);
    fathom(at, &["model", "app.1.ftr", "--toml", "reader.toml"]).expect(0);
    let text = std::fs::read_to_string(at.join("reader.toml")).unwrap();
    let from = text.find("[[threads]]").unwrap();
    let idle: Vec<String> = text[from..]
        .lines()
        .map(|line| match line.split_once(" = ") {
            Some(("name", _)) => "name = \"idle\"".to_owned(),
            Some(("from" | "to", _)) => String::new(),
            Some(("gaps", _)) => "gaps = [[60000000000, 60000000001, 1]]".to_owned(),
            Some(("direct", value)) => format!("direct = {value}\nfrom = 0\nto = 20"),
            _ => line.to_owned(),
        })
        .collect();
    std::fs::write(at.join("both.toml"), text + "\n" + &idle.join("\n")).unwrap();
    let ran = fathom(at, &["run", "--no-archive", "both.toml"]).expect(0);
    assert!(ran.err.contains("idle: it did no I/O"), "{}", ran.err);
}

#[test]
fn a_model_file_runs_on_a_smaller_target_and_a_trace_is_replayed_scaled() {
    let directory = scratch();
    let at = directory.path();
    traced(at);
    fathom(at, &["model", "app.1.ftr", "--toml", "reader.toml"]).expect(0);
    fathom(at, &["run", "--no-archive", "--runtime=500ms", "--replay_scale=8", "reader.toml"])
        .expect(0);
    assert_eq!(std::fs::metadata(at.join("model.0")).unwrap().len(), 4 << 20);
    fathom(at, &["model", "app.1.ftr", "--replay", "--scale", "0.25", "-o", "replay.log"])
        .expect(0);
    let arguments = ["--name=r", "--read_iolog=replay.log", "--replay_no_stall=1"];
    fio(at, &arguments).expect(0);
    let ours: Vec<&str> = ["run", "--no-archive"].into_iter().chain(arguments).collect();
    fathom(at, &ours).expect(0);
    let log = std::fs::read_to_string(at.join("replay.log")).unwrap();
    let furthest = log.lines().filter_map(|line| line.split(' ').nth(3)?.parse::<u64>().ok()).max();
    assert!(furthest.unwrap() < 8 << 20, "{furthest:?}");
}

#[test]
fn phases_are_sections_one_after_another() {
    let directory = scratch();
    let at = directory.path();
    let job = "[global]\ntime_based\nruntime=4s\nioengine=psync\nthinktime=1ms\nsize=8m\n\
               [load]\nrw=write\nbs=64k\n[use]\nstonewall\nrw=randread\nbs=4k\n";
    std::fs::write(at.join("app.fio"), job).unwrap();
    fathom(at, &["run", "--no-archive", "--write_iolog=app.ftr", "app.fio"]).expect(0);
    let traces = ["app.1.ftr", "app.2.ftr"];
    let words = [&["model"], &traces[..], &["-o", "job.fio", "--toml", "model.toml"]].concat();
    fathom(at, &words).expect(0);
    let text = std::fs::read_to_string(at.join("job.fio")).unwrap();
    assert!(text.contains("[phase1-load") && text.contains("stonewall=1\n"), "{text}");
    fio(at, &["--parse-only", "job.fio"]).expect(0);
    let report = fio(at, &["--output-format=json", "job.fio"]).expect(0).json();
    for (number, direction) in [(0, "write"), (1, "read")] {
        let done = &report["jobs"][number][direction];
        assert!(self::number(&done["total_ios"]) > 100.0, "{report:#}");
    }
    fathom(at, &["run", "--no-archive", "--write_iolog=again.ftr", "model.toml"]).expect(0);
    let workers = std::fs::read_to_string(at.join("model.toml")).unwrap();
    let workers = workers.matches("[[threads]]").count();
    let traces: Vec<String> = (1..=workers).map(|worker| format!("again.{worker}.ftr")).collect();
    let words: Vec<&str> = traces.iter().map(String::as_str).collect();
    let again = fathom(at, &[&["model"], &words[..], &["--json"]].concat()).expect(0).json();
    let phases = &again["model"]["phases"];
    let phases = phases.as_array().unwrap();
    let (first, last) = (&phases[0], &phases[phases.len() - 1]);
    // Other programs may make more phases of one, but not less than these two.
    assert!(number(&first["read_share"]) < 0.1 && number(&last["read_share"]) > 0.9, "{phases:#?}");
}

#[test]
fn bad_traces_and_models_are_told() {
    let directory = scratch();
    let at = directory.path();
    std::fs::write(at.join("empty.ftr"), "").unwrap();
    std::fs::write(at.join("foreign.ftr"), vec![7; 4096]).unwrap();
    for (name, said) in
        [("empty.ftr", "empty.ftr: "), ("foreign.ftr", "foreign.ftr: "), ("gone.ftr", "gone.ftr: ")]
    {
        let ran = fathom(at, &["model", name]).expect(2);
        assert!(ran.err.contains(said), "{}", ran.err);
    }
    let model = "# fathom model 1\nmilliseconds = 5\nfile = []\nthreads = []\n";
    std::fs::write(at.join("bad.toml"), model).unwrap();
    let ran = fathom(at, &["run", "bad.toml"]).expect(2);
    assert!(ran.err.contains("a model needs at least one [[threads]]"), "{}", ran.err);
    let ran = fathom(at, &["model", "gone.ftr", "--replay"]).expect(2);
    assert!(ran.err.contains("--output"), "{}", ran.err);
}
