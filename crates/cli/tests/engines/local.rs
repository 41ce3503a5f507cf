//! Engines that move no data of files: what they leave behind and count, against the oracle where it
//! knows them; and that nothing is said of storage where there is none.

use crate::common::{Ran, as_fio, fathom, fio, recorded, scratch};
use serde_json::Value;
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What is below a directory: length, permissions and blocks by name.
fn left(directory: &Path) -> BTreeMap<String, (u64, u32)> {
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
    entries
        .map(|entry| {
            let metadata = entry.metadata().unwrap();
            let size = if metadata.is_dir() { 0 } else { metadata.len() };
            (entry.file_name().into_string().unwrap(), (size, metadata.mode()))
        })
        .collect()
}

/// I/Os, bytes and completion latencies of each direction, and the error.
fn counts(ran: &Ran) -> Vec<i64> {
    let job = &ran.json()["jobs"][0];
    let number = |value: &Value| value.as_i64().unwrap_or_else(|| panic!("{value} of {job}"));
    let mut counts = vec![number(&job["error"])];
    for direction in ["read", "write", "trim"] {
        let direction = &job[direction];
        counts.extend([&direction["total_ios"], &direction["io_bytes"]].map(number));
        counts.push(number(&direction["clat_ns"]["N"]));
    }
    counts
}

#[test]
fn files_are_made_asked_for_and_removed_as_by_the_oracle() {
    let jobs = [
        "filecreate nrfiles=9 filesize=4k create_on_open=1 openfiles=1 rw=write",
        "filecreate nrfiles=9 filesize=4k",
        "filecreate nrfiles=3 filesize=16k bs=16k loops=3 rw=write",
        "filecreate nrfiles=4 filesize=4k rw=randwrite file_service_type=sequential",
        "filestat nrfiles=9 filesize=4k",
        "filestat nrfiles=9 filesize=4k rw=write openfiles=2",
        "filestat nrfiles=9 filesize=8k bs=8k stat_type=lstat rw=randread",
        "filestat nrfiles=5 filesize=4k stat_type=statx loops=2",
        "filedelete nrfiles=9 filesize=4k",
        "filedelete nrfiles=9 filesize=4k openfiles=1 rw=write",
        "ftruncate size=64k rw=write",
        "ftruncate size=64k rw=write bs=16k loops=2",
        "ftruncate filesize=32k nrfiles=2 size=64k rw=write",
        "falloc size=64k rw=write",
        "falloc size=64k rw=read",
        "falloc size=64k rw=trim bs=8k",
        "falloc size=64k rw=randtrim",
        "splice size=640k rw=write bs=128k",
        "splice size=64k rw=read",
        "splice size=64k rw=randread bs=8k",
        "splice size=1m rw=randwrite bs=64k loops=2",
    ];
    for job in jobs {
        let mut arguments = vec!["--output-format=json".to_owned(), "--name=t".into()];
        let mut words = job.split(' ');
        arguments.push(format!("--ioengine={}", words.next().unwrap()));
        arguments.extend(words.map(|word| format!("--{word}")));
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let (ours, theirs) = (scratch(), scratch());
        let our = as_fio(ours.path(), &arguments).expect(0);
        let their = fio(theirs.path(), &arguments).expect(0);
        assert_eq!(counts(&our), counts(&their), "{job}");
        assert_eq!(left(ours.path()), left(theirs.path()), "{job}");
    }
}

#[test]
fn holes_are_punched_and_space_is_kept() {
    let blocks = |rw: &str| {
        let directory = scratch();
        let rw = format!("--rw={rw}");
        let job = ["--name=t", "--ioengine=falloc", "--size=64k", &rw, "--filename=file"];
        as_fio(directory.path(), &job).expect(0);
        std::fs::metadata(directory.path().join("file")).unwrap().blocks()
    };
    assert_eq!(blocks("trim"), 0);
    assert_eq!(blocks("write"), 128);
}

#[test]
fn each_file_is_one_io_however_long_it_is_to_be() {
    let directory = scratch();
    let job = ["--name=t", "--ioengine=filecreate", "--nrfiles=10", "--filesize=64k"];
    let record = recorded(directory.path(), 0, &job);
    assert_eq!(record.jobs[0].results.read.ios, 10);
    assert_eq!(left(directory.path()).len(), 10);
}

#[test]
fn directories_are_made_asked_for_and_removed() {
    let directory = scratch();
    let job = |engine: &str| {
        let engine = format!("--ioengine={engine}");
        let job = ["--name=t", &engine, "--nrfiles=5", "--filesize=4k", "--output-format=json"];
        let ran = as_fio(directory.path(), &job).expect(0);
        assert_eq!(counts(&ran), [0, 5, 5 * 4096, 5, 0, 0, 0, 0, 0, 0], "{engine}");
        left(directory.path()).into_values().filter(|(_, mode)| mode & 0o40000 != 0).count()
    };
    assert_eq!(job("dircreate"), 5);
    assert_eq!(job("dircreate"), 5, "those that are there are no error");
    assert_eq!(job("dirstat"), 5);
    assert_eq!(job("dirdelete"), 0);
    assert_eq!(job("dirstat"), 5, "they are made first");
    assert_eq!(job("dirdelete"), 0);
}

#[test]
fn what_fails_is_named() {
    let directory = scratch();
    let job = ["--name=t", "--ioengine=filedelete", "--nrfiles=2", "--filesize=4k", "--loops=2"];
    let ran = fathom(directory.path(), &job).expect(1);
    assert!(ran.err.contains("unlink of 't.0.0' failed: No such file or directory"), "{}", ran.err);
    assert!(left(directory.path()).is_empty());
    std::fs::create_dir(directory.path().join("full")).unwrap();
    std::fs::write(directory.path().join("full/file"), "").unwrap();
    let job = ["--name=t", "--ioengine=dirdelete", "--filename=full", "--filesize=4k"];
    let ran = fathom(directory.path(), &job).expect(1);
    assert!(ran.err.contains("rmdir of 'full' failed: Directory not empty"), "{}", ran.err);
    assert!(directory.path().join("full/file").exists());
}

#[test]
fn contradictions_are_refused_and_touch_nothing() {
    let directory = scratch();
    std::fs::write(directory.path().join("file"), "kept").unwrap();
    std::fs::create_dir(directory.path().join("directory")).unwrap();
    let before = left(directory.path());
    let jobs = [
        ("--ioengine=ftruncate --size=64k --rw=read", "give write or randwrite", 2),
        ("--ioengine=cpuio --runtime=1", "cpuload", 2),
        ("--ioengine=cpuio --runtime=1 --cpuload=0", "cpuload", 2),
        ("--ioengine=cpuio --runtime=1 --cpuload=101", "cpuload", 2),
        ("--ioengine=cpuio --runtime=1 --cpuload=9 --cpumode=x", "cpumode", 2),
        ("--ioengine=exec --runtime=1", "program", 2),
        ("--ioengine=filecreate --nrfiles=2", "size", 2),
        ("--ioengine=filestat --filesize=4k --stat_type=x", "stat_type", 2),
        ("--ioengine=filecreate --filesize=4k --fsync=1", "fsync", 2),
        ("--ioengine=filedelete --filesize=4k --filename=directory", "is a directory", 3),
        ("--ioengine=filedelete --filesize=4k --filename=/dev/null", "no regular file", 3),
        ("--ioengine=dirdelete --filesize=4k --filename=file", "is no directory", 3),
        ("--ioengine=filedelete --filesize=4 --bs=4 --filename=file --readonly", "--readonly", 3),
        ("--ioengine=filecreate --filesize=4k --readonly", "--readonly", 3),
        ("--ioengine=falloc --size=4k --filename=/dev/null --rw=write", "no regular file", 3),
    ];
    for (job, word, code) in jobs {
        let arguments: Vec<&str> =
            [&["--name=t"], &job.split(' ').collect::<Vec<_>>()[..]].concat();
        let ran = fathom(directory.path(), &arguments).expect(code);
        assert!(ran.err.contains(word), "{job}: {}", ran.err);
        assert_eq!(left(directory.path()), before, "{job}");
    }
}

#[test]
fn a_program_runs_once_and_is_ended_with_its_job() {
    let directory = scratch();
    let exec = |code: i32, options: &[&str]| {
        let base = ["--name=t", "--ioengine=exec"];
        recorded(directory.path(), code, &[&base, options].concat())
    };
    let echo = ["--program=/bin/echo", "--arguments=%n  takes %r 'x'"];
    let record = exec(0, &[&echo[..], &["--time_based", "--runtime=1"]].concat());
    let out = std::fs::read_to_string(directory.path().join("t.stdout")).unwrap();
    assert_eq!(out, "t takes 1 'x'\n");
    assert_eq!(std::fs::read(directory.path().join("t.stderr")).unwrap(), b"");
    assert_eq!(record.jobs[0].results.read.ios, 1);
    assert!(record.jobs[0].elapsed.0 >= 990_000_000, "it lasts its time: {record:?}");
    let record = exec(0, &["--program=/bin/sleep", "--arguments=0.3"]);
    let slept = record.jobs[0].results.read.latency.clat.as_ref().unwrap().min();
    assert!((250_000_000..5_000_000_000).contains(&slept), "{slept}");
    let record = exec(0, &["--program=/bin/sleep", "--arguments=600", "--runtime=1"]);
    assert!(record.jobs[0].elapsed.0 < 30_000_000_000, "SIGTERM ends it");
    std::fs::write(directory.path().join("deaf"), "#!/bin/sh\ntrap '' TERM\nsleep 600\n").unwrap();
    let script = "--arguments=deaf";
    let grace = "--grace_time=1";
    let record = exec(0, &["--program=/bin/sh", script, grace, "--runtime=1", "--time_based"]);
    assert!(record.jobs[0].elapsed.0 < 30_000_000_000, "SIGKILL ends it");
    let record = exec(0, &["--program=/bin/false"]);
    assert!(record.messages.iter().any(|m| m.text.contains("ended with exit status: 1")));
}

#[test]
fn a_program_that_is_missing_is_an_error() {
    let directory = scratch();
    let job = ["--name=t", "--ioengine=exec", "--program=/nowhere/program"];
    let ran = fathom(directory.path(), &job).expect(1);
    assert!(ran.err.contains("cannot run '/nowhere/program': No such file"), "{}", ran.err);
}

#[test]
fn what_a_program_prints_does_not_get_into_the_report() {
    let directory = scratch();
    let job = ["--name=t", "--ioengine=exec", "--program=/bin/echo", "--arguments=here"];
    let more = ["--std_redirect=0", "--output-format=json"];
    let ran = as_fio(directory.path(), &[&job[..], &more].concat()).expect(0);
    assert_eq!(ran.json()["jobs"][0]["error"], 0);
    assert!(ran.err.contains("here"));
    assert!(left(directory.path()).is_empty());
}

#[test]
fn memory_is_touched_once_a_page_and_anew_in_each_loop() {
    let directory = scratch();
    let faults = |options: &[&str]| {
        let base = ["--name=t", "--ioengine=page_fault", "--bs=64k", "--size=32m"];
        let record = recorded(directory.path(), 0, &[&base, options].concat());
        assert_eq!(record.jobs[0].error, 0);
        record.jobs[0].cpu.minor_faults
    };
    let pages = (32 << 20) / 4096;
    for rw in ["--rw=write", "--rw=randwrite", "--rw=read"] {
        let once = faults(&[rw]);
        assert!((pages..pages + pages / 4).contains(&once), "{rw}: {once}");
        let thrice = faults(&[rw, "--loops=3"]);
        assert!((3 * pages..4 * pages).contains(&thrice), "{rw}: {thrice}");
    }
    assert!(left(directory.path()).is_empty());
}

#[test]
fn nothing_is_said_of_storage_where_none_is_measured() {
    let storage = [
        "served-from-cache",
        "smaller-than-memory",
        "never-written",
        "not-durable",
        "depth-not-reached",
        "client-bound",
    ];
    let jobs: [&[&str]; 5] = [
        &["--ioengine=filecreate", "--nrfiles=50", "--filesize=4k", "--rw=write"],
        &["--ioengine=filestat", "--nrfiles=50", "--filesize=4k"],
        &["--ioengine=falloc", "--size=1m"],
        &["--ioengine=page_fault", "--size=1m"],
        &["--ioengine=cpuio", "--cpuload=90", "--runtime=1"],
    ];
    for job in jobs {
        let directory = scratch();
        let record = recorded(directory.path(), 0, &[&["--name=t"], job].concat());
        let judged = judge::judge(&record);
        for finding in &judged.findings {
            assert!(!storage.contains(&finding.check), "{job:?}: {finding:?}");
        }
        let words = format!("{:?}", judged.verdicts);
        assert!(!words.contains("sequential"), "{job:?}: {words}");
    }
}

/// What has no data cannot be checked, and what has no file cannot be locked.
#[test]
fn options_of_data_and_files_do_no_harm_to_engines_without() {
    let directory = scratch();
    for engine in ["filecreate", "dircreate", "falloc", "page_fault"] {
        let job = [
            &format!("--ioengine={engine}"),
            "--name=a",
            "--rw=write",
            "--nrfiles=3",
            "--filesize=4k",
            "--verify=md5",
            "--verify_backlog=1",
        ];
        let record = recorded(directory.path(), 0, &job);
        let (writes, reads) = (&record.jobs[0].results.write, &record.jobs[0].results.read);
        assert_eq!((writes.ios, reads.ios), (3, 0), "{engine}");
        let text = format!("verify does nothing: the {engine} engine moves no data");
        assert!(record.messages.iter().any(|m| *m.text == text), "{:?}", record.messages);
        for made in std::fs::read_dir(directory.path()).unwrap() {
            let path = made.unwrap().path();
            let _ = std::fs::remove_dir(&path).or_else(|_| std::fs::remove_file(&path));
        }
    }
    let load = ["--name=a", "--ioengine=cpuio", "--cpuload=50", "--cpuchunks=1000"];
    recorded(
        directory.path(),
        0,
        &[&load[..], &["--number_ios=2", "--lockfile=exclusive"]].concat(),
    );
}

#[test]
fn reads_that_are_looked_at_count_as_others() {
    let directory = scratch();
    for engine in ["psync", "pvsync2", "libaio", "io_uring", "mmap", "splice", "null"] {
        let counted = |touch: &str| {
            let line = format!(
                "--output-format=json --name=t --ioengine={engine} --filename=data --size=256k \
                 --rw=randrw --bsrange=512-16k --iodepth=4 --randseed=5 {touch}"
            );
            counts(
                &fathom(directory.path(), &line.split_whitespace().collect::<Vec<_>>()).expect(0),
            )
        };
        let plain = counted("--touch_read=0");
        assert!(plain[1] > 0 && plain[4] > 0, "{engine}: {plain:?}");
        for every in ["1", "512", "100000"] {
            assert_eq!(counted(&format!("--touch_read={every}")), plain, "{engine} {every}");
        }
    }
    let arguments = "--name=t --ioengine=filestat --filesize=4k --touch_read=512";
    let nothing = fathom(directory.path(), &arguments.split(' ').collect::<Vec<_>>()).expect(0);
    let told = "touch_read does nothing: the filestat engine brings no data";
    assert!(nothing.err.contains(told), "{}", nothing.err);
}
