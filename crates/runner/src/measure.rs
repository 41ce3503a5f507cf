//! Measures one run, and samples everything on the machine that may explain its figures.

use crate::cpu_profile::Profiler;
use crate::disk_counters::{DiskSnapshot, disk_results};
use crate::layers::LayerTimer;
use crate::process_context::{ChangesInEffect, apply};
use crate::start_gate::{StartGate, Together, wait_until};
use crate::unix_ms;
use ::layers::Unavailable;
use anyhow::Result;
use engine::{HostHooks, Outcome, PhaseStarts, Run};
use host::{Changes, EvidenceBefore, Host, PhaseSamples, Sampler, SamplerConfig};
use job::LayerTiming;
use plan::{File, Plan};
use record::{
    CpuProfile, DeviceKind, DiskResult, Evidence, Facts, FilesystemFacts, Health, Layers, Medium,
    Message, Nanos, Timeline,
};
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Samples of the machine a second, unless the invocation says otherwise.
const SAMPLE_HZ: f64 = 10.0;

/// The results of a run, from which its record is made.
pub(crate) struct Measured {
    pub outcome: Outcome,
    pub timeline: Timeline,
    pub evidence: Evidence,
    pub disks: Vec<DiskResult>,
    pub started_unix_ms: u64,
}

/// Evidence and counters read before the first I/O.
struct Start {
    evidence: EvidenceBefore,
    disks: DiskSnapshot,
    profiler: Option<std::io::Result<Profiler>>,
}

impl Start {
    /// Without a start no I/O was made.
    fn nothing(disks: DiskSnapshot) -> Start {
        Start { evidence: EvidenceBefore::default(), disks, profiler: None }
    }
}

/// What is sampled besides the disks.
#[derive(Clone, Copy)]
pub(crate) struct Sampling {
    /// Samples of the machine a second; `None`: ten.
    pub hz: Option<f64>,
    /// The code that CPUs execute.
    pub cpu_profile: bool,
    /// The path of I/Os through the kernel.
    pub layers: LayerTiming,
}

/// What a run in progress can be asked for.
pub(crate) struct Progress<'a> {
    pub run: &'a Run,
    /// Makes its results so far.
    pub so_far: &'a (dyn Fn() -> Measured + Sync),
    /// Times the layers of its I/Os.
    pub layers: Option<&'a LayerTimer>,
}

/// Runs a plan. `watch` is called with the run in progress, and returns when it has ended.
///
/// # Errors
/// When a thread cannot be started, and errors of `watch`.
pub(crate) fn measure(
    host: &Host,
    mut plan: Plan,
    facts: &Facts,
    (sampling, Together { gate, processes }): (Sampling, Together),
    watch: impl FnOnce(Progress<'_>) -> Result<()>,
) -> Result<Measured> {
    let layers = LayerTimer::start(&mut plan, facts, host, sampling.layers).map(Arc::new);
    let watched = plan.disks.clone();
    let contents = plan.contents(facts);
    let sampler = SamplerConfig {
        devices: facts.devices.keys().cloned().collect(),
        period: period(sampling.hz.unwrap_or(SAMPLE_HZ)),
        cpus: spare_cpus(&plan, facts),
    };
    let devices = sampler.devices.clone();
    let start = Arc::new(Mutex::new(None));
    let before_io = read_start(host, (&plan, facts), &devices, &start, &sampling, gate.clone());
    let run_delay = run_delay(host.clone());
    let changes = ChangesInEffect(Arc::new(Changes::new(host.clone())));
    let phases = Arc::new(PhaseSamples::new(host.clone(), devices.clone()));
    let phase_starts = at_phase_starts(phases.clone(), layers.clone(), gate);
    let hooks = HostHooks { run_delay, prepare: apply(&changes.0), phase_starts };
    let run = Run::start(plan, hooks, before_io)?;
    let started_unix_ms = unix_ms();
    let watcher = run.watcher();
    let sampler = Sampler::start(host.clone(), sampler, run.origin(), move || watcher.tids())?;
    let reader = layers.as_ref().and_then(|timer| timer.follow(run.origin(), run.watcher()));
    let so_far = || {
        let after = DiskSnapshot::take(host, &devices);
        let start = start.lock().unwrap_or_else(PoisonError::into_inner);
        let disks =
            start.as_ref().map(|start: &Start| disk_results(&watched, &start.disks, &after));
        Measured {
            outcome: run.interim_results(),
            timeline: Timeline::default(),
            evidence: Evidence::default(),
            disks: disks.unwrap_or_default(),
            started_unix_ms,
        }
    };
    watch(Progress { run: &run, so_far: &so_far, layers: layers.as_deref() })?;
    // Steps that cause I/O come last.
    let after = DiskSnapshot::take(host, &devices);
    let mut timeline = sampler.finish();
    let origin = run.origin();
    timeline.phase_starts = phases.since(origin);
    let mut outcome = run.finish();
    let warning = |text| Message::warning(None, text);
    outcome.messages.extend(changes.0.put_back().into_iter().map(warning));
    let start = start.lock().unwrap_or_else(PoisonError::into_inner).take();
    let start = start.unwrap_or_else(|| Start::nothing(after.clone()));
    let disks = disk_results(&watched, &start.disks, &after);
    let mut evidence = host.evidence_after(start.evidence, &contents, &processes);
    let profile = start.profiler.map(|it| it.map(|it| it.finish(host, &evidence.servers)));
    let layers = layers.map(|timer| timer.finish(&outcome.jobs, origin, reader));
    let refused = add_observed(&mut evidence, profile, layers, sampling.layers);
    outcome.messages.extend(refused.into_iter().map(warning));
    evidence.health_after = health_after(host, facts);
    Ok(Measured { outcome, timeline, evidence, disks, started_unix_ms })
}

/// How long a thread has waited for a CPU, by its id.
fn run_delay(host: Host) -> engine::RunDelay {
    Box::new(move |tid| Some(Nanos(host.worker_sample(tid)?.delay_ns)))
}

/// Reads evidence and disk counters when the files are laid out, just before the first I/O.
fn read_start(
    host: &Host,
    (plan, facts): (&Plan, &Facts),
    devices: &[String],
    start: &Arc<Mutex<Option<Start>>>,
    sampling: &Sampling,
    gate: Option<Arc<dyn StartGate>>,
) -> impl FnOnce() + Send + use<> {
    let (start, host, files) = (Arc::clone(start), host.clone(), files(plan));
    let (ports, is_remote) = (local_ports(plan), is_remote(plan, facts));
    let (devices, cpu_profile) = (devices.to_vec(), sampling.cpu_profile);
    move || {
        gate.iter().for_each(|gate| gate.laid_out());
        let files = files.iter().map(|(path, region)| (path.as_str(), region.clone()));
        let evidence = host.evidence_before(files);
        let mut evidence = evidence.with_servers(&host, &ports);
        if is_remote {
            evidence = evidence.with_network(&host);
        }
        let disks = DiskSnapshot::take(&host, &devices);
        let profiler = cpu_profile.then(Profiler::start);
        let started = Start { evidence, disks, profiler };
        *start.lock().unwrap_or_else(PoisonError::into_inner) = Some(started);
    }
}

/// What is done when the workers of a phase are about to begin.
fn at_phase_starts(
    samples: Arc<PhaseSamples>,
    layers: Option<Arc<LayerTimer>>,
    gate: Option<Arc<dyn StartGate>>,
) -> PhaseStarts {
    Box::new(move |phase, tids| {
        let at = gate.as_ref().and_then(|gate| gate.set_up(phase));
        samples.take();
        layers.iter().for_each(|timer| timer.phase_starts(tids));
        at.into_iter().for_each(wait_until);
    })
}

/// Adds what the kernel observed to the evidence. Returns why it did not observe what the user asked for.
fn add_observed(
    evidence: &mut Evidence,
    profile: Option<std::io::Result<CpuProfile>>,
    layers: Option<Result<Layers, Unavailable>>,
    timing: LayerTiming,
) -> Vec<String> {
    let mut refused = Vec::new();
    match profile.transpose() {
        Ok(profile) => evidence.cpu_profile = profile,
        Err(error) => refused.push(no_profile(&error)),
    }
    match layers.transpose() {
        Ok(layers) => evidence.layers = layers,
        Err(reason) if timing == LayerTiming::Full => {
            refused.push(format!("--layers: not timed: {reason}"));
        }
        Err(reason) => evidence.layers_not_timed = Some(reason.to_string()),
    }
    refused
}

/// Why the code that CPUs execute was not sampled.
fn no_profile(error: &std::io::Error) -> String {
    let help = match error.kind() {
        std::io::ErrorKind::PermissionDenied => {
            ": it needs root, CAP_PERFMON, or kernel.perf_event_paranoid=2 for this program alone"
        }
        _ => "",
    };
    format!("--cpu-profile: the kernel does not sample CPUs ({error}){help}")
}

/// Health of the disks that reported it before the run.
fn health_after(host: &Host, facts: &Facts) -> BTreeMap<String, Health> {
    let reporting = facts.devices.iter().filter(|(_, device)| device.health.is_some());
    reporting.filter_map(|(name, _)| Some((name.clone(), host.health(name)?))).collect()
}

/// Ports of object stores on this machine.
fn local_ports(plan: &Plan) -> BTreeSet<u16> {
    let stores = plan.workers.iter().filter_map(|worker| worker.objects.as_ref());
    let is_local = |host: &str| {
        host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    };
    let endpoints = stores.flat_map(|store| &store.endpoints);
    endpoints.filter(|(host, _)| is_local(host)).map(|(_, port)| *port).collect()
}

/// Whether data of a run is on other machines, or may be.
fn is_remote(plan: &Plan, facts: &Facts) -> bool {
    let is_far =
        |medium: Medium| matches!(medium, Medium::Socket | Medium::Objects | Medium::Store);
    let mut filesystems = facts.targets.values().filter_map(|target| target.filesystem.as_ref());
    plan.workers.iter().any(|worker| is_far(worker.queue.engine.medium()))
        || filesystems.any(FilesystemFacts::is_remote)
        || facts.devices.values().any(|device| device.kind == DeviceKind::Network)
}

/// Files of all workers that have any, in order, repeats included, with the worker's region.
fn files(plan: &Plan) -> Vec<(String, Range<u64>)> {
    let real = plan.workers.iter().filter(|worker| worker.queue.engine.opens_files());
    let region = |file: &File| file.start..file.start.saturating_add(file.length);
    real.flat_map(|worker| &worker.files).map(|file| (file.path.clone(), region(file))).collect()
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
