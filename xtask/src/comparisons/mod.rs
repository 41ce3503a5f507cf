//! `cargo xtask comparisons`: compares runs that are equal, and runs of which one side is made slower
//! by 10 %, and counts what `fathom compare` says; and counts how often the interval of five runs holds
//! the mean of many.

mod counted;
mod job;
mod table;

use crate::truth::{Attempt, Stage, Usage, until_quiet};
use crate::{cargo, interrupt};
use anyhow::{Context, Result, anyhow, bail, ensure};
use clap::Args;
use counted::{Counted, RUNS, SLOWER};
use job::{JOBS, Job, Place};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Length of a run. A throttle of the kernel works in slices of 100 ms: a much shorter run does not show it.
const RUNTIME: &str = "--runtime=1s";
/// So many comparisons in a row that fail end all of them.
const FAILED_IN_A_ROW_MAX: u32 = 5;

/// How many comparisons to make.
#[derive(Args)]
pub struct Options {
    /// Measure with this program instead of building it.
    #[arg(long, value_name = "PATH")]
    fathom: Option<PathBuf>,
    /// Comparisons of each kind with each of five jobs.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    comparisons: u32,
    /// Most runs of a side; more take too long.
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(2..))]
    runs_max: u32,
    /// Start no comparison after so many minutes.
    #[arg(long, default_value_t = 100)]
    minutes: u64,
    /// Directory for the files on disk.
    #[arg(long, value_name = "DIR", default_value = "target/truth")]
    dir: PathBuf,
    /// Write the table here as well.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Makes the comparisons, and prints the table; after an interrupt, or at the end of the time, that of the
/// comparisons so far. Fails when a goal is missed.
pub fn run(root: &Path, options: &Options) -> Result<()> {
    let interrupted = interrupt::catch()?;
    let ours = cargo::measured_program(root, options.fathom.as_deref())?;
    let stage = Stage::set_up(ours, &root.join(&options.dir), 1, Arc::clone(&interrupted))?;
    let disturbed = AtomicU32::new(0);
    let measuring = Measuring { stage, interrupted, disturbed, runs_max: options.runs_max };
    let ends = Instant::now() + Duration::from_secs(60 * options.minutes);
    let counted = measuring.all(options.comparisons, ends);
    let disturbed = measuring.disturbed.load(Ordering::Relaxed);
    let text = table::render(&counted, options.comparisons, disturbed);
    println!("{text}");
    if let Some(path) = &options.output {
        fs::write(path, &text).with_context(|| path.display().to_string())?;
    }
    ensure!(!measuring.is_interrupted(), "interrupted");
    let missed = table::missed(&counted);
    ensure!(missed.is_empty(), "goals missed: {}", missed.join("; "));
    Ok(())
}

struct Measuring {
    stage: Stage,
    interrupted: Arc<AtomicBool>,
    /// Runs that were disturbed and made again.
    disturbed: AtomicU32,
    runs_max: u32,
}

/// Makes one run of a side, and returns its record.
type MakeRun<'a> = &'a dyn Fn(&str) -> Result<PathBuf>;

impl Measuring {
    fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// The comparisons of all jobs, in turn, so that those made until the end are as many of each.
    fn all(&self, comparisons: u32, ends: Instant) -> Vec<Counted> {
        let mut counted: Vec<Counted> = JOBS.iter().map(Counted::new).collect();
        let mut in_a_row = 0;
        for number in 0..comparisons {
            for one in &mut counted {
                if self.is_interrupted() || Instant::now() >= ends {
                    return counted;
                }
                match self.count(one) {
                    Ok(line) => {
                        eprintln!("{} {number}: {line}", one.job.name);
                        in_a_row = 0;
                    }
                    Err(_) if self.is_interrupted() => return counted,
                    Err(error) => {
                        eprintln!("{} {number}: {error:#}", one.job.name);
                        one.not_made.push(format!("{error:#}"));
                        in_a_row += 1;
                    }
                }
                if in_a_row == FAILED_IN_A_ROW_MAX {
                    eprintln!("{in_a_row} comparisons in a row failed; the others are left out");
                    return counted;
                }
            }
        }
        counted
    }

    /// One comparison of equal runs, and one with a slower side. What was counted before an error stays.
    fn count(&self, counted: &mut Counted) -> Result<String> {
        let job = counted.job;
        let place = (job.place)(&self.stage);
        let equal_run = |name: &str| self.run(job, &place, &[], name);
        let (a, b) = self.sides(RUNS, &equal_run)?;
        let equal = self.compare(&a, &b, &[])?;
        let iops = self.compare(&a, &b, &["--metrics=iops", "--tolerance=10%"])?;
        for record in a.iter().chain(&b) {
            counted.iops.push(iops_of(record)?);
        }
        counted.equal += 1;
        counted.false_calls += u32::from(is_different(&equal));

        let figure = &iops["jobs"][0]["directions"][0]["metrics"][0];
        // Without advice, more runs are needed than can be made.
        let runs = figure["runs_needed"]
            .as_u64()
            .map_or(self.runs_max, |runs| runs.min(u64::from(self.runs_max)) as u32);
        let level = figure["before"].as_f64().context("no IOPS")?;
        let slowed = job.limit.group(&place, level, 1.0 - SLOWER)?;
        let slowed_run = |name: &str| {
            let starter = if name.starts_with('b') { slowed.starter() } else { Vec::new() };
            self.run(job, &place, &starter, name)
        };
        let (a, b) = self.sides(runs, &slowed_run)?;
        let made = self.compare(&a, &b, &["--metrics=iops", "--tolerance=10%"])?;
        let figure = &made["jobs"][0]["directions"][0]["metrics"][0];
        counted.slowed += 1;
        counted.found += u32::from(figure["call"] == "slower");
        counted.runs.push(runs);
        counted.ratios.extend(figure["ratio"]["value"].as_f64());
        Ok(format!(
            "equal: {}; slower, {runs} runs of each: {} {}",
            equal["conclusion"], figure["call"], figure["ratio"]
        ))
    }

    /// The records of so many runs of each side, made in turn: a b, b a, a b …
    fn sides(&self, runs: u32, run: MakeRun) -> Result<(Vec<PathBuf>, Vec<PathBuf>)> {
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

    /// One run on a quiet machine; returns its record.
    fn run(&self, job: &Job, place: &Place, starter: &[String], name: &str) -> Result<PathBuf> {
        let mut disturbed = 0;
        let made = until_quiet(&self.interrupted, &mut disturbed, || {
            let usage = Usage::now();
            let outcome = self.run_once(job, place, starter, name)?;
            let disturbance = usage.disturbance();
            Ok(Attempt { outcome, line: job.name.to_owned(), disturbance })
        });
        self.disturbed.fetch_add(disturbed, Ordering::Relaxed);
        match made {
            None => bail!("interrupted"),
            Some(outcome) => outcome.map_err(|why| anyhow!(why)),
        }
    }

    fn run_once(
        &self,
        job: &Job,
        place: &Place,
        starter: &[String],
        name: &str,
    ) -> Result<PathBuf> {
        let record = self.stage.directory.join(format!("{name}.json"));
        // The output must not grow an old record.
        let _ = fs::remove_file(&record);
        let mut line = starter.to_vec();
        line.push(self.stage.fathom.display().to_string());
        line.extend(["run", "--name=compared", "--time_based", RUNTIME].map(String::from));
        line.push(format!("--record={}", record.display()));
        line.extend(job.options.iter().map(|option| (*option).to_owned()));
        line.extend(place.arguments.iter().cloned());
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
}

/// IOPS of a record, in all directions.
fn iops_of(path: &Path) -> Result<f64> {
    let record: record::RunRecord = serde_json::from_slice(&fs::read(path)?)?;
    let job = record.jobs.first().context("no job")?;
    let runtime = job.results.iter().map(|(_, result)| result.runtime).max();
    let seconds = runtime.context("no direction")?.seconds();
    Ok(record.jobs.iter().map(|job| job.ios()).sum::<u64>() as f64 / seconds)
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
