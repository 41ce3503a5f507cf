//! `cargo xtask predict`: captures applications on one storage, models the captures, and runs models and
//! applications on that storage and on others. Counts how far off the models are.

mod applications;
mod figures;
mod storage;
mod table;
mod workloads;

use crate::bench::{machine_facts, middle};
use crate::selection::is_chosen;
use crate::test::packages;
use crate::{cargo, interrupt};
use anyhow::{Context, Result, ensure};
use applications::APPLICATIONS;
use clap::Args;
use figures::Figures;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use storage::Storage;
use table::Measured;
use workloads::{USUAL, Usual, WORKLOADS, Workload};

/// What to run, and how often.
#[derive(Args)]
pub struct Options {
    /// Capture, model and run with this program instead of building it.
    #[arg(long, value_name = "PATH")]
    fathom: Option<PathBuf>,
    /// Runs of each workload and each model on each storage.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// How long a run takes.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    seconds: u32,
    /// Only workloads whose name holds one of these words.
    #[arg(long, value_name = "WORD", value_delimiter = ',')]
    only: Vec<String>,
    /// Directory for the disks' files.
    #[arg(long, value_name = "DIR", default_value = "target/predict")]
    dir: PathBuf,
    /// Write the table here as well.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Makes all runs, and prints the tables. What was set up is taken down again, also after an error.
pub fn run(root: &Path, options: &Options) -> Result<()> {
    let interrupted = interrupt::catch()?;
    let fathom = cargo::measured_program(root, options.fathom.as_deref())?;
    let directory = root.join(&options.dir);
    fs::create_dir_all(&directory).with_context(|| directory.display().to_string())?;
    let chosen = |workload: &&Workload| is_chosen(workload.name, &options.only);
    let wanted: Vec<&Workload> = WORKLOADS.iter().chain(APPLICATIONS).filter(chosen).collect();
    ensure!(!wanted.is_empty(), "no workload's name holds {}", options.only.join(" or "));
    let storages = storage::set_up(&directory)?;
    let predicting = Predicting { fathom, directory, seconds: options.seconds, interrupted };
    let mut facts = machine_facts();
    facts.insert(0, format!("Program: {}", predicting.version()?));
    let (mut measured, mut left_out) = (Vec::new(), Vec::new());
    for workload in wanted {
        match missing(workload) {
            None => measured.push(predicting.workload(workload, &storages, options.rounds)?),
            Some(program) => left_out.push((workload.name, program)),
        }
    }
    let mut usual = Vec::new();
    for job in USUAL {
        usual.push(predicting.usual(job, &storages, options.rounds)?);
    }
    let text = table::render(&table::Results {
        storages: &storages,
        measured: &measured,
        left_out: &left_out,
        usual: &usual,
        facts: &facts,
        rounds: options.rounds,
        seconds: options.seconds,
    });
    println!("{text}");
    if let Some(path) = &options.output {
        fs::write(path, &text).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

/// A program that the workload needs and that is not installed.
fn missing(workload: &Workload) -> Option<&'static str> {
    workload.programs.iter().copied().find(|program| !packages::is_installed(program))
}

struct Predicting {
    fathom: PathBuf,
    directory: PathBuf,
    seconds: u32,
    interrupted: Arc<AtomicBool>,
}

impl Predicting {
    /// What the program says that it is.
    fn version(&self) -> Result<String> {
        let ended = Command::new(&self.fathom).arg("--version").output()?;
        Ok(String::from_utf8_lossy(&ended.stdout).trim().to_owned())
    }

    /// Runs a workload and its model in turn on every storage. The model is of the first run on the first.
    fn workload(
        &self,
        workload: &'static Workload,
        storages: &[Storage],
        rounds: u32,
    ) -> Result<Measured> {
        let model = self.directory.join(format!("{}.toml", workload.name));
        let (mut itself, mut modelled) =
            (vec![vec![]; storages.len()], vec![vec![]; storages.len()]);
        for round in 0..rounds {
            for (at, storage) in storages.iter().enumerate() {
                let lines = (workload.lines)(&self.directory, self.seconds)?;
                itself[at].push(self.captured(storage, workload.name, &lines)?);
                if (round, at) == (0, 0) {
                    self.model(workload.name, &model)?;
                }
                let lines = self.model_lines(&model);
                modelled[at].push(self.captured(storage, "run-of-model", &lines)?);
                let iops = |all: &[Figures]| all.last().and_then(|last| last[0]).unwrap_or(0.0);
                eprintln!(
                    "{} on {}, {}/{rounds}: {:.0} IOPS, its model {:.0}",
                    workload.name,
                    storage.name,
                    round + 1,
                    iops(&itself[at]),
                    iops(&modelled[at])
                );
            }
        }
        let medians =
            |all: Vec<Vec<Figures>>| all.iter().map(|runs| figures::medians(runs)).collect();
        Ok(Measured { workload, itself: medians(itself), model: medians(modelled) })
    }

    /// Makes the model of the capture that has this name.
    fn model(&self, name: &str, model: &Path) -> Result<()> {
        let mut command = Command::new(&self.fathom);
        command.arg("model").arg(self.trace(name)).arg("--toml").arg(model);
        finished(command.stdout(Stdio::null()))
    }

    fn trace(&self, name: &str) -> PathBuf {
        self.directory.join(format!("{name}.ftr"))
    }

    /// What prepares and runs a model.
    fn model_lines(&self, model: &Path) -> Vec<Vec<String>> {
        let line = |more: &[&str]| {
            let mut line = vec![self.fathom.display().to_string(), "run".into()];
            line.extend(["--no-archive"].iter().chain(more).map(|word| (*word).to_owned()));
            line.push(model.display().to_string());
            line
        };
        vec![line(&["--create_only=1"]), line(&[])]
    }

    /// The figures of the last of these commands, which run in a new directory. The others run before it and are
    /// not captured. One that does not end is killed.
    fn captured(&self, storage: &Storage, name: &str, lines: &[Vec<String>]) -> Result<Figures> {
        ensure!(!self.interrupted.load(Ordering::Relaxed), "interrupted");
        let (last, first) = lines.split_last().context("no command")?;
        {
            let mounted = storage.mount();
            let load = storage::new_directory(&mounted)?;
            for line in first {
                finished(command(line).current_dir(&load).stdout(Stdio::null()))?;
            }
        }
        // Mounted again, none of its data is in the page cache.
        let mounted = storage.mount();
        let load = storage::directory(&mounted);
        let trace = self.trace(name);
        let mut line = storage.starter();
        line.extend(["timeout".to_owned(), (60 + 20 * self.seconds).to_string()]);
        line.push(self.fathom.display().to_string());
        line.extend(["capture", "--level=application", "-o"].map(String::from));
        line.extend([trace.display().to_string(), load.display().to_string(), "--".into()]);
        line.extend(last.iter().cloned());
        finished(command(&line).current_dir(&load).stdout(Stdio::null()))?;
        figures::read(&trace)
    }

    /// The IOPS of a usual job on each storage.
    fn usual(&self, job: &'static Usual, storages: &[Storage], rounds: u32) -> Result<Vec<f64>> {
        let mut all = vec![vec![]; storages.len()];
        for _ in 0..rounds {
            for (storage, iops) in storages.iter().zip(&mut all) {
                ensure!(!self.interrupted.load(Ordering::Relaxed), "interrupted");
                let mounted = storage.mount();
                let load = storage::new_directory(&mounted)?;
                let mut line = storage.starter();
                line.extend(workloads::fio(job.options, self.seconds));
                line.push("--output-format=json".into());
                let ended = command(&line).current_dir(&load).stderr(Stdio::inherit()).output()?;
                let report: Value = serde_json::from_slice(&ended.stdout)
                    .with_context(|| format!("{}: no report", line.join(" ")))?;
                let of = |direction: &str| report["jobs"][0][direction]["iops"].as_f64();
                iops.push(of("read").unwrap_or(0.0) + of("write").unwrap_or(0.0));
            }
        }
        Ok(all.into_iter().map(middle).collect())
    }
}

fn command(line: &[String]) -> Command {
    let mut command = Command::new(&line[0]);
    command.args(&line[1..]).env("FATHOM_ARCHIVE", "off").stdin(Stdio::null());
    command
}

fn finished(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("{command:?}"))?;
    ensure!(status.success(), "{command:?}: {status}");
    Ok(())
}
