//! `fathom report`: writes records as a page, a table or a picture.

use crate::commands::plot::{SCALE, named};
use crate::output::{describe, write_file, write_stderr};
use anyhow::Result;
use clap::Args;
use record::RecordSet;
use report::judged_set::JudgedSet;
use report::{html, pictures};
use runner::Refusal;
use std::path::{Path, PathBuf};

/// The examples in the help, above the options.
const EXAMPLES: &str = "\
Examples:
  fathom report latest -o report.html
  fathom report a.json b.json -o comparison.html
  fathom report latest --share -o report.html";

/// Arguments of `fathom report`.
#[derive(Args)]
#[command(before_help = EXAMPLES)]
pub struct Arguments {
    /// Record, set of records, directory of a sweep, or name of an archived run: its id, a tag, latest,
    /// latest~1. NAME=RUN sets its name in the report. Several are compared with the first; a single
    /// archived run with the previous one of the same jobs.
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<String>,
    /// File to write, by its ending: html (the whole report in one file), md or csv (the figures with
    /// their intervals), svg, png or pdf (one picture); repeatable.
    #[arg(short, long, value_name = "FILE", value_parser = output)]
    output: Vec<PathBuf>,
    /// Picture for svg, png and pdf: varied (figures over the varied options), iops, bandwidth,
    /// latency, percentiles, heatmap, layers, depth, cpu or bytes; the second one of a kind is
    /// heatmap-2, and so on [default: varied if options vary, else iops, or percentiles for a short run].
    #[arg(long, value_name = "NAME")]
    chart: Option<String>,
    /// Leave out what others need not see: serial numbers, host names, paths, command lines.
    #[arg(long)]
    share: bool,
}

/// The format of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Html,
    Markdown,
    Csv,
    Svg,
    Png,
    Pdf,
}

/// Endings of file names and their formats.
const ENDINGS: [(&str, Form); 8] = [
    ("html", Form::Html),
    ("htm", Form::Html),
    ("md", Form::Markdown),
    ("markdown", Form::Markdown),
    ("csv", Form::Csv),
    ("svg", Form::Svg),
    ("png", Form::Png),
    ("pdf", Form::Pdf),
];

fn form(path: &Path) -> Option<Form> {
    let ending = path.extension()?.to_str()?.to_ascii_lowercase();
    ENDINGS.into_iter().find(|(known, _)| *known == ending).map(|(_, form)| form)
}

/// Parses a file name with a known ending.
fn output(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match form(&path) {
        Some(_) => Ok(path),
        None => Err("expected a file name ending in .html, .md, .csv, .svg, .png or .pdf".into()),
    }
}

/// Writes the files. 0: done; 1: a file could not be written; 2: usage error.
pub fn main(arguments: &Arguments) -> Result<u8> {
    if arguments.output.is_empty() {
        return Err(Refusal::usage(
            "report: name a file to write, such as '-o report.html'; 'fathom runs show latest' prints \
             an archived run here",
        ));
    }
    let runs = named(&arguments.runs);
    let seen = |set: RecordSet| if arguments.share { formats::shareable(&set) } else { set };
    let loaded = runs.iter().map(|(name, path)| load(name, path, runs.len() == 1, &seen));
    let judged_sets = loaded.collect::<Result<Vec<JudgedSet>, String>>().map_err(Refusal::usage)?;
    let is_picture = |path: &PathBuf| matches!(form(path), Some(Form::Svg | Form::Png | Form::Pdf));
    if arguments.chart.is_some() && !arguments.output.iter().any(is_picture) {
        let text = "--chart: there is no picture to choose; name one with -o (.svg, .png or .pdf)";
        return Err(Refusal::usage(text));
    }
    // Errors must show before the first file is written.
    let contents = arguments.output.iter().map(|path| content(path, &judged_sets, arguments));
    let contents = contents.collect::<Result<Vec<Vec<u8>>, String>>().map_err(Refusal::usage)?;
    for (path, bytes) in arguments.output.iter().zip(contents) {
        write_file(path, &bytes).map_err(anyhow::Error::msg)?;
        write_stderr(&format!("{}: {}\n", path.display(), record::human::size(bytes.len() as f64)));
    }
    Ok(0)
}

fn content(
    path: &Path,
    judged_sets: &[JudgedSet],
    arguments: &Arguments,
) -> Result<Vec<u8>, String> {
    let of_file = |error: String| format!("{}: {error}", path.display());
    let bytes = match form(path) {
        Some(Form::Html) => html::document(judged_sets).into_bytes(),
        Some(Form::Markdown) => html::rows(judged_sets).markdown().into_bytes(),
        Some(Form::Csv) => html::rows(judged_sets).csv().into_bytes(),
        picture => {
            let drawn = picture_of(judged_sets, arguments).map_err(of_file)?;
            match picture {
                Some(Form::Png) => drawn.png(SCALE).map_err(|error| of_file(error.to_string()))?,
                Some(Form::Pdf) => drawn.pdf(),
                _ => drawn.svg().into_bytes(),
            }
        }
    };
    Ok(bytes)
}

fn picture_of(judged_sets: &[JudgedSet], arguments: &Arguments) -> Result<charts::Picture, String> {
    match &arguments.chart {
        Some(name) => pictures::one(judged_sets, name).map_err(|error| format!("--chart: {error}")),
        None => {
            let defaults = ["varied", "iops", "percentiles"];
            let mut drawn = defaults.iter().map(|name| pictures::one(judged_sets, name));
            // The error lists the available pictures.
            drawn.find(Result::is_ok).unwrap_or_else(|| pictures::one(judged_sets, "percentiles"))
        }
    }
}

/// Loads and judges the records of an argument, as `seen` by the reader.
fn load(
    name: &str,
    path: &Path,
    is_alone: bool,
    seen: &impl Fn(RecordSet) -> RecordSet,
) -> Result<JudgedSet, String> {
    if formats::sweep::is_sweep(path) {
        let (manifest, set) = formats::sweep::open(path).map_err(|e| describe(&e.into()))?;
        return Ok(JudgedSet::of_sweep(name, &manifest.design, seen(set)));
    }
    let set = crate::archived::load(path).map_err(|error| describe(&error))?;
    let judged_set = JudgedSet::new(name, seen(set));
    // Several records are compared with each other, not with earlier ones.
    let before = if is_alone { crate::archived::load_previous(path) } else { None };
    Ok(match before {
        Some((id, earlier)) => judged_set.since(&id, seen(earlier)),
        None => judged_set,
    })
}
