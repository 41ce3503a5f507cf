//! From an invocation to a plan, from a plan to a record.

use crate::follow::follow;
use crate::kernel::System;
use crate::measure::{Measured, Progress, Sampling, measure};
use crate::observer::{RunInProgress, RunObserver};
use crate::publish::Publisher;
use crate::signals::Signals;
use crate::start_gate::Together;
use crate::{idle, unix_ms};
use anyhow::Result;
use engine::Outcome;
use host::{Host, TargetQuery};
use job::{IdleProf, Invocation, Job};
use live::feed::Hub;
use plan::trace::Trace;
use plan::{Plan, PlanError, Policy, Problem, ProblemKind};
use record::{Bytes, Facts, Message, RunRecord, Severity, TargetFacts, TargetKind};
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};
use std::time::{SystemTime, UNIX_EPOCH};

/// Runs invocations on this machine, one after the other.
pub struct Runner {
    host: Host,
    /// Facts about the machine, the same for every run.
    machine: Facts,
    as_fio: bool,
    signals: OnceLock<Signals>,
    publisher: OnceLock<Publisher>,
    team: OnceLock<Box<dyn Team>>,
}

/// A run that is ready to start; nothing was touched yet.
pub struct PlannedRun {
    /// What the run will do.
    pub plan: Plan,
    /// Remarks for the user before the run.
    pub messages: Vec<Message>,
    /// Others that run with it.
    pub together: Together,
    facts: Facts,
}

impl PlannedRun {
    /// Facts about the machine and the targets.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Whether `--warnings-fatal` forbids the run.
    pub fn is_forbidden(&self, invocation: &Invocation) -> bool {
        let fatal = self.messages.iter().any(|message| message.severity >= Severity::Warning);
        invocation.warnings_fatal && fatal
    }
}

/// Processes that make each run together.
pub trait Team: Send + Sync {
    /// The host of each process, this one first; empty where it is not known.
    fn hosts(&self) -> &[String];

    /// Makes a run, planned here, with all. The record is that of all together.
    ///
    /// # Errors
    /// When this process cannot run it, or the others cannot be reached.
    fn execute(
        &self,
        runner: &Runner,
        planned: PlannedRun,
        invocation: &Invocation,
        observer: &mut dyn RunObserver,
    ) -> Result<RunRecord>;
}

impl Runner {
    /// Reads the facts about the machine.
    pub fn new(as_fio: bool) -> Runner {
        let host = Host::at("/").with_kernel(Arc::new(System));
        let machine = host.machine();
        Runner {
            host,
            machine,
            as_fio,
            signals: OnceLock::new(),
            publisher: OnceLock::new(),
            team: OnceLock::new(),
        }
    }

    /// The live feed. From the first call on `fathom watch` and `fathom serve` find this process.
    fn publisher(&self) -> &Publisher {
        self.publisher.get_or_init(Publisher::open)
    }

    /// The hub of the live feed.
    pub fn hub(&self) -> &Arc<Hub> {
        self.publisher().hub()
    }

    /// From now on every run is made with these others.
    pub fn join(&self, team: Box<dyn Team>) {
        // A second team would have to know of the first.
        let _ = self.team.set(team);
    }

    /// The hosts of the processes that make each run, if they are several.
    pub fn team(&self) -> Option<&[String]> {
        self.team.get().map(|team| team.hosts())
    }

    /// The machine, without any target.
    pub fn machine(&self) -> &Facts {
        &self.machine
    }

    /// Reads facts of this machine.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// The signal that came since the first run started; nothing may start after it.
    pub fn caught(&self) -> Option<i32> {
        self.signals.get()?.caught()
    }

    /// Signals are caught from the first call on; before it, they end the program as usual.
    pub fn signals(&self) -> Result<&Signals> {
        if let Some(signals) = self.signals.get() {
            return Ok(signals);
        }
        let signals = Signals::catch()?;
        Ok(self.signals.get_or_init(|| signals))
    }

    /// Looks at the targets and plans the run.
    ///
    /// # Errors
    /// Everything that is wrong with it, at once; nothing was touched.
    pub fn plan(&self, invocation: &Invocation) -> Result<PlannedRun, PlanError> {
        let jobs = self.with_files_below(&invocation.jobs);
        let mut facts = self.host.survey(self.machine.clone(), &queries(&jobs));
        facts.targets.extend(plan::exports(&jobs).map(|uri| (uri.to_owned(), export(uri))));
        correct_sizes(&jobs, &mut facts);
        if !invocation.with_serials {
            facts.forget_serials();
        }
        self.ask_stores(&jobs, &mut facts)?;
        let mut plan = plan::resolve(&jobs, &facts, &self.policy(invocation))?;
        for worker in &mut plan.workers {
            worker.trace = Trace::for_worker(&invocation.debug, worker.number);
        }
        let messages = [invocation.warnings.clone(), plan.messages.clone()].concat();
        Ok(PlannedRun { plan, messages, together: Together::default(), facts })
    }

    /// Adds the sizes of what is behind a library: only the library knows them.
    fn ask_stores(&self, jobs: &[Job], facts: &mut Facts) -> Result<(), PlanError> {
        for job in jobs {
            let (names, engine) = (plan::store_names(job), job.queue.engine);
            if names.is_empty() {
                continue;
            }
            let sizes = engine::store_sizes(engine, &job.queue.options, &names)
                .map_err(|found| unreachable_store(job, found))?;
            for (name, size) in names.into_iter().zip(sizes) {
                let size = Bytes(size.unwrap_or(0));
                facts.targets.insert(name, TargetFacts { size, ..TargetFacts::default() });
            }
        }
        Ok(())
    }

    /// The jobs with the files below their `opendir`. A directory that cannot be read has no files,
    /// and the plan refuses it.
    fn with_files_below<'j>(&self, jobs: &'j [Job]) -> Cow<'j, [Job]> {
        let mut complete = Cow::Borrowed(jobs);
        for (index, job) in jobs.iter().enumerate() {
            if let Some(directory) = &job.target.opendir {
                let below = self.host.files_below(directory).unwrap_or_default();
                complete.to_mut()[index].target.below = below;
            }
        }
        complete
    }

    fn policy(&self, invocation: &Invocation) -> Policy {
        let defaults = Policy::default();
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        Policy {
            as_fio: self.as_fio,
            readonly: invocation.readonly,
            allow_destroy: invocation.allow_destroy.clone(),
            max_jobs: invocation.max_jobs.unwrap_or(defaults.max_jobs),
            status_interval: invocation.status_interval,
            entropy: now.map_or(0, |d| d.as_nanos() as u64),
            aux_path: invocation.aux_path.clone(),
        }
    }

    /// Runs a plan, with the team if there is one. Errors of I/O are in the record.
    ///
    /// # Errors
    /// When a thread or signal handler is not available, errors of the observer and of the team.
    pub fn execute(
        &self,
        planned: PlannedRun,
        invocation: &Invocation,
        observer: &mut dyn RunObserver,
    ) -> Result<RunRecord> {
        match self.team.get() {
            Some(team) => team.execute(self, planned, invocation, observer),
            None => self.execute_alone(planned, invocation, observer),
        }
    }

    /// Runs a plan in this process.
    ///
    /// # Errors
    /// As for [`Runner::execute`].
    pub fn execute_alone(
        &self,
        planned: PlannedRun,
        invocation: &Invocation,
        observer: &mut dyn RunObserver,
    ) -> Result<RunRecord> {
        let PlannedRun { plan, messages, together, facts } = planned;
        let signals = self.signals()?;
        let per_cpu = invocation.idle_prof.map(|how| how == IdleProf::PerCpu);
        let idle = per_cpu.map(idle::calibrate);
        let sampling = Sampling {
            hz: invocation.sample_hz,
            cpu_profile: invocation.cpu_profile,
            layers: invocation.layers.unwrap_or(job::LayerTiming::Off),
        };
        let mut measured = measure(&self.host, plan, &facts, (sampling, together), |progress| {
            let Progress { run, so_far, layers } = progress;
            let record =
                || self.complete(so_far(), facts.clone(), invocation, messages.clone(), None);
            let hub = self.hub();
            let in_progress = RunInProgress { run, signals, hub, record: &record, layers };
            let interval = invocation.status_interval;
            self.publisher()
                .during(&self.host, &in_progress, || follow(&in_progress, interval, observer))
        })?;
        let lost = write_logs(&mut measured.outcome);
        let mut record = self.complete(measured, facts, invocation, messages, signals.caught());
        record.messages.extend(lost);
        record.idle = idle;
        self.publisher().ended(&record);
        observer.complete(&mut record);
        Ok(record)
    }

    /// Everything in one record.
    fn complete(
        &self,
        measured: Measured,
        facts: Facts,
        invocation: &Invocation,
        mut messages: Vec<Message>,
        interrupted_by: Option<i32>,
    ) -> RunRecord {
        let Measured { mut outcome, timeline, mut evidence, disks, started_unix_ms } = measured;
        evidence.mkfs_time = invocation.mkfs_time;
        messages.append(&mut outcome.messages);
        let directory = std::env::current_dir().unwrap_or_default().display().to_string();
        let mut record = RunRecord {
            schema: record::SCHEMA_VERSION,
            fathom_version: env!("CARGO_PKG_VERSION").into(),
            invocation: record::Invocation {
                arguments: std::env::args_os().map(|a| a.to_string_lossy().into_owned()).collect(),
                directory,
                as_fio: self.as_fio,
                started_unix_ms,
                ended_unix_ms: unix_ms(),
                utc_offset_seconds: chrono::Local::now().offset().local_minus_utc(),
                why: invocation.why.clone().unwrap_or_default(),
            },
            sources: invocation.sources.clone(),
            global_options: invocation.global_options.clone(),
            facts,
            clock: outcome.clock,
            jobs: outcome.jobs,
            disks,
            timeline,
            evidence,
            cell: None,
            idle: None,
            work: None,
            origin: None,
            powercut: None,
            fleet: None,
            messages,
            interrupted_by,
        };
        job::hide_secrets(&mut record);
        record
    }
}

/// The refusal of a job whose store cannot be reached.
fn unreachable_store(job: &Job, found: String) -> PlanError {
    let remedy = match found.contains("apt-get install") {
        true => "install it, and run again",
        false => plan::store_remedy(job.queue.engine),
    };
    PlanError {
        problems: vec![Problem {
            kind: ProblemKind::Refusal,
            origin: job.identity.origin.clone(),
            job: job.identity.name.clone(),
            option: "ioengine".to_owned(),
            found: found.into(),
            remedy: remedy.into(),
        }],
    }
}

/// Writes the log files of all workers. Failures are in the records, and returned as messages.
fn write_logs(outcome: &mut Outcome) -> Vec<Message> {
    let (logbook, mut files) = (&outcome.logbook, formats::logs::LogFiles::default());
    let jobs = outcome.jobs.iter_mut().enumerate();
    jobs.flat_map(|(worker, job)| {
        files.write(job, logbook.failure(), |take| logbook.entries(worker, take))
    })
    .collect()
}

/// What the server of an NBD export says of it, or why it says nothing.
fn export(uri: &str) -> TargetFacts {
    match engine::nbd_export(uri) {
        Ok((size, writable)) => TargetFacts {
            kind: TargetKind::Other,
            size: Bytes(size),
            readable: true,
            writable,
            ..TargetFacts::default()
        },
        Err(error) => TargetFacts {
            kind: TargetKind::Missing,
            canonical: error.to_string().split(" (os error").next().unwrap_or_default().into(),
            ..TargetFacts::default()
        },
    }
}

/// Namespaces whose metadata lies in the data are larger than their block devices, which the kernel
/// may show as empty.
fn correct_sizes(jobs: &[Job], facts: &mut Facts) {
    let commands = |job: &&Job| job.queue.engine == plan::Engine::IoUringCmd;
    for job in jobs.iter().filter(commands) {
        for path in &job.target.filenames {
            if let Some(target) = facts.targets.get_mut(path).filter(|t| t.kind == TargetKind::Char)
                && let Some(size) = engine::nvme_size(path, job.queue.options.nvme.pi_act)
            {
                target.size = Bytes(size);
            }
        }
    }
}

fn queries(jobs: &[Job]) -> Vec<TargetQuery> {
    plan::targets(jobs)
        .into_iter()
        .map(|wanted| TargetQuery { path: wanted.path, will_write: wanted.write })
        .collect()
}
