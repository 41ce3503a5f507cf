//! `fathom validate`: runs a job, and scores how close it comes to a trace.

mod captured;

use super::model::{header_of, model_of, model_with};
use crate::exit;
use crate::output::{Output, describe, write_file, write_stderr};
use anyhow::{Context, Result};
use captured::Captured;
use clap::Args;
use model::{JobEntries, Model, score};
use runner::Refusal;
use std::ffi::OsString;
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
    /// Exit with code 4 if the lowest mark of a property, from 0 to 100, is below this.
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
    let header = header_of(&arguments.trace)?;
    let job = Job::prepare(&arguments.job, place.path())?;
    // Other traces are as those that an engine writes of its run: calls, with their times.
    let captured = match header.source == "capture" || header.device {
        true => job.captured(header.application, place.path())?,
        false => None,
    };
    let devices = captured.is_some() && traced.has_devices();
    let run = match captured {
        Some(trace) => model_of_captured(trace, traced.syncs.range > 0)?,
        None => job.traced_by_engine(place.path())?,
    };
    let scores = score::scores(&traced, &run, devices, SEED);
    let mark = score::mark(&scores);
    let mut output = Output::Stdout;
    output.write(&match arguments.json {
        true => report::model::scores_json(&scores, mark),
        false => report::model::scores(&scores, mark, arguments.below, &output.style()),
    })?;
    let lowest = score::worst(&scores).map_or(0.0, |worst| worst.mark);
    Ok(if arguments.below.is_some_and(|below| lowest < below) { exit::GATE } else { 0 })
}

/// The model of a captured run, without what fathom does beside the job.
fn model_of_captured(trace: PathBuf, syncs_ranges: bool) -> Result<Model> {
    let mut entries = JobEntries::new(syncs_ranges);
    model_with(&[trace], |entry| entries.keeps(entry))
}

/// A job or model whose files are in a directory of their own.
struct Job<'a> {
    /// As the user names it.
    name: std::path::Display<'a>,
    /// The directory of its files.
    files: PathBuf,
    /// The program, and its arguments.
    words: Vec<OsString>,
}

impl Job<'_> {
    fn prepare<'a>(job: &'a Path, place: &Path) -> Result<Job<'a>> {
        let name = job.display();
        let text = std::fs::read(job)
            .map_err(|error| Refusal::usage(format!("{name}: {}", describe(&error.into()))))?;
        let files = place.join("files");
        std::fs::create_dir(&files).context("cannot make a directory for the files")?;
        let program = std::env::current_exe().context("cannot find this program")?;
        let mut words = vec![program.into_os_string(), "run".into(), "--no-archive".into()];
        if Drawing::is_one(&text) {
            let path = place.join("model.toml");
            let moved = moved(&String::from_utf8_lossy(&text), &files);
            let moved = moved.map_err(|error| Refusal::usage(format!("{name}: {error}")))?;
            write_file(&path, moved.as_bytes()).map_err(Refusal::target)?;
            words.push(path.into_os_string());
        } else {
            words.push(format!("--directory={}", files.display()).into());
            words.push(job.as_os_str().to_owned());
        }
        Ok(Job { name, files, words })
    }

    /// The program and its arguments, with one more option before the job file.
    fn with(&self, option: String) -> Vec<OsString> {
        let mut words = self.words.clone();
        words.insert(3, option.into());
        words
    }

    /// Captures a run of it into a trace; `None` if that is not allowed here.
    fn captured(&self, application: bool, place: &Path) -> Result<Option<PathBuf>> {
        // The files are made before, so that the trace has only the load.
        self.run(&self.with("--create_only=1".into()))?;
        let directory = std::fs::File::open(&self.files).context("cannot open the directory")?;
        rustix::fs::syncfs(&directory).context("cannot write the files back")?;
        let words = self.with(format!("--output={}", place.join("report.txt").display()));
        let trace = place.join("captured.ftr");
        match captured::run(&words, &self.files, application, &trace)? {
            Captured::Ended(status) if status.success() => Ok(Some(trace)),
            Captured::Ended(_) => Err(Refusal::target(format!("{} cannot be run", self.name))),
            Captured::Refused(why) => {
                // It has only a header.
                std::fs::remove_file(&trace).context("cannot remove the trace")?;
                write_stderr(&format!(
                    "fathom: note: the run cannot be captured ({why}): its engine traces it, and the \
                     devices are not compared\n"
                ));
                Ok(None)
            }
        }
    }

    /// Runs it; the engine writes a trace for each worker.
    fn traced_by_engine(&self, place: &Path) -> Result<Model> {
        let trace = place.join("run.ftr");
        self.run(&self.with(format!("--write_iolog={}", trace.display())))?;
        model_of_run(place)
    }

    fn run(&self, words: &[OsString]) -> Result<()> {
        let done = Command::new(&words[0])
            .args(&words[1..])
            .stdin(Stdio::null())
            .output()
            .context("cannot run the job")?;
        if !done.status.success() {
            let stderr = String::from_utf8_lossy(&done.stderr);
            return Err(Refusal::target(format!(
                "{} cannot be run:\n{}",
                self.name,
                stderr.trim_end()
            )));
        }
        Ok(())
    }
}

/// A model file whose files are in `place`.
fn moved(text: &str, place: &Path) -> Result<String, trace::TraceError> {
    let mut drawing = Drawing::parse(text)?;
    drawing.move_files(place);
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
