//! Pages of `fathom report` in a real browser, on a phone and on a screen. Pictures of them are left in
//! `target/pages` to be looked at.

use crate::common::browser::{Browser, pictures};
use crate::common::{FATHOM, run, scratch};
use std::path::Path;
use std::process::Command;

/// A record of a job for a second, with a course over time; or a set of them.
fn made(directory: &Path, file: &str, name: &str, more: &[&str]) {
    let (name, record) = (format!("--name={name}"), format!("--record={file}"));
    let job = [&name, "--rw=randrw", "--bs=4k", "--size=4m", "--fsync=32", "--log_avg_msec=100"];
    let timed = ["--time_based", "--runtime=1", "--eta=never", &record];
    let mut command = Command::new(FATHOM);
    command.arg("run").args(job).args(timed).args(more).current_dir(directory);
    run(&mut command).expect(0);
}

/// Makes a report and looks at it.
fn look(browser: &Browser, directory: &Path, name: &str, runs: &[&str]) {
    let file = directory.join(format!("{name}.html"));
    let mut command = Command::new(FATHOM);
    command.arg("report").args(runs).arg("-o").arg(&file).current_dir(directory);
    run(&mut command).expect(0);
    browser.open(&format!("file://{}", file.display()));
    for (width, kind) in [(390, "phone"), (1280, "screen")] {
        browser.size(width, 844);
        browser.picture(&pictures().join(format!("report-{name}-{kind}.png")));
        assert_eq!(browser.too_wide(), Vec::<String>::new(), "{name}, on a {kind}");
        assert_eq!(browser.inaccessible(), Vec::<String>::new(), "{name}, on a {kind}");
    }
    assert!(browser.count("svg[role=img]") > 0, "{name} has pictures");
}

#[test]
fn nothing_of_a_report_is_wider_than_a_phone() {
    let directory = scratch();
    let at = directory.path();
    // Names that cannot be broken at a space.
    made(at, "one.json", "a_job_whose_name_is_long_enough_for_three_of_the_usual_ones", &[]);
    made(at, "later.json", "a_job_whose_name_is_long_enough_for_three_of_the_usual_ones", &[]);
    made(at, "set.json", "repeated", &["--repeat=2"]);
    let vary = ["sweep", "--vary", "bs=4k,16k,64k", "--vary", "iodepth=1,4,16", "--repeat=1"];
    let job = ["--into=sweep", "--name=swept", "--rw=randread", "--ioengine=null", "--size=256k"];
    let mut sweep = Command::new(FATHOM);
    run(sweep.args(vary).args(job).current_dir(at)).expect(0);
    let browser = Browser::start();
    browser.requests();
    look(&browser, at, "one", &["one.json"]);
    look(&browser, at, "repeats", &["set.json"]);
    look(&browser, at, "compared", &["before=one.json", "after=later.json"]);
    look(&browser, at, "sweep", &["sweep"]);
    let console = browser.console();
    assert!(console.is_empty(), "{console:#?}");
    let elsewhere = |address: &String| {
        !["file:", "data:", "chrome:"].iter().any(|own| address.starts_with(own))
    };
    let foreign: Vec<String> = browser.requests().into_iter().filter(elsewhere).collect();
    assert!(foreign.is_empty(), "{foreign:?}");
}
