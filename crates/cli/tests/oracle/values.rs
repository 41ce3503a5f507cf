//! Values that fio reads otherwise than they look.

use crate::common::{Ran, as_fio, fathom, fio, scratch};
use std::path::Path;

const JOB: [&str; 6] = [
    "--output-format=json",
    "--name=a",
    "--filename=f",
    "--size=256k",
    "--ioengine=null",
    "--rw=read",
];

fn line<'a>(options: &[&'a str]) -> Vec<&'a str> {
    [&JOB[..], options].concat()
}

/// Jobs of a report, and I/Os of all of them.
fn outcome(ran: &Ran) -> (usize, u64) {
    let start = ran.out.find('{').unwrap_or_default();
    let report: serde_json::Value = serde_json::from_str(&ran.out[start..]).unwrap();
    let jobs = report["jobs"].as_array().unwrap();
    let ios = jobs.iter().map(|job| job["read"]["total_ios"].as_u64().unwrap()).sum();
    (jobs.len(), ios)
}

fn warnings(ran: &Ran) -> String {
    let report: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    report["fathom"]["warnings"].to_string()
}

#[test]
fn values_are_read_as_the_oracle_reads_them() {
    let directory = scratch();
    let path = directory.path();
    for (option, read) in [
        ("--number_ios=5x", "5"),
        ("--number_ios=1e3", "1"),
        ("--iodepth=2.5", "2"),
        ("--iodepth=4x", "4"),
        ("--numjobs=2.9", "2"),
        ("--bs=512x", "512"),
        ("--runtime=1.5s", "1s"),
        ("--percentile_list=99,9", "99"),
        ("--group_reporting=2", "1"),
        ("--randrepeat=-1", "1"),
    ] {
        let line = line(&[option]);
        let (ours, theirs) = (as_fio(path, &line).expect(0), fio(path, &line).expect(0));
        assert_eq!(outcome(&ours), outcome(&theirs), "{option}");
        let said = format!("is read as {read}, as fio reads it");
        assert!(warnings(&ours).contains(&said), "{option}: {}", ours.out);
        assert_eq!(ours.err, "", "{option}");
        let strict = fathom(path, &line).expect(2);
        assert!(strict.err.contains(&format!("fio reads it as {read}")), "{}", strict.err);
    }
    let percentiles = |ran: Ran| {
        let report: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
        let table = &report["jobs"][0]["read"]["clat_ns"]["percentile"];
        table.as_object().unwrap().keys().cloned().collect::<Vec<_>>()
    };
    let list = line(&["--percentile_list=99,9"]);
    assert_eq!(percentiles(as_fio(path, &list)), percentiles(fio(path, &list)));
}

/// Shares of blocks vary with the generators.
#[test]
fn shares_above_all_are_cut() {
    let directory = scratch();
    let line = line(&["--bssplit=4k/60:8k/60", "--size=64m"]);
    let ios = [as_fio, fio].map(|program| outcome(&program(directory.path(), &line).expect(0)).1);
    let apart = ios[0].abs_diff(ios[1]) as f64 / ios[1] as f64;
    assert!(apart < 0.05, "{ios:?}");
}

#[test]
fn a_fraction_of_a_second_is_left_out() {
    let directory = scratch();
    let line = line(&["--runtime=0.5"]);
    for program in [as_fio, fio, fathom as fn(&Path, &[&str]) -> Ran] {
        assert_eq!(outcome(&program(directory.path(), &line).expect(0)).1, 64);
    }
}

#[test]
fn senseless_readings_are_refused_and_fio_takes_none_of_replay_align_0() {
    let directory = scratch();
    for option in [
        "--rate=1.5m",
        "--size=0.5g",
        "--runtime=5sec",
        "--runtime=1m30s",
        "--iodepth=-1",
        "--cpumask=0",
        "--log_hist_coarseness=7",
        "--replay_align=0",
    ] {
        as_fio(directory.path(), &line(&[option])).expect(1);
    }
    fio(directory.path(), &line(&["--replay_align=0"])).expect(1);
}

#[test]
fn wrong_options_of_the_program_are_ignored_with_a_warning() {
    let directory = scratch();
    let path = directory.path();
    for (option, said) in [
        ("--eta=sometimes", "--eta: 'sometimes' is none of auto, always and never"),
        ("--debug=none", "--debug: 'none' is none of all"),
        ("--daemonize=pid", "--daemonize: only a server runs in the background"),
    ] {
        let line = [&[option], &JOB[..]].concat();
        assert_eq!(outcome(&fio(path, &line).expect(0)).1, 64, "{option}");
        let ours = as_fio(path, &line).expect(0);
        assert_eq!(outcome(&ours).1, 64, "{option}");
        assert!(warnings(&ours).contains(said), "{}", ours.out);
        fathom(path, &line).expect(2);
    }
    assert!(!path.join("pid").exists());
    let merge = line(&["--merge-blktrace-only"]);
    for program in [as_fio, fio] {
        assert_eq!(program(path, &merge).expect(0).out, "");
    }
    let strict = fathom(path, &merge).expect(2);
    assert!(strict.err.contains("no job has merge_blktrace_file"), "{}", strict.err);
}

#[test]
fn help_of_an_option_that_is_none_names_the_nearest() {
    let directory = scratch();
    for (option, code, found) in [
        ("--cmdhelp=iodeph", 0, true),
        ("--cmdhelp=zzzqqq", 0, false),
        ("--enghelp=libaio,x", 1, false),
    ] {
        let ours = as_fio(directory.path(), &[option]).expect(code);
        let theirs = fio(directory.path(), &[option]).expect(code);
        if option.starts_with("--cmdhelp") {
            assert_eq!(ours.err.trim_end(), theirs.err.trim_end());
        }
        for ran in [&ours, &theirs] {
            assert_eq!(ran.out.contains("showing closest match"), found, "{option}: {}", ran.out);
        }
    }
    let all = as_fio(directory.path(), &["--cmdhelp=all"]).expect(0).out;
    assert!(all.lines().all(|line| line.contains(": ")), "{all}");
}

/// The last of two names of one option counts.
#[test]
fn the_last_of_randrepeat_and_allrandrepeat_wins() {
    let directory = scratch();
    let offsets = |more: &[&str]| {
        let log = directory.path().join("log");
        std::fs::remove_file(&log).ok();
        let line = [&JOB[1..5], &["--rw=randread", "--write_iolog=log"], more].concat();
        as_fio(directory.path(), &line).expect(0);
        let text = std::fs::read_to_string(log).unwrap();
        let places = |line: &str| line.split(' ').skip_while(|w| *w != "read").nth(1)?.parse().ok();
        text.lines().filter_map(places).collect::<Vec<u64>>()
    };
    let repeats = ["--randrepeat=0", "--allrandrepeat=1"];
    assert_eq!(offsets(&repeats).len(), 64);
    assert_eq!(offsets(&repeats), offsets(&repeats));
    let varies = ["--randrepeat=1", "--allrandrepeat=0"];
    assert_ne!(offsets(&varies), offsets(&varies));
}

/// An averaging time that is given and shorter than `log_avg_msec` is the period of its log.
#[test]
fn iopsavgtime_is_the_period_of_a_log_of_iops() {
    let directory = scratch();
    let timed = ["--rate_iops=1000", "--time_based", "--runtime=1", "--log_avg_msec=500"];
    let logs = ["--write_iops_log=a", "--write_bw_log=a", "--iopsavgtime=100"];
    as_fio(directory.path(), &[&JOB[..], &timed, &logs].concat()).expect(0);
    let lines =
        |name: &str| std::fs::read_to_string(directory.path().join(name)).unwrap().lines().count();
    assert!((9..=11).contains(&lines("a_iops.1.log")), "{}", lines("a_iops.1.log"));
    assert!((2..=3).contains(&lines("a_bw.1.log")), "{}", lines("a_bw.1.log"));
}
