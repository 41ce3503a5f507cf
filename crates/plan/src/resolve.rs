//! Resolves jobs and facts to a plan.

use crate::blocks::{self, Blocks};
use crate::files::{Files, JobContext};
use crate::model::{FileOrder, FileSelection, Measuring, Pattern, Plan, Start, Stop, Worker};
use crate::names::{self, MAX_FILES, clones, files_of_job};
use crate::net;
use crate::objects;
use crate::order::{Reports, Slot, arrange};
use crate::policy::Policy;
use crate::problem::{Diagnostics, Errno, PlanError};
use crate::random::{DEFAULT_SEED, between};
use crate::sizes::{human, percent_of};
use crate::{
    checks, contents, cursor, disks, engines, limits, logs, numbered, pace, placing,
    process_context, replay, safety, sequence, sprandom, verify, zbd, zones,
};
use job::{Engine, FileServiceOrder, Job, Medium, MemoryKind, ReadUse, Retry, Size, Unmet};
use record::remedy::lower;
use record::{Bytes, Facts, Nanos, Show, SplitMix64, TargetKind};

/// These derive seeds that are independent of the seed of a worker's I/O.
const DELAY: u64 = 0x64_65_6c_61_79;
const FILES: u64 = 0x66_69_6c_65_73;

/// Resolves jobs against the machine. The result depends only on the arguments. `facts` must
/// know every path of [`crate::targets`].
///
/// # Errors
/// Every problem of every job. Called as fio, problems of a job's files alone are no error: the
/// plan has the workers of this job as unready ones.
pub fn resolve(jobs: &[Job], facts: &Facts, policy: &Policy) -> Result<Plan, PlanError> {
    let jobs: &[Job] = &zbd::in_bytes(jobs, facts);
    let mut diagnostics = Diagnostics::new(policy);
    if jobs.iter().any(|job| !job.unmet.is_empty()) {
        return Err(unmet(jobs, diagnostics));
    }
    let slots = arrange(jobs, &mut diagnostics);
    let counted = check_counts(jobs, policy, &mut diagnostics);
    let mut files = Files::new(facts, policy);
    let mut reports = Reports::default();
    let all: u64 = if counted { jobs.iter().map(clones).sum() } else { 0 };
    let mut workers: Vec<Worker> = Vec::with_capacity(all as usize);
    let is_own = |job: &Job| job.identity.is_for(&facts.hostname);
    if let Some(first) = jobs.first().filter(|_| !jobs.iter().any(is_own)) {
        diagnostics.warn(first, format!("hosts: no job is for this host, {}", facts.hostname));
    }
    for (index, (job, slot)) in
        jobs.iter().zip(&slots).enumerate().filter(|(_, (job, _))| is_own(job))
    {
        let blocks = check_job(job, facts, policy, &mut diagnostics);
        let template = template(job, index as u32, slot, &blocks, facts, &mut diagnostics);
        let clones = Clones {
            job,
            template,
            cpus: pace::cpus(job, facts, &mut diagnostics),
            unready: diagnostics.take_unready(),
            seed: base_seed(job, policy),
            blocks: &blocks,
        };
        let count = if counted { clones.count() } else { 0 };
        for clone in clone_order(count) {
            let mut worker = clones.worker(clone, &workers, &mut files, slot, &mut diagnostics);
            worker.group = reports.next(slot.group, job.identity.group_reporting);
            workers.push(worker);
        }
    }
    contents::share_duplicates(&mut workers);
    if !diagnostics.is_fatal() {
        files.check_space(&mut diagnostics);
        check_together(jobs, &mut workers, facts, &mut diagnostics);
    }
    Ok(Plan {
        interval: interval(jobs),
        status_interval: policy.status_interval,
        clocksource: clocksource(jobs, &mut diagnostics),
        aux_path: policy.aux_path.clone(),
        messages: diagnostics.finish()?,
        disks: disks::watch(&workers, facts),
        workers,
    })
}

/// The error about what fathom does not run. Other checks would look at engines that are not the
/// jobs' own.
fn unmet(jobs: &[Job], mut diagnostics: Diagnostics) -> PlanError {
    for job in jobs {
        let engine = job.unmet.iter().find(|unmet| unmet.option == "ioengine");
        let shown = engine.map_or(&job.unmet[..], std::slice::from_ref);
        for Unmet { option, found, remedy } in shown {
            diagnostics.usage(job, option, found.clone(), remedy.clone());
        }
    }
    PlanError { problems: diagnostics.into_problems() }
}

/// Data that the clones of a job share.
struct Clones<'a> {
    job: &'a Job,
    template: Worker,
    /// CPUs they may use; empty for all.
    cpus: Vec<u32>,
    /// The error that keeps all clones from running.
    unready: Option<Errno>,
    seed: u64,
    blocks: &'a Blocks,
}

impl Clones<'_> {
    fn count(&self) -> u64 {
        clones(self.job)
    }

    /// The worker of one clone, which comes after the workers `before`.
    fn worker(
        &self,
        clone: u64,
        before: &[Worker],
        files: &mut Files<'_>,
        slot: &Slot,
        diagnostics: &mut Diagnostics,
    ) -> Worker {
        let (job, seed) = (self.job, self.seed);
        let mut worker = self.template.clone();
        let number = before.len() as u32 + 1;
        worker.number = number;
        worker.clone = clone as u32;
        worker.socket = net::socket(job, clone);
        worker.objects = objects::store(job);
        worker.pattern.seed = SplitMix64::nth(seed, u64::from(number));
        worker.pattern.randseed = Some(seed).filter(|seed| *seed != DEFAULT_SEED);
        worker.start.delay = delay(job, SplitMix64::nth(worker.pattern.seed, DELAY));
        worker.placement = pace::placement(job, &self.cpus, number);
        let asked = self.resolve_files(&mut worker, clone, before, files, slot, diagnostics);
        if let Some(errno) = self.unready.or(diagnostics.take_unready()) {
            return kept_out(worker, errno);
        }
        let facts = files.facts;
        if let Some(asked) = asked {
            let asked = zbd::fit(job, &mut worker, asked, facts, diagnostics);
            limit(job, &mut worker, asked, self.blocks, diagnostics);
            zbd::limit_pass(&mut worker);
        }
        worker.logs = logs::of_worker(job, number);
        worker.counted_blocks = counted_blocks(job, self.blocks);
        placing::check(job, &worker, diagnostics);
        objects::check_names(job, &worker, diagnostics);
        sprandom::plan(job, &mut worker, diagnostics);
        process_context::schedulers(job, &mut worker, facts, diagnostics);
        worker
    }

    /// Resolves the files of a clone. Returns the requested bytes, if they limit the loop.
    fn resolve_files(
        &self,
        worker: &mut Worker,
        clone: u64,
        before: &[Worker],
        files: &mut Files<'_>,
        slot: &Slot,
        diagnostics: &mut Diagnostics,
    ) -> Option<u64> {
        let (job, blocks) = (self.job, self.blocks);
        if numbered::of_worker(job, clone, self.seed, worker) {
            return None;
        }
        let seed = SplitMix64::nth(self.seed, FILES);
        let cx = JobContext { job, index: worker.job, slot, blocks, seed };
        if let Some(recording) = job.replay.of_clone(clone) {
            let recording = replay::with_writers(job, recording, before);
            worker.files = files.of_recording(&cx, &recording, diagnostics);
            replay::apply(job, &recording, worker);
            return None;
        }
        let (regions, asked) = files.of_worker(&cx, clone, diagnostics);
        worker.files = regions;
        Some(asked)
    }
}

/// Checks that need all workers.
fn check_together(
    jobs: &[Job],
    workers: &mut [Worker],
    facts: &Facts,
    diagnostics: &mut Diagnostics,
) {
    limits::agree(jobs, workers, diagnostics);
    // Oracle: exitall of one job applies to all jobs.
    let exitall = jobs.iter().any(|job| job.identity.exitall);
    let ready = workers.iter_mut().filter(|worker| worker.unready.is_none());
    ready.for_each(|worker| worker.stop.exitall |= exitall);
    process_context::check_one_group(jobs, workers, diagnostics);
    checks::overlaps(workers, facts, diagnostics);
    replay::check_logs(jobs, workers, diagnostics);
    zbd::check_shared(jobs, workers, diagnostics);
    checks::memory(jobs, workers, facts, diagnostics);
    checks::followed(jobs, workers, facts, diagnostics);
}

/// Marks a worker as unable to run. Oracle: other workers do not end with it.
fn kept_out(mut worker: Worker, errno: Errno) -> Worker {
    worker.unready = Some(errno as i32);
    worker.files.clear();
    worker.stop.exitall = false;
    worker.errors.exitall = false;
    worker
}

/// Clones in the order of their workers' numbers. Oracle: the first, then the others in descending
/// order. Reports, logs and the preparation of shared files follow this order.
fn clone_order(clones: u64) -> impl Iterator<Item = u64> {
    (0..clones.min(1)).chain((1..clones).rev())
}

/// Whether there are as many workers and files as a plan can hold.
fn check_counts(jobs: &[Job], policy: &Policy, diagnostics: &mut Diagnostics) -> bool {
    if jobs.is_empty() {
        diagnostics.usage_overall("name", "no job is defined", "define at least one");
        return false;
    }
    let mut sound = true;
    for job in jobs.iter().filter(|j| clones(j) == 0) {
        diagnostics.usage(job, "numjobs", "0 leaves nothing to run", "give at least 1");
        sound = false;
    }
    let workers = jobs.iter().fold(0u64, |sum, j| sum.saturating_add(clones(j)));
    if workers > policy.max_jobs {
        let what = format!("{workers} jobs, at most {} are allowed", policy.max_jobs);
        diagnostics.usage_overall("numjobs", what, lower(["numjobs"]).or("raise --max-jobs"));
        return false;
    }
    let files = jobs.iter().try_fold(0u64, |sum, j| Some(sum + files_of_job(j)?));
    if files.is_none_or(|n| n > MAX_FILES) {
        let what = format!("more than {MAX_FILES} files in all");
        diagnostics.usage_overall("nrfiles", what, lower(["nrfiles", "numjobs"]));
        return false;
    }
    sound
}

/// Checks of a job that do not depend on its clones.
fn check_job(job: &Job, facts: &Facts, policy: &Policy, diagnostics: &mut Diagnostics) -> Blocks {
    replay::check(job, diagnostics);
    zones::check(job, diagnostics);
    zbd::check(job, diagnostics);
    names::check_reserved(job, diagnostics);
    let blocks = blocks::resolve(job, diagnostics);
    if let Some(Size::Bytes(size)) = job.target.size
        && size.0 > 0
        && size.0 < blocks.min
    {
        let what = format!("{} hold no block of {}", human(size.0), human(blocks.min));
        diagnostics.usage(job, "size", what, "give a larger size or a smaller block");
    }
    cursor::check(job, &blocks, diagnostics);
    sequence::check(job, &blocks, diagnostics);
    engines::check(job, diagnostics);
    logs::check(job, diagnostics);
    net::check(job, (blocks.min, blocks.max(job)), diagnostics);
    objects::check(job, diagnostics);
    numbered::check(job, &blocks, diagnostics);
    safety::check_readonly(job, policy, diagnostics);
    check_opened(job, facts, diagnostics);
    if job.queue.engine.has_targets() {
        safety::check_directories(job, facts, diagnostics);
    }
    blocks
}

/// Whether `opendir` leads to files.
fn check_opened(job: &Job, facts: &Facts, diagnostics: &mut Diagnostics) {
    let Some(directory) = &job.target.opendir else { return };
    if !job.target.below.is_empty() {
        return;
    }
    match facts.targets.get(directory).map(|target| target.kind) {
        Some(TargetKind::Directory) => {
            let what = format!("{directory} has no file below it");
            diagnostics.ending(Errno::Invalid).refuse(job, "opendir", what, "name one that has");
        }
        _ => {
            let what = format!("{directory} is no directory that can be read");
            diagnostics.refuse(job, "opendir", what, "name one that is");
        }
    }
}

/// A worker with the settings that all clones of a job share.
fn template(
    job: &Job,
    index: u32,
    slot: &Slot,
    blocks: &Blocks,
    facts: &Facts,
    diagnostics: &mut Diagnostics,
) -> Worker {
    let measure = &job.measure;
    Worker {
        name: job.identity.name.clone(),
        description: job.identity.description.clone(),
        job: index,
        options: job.options.own.clone(),
        settings: job::options::recorded(job),
        start: Start {
            phase: slot.phase,
            delay: Nanos::default(),
            after_jobs: slot.after_jobs.clone(),
            serialize_layout: job.layout.serialize,
        },
        stop: stop(job, diagnostics),
        selection: selection(job),
        pattern: pattern(job, blocks),
        placing: placing::resolve(job, blocks),
        queue: pace::queue(job, diagnostics),
        buffers: buffers(job, diagnostics),
        syncing: job.syncing.clone(),
        layout: layout(job),
        pacing: pace::pacing(job, blocks, diagnostics),
        limits: limits::limits(job, diagnostics),
        measuring: Measuring {
            // Oracle: vsync completes I/O at submission and has no submission latency.
            slat: !measure.disable_slat && (job.queue.offload || job.queue.engine != Engine::Vsync),
            clat: !measure.disable_clat,
            lat: !measure.disable_lat,
            series: !measure.disable_bw,
            stamp_sums: false,
            start_clock: measure.job_start_clock as i32,
        },
        errors: job.errors.clone(),
        context: process_context::resolve(job, facts, diagnostics),
        verify: verify::resolve(job, blocks, facts, diagnostics),
        show: show(job),
        percentiles: measure.percentile_list.clone(),
        write_log: job.replay.write.clone(),
        ..Worker::default()
    }
}

/// Stop conditions of a worker, without its bytes. Oracle: time_based without a runtime is ignored
/// with a message; number_ios counts per loop and does not end a time_based job.
fn stop(job: &Job, diagnostics: &mut Diagnostics) -> Stop {
    let timing = &job.timing;
    let runtime = timing.runtime.filter(|r| r.0 > 0);
    let time_based = timing.time_based && runtime.is_some();
    if timing.time_based && !time_based {
        diagnostics.warn(job, "time_based does nothing without runtime");
    }
    let loops = timing.loops.unwrap_or(1).max(1);
    let ios = job.pattern.number_ios.filter(|n| *n > 0);
    if time_based && ios.is_some() {
        diagnostics.warn(job, "number_ios does not end a time_based job");
    }
    Stop {
        bytes: None,
        wraps: false,
        loops,
        ios: ios.filter(|_| !time_based).map(|n| n.saturating_mul(loops)),
        runtime,
        time_based,
        ramp: timing.ramp_time.unwrap_or_default(),
        ramp_bytes: ramp_bytes(job, diagnostics),
        exitall: job.identity.exitall,
        exit_what: job.identity.exit_what,
        fill_device: job.target.fill_device,
    }
}

/// Bytes before the window. A job that moves no data would never reach them.
fn ramp_bytes(job: &Job, diagnostics: &mut Diagnostics) -> u64 {
    let bytes = job.timing.ramp_size.map_or(0, |size| size.0);
    if bytes > 0 && job.queue.engine.medium() == Medium::Time {
        let name = job.queue.engine.name();
        diagnostics.warn(job, format!("ramp_size does nothing: the {name} engine moves no bytes"));
        return 0;
    }
    bytes
}

/// Blocks of `block_error_percentiles`: as large as the smallest trim.
fn counted_blocks(job: &Job, blocks: &Blocks) -> Option<u64> {
    let counted = job.measure.block_errors && job.pattern.rw.trims();
    counted.then(|| blocks.sizes.trim.min().max(1))
}

/// Sets the bytes of a loop, if they differ from the size of the files' regions.
///
/// Oracle: `io_size`, else `size` if it is less than the regions. With `filesize`, the regions are
/// the files, and a last sequential block may exceed `size`. A percentage that is less than a block
/// is an error; a number of bytes that is less than a block is one I/O. Only io_size extends the
/// job when a pass ends before it. Appending writes its region once, regardless of loops and
/// io_size.
fn limit(
    job: &Job,
    worker: &mut Worker,
    asked: u64,
    blocks: &Blocks,
    diagnostics: &mut Diagnostics,
) {
    let stop = &mut worker.stop;
    let region = worker.files.iter().fold(0u64, |sum, f| sum.saturating_add(f.length));
    stop.bytes = match job.target.io_size {
        Some(Size::Bytes(bytes)) if bytes.0 > 0 => Some(bytes.0),
        Some(Size::Percent(percent)) => {
            let bytes = percent_of(asked, percent);
            if bytes < blocks.min && asked > 0 {
                let part = format!("{percent} per cent of {}", human(asked));
                let what = format!("{part} hold no block of {}", human(blocks.min));
                diagnostics.usage(job, "io_size", what, "raise it or lower the block");
            }
            Some(bytes)
        }
        _ => Some(asked).filter(|asked| *asked < region),
    };
    stop.wraps = job.target.io_size.is_some_and(|size| size != Size::Bytes(Bytes(0)));
    if job.target.file_append && worker.files.iter().any(|f| f.kind == TargetKind::File) {
        let limit = stop.bytes.map(|b| b.saturating_mul(stop.loops));
        if limit.unwrap_or(region.saturating_mul(stop.loops)) > region {
            diagnostics
                .warn(job, "file_append goes once over its region, whatever loops and io_size say");
        }
        stop.loops = 1;
        stop.bytes = limit.filter(|b| *b < region);
    }
}

fn pattern(job: &Job, blocks: &Blocks) -> Pattern {
    let given = &job.pattern;
    let random = given.rw.is_random();
    Pattern {
        rw: given.rw,
        skip: given.skip.filter(|_| !random).unwrap_or(0),
        order: given.order,
        run_length: given.run_length.filter(|_| random).unwrap_or(1).max(1),
        sequencer: given.sequencer,
        shared_cursor: given.shared_cursor,
        mix_read: given.mix_read.unwrap_or(50).min(100),
        norandommap: blocks.norandommap,
        short_draws: job.pattern.generator == "tausworthe",
        blocks: blocks.sizes.clone(),
        align: blocks.align,
        seed: 0,
        randseed: None,
    }
}

fn selection(job: &Job) -> FileSelection {
    let target = &job.target;
    FileSelection {
        order: match &target.file_service.order {
            FileServiceOrder::RoundRobin => FileOrder::RoundRobin,
            FileServiceOrder::Sequential => FileOrder::Sequential,
            FileServiceOrder::Random => FileOrder::Random,
            FileServiceOrder::Drawn(distribution) => FileOrder::Drawn(distribution.clone()),
        },
        ios: target.file_service.ios.unwrap_or(1).max(1),
        open_files: target.openfiles.unwrap_or(0),
        lock: target.lockfile,
        unlink: target.unlink,
        unlink_each_loop: target.unlink_each_loop,
    }
}

/// Whether the job continues after some kind of error. Oracle: ignoring an error counts as well.
fn tolerates_errors(job: &Job) -> bool {
    let errors = &job.errors;
    let goes_on = [errors.read, errors.write, errors.verify].contains(&Retry::Continue);
    goes_on || errors.ignored.iter().any(|(_, list)| !list.is_empty())
}

/// Layout of a job's files. Oracle: a job that fills a device allocates nothing beforehand.
fn layout(job: &Job) -> job::Layout {
    let mut layout = job.layout.clone();
    if job.target.fill_device && layout.fallocate != "none" {
        layout.fallocate = "truncate".into();
    }
    layout
}

/// Oracle: lat_percentiles does not disable clat_percentiles. A latency that is not measured has none.
fn show(job: &Job) -> Show {
    let measure = &job.measure;
    let [bandwidth_period, iops_period] = periods(job);
    Show {
        lat: !measure.disable_lat,
        clat_percentiles: measure.clat_percentiles.unwrap_or(true) && !measure.disable_clat,
        lat_percentiles: measure.lat_percentiles.unwrap_or(false) && !measure.disable_lat,
        slat_percentiles: measure.slat_percentiles.unwrap_or(false) && !measure.disable_slat,
        kb_base: measure.kb_base,
        unit_base: measure.unit_base,
        significant_figures: measure.significant_figures,
        unified: measure.unified,
        disk_util: measure.disk_util,
        stats: measure.stats,
        errors: tolerates_errors(job),
        bandwidth_period,
        iops_period,
    }
}

/// The given seed. Without one, the default seed repeats runs, unless `randrepeat=0`.
fn base_seed(job: &Job, policy: &Policy) -> u64 {
    let default = if job.pattern.randrepeat { DEFAULT_SEED } else { policy.entropy };
    job.pattern.randseed.unwrap_or(default)
}

fn delay(job: &Job, seed: u64) -> Nanos {
    let range = job.timing.startdelay.unwrap_or_default();
    let (a, b) = (range.low.0, range.high.0);
    Nanos(between(seed, a.min(b), a.max(b)))
}

/// At least a millisecond, because a finer series costs too much.
fn interval(jobs: &[Job]) -> Nanos {
    let steps = jobs.iter().flat_map(periods);
    steps.min().unwrap_or(Nanos::from_millis(500)).max(Nanos::from_millis(1))
}

/// Periods over which rates of bandwidth and of IOPS are taken. As in the oracle, the rate for a log of
/// averages is sampled at least as often as the log has lines.
fn periods(job: &Job) -> [Nanos; 2] {
    let (measure, logs) = (&job.measure, &job.measure.logs);
    let with = |step: Nanos, log: &Option<String>| match log {
        Some(_) if logs.window.0 > 0 => step.min(logs.window),
        _ => step,
    };
    [with(measure.bwavgtime, &logs.bandwidth), with(measure.iopsavgtime, &logs.iops)]
}

fn clocksource(jobs: &[Job], diagnostics: &mut Diagnostics) -> Option<String> {
    let mut asked = jobs.iter().filter_map(|j| j.measure.clocksource.as_ref().map(|c| (j, c)));
    let (_, first) = asked.next()?;
    if let Some((job, other)) = asked.find(|(_, c)| *c != first) {
        diagnostics.warn(job, format!("one clock serves the run: {first} is used, not {other}"));
    }
    Some(first.clone())
}

/// The requested buffers. Pages that were given to a socket may be read long after the worker has
/// ended. The allocator could reuse them before; the pages of a mapping stay until they are unused.
fn buffers(job: &Job, diagnostics: &mut Diagnostics) -> job::Buffers {
    let mut buffers = job.buffers.clone();
    let medium = job.queue.engine.medium();
    let brings_none = matches!(medium, Medium::Metadata | Medium::Time);
    if brings_none && matches!(buffers.read_use, ReadUse::Touch(_)) {
        let name = job.queue.engine.name();
        diagnostics.warn(job, format!("touch_read does nothing: the {name} engine brings no data"));
    }
    if job.queue.engine == Engine::Netsplice && buffers.memory == MemoryKind::Malloc {
        buffers.memory = MemoryKind::Mmap(None);
    }
    buffers
}
