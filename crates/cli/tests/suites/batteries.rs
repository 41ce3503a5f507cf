//! `fathom test`, `fathom diagnose` and `fathom precondition`, from end to end.

use crate::common::*;
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// `fathom VERB ARGUMENTS` in a directory, the user's data there too.
#[track_caller]
fn fathom_in(directory: &Path, verb: &str, arguments: &[&str]) -> Ran {
    let data = directory.join("data");
    let mut command = Command::new(FATHOM);
    command.arg(verb).args(arguments).current_dir(directory).env("XDG_DATA_HOME", data);
    run(command.env_remove(ARCHIVE))
}

/// A terminal of 80 columns shows all but paths in lines of their own.
#[track_caller]
fn fits(ran: &Ran) {
    let wide = |line: &&str| line.chars().count() > 80 && !line.starts_with("Record: ");
    assert_eq!(ran.out.lines().find(wide), None);
}

/// The set of records that a report says it kept.
fn kept(ran: &Ran, directory: &Path) -> record::RecordSet {
    let line = ran.out.lines().find_map(|line| line.strip_prefix("Runs:   ")).unwrap();
    let id = line.split(' ').next().unwrap();
    let place = archive::Location::explicit(directory.join("data/fathom/archive.db"));
    archive::Archive::open_existing(&place).unwrap().load_named(id).unwrap()
}

#[test]
fn a_quick_test_is_done_in_time_and_leaves_nothing() {
    let directory = scratch();
    let at = directory.path();
    let began = Instant::now();
    let ran = fathom_in(at, "test", &["--quick", "--size=256m", "--seed=7"]).expect(0);
    // The schedule itself takes 28 s at most; the rest is for a machine with other things to do.
    assert!(began.elapsed() < Duration::from_secs(120), "{:?}", began.elapsed());
    assert_eq!(names(at), ["data"], "the file is gone");
    assert!(ran.err.is_empty(), "nothing but the report where nobody watches: {}", ran.err);
    fits(&ran);
    let rows = |label: &str| ran.out.lines().filter(|l| l.starts_with(label)).count();
    for (label, least) in [("seq read 1 MiB ", 1), ("seq write 1 MiB ", 1), ("rand read 4 KiB ", 1)]
    {
        assert!(rows(label) >= least, "{label}: {}", ran.out);
    }
    assert_eq!((rows("70/30 mix, "), rows("write + fsync  ")), (2, 1), "{}", ran.out);
    assert!(ran.out.contains("\nKnee of random reads: depth "), "{}", ran.out);
    let set = kept(&ran, at);
    assert_eq!((set.kind.as_str(), set.seed), ("test", 7));
    assert!(set.runs.iter().all(|run| run.jobs.len() == 1 && run.jobs[0].error == 0));
    let again = report::suite::test(&suite::test::conclude(&set), &report::style::Style::default());
    assert!(ran.out.starts_with(&again), "a kept set shows the same again: {again}");
}

/// Starts a test, waits for its file to hold something, sends a signal and waits for the end. The
/// file is to be large enough not to be filled by then.
#[track_caller]
fn interrupted(at: &Path, signal: Signal, arguments: &[&str]) -> Ran {
    let running = Running::fathom("test", at, arguments);
    let file = || {
        let name = names(at).into_iter().find(|name| name.starts_with("fathom-test-"))?;
        Some(fs::metadata(at.join(name)).ok()?.len())
    };
    wait_until("the file", || file().is_some_and(|length| length > 0));
    running.signal(signal);
    running.end()
}

#[test]
fn a_signal_leaves_no_file_and_tells_what_there_is() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let directory = scratch();
        let at = directory.path();
        let ran = interrupted(at, signal, &["--size=2g", "--no-record"]).expect(code);
        assert_eq!(names(at), Vec::<String>::new());
        assert!(ran.err.contains("ending on signal"), "{}", ran.err);
        assert!(ran.out.contains("Nothing was measured."), "{}", ran.out);
        assert!(ran.out.contains("\nEnded early by signal "), "{}", ran.out);
    }
    let directory = scratch();
    let at = directory.path();
    let options = ["--size=2g", "--json", "--record=set.json"];
    let value = interrupted(at, Signal::INT, &options).expect(130).json();
    assert_eq!((&value["interrupted_by"], &value["record"]), (&2.into(), &"set.json".into()));
    assert_eq!(names(at), ["set.json"]);
    assert_eq!(formats::load_set(&at.join("set.json")).unwrap().runs[0].interrupted_by, Some(2));
}

#[test]
fn memory_is_called_memory() {
    let directory = scratch();
    let memory =
        Mounted::new(&["-t", "tmpfs", "-o", "size=64m"], "tmpfs", directory.path().join("memory"));
    let arguments = ["memory", "--quick", "--size=16m", "--share=shared.txt"];
    let ran = fathom_in(directory.path(), "test", &arguments).expect(0);
    assert!(ran.out.contains("This is memory, not a disk"), "{}", ran.out);
    let shared = fs::read_to_string(directory.path().join("shared.txt")).unwrap();
    let table = |text: &str| text.lines().take(14).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(table(&shared), table(&ran.out), "the same table");
    assert!(!shared.contains(directory.path().to_str().unwrap()), "{shared}");
    assert!(ran.err.contains("to share: shared.txt\n"), "{}", ran.err);
    assert_eq!(names(memory.path()), Vec::<String>::new());
}

#[test]
fn a_file_that_cannot_be_written_is_an_error_and_gone() {
    let directory = scratch();
    let command = format!("ulimit -f 16384; exec {FATHOM} test --size=64m --no-record");
    let mut shell = Command::new("bash");
    let ran = run(shell.args(["-c", &command]).current_dir(directory.path())).expect(1);
    // The report breaks its lines where the path's length has it.
    let said = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("fill failed: ") && said.contains("File too large"), "{said}");
    assert_eq!(names(directory.path()), Vec::<String>::new());
}

#[test]
fn what_an_earlier_call_left_is_named() {
    let directory = scratch();
    let at = directory.path();
    // No process has a number beyond 4194304.
    let left = ["fathom-app-4194305-00c0ffee.tmp", "fathom-test-4194305-0badcafe.tmp"];
    let alive = format!("fathom-test-{}-00000001.tmp", std::process::id());
    let others = ["fathom-test-notes.tmp", "fathom-test-4194305-0badcafe.tmp.gz", &alive];
    for name in left.iter().chain(&others) {
        fs::write(at.join(name), "").unwrap();
    }
    let ran = fathom_in(at, "test", &["--size=1k"]).expect(2);
    let told: Vec<&str> = ran.err.lines().filter(|line| line.contains("an earlier call")).collect();
    assert_eq!(told.len(), left.len(), "{}", ran.err);
    for (line, name) in told.iter().zip(left) {
        assert!(line.ends_with(&format!("/{name}; remove it if nobody needs it")), "{line}");
    }
    assert_eq!(names(at).len(), 5, "it is named, and left");
}

#[test]
fn places_that_do_not_suit_are_refused_with_what_to_do() {
    let directory = scratch();
    let at = directory.path();
    let read_only =
        Mounted::new(&["-t", "tmpfs", "-o", "ro,size=64m"], "tmpfs", at.join("read-only"));
    let small = Mounted::new(&["-t", "tmpfs", "-o", "size=32m"], "tmpfs", at.join("small"));
    let device = loop_device(at, 1 << 20, &[]);
    run(Command::new("mkfifo").arg(at.join("pipe"))).expect(0);
    let cases: [(&str, &[&str], i32, &str); 11] = [
        ("nowhere/at/all", &[], 2, "not there; make it first"),
        ("", &[], 2, "the path is empty"),
        ("/dev/null", &[], 3, "neither a directory nor a file"),
        ("pipe", &[], 3, "neither a directory nor a file"),
        (read_only.path().to_str().unwrap(), &[], 3, "mounted read-only"),
        (&device.device, &[], 3, "is a block device"),
        (small.path().to_str().unwrap(), &[], 3, "a tenth"),
        (small.path().to_str().unwrap(), &["--size=1g"], 3, "1024 MiB do not fit"),
        (".", &["--size=1k"], 2, "are too few"),
        (".", &["--size=lots"], 2, "expected a size such as"),
        (".", &["--record=no/where.json"], 2, "its directory is not there"),
    ];
    for (path, more, code, text) in cases {
        for verb in ["test", "diagnose"] {
            if verb == "diagnose" && more.iter().any(|option| option.starts_with("--size")) {
                continue;
            }
            let ran = fathom_in(at, verb, &[&[path], more].concat()).expect(code);
            assert!(ran.err.contains(text) && ran.out.is_empty(), "{verb} {path}: {}", ran.err);
            let names_size = ran.err.contains("--size");
            assert!(verb == "test" || !names_size, "it has no such option: {}", ran.err);
        }
    }
    assert_eq!(names(at), ["loop.img", "pipe", "read-only", "small"]);
}

#[test]
fn records_that_cannot_be_kept_cost_nothing_else() {
    let directory = scratch();
    let at = directory.path();
    fs::write(at.join("data"), "no directory").unwrap();
    let device = loop_device(at, 16 << 20, &[]);
    let options = [device.device.as_str(), "--round=200ms", "--rounds-max=1"];
    let ran = fathom_in(at, "precondition", &options).expect(0);
    assert_eq!(ran.err.matches("fathom: not archived: ").count(), 1, "{}", ran.err);
    assert!(ran.out.contains("Record: not kept"), "{}", ran.out);
    let beside = names(at).into_iter().find(|name| name.starts_with("fathom-precondition-"));
    let set = formats::load_set(&at.join(beside.unwrap())).unwrap();
    assert_eq!((set.kind.as_str(), set.runs.len()), ("precondition", 2));
}

#[test]
fn a_device_is_preconditioned_and_guarded() {
    let directory = scratch();
    let at = directory.path();
    let device = loop_device(at, 32 << 20, &[]);
    let name = device.device.as_str();
    let options = [name, "--round=300ms", "--rounds-max=5", "--json"];
    let ran = fathom_in(at, "precondition", &options).expect(0);
    let value = ran.json();
    assert_eq!(
        (&value["size_bytes"], &value["filled_bytes"]),
        (&(32 << 20).into(), &(32 << 20).into())
    );
    assert_eq!(value["precondition"]["iops"].as_array().map(Vec::len), Some(5));
    let steady = &value["precondition"];
    let share = |name: &str| steady[name].as_f64().unwrap();
    let within = share("range") <= 0.2 && share("slope").abs() <= 0.1;
    assert_eq!(value["is_steady"], Value::Bool(within));
    assert!(ran.err.contains("wrote 32 MiB once at "), "{}", ran.err);

    system("mkfs.ext4", &["-q", name]);
    let before = fs::read(&device.file).unwrap();
    let ran = fathom_in(at, "precondition", &[name]).expect(3);
    assert!(ran.err.contains("carries the signature of ext4"), "{}", ran.err);
    assert!(fs::read(&device.file).unwrap() == before, "nothing was written");
    let allowed = [name, &format!("--allow-destroy={name}"), "--round=100ms", "--rounds-max=1"];
    let ran = fathom_in(at, "precondition", &allowed).expect(0);
    assert!(ran.out.contains("Not known to be steady"), "{}", ran.out);
}

#[test]
fn a_file_is_preconditioned_and_guarded() {
    let directory = scratch();
    let at = directory.path();
    let short = ["--round=100ms", "--rounds-max=1", "--no-record"];
    let ran = fathom_in(at, "precondition", &["new"]).expect(2);
    assert!(ran.err.contains("give the size of the file with --size"), "{}", ran.err);
    fathom_in(at, "precondition", &[&["new", "--size=8m"], &short[..]].concat()).expect(0);
    let length = || fs::metadata(at.join("new")).unwrap().len();
    assert_eq!(length(), 8 << 20);
    let ran = fathom_in(at, "precondition", &[&["new"], &short[..]].concat()).expect(3);
    assert!(ran.err.contains("holds 8388608 bytes"), "{}", ran.err);
    let allowed = [&["new", "--allow-destroy=new"], &short[..]].concat();
    let ran = fathom_in(at, "precondition", &allowed).expect(0);
    assert!(ran.out.starts_with("Written from end to end: 8 MiB of 8 MiB"), "{}", ran.out);
    for (target, code, text) in [
        (".", 3, "is a directory"),
        ("/dev/null", 3, "neither a block device nor a file"),
        ("no/where", 2, "its directory is not there"),
    ] {
        let ran = fathom_in(at, "precondition", &[target]).expect(code);
        assert!(ran.err.contains(text), "{target}: {}", ran.err);
    }
}

#[test]
fn a_diagnosis_goes_through_its_steps_to_a_cause() {
    let directory = scratch();
    let at = directory.path();
    let ran = fathom_in(at, "diagnose", &[]).expect(0);
    assert_eq!(names(at), ["data"], "the file is gone");
    fits(&ran);
    for step in 1..=5 {
        assert!(ran.out.lines().any(|line| line.starts_with(&format!("{step}. "))), "{}", ran.out);
    }
    assert!(ran.out.contains("\nLikely cause"), "{}", ran.out);
    assert!(!ran.out.contains("nothing: "), "every step saw something: {}", ran.out);
    assert_eq!(kept(&ran, at).kind, "diagnose");
}
