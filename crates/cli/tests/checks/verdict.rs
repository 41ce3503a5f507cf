//! The verdict: runs made to have each limit, and what is said of them, to the end of the page.

use crate::common::{FATHOM, MemoryFilesystem, alone, as_fio, fathom, loop_device, run, scratch};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use testbed::Loop;

/// The one verdict in a document.
#[track_caller]
fn verdict(document: &Value) -> Value {
    let verdicts = document["fathom"]["verdicts"].as_array().expect("verdicts");
    assert_eq!(verdicts.len(), 1, "{verdicts:#?}");
    verdicts[0].clone()
}

#[track_caller]
fn of_run(directory: &Path, job: &str) -> Value {
    let arguments: Vec<&str> =
        ["--output-format=json", "--name=a"].into_iter().chain(job.split(' ')).collect();
    verdict(&fathom(directory, &arguments).expect(0).json())
}

#[track_caller]
fn assert_limit(verdict: &Value, limit: &str, says: &str) {
    assert_eq!(verdict["limit"], limit, "{verdict:#}");
    assert!(verdict["use_for"].as_str().unwrap().contains(says), "{verdict:#}");
    assert!(!verdict["figures"].as_array().unwrap().is_empty(), "{verdict:#}");
}

const TWO_SECONDS: &str = "--time_based --runtime=2";

#[test]
fn direct_random_reads_are_limited_by_the_device() {
    let _alone = alone();
    let directory = scratch();
    let job = format!("--rw=randread --direct=1 --ioengine=psync --size=64m {TWO_SECONDS}");
    let verdict = of_run(directory.path(), &job);
    assert_limit(&verdict, "device", "4 KiB random reads on this filesystem");
    assert_ne!(verdict["confidence"], "low", "{verdict:#}");
}

#[test]
fn a_second_buffered_read_is_limited_by_the_cache() {
    let _alone = alone();
    // Nobody else keeps this disk busy.
    let own = MemoryFilesystem::new(128 << 20);
    let job = "--filename=f --rw=read --bs=64k --size=64m --invalidate=0";
    of_run(own.path(), job);
    let verdict = of_run(own.path(), &format!("{job} --time_based --runtime=1"));
    assert_limit(
        &verdict,
        "cache",
        "served from memory; not valid for: the storage below the cache",
    );
    assert_eq!(verdict["confidence"], "high", "{verdict:#}");
}

#[test]
fn the_null_engine_is_limited_by_the_cpu() {
    let _alone = alone();
    let job = "--ioengine=null --rw=randread --size=1g --time_based --runtime=1";
    let verdict = of_run(scratch().path(), job);
    assert_limit(&verdict, "CPU", "as fast as these CPUs allow");
}

#[test]
fn a_rated_job_is_limited_by_its_rate() {
    let _alone = alone();
    let job = format!("--rw=randread --direct=1 --size=16m --rate_iops=100 {TWO_SECONDS}");
    let verdict = of_run(scratch().path(), &job);
    assert_limit(&verdict, "rate", "latency of 4 KiB random reads");
    assert_limit(&verdict, "rate", " at this rate; not valid for: the maximum of the storage");
}

#[test]
fn a_generator_that_computes_between_its_ios_is_limited_by_itself() {
    let _alone = alone();
    let job = "--rw=randread --direct=1 --size=16m --thinktime=1ms --thinktime_spin=1ms";
    let own = MemoryFilesystem::new(64 << 20);
    let verdict = of_run(own.path(), &format!("{job} {TWO_SECONDS}"));
    assert_limit(&verdict, "client", "this load generator with these settings");
}

/// A control group of the blkio controller, removed with the value.
struct Group(PathBuf);

impl Group {
    /// Limits reads of a device to so many a second.
    fn new(device: &Loop, reads: u64) -> Group {
        let name = format!("fathom-test-{}", std::process::id());
        let group = Group(Path::new("/sys/fs/cgroup/blkio").join(name));
        fs::create_dir(&group.0)
            .unwrap_or_else(|e| panic!("{} (tests need root): {e}", group.0.display()));
        let number = fs::read_to_string(format!("/sys/block/{}/dev", device.name())).unwrap();
        let limit = format!("{} {reads}", number.trim());
        fs::write(group.0.join("blkio.throttle.read_iops_device"), limit).unwrap();
        group
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // What cannot be removed is left to the machine's next start.
        let _ = fs::remove_dir(&self.0);
    }
}

#[test]
fn a_throttled_device_is_limited_by_the_throttle() {
    let _alone = alone();
    let directory = scratch();
    let device = loop_device(directory.path(), 64 << 20, &[]);
    let group = Group::new(&device, 200);
    // The shell moves itself into the group before it becomes the program.
    let script = "echo $$ > \"$1\"/cgroup.procs && shift && exec \"$@\"";
    let filename = format!("--filename={}", device.device);
    let job =
        ["--output-format=json", "--name=a", filename.as_str(), "--rw=randread", "--direct=1"];
    let ran = run(Command::new("sh")
        .args(["-c", script, "sh", group.0.to_str().unwrap(), FATHOM, "run"])
        .args(job)
        .args(TWO_SECONDS.split(' '))
        .current_dir(directory.path()));
    let verdict = verdict(&ran.expect(0).json());
    assert_limit(&verdict, "throttle", "not valid for: the storage without the limit");
    assert!(verdict["because"].as_str().unwrap().contains("200 IOPS"), "{verdict:#}");
}

/// Text of a run in which the second of two chained jobs is answered by memory.
const CHAINED: &[&str] = &[
    "--filename=f",
    "--rw=read",
    "--bs=64k",
    "--size=64m",
    "--invalidate=0",
    "--name=first",
    "--name=second",
    "--stonewall",
    "--time_based",
    "--runtime=1",
];

#[test]
fn the_page_ends_with_verdict_and_findings_in_80_columns_without_colours() {
    let _alone = alone();
    let own = MemoryFilesystem::new(128 << 20);
    let ran = fathom(own.path(), CHAINED).expect(0);
    let (_, own) = ran.out.split_once("Disk stats").expect("fio's report first");
    let own = &own[own.find("\nVerdict\n").expect(&ran.out)..];
    assert!(own.contains("\n  second: limited by: cache, confidence: high\n"), "{own}");
    assert!(own.contains("[served-from-cache] second"), "{own}");
    assert!(own.contains("\n    Cure:  "), "{own}");
    assert!(own.lines().all(|line| line.chars().count() <= 80), "{own}");
    assert!(!own.contains('\x1b'), "{own:?}");
}

#[test]
fn under_the_name_fio_only_warnings_are_told_below_the_report_and_stderr_is_empty() {
    let _alone = alone();
    let own = MemoryFilesystem::new(128 << 20);
    let ran = as_fio(own.path(), CHAINED).expect(0);
    for word in ["Verdict", "Findings"] {
        assert!(!ran.out.contains(word), "{}", ran.out);
    }
    let (_, below) = ran.out.split_once("Run status group").expect("the report first");
    assert!(below.contains("fio: warning: second: "), "{below}");
    assert!(below.contains("[served-from-cache]\n"), "{below}");
    assert!(!ran.out.contains("note:"), "{}", ran.out);
    assert_eq!(ran.err, "");
}

#[test]
fn with_json_in_a_file_remarks_are_in_it_and_stderr_is_for_errors() {
    let _alone = alone();
    let own = MemoryFilesystem::new(128 << 20);
    let options =
        ["--output-format=json", "--output=report.json", "--ioengine=sync", "--iodepth=8"];
    let ran = as_fio(own.path(), &[CHAINED, &options].concat()).expect(0);
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("", ""));
    let text = std::fs::read_to_string(own.path().join("report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    let told = &report["fathom"];
    let findings = told["findings"].as_array().unwrap();
    assert!(findings.iter().any(|finding| finding["check"] == "served-from-cache"), "{told}");
    assert!(told["notes"].to_string().contains("iodepth=8 acts as 1"), "{told}");
    let gone = ["--filename=/proc/gone", "--size=4k"];
    let ran = as_fio(own.path(), &[&["--name=a"], &gone[..], &options].concat());
    assert!(ran.code != 0 && ran.err.contains("/proc/gone"), "{}", ran.err);
}

#[test]
fn a_hundred_jobs_make_one_page() {
    let _alone = alone();
    let jobs: Vec<String> = (0..100).map(|job| format!("--name=job{job}")).collect();
    let mut arguments = vec!["--ioengine=null", "--size=1m", "--rw=read"];
    arguments.extend(jobs.iter().map(String::as_str));
    let ran = fathom(scratch().path(), &arguments).expect(0);
    let own = &ran.out[ran.out.find("\nVerdict\n").expect(&ran.out)..];
    assert!(own.lines().count() < 60, "{own}");
}

#[test]
fn colours_are_for_terminals_and_no_color_is_honoured() {
    let _alone = alone();
    let directory = scratch();
    let on_terminal = |no_color: &str| {
        let job = "--name=a --ioengine=null --size=1m --rw=read";
        let line = format!("{FATHOM} run {job}");
        run(Command::new("script")
            .args(["-qec", &line, "/dev/null"])
            .env("NO_COLOR", no_color)
            .current_dir(directory.path()))
        .expect(0)
        .out
    };
    assert!(on_terminal("").contains("\x1b[1mVerdict\x1b[0m"));
    assert!(!on_terminal("1").contains("\x1b[1m"));
}

/// What follows fio's part of a report.
#[track_caller]
fn after_fio(directory: &Path, arguments: &[&str]) -> String {
    let ran = fathom(directory, arguments).expect(0);
    let (_, page) = ran.out.split_once("\nVerdict\n").expect(&ran.out);
    page.to_owned()
}

#[test]
fn a_report_of_one_job_fits_a_screen_after_fios_part() {
    let _alone = alone();
    let directory = scratch();
    let job = ["--name=a", "--filename=f", "--size=64m", "--rw=randread", "--bs=4k"];
    let ways: [&[&str]; 2] =
        [&["--direct=1", "--ioengine=io_uring", "--iodepth=8"], &["--ioengine=psync"]];
    for way in ways {
        let line = [&job[..], &["--time_based", "--runtime=1"], way].concat();
        let page = after_fio(directory.path(), &line);
        assert!(page.lines().count() <= 50, "{way:?}: {} lines\n{page}", page.lines().count());
        let full = after_fio(directory.path(), &[&line[..], &["--verbose"]].concat());
        assert!(!full.contains("shown by --verbose"), "{full}");
    }
}

#[test]
fn a_report_of_several_jobs_stays_short() {
    let _alone = alone();
    let directory = scratch();
    let kinds = [
        "--rw=randread --direct=1 --ioengine=libaio --iodepth=16",
        "--rw=read --bs=1m",
        "--rw=randwrite --fsync=8",
        "--rw=write --bs=64k --direct=1",
        "--rw=randread --rate_iops=200",
        "--rw=randrw --thinktime=1ms",
        "--rw=randread --ioengine=null",
        "--rw=randwrite --refill_buffers=1 --ioengine=null",
    ];
    let mut line: Vec<String> =
        ["--name=global", "--size=16m", "--time_based", "--runtime=1"].map(String::from).to_vec();
    for (number, kind) in kinds.iter().enumerate() {
        line.push(format!("--name=job{number}"));
        line.extend(kind.split(' ').map(String::from));
    }
    let line: Vec<&str> = line.iter().map(String::as_str).collect();
    let page = after_fio(directory.path(), &line);
    assert!(page.lines().count() <= 150, "{} lines\n{page}", page.lines().count());
}
