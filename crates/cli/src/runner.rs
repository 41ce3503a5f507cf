//! The pipe's first half: invocation → Plan → RunRecord, without a word printed.

mod disks;
pub mod publish;
mod surroundings;

use crate::idle;
use crate::kernel::System;
use crate::signals::Signals;
use anyhow::Result;
use disks::Look;
use engine::{Outcome, Outside, Run};
use host::{Before, Changes, Host, Sampler, TargetQuery, Watched};
use job::{IdleProf, Invocation, Job};
use live::feed::Hub;
use plan::trace::Trace;
use plan::{Plan, PlanError, Policy};
use publish::Publisher;
use record::{DiskResult, Evidence, Facts, Health, Message, Nanos, RunRecord, Severity, Timeline};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use surroundings::PutBack;

/// Samples of the machine a second, where nothing else is asked for.
const SAMPLE_HZ: f64 = 10.0;

/// Runs invocations on this machine, one after the other.
pub struct Runner {
    host: Host,
    /// Facts about the machine, which are those of every run.
    machine: Facts,
    as_fio: bool,
    signals: OnceLock<Signals>,
    publisher: OnceLock<Publisher>,
}

/// A run under way.
pub struct UnderWay<'a> {
    /// The run.
    pub run: &'a Run,
    /// Signals that came.
    pub signals: &'a Signals,
    /// Where what it does is told, once somebody wants to know.
    pub hub: &'a Arc<Hub>,
    record: &'a (dyn Fn() -> RunRecord + Sync),
}

impl UnderWay<'_> {
    /// The record as it would be, had the run ended when its workers last laid out what they had;
    /// without what is looked at only before and after.
    pub fn so_far(&self) -> RunRecord {
        (self.record)()
    }
}

/// A run that is ready to start.
pub struct Prepared {
    /// What will be done.
    pub plan: Plan,
    /// What the user should know before.
    pub messages: Vec<Message>,
    facts: Facts,
}

impl Prepared {
    /// Whether what the user should know is more than `--warnings-fatal` lets pass.
    pub fn is_forbidden(&self, invocation: &Invocation) -> bool {
        let fatal = self.messages.iter().any(|message| message.severity >= Severity::Warning);
        invocation.warnings_fatal && fatal
    }
}

impl Runner {
    /// Reads what the machine is.
    pub fn new(as_fio: bool) -> Runner {
        let host = Host::at("/").with_kernel(Arc::new(System));
        let machine = host.machine();
        Runner { host, machine, as_fio, signals: OnceLock::new(), publisher: OnceLock::new() }
    }

    /// Tells what runs do. From the first one on this process is found by those who look for runs.
    fn publisher(&self) -> &Publisher {
        self.publisher.get_or_init(Publisher::open)
    }

    /// Where what runs do is told.
    pub fn hub(&self) -> &Arc<Hub> {
        self.publisher().hub()
    }

    /// The machine, without any target.
    pub fn machine(&self) -> &Facts {
        &self.machine
    }

    /// What tells of this machine.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// The signal that came since the first run started; nothing is to be started after it.
    pub fn caught(&self) -> Option<i32> {
        self.signals.get()?.caught()
    }

    /// Looks at the targets and plans the run.
    ///
    /// # Errors
    /// Everything that is wrong with it, at once; nothing was touched.
    pub fn prepare(&self, invocation: &Invocation) -> Result<Prepared, PlanError> {
        let jobs = self.opened(&invocation.jobs);
        let mut facts = self.host.survey(self.machine.clone(), &queries(&jobs));
        if !invocation.with_serials {
            facts.forget_serials();
        }
        let mut plan = plan::resolve(&jobs, &facts, &self.policy(invocation))?;
        for worker in &mut plan.workers {
            worker.trace = Trace::of(&invocation.debug, worker.number);
        }
        let messages = [invocation.warnings.clone(), plan.messages.clone()].concat();
        Ok(Prepared { plan, messages, facts })
    }

    /// Jobs with the files below their `opendir`; one that cannot be walked has none, which the plan
    /// refuses.
    fn opened<'j>(&self, jobs: &'j [Job]) -> Cow<'j, [Job]> {
        let mut opened = Cow::Borrowed(jobs);
        for (index, job) in jobs.iter().enumerate() {
            if let Some(directory) = &job.target.opendir {
                let below = self.host.files_below(directory).unwrap_or_default();
                opened.to_mut()[index].target.below = below;
            }
        }
        opened
    }

    fn policy(&self, invocation: &Invocation) -> Policy {
        let defaults = Policy::default();
        Policy {
            as_fio: self.as_fio,
            readonly: invocation.readonly,
            allow_destroy: invocation.allow_destroy.clone(),
            max_jobs: invocation.max_jobs.unwrap_or(defaults.max_jobs),
            status_interval: invocation.status_interval,
            entropy: SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |d| d.as_nanos() as u64),
            aux_path: invocation.aux_path.clone(),
        }
    }

    /// Runs it; `watch` is called with the run under way and returns when that has ended.
    ///
    /// # Errors
    /// When a thread or signal handler cannot be had, and those of `watch`. What goes wrong with I/O
    /// is in the record.
    pub fn measure(
        &self,
        prepared: Prepared,
        invocation: &Invocation,
        watch: impl FnOnce(&UnderWay) -> Result<()>,
    ) -> Result<RunRecord> {
        let Prepared { plan, messages, facts } = prepared;
        let signals = self.signals()?;
        let hertz = invocation.sample_hz.unwrap_or(SAMPLE_HZ);
        let per_cpu = invocation.idle_prof.map(|how| how == IdleProf::PerCpu);
        let idle = per_cpu.map(idle::calibrate);
        let mut measured = self.run(plan, &facts, hertz, |run, look| {
            let record =
                || self.complete(look(), facts.clone(), invocation, messages.clone(), None);
            let under_way = UnderWay { run, signals, hub: self.hub(), record: &record };
            self.publisher().during(&self.host, &under_way, || watch(&under_way))
        })?;
        let lost = write_logs(&mut measured.outcome);
        let mut record = self.complete(measured, facts, invocation, messages, signals.caught());
        record.messages.extend(lost);
        self.publisher().ended(&record);
        Ok(RunRecord { idle, ..record })
    }

    /// Runs it, with everything looked at that may explain its figures.
    fn run(
        &self,
        plan: Plan,
        facts: &Facts,
        hertz: f64,
        watch: impl FnOnce(&Run, &(dyn Fn() -> Measured + Sync)) -> Result<()>,
    ) -> Result<Measured> {
        let watched = plan.disks.clone();
        let contents = plan.contents(facts);
        let devices: Vec<String> = facts.devices.keys().cloned().collect();
        let sampling = Watched {
            devices: devices.clone(),
            period: period(hertz),
            cpus: spare_cpus(&plan, facts),
        };
        let start = Arc::new(Mutex::new(None));
        let (theirs, host, files) = (Arc::clone(&start), self.host.clone(), files(&plan));
        let names = devices.clone();
        let before_io = move || {
            let looked = host.look_before(files.iter().map(String::as_str));
            let disks = Look::at(&host, &names);
            *theirs.lock().unwrap_or_else(PoisonError::into_inner) = Some(Start { looked, disks });
        };
        let delays = self.host.clone();
        let run_delay = Box::new(move |tid| Some(Nanos(delays.worker_sample(tid)?.delay_ns)));
        let changes = PutBack(Arc::new(Changes::new(self.host.clone())));
        let outside = Outside { run_delay, enter: surroundings::enter(&changes.0) };
        let run = Run::start(plan, outside, before_io)?;
        let started_unix_ms = unix_ms();
        let watcher = run.watcher();
        let sampler =
            Sampler::start(self.host.clone(), sampling, run.origin(), move || watcher.tids())?;
        let look = || {
            let after = Look::at(&self.host, &devices);
            let start = start.lock().unwrap_or_else(PoisonError::into_inner);
            let disks = start.as_ref().map(|start| disks::results(&watched, &start.disks, &after));
            Measured {
                outcome: run.so_far(),
                timeline: Timeline::default(),
                evidence: Evidence::default(),
                disks: disks.unwrap_or_default(),
                started_unix_ms,
            }
        };
        watch(&run, &look)?;
        // What costs I/O itself comes last.
        let after = Look::at(&self.host, &devices);
        let timeline = sampler.finish();
        let mut outcome = run.finish();
        let stayed = changes.0.put_back();
        outcome.messages.extend(stayed.into_iter().map(|text| Message::warning(None, text)));
        let start = start.lock().unwrap_or_else(PoisonError::into_inner).take();
        // Without a start no I/O was made.
        let start =
            start.unwrap_or_else(|| Start { looked: Before::default(), disks: after.clone() });
        let disks = disks::results(&watched, &start.disks, &after);
        let mut evidence = self.host.look_after(start.looked, &contents);
        evidence.health_after = self.health_after(facts);
        Ok(Measured { outcome, timeline, evidence, disks, started_unix_ms })
    }

    /// Health of the disks that told of it before.
    fn health_after(&self, facts: &Facts) -> BTreeMap<String, Health> {
        let told = facts.devices.iter().filter(|(_, device)| device.health.is_some());
        told.filter_map(|(name, _)| Some((name.clone(), self.host.health(name)?))).collect()
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
        let Measured { mut outcome, timeline, evidence, disks, started_unix_ms } = measured;
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
            messages,
            interrupted_by,
        };
        job::hide_secrets(&mut record);
        record
    }

    /// Signals are caught from the first run on; before, they end the program as usual.
    ///
    /// # Errors
    /// When a handler cannot be had.
    pub fn signals(&self) -> Result<&Signals> {
        if let Some(signals) = self.signals.get() {
            return Ok(signals);
        }
        let signals = Signals::catch()?;
        Ok(self.signals.get_or_init(|| signals))
    }
}

/// What was seen before the first I/O.
struct Start {
    looked: Before,
    disks: Look,
}

/// What a run left behind.
struct Measured {
    outcome: Outcome,
    timeline: Timeline,
    evidence: Evidence,
    disks: Vec<DiskResult>,
    started_unix_ms: u64,
}

/// Writes the log files of all workers; what fails is in their records, and told.
fn write_logs(outcome: &mut Outcome) -> Vec<Message> {
    let (logbook, mut files) = (&outcome.logbook, report::logs::Files::default());
    let jobs = outcome.jobs.iter_mut().enumerate();
    jobs.flat_map(|(worker, job)| {
        files.write(job, logbook.failure(), |take| logbook.entries(worker, take))
    })
    .collect()
}

fn queries(jobs: &[Job]) -> Vec<TargetQuery> {
    plan::targets(jobs)
        .into_iter()
        .map(|wanted| TargetQuery { path: wanted.path, will_write: wanted.write })
        .collect()
}

/// Files of all workers that have any, in order, repeats included.
fn files(plan: &Plan) -> Vec<String> {
    let real = plan.workers.iter().filter(|worker| worker.queue.engine.opens_files());
    real.flat_map(|worker| &worker.files).map(|file| file.path.clone()).collect()
}

fn period(hertz: f64) -> Option<Duration> {
    (hertz > 0.0).then(|| Duration::from_secs_f64(1.0 / hertz))
}

/// CPUs that no worker may use, when all workers keep to some.
fn spare_cpus(plan: &Plan, facts: &Facts) -> Vec<u32> {
    let bound = plan.workers.iter().all(|worker| !worker.placement.cpus.is_empty());
    let used = |cpu: &u32| plan.workers.iter().any(|worker| worker.placement.cpus.contains(cpu));
    let free = facts.cpu.allowed.iter().filter(|cpu| !used(cpu));
    if bound { free.copied().collect() } else { Vec::new() }
}

fn unix_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis() as u64)
}
