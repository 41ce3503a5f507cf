//! Checks a profile for contradictions, and for settings that work differently than they seem to.

use super::Remarks;
use super::profile::{Access, Cache, Content, Profile, Target, Throughput, TimeSpan};
use std::collections::HashSet;

/// Checks a profile.
///
/// # Errors
/// All contradictions, one per line.
pub(super) fn check(profile: &Profile) -> Result<Remarks, String> {
    let mut wrong: Vec<String> = Vec::new();
    let mut remarks = Remarks::default();
    if let Some(how) = &profile.precreate {
        remarks.note(format!(
            "PrecreateFiles ({how}): every file that is made is made before the first timespan"
        ));
    }
    for span in &profile.spans {
        wrong.extend(span_contradictions(span));
        span_notes(span).into_iter().for_each(|text| remarks.note(text));
        for target in &span.targets {
            wrong.extend(contradictions(span, target));
            target_warnings(span, target).into_iter().for_each(|text| remarks.warn(text));
            target_notes(target).into_iter().for_each(|text| remarks.note(text));
        }
    }
    // Targets mostly have the same mistakes, so each is reported once.
    let mut seen = HashSet::new();
    wrong.retain(|text| seen.insert(text.clone()));
    if wrong.is_empty() { Ok(remarks) } else { Err(wrong.join("\n")) }
}

/// The texts whose condition holds.
fn applicable(all: &[(bool, &str)]) -> Vec<String> {
    all.iter().filter(|(applies, _)| *applies).map(|(_, text)| (*text).to_owned()).collect()
}

/// The settings that must be equal for all targets of a thread pool.
fn in_pool(target: &Target) -> Target {
    Target { path: String::new(), ..target.clone() }
}

fn span_contradictions(span: &TimeSpan) -> Vec<String> {
    let targets = &span.targets;
    let pool = targets.first().map(in_pool);
    let unlike = span.requests > 0 && targets.iter().map(in_pool).any(|one| Some(one) != pool);
    applicable(&[
        (span.duration_s == 0, "-d: a run of 0 seconds measures nothing; give 1 or more"),
        (
            span.threads > 0 && targets.iter().any(|target| target.threads > 1),
            "-F and -t contradict each other: -F shares all targets among its threads, -t gives \
             each target its own",
        ),
        (
            span.requests > 0 && span.threads == 0,
            "-O counts the I/Os of threads that share all targets: give their number by -F",
        ),
        (
            unlike,
            "-O: targets that differ in more than their path cannot share the I/Os of a thread; \
             weights, too, have to be the same",
        ),
    ])
}

fn contradictions(span: &TimeSpan, target: &Target) -> Vec<String> {
    let mut all = pace_contradictions(span, target);
    all.extend(offset_contradictions(span, target));
    all.extend(memory_contradictions(span, target));
    all.extend(spread_contradiction(target));
    all
}

/// Contradictions in depths and rates.
fn pace_contradictions(span: &TimeSpan, target: &Target) -> Vec<String> {
    let (rate, pool) = (target.throughput, span.requests > 0);
    let (bursts, pauses) = (target.burst.is_some(), target.think_ms.is_some());
    applicable(&[
        (target.threads == 0, "a target needs a thread at least"),
        (target.depth == 0, "a target needs an outstanding I/O at least"),
        (
            rate.is_some() && span.completion_routines,
            "-g and -x contradict each other: give one of them",
        ),
        (rate.is_some() && pool, "-g and -O contradict each other: give one of them"),
        (bursts != pauses, "-i and -j belong together: I/Os a burst and the pause between bursts"),
        (pauses && pool, "-j and -O contradict each other: give one of them"),
        (target.parallel && pool, "-p and -O contradict each other: give one of them"),
        (
            matches!(rate, Some(Throughput::BytesPerMs(0) | Throughput::Iops(0))),
            "-g: a rate is above 0",
        ),
    ])
}

/// Contradictions in offsets.
fn offset_contradictions(span: &TimeSpan, target: &Target) -> Vec<String> {
    let random = matches!(target.access, Access::Random { .. });
    let interlocked = matches!(target.access, Access::Sequential { interlocked: true, .. });
    let mixed = (1..100).contains(&target.write_percent);
    let step = match target.access {
        Access::Sequential { stride, .. } => stride,
        Access::Random { align, .. } => align,
    };
    applicable(&[
        (target.block == 0 || step == 0, "block size, alignment and stride are above 0"),
        (random && target.thread_stride > 0, "-T and -r contradict each other: give one of them"),
        (random && target.parallel, "-p and -r contradict each other: give one of them"),
        (
            interlocked && target.parallel,
            "-si and -p contradict each other: one position for all, or one for each I/O",
        ),
        (
            interlocked && target.thread_stride > 0,
            "-si and -T contradict each other: threads share one position, or begin apart",
        ),
        (
            interlocked && mixed,
            "-si: threads share one position for reads or for writes; give -w0 or -w100",
        ),
        (
            interlocked && step != target.block,
            "-si: the shared position goes on by whole blocks; leave the stride away",
        ),
        (
            target.thread_stride > 0 && threads(span, target) < 2,
            "-T needs more than one thread: there is nothing to keep apart",
        ),
        (
            target.max_size > 0 && target.max_size <= target.base,
            "-f has to be above -B: there is nothing between them",
        ),
    ])
}

/// Contradictions in caches and mappings.
fn memory_contradictions(span: &TimeSpan, target: &Target) -> Vec<String> {
    let buffer = matches!(target.content, Content::Buffer { size, .. } if size < target.block);
    let uncached = target.cache == Cache::None;
    applicable(&[
        (
            target.mapped && (span.completion_routines || uncached),
            "-Sm: a mapped file goes through the page cache and without completion routines; leave \
             -x, -Su and -Sh away",
        ),
        (target.flush && !target.mapped, "-N is about mapped files: give -Sm as well"),
        (buffer, "-Z: the buffer has to hold a block at least"),
    ])
}

/// Shares that do not add up to 100.
fn spread_contradiction(target: &Target) -> Option<String> {
    let Access::Random { spread: Some(spread), .. } = &target.access else { return None };
    let io = spread.ranges.iter().fold(0_u64, |sum, range| sum.saturating_add(range.0));
    let part = spread.ranges.iter().fold(0_u64, |sum, range| sum.saturating_add(range.1));
    let what = if spread.absolute { "-rdabs" } else { "-rdpct" };
    let over = |name: &str, sum: u64| format!("{what}: its {name} add up to {sum} %, 100 at most");
    match (io, part, spread.absolute) {
        (101.., ..) => Some(over("shares of the I/O", io)),
        (_, 101.., false) => Some(over("parts of the target", part)),
        (100, 0..=99, false) => Some(format!(
            "{what}: all I/O is given away and {} % of the target are left; add 0/{} for a part \
             without I/O",
            100 - part,
            100 - part
        )),
        (0..=99, 100, false) => Some(format!(
            "{what}: the whole target is given away and {} % of the I/O are left; the shares have to \
             add up to 100",
            100 - io
        )),
        _ => None,
    }
}

/// Number of threads of a target.
pub(super) fn threads(span: &TimeSpan, target: &Target) -> u64 {
    if span.threads > 0 { span.threads } else { target.threads }
}

fn span_notes(span: &TimeSpan) -> Vec<String> {
    applicable(&[
        (
            span.threads > 0 && span.requests == 0 && span.targets.len() > 1,
            "-F: on each target a thread is a worker of its own here, so that each target keeps its \
             own outstanding I/Os",
        ),
        (
            span.requests > 0 && span.targets.len() > 1,
            "-O: a thread's figures are of all its targets together; each I/O goes to a target drawn \
             at random",
        ),
        (
            span.cooldown_s > 0,
            "-C: the cool-down is a run of its own behind the measured one; between them I/O pauses \
             for a moment",
        ),
    ])
}

fn target_warnings(span: &TimeSpan, target: &Target) -> Vec<String> {
    let threads = threads(span, target);
    let sequential = match target.access {
        Access::Sequential { interlocked, .. } => Some(interlocked),
        Access::Random { .. } => None,
    };
    let mixed = (1..100).contains(&target.write_percent);
    let partly = matches!(target.access, Access::Random { percent: ..100, .. });
    applicable(&[
        (target.parallel && target.depth == 1, "-p has no effect with one outstanding I/O"),
        (sequential == Some(true) && threads < 2, "-si has no effect with one thread"),
        (
            sequential == Some(false) && threads > 1 && target.thread_stride == 0,
            "the access pattern of the target will not be sequential: its threads each go through \
             all of it; consider -si",
        ),
        (
            mixed && (sequential.is_some() || partly),
            "reads and writes in sequence each keep a position of their own",
        ),
        (target.hint_temporary, "-ft has no effect: Linux knows no hint for temporary files"),
    ])
}

fn target_notes(target: &Target) -> Vec<String> {
    let mixed = (1..100).contains(&target.write_percent);
    let from_buffer = matches!(target.content, Content::Buffer { .. }) && target.write_percent > 0;
    applicable(&[
        (
            target.parallel && target.depth > 1,
            "-p: each outstanding I/O of a thread is a worker of its own here",
        ),
        (
            target.thread_stride > 0,
            "-T: at the end of the target a thread goes on where it began, not at the beginning of \
             the target",
        ),
        (
            target.hint_random && target.hint_sequential,
            "-frs: the kernel takes one hint; it gets the one for random access",
        ),
        (
            from_buffer,
            "-Z<size>: each write carries other bytes of the source, not bytes from a random place \
             in one buffer",
        ),
        (
            target.throughput.is_some() && mixed,
            "-g: the rate is divided between reads and writes by -w",
        ),
        (
            target.priority < 3,
            "-I: very low is the idle class, low the lowest of best effort; only schedulers that \
             know priorities (bfq, mq-deadline) keep them",
        ),
    ])
}
