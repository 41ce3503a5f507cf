//! Verification settings of a job, and the combinations that cannot be verified.

use crate::blocks::{self, Blocks};
use crate::model::{BlockPlan, Trimming, Verify};
use crate::problem::Diagnostics;
use crate::sizes::human;
use job::{Job, Medium, VerifyMethod};
use record::Facts;

/// Name of the state file of a worker, as fio names it in a run without a server. Workers count
/// from 0.
pub fn state_name(job: &str, worker: u64) -> String {
    format!("local-{}-{worker}-verify.state", job.replace('/', "."))
}

/// Resolves what a job verifies; `None` without `verify`.
///
/// Oracle: `verify_pattern` without `verify` means `verify=pattern`; an interval that does not
/// divide the block is not used.
pub(crate) fn resolve(
    job: &Job,
    blocks: &Blocks,
    facts: &Facts,
    diagnostics: &mut Diagnostics,
) -> Option<Verify> {
    let typed = &job.verify;
    let Some(method) = method(job) else {
        match requested_method(job) {
            Some(_) => {
                let name = job.queue.engine.name();
                diagnostics
                    .warn(job, format!("verify does nothing: the {name} engine moves no data"));
            }
            None => warn_unused(job, diagnostics),
        }
        return None;
    };
    let interval = interval(job, blocks, diagnostics);
    check(job, method, interval, blocks, diagnostics);
    check_cpus(job, facts, diagnostics);
    let backlog = typed.backlog.unwrap_or(0);
    Some(Verify {
        method,
        read_back: typed.read_back && job.pattern.rw.writes(),
        only: typed.only && job.pattern.rw.writes(),
        interval,
        offset: typed.offset.map_or(0, |offset| offset.0),
        pattern: typed.pattern.clone(),
        pattern_interval: typed.pattern_interval.0,
        fatal: typed.fatal,
        dump: typed.dump,
        threads: u32::try_from(typed.threads).unwrap_or(u32::MAX),
        cpus: typed.cpus.clone(),
        backlog,
        backlog_batch: typed.backlog_batch.filter(|batch| *batch > 0).unwrap_or(backlog).max(1),
        state_load: typed.state_load,
        state_save: typed.state_save,
        only_fsynced: typed.only_fsynced,
        write_sequence: typed.write_sequence,
        // A job that only reads may read what another run wrote, unless the check is asked for.
        header_seed: typed.header_seed.unwrap_or(job.pattern.rw.writes()),
        trimming: trimming(job),
    })
}

/// The verification method of a job, if any. I/O that moves no data cannot be verified, except on
/// the null engine, which only pretends.
pub(crate) fn method(job: &Job) -> Option<VerifyMethod> {
    let engine = job.queue.engine;
    let media = [Medium::Data, Medium::Socket, Medium::Objects, Medium::Store];
    let moves = media.contains(&engine.medium()) || engine.moves_nothing();
    requested_method(job).filter(|_| moves)
}

/// Oracle: verify_pattern alone is verify=pattern_hdr.
fn requested_method(job: &Job) -> Option<VerifyMethod> {
    job.verify.method.or(job.verify.pattern.as_ref().map(|_| VerifyMethod::PatternHeader))
}

fn trimming(job: &Job) -> Option<Trimming> {
    let typed = &job.verify;
    let backlog = typed.trim_backlog.unwrap_or(0);
    (typed.trim_percentage > 0 && job.pattern.rw.writes()).then(|| Trimming {
        percent: typed.trim_percentage,
        zero: typed.trim_zero,
        backlog,
        batch: typed.trim_backlog_batch.filter(|batch| *batch > 0).unwrap_or(backlog).max(1),
    })
}

fn warn_unused(job: &Job, diagnostics: &mut Diagnostics) {
    let typed = &job.verify;
    for (given, option) in [
        (typed.only, "verify_only"),
        (typed.backlog.is_some_and(|n| n > 0), "verify_backlog"),
        (typed.trim_percentage > 0, "trim_percentage"),
        (typed.state_load, "verify_state_load"),
    ] {
        if given {
            diagnostics.warn(job, format!("{option} does nothing without verify"));
        }
    }
}

fn interval(job: &Job, blocks: &Blocks, diagnostics: &mut Diagnostics) -> u64 {
    let Some(interval) = job.verify.interval.map(|i| i.0).filter(|i| *i > 0) else { return 0 };
    let divides = |size: u64| size.is_multiple_of(interval);
    let fits = blocks::directions(job).all(|direction| match &blocks.sizes[direction] {
        BlockPlan::Fixed(size) => divides(*size),
        BlockPlan::Range { min, step, .. } => divides(*min) && divides(*step),
        BlockPlan::Split(entries) => entries.iter().all(|(size, _)| divides(*size)),
    });
    if fits {
        return interval;
    }
    let text = format!(
        "verify_interval={interval} does not divide every block: each has one header instead"
    );
    diagnostics.warn(job, text);
    0
}

fn check(
    job: &Job,
    method: VerifyMethod,
    interval: u64,
    blocks: &Blocks,
    diagnostics: &mut Diagnostics,
) {
    let typed = &job.verify;
    let header = method.header_size();
    let room = if interval > 0 { interval } else { blocks.min };
    let (name, option) = (method.name(), if interval > 0 { "verify_interval" } else { "bs" });
    if room < header {
        let what = format!("{} hold no header of {name}, which has {header} bytes", human(room));
        diagnostics.usage(job, option, what, "raise it or choose another verify");
    }
    let needs = matches!(method, VerifyMethod::Pattern | VerifyMethod::PatternHeader);
    if needs && typed.pattern.is_none() {
        let what = format!("{name} is given without verify_pattern");
        diagnostics.usage(job, "verify", what, "give verify_pattern=");
    }
    if let Some(offset) = typed.offset.map(|offset| offset.0).filter(|offset| *offset > 0) {
        let end = offset.saturating_add(header);
        if method.has_header() && (offset < header || end > room) {
            let what = format!(
                "a header of {header} bytes at {offset} does not fit between itself and the end \
                 of {}",
                human(room)
            );
            diagnostics.usage(
                job,
                "verify_offset",
                what,
                "choose a multiple of 512 within the block",
            );
        }
    }
    check_combinations(job, diagnostics);
}

/// Options that make no sense beside verify.
fn check_combinations(job: &Job, diagnostics: &mut Diagnostics) {
    let typed = &job.verify;
    if typed.only && job.timing.time_based {
        let what = "how far a time_based run came cannot be found out again";
        diagnostics.usage(job, "verify_only", what, "leave time_based out");
    }
    if job.pattern.shared_cursor {
        let what = "clones that share one position do not know what the others wrote";
        diagnostics.usage(job, "verify", what, "leave shared_cursor out");
    }
    if job.replay.is_on() {
        diagnostics.warn(job, "verify does nothing with read_iolog: what a log wrote is not known");
    }
    if typed.only_fsynced && job.target.nrfiles.unwrap_or(1) > 1 {
        let what = "an fsync covers one of several files";
        diagnostics.usage(job, "verify_policy", what, "use one file a job");
    }
    if typed.threads > 1024 {
        let what = format!("{} threads", typed.threads);
        diagnostics.usage(job, "verify_async", what, "give at most 1024");
    }
    if let Some(percent) = job.buffers.dedupe_percentage.filter(|percent| *percent > 0) {
        let text = format!(
            "dedupe_percentage={percent} does nothing with verify: every block is another one"
        );
        diagnostics.warn(job, text);
    }
}

fn check_cpus(job: &Job, facts: &Facts, diagnostics: &mut Diagnostics) {
    let allowed = &facts.cpu.allowed;
    for cpu in job.verify.cpus.iter().filter(|c| !allowed.is_empty() && !allowed.contains(c)) {
        let what = format!("CPU {cpu} is not available to this process");
        diagnostics.usage(job, "verify_async_cpus", what, "choose among the available CPUs");
    }
}
