//! `cargo xtask test`: everything that must pass before a change lands, stage by stage. The first
//! stage that fails ends it, and its exit code is ours.

pub mod packages;
mod programs;
mod quick;
mod suite;

use crate::{cargo, lab, powercut, tidy};
use anyhow::{Context, Result};
use clap::Args;
use programs::Job;
use std::path::Path;
use std::time::Instant;

/// What to test.
#[derive(Args)]
pub struct Options {
    /// Run the long form of every test, for example all 50 shapes of clean runs instead of 12.
    #[arg(long, conflicts_with = "quick")]
    all: bool,
    /// Check only what differs from main: format, tidy, clippy and tests of the changed crates, and
    /// the unit tests of the libraries that depend on them.
    #[arg(long)]
    quick: bool,
}

type Stage = fn(&Path) -> Result<u8>;

/// What takes seconds.
const CHEAP: &[(&str, Stage)] = &[
    ("packages", |_| packages::ensure()),
    ("format", |root| run_cargo(root, &["fmt", "--all", "--check"])),
    ("tidy", |root| tidy::run(root).map(|clean| u8::from(!clean))),
];

/// What is run in guests, with the program that was built.
const GUESTS: &[(&str, Stage)] = &[("lab", lab::quick), ("powercut", powercut::quick)];

/// Runs the stages in `root` and returns the exit code of the first that fails, or 0. When tests ran,
/// the last line printed is their total: `123 passed, 0 failed`.
pub fn run(root: &Path, options: &Options) -> Result<u8> {
    for (name, stage) in CHEAP {
        let code = timed(name, || stage(root))?;
        if code != 0 {
            return Ok(code);
        }
    }
    if options.quick { quick(root) } else { full(root, options.all) }
}

/// The tests of the engines of Ceph, which need large packages.
pub fn ceph(root: &Path) -> Result<u8> {
    with_packages(root, packages::CEPH, "ceph")
}

/// The tests of ranks that Slurm starts, which need its daemons.
pub fn slurm(root: &Path) -> Result<u8> {
    with_packages(root, packages::SLURM, "slurm")
}

/// A test program that other runs leave out, after the packages that it needs are there.
fn with_packages(root: &Path, packages: &[packages::Package], program: &str) -> Result<u8> {
    match packages::installed(packages)? {
        0 => {
            run_cargo(root, &["test", "-p", "fathom", "--test", program, "--", "--include-ignored"])
        }
        code => Ok(code),
    }
}

/// All tests. Lints and documentation are checked while tests wait.
fn full(root: &Path, all: bool) -> Result<u8> {
    let mut jobs = Vec::new();
    let code = timed("build", || build(root, &["--workspace"], &mut jobs))?;
    if code != 0 {
        return Ok(code);
    }
    if all {
        jobs.iter_mut().for_each(|job| _ = job.command.env(testbed::ALL, "1"));
    }
    let beside = |name: &str, arguments: &[&str]| {
        let mut command = cargo::command(root, arguments);
        command.env("CARGO_BUILD_JOBS", "1");
        Job { name: name.into(), command }
    };
    let lints = vec![
        beside("clippy", &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]),
        beside("rustdoc", &["doc", "--quiet", "--workspace", "--no-deps"]),
    ];
    for (name, stage) in GUESTS {
        let code = timed(name, || stage(root))?;
        if code != 0 {
            return Ok(code);
        }
    }
    tests(jobs, lints)
}

/// The crates that differ from main, and the unit tests of the libraries that use them.
fn quick(root: &Path) -> Result<u8> {
    let selection = quick::selection(root)?;
    if selection.changed.is_empty() {
        println!("no crate differs from main");
        return Ok(0);
    }
    let packages: Vec<String> =
        selection.changed.iter().map(|name| format!("--package={name}")).collect();
    let packages: Vec<&str> = packages.iter().map(String::as_str).collect();
    let lint = [&["clippy"], &packages[..], &["--all-targets", "--", "-D", "warnings"]].concat();
    let code = timed("clippy", || run_cargo(root, &lint))?;
    if code != 0 {
        return Ok(code);
    }
    let mut jobs = Vec::new();
    for selected in &selection.tests {
        let selected: Vec<&str> = selected.iter().map(String::as_str).collect();
        let code = timed("build", || build(root, &selected, &mut jobs))?;
        if code != 0 {
            return Ok(code);
        }
    }
    tests(jobs, Vec::new())
}

fn build(root: &Path, selection: &[&str], jobs: &mut Vec<Job>) -> Result<u8> {
    let (code, built) = programs::build(root, selection)?;
    jobs.extend(built);
    Ok(code)
}

fn tests(jobs: Vec<Job>, beside: Vec<Job>) -> Result<u8> {
    let mut totals = String::new();
    let code = timed("tests", || {
        let (code, line) = suite::run(jobs, beside)?;
        totals = line;
        Ok(code)
    })?;
    println!("{totals}");
    Ok(code)
}

fn timed(name: &str, stage: impl FnOnce() -> Result<u8>) -> Result<u8> {
    eprintln!("== {name}");
    let start = Instant::now();
    let code = stage().with_context(|| format!("stage '{name}'"))?;
    let seconds = start.elapsed().as_secs_f64();
    match code {
        0 => eprintln!("== {name}: passed in {seconds:.1} s"),
        _ => eprintln!("== {name}: failed with exit code {code} after {seconds:.1} s"),
    }
    Ok(code)
}

fn run_cargo(root: &Path, arguments: &[&str]) -> Result<u8> {
    let status = cargo::command(root, arguments).status().context("starting cargo")?;
    Ok(cargo::exit_code(status))
}
