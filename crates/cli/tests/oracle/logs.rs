//! Log files: their names, columns and units as the oracle has them, and what they add up to.

use crate::common::{Ran, as_fio, fathom, fio, scratch};
use record::RunRecord;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Names of the logs in a directory, and their lines split into columns.
fn logs(directory: &Path) -> BTreeMap<String, Vec<Vec<String>>> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
    let logs = entries.filter(|entry| entry.path().extension().is_some_and(|e| e == "log"));
    logs.map(|log| {
        let text = fs::read_to_string(log.path()).unwrap();
        let split = |line: &str| line.split(", ").map(Into::into).collect();
        (log.file_name().into_string().unwrap(), text.lines().map(split).collect())
    })
    .collect()
}

fn number(text: &str) -> u64 {
    text.parse().unwrap_or_else(|_| panic!("'{text}' is no number"))
}

fn column(log: &[Vec<String>], index: usize) -> Vec<u64> {
    log.iter().map(|line| number(&line[index])).collect()
}

const BASE: &[&str] = &["--output-format=json", "--bs=4k", "--size=256k", "--filename=data"];

/// What both programs write for the same arguments.
fn both(arguments: &[&str]) -> [BTreeMap<String, Vec<Vec<String>>>; 2] {
    let (ours, theirs) = (scratch(), scratch());
    let line = [&["--name=job"], BASE, arguments].concat();
    as_fio(ours.path(), &line).expect(0);
    fio(theirs.path(), &line).expect(0);
    [logs(ours.path()), logs(theirs.path())]
}

/// Options with which one I/O a line is logged.
const PER_IO: &[&[&str]] = &[
    &["--rw=read", "--ioengine=psync", "--write_bw_log=x", "--write_iops_log=x"],
    &["--rw=randrw", "--ioengine=libaio", "--iodepth=4", "--write_lat_log=x"],
    &["--rw=write", "--ioengine=psync", "--write_lat_log=x", "--log_offset=1"],
    &[
        "--rw=read",
        "--ioengine=psync",
        "--write_bw_log=x",
        "--log_prio=1",
        "--prio=3",
        "--prioclass=2",
    ],
    &["--rw=read", "--ioengine=psync", "--write_iops_log=x", "--prio=0", "--prioclass=1"],
    &["--rw=read", "--ioengine=psync", "--write_bw_log=x", "--log_offset=1", "--log_prio=1"],
    &["--rw=read", "--ioengine=psync", "--numjobs=3", "--write_bw_log=x"],
    &["--rw=read", "--ioengine=psync", "--numjobs=3", "--write_bw_log=x", "--per_job_logs=0"],
    &["--rw=read", "--ioengine=psync", "--numjobs=2", "--group_reporting", "--write_lat_log=x"],
    &["--rw=read", "--ioengine=psync", "--write_lat_log=x", "--disable_slat=1"],
    &["--rw=read", "--ioengine=psync", "--write_lat_log=x", "--disable_clat=1"],
    &["--rw=read", "--ioengine=psync", "--write_lat_log=x", "--disable_lat=1", "--write_bw_log=y"],
    &["--rw=read", "--ioengine=psync", "--write_bw_log=x", "--disable_bw=1", "--write_iops_log=x"],
    &["--rw=read", "--ioengine=psync", "--write_bw_log=x", "--write_lat_log=x", "--gtod_reduce=1"],
    &["--rw=read", "--ioengine=psync", "--write_hist_log=x"],
];

#[test]
fn names_and_columns_are_those_of_the_oracle() {
    for arguments in PER_IO {
        let [ours, theirs] = both(arguments);
        assert_eq!(
            ours.keys().collect::<Vec<_>>(),
            theirs.keys().collect::<Vec<_>>(),
            "{arguments:?}"
        );
        assert!(!theirs.is_empty() || arguments.contains(&"--gtod_reduce=1"), "{arguments:?}");
        for (name, log) in &theirs {
            // Time and, but for IOPS, the value are each machine's moment.
            let from = if name.contains("iops") { 1 } else { 2 };
            let rest = |log: &[Vec<String>]| -> Vec<Vec<String>> {
                let mut all: Vec<_> = log.iter().map(|line| line[from..].to_vec()).collect();
                all.sort();
                all
            };
            // Which of the mix comes next is each program's own draw.
            let drawn = arguments.contains(&"--rw=randrw");
            let width = |log: &[Vec<String>]| (log.len(), log.first().map(Vec::len));
            match drawn {
                true => assert_eq!(width(&ours[name]), width(log), "{name} {arguments:?}"),
                false => assert_eq!(rest(&ours[name]), rest(log), "{name} {arguments:?}"),
            }
        }
    }
}

#[test]
fn a_log_without_a_prefix_has_the_name_of_its_job() {
    let scratch = scratch();
    let job = "[one]\nioengine=null\nsize=64k\nwrite_bw_log\n[two]\nioengine=null\nsize=64k\nwrite_iops_log\nwrite_lat_log=z\n";
    fs::write(scratch.path().join("j.fio"), job).unwrap();
    let run = |program: fn(&Path, &[&str]) -> crate::common::Ran| -> Vec<String> {
        program(scratch.path(), &["j.fio"]).expect(0);
        let names: Vec<String> = logs(scratch.path()).into_keys().collect();
        names.iter().for_each(|name| fs::remove_file(scratch.path().join(name)).unwrap());
        names
    };
    let theirs = run(fio);
    assert_eq!(theirs[0], "one_bw.1.log");
    assert_eq!(run(as_fio), theirs);
    assert_eq!(run(fathom_run), theirs);
}

fn fathom_run(directory: &Path, arguments: &[&str]) -> crate::common::Ran {
    fathom(directory, arguments)
}

/// Runs a job as fio does; its JSON and logs, the record beside them.
fn logged(arguments: &[&str]) -> (Value, RunRecord, BTreeMap<String, Vec<Vec<String>>>) {
    let scratch = scratch();
    let line = [&["--name=job", "--output-format=json", "--record=run.json"], arguments].concat();
    let json = fathom(scratch.path(), &line).expect(0).json();
    let record = formats::load(&scratch.path().join("run.json")).unwrap();
    (json, record, logs(scratch.path()))
}

/// A run of mixed I/O whose reads and writes have different rates, with pauses longer than a window.
const PACED: &[&str] = &[
    "--ioengine=null",
    "--rw=randrw",
    "--rwmixread=75",
    "--bssplit=4k/50:12k/50",
    "--size=1g",
    "--thinktime=130ms",
    "--thinktime_blocks=25",
    "--time_based",
    "--runtime=1",
];

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= b * 0.001
}

#[test]
fn a_log_of_every_io_adds_up_to_the_summary() {
    let log = ["--write_bw_log=x", "--write_lat_log=x", "--write_iops_log=x"];
    let (json, record, logs) = logged(&[PACED, &log].concat());
    let results = &record.jobs[0].results;
    for (direction, result) in results.iter().filter(|(_, result)| result.ios > 0) {
        let own = |name: &str| -> Vec<Vec<String>> {
            let lines = logs[&format!("x_{name}.1.log")].iter();
            lines.filter(|line| number(&line[2]) == direction as u64).cloned().collect()
        };
        let shown = &json["jobs"][0][direction.name()];
        assert_eq!(column(&own("bw"), 3).iter().sum::<u64>(), shown["io_bytes"].as_u64().unwrap());
        assert_eq!(
            column(&own("iops"), 1).iter().sum::<u64>(),
            shown["total_ios"].as_u64().unwrap()
        );
        let clat = column(&own("clat"), 1);
        let exact = result.latency.clat.as_ref().unwrap();
        assert_eq!((clat.len() as u64, clat.iter().sum::<u64>()), (exact.count(), exact.sum()));
        assert_eq!(clat.iter().max(), Some(&exact.max()));
    }
    assert!(results.read.ios > 0 && results.write.ios > 0);
}

#[test]
fn a_log_of_windows_adds_up_to_the_summary_and_leaves_none_out() {
    let log = ["--write_bw_log=x", "--write_lat_log=x", "--write_iops_log=x", "--log_avg_msec=60"];
    let (json, record, logs) = logged(&[PACED, &log].concat());
    let job = &record.jobs[0];
    let length = (job.ended - job.started).0.div_ceil(1_000_000);
    for (direction, result) in job.results.iter().filter(|(_, result)| result.ios > 0) {
        let own = |name: &str| -> Vec<Vec<String>> {
            let lines = logs[&format!("x_{name}.1.log")].iter();
            lines.filter(|line| number(&line[2]) == direction as u64).cloned().collect()
        };
        let integral = |log: &[Vec<String>]| -> f64 {
            let mut before = 0;
            column(log, 0)
                .into_iter()
                .zip(column(log, 1))
                .map(|(at, value)| {
                    (value * (at - std::mem::replace(&mut before, at))) as f64 / 1000.0
                })
                .sum()
        };
        let shown = &json["jobs"][0][direction.name()];
        let kib = integral(&own("bw"));
        assert!(close(kib * 1024.0, shown["io_bytes"].as_f64().unwrap()), "{kib} {shown}");
        let ios = integral(&own("iops"));
        assert!((ios - result.ios as f64).abs() < 0.1, "{ios} {}", result.ios);
        let times = column(&own("bw"), 0);
        assert_eq!(times.last(), Some(&length), "the last window is written");
        assert!(times.windows(2).rev().skip(1).all(|pair| pair[1] - pair[0] == 60), "{times:?}");
        assert!(column(&own("bw"), 1).contains(&0), "a window without I/O has its line");
        let latencies = own("lat");
        assert!(latencies.len() < own("bw").len() && !column(&latencies, 1).is_empty());
        assert!(latencies.iter().all(|line| line[3] == "0" && line.len() == 5));
    }
}

#[test]
fn bandwidth_of_an_io_is_told_in_kib_per_second() {
    let (_, _, logs) = logged(&[
        "--ioengine=psync",
        "--rw=write",
        "--size=1m",
        "--bs=64k",
        "--filename=data",
        "--write_bw_log=x",
        "--write_lat_log=x",
    ]);
    let rates = column(&logs["x_bw.1.log"], 1);
    let clat = column(&logs["x_clat.1.log"], 1);
    assert_eq!(rates.len(), 16);
    for (rate, clat) in rates.into_iter().zip(clat) {
        assert_eq!(rate, 64 * 1_000_000_000 / clat, "the oracle's line counts 1000 bytes");
    }
}

#[test]
fn the_greatest_and_both_values_of_a_window_are_to_be_had() {
    let log = ["--write_lat_log=x", "--write_bw_log=x", "--log_avg_msec=100"];
    let (_, record, logs) = logged(&[PACED, &log, &["--log_window_value=both"]].concat());
    let latencies = &logs["x_clat.1.log"];
    assert!(latencies.iter().all(|line| line.len() == 6 && number(&line[1]) <= number(&line[2])));
    let result = &record.jobs[0].results.read.latency.clat;
    let reads = latencies.iter().filter(|line| line[3] == "0");
    let max = reads.map(|line| number(&line[2])).max();
    assert_eq!(max, Some(result.as_ref().unwrap().max()));
    let rates = &logs["x_bw.1.log"];
    assert!(rates.iter().all(|line| line.len() == 6 && line[1] == line[2]), "the mean twice");
    let single = ["--ioengine=null", "--rw=read", "--size=8k", "--write_bw_log=x"];
    let more = ["--write_lat_log=x", "--write_iops_log=x", "--log_window_value=both"];
    let (_, _, logs) = logged(&[&single[..], &more].concat());
    for log in ["x_bw.1.log", "x_iops.1.log", "x_clat.1.log", "x_lat.1.log"] {
        assert!(logs[log].len() == 2, "{log}");
        assert!(logs[log].iter().all(|line| line.len() == 6 && line[2] == "0"), "{log}");
    }
    let (_, record, logs) = logged(&[PACED, &log, &["--log_max_value=1"]].concat());
    let reads = logs["x_clat.1.log"].iter().filter(|line| line[2] == "0" && line.len() == 5);
    let max = reads.map(|line| number(&line[1])).max();
    assert_eq!(max, Some(record.jobs[0].results.read.latency.clat.as_ref().unwrap().max()));
}

#[test]
fn a_period_of_rates_that_is_set_and_shorter_is_that_of_their_log() {
    let job = ["--write_bw_log=x", "--write_iops_log=x", "--write_lat_log=x"];
    let windows = ["--log_avg_msec=500", "--bwavgtime=100"];
    let (_, _, logs) = logged(&[PACED, &job, &windows].concat());
    let first = |log: &str| {
        let reads = logs[log].iter().filter(|line| line[2] == "0");
        reads.map(|line| number(&line[0])).next()
    };
    assert_eq!(first("x_bw.1.log"), Some(100));
    assert_eq!([first("x_iops.1.log"), first("x_clat.1.log")], [Some(500); 2]);
}

#[test]
fn the_moment_of_issue_is_a_column_and_needs_its_neighbours() {
    let job = ["--ioengine=null", "--rw=read", "--size=64k", "--log_issue_time=1"];
    let (_, _, logs) =
        logged(&[&job[..], &["--write_lat_log=x", "--write_bw_log=x", "--log_offset=1"]].concat());
    let clat = &logs["x_clat.1.log"];
    let issued = column(clat, 6);
    assert!(clat.len() == 16 && issued.is_sorted() && issued[15] > issued[0]);
    assert!(logs["x_bw.1.log"].iter().all(|line| line[6] == "0"));
    let scratch = scratch();
    let line = [&["--name=job"], &job[..], &["--write_bw_log=x"]].concat();
    let refused = fathom(scratch.path(), &line).expect(2);
    assert!(
        refused.err.contains("log_issue_time") && refused.err.contains("log_offset=1"),
        "{}",
        refused.err
    );
    assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0);
}

#[test]
fn a_ramp_is_not_logged_and_time_begins_after_it() {
    let log = ["--write_bw_log=x", "--ramp_time=1500ms"];
    let (json, _, logs) = logged(&[PACED, &log].concat());
    let log = &logs["x_bw.1.log"];
    let shown: u64 =
        ["read", "write"].iter().map(|d| json["jobs"][0][*d]["io_bytes"].as_u64().unwrap()).sum();
    assert_eq!(column(log, 3).iter().sum::<u64>(), shown);
    assert!(column(log, 0)[0] < 1500 && column(log, 0).is_sorted());
}

#[test]
fn histograms_count_what_the_summary_counts() {
    for (coarseness, columns) in [(0, 1856), (3, 232), (6, 29)] {
        let option = format!("--log_hist_coarseness={coarseness}");
        let line = [PACED, &["--write_hist_log=x", "--log_hist_msec=200", &option]].concat();
        let (json, _, ours) = logged(&line);
        let log = &ours["x_clat_hist.1.log"];
        for (direction, name) in [("0", "read"), ("1", "write")] {
            let lines = log.iter().filter(|line| line[1] == direction);
            let counted: u64 = lines.flat_map(|line| line[3..].iter().map(|bin| number(bin))).sum();
            assert_eq!(counted, json["jobs"][0][name]["total_ios"].as_u64().unwrap());
        }
        assert!(
            log.iter()
                .all(|line| line.len() == 3 + columns && number(&line[2]).is_multiple_of(4096))
        );
        let theirs = scratch();
        fio(theirs.path(), &[&["--name=job", "--output-format=json"], &line[..]].concat())
            .expect(0);
        assert_eq!(logs(theirs.path())["x_clat_hist.1.log"][0].len(), 3 + columns);
    }
}

#[test]
fn times_are_told_by_the_clock_asked_for() {
    let job = ["--ioengine=null", "--rw=read", "--size=64k", "--write_iops_log=x"];
    let wall = || {
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis()
            as u64
    };
    let before = wall();
    let (_, _, unix) = logged(&[&job[..], &["--log_unix_epoch=1"]].concat());
    let times = column(&unix["x_iops.1.log"], 0);
    assert!(times.iter().all(|time| (before..=wall()).contains(time)), "{times:?}");
    let up = || {
        let text = fs::read_to_string("/proc/uptime").unwrap();
        (text.split(' ').next().unwrap().parse::<f64>().unwrap() * 1000.0) as u64
    };
    let before = up();
    let boot = ["--log_alternate_epoch=1", "--log_alternate_epoch_clock_id=7"];
    let (_, _, logs) = logged(&[&job[..], &boot].concat());
    let times = column(&logs["x_iops.1.log"], 0);
    assert!(times.iter().all(|time| (before - 20..=up() + 20).contains(time)), "{times:?}");
    let refused = ["--name=job", "--log_unix_epoch=1", "--log_alternate_epoch_clock_id=99"];
    let scratch = scratch();
    let refused = fathom(scratch.path(), &[&refused[..], &job].concat()).expect(2);
    assert!(refused.err.contains("log_alternate_epoch_clock_id"), "{}", refused.err);
}

#[test]
fn compressed_logs_are_read_by_either_program() {
    let line = [
        "--name=job",
        "--ioengine=null",
        "--rw=randwrite",
        "--size=4m",
        "--write_lat_log=x",
        "--log_offset=1",
        "--log_store_compressed=1",
        "--log_compression=4096",
        "--iodepth=2",
    ];
    let writers: [fn(&Path, &[&str]) -> crate::common::Ran; 2] = [as_fio, fio];
    for write in writers {
        let scratch = scratch();
        write(scratch.path(), &line).expect(0);
        assert!(scratch.path().join("x_clat.1.log.fz").is_file());
        let inflate = ["--inflate-log=x_clat.1.log.fz"];
        let ours = as_fio(scratch.path(), &inflate).expect(0);
        assert_eq!(ours.out, fio(scratch.path(), &inflate).expect(0).out);
        assert_eq!(ours.out.lines().count(), 1024);
        assert!(ours.out.lines().all(|line| line.split(", ").count() == 6), "{}", ours.out);
    }
    let scratch = scratch();
    fs::write(scratch.path().join("text.fz"), "0, 1, 2, 3, 4\n").unwrap();
    let damaged = fathom(scratch.path(), &["--inflate-log=text.fz"]).expect(1);
    assert!(damaged.err.contains("no compressed log") && damaged.out.is_empty(), "{}", damaged.err);
    let missing = fathom(scratch.path(), &["--inflate-log=missing.fz"]).expect(1);
    assert!(
        missing.err.contains("missing.fz") && missing.err.contains("No such file"),
        "{}",
        missing.err
    );
}

#[test]
fn compression_in_memory_changes_nothing_in_the_file() {
    let cpus = ["--log_compression=1024", "--log_compression_cpus=0"];
    let (json, _, logs) = logged(&[PACED, &["--write_iops_log=x"], &cpus].concat());
    let ios: u64 =
        ["read", "write"].iter().map(|d| json["jobs"][0][*d]["total_ios"].as_u64().unwrap()).sum();
    assert_eq!(logs["x_iops.1.log"].len() as u64, ios);
}

#[test]
fn a_log_that_cannot_be_written_costs_only_itself() {
    let job = ["--name=job", "--ioengine=null", "--rw=read", "--size=64k", "--output-format=json"];
    let scratch = scratch();
    let line = [&job[..], &["--write_bw_log=missing/x", "--write_iops_log=y"]].concat();
    let ran = as_fio(scratch.path(), &line).expect(1);
    assert!(ran.err.contains("cannot write log 'missing/x_bw.1.log': No such file"), "{}", ran.err);
    assert_eq!(ran.json()["jobs"][0]["read"]["total_ios"], 16);
    assert!(scratch.path().join("y_iops.1.log").is_file());
    let refused = fathom(scratch.path(), &line).expect(2);
    assert!(refused.err.contains("its directory is not there"), "{}", refused.err);
    // A directory of that name cannot be written to, which shows only when it is tried.
    fs::create_dir(scratch.path().join("z_bw.1.log")).unwrap();
    let ran = fathom(scratch.path(), &[&job[..], &["--write_bw_log=z"]].concat()).expect(1);
    assert!(ran.err.contains("cannot write log 'z_bw.1.log'"), "{}", ran.err);
    assert_eq!(ran.json()["jobs"][0]["read"]["total_ios"], 16);
}

#[test]
fn a_full_disk_leaves_no_part_of_a_log() {
    let scratch = scratch();
    let options = ["-t", "tmpfs", "-o", "size=64k"];
    let small = crate::common::Mounted::new(&options, "tmpfs", scratch.path().join("small"));
    let prefix = small.path().join("x").display().to_string();
    let option = format!("--write_bw_log={prefix}");
    let job = [
        "--name=job",
        "--ioengine=null",
        "--rw=read",
        "--size=64m",
        "--output-format=json",
        &option,
    ];
    let ran = fathom(scratch.path(), &job).expect(1);
    assert!(ran.err.contains("No space left on device"), "{}", ran.err);
    assert_eq!(ran.json()["jobs"][0]["read"]["total_ios"], 16384);
    assert_eq!(fs::read_dir(small.path()).unwrap().count(), 0);
}

#[test]
fn blocks_are_followed_while_they_are_trimmed() {
    let scratch = scratch();
    let disk = crate::common::loop_device(scratch.path(), 4 << 20, &[]);
    let target = format!("--filename={}", disk.device);
    let job =
        ["--name=job", &target, "--ioengine=psync", "--direct=1", "--rw=trimwrite", "--bs=64k"];
    let more = ["--size=2m", "--io_size=1m", "--block_error_percentiles=1"];
    let line = [&["--output-format=json,normal"], &job[..], &more].concat();
    let ran = as_fio(scratch.path(), &line).expect(0);
    assert!(ran.out.contains("  block lifetime percentiles :\n"), "{}", ran.out);
    let states = "states               : unwritten=16, trimmed=0, written=16, trim failure=0";
    assert!(ran.out.contains(states), "{}", ran.out);
    let (start, end) = (ran.out.find("{\n").unwrap(), ran.out.find("\n}\n").unwrap() + 2);
    let json: Value = serde_json::from_str(&ran.out[start..end]).unwrap();
    let blocks = &json["jobs"][0]["fathom"]["blocks"];
    assert_eq!((&blocks["block_bytes"], &blocks["written"]), (&65536.into(), &16.into()));
    let reads = ["--name=x", "--ioengine=null", "--rw=read", "--size=1m"];
    let told = fathom(scratch.path(), &[&reads[..], &["--block_error_percentiles=1"]].concat());
    assert!(told.expect(0).err.contains("counts trims, and there are none"));
}

/// What synchronises a range has a length, and no data for those who look at I/O.
#[test]
fn ranges_that_are_synchronised_are_no_data() {
    let scratch = scratch();
    for engine in ["psync", "libaio"] {
        let engine = format!("--ioengine={engine}");
        let job = ["--name=a", "--rw=write", "--size=64k", "--sync_file_range=write:4", &engine];
        let ran = as_fio(scratch.path(), &[&job[..], &["--write_lat_log=x"]].concat()).expect(0);
        assert!(!ran.err.contains("panicked"), "{}", ran.err);
        let log = fs::read_to_string(scratch.path().join("x_lat.1.log")).unwrap();
        assert_eq!(log.lines().count(), 16, "{log}");
    }
}

#[test]
fn logs_without_a_name_have_that_of_the_job() {
    let job = "[job]\nioengine=null\nsize=64k\nwrite_bw_log\nwrite_lat_log=\nwrite_iops_log=\n";
    let names = [as_fio, fio].map(|program: fn(&Path, &[&str]) -> Ran| {
        let directory = scratch();
        fs::write(directory.path().join("job.fio"), job).unwrap();
        program(directory.path(), &["job.fio"]).expect(0);
        logs(directory.path()).into_keys().collect::<Vec<_>>()
    });
    assert_eq!(names[0], names[1]);
    assert!(names[0].len() == 5 && names[0][0].starts_with("job_bw"), "{names:?}");
}

#[test]
fn the_summary_samples_what_is_logged_no_slower_than_the_log() {
    let job = ["--name=a", "--ioengine=null", "--size=1g", "--rw=write", "--rate_iops=200"];
    let time = ["--time_based", "--runtime=1", "--output-format=json", "--log_avg_msec=250"];
    for (log, samples) in [("bw", "bw_samples"), ("iops", "iops_samples"), ("lat", "bw_samples")] {
        let log_option = format!("--write_{log}_log=l");
        let arguments = [&job[..], &time, &[&log_option]].concat();
        // Three or four windows of a quarter of a second, by how the first and the last fall.
        let expected = if log == "lat" { 0..=2 } else { 3..=4 };
        for program in [as_fio, fio] {
            let ran = program(scratch().path(), &arguments).expect(0);
            let document: Value = serde_json::from_str(&ran.out).unwrap();
            let found = document["jobs"][0]["write"][samples].as_u64().unwrap();
            assert!(expected.contains(&found), "{log}: {found}");
        }
    }
}

#[test]
fn the_summary_takes_bandwidth_and_iops_over_periods_of_their_own() {
    let job = ["--name=a", "--ioengine=null", "--size=1g", "--rw=write", "--rate_iops=200"];
    let time = ["--time_based", "--runtime=2", "--output-format=json"];
    for (bandwidth, iops) in [(1000, 500), (1000, 200), (200, 1000), (500, 200)] {
        let periods = [format!("--bwavgtime={bandwidth}"), format!("--iopsavgtime={iops}")];
        let periods = periods.each_ref().map(String::as_str);
        for program in [as_fio, fio] {
            let ran = program(scratch().path(), &[&job[..], &time, &periods].concat()).expect(0);
            let write = &ran.json()["jobs"][0]["write"];
            for (field, period) in [("bw_samples", bandwidth), ("iops_samples", iops)] {
                // A period begins late where the machine is busy, and the last one may be cut short.
                let (found, most) = (write[field].as_u64().unwrap(), 2000 / period);
                assert!((most / 2..=most).contains(&found), "{periods:?}: {field}: {found}");
            }
        }
    }
}
