//! The jobs of the cells of a sweep: the job as typed, with the values of each cell.

use super::job_inputs::JobInputs;
use anyhow::Result;
use job::{Dialect, Inputs, Invocation, JobErrors, Keywords, Override};
use record::Coordinate;
use runner::Refusal;
use std::io;
use std::path::Path;
use suite::sweep::{Dimension, LAYER};
use tuning::{CellSetup, Setting};

/// Name of the dimension that sets the directory, file or device of every job. It is not an option.
pub const TARGET: &str = "target";

/// Name of the dimension that moves a tenth of each file or device through it. It is not an option.
pub const POSITION: &str = "position";

/// Name of the dimension that sets how many ranks take part. It is not an option.
pub const RANKS: &str = "ranks";

/// Where the region of a position begins, in percent: "start", "middle", "end" or "30%".
fn start_of(position: &str) -> Option<f64> {
    match position {
        "start" => Some(0.0),
        "middle" => Some(45.0),
        "end" => Some(90.0),
        percent => {
            let start: f64 = percent.strip_suffix('%')?.parse().ok()?;
            Some(start).filter(|start| (0.0..=90.0).contains(start))
        }
    }
}

/// Checks that a dimension can be varied.
///
/// # Errors
/// The name and the nearest known one.
pub fn check_name(dimension: &Dimension) -> Result<(), String> {
    if [TARGET, LAYER, RANKS].contains(&dimension.name.as_str())
        || Setting::from_name(&dimension.name).is_some()
    {
        return Ok(());
    }
    if dimension.name == POSITION {
        return match dimension.values.iter().find(|value| start_of(value).is_none()) {
            None => Ok(()),
            Some(wrong) => Err(format!(
                "--vary position={wrong}: a position is start, middle, end, or where a tenth of the \
                 file or device begins, from 0% to 90%"
            )),
        };
    }
    let (_, option) = split_name(&dimension.name);
    if option == "name" {
        return Err("--vary: the name of a job cannot be varied; vary another option".into());
    }
    let named = |def: &job::options::OptionDef| def.names().any(|known| known == option);
    if job::options::all().any(named) {
        return Ok(());
    }
    let settings = Setting::ALL.map(Setting::name);
    let known = job::options::all().flat_map(job::options::OptionDef::names);
    let known = known.chain([TARGET, POSITION, LAYER, RANKS]).chain(settings);
    let near = job::value::nearest(option, known);
    let hint = near.map_or(String::new(), |near| format!("; did you mean '{near}'?"));
    Err(format!("--vary: unknown option '{option}'{hint}"))
}

/// Splits "JOB/OPTION" or "OPTION" into the job, if any, and the option.
pub fn split_name(name: &str) -> (Option<&str>, &str) {
    name.rsplit_once('/').map_or((None, name), |(job, option)| (Some(job), option))
}

/// Options of a cell that take precedence over those of the job: the varied values, and the arguments
/// that the machine's setup for the cell needs.
fn overrides(at: &[Coordinate], setup: &CellSetup) -> Vec<Override> {
    let all_jobs = |name: &str, value: String| Override { job: None, name: name.into(), value };
    let varied = |coordinate: &Coordinate| {
        let value = coordinate.value.clone();
        if let (POSITION, Some(start)) = (coordinate.dimension.as_str(), start_of(&value)) {
            let offset = all_jobs("offset", format!("{start}%"));
            return vec![offset, all_jobs("size", "10%".into())];
        }
        if coordinate.dimension == RANKS {
            return Vec::new();
        }
        if coordinate.dimension == LAYER {
            return vec![all_jobs("filename", value.replace(':', "\\:"))];
        }
        if coordinate.dimension == TARGET {
            let is_directory = Path::new(&value).is_dir();
            let name = if is_directory { "directory" } else { "filename" };
            return vec![all_jobs(name, value)];
        }
        let (job, name) = split_name(&coordinate.dimension);
        vec![Override { job: job.map(str::to_owned), name: name.into(), value }]
    };
    let from_setup = |argument: &String| {
        let (name, value) = argument.trim_start_matches('-').split_once('=')?;
        Some(Override { job: None, name: name.into(), value: value.into() })
    };
    let options = at.iter().filter(|c| Setting::from_name(&c.dimension).is_none()).flat_map(varied);
    options.chain(setup.arguments.iter().filter_map(from_setup)).collect()
}

/// The job that runs in every cell.
pub struct CellJobs<'a> {
    /// The job as typed.
    pub arguments: &'a [String],
    /// Files and variables that the job reads.
    pub inputs: &'a JobInputs,
}

impl CellJobs<'_> {
    /// Parses the job of a cell, without a setup of the machine.
    ///
    /// # Errors
    /// Every mistake in the job.
    pub fn try_parse(&self, at: &[Coordinate]) -> Result<Invocation, JobErrors> {
        self.parse_with(at, &CellSetup::default())
    }

    /// Parses the job of a cell on a machine with this setup.
    ///
    /// # Errors
    /// Every mistake in the job, as a usage error.
    pub fn parse(&self, at: &[Coordinate], setup: &CellSetup) -> Result<Invocation> {
        self.parse_with(at, setup).map_err(|errors| Refusal::usage(errors.to_string()))
    }

    fn parse_with(&self, at: &[Coordinate], setup: &CellSetup) -> Result<Invocation, JobErrors> {
        let ranks = at.iter().find(|c| c.dimension == RANKS).and_then(|c| c.value.parse().ok());
        let inputs = RankInputs { inputs: self.inputs, ranks };
        let overrides = overrides(at, setup);
        let parsed = job::parse_with(self.arguments, &overrides, Dialect::Fathom, &inputs)?;
        Ok(Invocation { ranks, ..parsed })
    }
}

/// Inputs of a job for a number of ranks.
struct RankInputs<'a> {
    inputs: &'a JobInputs,
    ranks: Option<u32>,
}

impl Inputs for RankInputs<'_> {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        self.inputs.read(path)
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.inputs.variable(name)
    }

    fn keywords(&self) -> Keywords {
        let mut keywords = self.inputs.keywords();
        if let (Some(place), Some(ranks)) = (&mut keywords.place, self.ranks) {
            place.ranks = ranks;
        }
        keywords
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_a_tenth_of_each_file() {
        let at = |value: &str| Coordinate { dimension: POSITION.into(), value: value.into() };
        let typed = |value: &str| -> Vec<String> {
            let overrides = overrides(&[at(value)], &CellSetup::default());
            overrides.iter().map(|one| format!("{}={}", one.name, one.value)).collect()
        };
        assert_eq!(typed("start"), ["offset=0%", "size=10%"]);
        assert_eq!(typed("end"), ["offset=90%", "size=10%"]);
        assert_eq!(typed("12.5%"), ["offset=12.5%", "size=10%"]);
        let check = |value: &str| {
            let values = vec!["start".into(), value.into()];
            check_name(&Dimension { name: POSITION.into(), values })
        };
        assert_eq!(check("middle"), Ok(()));
        for wrong in ["95%", "-1%", "half", "4g"] {
            assert!(check(wrong).unwrap_err().contains("from 0% to 90%"), "{wrong}");
        }
    }
}
