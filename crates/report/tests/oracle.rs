//! The same run, told by fio and by us: fio runs small jobs and writes both its text and its JSON;
//! a record made from the JSON must give fio's text back.

use judge::judge;
use record::{
    Bytes, DepthUse, Direction, DiskCounters, DiskResult, DiskSample, FioVersion, GroupKey,
    Histogram, Interval, JobRecord, Nanos, RunRecord, Show, SizeMap,
};
use report::{RenderOptions, Subject, json, normal};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::process::Command;

const MS: u64 = 1_000_000;

/// Debian's fio. The forms compared here are those of 3.33; another one is no oracle for them.
fn oracle() -> &'static str {
    let fio = "/usr/bin/fio";
    let version = Command::new(fio).arg("--version").output().expect("fio is installed");
    let version = String::from_utf8_lossy(&version.stdout);
    assert!(version.starts_with("fio-3.33"), "{version}");
    fio
}

/// fio's text (from the empty line on) and document of a run with `arguments`.
fn run(fio: &str, arguments: &[&str]) -> (String, Value) {
    let directory = tempfile::tempdir().unwrap();
    let output = Command::new(fio)
        .arg("--output-format=normal,json+")
        .args(arguments)
        .current_dir(directory.path())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let begin = text.find("\n{\n").expect(&text) + 1;
    let end = text.find("\n}\n").expect(&text) + 3;
    (text[end..].to_string(), serde_json::from_str(&text[begin..end]).unwrap())
}

fn whole(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

fn real(value: &Value) -> f64 {
    value.as_f64().unwrap_or(0.0)
}

/// A histogram with exactly fio's count, extremes, mean and deviation, and its bins where it has
/// them.
fn histogram(stats: &Value) -> Option<Histogram> {
    let n = whole(&stats["N"]);
    if n == 0 {
        return None;
    }
    let mut out = Histogram::new();
    match stats["bins"].as_object() {
        Some(bins) => bins.iter().for_each(|(middle, count)| {
            out.record_n(middle.parse().unwrap(), whole(count));
        }),
        None => out.record_n(real(&stats["mean"]) as u64, n),
    }
    let (mean, deviation) = (real(&stats["mean"]), real(&stats["stddev"]));
    let squares = deviation * deviation * (n - 1) as f64 + n as f64 * mean * mean;
    let mut stored = serde_json::to_value(&out).unwrap();
    stored["sum_ns"] = json!((mean * n as f64).round() as u64);
    stored["sum_of_squares"] = json!((squares.round() as u128).to_string());
    stored["min_ns"] = stats["min"].clone();
    stored["max_ns"] = stats["max"].clone();
    Some(serde_json::from_value(stored).unwrap())
}

fn shares(object: &Value, names: [&str; 7]) -> SizeMap {
    SizeMap(names.map(|name| (real(&object[name]) * 10_000.0) as u64))
}

fn fill(job: &mut JobRecord, direction: Direction, from: &Value) {
    let result = &mut job.results[direction];
    result.ios = whole(&from["total_ios"]);
    result.ios_issued = result.ios;
    result.bytes = Bytes(whole(&from["io_bytes"]));
    result.runtime = Nanos(whole(&from["runtime"]) * MS);
    result.latency.slat = histogram(&from["slat_ns"]);
    result.latency.clat = histogram(&from["clat_ns"]);
    result.latency.lat = histogram(&from["lat_ns"]);
    let samples = whole(&from["bw_samples"]) as usize;
    job.intervals.resize(samples.max(job.intervals.len()), Interval::default());
    for (index, interval) in job.intervals.iter_mut().enumerate() {
        interval.start = Nanos(index as u64 * 500 * MS);
        interval.length = Nanos(500 * MS);
        interval.bytes[direction] = (real(&from["bw_mean"]) * 512.0) as u64;
        interval.ios[direction] = (real(&from["iops_mean"]) / 2.0) as u64;
    }
}

fn worker(number: u32, from: &Value, show: Show) -> JobRecord {
    let runtime = Nanos(whole(&from["job_runtime"]).max(1) * MS);
    let cpu = |key: &str| Nanos((real(&from[key]) / 100.0 * runtime.0 as f64) as u64);
    let depths = ["1", "2", "4", "8", "16", "32", ">=64"];
    let batches = ["0", "4", "8", "16", "32", "64", ">=64"];
    let mut job = JobRecord {
        name: from["jobname"].as_str().unwrap().into(),
        description: from["desc"].as_str().unwrap_or("").into(),
        job: number,
        worker: number + 1,
        group: GroupKey { group: whole(&from["groupid"]) as u32, report: number },
        ended: runtime,
        interval_step: Nanos(500 * MS),
        depth: DepthUse {
            requested: whole(&from["latency_depth"]) as u32,
            achieved_mean: 1.0,
            at_issue: shares(&from["iodepth_level"], depths),
            submit: shares(&from["iodepth_submit"], batches),
            complete: shares(&from["iodepth_complete"], batches),
        },
        percentiles: percentiles(from),
        show,
        ..JobRecord::default()
    };
    (job.cpu.user, job.cpu.system) = (cpu("usr_cpu"), cpu("sys_cpu"));
    job.cpu.context_switches = whole(&from["ctx"]);
    (job.cpu.major_faults, job.cpu.minor_faults) = (whole(&from["majf"]), whole(&from["minf"]));
    if show.unified == 1 {
        fill(&mut job, Direction::Read, &from["mixed"]);
    } else {
        Direction::ALL.iter().for_each(|d| fill(&mut job, *d, &from[d.name()]));
    }
    job.sync.count = whole(&from["sync"]["total_ios"]);
    job.sync.latency = histogram(&from["sync"]["lat_ns"]).unwrap_or_default();
    let options = from["job options"].as_object().unwrap();
    job.options = options.iter().map(|(k, v)| (k.clone(), v.as_str().unwrap().into())).collect();
    job
}

/// The percentiles of any table of the job.
fn percentiles(from: &Value) -> Vec<f64> {
    let sections = ["read", "write", "trim", "mixed"];
    let tables = ["clat_ns", "lat_ns", "slat_ns"];
    sections
        .iter()
        .flat_map(|section| tables.map(|table| &from[*section][table]["percentile"]))
        .find_map(|table| Some(table.as_object()?.keys().map(|p| p.parse().unwrap()).collect()))
        .unwrap_or_default()
}

fn disk(from: &Value) -> DiskResult {
    let after = DiskSample {
        read_ios: whole(&from["read_ios"]),
        write_ios: whole(&from["write_ios"]),
        read_merges: whole(&from["read_merges"]),
        write_merges: whole(&from["write_merges"]),
        read_ticks_ms: whole(&from["read_ticks"]),
        write_ticks_ms: whole(&from["write_ticks"]),
        queue_ms: whole(&from["in_queue"]),
        busy_ms: (real(&from["util"]) * 1000.0) as u64,
        ..DiskSample::default()
    };
    let counters =
        DiskCounters { before: DiskSample::default(), after, window: Nanos(100_000 * MS) };
    DiskResult { name: from["name"].as_str().unwrap().into(), members: Vec::new(), counters }
}

fn record_of(document: &Value, show: Show) -> RunRecord {
    let list = |key: &str| document[key].as_array().cloned().unwrap_or_default();
    RunRecord {
        jobs: list("jobs").iter().zip(0..).map(|(job, i)| worker(i, job, show)).collect(),
        disks: list("disk_util").iter().map(disk).collect(),
        ..RunRecord::default()
    }
}

/// Digits become one "#", blanks before them go: what is left is the form of the line.
fn masked(line: &str) -> String {
    let mut out = String::new();
    for character in line.chars() {
        match character {
            '0'..='9' => {
                if !out.ends_with('#') {
                    let kept = out.trim_end_matches(' ').len();
                    if out.ends_with("= ") || out.ends_with("[ ") || out.ends_with("  ") {
                        out.truncate(kept);
                    }
                    out.push('#');
                }
            }
            '.' if out.ends_with('#') => {}
            other => out.push(other),
        }
    }
    out
}

/// Lines whose figures come through JSON whole are compared figure by figure; the others, and the
/// pid and date of headings, by their form. A line of latency classes is cut at the unit: which
/// classes are filled depends on exact values that bins do not hold.
fn comparable(line: &str) -> String {
    let exact = ["  read:", "  write:", "  trim:", "  mixed:"];
    let groups = ["   READ:", "  WRITE:", "   TRIM:", "  MIXED:", "Run status", "  Description"];
    // Mean and deviation are rounded to JSON's six decimals before we see them.
    if let Some((extremes, rest)) = line.split_once(", avg=").filter(|_| line.contains("sec): ")) {
        return format!("{extremes}, avg={}", masked(rest));
    }
    if line.starts_with("  lat (") {
        return line[..10].into();
    }
    if let Some((heading, _)) = line.split_once(": pid=") {
        return heading.into();
    }
    match exact.iter().chain(&groups).any(|start| line.starts_with(start)) {
        true => line.into(),
        false => masked(line),
    }
}

/// As many workers in each report as fio's headings name ("jobs=3"); the figures are all in the first.
fn add_clones(record: &mut RunRecord, text: &str) {
    let counts = text.lines().filter_map(|line| {
        let (_, rest) = line.split_once(" (groupid=")?.1.split_once("jobs=")?;
        rest.split_once(')')?.0.parse::<usize>().ok()
    });
    let firsts = std::mem::take(&mut record.jobs);
    for (first, count) in firsts.into_iter().zip(counts) {
        let idle =
            JobRecord { name: first.name.clone(), group: first.group, ..JobRecord::default() };
        record.jobs.push(first);
        record.jobs.extend(std::iter::repeat_n(idle, count - 1));
    }
}

fn compare(arguments: &[&str], show: Show) {
    let fio = oracle();
    let (theirs, document) = run(fio, arguments);
    let mut record = record_of(&document, show);
    add_clones(&mut record, &theirs);
    let judged = judge(&record);
    let options = RenderOptions { compat: FioVersion::V3_33, ..RenderOptions::default() };
    let ours = normal::render(
        Subject::Run(&record, &judged),
        &RenderOptions { as_fio: true, ..options.clone() },
    );
    let form = |text: &str| -> Vec<String> {
        let mut lines: Vec<String> = text.lines().map(comparable).collect();
        // Without tables the document has no bins, so we cannot know the classes.
        lines.retain(|line| show.clat_percentiles || !line.starts_with("  lat ("));
        lines.dedup_by(|a, b| a == b && a.starts_with("  lat ("));
        lines
    };
    assert_eq!(form(&ours), form(&theirs), "\n{ours}\n---- fio:\n{theirs}");
    let ours: Value =
        serde_json::from_str(&json::render(Subject::Run(&record, &judged), true, &options))
            .unwrap();
    let (ours, theirs) = (types(&ours), types(&document));
    let differing: Vec<&String> = ours.symmetric_difference(&theirs).collect();
    assert!(differing.is_empty(), "{differing:#?}");
}

/// The paths of a document with the type of what is there; bins and our own key left out.
fn types(document: &Value) -> BTreeSet<String> {
    fn walk(value: &Value, path: &str, out: &mut BTreeSet<String>) {
        let kind = match value {
            Value::Object(pairs) => {
                for (key, value) in pairs.iter().filter(|p| p.0 != "fathom" && p.0 != "bins") {
                    walk(value, &format!("{path}/{key}"), out);
                }
                return;
            }
            Value::Array(values) => {
                values.iter().zip(0..).for_each(|(v, i)| walk(v, &format!("{path}/{i}"), out));
                return;
            }
            Value::Number(number) if number.is_f64() => "real",
            Value::Number(_) => "whole",
            _ => "text",
        };
        out.insert(format!("{path} {kind}"));
    }
    let mut out = BTreeSet::new();
    walk(document, "", &mut out);
    out
}

const NULL: &str = "--ioengine=null";

#[test]
fn a_read() {
    compare(&["--name=a", NULL, "--size=1m", "--rw=randread"], Show::default());
}

#[test]
fn mixed_with_a_queue_and_a_description() {
    let job =
        ["--name=a", NULL, "--size=8m", "--rw=randrw", "--iodepth=8", "--description=two words"];
    compare(&job, Show::default());
}

#[test]
fn every_percentile_table() {
    let job = [
        "--name=a",
        NULL,
        "--size=4m",
        "--rw=rw",
        "--iodepth=4",
        "--slat_percentiles=1",
        "--lat_percentiles=1",
        "--percentile_list=1:50:99.9:99.999:100",
    ];
    let show = Show { slat_percentiles: true, lat_percentiles: true, ..Show::default() };
    compare(&job, show);
}

#[test]
fn a_file_with_syncs() {
    let job = ["--name=a", "--ioengine=psync", "--size=2m", "--rw=write", "--fsync=32"];
    compare(&job, Show::default());
}

#[test]
fn no_percentiles_no_disks() {
    let job = [
        "--name=a",
        "--ioengine=psync",
        "--size=1m",
        "--rw=read",
        "--clat_percentiles=0",
        "--disk_util=0",
    ];
    compare(&job, Show { clat_percentiles: false, disk_util: false, ..Show::default() });
}

#[test]
fn bits_and_many_figures() {
    let job = [
        "--name=a",
        NULL,
        "--size=300m",
        "--bs=7k",
        "--rw=read",
        "--unit_base=1",
        "--significant_figures=7",
    ];
    compare(&job, Show { unit_base: 1, significant_figures: 7, ..Show::default() });
}

#[test]
fn decimal_sizes() {
    let job = ["--name=a", NULL, "--size=33m", "--bs=5k", "--rw=randrw", "--kb_base=1000"];
    compare(&job, Show { kb_base: 1000, ..Show::default() });
}

#[test]
fn unified() {
    let job = ["--name=a", NULL, "--size=33m", "--bs=5k", "--rw=read", "--unified_rw_reporting=1"];
    compare(&job, Show { unified: 1, ..Show::default() });
}

#[test]
fn several_groups() {
    let jobs = [
        "--name=a",
        NULL,
        "--size=8m",
        "--rw=read",
        "--name=b",
        NULL,
        "--size=4m",
        "--stonewall",
        "--rw=trim",
        "--name=c",
        NULL,
        "--size=12m",
        "--new_group",
        "--rw=randwrite",
    ];
    compare(&jobs, Show::default());
}

#[test]
fn long_enough_for_a_series() {
    let job = [
        "--name=a",
        NULL,
        "--size=1g",
        "--rw=randrw",
        "--runtime=2",
        "--time_based",
        "--rate_iops=500",
    ];
    compare(&job, Show::default());
}

#[test]
fn workers_reported_together() {
    let job = [
        "--name=a",
        NULL,
        "--size=4m",
        "--rw=randrw",
        "--numjobs=3",
        "--group_reporting",
        "--iodepth=2",
    ];
    compare(&job, Show::default());
}
