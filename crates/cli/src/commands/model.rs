//! `fathom model`: what a trace shows of its workload, and jobs that ask the same of storage.

use crate::output::{Output, describe, say, write_file};
use crate::suites;
use anyhow::{Context, Result};
use clap::Args;
use model::job::JobOptions;
use model::replay::ReplayWriter;
use model::{Builder, Model};
use record::Bytes;
use runner::Refusal;
use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::{Path, PathBuf};
use trace::ftr::{Entry, Level, Reader};

/// The examples in the help, above the options.
const EXAMPLES: &str = "\
Examples:
  fathom model trace.ftr
  fathom model trace.ftr -o job.fio --html workload.html
  fathom model trace.ftr --toml model.toml
  fathom model trace.ftr --replay --scale 0.5 -o replay.log";

/// Arguments of `fathom model`.
#[derive(Args)]
#[command(before_help = EXAMPLES)]
pub struct Arguments {
    /// Trace, as `fathom capture` writes it.
    #[arg(value_name = "TRACE")]
    trace: PathBuf,
    /// Write a job file that any fio can run; with --replay, an iolog.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write a model file for `fathom run`, which keeps what a job file cannot say.
    #[arg(long, value_name = "FILE")]
    toml: Option<PathBuf>,
    /// Write the model as a page with charts.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Print the model as JSON.
    #[arg(long)]
    json: bool,
    /// Write each I/O with its time, for read_iolog, instead of a job.
    #[arg(long, requires = "output")]
    replay: bool,
    /// Multiply positions of --replay by this, for a smaller or larger target.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, requires = "replay", value_parser = scale)]
    scale: f64,
    /// Directory of the files of the job and of the model file.
    #[arg(long, value_name = "DIRECTORY")]
    directory: Option<String>,
    /// Most bytes of the files of a stream of the job, such as 10g [default: as in the trace].
    #[arg(long, value_name = "SIZE", value_parser = suites::size)]
    size: Option<Bytes>,
}

fn scale(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(factor) if factor.is_finite() && factor > 0.0 => Ok(factor),
        _ => Err("expected a number above 0".into()),
    }
}

/// Models, and writes what is asked for.
pub fn main(arguments: &Arguments) -> Result<u8> {
    let trace = &arguments.trace;
    let model = model_of(trace)?;
    let name = trace.display().to_string();
    let job = model::job::text(
        &model,
        &JobOptions {
            trace: name.clone(),
            directory: arguments.directory.clone().unwrap_or_default(),
            size_max: arguments.size.map(|size| size.0),
            seconds: None,
        },
    );
    match (&arguments.output, arguments.replay) {
        (Some(path), true) => replay(trace, path, &model, arguments.scale)?,
        (Some(path), false) => write(path, &job)?,
        (None, _) => {}
    }
    if let Some(path) = &arguments.toml {
        let prefix = arguments
            .directory
            .as_deref()
            .map_or_else(String::new, |directory| format!("{}/", directory.trim_end_matches('/')));
        let drawing = model::draw::drawing(&model, &prefix);
        if drawing.threads.is_empty() {
            return Err(Refusal::usage(format!("{name}: the trace has no I/O to draw")));
        }
        write(path, &drawing.text())?;
    }
    if let Some(path) = &arguments.html {
        write(path, &report::model::html(&model, &name, &job))?;
    }
    let mut output = Output::Stdout;
    output.write(&match arguments.json {
        true => report::model::json(&model),
        false => report::model::text(&model, &output.style()),
    })?;
    Ok(0)
}

fn write(path: &Path, text: &str) -> Result<()> {
    write_file(path, text.as_bytes()).map_err(Refusal::usage)
}

/// The entries of a trace, each passed on.
fn each_entry(path: &Path, mut take: impl FnMut(&Entry) -> Result<()>) -> Result<()> {
    let name = path.display();
    let wrong = |error: &dyn std::fmt::Display| Refusal::usage(format!("{name}: {error}"));
    let file = File::open(path).map_err(|error| wrong(&describe(&error.into())))?;
    let mut reader = Reader::new(BufReader::new(file)).map_err(|error| wrong(&error))?;
    for entry in reader.by_ref() {
        take(&entry.map_err(|error| wrong(&error))?)?;
    }
    if reader.is_truncated() {
        say(&format!("{name}: the trace has no end; what was written before is used\n"));
    }
    Ok(())
}

/// The model of a trace.
pub fn model_of(path: &Path) -> Result<Model> {
    let mut builder = Builder::new();
    each_entry(path, |entry| {
        builder.entry(entry);
        Ok(())
    })?;
    Ok(builder.finish())
}

fn replay(trace: &Path, path: &Path, model: &Model, scale: f64) -> Result<()> {
    let level = if model.totals.level == "device" { Level::Device } else { Level::Application };
    let cannot = || format!("cannot write '{}'", path.display());
    let file = File::create(path).with_context(cannot)?;
    let mut writer = ReplayWriter::new(BufWriter::new(file), level, scale).with_context(cannot)?;
    each_entry(trace, |entry| writer.entry(entry).with_context(cannot))?;
    if writer.skipped > 0 {
        say(&format!(
            "{} events are left out: an iolog cannot name their files, or they move nothing\n",
            writer.skipped
        ));
    }
    writer.finish().with_context(cannot)
}
