//! `fathom sweep`, from end to end.

use crate::common::*;
use rustix::process::Signal;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// A job of a few milliseconds.
const SHORT: [&str; 4] = ["--name=a", "--ioengine=null", "--rw=randread", "--size=4m"];

/// `fathom sweep ARGUMENTS` in a directory, the user's data there too.
#[track_caller]
fn sweep(directory: &Path, arguments: &[&str]) -> Ran {
    run(command(directory).args(arguments))
}

fn command(directory: &Path) -> Command {
    let mut command = Command::new(FATHOM);
    let data = directory.join("data");
    command.arg("sweep").current_dir(directory).env("XDG_DATA_HOME", data).stdin(Stdio::null());
    command
}

/// The files of the runs that are kept, and what they hold.
fn kept(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(directory.join("cells")).unwrap().map(Result::unwrap);
    let named = entries.map(|e| (e.file_name().into_string().unwrap(), e.path()));
    let whole = named.filter(|(name, _)| name.ends_with(".json"));
    whole.map(|(name, path)| (name, fs::read(path).unwrap())).collect()
}

/// Cell and round of every run of a sweep, sorted.
fn places(directory: &Path) -> Vec<(String, u32)> {
    let set = formats::load_set(directory).unwrap();
    let mut places: Vec<_> = set
        .runs
        .iter()
        .map(|run| run.cell.as_ref().map(|cell| (cell.name.clone(), cell.round)).unwrap())
        .collect();
    places.sort();
    places
}

/// Whether every run is there once.
#[track_caller]
fn is_whole(directory: &Path, count: usize) {
    let places = places(directory);
    let mut once = places.clone();
    once.dedup();
    assert_eq!((places.len(), once.len()), (count, count), "{places:?}");
    assert_eq!(kept(directory).len(), count);
}

#[test]
fn a_sweep_is_measured_kept_shown_and_shown_again() {
    let directory = scratch();
    let at = directory.path();
    let line = ["--vary", "iodepth=1,2..4", "--vary=bs=4k,16k", "--seed=3", "--into=kept"];
    let ran = sweep(at, &[&SHORT[..], &line].concat()).expect(0);
    assert!(ran.err.starts_with("6 cells, 3 times each: 18 runs to make"), "{}", ran.err);
    assert!(ran.out.lines().all(|line| line.chars().count() <= 80), "{}", ran.out);
    for expected in [
        "iops, I/Os a second, by iodepth and bs (more is better)",
        "p99, latency, by iodepth and bs (less is better)",
        "95 % interval",
        "TOTAL",
        "best",
        "6 cells, 18 runs in ",
        "Seed:   3",
    ] {
        assert!(ran.out.contains(expected), "{expected}: {}", ran.out);
    }
    is_whole(&at.join("kept"), 18);
    let set = formats::load_set(&at.join("kept")).unwrap();
    assert_eq!((set.kind.as_str(), set.seed), ("sweep", 3));
    for run in &set.runs {
        let cell = run.cell.as_ref().unwrap();
        let (depth, block) = (&cell.at[0].value, &cell.at[1].value);
        let workload = &run.jobs[0].workload;
        assert_eq!(workload.iodepth.to_string(), *depth);
        assert_eq!(format!("{}k", workload.block_size.read.0.0 >> 10), *block);
    }
    let again = sweep(at, &["--show", "kept"]).expect(0);
    assert_eq!(again.out, ran.out);
    let value = sweep(at, &["--show=kept", "--json", "--metric=mean"]).expect(0).json();
    assert_eq!((&value["kind"], &value["runs_made"]), (&"sweep".into(), &18.into()));
    assert_eq!(value["tables"].as_array().unwrap().len(), 1);
    let rows = value["tables"][0]["columns"][1]["rows"].as_array().unwrap();
    let best = rows.iter().filter(|row| row["standing"] == "best").count();
    assert_eq!((rows.len(), best), (3, 1), "{value}");
    let nothing = sweep(at, &["--resume", "kept"]).expect(0);
    assert!(nothing.err.contains("0 runs to make"), "{}", nothing.err);
    assert_eq!(nothing.out, ran.out);
}

#[test]
fn job_files_vary_as_a_whole_or_in_one_section_and_are_kept_with_the_sweep() {
    let directory = scratch();
    let at = directory.path();
    let job = "[global]\nioengine=null\nrw=read\nsize=${SIZE}\niodepth=7\n[one]\nbs=8k\n[two]\n";
    fs::write(at.join("job.fio"), job).unwrap();
    let varied = ["--vary=iodepth=1,2", "--vary=two/bs=16k,32k", "--paired", "--repeat=1"];
    let mut begun = command(at);
    begun.args(["job.fio", "--into=kept"]).args(varied).env("SIZE", "1m");
    run(&mut begun).expect(0);
    let values = |run: &record::RunRecord| -> Vec<(u32, u64)> {
        let of = |job: &record::JobRecord| {
            (job.workload.iodepth, job.workload.block_size.read.0.0 >> 10)
        };
        run.jobs.iter().map(of).collect()
    };
    let all = |at: &Path| {
        let mut all: Vec<_> = formats::load_set(at).unwrap().runs.iter().map(values).collect();
        all.sort();
        all
    };
    let expected = [vec![(1, 8), (1, 16)], vec![(2, 8), (2, 32)]];
    assert_eq!(all(&at.join("kept")), expected);
    // Gone on with elsewhere, without the file and the variable.
    fs::remove_file(at.join("job.fio")).unwrap();
    fs::remove_file(at.join("kept/cells/0002-1.json")).unwrap();
    sweep(at.parent().unwrap(), &["--resume", at.join("kept").to_str().unwrap()]).expect(0);
    assert_eq!(all(&at.join("kept")), expected);
    // One that only the command line says, and from standard input.
    let mut piped = Command::new("sh");
    let script = format!(
        "printf '[x]\\nioengine=null\\nsize=1m\\n' | {FATHOM} sweep - --rw=read --vary=bs=4k,8k \
         --repeat=2 --into=piped"
    );
    run(piped.args(["-c", &script]).current_dir(at)).expect(0);
    is_whole(&at.join("piped"), 4);
}

#[test]
fn a_sweep_killed_twenty_times_loses_nothing_and_counts_nothing_twice() {
    let directory = scratch();
    let at = directory.path();
    let line = ["--vary=iodepth=1,2..128", "--vary=bs=4k,8k", "--into=kept", "--seed=1"];
    // So long that twenty times the longest wait does not reach the end.
    let timed = ["--time_based", "--runtime=70ms", "--repeat=6"];
    let mut seeded = Seeded::new(20);
    let mut begin = command(at);
    begin.args(SHORT).args(line).args(timed);
    let mut go_on = command(at);
    go_on.args(["--resume=kept"]);
    let mut before = BTreeMap::new();
    for _ in 0..20 {
        let is_begun = at.join("kept/sweep.json").exists();
        if !is_begun {
            // Killed while it was made, or never made.
            let _ = fs::remove_dir_all(at.join("kept"));
        }
        let running = Running::start(if is_begun { &mut go_on } else { &mut begin });
        sleep(Duration::from_millis(seeded.between(20, 300)));
        running.signal(Signal::KILL);
        running.end().expect(-9);
        let has_cells = at.join("kept/cells").is_dir();
        let now = if has_cells { kept(&at.join("kept")) } else { BTreeMap::new() };
        for (name, bytes) in &before {
            assert_eq!(now.get(name), Some(bytes), "{name} is as it was");
        }
        before = now;
    }
    sweep(at, &["--resume=kept"]).expect(0);
    is_whole(&at.join("kept"), 96);
    let after = kept(&at.join("kept"));
    assert!(before.iter().all(|(name, bytes)| after.get(name) == Some(bytes)));
    let left = fs::read_dir(at.join("kept/cells")).unwrap().count();
    assert_eq!(left, 96, "no half-written file stays");
}

#[test]
fn a_signal_ends_it_with_what_there_is_and_it_goes_on() {
    let directory = scratch();
    let at = directory.path();
    let line =
        ["--time_based", "--runtime=300ms", "--vary=iodepth=1,2,4", "--repeat=2", "--into=kept"];
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let _ = fs::remove_dir_all(at.join("kept"));
        let running = Running::fathom("sweep", at, &[&SHORT[..], &line].concat());
        wait_until("a run that is kept", || {
            at.join("kept/cells").is_dir() && !kept(&at.join("kept")).is_empty()
        });
        running.signal(signal);
        let ran = running.end().expect(code);
        assert!(ran.out.contains("Ended early by signal"), "{}", ran.out);
        assert!(ran.err.contains("--resume"), "{}", ran.err);
        let made = kept(&at.join("kept"));
        assert!((1..6).contains(&made.len()), "{}", made.len());
    }
    let before = kept(&at.join("kept"));
    let value = sweep(at, &["--resume=kept", "--json"]).expect(0).json();
    assert_eq!((&value["runs_made"], &value["interrupted_by"]), (&6.into(), &Value::Null));
    is_whole(&at.join("kept"), 6);
    let after = kept(&at.join("kept"));
    assert!(before.iter().all(|(name, bytes)| after.get(name) == Some(bytes)));
}

#[test]
fn a_full_disk_keeps_what_was_measured_and_it_goes_on_when_there_is_room() {
    let directory = scratch();
    let at = directory.path();
    let memory = Mounted::new(&["-t", "tmpfs", "-o", "size=256k"], "tmpfs", at.join("small"));
    let line = ["--vary=iodepth=1,2..512", "--repeat=8", "--into=small/kept"];
    let ran = sweep(at, &[&SHORT[..], &line].concat()).expect(1);
    let says = |text: &str| assert!(ran.err.contains(text), "{text}: {}", ran.err);
    says("cannot save the record");
    says("No space left on device");
    says("--resume");
    assert!(ran.out.contains("of 80 runs are done"), "{}", ran.out);
    let kept_at = memory.path().join("kept");
    let before = kept(&kept_at);
    assert!(before.len() > 1, "{}", before.len());
    system("mount", &["-o", "remount,size=64m", memory.path().to_str().unwrap()]);
    sweep(at, &["--resume=small/kept"]).expect(0);
    is_whole(&kept_at, 80);
    let after = kept(&kept_at);
    assert!(before.iter().all(|(name, bytes)| after.get(name) == Some(bytes)));
}

#[test]
fn a_cell_that_fails_is_kept_as_failed_and_the_others_run() {
    let directory = scratch();
    let at = directory.path();
    let script = format!(
        "ulimit -f 4096; exec {FATHOM} sweep --name=a --rw=write --bs=64k --vary=size=1m,8m \
         --repeat=2 --into=kept"
    );
    let ran = run(Command::new("sh").args(["-c", &script]).current_dir(at)).expect(1);
    assert!(ran.out.contains("2 runs failed (size=8m): "), "{}", ran.out);
    assert!(ran.err.contains("size=8m failed: "), "{}", ran.err);
    is_whole(&at.join("kept"), 4);
    let value = sweep(at, &["--show=kept", "--json"]).expect(1).json();
    let rows = &value["tables"][0]["columns"][0]["rows"];
    assert_eq!((&rows[0]["standing"], &rows[1]["state"]), (&"best".into(), &"failed".into()));
    let nothing = sweep(at, &["--resume=kept"]).expect(1);
    assert!(nothing.err.contains("0 runs to make"), "{}", nothing.err);
    // Where there is no limit they do not fail.
    let retried = sweep(at, &["--resume=kept", "--retry-failed"]).expect(0);
    assert!(retried.err.contains("2 runs to make"), "{}", retried.err);
    is_whole(&at.join("kept"), 4);
}

#[test]
fn targets_are_directories_or_files() {
    let directory = scratch();
    let at = directory.path();
    fs::create_dir(at.join("here")).unwrap();
    let line = [
        "--name=a",
        "--rw=write",
        "--size=64k",
        "--vary=target=here,file",
        "--repeat=1",
        "--into=kept",
    ];
    let ran = sweep(at, &line).expect(3);
    assert!(ran.err.contains("--vary target=file: it does not exist"), "{}", ran.err);
    assert_eq!(names(at), ["here"]);
    fs::write(at.join("file"), "").unwrap();
    let absolute = format!("--filename={}", at.join("x/f.dat").display());
    let ran = sweep(at, &[&line[..], &[&absolute]].concat()).expect(2);
    assert!(ran.err.contains("--vary target=here: the job works on /"), "{}", ran.err);
    assert_eq!(names(at), ["file", "here"]);
    sweep(at, &line).expect(0);
    assert_eq!(fs::metadata(at.join("here/a.0.0")).unwrap().len(), 64 << 10);
    assert_eq!(fs::metadata(at.join("file")).unwrap().len(), 64 << 10);
}

#[test]
fn a_job_moves_through_a_file_by_position() {
    let directory = scratch();
    let at = directory.path();
    fs::write(at.join("file"), vec![7; 1 << 20]).unwrap();
    let job =
        ["--name=a", "--filename=file", "--rw=read", "--bs=4k", "--into=kept", "--no-archive"];
    let vary = ["--vary=position=start,middle,end", "--repeat=2", "--percent-of=start", "--json"];
    let value = sweep(at, &[&job[..], &vary].concat()).expect(0).json();
    let column = &value["tables"][0]["columns"][0];
    assert_eq!(
        (&column["rows"][0]["value"], &column["rows"][0]["percent"]),
        (&"start".into(), &100.0.into())
    );
    assert!(column["rows"][2]["percent_low"].is_f64(), "{column}");
    let runs = formats::load_set(&at.join("kept")).unwrap().runs;
    let starts = runs.iter().map(|run| run.jobs[0].workload.regions[0].start.0);
    let mut starts: Vec<u64> = starts.collect();
    starts.sort_unstable();
    starts.dedup();
    assert_eq!(starts, [0, 475136, 946176], "the tenths from 0 %, 45 % and 90 %, in whole blocks");
    let refused = sweep(at, &["--show=kept", "--percent-of=half"]).expect(2);
    assert!(refused.err.contains("'half' is neither best, first or total"), "{}", refused.err);
}

#[test]
fn options_that_change_nothing_are_named_before_anything_runs() {
    let directory = scratch();
    let told = |engine: &str, name: &str| {
        let vary = [engine, "--repeat=1", "--vary=bs=4k,8k", "--vary=iodepth=1,2"];
        let into = format!("--into={name}");
        sweep(directory.path(), &[&SHORT[..], &vary, &[&into]].concat()).expect(0).err
    };
    let text = "--vary iodepth: its values have no effect on the run: the engine does one";
    let psync = told("--ioengine=psync", "psync");
    assert!(psync.contains(text) && !psync.contains("--vary bs"), "{psync}");
    assert!(!told("--ioengine=io_uring", "uring").contains("have no effect"));
}

#[test]
fn what_cannot_be_swept_is_refused_before_anything_is_touched() {
    let directory = scratch();
    let at = directory.path();
    fs::create_dir(at.join("full")).unwrap();
    fs::write(at.join("full/x"), "").unwrap();
    fs::write(at.join("bad.fio"), "[a]\nrw=reed\n").unwrap();
    let cases: [(&[&str], &str); 23] = [
        (&[], "nothing to vary"),
        (&["--vary=iodpeth=1,2"], "unknown option 'iodpeth'; did you mean 'iodepth'?"),
        (&["--vary=iodepth=1,x"], "iodepth"),
        (&["--vary=rw=read,reed,wriet"], "wriet"),
        (&["--vary=rw=read,reed,wriet"], "reed"),
        (&["--vary=iodepth"], "expected OPTION=VALUE"),
        (&["--vary=bs=4k,4k"], "'4k' is listed twice"),
        (&["--vary=iodepth=1..4"], "has no step"),
        (&["--vary=iodepth=1,2", "--vary=bs=4k", "--paired"], "lists of equal length"),
        (&["--vary=iodepth=1,2", "--vary=iodepth=4"], "given twice"),
        (&["--vary=b/iodepth=1,2"], "no job is called 'b'; there are a"),
        (&["--vary=name=x,y"], "the name of a job"),
        (&["--vary=iodepth=1", "--repeat=0"], "--repeat"),
        (&["--vary=iodepth=1", "--metric=iosp"], "did you mean iops?"),
        (
            &["--vary=fs=ext4", "--filename=/mnt/data/file"],
            "the job works on /mnt/data/file, not on the filesystems made for it",
        ),
        (&["--vary=iodepth=1", "--into=full"], "the directory is not empty"),
        (&["--vary=iodepth=1", "--into=bad.fio"], "the directory is not empty"),
        (&["--vary=iodepth=1", "--write_bw_log=x"], "each cell would overwrite"),
        (&["--vary=iodepth=1", "--record=x"], "--into=DIR keeps the runs"),
        (&["--vary=iodepth=1", "--output-format=json"], "--json prints JSON"),
        (&["--vary=iodepth=1", "--iodpeth=3"], "iodpeth"),
        (&["--vary=iodepth=1", "nowhere.fio"], "nowhere.fio"),
        (&["--vary=bs=4k", "bad.fio"], "bad.fio:2"),
    ];
    for (line, says) in cases {
        let ran = sweep(at, &[&SHORT[..], line].concat()).expect(2);
        assert!(ran.err.contains(says), "{line:?}: {}", ran.err);
        assert!(ran.out.is_empty(), "{line:?}: {}", ran.out);
    }
    let names: Vec<_> = fs::read_dir(at).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
}

#[test]
fn what_does_not_suit_is_refused_with_what_to_do() {
    let directory = scratch();
    let at = directory.path();
    fs::create_dir(at.join("full")).unwrap();
    let cases: [(&[&str], &str); 7] = [
        (&["--vary=bs=4k"], "no job"),
        (&["--resume=full"], "not a sweep (it has no sweep.json)"),
        (&["--show=nowhere"], "not a sweep (it has no sweep.json)"),
        (&["--resume=full", "--vary=bs=4k"], "cannot be used with"),
        (&["--resume=full", "--rw=read"], "a sweep stores its job"),
        (&["--sow=full", "--vary=bs=4k"], "--sow"),
        (&["--name=a", "--vary=nr_requests=64k"], "nr_requests=64k: expected"),
    ];
    for (line, says) in cases {
        let ran = sweep(at, line).expect(2);
        assert!(ran.err.contains(says), "{line:?}: {}", ran.err);
    }
    let swap = Loop::new(1 << 20);
    system("mkswap", &[&swap.device]);
    let target = format!("--filename={}", swap.device);
    let line = ["--name=a", "--rw=write", "--size=1m", &target, "--vary=bs=4k,8k"];
    let ran = sweep(at, &line).expect(3);
    assert!(ran.err.contains("--allow-destroy"), "{}", ran.err);
}

#[test]
fn a_directory_is_of_one_sweep_at_a_time() {
    let directory = scratch();
    let at = directory.path();
    let line = ["--time_based", "--runtime=30s", "--vary=iodepth=1,2", "--into=kept"];
    let running = Running::fathom("sweep", at, &[&SHORT[..], &line].concat());
    wait_until("the sweep", || running.said("err").contains("runs to make"));
    let second = sweep(at, &["--resume=kept"]).expect(3);
    assert!(second.err.contains("another process runs this sweep"), "{}", second.err);
    let taken = sweep(at, &[&SHORT[..], &line].concat()).expect(2);
    assert!(taken.err.contains("--resume kept continues it"), "{}", taken.err);
    sweep(at, &["--show=kept"]).expect(0);
    running.signal(Signal::INT);
    running.end().expect(130);
}
