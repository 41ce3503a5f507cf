//! `fathom report`: records as a page, a table or a picture.

use crate::commands::plot::{SCALE, named};
use crate::output::{describe, say, write_file};
use anyhow::Result;
use clap::Args;
use report::judged_set::JudgedSet;
use report::{html, pictures};
use runner::Refusal;
use std::path::{Path, PathBuf};

/// What stands above the options in the help.
const EXAMPLES: &str = "\
Examples:
  fathom report latest -o report.html
  fathom report a.json b.json -o comparison.html";

/// What `fathom report` takes.
#[derive(Args)]
#[command(before_help = EXAMPLES)]
pub struct Arguments {
    /// A record, a set of records or the directory of a sweep; or the name of an archived run: its
    /// id, a tag, latest, latest~1. As NAME=RUN to name it in the report. Several are compared with
    /// the first; an archived run alone with the last before it that did the same.
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<String>,
    /// Where the report goes; the ending says what it is: html (the whole report in one file), md or
    /// csv (the figures with their intervals), svg, png or pdf (one picture). Can be given again.
    #[arg(short, long, value_name = "FILE", required = true, value_parser = output)]
    output: Vec<PathBuf>,
    /// The picture for svg, png and pdf: varied (figures over what was varied), iops, bandwidth,
    /// latency, percentiles, heatmap, depth, cpu or bytes; usually varied where something was,
    /// otherwise iops, or percentiles of a run too short for that. Of several of a kind the second is heatmap-2, and so on.
    #[arg(long, value_name = "NAME")]
    chart: Option<String>,
}

/// What a file is to hold.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Html,
    Markdown,
    Csv,
    Svg,
    Png,
    Pdf,
}

/// Endings of file names, with what they stand for.
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

/// A file whose name says what it is to hold.
fn output(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match form(&path) {
        Some(_) => Ok(path),
        None => Err("expected a file name ending in .html, .md, .csv, .svg, .png or .pdf".into()),
    }
}

/// Writes what was asked for. 0: all files are there; 1: one could not be written; 2: a record or
/// the request cannot be used.
pub fn main(arguments: &Arguments) -> Result<u8> {
    let runs = named(&arguments.runs);
    let loaded = runs.iter().map(|(name, path)| load(name, path, runs.len() == 1));
    let judged_sets = loaded.collect::<Result<Vec<JudgedSet>, String>>().map_err(Refusal::usage)?;
    let is_picture = |path: &PathBuf| matches!(form(path), Some(Form::Svg | Form::Png | Form::Pdf));
    if arguments.chart.is_some() && !arguments.output.iter().any(is_picture) {
        let text =
            "--chart: it chooses what a picture shows; name one with -o (.svg, .png or .pdf)";
        return Err(Refusal::usage(text));
    }
    // Better refused before the first file is written.
    let contents = arguments.output.iter().map(|path| content(path, &judged_sets, arguments));
    let contents = contents.collect::<Result<Vec<Vec<u8>>, String>>().map_err(Refusal::usage)?;
    for (path, bytes) in arguments.output.iter().zip(contents) {
        write_file(path, &bytes).map_err(anyhow::Error::msg)?;
        say(&format!("{}: {}\n", path.display(), record::human::size(bytes.len() as f64)));
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
            let usual = ["varied", "iops", "percentiles"];
            let mut there = usual.iter().map(|name| pictures::one(judged_sets, name));
            // What kept the last of them from being drawn names those that there are.
            there.find(Result::is_ok).unwrap_or_else(|| pictures::one(judged_sets, "percentiles"))
        }
    }
}

/// Loads and judges what an argument names.
fn load(name: &str, path: &Path, is_alone: bool) -> Result<JudgedSet, String> {
    if formats::sweep::is_sweep(path) {
        let (manifest, set) = formats::sweep::open(path).map_err(|e| describe(&e.into()))?;
        return Ok(JudgedSet::of_sweep(name, &manifest.design, set));
    }
    let set = crate::archived::load(path).map_err(|error| describe(&error))?;
    let judged_set = JudgedSet::new(name, set);
    // Several are compared with each other.
    let before = if is_alone { crate::archived::load_previous(path) } else { None };
    Ok(match before {
        Some((id, earlier)) => judged_set.since(&id, earlier),
        None => judged_set,
    })
}
