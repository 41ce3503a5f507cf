//! The middle of the pipe: Job → Plan → RunRecord. It shows nothing; who starts a run watches it.

mod disks;

use crate::inputs::Machine;
use crate::signals::Signals;
use anyhow::Result;
use disks::Look;
use engine::{Event, Outcome, Run};
use host::{Host, Sampler, TargetQuery};
use job::{Dialect, Invocation, JobErrors};
use plan::{Plan, PlanError, Policy};
use record::{DiskResult, Facts, Message, Nanos, RunRecord, SourceText, Timeline};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How often a run and the signals are looked at.
const GLANCE: Duration = Duration::from_millis(50);

/// Runs jobs on this machine.
pub struct Runner {
    host: Host,
    /// What the machine was when the program started, for the first run: reading it costs as much
    /// as many a short run.
    machine: Option<Facts>,
    inputs: Machine,
}

/// Jobs that can run: resolved, nothing refused.
pub struct Prepared {
    /// What each worker is to do.
    pub plan: Plan,
    /// The machine, and what lies under the targets.
    pub facts: Facts,
    /// What the user should know before the run.
    pub messages: Vec<Message>,
    sources: Vec<SourceText>,
    global_options: Vec<(String, String)>,
    as_fio: bool,
}

/// Whoever watches a run. Each call may show something; what it gives in error ends the program.
pub trait Watch {
    /// Files of a job are being made.
    ///
    /// # Errors
    /// Those of showing it.
    fn laying_out(&mut self, _job: &str, _files: u64, _bytes: u64) -> Result<()> {
        Ok(())
    }

    /// The run goes on; called about 20 times a second.
    ///
    /// # Errors
    /// Those of showing it.
    fn glance(&mut self, run: &Run) -> Result<()>;

    /// A signal came, and the run is asked to end.
    ///
    /// # Errors
    /// Those of showing it.
    fn stopping(&mut self, signal: i32) -> Result<()>;

    /// The run has ended.
    ///
    /// # Errors
    /// Those of showing it.
    fn ended(&mut self) -> Result<()> {
        Ok(())
    }
}

impl Runner {
    /// Runs on the machine this program runs on.
    pub fn new() -> Runner {
        let host = Host::at("/");
        let machine = host.machine();
        let inputs = Machine::new(&machine);
        Runner { host, machine: Some(machine), inputs }
    }

    /// Reads a command line (without the program's name) and the job files it names.
    ///
    /// # Errors
    /// Every mistake of the command line and of all files.
    pub fn parse(&self, arguments: &[String], dialect: Dialect) -> Result<Invocation, JobErrors> {
        job::parse(arguments, dialect, &self.inputs)
    }

    /// Looks at the machine as it is now and resolves the jobs. `as_fio`: under the name fio.
    ///
    /// # Errors
    /// What cannot or must not run.
    pub fn prepare(
        &mut self,
        invocation: &Invocation,
        as_fio: bool,
    ) -> Result<Prepared, PlanError> {
        let machine = self.machine.take().unwrap_or_else(|| self.host.machine());
        let facts = self.host.survey(machine, &queries(invocation));
        let plan = plan::resolve(&invocation.jobs, &facts, &policy(invocation, as_fio))?;
        let messages = [invocation.warnings.clone(), plan.messages.clone()].concat();
        Ok(Prepared {
            plan,
            facts,
            messages,
            sources: invocation.sources.clone(),
            global_options: invocation.global_options.clone(),
            as_fio,
        })
    }

    /// Runs, watched, and gives the record. A signal that came ends the run early; what was measured
    /// until then is in the record.
    ///
    /// # Errors
    /// When a thread cannot be started, and those of `watch`. What goes wrong within the run is in
    /// the record.
    pub fn measure(
        &self,
        prepared: Prepared,
        signals: &Signals,
        watch: &mut dyn Watch,
    ) -> Result<RunRecord> {
        let Prepared { plan, facts, mut messages, sources, global_options, as_fio } = prepared;
        let measured = self.run(plan, signals, watch)?;
        let Measured { outcome, timeline, disks, started_unix_ms } = measured;
        messages.extend(outcome.messages);
        Ok(RunRecord {
            schema: record::SCHEMA_VERSION,
            fathom_version: env!("CARGO_PKG_VERSION").into(),
            invocation: record::Invocation {
                arguments: std::env::args_os().map(|a| a.to_string_lossy().into_owned()).collect(),
                directory: std::env::current_dir().unwrap_or_default().display().to_string(),
                as_fio,
                started_unix_ms,
                ended_unix_ms: unix_ms(),
                utc_offset_seconds: chrono::Local::now().offset().local_minus_utc(),
            },
            sources,
            global_options,
            facts,
            clock: outcome.clock,
            jobs: outcome.jobs,
            disks,
            timeline,
            evidence: record::Evidence::default(),
            cell: None,
            messages,
            interrupted_by: signals.caught(),
        })
    }

    fn run(&self, plan: Plan, signals: &Signals, watch: &mut dyn Watch) -> Result<Measured> {
        let watched = plan.disks.clone();
        let names = disks::names(&watched);
        let before = Arc::new(Mutex::new(None));
        let (theirs, their_host, their_names) =
            (Arc::clone(&before), self.host.clone(), names.clone());
        let delays = self.host.clone();
        let run_delay = Box::new(move |tid| Some(Nanos(delays.worker_sample(tid)?.delay_ns)));
        let run = Run::start(plan, run_delay, move || {
            let look = Look::at(&their_host, &their_names);
            *theirs.lock().unwrap_or_else(PoisonError::into_inner) = Some(look);
        })?;
        let started_unix_ms = unix_ms();
        let watcher = run.watcher();
        let sampler =
            Sampler::start(self.host.clone(), names.clone(), run.origin(), move || watcher.tids())?;
        attend(&run, signals, watch)?;
        let after = Look::at(&self.host, &names);
        let timeline = sampler.finish();
        let outcome = run.finish();
        let before = before.lock().unwrap_or_else(PoisonError::into_inner).take();
        let disks = disks::results(&watched, &before.unwrap_or_else(|| after.clone()), &after);
        Ok(Measured { outcome, timeline, disks, started_unix_ms })
    }
}

/// What a run left behind.
struct Measured {
    outcome: Outcome,
    timeline: Timeline,
    disks: Vec<DiskResult>,
    started_unix_ms: u64,
}

/// Until the run has ended.
fn attend(run: &Run, signals: &Signals, watch: &mut dyn Watch) -> Result<()> {
    let mut stopping = false;
    loop {
        let ended = run.wait(GLANCE);
        for event in run.events() {
            let Event::LayingOut { job, files, bytes } = event;
            watch.laying_out(&job, files, bytes)?;
        }
        if ended {
            return watch.ended();
        }
        if let (Some(signal), false) = (signals.caught(), stopping) {
            stopping = true;
            // The run first: what shows it may fail or take long.
            run.stop();
            watch.stopping(signal)?;
        }
        watch.glance(run)?;
    }
}

fn unix_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis() as u64)
}

fn queries(invocation: &Invocation) -> Vec<TargetQuery> {
    plan::targets(&invocation.jobs)
        .into_iter()
        .map(|wanted| TargetQuery { path: wanted.path, will_write: wanted.write })
        .collect()
}

fn policy(invocation: &Invocation, as_fio: bool) -> Policy {
    let defaults = Policy::default();
    Policy {
        as_fio,
        readonly: invocation.readonly,
        allow_destroy: invocation.allow_destroy.clone(),
        max_jobs: invocation.max_jobs.unwrap_or(defaults.max_jobs),
        entropy: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64),
    }
}
