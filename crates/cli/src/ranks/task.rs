//! Runs that rank 0 announces to the others, and what the others do with them.

use super::rank::{Planned, Rank};
use crate::exit;
use crate::suites::scratch::of_rank;
use anyhow::{Context, Result, anyhow};
use fleet::{Assignment, Fleet};
use job::{Dialect, Inputs, Invocation, Keywords, LayerTiming, RankPlace, Typed};
use record::SourceText;
use runner::Runner;
use runner::inputs::Machine;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::{fs, io};

/// A run of a command.
#[derive(Default, Serialize, Deserialize)]
struct Job {
    typed: Typed,
    /// The job files, as rank 0 read them.
    sources: Vec<SourceText>,
    /// The working directory.
    directory: String,
    allow_destroy: Vec<String>,
    layers: bool,
    job_of_rank: Option<String>,
    scratch: Option<String>,
}

/// A temporary file, removed with the value.
struct OwnScratch(PathBuf);

impl Drop for OwnScratch {
    fn drop(&mut self) {
        // It may have been lost before there was a file.
        let _ = fs::remove_file(&self.0);
    }
}

/// The task that makes other ranks run the same.
///
/// # Errors
/// When the working directory is not there.
pub fn body(invocation: &Invocation) -> Result<String> {
    let directory = std::env::current_dir().context("the working directory does not exist")?;
    let job = Job {
        typed: invocation.typed.clone(),
        sources: invocation.sources.clone(),
        directory: directory.to_string_lossy().into_owned(),
        allow_destroy: invocation.allow_destroy.clone(),
        layers: invocation.layers == Some(LayerTiming::Full),
        job_of_rank: invocation.job_of_rank.clone(),
        scratch: invocation.scratch.clone(),
    };
    Ok(serde_json::to_string(&job)?)
}

/// Takes part in runs until rank 0 ends the fleet.
///
/// # Errors
/// When rank 0 is gone.
pub fn serve(runner: &Runner, fleet: &Fleet) -> Result<u8> {
    let rank = Rank { runner, fleet };
    let mut scratch = None;
    while let Some(task) = fleet.next_task().map_err(|why| anyhow!(why))? {
        let parsed = parsed(&task, &rank);
        if let Ok(Invocation { scratch: Some(path), .. }) = &parsed {
            scratch.get_or_insert_with(|| OwnScratch(of_rank(path, task.place)));
        }
        let (invocation, wrong) = match parsed {
            Ok(invocation) => (invocation, None),
            Err(why) => (Invocation::default(), Some(why)),
        };
        let planned: Planned = match wrong {
            Some(why) => Err((why, exit::USAGE)),
            None => rank.plan(&invocation),
        };
        rank.follow(planned, &invocation)?;
    }
    Ok(0)
}

fn parsed(task: &Assignment, rank: &Rank) -> Result<Invocation, String> {
    let job: Job = serde_json::from_str(&task.body).map_err(|error| error.to_string())?;
    std::env::set_current_dir(&job.directory)
        .map_err(|error| format!("{}: {error}: rank 0 works there", job.directory))?;
    let machine = rank.runner.machine();
    let (number, ranks) = (task.place, task.ranks);
    let place = RankPlace { rank: number, ranks, host: machine.hostname.clone() };
    let inputs = KnownInputs { known: &job.sources, machine: Machine::new(machine).at(place) };
    let Typed { arguments, overrides } = &job.typed;
    let mut invocation = job::parse_with(arguments, overrides, Dialect::Fathom, &inputs)
        .map_err(|errors| errors.to_string())?;
    runner::replay::attach(&mut invocation, rank.runner.host())?;
    invocation.allow_destroy = job.allow_destroy;
    if job.layers {
        invocation.layers = Some(LayerTiming::Full);
    }
    invocation.scratch = job.scratch;
    invocation.job_of_rank = job.job_of_rank.map(|name| format!("{name}{number}"));
    Ok(invocation)
}

/// Inputs of a job of which some files were read before.
pub struct KnownInputs<'a> {
    /// The files that were read.
    pub known: &'a [SourceText],
    /// The rest.
    pub machine: Machine,
}

impl Inputs for KnownInputs<'_> {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        match self.known.iter().find(|source| source.name == path) {
            Some(source) => Ok(source.text.clone().into_bytes()),
            None => self.machine.read(path),
        }
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.machine.variable(name)
    }

    fn keywords(&self) -> Keywords {
        self.machine.keywords()
    }
}
