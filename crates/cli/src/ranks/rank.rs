//! One run, from the view of one rank.

use super::enrolment;
use super::observer::RankObserver;
use crate::exit;
use anyhow::{Result, anyhow};
use fleet::{Enrolment, Fleet, Orders, OwnResult, Sum};
use job::Invocation;
use record::{Message, Nanos, RankRecord, RankState, RunRecord};
use runner::{PlannedRun, RunObserver, Runner};
use std::time::Instant;

/// Time series of ranks are added, so their steps are at most this long.
const STEP_MAX: Nanos = Nanos::from_millis(100);

/// This process in the fleet.
pub struct Rank<'a> {
    pub runner: &'a Runner,
    pub fleet: &'a Fleet,
}

/// What a rank is about to run, or why it does not, with its exit code.
pub type Planned = Result<PlannedRun, (String, u8)>;

impl Rank<'_> {
    /// Plans its part of a run.
    pub fn plan(&self, invocation: &Invocation) -> Planned {
        let planned = self
            .runner
            .plan(invocation)
            .map_err(|error| (error.to_string(), error.exit_code() as u8))?;
        if planned.is_forbidden(invocation) {
            let text = report::messages::lines("fathom", &planned.messages);
            return Err((text, exit::USAGE));
        }
        Ok(self.prepared(planned, invocation.job_of_rank.as_deref()))
    }

    /// A planned run that waits for the other ranks, with all jobs or the one of a name.
    pub fn prepared(&self, mut planned: PlannedRun, job: Option<&str>) -> PlannedRun {
        if let Some(job) = job {
            planned.plan.workers.retain(|worker| worker.name == job);
        }
        planned.plan.interval = planned.plan.interval.min(STEP_MAX);
        planned.together.gate = Some(self.fleet.gate());
        planned
    }

    /// Tells rank 0 what this one is about to do. Returns when it may go on.
    ///
    /// # Errors
    /// When rank 0 is gone.
    pub fn enrol(&self, planned: &mut Planned) -> Result<Orders> {
        let facts = planned.as_ref().map_or(self.runner.machine(), PlannedRun::facts);
        let enrolment = Enrolment {
            kernel: facts.kernel.clone(),
            mounts: enrolment::mounts(facts),
            clock: self.runner.host().clock_id(),
            process_space: self.runner.host().process_space(),
            process: std::process::id(),
            files: planned.as_ref().map_or(Vec::new(), |planned| enrolment::files(&planned.plan)),
            refusal: planned.as_ref().err().cloned(),
        };
        let orders = self.fleet.enrol(enrolment).map_err(|why| anyhow!(why))?;
        if let (Orders::Run(beside), Ok(planned)) = (&orders, planned) {
            planned.together.processes.clone_from(beside);
        }
        Ok(orders)
    }

    /// Runs silently, and hands the result to rank 0.
    ///
    /// # Errors
    /// When it cannot run, or rank 0 is gone.
    pub fn follow(&self, mut planned: Planned, invocation: &Invocation) -> Result<()> {
        let result = match (self.enrol(&mut planned)?, planned) {
            (Orders::Run(_), Ok(planned)) => {
                let mut observer = RankObserver::silent(self.fleet);
                let record = self.runner.execute_alone(planned, invocation, &mut observer)?;
                Some(own_result(&record, observer.origin()))
            }
            _ => None,
        };
        self.fleet.finish(result, || self.runner.caught()).map(|_| ()).map_err(|why| anyhow!(why))
    }

    /// Runs its own part, if it has one, and waits for the results of all. Only rank 0 does.
    ///
    /// # Errors
    /// When it cannot run, and errors of the observer.
    pub fn lead(
        &self,
        planned: Option<PlannedRun>,
        invocation: &Invocation,
        observer: &mut dyn RunObserver,
    ) -> Result<RunRecord> {
        let mut shown = RankObserver::shown(self.fleet, observer);
        let own = planned.map(|planned| self.runner.execute_alone(planned, invocation, &mut shown));
        let origin = shown.origin();
        let own = match own.transpose() {
            Err(error) if !self.fleet.is_abandoned() => return Err(error),
            own => own.ok().flatten(),
        };
        let result = own.as_ref().map(|record| own_result(record, origin));
        let sum = self
            .fleet
            .finish(result, || self.runner.caught())
            .map_err(|why| anyhow!(why))?
            .unwrap_or_default();
        let mut record = self.joint(own, invocation, sum);
        observer.complete(&mut record);
        Ok(record)
    }

    /// The record of all ranks: that of rank 0, with the sum of all jobs.
    fn joint(&self, own: Option<RunRecord>, invocation: &Invocation, sum: Sum) -> RunRecord {
        let mut record = own.unwrap_or_else(|| RunRecord {
            schema: record::SCHEMA_VERSION,
            fathom_version: env!("CARGO_PKG_VERSION").into(),
            sources: invocation.sources.clone(),
            facts: self.runner.machine().clone(),
            ..RunRecord::default()
        });
        let hosts = || sum.fleet.ranks.iter().map(|rank| &rank.host);
        if hosts().any(|host| Some(host) != hosts().next()) {
            // They are those of one host.
            record.disks.clear();
        }
        record.jobs = sum.jobs;
        record.fleet = Some(sum.fleet);
        for failure in failures(&record, |rank| rank.state != RankState::Ran) {
            record.messages.push(Message::error(None, failure));
        }
        job::hide_secrets(&mut record);
        record
    }
}

/// What became of ranks without results.
pub fn failures(record: &RunRecord, which: impl Fn(&RankRecord) -> bool) -> Vec<String> {
    let ranks = record.fleet.iter().flat_map(|fleet| &fleet.ranks);
    let text = |rank: &RankRecord| {
        format!("{}: {}: {}", rank.label(), rank.state.name(), rank.why.trim_end())
    };
    ranks.filter(|rank| which(rank)).map(text).collect()
}

fn own_result(record: &RunRecord, origin: Instant) -> OwnResult {
    OwnResult::new(record, origin, exit::of_run(record, false))
}
