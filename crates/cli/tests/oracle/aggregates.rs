//! What several jobs did together: over the time in which they ran, from what all did at one time,
//! under the first job's name and options. fio's own way of counting stands beside it.

use crate::common::{FIO, alone, as_fio, fathom, recorded, run, scratch, silent, the_finding};
use record::{Direction, Histogram};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

const JSON: &str = "--output-format=json";

/// Jobs that move what their rates say and nothing else.
const PACED: &str = "[global]\nioengine=null\nsize=1t\nrw=randread\nnorandommap\ntime_based\n\
    group_reporting\n";

fn job_file(directory: &Path, jobs: &str) {
    std::fs::write(directory.join("job.fio"), format!("{PACED}{jobs}")).unwrap();
}

/// The oracle's document.
fn oracle(directory: &Path) -> Value {
    let ran =
        run(Command::new("timeout").args(["60", FIO, "job.fio", JSON]).current_dir(directory));
    ran.expect(0).json()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("no number: {value}"))
}

#[test]
fn chained_jobs_of_one_report_have_the_bandwidth_they_had() {
    let directory = scratch();
    let chain = |n: u32| format!("[j{n}]\nwait_for=j{}\n", n - 1);
    let jobs =
        format!("rate=4m\nbs=4k\nruntime=500ms\n[j1]\n{}", (2..7).map(chain).collect::<String>());
    job_file(directory.path(), &jobs);
    let misled = number(&oracle(directory.path())["jobs"][0]["read"]["bw_bytes"]);
    assert!(misled > 4.5 * 4_194_304.0, "the oracle adds bytes and not times: {misled}");
    let ran = as_fio(directory.path(), &["job.fio", JSON]).expect(0);
    let told = "6 workers reported together ran at the same time for 0 ns";
    assert!(ran.out.contains(told), "{}", ran.out);
    let json = ran.json();
    let read = &json["jobs"][0]["read"];
    for figure in [&read["bw_bytes"], &read["bw_mean"].as_f64().map(|kib| kib * 1024.0).into()] {
        let off = number(figure) / 4_194_304.0;
        assert!((0.9..1.1).contains(&off), "{off} of the rate: {read}");
    }
    assert!(number(&read["runtime"]) > 2900.0, "{read}");
    let as_counted = &json["jobs"][0]["fathom"]["over_longest_job"]["read"];
    assert!(number(&as_counted["bw_bytes"]) > 4.5 * 4_194_304.0, "{as_counted}");
    let finding = the_finding(&recorded(directory.path(), 0, &["job.fio"]), "not-together");
    assert_eq!(finding.severity, record::Severity::Warning);
    // Six times that, but for the time that a busy machine adds to the longest.
    let [any, _, longest] = &finding.figures[..] else { panic!("{finding:?}") };
    assert!((5.0..6.2).contains(&(any.value / longest.value)), "{finding:?}");
    assert!(finding.text.contains(" times that"), "{finding:?}");
}

/// Two jobs that take turns: one moves something while the other thinks. fio adds their extremes
/// and so tells of moments that never were.
#[test]
fn extremes_of_a_report_come_from_what_all_did_at_one_time() {
    let _alone = alone();
    let directory = scratch();
    // Each: 500 I/Os in half a second, half a second of thinking.
    let turns = "rate_iops=1000\nrate_ignore_thinktime=1\nthinktime=500ms\nthinktime_blocks=500\n\
        iopsavgtime=500\nbwavgtime=500\nruntime=4\n[first]\n[second]\nstartdelay=500ms\nruntime=3500ms\n";
    job_file(directory.path(), turns);
    let record = recorded(directory.path(), 0, &["job.fio"]);
    silent(&record, "not-together");
    let judged = judge::judge(&record);
    let together = judged.units[0].directions.read.iops_series;
    let ios: u64 = record.jobs.iter().map(record::JobRecord::ios).sum();
    let seconds = judged.units[0].directions.read.runtime_ns as f64 / 1e9;
    let mean = ios as f64 / seconds;
    // The window ends a little after the last interval: the mean may lie by that much below all.
    let around = together.min * 0.99..=together.max * 1.01;
    assert!(around.contains(&mean), "{together:?} {mean}");
    assert!((together.mean / mean - 1.0).abs() < 0.15, "{together:?} {mean}");
    // Alone, each would add its busy half seconds: 2000 IOPS.
    assert!(together.max < 1700.0, "{together:?}");
}

#[test]
fn a_job_that_only_reads_has_no_part_in_the_writes() {
    let directory = scratch();
    let jobs = "rate_iops=1000\niopsavgtime=250\nbwavgtime=250\n[reads]\nruntime=3\n[mixed]\nrw=randrw\nruntime=1\n";
    job_file(directory.path(), jobs);
    let json = as_fio(directory.path(), &["job.fio", JSON]).expect(0).json();
    let write = &json["jobs"][0]["write"];
    let (mean, over_all) = (number(&write["iops_mean"]), number(&write["iops"]));
    assert!(over_all > 900.0 && (mean / over_all - 1.0).abs() < 0.1, "{mean} {over_all}");
    assert!(number(&write["iops_min"]) > 0.0, "{write}");
}

#[test]
fn a_report_has_name_and_options_of_its_first_job_and_lists_all() {
    let directory = scratch();
    let jobs = "rate_iops=500\nruntime=300ms\n[first]\nbs=4k\ndescription=the first\nnumjobs=2\n\
        percentile_list=50:90\n[second]\nbs=8k\ndescription=the second\npercentile_list=10\n\
        [first]\nbs=16k\n";
    job_file(directory.path(), jobs);
    let theirs = oracle(directory.path());
    assert_eq!(theirs["jobs"][0]["jobname"], "first");
    assert_eq!(theirs["jobs"][0]["job options"]["bs"], "16k", "the oracle: of the last");
    let ours = as_fio(directory.path(), &["job.fio", JSON]).expect(0).json();
    let job = &ours["jobs"][0];
    assert_eq!(ours["jobs"].as_array().unwrap().len(), 1);
    assert_eq!((&job["jobname"], &job["desc"]), (&"first".into(), &"the first".into()));
    let options = [("bs", "4k"), ("numjobs", "2"), ("percentile_list", "50:90")];
    options.iter().for_each(|(name, value)| assert_eq!(job["job options"][name], *value));
    let percentiles = job["read"]["clat_ns"]["percentile"].as_object().unwrap();
    assert_eq!(percentiles.keys().collect::<Vec<_>>(), ["50.000000", "90.000000"]);
    let merged = job["fathom"]["merged_jobs"].as_array().unwrap();
    let merged: Vec<_> = merged
        .iter()
        .map(|j| (j["jobname"].as_str().unwrap(), j["workers"].as_u64().unwrap()))
        .collect();
    assert_eq!(merged, [("first", 2), ("second", 1), ("first", 1)]);
    let text = fathom(directory.path(), &["job.fio"]).expect(0).out;
    assert!(text.contains("first: (groupid=0, jobs=4)"), "{text}");
}

/// Percentiles of a report come from all I/Os, never from percentiles.
#[test]
fn histograms_of_a_report_are_those_of_its_workers() {
    let directory = scratch();
    std::fs::write(directory.path().join("data"), vec![1_u8; 4 << 20]).unwrap();
    let jobs = [
        "--name=t",
        "--filename=data",
        "--rw=randrw",
        "--numjobs=3",
        "--group_reporting",
        "--ioengine=psync",
        "--percentile_list=50:99:99.9",
    ];
    let record = recorded(directory.path(), 0, &jobs);
    let judged = judge::judge(&record);
    for direction in [Direction::Read, Direction::Write] {
        let mut all = Histogram::new();
        for job in &record.jobs {
            let own = job.results[direction].latency.clat.as_ref().unwrap();
            assert_eq!(own.count(), job.results[direction].ios, "one value an I/O");
            all.merge(own);
        }
        let shown = judged.units[0].directions[direction].clat.as_ref().unwrap();
        assert_eq!(shown.count, all.count());
        let expected = [50.0, 99.0, 99.9].map(|p| (p, all.percentile(p)));
        assert_eq!(shown.percentiles, expected);
        assert!(expected.iter().all(|(_, v)| (all.min()..=all.max()).contains(v)));
    }
}

/// unified_rw_reporting: the sum of the directions, over the time in which any of them was busy.
#[test]
fn directions_reported_as_one_add_up() {
    let directory = scratch();
    let jobs = "rate_iops=500\nruntime=500ms\n[reads]\n[writes]\nrw=randwrite\nbs=8k\n[mixed]\nrw=randrw\nbs=16k\n";
    job_file(directory.path(), jobs);
    let both = as_fio(directory.path(), &["job.fio", JSON, "--unified_rw_reporting=both"])
        .expect(0)
        .json();
    let job = &both["jobs"][0];
    for sum in ["total_ios", "io_bytes"] {
        let parts = number(&job["read"][sum]) + number(&job["write"][sum]);
        assert_eq!(number(&job["mixed"][sum]), parts, "{sum}");
    }
    let counts = number(&job["read"]["clat_ns"]["N"]) + number(&job["write"]["clat_ns"]["N"]);
    assert_eq!(number(&job["mixed"]["clat_ns"]["N"]), counts);
    let off = number(&job["mixed"]["iops"])
        / (number(&job["read"]["iops"]) + number(&job["write"]["iops"]));
    assert!((0.97..1.03).contains(&off), "{off}");
    let text = as_fio(directory.path(), &["job.fio", "--unified_rw_reporting=both"]).expect(0).out;
    let line = text.lines().find(|line| line.starts_with("  mixed: IOPS=")).unwrap();
    assert!(!line.contains("IOPS=0,"), "{line}");
    let mixed = as_fio(directory.path(), &["job.fio", JSON, "--unified_rw_reporting=mixed"])
        .expect(0)
        .json();
    assert!(
        mixed["jobs"][0].get("read").is_none()
            && number(&mixed["jobs"][0]["mixed"]["total_ios"]) > 0.0
    );
}

fn prios(document: &Value, job: usize) -> Vec<(u64, u64, u64)> {
    let list = document["jobs"][job]["read"]["prios"].as_array().cloned().unwrap_or_default();
    let field = |p: &Value, name: &str| p[name].as_u64().unwrap();
    let mut all: Vec<_> = list
        .iter()
        .map(|p| (field(p, "prioclass"), field(p, "prio"), p["clat_ns"]["N"].as_u64().unwrap()))
        .collect();
    all.sort_unstable();
    all
}

#[test]
fn priorities_of_merged_jobs_are_told_apart_as_by_the_oracle() {
    let directory = scratch();
    std::fs::write(directory.path().join("data"), vec![1_u8; 1 << 20]).unwrap();
    let jobs = "[global]\nioengine=libaio\nfilename=data\nsize=1m\nrw=randread\niodepth=4\n\
        group_reporting\n[a]\nprio=3\n[b]\n[c]\nprio=3\nnew_group\n[d]\nprio=3\nprioclass=2\n\
        [e]\nprio=1\nprioclass=1\nnew_group\n[f]\nprio=2\nprioclass=1\nrw=randwrite\n";
    std::fs::write(directory.path().join("job.fio"), jobs).unwrap();
    let ours = as_fio(directory.path(), &["job.fio", JSON]).expect(0).json();
    let theirs = oracle(directory.path());
    for job in 0..3 {
        assert_eq!(prios(&ours, job), prios(&theirs, job), "report {job}");
    }
    assert_eq!(prios(&ours, 0), [(0, 0, 256), (2, 3, 256)]);
    let mixed = jobs.replace("[b]\n", "[b]\nlat_percentiles=1\n");
    std::fs::write(directory.path().join("job.fio"), mixed).unwrap();
    let refused = fathom(directory.path(), &["job.fio"]).expect(2);
    assert!(
        refused.err.contains("lat_percentiles") && refused.err.contains("of one report differ"),
        "{}",
        refused.err
    );
}
