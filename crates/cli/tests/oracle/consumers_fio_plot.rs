//! fio-plot and its bench-fio, as their users run them, with our program as `fio`.

use crate::common::{FATHOM, Ran, run, scratch};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

fn count(directory: &Path, ending: &str) -> usize {
    let names = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name());
    names.filter(|name| name.to_str().is_some_and(|name| name.ends_with(ending))).count()
}

#[track_caller]
fn chart(programs: &Path, directory: &Path, results: &str, arguments: &[&str]) {
    let picture = format!("{}.png", arguments.concat().replace('-', ""));
    let mut command = Command::new(programs.join("fio-plot"));
    command.args(["-T", "title", "-i", results, "-o", &picture]).args(arguments);
    let ran: Ran = run(command.current_dir(directory).env("MPLBACKEND", "Agg"));
    let drawn = fs::metadata(directory.join(&picture)).map_or(0, |file| file.len());
    assert!(drawn > 10_000, "{arguments:?}: {drawn} bytes: {}{}", ran.out, ran.err);
}

#[test]
fn bench_fio_runs_a_matrix_and_fio_plot_draws_its_charts() {
    let programs = testbed::fio_plot().unwrap_or_else(|why| panic!("{why}"));
    let scratch = scratch();
    let at = |name: &str| scratch.path().join(name);
    fs::create_dir(at("bin")).unwrap();
    symlink(FATHOM, at("bin/fio")).unwrap();
    // It leaves a job file in /tmp by the name of its target.
    let target = format!("fathom-{}", std::process::id());
    let path = format!("{}:{}", at("bin").display(), std::env::var("PATH").unwrap_or_default());
    let arguments = "--type file --create --size 4m --mode randread randrw --rwmixread 75 \
                     --iodepth 1 4 --numjobs 1 2 --runtime 1 --time-based --loginterval 100 \
                     --destructive --quiet --output out --target";
    let mut bench = Command::new(programs.join("bench-fio"));
    bench.args(arguments.split_whitespace()).arg(at(&target)).env("PATH", path);
    let ran = run(bench.current_dir(scratch.path()));
    let left = format!("/tmp/{target}-tmpjobfile.fio");
    fs::remove_file(&left).unwrap_or_else(|e| panic!("{left}: {e}: {} {}", ran.out, ran.err));
    let ran = ran.expect(0);
    assert!(!ran.out.contains("error"), "{}", ran.out);
    let (reads, mixed) = (format!("out/{target}/4k"), format!("out/{target}/randrw75/4k"));
    for results in [&reads, &mixed] {
        assert_eq!(count(&at(results), ".json"), 4, "a run for each depth and number of jobs");
        assert_eq!(count(&at(results), ".log"), 5 * (1 + 2) * 2, "five logs a job");
    }
    let draw = |results: &str, arguments: &[&str]| {
        chart(&programs, scratch.path(), results, arguments);
    };
    draw(&reads, &["-r", "randread", "-L", "-t", "iops"]);
    draw(&reads, &["-r", "randread", "-l", "-n", "1", "--show-cpu", "--show-data"]);
    draw(&reads, &["-r", "randread", "-N", "-d", "4"]);
    draw(&reads, &["-r", "randread", "-H", "-d", "4", "-n", "2"]);
    draw(&reads, &["-r", "randread", "-g", "-t", "bw", "iops", "lat", "-d", "4", "-n", "2"]);
    draw(&mixed, &["-r", "randrw", "-g", "-t", "slat", "clat", "-d", "1", "-n", "2"]);
    draw(&mixed, &["-r", "randrw", "-l", "-f", "write", "-n", "2"]);
}
