//! Where and as whom jobs run: users, control groups, schedulers, CPUs, commands beside them.

use crate::common::{FATHOM, Running, as_fio, fathom, fio, loop_device, recorded, run, scratch};
use rustix::process::Signal;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Command;

fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path).unwrap()
}

/// A name for a control group that no other test has.
fn group(name: &str) -> String {
    format!("fathom-{name}-{}", std::process::id())
}

const BLKIO: &str = "/sys/fs/cgroup/blkio";

#[test]
fn commands_run_before_and_after_the_job_with_their_words_in_files() {
    let directory = scratch();
    let path = directory.path();
    let job = "[a]\nioengine=null\nsize=1m\nrw=read\n\
               exec_prerun=echo before && echo and an error >&2\nexec_postrun=echo after > mark\n";
    fs::write(path.join("job.fio"), job).unwrap();
    let ran = as_fio(path, &["job.fio", "--output-format=json"]).expect(0);
    assert_eq!(read(path.join("a.prerun.txt")), "before\nand an error\n");
    assert_eq!(read(path.join("a.postrun.txt")), "");
    assert_eq!(read(path.join("mark")), "after\n");
    assert_eq!(ran.json()["jobs"][0]["error"], 0);
    // The oracle takes the same two names.
    let theirs = scratch();
    fs::write(theirs.path().join("job.fio"), job).unwrap();
    fio(theirs.path(), &["job.fio"]).expect(0);
    for name in ["a.prerun.txt", "a.postrun.txt"] {
        assert!(theirs.path().join(name).exists(), "{name}");
    }
}

/// The oracle leaves the job out without a word and ends with 0.
#[test]
fn a_command_before_the_job_that_fails_fails_it() {
    let directory = scratch();
    let path = directory.path();
    let base = ["--name=a", "--ioengine=null", "--size=1m", "--exec_prerun=exit 3"];
    let after = "--exec_postrun=touch after";
    let ran = as_fio(path, &[&base[..], &[after]].concat()).expect(1);
    assert!(ran.err.contains("cannot run exec_prerun") && ran.err.contains("exit status: 3"));
    assert!(!path.join("after").exists(), "the job did not come to its I/O");
    let ran = as_fio(path, &["--name=a", "--ioengine=null", "--size=1m", "--exec_postrun=exit 4"]);
    assert!(ran.expect(0).out.contains("exec_postrun failed"));
}

#[test]
fn a_command_before_the_job_comes_after_its_delay_and_ends_with_the_run() {
    let directory = scratch();
    let path = directory.path();
    // What the shell starts ends with it: the sleep is a process of its own.
    let command = "--exec_prerun=sleep 600 & echo $! > begun; mv begun started; wait";
    let arguments = ["--name=a", "--ioengine=null", "--size=1m", command];
    let mut running = Running::fathom("fio", path, &arguments);
    crate::common::wait_until("the command", || path.join("started").exists());
    running.signal(Signal::INT);
    running.says("err", "exec_prerun");
    assert_ne!(running.end().code, 0);
    let sleep: i32 = read(path.join("started")).trim().parse().unwrap();
    let sleep = rustix::process::Pid::from_raw(sleep).unwrap();
    let gone = || rustix::process::test_kill_process(sleep).is_err();
    crate::common::wait_until("the end of what the command started", gone);
}

#[test]
fn workers_run_as_the_user_and_group_they_are_told() {
    let directory = scratch();
    let path = directory.path();
    fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
    let ids = [
        "--name=a",
        "--filename=made",
        "--size=64k",
        "--rw=write",
        "--create_on_open=1",
        "--uid=4321",
        "--gid=8765",
        "--exec_prerun=id -u; id -g",
    ];
    as_fio(path, &ids).expect(0);
    let made = fs::metadata(path.join("made")).unwrap();
    assert_eq!((made.uid(), made.gid()), (4321, 8765));
    assert_eq!(read(path.join("a.prerun.txt")), "4321\n8765\n");
    // Another worker of the run is not changed by it.
    let job = "[global]\nsize=64k\nrw=write\ncreate_on_open=1\n[a]\nfilename=one\nuid=4321\n[b]\n\
               filename=two\n";
    fs::write(path.join("job.fio"), job).unwrap();
    as_fio(path, &["job.fio"]).expect(0);
    let owners = ["one", "two"].map(|name| fs::metadata(path.join(name)).unwrap().uid());
    assert_eq!(owners, [4321, 0]);
}

/// As with the oracle: a file of the caller cannot be opened by a user who may not.
#[test]
fn a_user_who_may_not_open_the_file_fails() {
    let directory = scratch();
    let path = directory.path();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    let arguments = [
        "--name=a",
        "--filename=mine",
        "--size=64k",
        "--rw=write",
        "--uid=4321",
        "--output-format=json",
    ];
    fs::write(path.join("mine"), vec![0; 65536]).unwrap();
    for ran in [as_fio(path, &arguments), fio(path, &arguments)] {
        assert_eq!(ran.code, 1, "{ran:?}");
        let text = &ran.out[ran.out.find("{\n").unwrap()..];
        let document: serde_json::Value = serde_json::from_str(text).unwrap();
        assert_eq!(document["jobs"][0]["error"], 13);
    }
}

#[test]
fn a_thread_joins_its_control_group_and_the_group_goes_with_the_run() {
    let directory = scratch();
    let name = group("joins");
    let place = format!("{BLKIO}/{name}");
    let option = format!("--cgroup={name}");
    let look = format!("--exec_prerun=cat /proc/self/cgroup; cat {place}/tasks | wc -l");
    let base = ["--name=a", "--ioengine=null", "--size=1m", &option, &look];
    as_fio(directory.path(), &base).expect(0);
    let seen = read(directory.path().join("a.prerun.txt"));
    let blkio = seen.lines().find(|line| line.contains("blkio")).unwrap();
    assert!(blkio.ends_with(&name), "{seen}");
    assert!(!Path::new(&place).exists());
    let kept = [&base[..4], &["--cgroup_nodelete=1"]].concat();
    as_fio(directory.path(), &kept).expect(0);
    assert!(Path::new(&place).exists());
    fs::remove_dir(&place).unwrap();
}

#[test]
fn a_group_without_weights_is_an_error_and_is_removed_again() {
    let directory = scratch();
    let name = group("weighs");
    let option = format!("--cgroup={name}");
    let arguments = ["--name=a", "--ioengine=null", "--size=1m", &option, "--cgroup_weight=500"];
    // Only groups below the root have the file.
    let probe = format!("{BLKIO}/{}", group("probe"));
    fs::create_dir(&probe).unwrap();
    let there = |file: &&str| Path::new(&format!("{probe}/blkio.{file}")).exists();
    let has_weights = ["weight", "bfq.weight"].iter().any(there);
    fs::remove_dir(&probe).unwrap();
    let ran = as_fio(directory.path(), &arguments);
    match has_weights {
        true => assert_eq!(ran.code, 0, "{ran:?}"),
        false => assert!(ran.code == 1 && ran.err.contains("blkio.bfq.weight"), "{ran:?}"),
    }
    assert!(!Path::new(&format!("{BLKIO}/{name}")).exists());
    let mistakes = [("--cgroup=../up", "names no group"), ("--cgroup=", "cgroup")];
    for (option, expected) in mistakes {
        let ran = fathom(directory.path(), &["--name=a", "--ioengine=null", "--size=1m", option]);
        assert!(ran.code == 2 && ran.err.contains(expected), "{ran:?}");
    }
}

fn scheduler(device: &str) -> String {
    let text = read(format!("/sys/block/{device}/queue/scheduler"));
    text.split_whitespace().find(|name| name.starts_with('[')).unwrap_or("").to_owned()
}

#[test]
fn the_scheduler_is_switched_for_the_run_and_put_back() {
    let directory = scratch();
    let path = directory.path();
    let device = loop_device(path, 1 << 20, &[]);
    let name = device.name().to_owned();
    fs::write(format!("/sys/block/{name}/queue/scheduler"), "none").unwrap();
    let filename = format!("--filename={}", device.device);
    let look = format!("--exec_prerun=cat /sys/block/{name}/queue/scheduler");
    let base = ["--name=a", &filename, "--rw=read", "--bs=64k"];
    let switched = [&base[..], &["--ioscheduler=mq-deadline", &look]].concat();
    as_fio(path, &switched).expect(0);
    assert!(read(path.join("a.prerun.txt")).contains("[mq-deadline]"));
    assert_eq!(scheduler(&name), "[none]");
    // An error of the job.
    let failing = [&base[..], &["--ioscheduler=mq-deadline", "--exec_prerun=exit 1"]].concat();
    as_fio(path, &failing).expect(1);
    assert_eq!(scheduler(&name), "[none]");
    // Ctrl-C.
    let long = [&base[..], &["--ioscheduler=mq-deadline", "--time_based", "--runtime=60"]].concat();
    let running = Running::fathom("fio", path, &long);
    crate::common::wait_until("the switch", || scheduler(&name) == "[mq-deadline]");
    running.signal(Signal::INT);
    running.end();
    assert_eq!(scheduler(&name), "[none]");
    let unknown = [&base[..], &["--ioscheduler=elevator"]].concat();
    let ran = fathom(path, &unknown).expect(3);
    assert!(ran.err.contains("no I/O scheduler 'elevator'") && ran.err.contains("mq-deadline"));
}

#[test]
fn cpus_are_shared_or_dealt_out() {
    let directory = scratch();
    for policy in ["shared", "split"] {
        let job = format!(
            "[a]\nioengine=null\nsize=1m\nnumjobs=2\ncpus_allowed=0-1\ncpus_allowed_policy={policy}\n\
             exec_prerun=grep Cpus_allowed_list /proc/self/status | tee -a seen-{policy}\n"
        );
        fs::write(directory.path().join("job.fio"), job).unwrap();
        as_fio(directory.path(), &["job.fio"]).expect(0);
        let seen = read(directory.path().join(format!("seen-{policy}")));
        let mut lists: Vec<&str> =
            seen.lines().filter_map(|line| line.split_whitespace().nth(1)).collect();
        lists.sort_unstable();
        let expected = if policy == "split" { ["0", "1"] } else { ["0-1", "0-1"] };
        assert_eq!(lists, expected);
    }
}

/// What fio does with it: latencies go, the counts stay.
#[test]
fn gtod_reduce_and_its_parts_leave_the_counts() {
    let directory = scratch();
    let counts = |arguments: &[&str]| {
        let base = ["--name=a", "--ioengine=null", "--size=1m", "--rw=read"];
        let record = recorded(directory.path(), 0, &[&base[..], arguments].concat());
        let read = &record.jobs[0].results.read;
        (read.ios, read.latency.clat.is_some())
    };
    assert_eq!(counts(&[]), (256, true));
    assert_eq!(counts(&["--gtod_reduce=1"]), (256, false));
    assert_eq!(counts(&["--disable_clat=1", "--disable_lat=1", "--disable_slat=1"]), (256, false));
    assert_eq!(counts(&["--clocksource=gettimeofday", "--gtod_cpu=0"]), (256, true));
}

#[test]
fn what_is_written_is_synchronised_once_at_the_end() {
    let directory = scratch();
    let trace = directory.path().join("trace");
    for (asked, call) in
        [("end_syncfs", "syncfs("), ("end_fsync", "fsync("), ("fsync_on_close", "fsync(")]
    {
        let asked = format!("--{asked}=1");
        let arguments = ["--name=a", "--size=64k", "--rw=write", &asked];
        let mut command = Command::new("strace");
        command.args(["-f", "-e", "trace=syncfs,fsync", "-o"]).arg(&trace);
        run(command.arg(FATHOM).arg("fio").args(arguments).current_dir(directory.path())).expect(0);
        assert_eq!(read(&trace).matches(call).count(), 1, "{asked}: {}", read(&trace));
    }
}

/// The call is held up, so that its time stands out on any machine.
#[test]
fn the_time_of_the_last_fsync_is_part_of_the_run() {
    let directory = scratch();
    let trace = directory.path().join("trace");
    let trace = trace.to_str().unwrap();
    let held = ["-e", "trace=fsync", "-e", "inject=fsync:delay_enter=300000"];
    let starter = [&["strace", "-f", "-qq", "-o", trace], &held[..]].concat();
    for asked in ["--end_fsync=1", "--fsync_on_close=1"] {
        let job = ["--name=a", "--size=64k", "--rw=write", asked];
        let record = crate::common::recorded_by(&starter, directory.path(), 0, &job);
        let job = &record.jobs[0];
        assert!(job.results.write.runtime.seconds() >= 0.3, "{:?}", job.results.write.runtime);
        assert!((job.ended - job.started).seconds() >= 0.3, "{asked}");
    }
}

#[test]
fn a_thread_has_the_name_asked_for() {
    let directory = scratch();
    let job = ["--name=a", "--size=1m", "--rw=randread", "--time_based", "--runtime=20"];
    let shown = ["--eta=always", "--eta-interval=250ms", "--comm=a-name-that-is-cut"];
    let mut running = Running::fathom("run", directory.path(), &[&job[..], &shown].concat());
    running.says("err", "[r(1)]");
    let tasks = fs::read_dir(format!("/proc/{}/task", running.pid())).unwrap();
    let name = |task: std::io::Result<fs::DirEntry>| {
        fs::read_to_string(task.unwrap().path().join("comm")).unwrap_or_default()
    };
    let names: Vec<String> = tasks.map(name).collect();
    assert!(names.iter().any(|name| name == "a-name-that-is-\n"), "{names:?}");
    running.signal(Signal::INT);
    running.end().expect(130);
}

#[test]
fn a_priority_hint_reaches_the_kernel() {
    let directory = scratch();
    let job = ["run", "--name=a", "--size=4k", "--rw=read", "--ioengine=psync"];
    let priority = ["--prioclass=2", "--prio=5", "--priohint=4"];
    let mut traced = Command::new("strace");
    traced.args(["-f", "-qq", "-e", "trace=ioprio_set", "-e", "raw=ioprio_set", FATHOM]);
    let ran = run(traced.args(job).args(priority).current_dir(directory.path())).expect(0);
    // Class, hint and level have 3, 10 and 3 bits.
    let value = format!("0x{:x}", 2 << 13 | 4 << 3 | 5);
    assert!(ran.err.contains(&value), "{value}: {}", ran.err);
}
