//! `fathom plot`: draws figures of records over the options that vary.

use crate::archived;
use crate::output::{describe, write_file, write_stderr};
use anyhow::Result;
use charts::Picture;
use clap::{Args, ValueEnum};
use judge::Measure;
use report::plot::{self, DrawnPlot, Gnuplot, Request, Source};
use runner::Refusal;
use std::path::{Path, PathBuf};

/// Scale of a PNG: sharp on high-resolution screens and on paper.
pub const SCALE: f32 = 2.0;

/// The examples in the help, above the options.
const EXAMPLES: &str = "\
Examples:
  fathom plot sweep-directory -o iops.svg
  fathom plot before.json after.json -o latency.png --metric=read.p99";

/// Arguments of `fathom plot`.
#[derive(Args)]
#[command(before_help = EXAMPLES)]
pub struct Arguments {
    /// Directory of a sweep, record, set of records, or name of an archived run or set. NAME=PATH sets its
    /// name on the picture. Several are drawn together, as coloured series or side by side.
    #[arg(value_name = "SOURCE", required = true)]
    sources: Vec<String>,
    /// File to write, ending in .svg or .png; or in .dat: data for gnuplot, with its script in a .gp
    /// beside it; repeatable.
    #[arg(short, long, value_name = "FILE", required = true, value_parser = output_or_data)]
    output: Vec<PathBuf>,
    /// Kind of picture [default: lines or bars for one dimension, a heat map for two].
    #[arg(long, value_enum)]
    kind: Option<Kind>,
    /// Dimension of the x axis.
    #[arg(long, value_name = "DIMENSION")]
    x: Option<String>,
    /// Dimension of the y axis (heatmap) or depth axis (surface).
    #[arg(long, value_name = "DIMENSION")]
    y: Option<String>,
    /// Dimension with one series per value.
    #[arg(long, value_name = "DIMENSION")]
    series: Option<String>,
    /// The figure, as `fathom compare --metrics` names it, also of one direction (read.p99), of
    /// synchronisations (sync.p99), or of requests to an object store (GET.p99, ttfb.p99); usually iops, and bandwidth for large blocks.
    #[arg(long, value_name = "NAME", value_parser = Measure::parse)]
    metric: Option<Measure>,
    /// Show only this value of a dimension; repeatable.
    #[arg(long, value_name = "DIMENSION=VALUE", value_parser = at)]
    at: Vec<(String, String)>,
    /// Title [default: the figure and the dimensions].
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    /// Coloured cells over two dimensions.
    Heatmap,
    /// A surface over two dimensions; several sources as wire frames over the same base.
    Surface,
    /// Lines along one dimension, with bands for the intervals.
    Lines,
    /// Bars along one dimension, with their intervals.
    Bars,
}

impl From<Kind> for plot::Kind {
    fn from(kind: Kind) -> plot::Kind {
        match kind {
            Kind::Heatmap => plot::Kind::Heatmap,
            Kind::Surface => plot::Kind::Surface,
            Kind::Lines => plot::Kind::Lines,
            Kind::Bars => plot::Kind::Bars,
        }
    }
}

/// Draws and writes the pictures. 0: done; 1: a picture could not be written; 2: usage error.
pub fn main(arguments: &Arguments) -> Result<u8> {
    let drawn = draw(arguments).map_err(Refusal::usage)?;
    for path in &arguments.output {
        let written = match has_ending(path, "dat") {
            true => write_data(&drawn.gnuplot, path),
            false => write(&drawn.picture, path),
        };
        written.map_err(anyhow::Error::msg)?;
        write_stderr(&format!("{}: {}\n", path.display(), summary(&drawn)));
    }
    Ok(0)
}

fn draw(arguments: &Arguments) -> Result<DrawnPlot, String> {
    let sources: Vec<Source> =
        named(&arguments.sources).iter().map(load).collect::<Result<_, _>>()?;
    let request = Request {
        kind: arguments.kind.map(plot::Kind::from),
        x: arguments.x.clone(),
        y: arguments.y.clone(),
        series: arguments.series.clone(),
        metric: arguments.metric.clone(),
        at: arguments.at.clone(),
        title: arguments.title.clone(),
    };
    plot::picture(&sources, &request)
}

/// Names and paths of sources. The name is the given one, else that of the file, else, if several files
/// have the same name, the path.
pub fn named(sources: &[String]) -> Vec<(String, PathBuf)> {
    let stem =
        |path: &Path| path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let split = |source: &String| match source.split_once('=') {
        Some((name, path)) if !Path::new(source).exists() => (Some(name.to_owned()), path.into()),
        _ => (None, PathBuf::from(source)),
    };
    let split: Vec<(Option<String>, PathBuf)> = sources.iter().map(split).collect();
    let is_alone =
        |path: &Path| split.iter().filter(|(_, other)| stem(other) == stem(path)).count() < 2;
    let name = |(name, path): &(Option<String>, PathBuf)| {
        let default = || if is_alone(path) { stem(path) } else { path.display().to_string() };
        (name.clone().unwrap_or_else(default), path.clone())
    };
    split.iter().map(name).collect()
}

fn load((name, path): &(String, PathBuf)) -> Result<Source, String> {
    let file = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    match path.is_dir() {
        true => match formats::sweep::open(path) {
            Ok((manifest, set)) => Ok(Source::of_sweep(name, &file, &manifest.design, set)),
            Err(error) => Err(describe(&error.into())),
        },
        false => match archived::load(path) {
            Ok(set) => Ok(Source::new(name, &file, set)),
            Err(error) => Err(describe(&error)),
        },
    }
}

/// "heat map of iops, 35 figures, 2 missing".
fn summary(drawn: &DrawnPlot) -> String {
    let figures = drawn.places - drawn.missing;
    let missing = match drawn.missing {
        0 => String::new(),
        missing => format!(", {missing} missing"),
    };
    format!("{} of {}, {figures} figures{missing}", drawn.kind.name(), drawn.metric)
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(ending))
}

/// Writes data for gnuplot, and the script that draws them beside it.
fn write_data(gnuplot: &Gnuplot, path: &Path) -> Result<(), String> {
    write_file(path, gnuplot.data.as_bytes())?;
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    write_file(&path.with_extension("gp"), gnuplot.script_for(&name).as_bytes())
}

/// Writes the picture in the format of the file's ending.
pub fn write(picture: &Picture, path: &Path) -> Result<(), String> {
    let bytes = match has_ending(path, "png") {
        true => picture.png(SCALE).map_err(|error| error.to_string())?,
        false => picture.svg().into_bytes(),
    };
    write_file(path, &bytes)
}

/// Parses a file name with a known ending.
pub fn output(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match has_ending(&path, "svg") || has_ending(&path, "png") {
        true => Ok(path),
        false => Err("expected a file name ending in .svg or .png".into()),
    }
}

/// The same, or a file of data.
fn output_or_data(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match has_ending(&path, "dat") {
        true => Ok(path),
        false => output(text).map_err(|_| {
            "expected a file name ending in .svg or .png, or in .dat for gnuplot".into()
        }),
    }
}

/// Parses a dimension and a value, such as "bs=4k".
fn at(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((dimension, value)) if !dimension.is_empty() => Ok((dimension.into(), value.into())),
        _ => Err("expected DIMENSION=VALUE, like bs=4k".into()),
    }
}
