//! `fathom validate`: runs a job, and scores how close it comes to a trace.

use super::model::model_of;
use crate::exit;
use crate::output::{Output, describe, write_file};
use anyhow::{Context, Result};
use clap::Args;
use model::{Model, score};
use runner::Refusal;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use trace::Drawing;

/// Seed of the bootstrap.
const SEED: u64 = 1;

/// The examples in the help, above the options.
const EXAMPLES: &str = "\
Examples:
  fathom validate trace.ftr job.fio
  fathom validate trace.ftr model.toml --on /data --below 70";

/// Arguments of `fathom validate`.
#[derive(Args)]
#[command(before_help = EXAMPLES)]
pub struct Arguments {
    /// Trace of the application.
    #[arg(value_name = "TRACE")]
    trace: PathBuf,
    /// Job file or model file that stands for it.
    #[arg(value_name = "JOB")]
    job: PathBuf,
    /// Directory on the storage to run it on. Its files are made there and removed.
    #[arg(long, value_name = "DIRECTORY", default_value = ".")]
    on: PathBuf,
    /// Exit with code 4 if the mark, from 0 to 100, is below this.
    #[arg(long, value_name = "MARK", value_parser = mark)]
    below: Option<f64>,
    /// Print the scores as JSON.
    #[arg(long)]
    json: bool,
}

fn mark(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(mark) if (0.0..=100.0).contains(&mark) => Ok(mark),
        _ => Err("expected a number from 0 to 100".into()),
    }
}

/// Runs the job and scores it.
pub fn main(arguments: &Arguments) -> Result<u8> {
    let traced = model_of(std::slice::from_ref(&arguments.trace))?;
    if traced.totals.reads + traced.totals.writes == 0 {
        let trace = arguments.trace.display();
        return Err(Refusal::usage(format!("{trace}: the trace has no reads and no writes")));
    }
    let place = tempfile::Builder::new().prefix("fathom-validate-").tempdir_in(&arguments.on);
    let place = place.map_err(|error| {
        Refusal::target(format!("--on {}: {}", arguments.on.display(), describe(&error.into())))
    })?;
    let run = run(&arguments.job, place.path())?;
    let scores = score::scores(&traced, &run, SEED);
    let mark = score::mark(&scores);
    let mut output = Output::Stdout;
    output.write(&match arguments.json {
        true => report::model::scores_json(&scores, mark),
        false => report::model::scores(&scores, mark, arguments.below, &output.style()),
    })?;
    Ok(if arguments.below.is_some_and(|below| mark < below) { exit::GATE } else { 0 })
}

/// Runs a job with its files in `place`, and models the trace of it.
fn run(job: &Path, place: &Path) -> Result<Model> {
    let name = job.display();
    let text = std::fs::read(job)
        .map_err(|error| Refusal::usage(format!("{name}: {}", describe(&error.into()))))?;
    let mut job = job.to_path_buf();
    let mut options = vec![format!("--write_iolog={}", place.join("run.ftr").display())];
    if Drawing::is_one(&text) {
        job = place.join("model.toml");
        let moved = moved(&String::from_utf8_lossy(&text), place);
        let moved = moved.map_err(|error| Refusal::usage(format!("{name}: {error}")))?;
        write_file(&job, moved.as_bytes()).map_err(Refusal::target)?;
    } else {
        options.push(format!("--directory={}", place.display()));
    }
    let program = std::env::current_exe().context("cannot find this program")?;
    let done = Command::new(program)
        .args(["run", "--no-archive"])
        .args(options)
        .arg(&job)
        .stdin(Stdio::null())
        .output()
        .context("cannot run the job")?;
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr);
        return Err(Refusal::target(format!("{name} cannot be run:\n{}", said.trim_end())));
    }
    model_of_run(place)
}

/// A model file whose files are in `place`.
fn moved(text: &str, place: &Path) -> Result<String, trace::TraceError> {
    let mut drawing = Drawing::parse(text)?;
    for file in &mut drawing.files {
        let name = Path::new(&file.name).file_name().unwrap_or_default();
        file.name = place.join(name).display().to_string();
    }
    Ok(drawing.text())
}

/// The model of the traces that the workers of a run wrote.
fn model_of_run(place: &Path) -> Result<Model> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(place)
        .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect())
        .context("cannot list the traces of the run")?;
    paths.retain(|path| path.extension().is_some_and(|end| end == "ftr"));
    paths.sort();
    model_of(&paths)
}
