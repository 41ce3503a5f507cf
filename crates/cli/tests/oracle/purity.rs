//! Standard output and `--output` hold the report and nothing else, whatever happens; messages go
//! to stderr and into the report's own place for them. And the exit codes.

use crate::common::*;
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

const JSON: &str = "--output-format=json";

/// The report's own words on what went wrong or is doubtful.
fn messages(json: &Value, kind: &str) -> String {
    json["fathom"][kind].to_string()
}

/// Sizes of which writes end with EFBIG: the limit of the process stands for a device's errors.
fn with_limit(directory: &Path, verb: &str, arguments: &[&str]) -> Ran {
    let limit = ["--fsize=65536", FATHOM, verb];
    run(Command::new("prlimit").args(limit).args(arguments).current_dir(directory))
}

const FAILING: [&str; 6] = [
    "--name=a",
    "--size=1m",
    "--rw=write",
    "--ioengine=psync",
    "--fallocate=none",
    "--create_on_open=1",
];

#[test]
fn json_is_one_document_when_i_o_fails() {
    let directory = scratch();
    for (verb, format) in [("run", JSON), ("fio", JSON), ("run", "--output-format=json+")] {
        let ran = with_limit(directory.path(), verb, &[&FAILING[..], &[format]].concat()).expect(1);
        let json = ran.json();
        assert_eq!(json["jobs"][0]["error"], 27, "{}", ran.err);
        assert!(ran.err.contains("write of 4096 bytes at offset 65536 of 'a.0.0' failed"));
        assert!(messages(&json, "errors").contains("at offset 65536 of 'a.0.0' failed"));
    }
}

#[test]
fn json_is_one_document_when_layout_fails() {
    let (_turn, directory) = (alone(), scratch());
    let _fs = Mounted::new(&["-t", "tmpfs", "-osize=1m"], "tmpfs", directory.path().join("small"));
    let job =
        ["--name=a", "--size=16m", "--directory=small", "--rw=read", "--ioengine=psync", JSON];
    for (verb, is_fio) in [(fathom as fn(&Path, &[&str]) -> Ran, false), (as_fio, true)] {
        let ran = verb(directory.path(), &job).expect(1);
        let json = ran.json();
        assert_eq!(json["jobs"][0]["error"], 28);
        let told = ran.err.contains("a: Laying out IO file (1 file / 16MiB)");
        assert_eq!(told, !is_fio, "{}", ran.err);
        assert!(messages(&json, "errors").contains("the filesystem is full"));
        assert!(messages(&json, "warnings").contains("the files need 16 MiB more"));
    }
}

#[test]
fn json_is_one_document_with_warnings_and_a_status_line() {
    let directory = scratch();
    let job = ["--name=a", "--size=1m", "--rw=read", "--ioengine=psync", "--time_based", JSON];
    let ran = fathom(directory.path(), &job).expect(0);
    assert!(ran.err.contains("warning: a: time_based does nothing without runtime"), "{}", ran.err);
    assert!(messages(&ran.json(), "warnings").contains("time_based does nothing"));
    let eta = ["--eta=always", "--eta-interval=250ms", "--runtime=1"];
    // As fio, which shows no status line beside JSON.
    for (verb, shown) in [(fathom as fn(&Path, &[&str]) -> Ran, true), (as_fio, false)] {
        let ran = verb(directory.path(), &[&job[..], &eta].concat()).expect(0);
        assert!(ran.json()["jobs"][0]["read"]["total_ios"].as_u64() > Some(0));
        let lines: Vec<&str> = ran.err.lines().filter(|line| line.starts_with("Jobs: ")).collect();
        assert!(if shown { lines.len() >= 2 } else { lines.is_empty() }, "{}", ran.err);
        assert!(lines.iter().all(|line| line.contains("[eta ")), "{}", ran.err);
        assert!(shown || ran.err.is_empty(), "{}", ran.err);
    }
}

/// Whoever reads JSON of fio takes anything on stderr for a failure.
#[test]
fn beside_json_of_fio_stderr_is_for_errors() {
    let directory = scratch();
    let job = ["--name=a", "--size=1m", "--rw=read", "--ioengine=sync", "--iodepth=8"];
    for format in [JSON, "--output-format=json+", "--output-format=normal,json"] {
        let _ = fs::remove_file(directory.path().join("a.0.0"));
        let ran = as_fio(directory.path(), &[&job[..], &[format]].concat()).expect(0);
        assert_eq!(ran.err, "", "{format}");
        assert!(ran.out.contains("smaller-than-memory"), "{}", ran.out);
    }
    let _ = fs::remove_file(directory.path().join("a.0.0"));
    let terse = as_fio(directory.path(), &[&job[..], &["--minimal"]].concat()).expect(0);
    assert!(!terse.err.contains("Laying out"), "{}", terse.err);
    assert!(terse.err.contains("[smaller-than-memory]"), "{}", terse.err);
    assert_eq!(terse.out.lines().count(), 1, "{}", terse.out);
}

#[test]
fn json_is_one_document_when_interrupted() {
    let directory = scratch();
    let job = ["--name=a", "--size=1m", "--rw=read", "--ioengine=psync", "--time_based", JSON];
    let more = ["--runtime=25", "--eta=always", "--eta-interval=250ms", "--output=report"];
    for (verb, code, drawn) in [("run", 130, "err"), ("fio", 128, "out")] {
        let mut running = Running::fathom(verb, directory.path(), &[&job[..], &more].concat());
        running.says(drawn, "[R(1)]");
        running.signal(Signal::INT);
        let ran = running.end().expect(code);
        // Under the name fio the report is elsewhere, and standard output has the status line.
        let mut others = ran.out.split(['\r', '\n']).filter(|line| !line.starts_with("Jobs: "));
        assert!(others.all(str::is_empty), "{}", ran.out);
        assert!(ran.err.contains("terminating on signal 2"), "{}", ran.err);
        let report = fs::read_to_string(directory.path().join("report")).unwrap();
        let json: Value = serde_json::from_str(&report).unwrap();
        assert_eq!(json["fathom"]["interrupted_by"], 2);
    }
}

const QUICK: [&str; 4] = ["--name=a", "--size=64k", "--rw=read", "--ioengine=null"];

#[test]
fn output_holds_the_report_and_nothing_else() {
    let directory = scratch();
    let report = |format: &str| {
        let more = ["--output=report", "--time_based", format];
        let ran = fathom(directory.path(), &[&QUICK[..], &more].concat()).expect(0);
        assert_eq!(ran.out, "");
        assert!(ran.err.contains("time_based does nothing"), "{}", ran.err);
        fs::read_to_string(directory.path().join("report")).unwrap()
    };
    let text = report("--output-format=normal");
    assert!(text.starts_with("a: (g=0): rw=read, ") && !text.contains("warning"), "{text}");
    let terse = report("--output-format=terse");
    assert!(terse.starts_with("3;fio-") && terse.lines().count() == 1, "{terse}");
    let both = report("--output-format=terse,json");
    let (first, json) = both.split_once('\n').unwrap();
    assert!(first.starts_with("3;fio-"));
    serde_json::from_str::<Value>(json).unwrap();
    let both = report("--output-format=json,normal");
    let (json, rest) = both.split_once("\n}\n").unwrap();
    let json = &json[json.find("{\n").unwrap()..];
    serde_json::from_str::<Value>(&format!("{json}\n}}")).unwrap();
    assert!(rest.contains("Run status group 0"), "{rest}");
}

#[test]
fn the_status_line_on_a_pipe_is_shown_only_when_asked_for() {
    let directory = scratch();
    let job = [&QUICK[..], &["--time_based", "--runtime=1", "--eta-interval=250ms"]].concat();
    for verb in [fathom, as_fio] {
        for eta in ["--eta=auto", "--eta=never"] {
            let ran = verb(directory.path(), &[&job[..], &[eta]].concat()).expect(0);
            assert!(!ran.err.contains("Jobs: ") && !ran.out.contains("Jobs: "), "{}", ran.err);
        }
    }
    let job = [&job[..], &["--eta=always"]].concat();
    let ran = fathom(directory.path(), &job).expect(0);
    assert!(ran.err.contains("Jobs: 1 (f=1): [R(1)]"), "{}", ran.err);
    assert!(!ran.err.contains('\r'), "nothing is redrawn on a pipe: {}", ran.err);
    assert!(!ran.out.contains("Jobs: "), "{}", ran.out);
    // Programs that follow fio's progress read it from its standard output.
    let ran = as_fio(directory.path(), &job).expect(0);
    assert!(ran.out.contains("Jobs: 1 (f=1): [R(1)]") && ran.out.contains('\r'), "{}", ran.out);
    assert!(!ran.err.contains("Jobs: "), "{}", ran.err);
}

/// Runs ours on a terminal; what the terminal got.
fn on_a_terminal(directory: &Path, verb: &str, arguments: &[&str]) -> String {
    let line = format!("{FATHOM} {verb} {}", arguments.join(" "));
    let mut script = Command::new("script");
    script.args(["-qec", &line, "/dev/null"]).current_dir(directory).stdin(Stdio::null());
    run(&mut script).expect(0).out
}

#[test]
fn the_status_line_on_a_terminal_is_redrawn() {
    let directory = scratch();
    let job = [&QUICK[..], &["--time_based", "--runtime=1", "--eta-interval=250ms"]].concat();
    for verb in ["run", "fio"] {
        let seen = on_a_terminal(directory.path(), verb, &job);
        assert!(seen.matches("Jobs: 1 (f=").count() >= 2, "{seen:?}");
        assert!(seen.contains("s]\rJobs: 1 (f="), "{seen:?}");
        let report = seen.split("\n").find(|line| line.contains("a: (groupid=0")).unwrap();
        assert!(!report.contains("Jobs:"), "the report begins on a line of its own: {report:?}");
        let never = on_a_terminal(directory.path(), verb, &[&job[..], &["--eta=never"]].concat());
        assert!(!never.contains("Jobs:"), "{never:?}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let directory = scratch();
    for arguments in [&QUICK[..], &["--cmdhelp=all"], &["--enghelp"], &["--help"]] {
        for verb in ["run", "fio"] {
            let (reader, writer) = std::io::pipe().unwrap();
            drop(reader);
            let mut command = Command::new(FATHOM);
            command.arg(verb).args(arguments).current_dir(&directory).stdout(writer);
            let ran = run(&mut command).expect(0);
            assert_eq!(ran.err, "", "{verb} {arguments:?}");
        }
    }
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = Command::new(FATHOM);
    command.arg("run").arg("gone.fio").current_dir(&directory).stderr(writer);
    run(&mut command).expect(2);
}

#[test]
fn reports_that_cannot_be_written() {
    let directory = scratch();
    let full = "error: cannot write '/dev/full': No space left on device\n";
    let ran = fathom(directory.path(), &[&QUICK[..], &["--output=/dev/full"]].concat()).expect(1);
    assert!(ran.err.ends_with(full), "{}", ran.err);
    let gone = "error: --output: cannot write 'gone/x': No such file or directory\n";
    for (verb, code) in [("run", 2), ("fio", 1)] {
        let mut command = Command::new(FATHOM);
        command.arg(verb).args(QUICK).arg("--output=gone/x").current_dir(&directory);
        let ran = run(&mut command).expect(code);
        assert!(ran.err.ends_with(gone) && ran.out.is_empty(), "{}", ran.err);
    }
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = Command::new(FATHOM);
    command.arg("run").args(QUICK).current_dir(&directory).stdout(full);
    // The run itself is over before its report cannot be shown; its record is there.
    let ran = run(command.args([JSON, "--record=run.json"])).expect(1);
    assert!(ran.err.contains("cannot write to standard output: No space left"), "{}", ran.err);
    assert!(directory.path().join("run.json").exists());
}

#[test]
fn records_that_cannot_be_kept_do_not_cost_the_report() {
    let directory = scratch();
    // Nobody can make a file there, not even root.
    let arguments = [&QUICK[..], &["--record=/proc/run.json", JSON]].concat();
    for verb in [fathom, as_fio] {
        let ran = verb(directory.path(), &arguments).expect(1);
        assert_eq!(ran.json()["jobs"][0]["read"]["total_ios"], 16);
        let words = "error: /proc/run.json: cannot save the record: No such file or directory\n";
        assert!(ran.err.ends_with(words), "{}", ran.err);
    }
}

#[test]
fn a_record_without_a_directory_is_found_before_the_run() {
    let directory = scratch();
    let arguments = [&QUICK[..], &["--record=gone/run.json"]].concat();
    for (verb, code) in [(fathom as fn(&Path, &[&str]) -> Ran, 2), (as_fio, 1)] {
        let ran = verb(directory.path(), &arguments).expect(code);
        assert!(
            ran.err.contains("--record=gone/run.json: its directory is not there"),
            "{}",
            ran.err
        );
        assert_eq!(ran.out, "", "nothing was run");
    }
}

#[test]
fn a_tolerated_error_is_an_error_of_the_run() {
    let directory = scratch();
    // Reads of a device that is gone behind its back fail, and are gone over.
    let _turn = alone();
    let device = loop_device(directory.path(), 1 << 20, &[]);
    fs::File::create(&device.file).unwrap();
    let filename = format!("--filename={}", device.device);
    let job = ["--name=a", &filename, "--rw=read", "--ioengine=psync", "--direct=1", JSON];
    let job = [&job[..], &["--ignore_error=EIO", "--size=64k"]].concat();
    let ran = fathom(directory.path(), &job).expect(1);
    let json = ran.json();
    assert_eq!(json["jobs"][0]["error"], 5, "the first one, as with fio");
    assert_eq!(json["jobs"][0]["fathom"]["errors"][0]["count"], 16);
    as_fio(directory.path(), &job).expect(0);
}

#[test]
fn a_job_that_did_no_i_o_is_no_success() {
    let directory = scratch();
    let job = ["--name=a", "--size=64k", "--rw=read", "--ioengine=null", "--runtime=1"];
    let idle =
        [&job[..], &["--rate_iops=1", "--thinktime=3s", "--ramp_time=1500ms", JSON]].concat();
    let ran = fathom(directory.path(), &idle).expect(1);
    assert!(ran.err.contains("warning: a: it did no I/O"), "{}", ran.err);
    assert!(messages(&ran.json(), "warnings").contains("it did no I/O"));
    as_fio(directory.path(), &idle).expect(0);
}
