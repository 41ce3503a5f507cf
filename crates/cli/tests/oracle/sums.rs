//! What a run says of its bytes in several ways adds up to one sum: JSON, logs of bandwidth and IOPS,
//! the iolog, and what the kernel was asked for.

use crate::common::{FATHOM, alone, run, scratch};
use serde_json::Value;
use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Bytes and I/Os by one account.
type Sum = (u64, u64);

const DIRECTIONS: [&str; 2] = ["read", "write"];

fn number(text: &str) -> u64 {
    text.trim().parse().unwrap_or_else(|_| panic!("'{text}' is no number"))
}

fn files(directory: &Path, begins: &str) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
    let named = entries.filter(|entry| entry.file_name().to_str().unwrap().starts_with(begins));
    named.map(|entry| fs::read_to_string(entry.path()).unwrap()).collect()
}

/// What JSON says, all jobs together.
fn told(json: &Value, direction: &str) -> Sum {
    let jobs = json["jobs"].as_array().unwrap().iter();
    let one = |job: &Value, field: &str| job[direction][field].as_u64().unwrap();
    jobs.fold((0, 0), |sum, job| (sum.0 + one(job, "io_bytes"), sum.1 + one(job, "total_ios")))
}

/// Lines of the iologs.
fn listed(directory: &Path, direction: &str) -> Sum {
    let mut sum = (0, 0);
    for line in files(directory, "io.log").iter().flat_map(|log| log.lines()) {
        let words: Vec<&str> = line.split(' ').collect();
        if let [_, _, kind, _, length] = words[..]
            && kind == direction
        {
            sum = (sum.0 + number(length), sum.1 + 1);
        }
    }
    sum
}

/// Calls of pread64 and pwrite64 on the data files, thread by thread.
fn asked(directory: &Path, direction: &str) -> Sum {
    let mut sum = (0, 0);
    for trace in files(directory, "calls.") {
        let mut data = HashSet::new();
        for line in trace.lines() {
            let Some((call, result)) = line.rsplit_once(" = ") else { continue };
            let own = |fd: &str| fd.trim_end_matches(')').to_owned();
            if call.starts_with("openat(") {
                let is_data = call.contains("\"data");
                let fd = result.to_owned();
                if is_data {
                    data.insert(fd)
                } else {
                    data.remove(&fd)
                };
            } else if let Some(fd) = call.strip_prefix("close(") {
                data.remove(&own(fd.trim_end()));
            } else if call.starts_with(&format!("p{direction}64(")) {
                let fd = call.split(['(', ',']).nth(1).unwrap();
                if data.contains(fd) {
                    sum = (sum.0 + number(result), sum.1 + 1);
                }
            }
        }
    }
    sum
}

/// Columns of the lines of one direction in each log of a kind. Of two values the second is left out.
fn lines(directory: &Path, kind: &str, direction: usize) -> Vec<Vec<Vec<u64>>> {
    let of = |log: &String| -> Vec<Vec<u64>> {
        let split = |line: &str| {
            let mut columns = line.split(", ").map(number).collect::<Vec<u64>>();
            if columns.len() == 6 {
                columns.remove(2);
            }
            columns
        };
        log.lines().map(split).filter(|line| line[2] == direction as u64).collect()
    };
    files(directory, &format!("x_{kind}.")).iter().map(of).collect()
}

/// What the values of windows come to over their time.
fn integral(directory: &Path, kind: &str, direction: usize) -> f64 {
    let of = |log: &Vec<Vec<u64>>| {
        let mut before = 0;
        log.iter()
            .map(|line| {
                (line[1] * (line[0] - std::mem::replace(&mut before, line[0]))) as f64 / 1e3
            })
            .sum::<f64>()
    };
    lines(directory, kind, direction).iter().map(of).sum()
}

fn ran(directory: &Path, traced: bool, options: &[&str]) -> Value {
    let logs = ["--write_bw_log=x", "--write_iops_log=x", "--write_iolog=io.log"];
    let trace =
        ["strace", "-ff", "-qq", "-o", "calls", "-e", "trace=openat,close,pread64,pwrite64"];
    let own = [FATHOM, "fio", "--name=job", "--output-format=json", "--ioengine=psync"];
    let line = [if traced { &trace[..] } else { &[] }, &own, &logs, options].concat();
    run(Command::new(line[0]).args(&line[1..]).current_dir(directory)).expect(0).json()
}

const MIXED: [&str; 3] = ["--rw=randrw", "--size=1m", "--bssplit=4k/50:12k/50"];

#[test]
fn every_account_of_a_job_comes_to_the_same_bytes() {
    let cases: [&[&str]; 6] = [
        &["--filename=data"],
        &["--filename=data1:data2:data3", "--rw=write", "--bs=24k"],
        &["--filename=data", "--loops=3", "--io_size=1500k"],
        &["--filename=data", "--numjobs=3", "--group_reporting"],
        &["--filename=data", "--numjobs=2", "--rwmixread=80"],
        &["--filename=data", "--thinktime=1ms", "--thinktime_blocks=10", "--rw=rw"],
    ];
    for options in cases {
        let directory = scratch();
        // Laid out by itself: what a layout writes is nobody's I/O.
        let laid_out: &[&str] =
            if options[0].contains(':') { &["data1", "data2", "data3"] } else { &["data"] };
        for name in laid_out {
            fs::write(directory.path().join(name), vec![1_u8; 1 << 20]).unwrap();
        }
        let json = ran(directory.path(), true, &[&MIXED[..], options].concat());
        for (index, direction) in DIRECTIONS.into_iter().enumerate() {
            let told = told(&json, direction);
            assert_eq!(told, listed(directory.path(), direction), "iolog {options:?} {direction}");
            assert_eq!(told, asked(directory.path(), direction), "calls {options:?} {direction}");
            let logged = lines(directory.path(), "bw", index).concat();
            let bytes = logged.iter().map(|line| line[3]).sum();
            assert_eq!(told, (bytes, logged.len() as u64), "log {options:?} {direction}");
            let counted = lines(directory.path(), "iops", index).concat();
            assert_eq!(told.1, counted.iter().map(|line| line[1]).sum::<u64>(), "{options:?}");
        }
        assert!(told(&json, "write").0 > 0);
    }
}

/// Nothing outside of the window is in the report or in a log, and nothing within is missing: with
/// the ramp, it is what the kernel was asked for.
#[test]
fn a_ramp_is_in_no_account_but_the_iolog_s() {
    let _alone = alone();
    let directory = scratch();
    fs::write(directory.path().join("data"), vec![1_u8; 1 << 20]).unwrap();
    let ramp =
        ["--filename=data", "--time_based", "--ramp_time=500ms", "--runtime=1", "--rate_iops=400"];
    let json = ran(directory.path(), true, &[&MIXED[..], &ramp].concat());
    for (index, direction) in DIRECTIONS.into_iter().enumerate() {
        let (told, listed) = (told(&json, direction), listed(directory.path(), direction));
        assert_eq!(listed, asked(directory.path(), direction), "{direction}");
        let logged = lines(directory.path(), "bw", index).concat();
        let bytes = logged.iter().map(|line| line[3]).sum();
        assert_eq!(told, (bytes, logged.len() as u64), "{direction}");
        // A third of the time is ramp; a worker that is stopped in it catches up afterwards.
        let share = told.1 as f64 / listed.1 as f64;
        assert!((0.3..0.98).contains(&share), "{direction}: {share} of {listed:?}");
        let window = json["jobs"][0][direction]["runtime"].as_u64().unwrap();
        assert!((995..1450).contains(&window), "{direction}: {window} ms");
        assert!(logged.iter().all(|line| line[0] <= window + 1), "{direction}");
    }
}

#[test]
fn the_integral_of_a_log_is_the_summary_within_a_thousandth() {
    let paced: &[&str] = &["--time_based", "--runtime=1", "--rate_iops=400,200", "--filename=data"];
    let cases: [&[&str]; 5] = [
        &["--log_avg_msec=100"],
        &["--log_avg_msec=100", "--log_window_value=both", "--ramp_time=350ms"],
        &["--log_avg_msec=90", "--numjobs=2", "--group_reporting"],
        &["--log_avg_msec=60", "--thinktime=130ms", "--thinktime_blocks=25"],
        &["--log_avg_msec=333", "--filename=data1:data2:data3", "--numjobs=2"],
    ];
    for options in cases {
        let directory = scratch();
        let json = ran(directory.path(), false, &[&MIXED[..], paced, options].concat());
        for (index, direction) in DIRECTIONS.into_iter().enumerate() {
            let (bytes, ios) = told(&json, direction);
            let kib = integral(directory.path(), "bw", index);
            let count = integral(directory.path(), "iops", index);
            let off = [kib * 1024.0 / bytes as f64, count / ios as f64];
            let close = off.iter().all(|off| (off - 1.0).abs() <= 0.001);
            assert!(close, "{options:?} {direction}: {off:?}");
        }
    }
}
