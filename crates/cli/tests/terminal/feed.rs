//! The live feed of a run: readers receive it, slow readers are dropped, and files of processes
//! that ended are removed.

use crate::common::tty::{SEEN_RUNNING, Tty};
use crate::common::{FATHOM, Running, scratch, wait_until};
use live::feed::{self, FeedProcess, FeedReader, Line};
use live::run::{Moment, RunInfo, State};
use rustix::process::Signal;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

/// A job that would take a minute.
const LONG: [&str; 8] = [
    "--name=reader",
    "--ioengine=null",
    "--rw=randrw",
    "--bs=4k",
    "--size=1g",
    "--numjobs=2",
    "--time_based",
    "--runtime=60",
];

/// A run with its own runtime directory.
struct Told {
    running: Running,
    runtime: TempDir,
}

impl Told {
    #[track_caller]
    fn start(verb: &[&str], arguments: &[&str]) -> Told {
        let runtime = scratch();
        let mut command = Command::new("env");
        command.args(["--default-signal=HUP", FATHOM]).args(verb).args(arguments);
        command.env("XDG_RUNTIME_DIR", runtime.path()).current_dir(runtime.path());
        Told { running: Running::start(&mut command), runtime }
    }

    fn directory(&self) -> PathBuf {
        self.runtime.path().join("fathom")
    }

    /// The listed process, as soon as a running one is listed.
    #[track_caller]
    fn listed(&self) -> FeedProcess {
        let directory = self.directory();
        let mut listed = None;
        wait_until("a run that is listed", || {
            listed = feed::list(&directory).unwrap().pop().filter(|one| one.info.is_some());
            listed.is_some()
        });
        listed.unwrap()
    }

    #[track_caller]
    fn follow(&self) -> FeedReader {
        FeedReader::connect(&self.listed().path).unwrap()
    }
}

#[track_caller]
fn head(follow: &mut FeedReader) -> RunInfo {
    match follow.next_line().unwrap() {
        Some(Line::Run(head)) => head,
        other => panic!("no run: {other:?}"),
    }
}

/// The next moment that meets a condition.
#[track_caller]
fn moment(follow: &mut FeedReader, wanted: impl Fn(&Moment) -> bool) -> Moment {
    loop {
        match follow.next_line().unwrap() {
            Some(Line::Moment(moment)) if wanted(&moment) => return *moment,
            Some(Line::Moment(_)) => {}
            other => panic!("no moment: {other:?}"),
        }
    }
}

#[test]
fn who_listens_is_told_what_the_run_does_and_how_it_ended() {
    let told = Told::start(&["run"], &LONG);
    let listed = told.listed();
    assert_eq!(listed.pid, told.running.pid());
    let mode = std::fs::metadata(told.directory()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    let mut follow = FeedReader::connect(&listed.path).unwrap();
    let head = head(&mut follow);
    assert_eq!((head.pid, head.run, head.workers), (told.running.pid(), 1, 2));
    assert_eq!((head.name.as_str(), head.arguments[1].as_str()), ("reader", "run"));
    let first = moment(&mut follow, |moment| moment.jobs[0].directions.read.is_some());
    let job = &first.jobs[0];
    assert_eq!((first.jobs.len(), job.name.as_str(), job.workers), (1, "reader", 2));
    assert_eq!((job.state, job.workload.as_str()), (State::Running, "randrw 4k null"));
    assert!(first.remaining_seconds.is_some_and(|left| left < 61.0));
    let later = moment(&mut follow, |moment| {
        moment.machine.is_some()
            && moment.jobs[0].directions.write.as_ref().unwrap().latency.is_some()
    });
    for (direction, now) in later.jobs[0].directions.iter() {
        let Some(now) = now else { continue };
        let latency = now.latency.unwrap();
        assert!(
            now.iops > 0.0 && (now.bytes_per_second - now.iops * 4096.0).abs() < 1.0,
            "{direction:?}"
        );
        assert!(latency.p50_ns <= latency.p99_ns && latency.p99_ns <= latency.p999_ns);
        assert!(now.ios > 0 && now.mean_iops.unwrap() > 0.0 && now.bytes == now.ios * 4096);
    }
    assert!(later.elapsed_seconds > first.elapsed_seconds && later.own_cpu_percent.unwrap() > 0.0);
    assert!(later.machine.unwrap().cpu.is_some());
    told.running.signal(Signal::INT);
    let ended = loop {
        match follow.next_line().unwrap() {
            Some(Line::Ended(ended)) => break ended,
            Some(_) => {}
            None => panic!("it did not say how it ended"),
        }
    };
    assert_eq!((ended.run, ended.interrupted_by, ended.errors), (1, Some(2), 0));
    while let Some(line) = follow.next_line().unwrap() {
        assert!(matches!(line, Line::Saved(_)), "{line:?}");
    }
    let Told { running, runtime } = told;
    running.end().expect(130);
    assert!(sockets(runtime.path()).is_empty());
}

fn sockets(runtime: &Path) -> Vec<String> {
    crate::common::names(&runtime.join("fathom"))
}

#[test]
fn one_that_does_not_read_costs_the_run_nothing() {
    let told = Told::start(&["run"], &[&LONG[..7], &["--runtime=4", "--record=r.json"]].concat());
    let path = told.listed().path;
    let stuck: Vec<UnixStream> = (0..100).map(|_| UnixStream::connect(&path).unwrap()).collect();
    let Told { running, runtime } = told;
    running.end().expect(0);
    drop(stuck);
    let record = formats::load(&runtime.path().join("r.json")).unwrap();
    for job in &record.jobs {
        assert!((job.ended - job.started).seconds() < 4.5, "{:?}", job.ended);
    }
}

#[test]
fn what_one_that_was_killed_left_is_removed_by_the_next_one() {
    let told = Told::start(&["run"], &LONG);
    let path = told.listed().path;
    let Told { running, runtime } = told;
    running.signal(Signal::KILL);
    running.end().expect(-9);
    assert!(path.exists());
    assert_eq!(feed::list(&runtime.path().join("fathom")).unwrap(), []);
    assert!(!path.exists());
}

#[test]
fn repeats_tell_of_each_run_and_so_does_the_name_fio() {
    let quick =
        ["--name=a", "--ioengine=null", "--rw=read", "--size=1g", "--time_based", "--runtime=2"];
    let told = Told::start(&["run"], &[&quick[..], &["--repeat=2"]].concat());
    let mut follow = told.follow();
    let mut runs = Vec::new();
    while let Some(line) = follow.next_line().unwrap() {
        match line {
            Line::Run(head) => runs.push(head.run),
            Line::Moment(moment) => assert_eq!(Some(&moment.run), runs.last()),
            Line::Ended(ended) => assert_eq!(Some(&ended.run), runs.last()),
            Line::Saved(_) => {}
        }
    }
    assert_eq!(runs, [1, 2]);
    told.running.end().expect(0);
    let told = Told::start(&["fio"], &LONG);
    let mut follow = told.follow();
    assert_eq!(head(&mut follow).arguments[1], "fio");
    moment(&mut follow, |moment| moment.jobs[0].state == State::Running);
    told.running.signal(Signal::TERM);
    // fio's exit code.
    told.running.end().expect(128);
}

#[test]
fn a_directory_that_is_not_ones_own_is_not_used_and_costs_the_run_nothing() {
    let runtime = scratch();
    std::fs::create_dir(runtime.path().join("fathom")).unwrap();
    let open = PermissionsExt::from_mode(0o777);
    std::fs::set_permissions(runtime.path().join("fathom"), open).unwrap();
    let quick = ["run", "--name=a", "--ioengine=null", "--rw=read", "--size=1m"];
    let mut command = Command::new(FATHOM);
    command.args(quick).env("XDG_RUNTIME_DIR", runtime.path()).current_dir(runtime.path());
    crate::common::run(&mut command).expect(0);
    assert!(sockets(runtime.path()).is_empty());
    assert!(feed::list(&runtime.path().join("fathom")).is_err());
}

/// `fathom watch ARGUMENTS` with the runtime directory `runtime`.
#[track_caller]
fn watch(runtime: &Path, arguments: &[&str]) -> crate::common::Ran {
    let mut command = Command::new(FATHOM);
    crate::common::run(command.arg("watch").args(arguments).env("XDG_RUNTIME_DIR", runtime))
}

#[test]
fn a_run_is_watched_from_elsewhere() {
    let told = Told::start(&["run"], &LONG);
    let pid = told.listed().pid;
    let runtime = told.runtime.path().to_owned();
    let mut follow = told.follow();
    head(&mut follow);
    moment(&mut follow, |now| now.jobs.iter().all(|job| job.state == State::Running));
    drop(follow);
    let lines = watch(&runtime, &["--run", "--count=2"]).expect(0).out;
    let words: Vec<Vec<&str>> =
        lines.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(words[0][0], "#", "{lines}");
    assert_eq!(words[1][1..4], ["reader", "running", "read"], "{lines}");
    assert_eq!((words[2][3], words.len()), ("write", 5), "{lines}");
    let json = watch(&runtime, &[&format!("--run={pid}"), "--json", "--count=1"]).expect(0).out;
    let json: Vec<Line> = json.lines().map(|line| Line::parse(line).unwrap()).collect();
    assert!(matches!(&json[..], [Line::Run(head), Line::Moment(_)] if head.pid == pid), "{json:?}");
    let another = watch(&runtime, &["--run=1"]).expect(2).err;
    assert!(another.contains("process 1 has no run in progress; these have:"), "{another}");
    assert!(another.contains(&format!("--run={pid}  reader")), "{another}");

    let dressing = format!("XDG_RUNTIME_DIR={} ", runtime.display());
    let mut tty = Tty::dressed(&dressing, "watch", 30, 110, "--run");
    for part in ["(2)", SEEN_RUNNING, "quit"] {
        tty.shows(part);
    }
    tty.press("q");
    tty.ended("0");
    let tty = Tty::dressed(&dressing, "watch", 30, 110, "--run");
    tty.shows("(2)");
    told.running.signal(Signal::INT);
    tty.shows("reader was ended by signal 2");
    tty.ended("0");
    told.running.end().expect(130);
    let nothing = watch(&runtime, &["--run"]).expect(2).err;
    assert!(nothing.contains("no run of this user is in progress"), "{nothing}");
}

#[test]
fn one_that_is_killed_is_told_of_as_such() {
    let told = Told::start(&["run"], &LONG);
    let directory = told.runtime.path().to_owned();
    let mut watching = Command::new("env");
    watching.args([FATHOM, "watch", "--run", "--plain"]).env("XDG_RUNTIME_DIR", &directory);
    told.listed();
    let mut watching = Running::start(&mut watching);
    watching.says("out", "running");
    told.running.signal(Signal::KILL);
    let ran = watching.end().expect(1);
    assert!(ran.err.contains("ended without saying how its run ended"), "{}", ran.err);
}

#[test]
fn a_feed_is_made_only_while_somebody_listens() {
    let told = Told::start(&["run"], &LONG);
    let mut follow = told.follow();
    head(&mut follow);
    moment(&mut follow, |_| true);
    drop(follow);
    // A later reader receives the earlier figures, and only those, at once.
    std::thread::sleep(Duration::from_secs(4));
    let mut follow = told.follow();
    head(&mut follow);
    let mut past = 0;
    while follow.next_line_within(Duration::from_millis(50)).is_ok() {
        past += 1;
    }
    assert!(past <= 3, "{past} moments were made for nobody");
}
