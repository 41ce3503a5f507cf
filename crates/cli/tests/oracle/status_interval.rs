//! `--status-interval`: cumulative reports as fio writes them, and what came in between.

use crate::common::{FATHOM, FIO, Ran, as_fio, fathom, fio, run, scratch};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// Two workers of one job, and one of another that ends early.
const JOBS: &[&str] = &[
    "--status-interval=300ms",
    "--ioengine=null",
    "--size=1g",
    "--rate_iops=2000",
    "--time_based",
    "--name=mixed",
    "--rw=randrw",
    "--numjobs=2",
    "--runtime=1600ms",
    "--name=short",
    "--rw=read",
    "--runtime=450ms",
];

fn documents(text: &str) -> Vec<Value> {
    let stream = serde_json::Deserializer::from_str(text).into_iter();
    stream.map(|document| document.unwrap_or_else(|e| panic!("{e}: {text}"))).collect()
}

fn whole(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no whole number"))
}

/// Bins of a latency table, by their keys.
fn bins(table: &Value) -> BTreeMap<String, u64> {
    let pairs = table["bins"].as_object().into_iter().flatten();
    pairs.map(|(key, count)| (key.clone(), whole(count))).collect()
}

#[test]
fn intervals_add_up_to_the_last_document() {
    let scratch = scratch();
    let line = [&["--output-format=json+"], JOBS].concat();
    let ran = fathom(scratch.path(), &line).expect(0);
    let documents: Vec<Value> = ran
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}")))
        .collect();
    assert!(documents.len() >= 3, "{}", documents.len());
    let last = documents.last().unwrap();
    for worker in 0..3 {
        for direction in ["read", "write"] {
            let done = |document: &Value| {
                document["fathom"]["interval"]["workers"][worker][direction].clone()
            };
            let total = &last["jobs"][worker][direction];
            for key in ["io_bytes", "total_ios"] {
                let sum: u64 = documents.iter().map(|d| whole(&done(d)[key])).sum();
                assert_eq!(sum, whole(&total[key]), "{key} of worker {worker}");
            }
            let mut sums: BTreeMap<String, u64> = BTreeMap::new();
            for (bin, count) in documents.iter().flat_map(|d| bins(&done(d)["clat_ns"])) {
                *sums.entry(bin).or_default() += count;
            }
            assert_eq!(sums, bins(&total["clat_ns"]));
        }
        let ends = documents.windows(2).map(|pair| {
            let at = |document: &Value, key: &str| {
                whole(&document["fathom"]["interval"]["workers"][worker][key])
            };
            (at(&pair[0], "to_ns"), at(&pair[1], "from_ns"))
        });
        // One that has not begun has an interval of no length.
        let joins = |(to, from): (u64, u64)| to == from || to == 0;
        assert!(ends.clone().all(joins), "{:?}", ends.collect::<Vec<_>>());
    }
    let numbers = documents.iter().map(|d| whole(&d["fathom"]["interval"]["number"]));
    assert!(numbers.eq(1..=documents.len() as u64));
}

#[test]
fn documents_are_cumulative_and_follow_each_other_as_fios_do() {
    let scratch = scratch();
    let line = [&["--output-format=json"], JOBS].concat();
    let total = |document: &Value| -> u64 {
        let jobs = document["jobs"].as_array().unwrap();
        jobs.iter().map(|job| whole(&job["read"]["total_ios"])).sum()
    };
    for program in [as_fio as fn(&Path, &[&str]) -> Ran, fio] {
        let ran = program(scratch.path(), &line).expect(0);
        let documents = documents(&ran.out);
        assert!(documents.len() >= 3, "{}", ran.out);
        assert_eq!(ran.out.lines().filter(|line| *line == "{").count(), documents.len());
        assert!(documents.windows(2).all(|pair| total(&pair[0]) <= total(&pair[1])));
        assert!(documents.iter().all(|d| d["jobs"].as_array().is_some_and(|j| j.len() == 3)));
    }
}

#[test]
fn text_and_terse_lines_are_repeated() {
    let scratch = scratch();
    let count = |text: &str, part: &str| text.matches(part).count();
    for program in [as_fio as fn(&Path, &[&str]) -> Ran, fio] {
        let text = program(scratch.path(), JOBS).expect(0).out;
        let reports = count(&text, "\nshort: (groupid=0, jobs=1)");
        // A report before the first I/O has no group that did any.
        let groups = count(&text, "Run status group 0 (all jobs):");
        assert!((3..=reports).contains(&groups), "{text}");
        let terse = program(scratch.path(), &[&["--minimal"], JOBS].concat()).expect(0).out;
        let lines: Vec<&str> = terse.lines().collect();
        assert!(lines.len() >= 9 && lines.len().is_multiple_of(3), "{terse}");
        assert!(lines.iter().all(|line| line.starts_with("3;fio-3.")), "{terse}");
    }
    let ours = fathom(scratch.path(), JOBS).expect(0).out;
    assert!(count(&ours, "\nshort: (groupid=0, jobs=1)") >= 3, "{ours}");
}

#[test]
fn what_cannot_be_reported_so_is_refused() {
    let scratch = scratch();
    let refused = fathom(scratch.path(), &["--status-interval=50ms", "--name=x"]).expect(2);
    assert!(refused.err.contains("less than 100ms"), "{}", refused.err);
    let job = ["--status-interval=1", "--repeat=2", "--name=x", "--ioengine=null", "--size=1m"];
    let refused = fathom(scratch.path(), &job).expect(2);
    assert!(refused.err.contains("--repeat") && refused.err.contains("--status-interval"));
}

#[test]
fn the_bandwidth_of_all_jobs_is_logged_together() {
    let names = ["agg-read_bw.log", "agg-write_bw.log", "agg-trim_bw.log"];
    let line = [&["--bandwidth-log", "--eta=always", "--output-format=json"], &JOBS[1..]].concat();
    let run = |program: fn(&Path, &[&str]) -> Ran| {
        let scratch = scratch();
        let json = program(scratch.path(), &line).expect(0).out;
        let logs = names.map(|name| {
            let text = std::fs::read_to_string(scratch.path().join(name)).unwrap();
            let columns = |line: &str| line.split(", ").map(|n| n.parse().unwrap()).collect();
            text.lines().map(columns).collect::<Vec<Vec<u64>>>()
        });
        (json, logs)
    };
    let (json, ours) = run(fathom);
    let json: Value = serde_json::from_str(&json).unwrap();
    for (log, (way, direction)) in ours.iter().zip([(0, "read"), (1, "write"), (2, "trim")]) {
        assert!(log.iter().all(|line| line.len() == 5 && line[2..] == [way, 0, 0]), "{log:?}");
        let mut before = 0;
        let kib: u64 =
            log.iter().map(|l| l[1] * (l[0] - std::mem::replace(&mut before, l[0]))).sum();
        let moved: u64 = (0..3).map(|job| whole(&json["jobs"][job][direction]["io_bytes"])).sum();
        let logged = kib as f64 * 1.024;
        assert!((logged - moved as f64).abs() <= moved as f64 * 0.001, "{logged} {moved}");
    }
    let (_, theirs) = run(fio);
    let shape = |log: &[Vec<u64>]| log.iter().map(|line| line[2..].to_vec()).next();
    assert_eq!(ours.each_ref().map(|log| shape(log)), theirs.each_ref().map(|log| shape(log)));
}

#[test]
fn the_latency_log_of_old_is_told_what_took_its_place() {
    let scratch = scratch();
    let job = ["--latency-log=x", "--name=x", "--ioengine=null", "--size=1m"];
    let refused = fathom(scratch.path(), &job).expect(2);
    assert!(refused.err.contains("write_lat_log=x"), "{}", refused.err);
}

#[test]
fn when_a_job_started_is_told_by_the_clock_asked_for() {
    let scratch = scratch();
    let job = ["--name=x", "--ioengine=null", "--size=1m", "--output-format=json"];
    let start = |more: &[&str]| {
        let json = fathom(scratch.path(), &[&job, more].concat()).expect(0).json();
        (whole(&json["jobs"][0]["job_start"]), whole(&json["timestamp_ms"]))
    };
    let (started, ended) = start(&["--job_start_clock_id=0"]);
    assert!(started <= ended && ended - started < 60_000, "{started} {ended}");
    let (booted, _) = start(&["--job_start_clock_id=7"]);
    let up = std::fs::read_to_string("/proc/uptime").unwrap();
    let up = up.split(' ').next().unwrap().parse::<f64>().unwrap() * 1000.0;
    assert!((0.0..60_000.0).contains(&(up + 20.0 - booted as f64)), "{booted} {up}");
    let refused = fathom(scratch.path(), &[&job[..], &["--job_start_clock_id=77"]].concat());
    assert!(refused.expect(2).err.contains("job_start_clock_id"));
}

/// fio's file asks for a report, and is removed. It would ask every other fio as well, so /tmp is another one.
#[test]
fn a_file_asks_for_a_report_as_in_the_oracle() {
    // The program may be below /tmp itself.
    let script = "set -e; exec 3< \"$(command -v \"$1\")\"; shift; mount -t tmpfs none /tmp; cd /tmp
        /proc/self/fd/3 \"$@\" --name=a --ioengine=null --size=1m --time_based --runtime=2 --rate_iops=50 > report &
        sleep 0.7; touch fio-dump-status; wait
        grep -c 'pid=' report; test ! -e fio-dump-status";
    for program in [&[FATHOM, "fio"][..], &[FIO]] {
        let mut place = Command::new("unshare");
        place.args(["--mount", "sh", "-c", script, "sh"]).args(program);
        assert_eq!(run(&mut place).expect(0).out, "2\n", "{program:?}");
    }
}
