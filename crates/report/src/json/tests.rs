use crate::testing::{self, add, spread, worker};
use crate::{RenderOptions, Subject, json};
use record::{Direction, ErrorCount, FioVersion, GroupKey, JobRecord, Nanos, RunRecord};
use serde_json::Value;

/// In the forms of the oracle's version.
fn document(record: &RunRecord, bins: bool) -> Value {
    let options = RenderOptions { compat: FioVersion::V3_33, ..RenderOptions::default() };
    let text = json::render(Subject::Run(record, &judge::judge(record)), bins, &options);
    serde_json::from_str(&text).unwrap()
}

/// Every path with the type at its end, in order; ours and the options as typed left out.
fn tree(value: &Value, path: &str, out: &mut Vec<String>) {
    match value {
        Value::Object(pairs) => {
            for (key, value) in pairs.iter().filter(|(key, _)| *key != "fathom") {
                let path = format!("{path}/{key}");
                match key.as_str() {
                    "bins" => out.push(format!("{path} object")),
                    "job options" => {}
                    _ => tree(value, &path, out),
                }
            }
        }
        Value::Array(values) => {
            values.iter().take(1).for_each(|value| tree(value, &format!("{path}[]"), out));
        }
        Value::String(_) => out.push(format!("{path} text")),
        Value::Number(number) if number.is_f64() => out.push(format!("{path} real")),
        Value::Number(_) => out.push(format!("{path} whole")),
        other => panic!("{path}: fio has no {other}"),
    }
}

/// Compares with a tree taken from the oracle's document of such a job. serde_json's map sorts its
/// keys, so order is checked apart, on the text.
fn assert_tree(record: &RunRecord, bins: bool, expected: &str) {
    let mut ours = Vec::new();
    tree(&document(record, bins), "", &mut ours);
    ours.sort();
    let mut theirs: Vec<&str> = expected.lines().collect();
    theirs.sort_unstable();
    assert_eq!(ours, theirs);
}

fn job(directions: &[Direction]) -> JobRecord {
    let mut job = worker("a", 1, GroupKey::default());
    directions.iter().for_each(|d| add(&mut job, *d, 100, (1000, 900_000)));
    job
}

/// As the oracle has it: no estimate in its first three seconds, none left at the end.
#[test]
fn a_run_has_an_estimate_only_once_it_has_ended() {
    let mut record = testing::run_of(vec![job(&[Direction::Read])]);
    let eta = |record: &RunRecord, so_far: bool| {
        let options = RenderOptions { so_far, ..RenderOptions::default() };
        let text = json::render(Subject::Run(record, &judge::judge(record)), false, &options);
        serde_json::from_str::<Value>(&text).unwrap()["jobs"][0]["eta"].as_i64().unwrap()
    };
    record.jobs[0].ended = Nanos(1_900_000_000);
    assert_eq!(eta(&record, false), i64::from(i32::MAX));
    record.jobs[0].ended = Nanos(2_100_000_000);
    assert_eq!((eta(&record, false), eta(&record, true)), (0, i64::from(i32::MAX)));
}

#[test]
fn the_tree_of_a_job_with_every_table_matches_the_oracle() {
    let mut job = job(&[Direction::Read, Direction::Write]);
    (job.show.lat_percentiles, job.show.slat_percentiles) = (true, true);
    (job.sync.count, job.sync.latency) = (5, spread(1000, 2000, 5));
    let expected = include_str!("../../tests/data/json-tree-both-percentiles-sync.txt");
    assert_tree(&testing::run_of(vec![job]), true, expected);
}

#[test]
fn the_trees_of_unified_reporting_match_the_oracle() {
    let mut both = job(&[Direction::Read, Direction::Write]);
    both.show.unified = 2;
    both.results.read.latency.slat = None;
    both.results.write.latency.slat = None;
    let expected = include_str!("../../tests/data/json-tree-unified-both.txt");
    assert_tree(&testing::run_of(vec![both]), true, expected);

    let mut mixed = job(&[Direction::Read]);
    (mixed.show.unified, mixed.show.lat_percentiles, mixed.show.slat_percentiles) = (1, true, true);
    let mut record = testing::run_of(vec![mixed]);
    record.disks.clear();
    assert_tree(&record, true, include_str!("../../tests/data/json-tree-unified-mixed.txt"));
}

#[test]
fn a_job_that_tolerates_errors_counts_them() {
    let mut job = job(&[Direction::Write]);
    job.options.push(("continue_on_error".into(), "all".into()));
    job.show.errors = true;
    job.error = 28;
    job.errors.push(ErrorCount {
        errno: 28,
        text: "No space left on device".into(),
        operation: "write".into(),
        count: 2,
        first_file: "x".into(),
        first_offset: Some(4096),
        first_length: None,
    });
    let record = testing::run_of(vec![job]);
    assert_tree(&record, false, include_str!("../../tests/data/json-tree-errors.txt"));
    let document = document(&record, false);
    assert_eq!(document["jobs"][0]["total_err"], 2);
    assert_eq!(document["jobs"][0]["fathom"]["errors"][0]["operation"], "write");
}

/// Keys of the document in the order of the oracle.
const KEYS: &str = "\
    fio version|timestamp|timestamp_ms|time|global options|jobs|jobname|groupid|error|eta|elapsed|\
    job options|read|io_bytes|io_kbytes|bw_bytes|bw|iops|runtime|total_ios|short_ios|drop_ios|\
    slat_ns|clat_ns|min|max|mean|stddev|N|percentile|1.000000|99.990000|bins|lat_ns|bw_min|bw_max|\
    bw_agg|bw_mean|bw_dev|bw_samples|iops_min|iops_max|iops_mean|iops_stddev|iops_samples|write|\
    trim|sync|job_runtime|usr_cpu|sys_cpu|ctx|majf|minf|iodepth_level|iodepth_submit|\
    iodepth_complete|latency_ns|latency_us|latency_ms|latency_depth|latency_target|\
    latency_percentile|latency_window|fathom|disk_util|name|read_ios|write_ios|read_merges|\
    write_merges|read_ticks|write_ticks|in_queue|util|fathom";

#[test]
fn keys_stand_in_the_oracles_order() {
    let mut record = testing::mixed();
    record.global_options.push(("direct".into(), "1".into()));
    let text = json::render(
        Subject::Run(&record, &judge::judge(&record)),
        true,
        &RenderOptions::default(),
    );
    let mut rest = text.as_str();
    for key in KEYS.split('|') {
        let found = rest.find(&format!("\"{key}\" : ")).unwrap_or_else(|| panic!("{key}"));
        rest = &rest[found + 1..];
    }
}

#[test]
fn figures_are_where_readers_look_and_as_they_expect_them() {
    let mut record = testing::mixed();
    record.disks = vec![testing::disk("dm-0", &["sda"]), testing::disk("sda", &[])];
    let document = document(&record, true);
    let read = &document["jobs"][0]["read"];
    assert_eq!((&read["io_bytes"], &read["bw"]), (&4_096_000.into(), &2000.into()));
    assert_eq!((&read["iops"], &read["runtime"]), (&500.0.into(), &2000.into()));
    assert_eq!(read["bw_samples"], 4);
    assert_eq!(document["time"], "Fri Nov 20 22:53:48 2026");
    assert_eq!(document["timestamp"], 1_795_215_228_u64);
    assert_eq!(document["jobs"][0]["job options"]["bs"], "4k");
    let bins = read["clat_ns"]["bins"].as_object().unwrap();
    assert_eq!(bins.values().map(|v| v.as_u64().unwrap()).sum::<u64>(), 1000);
    assert_eq!(document["disk_util"][0]["aggr_write_merge"], 4);
    assert!(document["disk_util"][1].get("aggr_util").is_none());
    let ours = &document["fathom"];
    assert_eq!(ours["warnings"][0]["text"], "said \"so\"");
    assert_eq!(ours["clock"]["source"], "tsc");
    assert_eq!(document["jobs"][0]["fathom"]["iodepth_achieved"], 7.5);
}

#[test]
fn shared_stamps_are_counted_and_looked_at() {
    let mut record = testing::mixed();
    let own = |record: &RunRecord| document(record, false)["jobs"][0]["fathom"].clone();
    assert_eq!(
        (&own(&record)["stamps_shared"], &own(&record)["stamps_between_ns"]),
        (&0.into(), &Value::Null)
    );
    record.jobs[0].shared_stamps.shared = 500;
    [20, 20, 40].iter().for_each(|length| record.jobs[0].shared_stamps.add_sample(*length));
    let between = &own(&record)["stamps_between_ns"];
    assert_eq!(
        (&between["N"], &between["median"], &between["max"]),
        (&3.into(), &20.into(), &40.into())
    );
}

#[test]
fn response_latency_is_there_for_rated_jobs_only() {
    let rated = document(&testing::rated(), false);
    assert_eq!(rated["jobs"][0]["fathom"]["response_ns"]["read"]["N"], 1000);
    assert!(rated["jobs"][0]["fathom"]["response_ns"].get("write").is_none());
    assert!(document(&testing::mixed(), false)["jobs"][0]["fathom"].get("response_ns").is_none());
}

#[test]
fn plain_json_has_no_bins() {
    let record = testing::mixed();
    let text = json::render(
        Subject::Run(&record, &judge::judge(&record)),
        false,
        &RenderOptions::default(),
    );
    assert!(!text.contains("\"bins\""));
}

#[test]
fn an_option_given_twice_counts_with_its_last_value() {
    let mut job = job(&[Direction::Read]);
    job.options.push(("bs".into(), "8k".into()));
    let document = document(&testing::run_of(vec![job]), false);
    assert_eq!(document["jobs"][0]["job options"]["bs"], "8k");
}

#[test]
fn requests_to_an_object_store_are_ours() {
    let document = document(&testing::objects(), true);
    let asked = &document["jobs"][0]["fathom"]["exchange"];
    assert_eq!(asked["endpoints"][0], "127.0.0.1:9000");
    assert_eq!(asked["connections"], 8);
    assert_eq!(asked["tls_ns"], Value::Null);
    let get = &asked["requests"][0];
    assert_eq!(
        (&get["request"], &get["sent"], &get["failed"]),
        (&"GET".into(), &1000.into(), &100.into())
    );
    assert_eq!(get["statuses"]["404"], 100);
    assert_eq!(get["whole_ns"]["N"], 900);
    assert!(get["first_byte_ns"]["percentile"]["99.900000"].as_u64() > Some(1_900_000));
}

#[test]
fn a_job_without_own_options_has_no_option_list() {
    let mut record = testing::mixed();
    record.jobs[0].options.clear();
    let document = document(&record, false);
    assert!(document["jobs"][0].get("job options").is_none(), "{document}");
}
