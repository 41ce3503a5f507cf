//! `fathom mdtest`, from end to end.

use crate::common::*;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

#[track_caller]
fn mdtest(directory: &Path, line: &str) -> Ran {
    let mut command = Command::new(FATHOM);
    command.arg("mdtest").args(line.split_whitespace()).current_dir(directory);
    run(&mut command)
}

/// The rates of a row of the summary.
#[track_caller]
fn row(ran: &Ran, name: &str) -> [f64; 4] {
    let line = ran.out.lines().find_map(|line| line.trim_start().strip_prefix(name));
    let cells = line.unwrap_or_else(|| panic!("{name}: {}", ran.out)).split_whitespace();
    let cells: Vec<f64> = cells.map(|cell| cell.parse().unwrap()).collect();
    cells.try_into().unwrap()
}

/// All paths below a directory, sorted.
fn below(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for name in names(directory) {
        let path = directory.join(&name);
        if path.is_dir() {
            found.extend(below(&path).into_iter().map(|inner| format!("{name}/{inner}")));
        }
        found.push(name);
    }
    found.sort();
    found
}

#[test]
fn each_phase_has_a_rate_and_nothing_is_left() {
    let directory = scratch();
    let at = directory.path();
    let ran = mdtest(at, "--tasks=2 -n 50 -i 2 -w 4k -e 4k -Y -y --record=r.json").expect(0);
    let rows = [
        "Directory creation",
        "Directory stat",
        "Directory removal",
        "File creation",
        "File stat",
        "File read",
        "File removal",
        "Tree creation",
        "Tree removal",
    ];
    for name in rows {
        let [max, min, mean, deviation] = row(&ran, name);
        assert!(min > 0.0 && min <= mean && mean <= max && deviation >= 0.0, "{name}: {}", ran.out);
    }
    assert_eq!(row(&ran, "Directory rename"), [0.0; 4]);
    assert!(ran.out.contains("\n2 tasks, 100 files/directories\n"), "{}", ran.out);
    assert_eq!(names(at), ["r.json"]);
    let set = formats::load_set(&at.join("r.json")).unwrap();
    assert_eq!((set.kind.as_str(), set.runs.len()), ("mdtest", 18));
    for run in &set.runs {
        let cell = &run.cell.as_ref().unwrap().name;
        let ios = |job: &record::JobRecord| job.results.read.ios + job.results.write.ios;
        let counts: Vec<u64> = run.jobs.iter().map(ios).collect();
        match cell.starts_with("tree") {
            true => assert_eq!(counts, [1], "{cell}"),
            false => assert_eq!(counts, [50, 50], "{cell}"),
        }
    }
}

#[test]
fn names_are_mdtests() {
    let directory = scratch();
    let at = directory.path();
    mdtest(at, "--tasks=2 -n 6 -z 1 -b 2 -F -C -w 8 -d md --no-archive").expect(0);
    let root = "test-dir.0-0/mdtest_tree.0";
    let mut expected = vec!["test-dir.0-0".to_owned(), root.to_owned()];
    let directories = ["", "/mdtest_tree.1", "/mdtest_tree.2"];
    expected.extend(directories[1..].iter().map(|name| format!("{root}{name}")));
    for (number, name) in directories.iter().enumerate() {
        for item in [2 * number, 2 * number + 1] {
            expected.extend((0..2).map(|task| format!("{root}{name}/file.mdtest.{task}.{item}")));
        }
    }
    expected.sort();
    assert_eq!(below(&at.join("md")), expected);
    assert_eq!(fs::metadata(at.join("md").join(&expected[2])).unwrap().len(), 8);
    let line = "--tasks=2 -n 6 -z 1 -b 2 -F -d md --no-archive";
    mdtest(at, &format!("{line} -C")).expect(3);
    let ran = mdtest(at, &format!("{line} -n 9 -T")).expect(2);
    assert!(ran.err.contains("file.mdtest.1.8 is not there: create it first"), "{}", ran.err);
    let ran = mdtest(at, &format!("{line} -T -E -e 8 -N 1 -R")).expect(0);
    assert!(row(&ran, "File stat")[0] > 0.0 && row(&ran, "File read")[0] > 0.0, "{}", ran.out);
    assert_eq!(row(&ran, "File creation"), [0.0; 4]);
    assert_eq!(below(&at.join("md")), expected);
    mdtest(at, &format!("{line} -r")).expect(0);
    assert_eq!(below(at), ["md"]);
    mdtest(at, &format!("{line} -T")).expect(2);
}

#[test]
fn every_kind_of_tree_runs_and_goes() {
    let directory = scratch();
    let at = directory.path();
    for line in [
        "--tasks=3 -n 5 -u -d a@b -D",
        "--tasks=2 -I 3 -z 2 -b 2 -L -R -G 3 -P",
        "-n 7 -I 2 -F -Z -v -V 1 -a POSIX",
        "-n 9 -z 2 -b 1 -p 0 -N 2 -F",
    ] {
        mdtest(at, &format!("{line} --no-archive")).expect(0);
        assert!(names(at).is_empty(), "{line}: {:?}", names(at));
    }
}

#[test]
fn wear_out_brings_a_slow_task_to_the_count_of_the_fast_one_and_a_later_call_takes_it() {
    let directory = scratch();
    let at = directory.path();
    let fast = Mounted::new(&["-t", "tmpfs"], "tmpfs", at.join("memory"));
    // Each file is synchronised, which costs nothing in memory.
    let line = format!("--tasks=2 -n 4000 -F -u -d {}/md@md --no-archive", fast.path().display());
    let created = format!("{line} -C -w 100 -y -W 1 -x count --record=r.json");
    let ran = mdtest(at, &created).expect(0);
    let set = formats::load_set(&at.join("r.json")).unwrap();
    let [_, create, rest] = &set.runs[..] else { panic!("{} runs: {}", set.runs.len(), ran.out) };
    let made = |run: &record::RunRecord| -> Vec<(String, u64)> {
        run.jobs.iter().map(|job| (job.name.clone(), job.results.write.ios)).collect()
    };
    let [(_, fastest), (_, slowest)] = &made(create)[..] else { panic!("{:?}", made(create)) };
    assert!(*slowest > 0 && slowest < fastest, "{slowest} {fastest}");
    assert_eq!(made(rest), [("task.1".to_owned(), fastest - slowest)]);
    assert_eq!(fs::read_to_string(at.join("count")).unwrap(), format!("{fastest}\n"));
    let files = |top: &Path, task: u32| {
        let mut found = names(&top.join(format!("md/test-dir.0-0/mdtest_tree.{task}.0")));
        found.sort_by_key(|name| name.rsplit('.').next().unwrap().parse::<u64>().unwrap());
        found
    };
    let expected = |task| -> Vec<String> {
        (0..*fastest).map(|item| format!("file.mdtest.{task}.{item}")).collect()
    };
    assert_eq!(files(fast.path(), 0), expected(0));
    assert_eq!(files(at, 1), expected(1));
    assert!(joined(&ran.out).contains("-W ended the creation of files after"), "{}", ran.out);
    let later = format!("{line} -T -E -e 100 -N 1 -x count --record=r2.json");
    mdtest(at, &later).expect(0);
    let set = formats::load_set(&at.join("r2.json")).unwrap();
    for run in &set.runs {
        let counts = run.jobs.iter().map(|job| job.results.read.ios);
        assert_eq!(counts.collect::<Vec<_>>(), [*fastest; 2]);
    }
    mdtest(at, &format!("{line} -r -x count")).expect(0);
    assert!(below(&fast.path().join("md")).is_empty() && below(&at.join("md")).is_empty());
}

#[test]
fn each_name_has_one_call() {
    let directory = scratch();
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-e", "trace=mkdir,mkdirat,rmdir,unlink,unlinkat"]);
    command.args(["-o", "trace", FATHOM, "mdtest", "-n", "3", "--no-archive"]);
    run(command.current_dir(directory.path())).expect(0);
    let trace = fs::read_to_string(directory.path().join("trace")).unwrap();
    let count = |call: &str, name: &str| {
        trace.lines().filter(|line| line.contains(call) && line.contains(name)).count()
    };
    for item in 0..3 {
        let name = format!("/dir.mdtest.0.{item}\"");
        assert_eq!((count(" mkdirat(", &name), count("AT_REMOVEDIR", &name)), (1, 1), "{trace}");
        assert_eq!(count(" unlinkat(", &format!("/file.mdtest.0.{item}\"")), 1, "{trace}");
    }
}

#[test]
fn what_the_figures_leave_out_is_said() {
    let directory = scratch();
    let ran = mdtest(directory.path(), "--tasks=2 -n 20 -N 1 --no-archive").expect(0);
    let below = joined(ran.out.split("What these figures leave out").nth(1).expect(&ran.out));
    for text in ["nothing was synchronised", "-N moves each task", "file-creation: median"] {
        assert!(below.contains(text), "{text}: {below}");
    }
}

#[test]
fn a_link_named_mdtest_is_mdtest_and_ranks_need_a_launcher() {
    let directory = scratch();
    let mut command = Command::new(FATHOM);
    let ran = run(command.arg0("mdtest").arg("-h").current_dir(directory.path())).expect(0);
    assert!(ran.out.starts_with("Usage: fathom mdtest "), "{}", ran.out);
    let mut command = Command::new(FATHOM);
    command.args(["mdtest", "-n", "1"]).env("PMI_SIZE", "4").current_dir(directory.path());
    let ran = run(&mut command).expect(1);
    assert!(ran.err.contains("it is not the library of this launcher"), "{}", ran.err);
    assert!(names(directory.path()).is_empty());
}
