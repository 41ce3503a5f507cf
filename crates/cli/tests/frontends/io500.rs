//! `fathom io500`, from end to end.

use crate::common::*;
use record::{JobRecord, RunRecord};
use rustix::process::Signal;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// Small amounts, and a deadline that the rules do not allow.
const SMALL: &str = "[global]\ndatadir = data\nresultdir = results\ntimestamp-datadir = FALSE\n\
    timestamp-resultdir = FALSE\n[debug]\nstonewall-time = 1\n[ior-easy]\nblockSize = 32m\n\
    [ior-hard]\nsegmentCount = 200\n[mdtest-easy]\nn = 1500\n[mdtest-hard]\nn = 1500\n";

const PHASES: [&str; 12] = [
    "ior-easy-write",
    "mdtest-easy-write",
    "ior-hard-write",
    "mdtest-hard-write",
    "find",
    "ior-easy-read",
    "mdtest-easy-stat",
    "ior-hard-read",
    "mdtest-hard-stat",
    "mdtest-easy-delete",
    "mdtest-hard-read",
    "mdtest-hard-delete",
];

#[track_caller]
fn io500(directory: &Path, config: &str, line: &str) -> Ran {
    fs::write(directory.join("c.ini"), config).unwrap();
    let mut command = Command::new(FATHOM);
    command.args(["io500", "c.ini", "--no-archive"]).args(line.split_whitespace());
    run(command.current_dir(directory))
}

/// Name, figure, unit and seconds of each phase that was printed.
fn results(text: &str) -> Vec<(&str, f64, &str, f64)> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("[RESULT]"));
    let row = |line| {
        let words: Vec<&str> = str::split_whitespace(line).collect();
        assert_eq!((words[3], words[4], words[6]), (":", "time", "seconds"), "{line}");
        (words[0], words[1].parse().unwrap(), words[2], words[5].parse().unwrap())
    };
    lines.map(row).collect()
}

/// The three numbers of the line of the score.
#[track_caller]
fn score(text: &str) -> [f64; 3] {
    let line = text.lines().find_map(|line| line.strip_prefix("[SCORE ] ")).expect(text);
    let numbers: Vec<f64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    assert!(line.ends_with(" [INVALID]"), "{line}");
    numbers.try_into().unwrap()
}

/// Files of mdtest-hard that a run created.
fn created(runs: &[RunRecord], phase: &str) -> u64 {
    let of_phase = runs.iter().filter(|run| run.cell_name().starts_with(phase));
    let files = of_phase.filter(|run| !run.cell_name().ends_with("tree"));
    files.flat_map(|run| &run.jobs).map(JobRecord::ios).sum()
}

/// A figure and its seconds make this amount. Seconds have three digits behind the point, figures six.
#[track_caller]
fn moved(figure: f64, seconds: f64, amount: f64) {
    let rounding = figure * 0.5e-3 + seconds * 0.5e-6;
    let off = (figure * seconds - amount).abs();
    assert!(off <= 1.001 * rounding, "{figure} in {seconds} s: {off} off {amount}");
}

#[test]
fn all_phases_come_in_order_and_the_score_follows_from_their_lines() {
    let directory = scratch();
    let at = directory.path();
    let ran = io500(at, SMALL, "--tasks=2 --record=r.json").expect(0);
    let rows = results(&ran.out);
    assert!(rows.iter().map(|row| row.0).eq(PHASES), "{}", ran.out);
    let mean = |wanted: &str| {
        let of_unit: Vec<f64> =
            rows.iter().filter(|row| row.2 == wanted).map(|row| row.1).collect();
        assert_eq!(of_unit.len(), if wanted == "GiB/s" { 4 } else { 8 });
        of_unit.iter().product::<f64>().powf(1.0 / of_unit.len() as f64)
    };
    let (bandwidth, iops) = (mean("GiB/s"), mean("kIOPS"));
    // Short times are printed with few digits.
    let near = |one: f64, other: f64| assert!((one / other - 1.0).abs() < 0.03, "{one} {other}");
    let found = score(&ran.out);
    near(found[0], bandwidth);
    near(found[1], iops);
    near(found[2], (bandwidth * iops).sqrt());
    let invalid = ran.out.lines().filter(|line| line.ends_with("seconds [INVALID]"));
    assert_eq!(invalid.count(), 4, "the phases that write are too short: {}", ran.out);

    let set = formats::load_set(&at.join("r.json")).unwrap();
    assert_eq!(set.kind, "io500");
    let bytes = |phase: &str| -> u64 {
        let of_phase = set.runs.iter().filter(|run| run.cell_name().starts_with(phase));
        let jobs = of_phase.flat_map(|run| &run.jobs);
        jobs.map(|job| job.results.read.bytes.0 + job.results.write.bytes.0).sum()
    };
    for (write, read) in [("ior-easy-write", "ior-easy-read"), ("ior-hard-write", "ior-hard-read")]
    {
        assert!(bytes(write) > 0 && bytes(write) == bytes(read), "{write}");
        let row = rows.iter().find(|row| row.0 == write).unwrap();
        moved(row.1, row.3, bytes(write) as f64 / f64::from(1 << 30));
    }
    for (first, others) in [
        ("mdtest-easy-write", &["mdtest-easy-stat", "mdtest-easy-delete"][..]),
        ("mdtest-hard-write", &["mdtest-hard-stat", "mdtest-hard-read", "mdtest-hard-delete"]),
    ] {
        let files = created(&set.runs, first);
        assert!(files > 0, "{first}");
        for other in others {
            assert_eq!(created(&set.runs, other), files, "{other}");
        }
    }
    // The data is gone, the results are kept.
    assert_eq!(names(at), ["c.ini", "r.json", "results"]);
    let read = |name: &str| fs::read_to_string(at.join("results").join(name)).unwrap();
    assert_eq!(read("config.ini"), SMALL);
    assert!(ran.out.starts_with(&read("result_summary.txt")), "{}", ran.out);
    let whole = read("result.txt");
    let sections = whole.lines().filter(|line| line.starts_with('['));
    assert_eq!(sections.count(), 14, "{whole}");
    let below = joined(ran.out.split("What these figures leave out").nth(1).expect(&ran.out));
    for text in
        ["stonewall-time is 1 s; the rules have 300 s", "All tasks are on one host", "latency"]
    {
        assert!(below.contains(text), "{text}: {below}");
    }
}

#[test]
fn files_have_the_names_and_sizes_of_the_rules_and_find_finds_them() {
    let directory = scratch();
    let at = directory.path();
    let config =
        format!("{SMALL}[mdtest-hard-delete]\nrun = FALSE\n[mdtest-easy-delete]\nrun = FALSE\n");
    let ran = io500(at, &config, "--tasks=2 --keep --record=r.json").expect(0);
    let rows = results(&ran.out);
    assert_eq!(rows.len(), 10, "{}", ran.out);
    let below = joined(&ran.out);
    let missing = "phases without a result: mdtest-easy-delete, mdtest-hard-delete";
    assert!(below.contains(missing), "{below}");
    let set = formats::load_set(&at.join("r.json")).unwrap();
    let data = at.join("data");
    let each = created(&set.runs, "mdtest-hard-write") / 2;
    let mut expected: Vec<String> = (0..2)
        .flat_map(|task| (0..each).map(move |item| format!("file.mdtest.{task}.{item}")))
        .collect();
    expected.sort();
    let hard = data.join("mdtest-hard/test-dir.0-0/mdtest_tree.0");
    assert_eq!(names(&hard), expected);
    assert_eq!(fs::metadata(hard.join("file.mdtest.1.0")).unwrap().len(), 3901);
    let each = created(&set.runs, "mdtest-easy-write") / 2;
    for task in 0..2 {
        let own = data.join(format!("mdtest-easy/test-dir.0-0/mdtest_tree.{task}.0"));
        assert_eq!(names(&own).len() as u64, each);
    }
    let size = |path: &str| fs::metadata(data.join(path)).unwrap().len();
    assert_eq!(size("ior-hard/file") % (2 * 47008), 0);
    assert_eq!(size("ior-easy/ior_file_easy.00000000"), size("ior-easy/ior_file_easy.00000001"));
    let find = |arguments: &[&str]| {
        run(Command::new("find").arg(&data).args(arguments)).expect(0).out.lines().count()
    };
    let matching = find(&["-type", "f", "-size", "3901c", "-name", "*01*"]);
    // The directory itself has no name below it.
    let all = find(&[]) - 1;
    let text = format!("looked at {all} names and found {matching} of {matching} files");
    assert!(matching > 0 && below.contains(&text), "{text}: {below}");
    // A second run does not write into the data of the first.
    let ran = io500(at, &config, "").expect(3);
    assert!(ran.err.contains("data holds something: remove it"), "{}", ran.err);
    assert_eq!(names(&hard), expected);
}

#[test]
fn all_tasks_go_on_to_the_count_of_the_fastest_and_later_phases_work_on_it() {
    let directory = scratch();
    let at = directory.path();
    let without = ["ior-easy", "ior-hard", "mdtest-hard", "mdtest-easy-delete"];
    let without: String = without.map(|name| format!("[{name}]\nrun = FALSE\n")).concat();
    // More files than any disk creates in a second.
    let config = SMALL.replace("1500", "60000") + &without;
    let ran = io500(at, &config, "--tasks=2 --record=r.json").expect(0);
    assert_eq!(results(&ran.out).len(), 3, "{}", ran.out);
    let set = formats::load_set(&at.join("r.json")).unwrap();
    let cells: Vec<&str> = set.runs.iter().map(RunRecord::cell_name).collect();
    let expected = ["", ", wear-out"].map(|end| format!("mdtest-easy-write{end}"));
    assert_eq!(cells, ["mdtest-easy-write, tree", &expected[0], &expected[1], "mdtest-easy-stat"]);
    let counts = |run: &RunRecord| run.jobs.iter().map(JobRecord::ios).collect::<Vec<_>>();
    let most = *counts(&set.runs[1]).iter().max().unwrap();
    assert!(most < 60_000 && counts(&set.runs[2]).len() == 1, "{:?}", counts(&set.runs[2]));
    assert_eq!(counts(&set.runs[3]), [most; 2]);
    assert!(joined(&ran.out).contains("until the deadline; the tasks behind the fastest took"));
}

#[test]
fn a_signal_ends_it_with_what_was_measured_and_removes_the_data() {
    let directory = scratch();
    let at = directory.path();
    fs::write(
        at.join("c.ini"),
        SMALL
            .replace("stonewall-time = 1", "stonewall-time = 60")
            .replace("n = 1500", "n = 200000"),
    )
    .unwrap();
    let mut running = Running::fathom("io500", at, &["c.ini", "--no-archive"]);
    running.says("out", "ior-easy-write");
    running.signal(Signal::INT);
    let ran = running.end().expect(130);
    let rows = results(&ran.out);
    assert!((1..12).contains(&rows.len()), "{}", ran.out);
    assert_eq!(rows[0].0, "ior-easy-write");
    let [bandwidth, _, _] = score(&ran.out);
    assert!((bandwidth / rows[0].1 - 1.0).abs() < 1e-4, "{}", ran.out);
    assert!(joined(&ran.out).contains("phases without a result: "), "{}", ran.out);
    assert_eq!(names(at), ["c.ini", "results"]);
}

#[test]
fn a_full_disk_is_said_and_the_data_is_removed() {
    let directory = scratch();
    let small = MemoryFilesystem::new(64 << 20);
    let config =
        SMALL.replace("datadir = data", &format!("datadir = {}/d", small.path().display()));
    let config = config.replace("32m", "128m");
    let ran = io500(directory.path(), &config, "").expect(1);
    assert!(
        ran.err.contains("io500: ior-easy-write: ") && ran.err.contains("No space left"),
        "{}",
        ran.err
    );
    assert!(results(&ran.out).is_empty() && !ran.out.contains("[SCORE ]"), "{}", ran.out);
    assert!(!small.path().join("d").exists());
}

#[test]
fn mistakes_are_named_before_anything_is_made() {
    let directory = scratch();
    let at = directory.path();
    for (config, code, text) in [
        ("[global]\nnothing = 1\n", 2, "c.ini:2: [global] nothing is not known here"),
        (
            "[ior-hard]\nAPI = MPIIO\n",
            2,
            "c.ini:2: API: MPIIO needs MPI; POSIX, AIO and MMAP are there",
        ),
        (
            "[global]\ndatadir = no/such/place\n",
            2,
            "no/such is not there: create it, or set another datadir",
        ),
        ("[global]\nresultdir = no/such/place\n", 2, "another resultdir"),
    ] {
        let ran = io500(at, config, "").expect(code);
        assert!(ran.err.contains(text), "{text}: {}", ran.err);
    }
    let ran = io500(at, "", "--tasks=0").expect(2);
    assert!(ran.err.contains("--tasks: '0' is not above 0"), "{}", ran.err);
    let mut missing = Command::new(FATHOM);
    let ran = run(missing.args(["io500", "no.ini"]).current_dir(at)).expect(2);
    assert!(ran.err.contains("no.ini: cannot be read"), "{}", ran.err);
    let ran = io500(at, "[find]\nrun = FALSE\n", "--dry-run --tasks=3").expect(0);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert!(lines[0].starts_with("fathom ior -N 3 -w -R -g -k -e -C -Q 1 "), "{}", ran.out);
    assert!(
        lines[3].starts_with("fathom mdtest --tasks=3 -F ") && lines[3].contains(" -t "),
        "{}",
        ran.out
    );
    assert!(
        lines[4].starts_with("phases: ior-easy-write, ") && !lines[4].contains("find"),
        "{}",
        ran.out
    );
    assert_eq!(names(at), ["c.ini"]);
}

#[test]
fn a_link_named_io500_prints_the_defaults_which_are_taken_back() {
    let directory = scratch();
    let mut command = Command::new(FATHOM);
    let ran = run(command.arg0("io500").arg("--list").current_dir(directory.path())).expect(0);
    assert!(ran.out.contains("stonewall-time = 300\n"), "{}", ran.out);
    let again = io500(directory.path(), &ran.out, "--dry-run").expect(0);
    assert!(again.out.contains(" -D 300 ") && again.out.contains(" -n 1000000 "), "{}", again.out);
}
