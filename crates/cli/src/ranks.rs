//! Ranks that an MPI launcher started. They make the runs of a command together: rank 0 carries the command
//! out, the others take part in its runs until it ends.

mod chosen;
mod enrolment;
mod observer;
mod rank;
mod task;
mod team;

pub use chosen::chosen;
pub use rank::{Planned, Rank};
pub use task::KnownInputs;

use crate::exit;
use anyhow::{Result, anyhow};
use engine::{Mpi, MpiFamily};
use fleet::{DEFAULT_TIMEOUT, Exchange, Fleet, MpiExchange, Settings};
use host::Launcher;
use job::RankPlace;
use runner::inputs::Machine;
use runner::{Refusal, Runner};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use team::Ranks;

/// Carries a command out with all ranks, if a launcher started this process as one of several. Its `body`
/// runs at rank 0 only; the others serve it.
///
/// # Errors
/// Those of the body, and when the ranks cannot be joined.
pub fn with_ranks(runner: &Runner, body: impl FnOnce() -> Result<u8>) -> Result<u8> {
    let Some(launcher) = Launcher::of_this_process() else { return body() };
    let fleet = join(runner, launcher, None)?;
    if !fleet.is_lead() {
        // A signal comes to all ranks. Rank 0 ends the run, and reports.
        runner.signals()?.catch_hang_up()?;
        return task::serve(runner, &fleet);
    }
    let fleet = Arc::new(Mutex::new(fleet));
    runner.join(Box::new(Ranks::new(Arc::clone(&fleet))));
    let code = body();
    let fleet = fleet.lock().unwrap_or_else(PoisonError::into_inner);
    fleet.leave(*code.as_ref().unwrap_or(&exit::ERRORS));
    code
}

/// Refuses to measure alone as one of several ranks: each would disturb the others.
///
/// # Errors
/// When a launcher started several ranks, which have not joined.
pub fn refuse_unjoined(runner: &Runner) -> Result<()> {
    match Launcher::of_this_process().filter(|_| runner.team().is_none()) {
        None => Ok(()),
        Some(Launcher { variable, ranks, .. }) => Err(Refusal::usage(format!(
            "{variable}={ranks}: several ranks were started, and this command measures by itself; start it \
             without the launcher, or use fathom run, sweep, test, knee, s3, ior, mdtest or io500"
        ))),
    }
}

/// Starts MPI with the library of the launcher, and waits for all ranks.
///
/// # Errors
/// When the library is not there or not that of the launcher.
pub fn join(runner: &Runner, launcher: Launcher, timeout: Option<Duration>) -> Result<Fleet> {
    let host = runner.machine().hostname.clone();
    let settings = Settings { timeout: timeout.unwrap_or(DEFAULT_TIMEOUT), host: host.clone() };
    let family = if launcher.is_open_mpi { MpiFamily::OpenMpi } else { MpiFamily::Mpich };
    let open = move || {
        let mpi = Mpi::start(family)?;
        if mpi.size() != launcher.ranks {
            return Err(format!(
                "{}={}, but {} finds {} ranks: it is not the library of this launcher",
                launcher.variable,
                launcher.ranks,
                mpi.library(),
                mpi.size()
            ));
        }
        let ends_all_by_itself = !launcher.is_slurm();
        Ok(Box::new(MpiExchange { mpi, ends_all_by_itself }) as Box<dyn Exchange>)
    };
    Fleet::join(open, settings)
        .map_err(|why| anyhow!("rank {} of {} on {host}: {why}", launcher.rank, launcher.ranks))
}

/// The inputs of a job. `$rank` has a meaning only where several ranks run it: names that a user typed for
/// another tool stay as they are.
pub fn machine(runner: &Runner) -> Machine {
    let machine = Machine::new(runner.machine());
    match runner.team() {
        Some(_) => machine.at(place(runner)),
        None => machine,
    }
}

/// The place of this process among the ranks of its launcher; without a launcher it is the only one.
pub fn place(runner: &Runner) -> RankPlace {
    let (rank, ranks) =
        Launcher::of_this_process().map_or((0, 1), |launcher| (launcher.rank, launcher.ranks));
    RankPlace { rank, ranks, host: runner.machine().hostname.clone() }
}
