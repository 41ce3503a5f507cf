//! `cargo xtask comparisons`: compares runs that are equal, and runs of which one side is made slower
//! by 10 %, and counts what `fathom compare` says; and counts how often the interval of five runs holds
//! the mean of many.

mod counted;
mod job;
mod table;

use crate::truth::Stage;
use crate::{cargo, interrupt};
use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use counted::{Counted, MANY, RUNS, SLOWER};
use job::{JOBS, Job};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use testbed::Seeded;

/// More runs of a side take too long here.
const RUNS_MAX: u32 = 30;

/// How many comparisons to make.
#[derive(Args)]
pub struct Options {
    /// Measure with this program instead of building it.
    #[arg(long, value_name = "PATH")]
    fathom: Option<PathBuf>,
    /// Comparisons of each kind with each of five jobs.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    comparisons: u32,
    /// Directory for the files on disk.
    #[arg(long, value_name = "DIR", default_value = "target/truth")]
    dir: PathBuf,
    /// Write the table here as well.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Makes all comparisons, and prints the table.
pub fn run(root: &Path, options: &Options) -> Result<()> {
    let interrupted = interrupt::catch()?;
    let ours = cargo::measured_program(root, options.fathom.as_deref())?;
    let stage = Stage::set_up(ours, &root.join(&options.dir), 1, Arc::clone(&interrupted))?;
    let measuring = Measuring { stage, interrupted };
    let mut counted = Vec::new();
    for job in JOBS {
        counted.push(measuring.count(job, options.comparisons)?);
    }
    let held = measuring.intervals_that_hold(&JOBS[0])?;
    let text = table::render(&counted, options.comparisons, held);
    println!("{text}");
    if let Some(path) = &options.output {
        fs::write(path, &text).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

struct Measuring {
    stage: Stage,
    interrupted: Arc<AtomicBool>,
}

impl Measuring {
    fn count(&self, job: &'static Job, comparisons: u32) -> Result<Counted> {
        let place = (job.place)(&self.stage);
        let mut counted =
            Counted { job, false_calls: 0, runs: vec![], found: 0, ratios: Vec::new() };
        for number in 0..comparisons {
            let (a, b) =
                self.sides(RUNS, &mut |name| self.run(job, &place.arguments, &[], name))?;
            let equal = self.compare(&a, &b, &[])?;
            counted.false_calls += u32::from(is_different(&equal));
            let iops = self.compare(&a, &b, &["--metrics=iops", "--tolerance=10%"])?;
            let figure = &iops["jobs"][0]["directions"][0]["metrics"][0];
            // Without advice, more runs are needed than can be made.
            let runs = figure["runs_needed"]
                .as_u64()
                .map_or(RUNS_MAX, |runs| runs.min(u64::from(RUNS_MAX)) as u32);
            let level = figure["before"].as_f64().context("no IOPS")?;
            let slowed = job.limit.group(&place, level, 1.0 - SLOWER)?;
            let (a, b) = self.sides(runs, &mut |name| {
                let starter = if name.starts_with('b') { slowed.starter() } else { Vec::new() };
                self.run(job, &place.arguments, &starter, name)
            })?;
            let made = self.compare(&a, &b, &["--metrics=iops", "--tolerance=10%"])?;
            let figure = &made["jobs"][0]["directions"][0]["metrics"][0];
            let is_found = figure["call"] == "slower";
            counted.found += u32::from(is_found);
            counted.runs.push(runs);
            counted.ratios.extend(figure["ratio"]["value"].as_f64());
            eprintln!(
                "{} {number}: equal: {}; slower, {runs} runs of each: {} {}",
                job.name, equal["conclusion"], figure["call"], figure["ratio"]
            );
        }
        Ok(counted)
    }

    /// The records of so many runs of each side, made in turn: a b, b a, a b …
    fn sides(
        &self,
        runs: u32,
        run: &mut dyn FnMut(&str) -> Result<PathBuf>,
    ) -> Result<(Vec<PathBuf>, Vec<PathBuf>)> {
        let (mut a, mut b) = (Vec::new(), Vec::new());
        for round in 0..runs {
            let order = if round % 2 == 0 { ["a", "b"] } else { ["b", "a"] };
            for side in order {
                let record = run(&format!("{side}{round}"))?;
                if side == "a" { a.push(record) } else { b.push(record) }
            }
        }
        Ok((a, b))
    }

    /// One run; returns its record.
    fn run(&self, job: &Job, place: &[String], starter: &[String], name: &str) -> Result<PathBuf> {
        if self.interrupted.load(Ordering::Relaxed) {
            bail!("interrupted");
        }
        let record = self.stage.directory.join(format!("{name}.json"));
        // The output must not grow an old record.
        let _ = fs::remove_file(&record);
        let mut line = starter.to_vec();
        line.push(self.stage.fathom.display().to_string());
        line.extend(
            ["run", "--name=compared", "--time_based", "--runtime=300ms"].map(String::from),
        );
        line.push(format!("--record={}", record.display()));
        line.extend(job.options.iter().map(|option| (*option).to_owned()));
        line.extend(place.iter().cloned());
        let mut command = Command::new(&line[0]);
        command.args(&line[1..]).env("FATHOM_ARCHIVE", "off").current_dir(&self.stage.directory);
        let ended = command.output().with_context(|| line.join(" "))?;
        let said = String::from_utf8_lossy(&ended.stderr);
        ensure!(ended.status.success(), "{}: {said}", line.join(" "));
        Ok(record)
    }

    /// What `fathom compare` says of two sides.
    fn compare(&self, a: &[PathBuf], b: &[PathBuf], options: &[&str]) -> Result<Value> {
        let list = |side: &[PathBuf]| {
            side.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(",")
        };
        let mut command = Command::new(&self.stage.fathom);
        command.args(["compare", "--json", &list(a), &list(b)]).args(options);
        let ended = command.output()?;
        serde_json::from_slice(&ended.stdout)
            .with_context(|| format!("{command:?}: {}", String::from_utf8_lossy(&ended.stderr)))
    }

    /// Of [`MANY`] draws of five runs out of so many, in how many the interval holds the mean of all.
    fn intervals_that_hold(&self, job: &Job) -> Result<usize> {
        let place = (job.place)(&self.stage);
        let mut all = Vec::new();
        for _ in 0..MANY {
            let path = self.run(job, &place.arguments, &[], "a")?;
            let record: record::RunRecord = serde_json::from_slice(&fs::read(path)?)?;
            let done: u64 = record.jobs.iter().map(|job| job.ios()).sum();
            let runtime = record.jobs[0].results[record::Direction::Read].runtime;
            all.push(done as f64 / runtime.seconds());
        }
        let truth = all.iter().sum::<f64>() / all.len() as f64;
        let mut seeded = Seeded::new(1);
        let holds = |_: &usize| {
            let drawn: Vec<f64> =
                (0..RUNS).map(|_| all.swap_remove(seeded.below(all.len()))).collect();
            all.extend(&drawn);
            let mean = judge::stats::summary(&drawn, 1).mean;
            (mean.low..=mean.high).contains(&truth)
        };
        Ok((0..MANY).filter(holds).count())
    }
}

/// Whether any figure or distribution is called different.
fn is_different(comparison: &Value) -> bool {
    let directions = || {
        comparison["jobs"]
            .as_array()
            .into_iter()
            .flatten()
            .flat_map(|job| job["directions"].as_array().into_iter().flatten())
    };
    let mut metrics =
        directions().flat_map(|direction| direction["metrics"].as_array().into_iter().flatten());
    metrics.any(|metric| metric["call"] == "slower" || metric["call"] == "faster")
        || directions().any(|direction| direction["latency"]["different"] == true)
}
