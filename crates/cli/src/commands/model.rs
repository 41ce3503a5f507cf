//! `fathom model`: what a trace shows of its workload, and jobs that ask the same of storage.

use crate::output::{Output, describe, write_file, write_stderr};
use crate::suites;
use anyhow::{Context, Result};
use clap::Args;
use model::job::JobOptions;
use model::merge::Merge;
use model::replay::ReplayWriter;
use model::{Builder, Model, Splitter};
use record::Bytes;
use runner::Refusal;
use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::{Path, PathBuf};
use trace::ftr::{AnyTrace, Entry, Header, Level};

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
    /// Trace of an application (.ftr, text of strace, trace of blktrace, iolog), or the traces of the workers of a run (`write_iolog=FILE.ftr`).
    #[arg(value_name = "TRACE", required = true)]
    traces: Vec<PathBuf>,
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
    let traces = &arguments.traces;
    let model = model_of(traces)?;
    let names: Vec<String> = traces.iter().map(|trace| trace.display().to_string()).collect();
    let name = record::human::list_up_to(&names, 3);
    let phases = phases_of(traces, &model)?;
    let job = model::job::text(
        &model,
        &phases,
        &JobOptions {
            trace: name.clone(),
            directory: arguments.directory.clone().unwrap_or_default(),
            size_max: arguments.size.map(|size| size.0),
            seconds: None,
        },
    );
    match (&arguments.output, arguments.replay) {
        (Some(path), true) => replay(traces, path, &model, arguments.scale)?,
        (Some(path), false) => write(path, &job)?,
        (None, _) => {}
    }
    if let Some(path) = &arguments.toml {
        let prefix = arguments
            .directory
            .as_deref()
            .map_or_else(String::new, |directory| format!("{}/", directory.trim_end_matches('/')));
        let drawing = model::draw::drawing(&model, &phases, &prefix);
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

/// The entries of traces, each passed on. Several traces are of one run and have the same time zero.
fn each_entry(
    paths: &[PathBuf],
    reading: Reading,
    mut take: impl FnMut(&Entry) -> Result<()>,
) -> Result<()> {
    let mut traces: Vec<Box<dyn Iterator<Item = _>>> = Vec::new();
    for path in paths {
        traces.push(Box::new(Entries::open(path, reading)?));
    }
    match traces.len() {
        1 => traces.remove(0).try_for_each(|entry| take(&entry?)),
        _ => Merge::new(traces).try_for_each(|entry| take(&entry?)),
    }
}

/// What is wrong with a trace is said when it is read first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    First,
    Again,
}

/// The entries of a trace. At the end it says if the trace has none.
struct Entries {
    reader: AnyTrace<BufReader<File>>,
    reading: Reading,
    name: String,
}

impl Entries {
    fn open(path: &Path, reading: Reading) -> Result<Entries> {
        let name = path.display().to_string();
        let wrong = |error: &dyn std::fmt::Display| Refusal::usage(format!("{name}: {error}"));
        let file = File::open(path).map_err(|error| wrong(&describe(&error.into())))?;
        let reader = AnyTrace::open(BufReader::new(file)).map_err(|error| wrong(&error))?;
        Ok(Entries { reader, reading, name })
    }
}

impl Iterator for Entries {
    type Item = Result<Entry>;

    fn next(&mut self) -> Option<Result<Entry>> {
        let next = self.reader.next();
        if next.is_none() && self.reading == Reading::First {
            let notes = self.reader.notes().into_iter();
            let end = "the trace has no end; what was written before is used".to_owned();
            let end = self.reader.is_truncated().then_some(end);
            notes.chain(end).for_each(|note| write_stderr(&format!("{}: {note}\n", self.name)));
        }
        Some(next?.map_err(|error| Refusal::usage(format!("{}: {error}", self.name))))
    }
}

/// The model of one trace, or of those of the workers of a run.
pub fn model_of(paths: &[PathBuf]) -> Result<Model> {
    model_with(paths, |_| true)
}

/// The model of the entries that are to be kept.
pub fn model_with(paths: &[PathBuf], mut keep: impl FnMut(&Entry) -> bool) -> Result<Model> {
    let mut builder = Builder::new();
    each_entry(paths, Reading::First, |entry| {
        if keep(entry) {
            builder.entry(entry);
        }
        Ok(())
    })?;
    Ok(builder.finish())
}

/// The models of the phases of a model of traces, which are read again; none if it has only one phase.
fn phases_of(paths: &[PathBuf], model: &Model) -> Result<Vec<Model>> {
    let Some(mut splitter) = Splitter::new(model) else { return Ok(Vec::new()) };
    each_entry(paths, Reading::Again, |entry| {
        splitter.entry(entry);
        Ok(())
    })?;
    Ok(splitter.finish())
}

/// The header of a trace.
pub fn header_of(path: &Path) -> Result<Header> {
    Ok(Entries::open(path, Reading::Again)?.reader.header().clone())
}

fn replay(traces: &[PathBuf], path: &Path, model: &Model, scale: f64) -> Result<()> {
    let level = if model.totals.level == "device" { Level::Device } else { Level::Application };
    let cannot = || format!("cannot write '{}'", path.display());
    let file = File::create(path).with_context(cannot)?;
    let mut writer = ReplayWriter::new(BufWriter::new(file), level, scale).with_context(cannot)?;
    each_entry(traces, Reading::Again, |entry| writer.entry(entry).with_context(cannot))?;
    if writer.skipped > 0 {
        write_stderr(&format!(
            "{} events are left out: an iolog cannot name their files, or they move nothing\n",
            writer.skipped
        ));
    }
    writer.finish().with_context(cannot)
}
