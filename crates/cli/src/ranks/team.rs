//! All ranks as a team of the runner.

use super::chosen::chosen;
use super::rank::{Rank, failures};
use super::task;
use anyhow::{Result, anyhow, bail};
use fleet::{Fleet, Orders, Task};
use job::Invocation;
use record::{RankState, RunRecord};
use runner::{PlannedRun, RunObserver, Runner, Team};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// All ranks, at rank 0.
pub struct Ranks {
    hosts: Vec<String>,
    fleet: Arc<Mutex<Fleet>>,
    /// Ranks that are lost, with the reason: nothing can be run any more.
    lost: Mutex<Option<String>>,
}

impl Ranks {
    pub fn new(fleet: Arc<Mutex<Fleet>>) -> Ranks {
        let hosts = lock(&fleet).hosts.clone();
        Ranks { hosts, fleet, lost: Mutex::default() }
    }
}

impl Team for Ranks {
    fn hosts(&self) -> &[String] {
        &self.hosts
    }

    fn execute(
        &self,
        runner: &Runner,
        planned: PlannedRun,
        invocation: &Invocation,
        observer: &mut dyn RunObserver,
    ) -> Result<RunRecord> {
        if let Some(why) = &*lock(&self.lost) {
            bail!("{why}; start the ranks again");
        }
        let fleet = lock(&self.fleet);
        let ranks = chosen(&fleet.hosts, invocation.ranks_per_host, invocation.ranks);
        let body = task::body(invocation)?;
        fleet.announce(Task { ranks, body }).map_err(|why| anyhow!(why))?;
        let rank = Rank { runner, fleet: &fleet };
        let own_job = invocation.job_of_rank.as_ref().map(|name| format!("{name}0"));
        let mut planned = Ok(rank.prepared(planned, own_job.as_deref()));
        // Rank 0 runs, so not all have refused.
        let Orders::Run(_) = rank.enrol(&mut planned)? else { bail!("the ranks do not begin") };
        let record = rank.lead(planned.ok(), invocation, observer)?;
        let lost = failures(&record, |rank| rank.state == RankState::Lost);
        *lock(&self.lost) = (!lost.is_empty()).then(|| lost.join("; "));
        Ok(record)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
