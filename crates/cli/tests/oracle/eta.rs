//! The status line: where it is shown, and what it says, held against the oracle's.

use crate::common::{FATHOM, FIO, at_once, fathom, run, scratch};
use std::process::Command;

/// Programs that draw it: ours under the name fio, and the oracle.
const PROGRAMS: [&[&str]; 2] = [&[FATHOM, "fio"], &[FIO]];

/// Jobs that run for three seconds: the oracle's line is whole after two.
const JOB: [&str; 6] =
    ["--name=a", "--ioengine=null", "--size=1g", "--time_based", "--runtime=3", "--rw=read"];

/// What a program writes to a terminal.
fn on_terminal(program: &[&str], arguments: &[&str]) -> String {
    let directory = scratch();
    let line = [program, arguments].concat().join(" ");
    let terminal = ["30", "script", "-qec", &line, "/dev/null"];
    let ran = run(Command::new("timeout").args(terminal).current_dir(directory.path())).expect(0);
    ran.out.replace("\r\n", "\n")
}

/// What a program writes to a pipe.
fn on_pipe(program: &[&str], arguments: &[&str]) -> String {
    let directory = scratch();
    let line = [program, arguments].concat();
    run(Command::new("timeout").arg("30").args(line).current_dir(directory.path())).expect(0).out
}

/// The status lines of an output that are whole.
fn lines(text: &str) -> Vec<&str> {
    let all = text.split(['\r', '\n']).map(|line| line.trim_start_matches("\u{1b}[K"));
    all.filter(|line| line.starts_with("Jobs: ") && line.contains(": [")).collect()
}

/// A line with all that varies taken out: letters stay, numbers do not.
fn shape(line: &str) -> String {
    let mut shape = String::new();
    // How long phases to come will take is a guess, and the oracle's may be days.
    let line = line.split("[eta ").next().unwrap_or_default();
    for c in line.chars() {
        let c = if c.is_ascii_digit() { '0' } else { c };
        if !(c == '0' && shape.ends_with(['0', '.'])) && c != '.' {
            shape.push(c);
        }
    }
    shape.replace("--%", "0%").replace("KiB", "B").replace("MiB", "B").replace("GiB", "B")
}

#[test]
fn every_kind_of_job_has_the_oracles_letter_and_fields() {
    let kinds = ["read", "randread", "write", "randwrite", "rw", "randrw", "trim", "randtrim"];
    let mut arguments = vec!["--eta=always".to_owned(), "--rate_iops=100,100,100".into()];
    arguments.extend(JOB[1..5].iter().map(|option| (*option).to_owned()));
    for kind in kinds {
        arguments.extend([format!("--name={kind}"), format!("--rw={kind}")]);
    }
    arguments.extend(["--name=later".into(), "--stonewall".into(), "--rw=read".into()]);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let shapes = at_once(&PROGRAMS, |program| {
        let text = on_pipe(program, &arguments);
        let running = "[R(1),r(1),W(1),w(1),M(1),m(1),D(1),d(1),P(1)]";
        let all = lines(&text);
        let found = all.iter().find(|line| line.contains(running));
        // The first of these may still tell of those that have just ended.
        let last = all.iter().rev().find(|line| line.contains("[_(8),R(1)]"));
        let found = found.unwrap_or_else(|| panic!("{program:?}: {all:?}"));
        [shape(found), shape(last.unwrap_or_else(|| panic!("{program:?}: {all:?}")))]
    });
    assert_eq!(shapes[0], shapes[1]);
}

#[test]
fn rates_and_limits_are_shown_as_the_oracle_shows_them() {
    for more in [&["--rate=1m"][..], &["--rate_iops=500"], &["--rate=100k,200k", "--rw=rw"]] {
        let arguments = [&JOB[..], &["--eta=always", "--numjobs=2"], more].concat();
        let shapes = at_once(&PROGRAMS, |program| {
            let text = on_pipe(program, &arguments);
            let all = lines(&text);
            // On a busy machine a line may lack a figure, or tell of one job that has started or ended.
            let running = all.iter().filter(|line| line.starts_with("Jobs: 2 (f=2)"));
            let whole = running.filter(|line| line.contains("IOPS]"));
            let shapes: Vec<String> = whole.map(|line| shape(line)).collect();
            assert!(!shapes.is_empty(), "{program:?}: {text}");
            shapes
        });
        assert!(shapes[0].iter().any(|ours| shapes[1].contains(ours)), "{more:?} {shapes:?}");
    }
}

#[test]
fn it_is_shown_where_the_oracle_shows_it() {
    let with = |more: &[&'static str]| [&JOB[..], &["--rate_iops=100"], more].concat();
    let json = with(&["--eta=always", "--output-format=json"]);
    let filed = [&json[..], &["--output=report"]].concat();
    // On a pipe or on a terminal, and whether it is shown.
    let places = [
        (false, with(&[]), false),
        (false, with(&["--eta=always"]), true),
        (true, with(&[]), true),
        (true, with(&["--eta=never"]), false),
        // JSON has standard output for itself, unless it goes to a file.
        (true, json, false),
        (false, filed, true),
    ];
    let each = places.iter().flat_map(|place| PROGRAMS.map(|program| (program, place)));
    at_once(&each.collect::<Vec<_>>(), |(program, (terminal, arguments, is_shown))| {
        let text = if *terminal { on_terminal } else { on_pipe }(program, arguments);
        assert_eq!(!lines(&text).is_empty(), *is_shown, "{program:?} {arguments:?}: {text}");
        if *terminal && arguments.contains(&"--output-format=json") {
            assert!(text.starts_with("{\n"), "{program:?}: {text}");
        }
    });
}

#[test]
fn each_line_ends_with_a_carriage_return_and_the_report_with_its_own_line() {
    let arguments = [&JOB[..], &["--rate_iops=100", "--eta=always"]].concat();
    at_once(&PROGRAMS, |program| {
        let text = on_pipe(program, &arguments);
        let (before, _) = text.split_once("\na: (groupid=0").unwrap();
        assert!(before.ends_with('\r') && !before.contains("\n\n"), "{program:?}: {before:?}");
        assert!(!before.contains("\n\r") && !text.contains('\u{1b}'), "{program:?}: {before:?}");
    });
}

#[test]
fn newlines_come_as_often_as_asked_for() {
    let more = ["--rate_iops=100", "--eta=always", "--eta-newline=1", "--eta-interval=500ms"];
    let arguments = [&JOB[..], &more].concat();
    at_once(&PROGRAMS, |program| {
        let text = on_pipe(program, &arguments);
        let kept = text.lines().filter(|line| line.contains("Jobs: 1 (f=1)")).count();
        assert!((2..=4).contains(&kept), "{program:?}: {text}");
    });
}

#[test]
fn a_time_based_job_is_as_far_as_its_time() {
    let directory = scratch();
    // Of so few bytes that by them it is over at once, and again and again.
    let job = ["--name=a", "--ioengine=null", "--size=64k", "--rw=read", "--rate_iops=1000"];
    let more = ["--time_based", "--runtime=4", "--eta=always", "--eta-interval=500ms"];
    let ran = fathom(directory.path(), &[&job[..], &more].concat()).expect(0);
    let part = |line: &str, from: &str, to: char| -> f64 {
        let rest = line.split_once(from).unwrap_or_else(|| panic!("{line}")).1;
        rest.split(to).next().unwrap().parse().unwrap_or_else(|_| panic!("{line}"))
    };
    // A line may come between the end of the worker and that of the run.
    let seen: Vec<(f64, f64)> = lines(&ran.err)
        .iter()
        .filter(|line| line.contains("[R(1)]"))
        .map(|line| (part(line, "[R(1)][", '%'), part(line, "[eta 00m:", 's')))
        .collect();
    assert!(seen.len() >= 4, "{}", ran.err);
    for (percent, left) in seen {
        // Seconds are rounded.
        assert!((percent / 25.0 + left - 4.0).abs() <= 0.51, "{percent} {left}");
    }
}

#[test]
fn it_ends_as_far_as_the_run_and_without_an_empty_line() {
    // The oracle's clock counts whole seconds, so only ours says what a run of any length ends at.
    let runs = [("4", &["--eta-newline=1"][..]), ("1", &["--eta-newline=1"]), ("2500ms", &[])];
    at_once(&runs, |(runtime, more)| {
        let runtime = format!("--runtime={runtime}");
        let arguments = [&JOB[..], &[&runtime, "--rate_iops=100", "--eta=always"], *more].concat();
        for program in PROGRAMS {
            let text = on_pipe(program, &arguments);
            let (before, _) = text.split_once("\na: (groupid=0").unwrap();
            assert!(before.ends_with('\r') && !before.contains("\n\n"), "{program:?}: {before:?}");
            if program == PROGRAMS[0] {
                let last = lines(before).pop().unwrap_or_else(|| panic!("{text}")).trim_end();
                assert!(last.contains("[100.0%]") && last.ends_with("[eta 00m:00s]"), "{last}");
            }
        }
    });
}
