//! The jobs of the cells of a sweep: the job as typed, with the values of each cell.

use super::job_inputs::JobInputs;
use anyhow::Result;
use job::{Dialect, Invocation, JobErrors, Override};
use record::Coordinate;
use runner::Refusal;
use std::path::Path;
use suite::sweep::Dimension;
use tuning::{CellSetup, Setting};

/// Name of the dimension that sets the directory, file or device of every job. It is not an option.
pub const TARGET: &str = "target";

/// Checks that a dimension can be varied.
///
/// # Errors
/// The name and the nearest known one.
pub fn check_name(dimension: &Dimension) -> Result<(), String> {
    if dimension.name == TARGET || Setting::from_name(&dimension.name).is_some() {
        return Ok(());
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
    let known = known.chain([TARGET]).chain(settings);
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
    let varied = |coordinate: &Coordinate| {
        let value = coordinate.value.clone();
        if coordinate.dimension == TARGET {
            let is_directory = Path::new(&value).is_dir();
            let name = if is_directory { "directory" } else { "filename" };
            return Override { job: None, name: name.into(), value };
        }
        let (job, name) = split_name(&coordinate.dimension);
        Override { job: job.map(str::to_owned), name: name.into(), value }
    };
    let from_setup = |argument: &String| {
        let (name, value) = argument.trim_start_matches('-').split_once('=')?;
        Some(Override { job: None, name: name.into(), value: value.into() })
    };
    let options = at.iter().filter(|c| Setting::from_name(&c.dimension).is_none()).map(varied);
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
        job::parse_with(self.arguments, &overrides(at, setup), Dialect::Fathom, self.inputs)
    }
}
