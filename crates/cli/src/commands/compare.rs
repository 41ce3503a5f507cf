//! `fathom compare`: compares two measurements, with confidence intervals.

use crate::output::Output;
use crate::{archived, exit};
use anyhow::{Context, Result};
use clap::Args;
use clap::builder::PossibleValuesParser;
use judge::compare::{METRICS, Options};
use record::RecordSet;
use runner::Refusal;
use std::path::{Path, PathBuf};

/// The examples in the help, above the options.
const EXAMPLES: &str = "\
Examples:
  fathom compare latest~1 latest
  fathom compare before.json after.json --tolerance=3% --metrics=iops,p99
  fathom compare base.json change.json --markdown --junit=result.xml";

/// Arguments of `fathom compare`.
#[derive(Args)]
#[command(before_help = EXAMPLES)]
pub struct Arguments {
    /// Earlier record or set of records (fathom run --record=FILE), or name of an archived run. Several,
    /// separated by commas, are repeats.
    #[arg(value_name = "A")]
    before: PathBuf,
    /// Later record, set or run.
    #[arg(value_name = "B")]
    after: PathBuf,
    /// How much slower B may be. A figure whose whole interval is beyond this gives exit code 4, as does
    /// a comparison in which no figure could be compared.
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = tolerance)]
    tolerance: f64,
    /// Compare only these figures, separated by commas. Fewer figures have narrower intervals.
    #[arg(long, value_name = "NAME", value_delimiter = ',',
          value_parser = PossibleValuesParser::new(METRICS))]
    metrics: Vec<String>,
    /// Print JSON.
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Print Markdown, as a comment or a summary of a pipeline.
    #[arg(long)]
    markdown: bool,
    /// Also write the figures as test cases in JUnit's XML.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
}

/// Compares and prints. 0: nothing is slower beyond the tolerance; 2: usage error; 4: something is slower,
/// or nothing could be compared.
pub fn main(arguments: &Arguments) -> Result<u8> {
    let (before, after) = (side(&arguments.before)?, side(&arguments.after)?);
    let options = Options { tolerance: arguments.tolerance, metrics: arguments.metrics.clone() };
    let comparison = judge::compare::compare(&before, &after, &options);
    let mut output = Output::Stdout;
    if let Some(file) = &arguments.junit {
        std::fs::write(file, report::compare::junit(&comparison))
            .with_context(|| format!("cannot write '{}'", file.display()))?;
    }
    output.write(&match (arguments.json, arguments.markdown) {
        (true, _) => report::compare::json(&comparison),
        (_, true) => report::compare::markdown(&comparison),
        _ => report::compare::text(&comparison, &output.style()),
    })?;
    let is_passed = !comparison.is_slower() && comparison.obstacle().is_none();
    Ok(if is_passed { 0 } else { exit::GATE })
}

/// Loads the runs of a side: of one record, or of several repeats separated by commas. An existing path
/// with a comma is one record.
///
/// # Errors
/// When a record cannot be read, is not a repeat of the first, or is named twice; a usage error.
fn side(list: &Path) -> Result<RecordSet> {
    let names: Vec<&str> = match list.to_str() {
        Some(text) if text.contains(',') && !list.exists() => text.split(',').collect(),
        _ => return archived::load(list),
    };
    if names.contains(&"") {
        let text = format!("{}: expected records with commas between, like A1,A2", list.display());
        return Err(Refusal::usage(text));
    }
    let mut all = archived::load(Path::new(names[0]))?;
    for name in &names[1..] {
        let more = archived::load(Path::new(name))?;
        if more.runs.iter().any(|run| all.runs.iter().any(|known| known.jobs == run.jobs)) {
            return Err(Refusal::usage(format!("{name}: this run is already named")));
        }
        if let Some(why) = judge::compare::unlike(&all, &more) {
            let text = format!("{name}: not a repeat of {}: {why}; name repeats only", names[0]);
            return Err(Refusal::usage(text));
        }
        all.repeat(more);
    }
    Ok(all)
}

/// Parses "5%" or "5" as a fraction.
fn tolerance(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim();
    match number.parse::<f64>() {
        Ok(percent) if (0.0..100.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err("expected a percentage from 0 to below 100, like 5%".into()),
    }
}
