//! What other programs read of fio's output, read here as strictly as they do: whole numbers are
//! whole, texts are texts, and what they look for is there.

use crate::common::{as_fio, scratch};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const JOB_FILE: &str = "[global]\nioengine=psync\nfilename=data\nsize=8m\nbs=4k\nruntime=2\n\
    numjobs=2\nrw=randrw\nrwmixread=75\niodepth=1\ngroup_reporting\nwrite_bw_log=w\n\
    write_lat_log=w\nwrite_iops_log=w\nlog_avg_msec=20\n[mixed]\n";

fn run(arguments: &[&str]) -> (tempfile::TempDir, String) {
    let scratch = scratch();
    fs::write(scratch.path().join("job.fio"), JOB_FILE).unwrap();
    let ran = as_fio(scratch.path(), &[arguments, &["job.fio"]].concat()).expect(0);
    (scratch, ran.out)
}

/// As kubestr's structs have it: encoding/json of Go refuses `25088.0` for an integer, as serde does.
#[derive(Deserialize)]
#[expect(dead_code, reason = "that every field can be read is the test")]
struct GoResult {
    #[serde(rename = "fio version")]
    fio_version: String,
    timestamp: i64,
    timestamp_ms: i64,
    time: String,
    #[serde(rename = "global options")]
    global_options: BTreeMap<String, String>,
    jobs: Vec<GoJob>,
    disk_util: Vec<GoDisk>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "that every field can be read is the test")]
struct GoJob {
    jobname: String,
    groupid: i32,
    error: i32,
    eta: i32,
    elapsed: i32,
    #[serde(rename = "job options", default)]
    options: BTreeMap<String, String>,
    read: GoStats,
    write: GoStats,
    trim: GoStats,
    sync: GoSync,
    job_runtime: i32,
    usr_cpu: f32,
    sys_cpu: f32,
    ctx: i32,
    majf: i32,
    minf: i32,
    iodepth_level: BTreeMap<String, f32>,
    iodepth_submit: BTreeMap<String, f32>,
    iodepth_complete: BTreeMap<String, f32>,
    latency_ns: BTreeMap<String, f32>,
    latency_us: BTreeMap<String, f32>,
    latency_ms: BTreeMap<String, f32>,
    latency_depth: i32,
    latency_target: i32,
    latency_percentile: f32,
    latency_window: i32,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "that every field can be read is the test")]
struct GoStats {
    io_bytes: i64,
    io_kbytes: i64,
    bw_bytes: i64,
    bw: i64,
    iops: f32,
    runtime: i64,
    total_ios: i64,
    short_ios: i64,
    drop_ios: i64,
    slat_ns: GoLatency,
    clat_ns: GoLatency,
    lat_ns: GoLatency,
    bw_min: i32,
    bw_max: i32,
    bw_agg: f32,
    bw_mean: f32,
    bw_dev: f32,
    bw_samples: i32,
    iops_min: i32,
    iops_max: i32,
    iops_mean: f32,
    iops_stddev: f32,
    iops_samples: i32,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "that every field can be read is the test")]
struct GoSync {
    total_ios: i32,
    lat_ns: GoLatency,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "that every field can be read is the test")]
struct GoLatency {
    min: i64,
    max: i64,
    mean: f32,
    stddev: f32,
    #[serde(rename = "N")]
    count: i64,
    percentile: Option<BTreeMap<String, i64>>,
    bins: Option<BTreeMap<u64, u64>>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "that every field can be read is the test")]
struct GoDisk {
    name: String,
    read_ios: i64,
    write_ios: i64,
    read_merges: i64,
    write_merges: i64,
    read_ticks: i64,
    write_ticks: i64,
    in_queue: i64,
    util: f32,
}

#[test]
fn json_is_read_by_types_as_strict_as_go_s() {
    let (_scratch, out) = run(&["--output-format=json"]);
    let result: GoResult = serde_json::from_str(&out).unwrap();
    assert!(result.fio_version.starts_with("fio-3."));
    assert_eq!(result.global_options["bs"], "4k");
    let job = &result.jobs[0];
    assert_eq!((result.jobs.len(), job.jobname.as_str(), job.error), (1, "mixed", 0));
    assert_eq!(job.read.bw, job.read.bw_bytes >> 10);
    assert!(job.read.total_ios > 0 && job.write.total_ios > 0);
    let percentiles = job.read.clat_ns.percentile.as_ref().unwrap();
    assert!(percentiles.contains_key("99.900000") && percentiles.contains_key("50.000000"));
}

/// ezFIO and its like: json+ with a count for each bin, in nanoseconds.
#[test]
fn the_bins_of_json_plus_count_every_io() {
    let (_scratch, out) = run(&["--output-format=json+"]);
    let result: GoResult = serde_json::from_str(&out).unwrap();
    for stats in [&result.jobs[0].read, &result.jobs[0].write] {
        let bins = stats.clat_ns.bins.as_ref().unwrap();
        assert_eq!(bins.values().sum::<u64>(), stats.total_ios as u64);
    }
}

/// fio-plot tells a result by these keys; cbt and benchmark-wrapper read options as texts.
#[test]
fn a_result_is_told_by_its_keys_and_its_options_are_texts() {
    let (_scratch, out) = run(&["--output-format=json"]);
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    let keys = ["fio version", "global options", "client_stats", "jobs"];
    assert!(keys.iter().filter(|key| json.get(key).is_some()).count() >= 2);
    for option in ["rw", "iodepth", "numjobs", "bs", "runtime", "rwmixread"] {
        assert!(json["global options"][option].is_string(), "{option}");
    }
    let read = &json["jobs"][0]["read"];
    for number in ["bw", "io_bytes", "bw_bytes", "total_ios"] {
        assert!(read[number].is_u64(), "{number}");
    }
    for number in ["iops", "iops_stddev", "iops_mean", "bw_mean"] {
        assert!(read[number].is_f64(), "{number}");
    }
    assert!(read["lat_ns"]["mean"].is_f64() && read["lat_ns"]["stddev"].is_f64());
}

/// benchmark-wrapper splits a line into exactly five fields; fio-plot wants as many lines of each job.
#[test]
fn logs_have_five_fields_and_jobs_have_equally_many_lines() {
    let (scratch, _) = run(&["--output-format=json", "--time_based"]);
    let lines = |kind: &str, job: u32| -> Vec<[u64; 5]> {
        let log = fs::read_to_string(scratch.path().join(format!("w_{kind}.{job}.log"))).unwrap();
        let fields = |line: &str| -> [u64; 5] {
            let fields: Vec<u64> = line.split(", ").map(|field| field.parse().unwrap()).collect();
            fields.try_into().unwrap_or_else(|fields| panic!("{fields:?}"))
        };
        log.lines().map(fields).collect()
    };
    for kind in ["bw", "iops"] {
        for job in [1, 2] {
            let lines = lines(kind, job);
            assert!(lines.iter().all(|line| line[2] < 2 && line[3] == 0));
            // One for each direction in every window of 20 ms until the job's end; the last may be
            // a little longer.
            let windows = lines.len() as u64 / 2;
            let long = lines.last().unwrap()[0].div_ceil(20);
            assert!(lines.len().is_multiple_of(2) && windows >= 100, "{}", lines.len());
            assert!((windows..=windows + 1).contains(&long), "{windows} windows of {long}");
        }
    }
    assert!(!lines("clat", 1).is_empty() && lines("slat", 1).is_empty());
}

/// KDiskMark and others: what stands between the first two dashes is a number.
#[test]
fn the_version_is_a_number_behind_the_first_dash() {
    let version = as_fio(Path::new("."), &["--version"]).expect(0).out;
    let number: f64 = version.trim().split('-').nth(1).unwrap().parse().unwrap();
    assert!(number >= 2.99 && version.starts_with("fio-"));
}

/// Phoronix reads the text: IOPS= with k, BW= in KiB/s or MiB/s, and the lines of the groups.
#[test]
fn text_has_the_words_and_units_that_are_looked_for() {
    let (_scratch, out) = run(&[]);
    let line = out.lines().find(|line| line.trim_start().starts_with("read: IOPS=")).unwrap();
    let iops = line.split("IOPS=").nth(1).unwrap().split(',').next().unwrap();
    let plain = iops.trim_end_matches('k').parse::<f64>();
    assert!(plain.is_ok_and(|iops| iops > 0.0), "{line}");
    let rate = out.split(": bw=").nth(1).unwrap().split(' ').next().unwrap();
    let unit = ["KiB/s", "MiB/s", "GiB/s"].into_iter().find_map(|unit| rate.strip_suffix(unit));
    assert!(unit.is_some_and(|number| number.parse::<f64>().is_ok()), "{rate}");
    assert!(out.contains("   READ: bw=") && out.contains("  WRITE: bw="));
}

/// Terse lines by position, as scripts cut them: counted from 0, fields 6 and 47 are bandwidth in
/// KiB/s, 7 and 48 IOPS, 0 to 4 version, program, name, group and error.
#[test]
fn terse_fields_stand_where_they_are_cut() {
    for version in ["3", "4", "5"] {
        let (_scratch, out) = run(&["--minimal", &format!("--terse-version={version}")]);
        let fields: Vec<&str> = out.trim_end().split(';').collect();
        assert!(fields.len() >= 129, "{}", fields.len());
        assert_eq!((fields[0], fields[2], fields[4]), (version, "mixed", "0"));
        assert!(fields[1].starts_with("fio-3."));
        // Version 5 has more fields of a direction than those before.
        let writes: &[usize] = if version == "5" { &[] } else { &[46, 47, 48, 49] };
        for &field in [3, 5, 6, 7, 8].iter().chain(writes) {
            assert!(fields[field].parse::<u64>().is_ok(), "field {field}: {}", fields[field]);
        }
        let close = |kib: &str, seconds: f64, kibs: &str| {
            let moved = kib.parse::<f64>().unwrap() / seconds;
            (moved - kibs.parse::<f64>().unwrap()).abs() <= moved * 0.05 + 2.0
        };
        let milliseconds: f64 = fields[8].parse().unwrap();
        assert!(close(fields[5], milliseconds / 1000.0, fields[6]), "{fields:?}");
    }
}
