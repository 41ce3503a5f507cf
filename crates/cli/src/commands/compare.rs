//! `fathom compare`: what differs between two measurements, and how sure that is.

use crate::archived;
use crate::exit;
use crate::output::Output;
use anyhow::Result;
use clap::Args;
use clap::builder::PossibleValuesParser;
use judge::compare::{METRICS, Options};
use record::RecordSet;
use runner::Refusal;
use std::path::{Path, PathBuf};

/// What stands above the options in the help.
const EXAMPLES: &str = "\
Examples:
  fathom compare latest~1 latest
  fathom compare before.json after.json --tolerance=3% --metrics=read.iops,read.p99";

/// What `fathom compare` takes.
#[derive(Args)]
#[command(before_help = EXAMPLES)]
pub struct Arguments {
    /// The earlier record, or set of records, as `fathom run --record=FILE` writes it; or the id, tag
    /// or other name of an archived run. Several, with commas between, repeat each other.
    #[arg(value_name = "A")]
    before: PathBuf,
    /// The later one.
    #[arg(value_name = "B")]
    after: PathBuf,
    /// How much slower B may be: a figure whose whole interval is beyond gives exit code 4.
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = tolerance)]
    tolerance: f64,
    /// Compare only these figures, separated by commas: the fewer, the narrower the intervals of each.
    #[arg(long, value_name = "NAME", value_delimiter = ',',
          value_parser = PossibleValuesParser::new(METRICS))]
    metrics: Vec<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Compares and shows. 0: nothing is slower beyond the tolerance; 2: a file cannot be used; 4:
/// something is slower.
pub fn main(arguments: &Arguments) -> Result<u8> {
    let (before, after) = (side(&arguments.before)?, side(&arguments.after)?);
    let options = Options { tolerance: arguments.tolerance, metrics: arguments.metrics.clone() };
    let comparison = judge::compare::compare(&before, &after, &options);
    let mut output = Output::Stdout;
    output.write(&match arguments.json {
        true => report::compare::json(&comparison),
        false => report::compare::text(&comparison, &output.style()),
    })?;
    Ok(if comparison.is_slower() { exit::GATE } else { 0 })
}

/// The runs of a side: those of one record, or of several that repeat each other. A path that is
/// there is one, also with a comma in it.
///
/// # Errors
/// When one cannot be read, did something else than the first, or was named before; with exit code 2.
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
            return Err(Refusal::usage(format!("{name}: the same run as one named before it")));
        }
        if let Some(why) = judge::compare::unlike(&all, &more) {
            let text = format!("{name}: no repeat of {}: {why}; name runs of the same", names[0]);
            return Err(Refusal::usage(text));
        }
        all.repeat(more);
    }
    Ok(all)
}

/// "5%" or "5" as a share.
fn tolerance(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim();
    match number.parse::<f64>() {
        Ok(percent) if (0.0..100.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err("expected a percentage from 0 to below 100, like 5%".into()),
    }
}
