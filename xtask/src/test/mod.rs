//! `cargo xtask test`: everything that must pass before a change lands, stage by stage. The first
//! stage that fails ends it, and its exit code is ours.

mod packages;
mod suite;

use crate::{cargo, tidy};
use anyhow::{Context, Result};
use std::path::Path;
use std::time::Instant;

type Stage = fn(&Path) -> Result<u8>;

/// Cheapest first, and each before what it would spoil: a test without its program says nothing.
const STAGES: &[(&str, Stage)] = &[
    ("packages", |_| packages::ensure()),
    ("format", |root| cargo(root, &["fmt", "--all", "--check"])),
    ("clippy", |root| {
        cargo(root, &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])
    }),
    ("rustdoc", |root| cargo(root, &["doc", "--quiet", "--workspace", "--no-deps"])),
    ("tidy", |root| tidy::run(root).map(|clean| u8::from(!clean))),
];

/// Runs the stages in `root`, then every test, and returns the exit code of the first that fails, or
/// 0. When tests ran, the last line printed is their total: `123 passed, 0 failed`.
pub fn run(root: &Path) -> Result<u8> {
    for (name, stage) in STAGES {
        let code = timed(name, || stage(root))?;
        if code != 0 {
            return Ok(code);
        }
    }
    let mut totals = String::new();
    let code = timed("tests", || {
        let (code, line) = suite::run(root)?;
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

fn cargo(root: &Path, arguments: &[&str]) -> Result<u8> {
    let status = cargo::command(root, arguments).status().context("starting cargo")?;
    Ok(cargo::exit_code(status))
}
